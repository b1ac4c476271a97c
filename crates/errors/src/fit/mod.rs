//! Error models from logs (S1-53): truth and estimate over time become bias, noise, correlation time, drift, jumps,
//! dropouts and delay, each with its 95 % confidence interval, and an error table for a scenario.
//!
//! ```
//! use anabranch_errors::fit::{Log, LogChannel, Rhythm, fit};
//! use anabranch_kernel::{Chance, Seed};
//!
//! let chance = Chance::new(Seed(2), "log");
//! let time_s: Vec<f64> = (0..2000).map(|i| 0.1 * f64::from(i)).collect();
//! let truth: Vec<f64> = time_s.iter().map(|t| 40.0 * (0.3 * t).sin()).collect();
//! let estimate = (0..).zip(&truth).map(|(i, x)| Some(x + 0.5 + 0.2 * chance.at(i).normal(0))).collect();
//! let channel = LogChannel { name: "x".into(), unit: "m".into(), truth, estimate };
//! let found = fit(&Log { time_s, channels: vec![channel] }).unwrap();
//! assert!(found.channels[0].bias.holds(0.5) && found.channels[0].deviation.holds(0.2));
//! println!("{}", found.error_table(&Rhythm { segment_s: 1.0, step_s: 0.01 }));
//! ```
//!
//! While the truth moves uniformly, a delay and a bias look the same. The fit notices: it takes the delay from another channel,
//! or says that it cannot be told ([`Apart`]) and lets the interval of the bias hold every delay that may be.
//!
//! The noise model is that of the sensors: a white part and a Gauss–Markov part. Its numbers maximise the restricted
//! likelihood of the log, computed by a Kalman filter that steps over what is missing; bias, drift and delay are
//! estimated with it by generalised least squares, so that their intervals know that neighbouring errors are alike.

mod delay;
mod events;
mod interval;
mod likelihood;
mod log;
mod motion;
mod noise;
mod search;
mod table;

pub use events::{Dropouts, Jumps};
pub use interval::Estimated;
pub use log::{FitError, Log, LogChannel, SAMPLES_MIN};
pub use table::Rhythm;

use delay::{DELAY_MAX_S, Truth};
use events::{find_dropouts, find_jumps};
use motion::Motion;
use noise::NoiseFit;

/// Whether a delay could be told from a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// By this channel itself: its truth changes its speed.
    Itself,
    /// By other channels, whose delay was taken for this one too.
    Others,
    /// There was no need: the truth hardly moves, so that a delay hardly matters.
    AtRest,
    /// Not at all: bias and drift hold for every delay up to [`ChannelFit::DELAY_MAX_S`], and their values are for none.
    No,
}

/// How one number errs.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelFit {
    /// Name of the channel.
    pub name: String,
    /// Unit of the channel.
    pub unit: String,
    /// Mean error in the middle of the log.
    pub bias: Estimated,
    /// Change of the mean error per second.
    pub drift_per_s: Estimated,
    /// Standard deviation about that mean, of white and wandering part together.
    pub deviation: Estimated,
    /// Standard deviation of the white part, if the log shows one.
    pub white: Option<Estimated>,
    /// Standard deviation of the wandering part, if the log shows one.
    pub wander: Option<Estimated>,
    /// Correlation time of the wandering part.
    pub wander_s: Option<Estimated>,
    /// How late it is told; `None` if this channel cannot say.
    pub delay_s: Option<Estimated>,
    /// Whether bias and delay could be told apart.
    pub apart: Apart,
}

impl ChannelFit {
    /// The longest delay that is looked for, seconds.
    pub const DELAY_MAX_S: f64 = DELAY_MAX_S;
}

/// Everything that a log says about errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Rows of the log.
    pub samples: usize,
    /// From the first row to the last.
    pub duration_s: f64,
    /// Usual time between two rows.
    pub period_s: f64,
    /// Each channel.
    pub channels: Vec<ChannelFit>,
    /// How late all channels are told together; `None` if the log cannot say.
    pub delay_s: Option<Estimated>,
    /// Jumps: of the position as one (all channels in metres), and of every other channel.
    pub jumps: Vec<Jumps>,
    /// Times in which nothing was told.
    pub dropouts: Dropouts,
}

