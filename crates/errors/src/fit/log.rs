//! A log: truth and estimate over time.

use anabranch_kernel::maths;

use super::delay::unrolled;

/// Fewest rows that say anything about noise.
pub const SAMPLES_MIN: usize = 50;

/// Truth and estimate of one number.
#[derive(Clone, Debug, PartialEq)]
pub struct LogChannel {
    /// Name, such as `x`.
    pub name: String,
    /// Unit; channels in `rad` are angles, and those in `m` together are a position.
    pub unit: String,
    /// What was true.
    pub truth: Vec<f64>,
    /// What was told; `None` where nothing was.
    pub estimate: Vec<Option<f64>>,
}

/// Rows of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// Time of each row, rising.
    pub time_s: Vec<f64>,
    /// The columns.
    pub channels: Vec<LogChannel>,
}

/// A log that cannot be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Too short.
    #[error("the log has {0} rows with an estimate; fitting needs {SAMPLES_MIN} or more")]
    Short(usize),
    /// Nothing to compare.
    #[error("the log has no pair of truth and estimate")]
    Empty,
    /// Time stands still or goes back.
    #[error("the time of row {0} is not later than the one before")]
    Time(usize),
    /// Not a number.
    #[error("row {row} of `{channel}` is not a finite number")]
    Number {
        /// Row, counted from 1.
        row: usize,
        /// Channel.
        channel: String,
    },
    /// Columns of different lengths.
    #[error("`{0}` has not as many rows as the time")]
    Length(String),
}

/// Channels that jump together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) channels: Vec<usize>,
}

impl LogChannel {
    /// The truth as a curve without jumps: angles are unrolled.
    pub(crate) fn curve(&self) -> Vec<f64> {
        if self.unit == "rad" { unrolled(&self.truth) } else { self.truth.clone() }
    }
    /// The difference of two values; angles the short way round.
    pub(crate) fn difference(&self, told: f64, truth: f64) -> f64 {
        if self.unit == "rad" { maths::wrap_angle(told - truth) } else { told - truth }
    }
}

impl Log {
    /// Whether it can be fitted, and the usual time between two rows.
    pub(crate) fn check(&self) -> Result<f64, FitError> {
        if self.channels.is_empty() {
            return Err(FitError::Empty);
        }
        let rises = |pair: &[f64]| pair[1] > pair[0] && pair[1].is_finite() && pair[0].is_finite();
        if let Some(row) = self.time_s.windows(2).position(|pair| !rises(pair)) {
            return Err(FitError::Time(row + 2));
        }
        for channel in &self.channels {
            if channel.truth.len() != self.time_s.len() || channel.estimate.len() != self.time_s.len() {
                return Err(FitError::Length(channel.name.clone()));
            }
            let broken =
                |(truth, told): (&f64, &Option<f64>)| !truth.is_finite() || told.is_some_and(|e| !e.is_finite());
            if let Some(row) = channel.truth.iter().zip(&channel.estimate).position(broken) {
                return Err(FitError::Number { row: row + 1, channel: channel.name.clone() });
            }
            let told = channel.estimate.iter().flatten().count();
            if told < SAMPLES_MIN {
                return Err(FitError::Short(told));
            }
        }
        let mut steps: Vec<f64> = self.time_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_by(f64::total_cmp);
        Ok(steps[steps.len() / 2])
    }
    /// All channels in metres as one position, every other one alone.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let metres: Vec<usize> = (0..self.channels.len()).filter(|&i| self.channels[i].unit == "m").collect();
        let position =
            (metres.len() > 1).then(|| Group { name: "position".into(), unit: "m".into(), channels: metres });
        let alone = |i: &usize| position.as_ref().is_none_or(|group| !group.channels.contains(i));
        let others: Vec<Group> = (0..self.channels.len()).filter(alone).map(|i| self.group_of(i)).collect();
        position.into_iter().chain(others).collect()
    }
    fn group_of(&self, channel: usize) -> Group {
        let LogChannel { name, unit, .. } = &self.channels[channel];
        Group { name: name.clone(), unit: unit.clone(), channels: vec![channel] }
    }
}
