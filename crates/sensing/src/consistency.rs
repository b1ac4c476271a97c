//! Whether a filter is as good as it says: normalised errors against their distribution.

use std::fmt;

use anabranch_kernel::{Visitor, maths};
use serde::{Deserialize, Serialize};

/// The 97.5 % quantile of the normal distribution: both sides together leave out 5 %.
const QUANTILE_95: f64 = 1.959_963_985;
/// Share of time steps inside the band from which on a filter counts as consistent.
pub const SHARE_INSIDE_MIN: f64 = 0.90;

/// What there is to say about a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confidence {
    /// Errors are as large as the filter says.
    Consistent,
    /// Errors are larger than the filter says: its noise model is too small, or wrong.
    OverConfident,
    /// Errors are smaller than the filter says: it could tell more than it does.
    UnderConfident,
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Consistent => "the filter is consistent",
            Self::OverConfident => "the filter is over-confident",
            Self::UnderConfident => "the filter is under-confident",
        })
    }
}

/// Normalised estimation errors squared (NEES) of many runs, per time step.
///
/// With honest noise the sum over `runs` runs is χ²-distributed with `runs · dimension` degrees of freedom, so its mean
/// must lie inside a band at about 95 % of the time steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Consistency {
    dimension: u32,
    /// Sum and number of runs, per time step.
    steps: Vec<(f64, u32)>,
}

/// The judgement over all runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsistencyReport {
    /// Runs at the step that has fewest.
    pub runs: u32,
    /// Time steps judged.
    pub steps: u32,
    /// Share of time steps with the mean error inside its 95 % band.
    pub share_inside: f64,
    /// Mean of the squared error over its expected value; 1 for an honest filter.
    pub ratio: f64,
    /// What to make of it.
    pub confidence: Confidence,
}

impl Consistency {
    /// Nothing seen yet of an estimate with so many components.
    pub fn new(dimension: u32) -> Self {
        Self { dimension, steps: Vec::new() }
    }
    /// Adds the squared error of one run at one time step.
    pub fn add(&mut self, step: usize, error_squared: f64) {
        if self.steps.len() <= step {
            self.steps.resize(step + 1, (0.0, 0));
        }
        let (sum, runs) = &mut self.steps[step];
        *sum += error_squared;
        *runs += 1;
    }
    /// The judgement; `None` if nothing was added.
    pub fn report(&self) -> Option<ConsistencyReport> {
        let judged = self.steps.iter().filter(|(_, runs)| *runs > 0);
        let (mut steps, mut inside, mut above, mut ratios) = (0_u32, 0_u32, 0_u32, 0.0);
        for &(sum, runs) in judged.clone() {
            let freedom = f64::from(runs * self.dimension);
            let [low, high] = [-QUANTILE_95, QUANTILE_95].map(|z| chi_squared_quantile(freedom, z));
            steps += 1;
            inside += u32::from(low <= sum && sum <= high);
            above += u32::from(sum > high);
            ratios += sum / freedom;
        }
        let runs = judged.map(|(_, runs)| *runs).min()?;
        let share_inside = f64::from(inside) / f64::from(steps);
        let confidence = if share_inside >= SHARE_INSIDE_MIN {
            Confidence::Consistent
        } else if 2 * above >= steps - inside {
            Confidence::OverConfident
        } else {
            Confidence::UnderConfident
        };
        Some(ConsistencyReport { runs, steps, share_inside, ratio: ratios / f64::from(steps), confidence })
    }
}

impl fmt::Display for ConsistencyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, steps, share_inside, ratio, confidence } = self;
        let percent = 100.0 * share_inside;
        write!(
            f,
            "{confidence}: squared errors are {ratio:.2} times what it says, and inside their 95 % band at {percent:.1} % \
             of {steps} time steps over {runs} runs"
        )
    }
}

/// Quantile of the χ² distribution at the normal quantile `z`, by Wilson and Hilferty's cube; within 1 % from ten degrees
/// of freedom on.
fn chi_squared_quantile(freedom: f64, z: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    let root = 1.0 - part + z * part.sqrt();
    freedom * root * root * root
}

/// The same judgement inside one run and without the truth: innovations of the filter, the older the less they count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InnovationWatch {
    /// What is kept of the weights from measurement to measurement.
    keep: f64,
}