/// Fits error models to a log.
///
/// # Errors
/// When the log has too few rows, times that do not rise, or columns of different lengths.
pub fn fit(log: &Log) -> Result<Fit, FitError> {
    let period_s = log.check()?;
    let truths: Vec<Truth<'_>> = log.channels.iter().map(|channel| Truth::new(&log.time_s, channel.curve())).collect();
    let motions: Vec<Motion> = truths.iter().map(Truth::motion).collect();
    let tells: Vec<bool> = motions.iter().map(Motion::tells_delay).collect();
    let guess_s = delay::guess(&truths, &log.channels, &tells, period_s);
    let told = vec![true; log.time_s.len()];
    let series = |(truth, channel): (&Truth<'_>, &LogChannel)| truth.regression(channel, &told, guess_s, true).errors;
    let errors: Vec<Vec<Option<f64>>> = truths.iter().zip(&log.channels).map(series).collect();
    // What was told during a jump says nothing about the noise.
    let mut ordinary: Vec<Vec<bool>> = vec![told.clone(); log.channels.len()];
    let mut jumps = Vec::new();
    for group in &log.groups() {
        let (found, inside) = find_jumps(log, period_s, group, &errors);
        for &channel in &group.channels {
            ordinary[channel] = inside.iter().map(|inside| !inside).collect();
        }
        jumps.push(found);
    }
    let mut found: Vec<Option<ChannelFit>> = vec![None; log.channels.len()];
    for i in (0..found.len()).filter(|&i| tells[i]) {
        let fitted = fit_channel(&truths[i], &log.channels[i], &ordinary[i], guess_s);
        // An interval that holds all delays there may be tells none.
        let tells_one = |fitted: &ChannelFit| fitted.delay_s.is_some_and(|late| late.high - late.low < DELAY_MAX_S);
        found[i] = Some(fitted).filter(tells_one);
    }
    let delays: Vec<Estimated> = found.iter().flatten().filter_map(|channel| channel.delay_s).collect();
    let delay_s = Estimated::combined(&delays);
    let without = |i: usize| fit_without_delay(&truths[i], &log.channels[i], &ordinary[i], (motions[i], delay_s));
    let channels = found.into_iter().enumerate().map(|(i, known)| known.unwrap_or_else(|| without(i))).collect();
    Ok(Fit {
        samples: log.time_s.len(),
        duration_s: log.time_s[log.time_s.len() - 1] - log.time_s[0],
        period_s,
        delay_s,
        jumps,
        dropouts: find_dropouts(log, period_s),
        channels,
    })
}

/// Relinearisations of the delay; each is quadratically closer.
const ROUNDS: usize = 3;
/// Changes of the delay below this are none.
const SAME_DELAY_S: f64 = 1e-5;

/// A channel whose truth tells a delay.
fn fit_channel(truth: &Truth<'_>, channel: &LogChannel, ordinary: &[bool], guess_s: f64) -> ChannelFit {
    let regression = |delay_s: f64| truth.regression(channel, ordinary, delay_s, true);
    let mut delay_s = guess_s;
    let (mut noise, mut found) = noise::fit(&regression(delay_s));
    for _ in 1..ROUNDS {
        let Some(more) = found.delay_s.filter(|more| more.value.abs() > SAME_DELAY_S) else { break };
        delay_s += more.value;
        (noise, found) = noise::refit(&regression(delay_s), &noise);
    }
    let delay_s = found.delay_s.map(|more| more.shifted(delay_s));
    reported(channel, &found, [found.bias, found.drift_per_s], delay_s, Apart::Itself)
}

/// A channel whose truth tells no delay: with that of the others, or for every delay that may be.
fn fit_without_delay(
    truth: &Truth<'_>,
    channel: &LogChannel,
    ordinary: &[bool],
    (motion, others_s): (Motion, Option<Estimated>),
) -> ChannelFit {
    let taken_s = others_s.map_or(0.0, |others_s| others_s.value);
    let (_, found) = noise::fit(&truth.regression(channel, ordinary, taken_s, false));
    let means = [found.bias, found.drift_per_s];
    let (means, apart) = match others_s {
        Some(others_s) => (motion.widened(means, others_s), Apart::Others),
        None => {
            let stretched = motion.stretched(means, DELAY_MAX_S);
            let grows = |(wide, own): (&Estimated, &Estimated)| {
                (wide.high - wide.low) > (1.0 + HARDLY_SHARE) * (own.high - own.low)
            };
            let matters = stretched.iter().zip(&means).any(grows);
            (stretched, if matters { Apart::No } else { Apart::AtRest })
        }
    };
    reported(channel, &found, means, None, apart)
}

/// A delay hardly matters if all delays there may be widen the intervals of bias and drift by less than this share.
const HARDLY_SHARE: f64 = 0.1;

fn reported(
    channel: &LogChannel,
    found: &NoiseFit,
    [bias, drift_per_s]: [Estimated; 2],
    delay_s: Option<Estimated>,
    apart: Apart,
) -> ChannelFit {
    ChannelFit {
        name: channel.name.clone(),
        unit: channel.unit.clone(),
        bias,
        drift_per_s,
        deviation: found.deviation,
        white: found.white,
        wander: found.wander,
        wander_s: found.wander_s,
        delay_s,
        apart,
    }
}
