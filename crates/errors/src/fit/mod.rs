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
//! The truth must change its speed: while it moves uniformly, a delay and a bias look the same.
//!
//! The noise model is that of the sensors: a white part and a Gauss–Markov part. Its numbers maximise the restricted
//! likelihood of the log, computed by a Kalman filter that steps over what is missing; bias, drift and delay are
//! estimated with it by generalised least squares, so that their intervals know that neighbouring errors are alike.

mod delay;
mod events;
mod interval;
mod likelihood;
mod log;
mod noise;
mod search;
mod table;

pub use events::{Dropouts, Jumps};
pub use interval::Estimated;
pub use log::{FitError, Log, LogChannel, SAMPLES_MIN};
pub use table::Rhythm;

use delay::Truth;
use events::{find_dropouts, find_jumps};

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
    /// How late it is told; `None` if the log cannot say, because the truth hardly moves.
    pub delay_s: Option<Estimated>,
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
    let delay_s = delay::guess(&truths, &log.channels, period_s);
    let told = vec![true; log.time_s.len()];
    let series = |(truth, channel): (&Truth<'_>, &LogChannel)| truth.regression(channel, &told, delay_s).errors;
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
    let channels: Vec<ChannelFit> =
        (0..log.channels.len()).map(|i| fit_channel(&truths[i], &log.channels[i], &ordinary[i], delay_s)).collect();
    let delays: Vec<Estimated> = channels.iter().filter_map(|channel| channel.delay_s).collect();
    Ok(Fit {
        samples: log.time_s.len(),
        duration_s: log.time_s[log.time_s.len() - 1] - log.time_s[0],
        period_s,
        delay_s: Estimated::combined(&delays),
        jumps,
        dropouts: find_dropouts(log, period_s),
        channels,
    })
}

/// Relinearisations of the delay; each is quadratically closer.
const ROUNDS: usize = 3;
/// Changes of the delay below this are none.
const SAME_DELAY_S: f64 = 1e-5;

fn fit_channel(truth: &Truth<'_>, channel: &LogChannel, ordinary: &[bool], guess_s: f64) -> ChannelFit {
    let mut delay_s = guess_s;
    let (mut noise, mut found) = noise::fit(&truth.regression(channel, ordinary, delay_s));
    for _ in 1..ROUNDS {
        let Some(more) = found.delay_s.filter(|more| more.value.abs() > SAME_DELAY_S) else { break };
        delay_s += more.value;
        (noise, found) = noise::refit(&truth.regression(channel, ordinary, delay_s), &noise);
    }
    ChannelFit {
        name: channel.name.clone(),
        unit: channel.unit.clone(),
        bias: found.bias,
        drift_per_s: found.drift_per_s,
        deviation: found.deviation,
        white: found.white,
        wander: found.wander,
        wander_s: found.wander_s,
        delay_s: found.delay_s.map(|more| more.shifted(delay_s)),
    }
}