/// What an [`InnovationWatch`] remembers. State.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Innovations {
    sum: f64,
    weight: f64,
}

/// Deviations of the mean innovation from 1 that count as inconsistent, in standard deviations. The distribution leans to
/// the right; four keep false alarms below one in a thousand at fifty measurements.
const ALARM_DEVIATIONS: f64 = 4.0;
/// Measurements before anything is said.
const MEASUREMENTS_MIN: f64 = 20.0;

impl InnovationWatch {
    /// A watch that looks back over about so many measurements.
    pub fn new(measurements: u32) -> Self {
        Self { keep: maths::exp(-1.0 / f64::from(measurements.max(1))) }
    }
    /// Takes in a squared innovation in units of its variance.
    #[inline]
    pub fn add(&self, innovations: &mut Innovations, normalised_squared: f64) {
        innovations.sum = self.keep * innovations.sum + normalised_squared;
        innovations.weight = self.keep * innovations.weight + 1.0;
    }
    /// What the innovations say.
    pub fn confidence(&self, innovations: &Innovations) -> Confidence {
        let count = innovations.weight * (1.0 + self.keep) / (2.0 - (1.0 - self.keep) * innovations.weight);
        if count < MEASUREMENTS_MIN {
            return Confidence::Consistent;
        }
        let beyond = innovations.sum / innovations.weight - 1.0;
        // A squared standard normal number has variance 2.
        let limit = ALARM_DEVIATIONS * (2.0 / count).sqrt();
        if beyond > limit {
            Confidence::OverConfident
        } else if beyond < -limit {
            Confidence::UnderConfident
        } else {
            Confidence::Consistent
        }
    }
}

impl Innovations {
    /// Names the mean innovation and how much it weighs.
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        v.real("ratio", "", 0.25, if self.weight > 0.0 { self.sum / self.weight } else { 0.0 });
        v.real("weight", "", 10.0, self.weight);
    }
}

#[cfg(test)]
mod tests {
    use anabranch_kernel::{Chance, Seed};

    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        // Tables of the χ² distribution: 10 degrees 3.247 and 20.483, 100 degrees 74.222 and 129.561.
        for (freedom, low, high) in [(10.0, 3.247, 20.483), (100.0, 74.222, 129.561)] {
            assert!((chi_squared_quantile(freedom, -QUANTILE_95) / low - 1.0).abs() < 0.01);
            assert!((chi_squared_quantile(freedom, QUANTILE_95) / high - 1.0).abs() < 0.01);
        }
    }

    fn judged(factor: f64) -> ConsistencyReport {
        let mut consistency = Consistency::new(2);
        for run in 0..400 {
            let chance = Chance::new(Seed(run), "nees");
            for step in 0..100 {
                let now = chance.at(step as u64);
                consistency.add(step, factor * (now.normal(0).powi(2) + now.normal(1).powi(2)));
            }
        }
        consistency.report().unwrap()
    }

    #[test]
    fn honest_errors_are_consistent_and_others_are_told() {
        assert_eq!(judged(1.0).confidence, Confidence::Consistent);
        assert!((judged(1.0).share_inside - 0.95).abs() < 0.05);
        assert_eq!(judged(1.5).confidence, Confidence::OverConfident);
        assert_eq!(judged(0.6).confidence, Confidence::UnderConfident);
        assert!(judged(1.5).to_string().starts_with("the filter is over-confident: squared errors are 1.5"));
        assert_eq!(Consistency::new(2).report(), None);
    }

    #[test]
    fn innovations_alone_tell_a_filter_that_trusts_too_much() {
        let watch = InnovationWatch::new(100);
        let verdict = |factor: f64, seed: u64| {
            let mut innovations = Innovations::default();
            (0..300).for_each(|tick| {
                let normal = Chance::new(Seed(seed), "nis").at(tick).normal(0);
                watch.add(&mut innovations, factor * normal * normal);
            });
            watch.confidence(&innovations)
        };
        let count = |factor, expect| (0..200).filter(|&seed| verdict(factor, seed) == expect).count();
        assert!(count(1.0, Confidence::Consistent) >= 197);
        assert!(count(4.0, Confidence::OverConfident) >= 195);
        assert!(count(0.1, Confidence::UnderConfident) >= 195);
        assert_eq!(watch.confidence(&Innovations::default()), Confidence::Consistent);
    }
}
