//! From weighted runs to an interval of 95 %.
//!
//! Weights are skewed: a few runs count much more than most. The plain interval of mean ± 1.96 standard errors then ends
//! too low on both sides. Hall's transformation (1992) takes the skewness of the mean out before it reads off the
//! ends. Where too few failures were drawn for that, the upper end follows from their number alone: no weight is larger
//! than one over the share of the plain distribution, so a failure of probability p is drawn with at least p times
//! that share, and Clopper and Pearson bound how often.
//!
//! The failures that were drawn exist, each has an exact probability, and the probability of failure is at least their sum.
//! What was not drawn comes on top of it: about as much as the failures that were drawn only once (Good and Turing), and
//! a little for those that nobody will have seen at all. Where failures surprised the graph there may be more of that
//! kind, and only bold and blind runs find them: as much as these could have missed, if it is no harder to find than what
//! they or others found, and in proportion to how much was a surprise.

use std::collections::BTreeMap;

use anabranch_kernel::{Choice, maths};

use super::mixture::{DRAWS, Looks};
use super::sample::{Became, Failure, Runs};
use crate::coverage::clopper_pearson;

/// 97.5 % of the normal distribution lie below.
const QUANTILE: f64 = 1.959_963_984_540_054;
/// With fewer effective failures than this the number of failures decides.
const EFFECTIVE_MIN: f64 = 20.0;

/// An interval that is wider than this share of the probability says too little.
const WIDTH_MAX: f64 = 0.5;

/// A probability of failure with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Runs from the start that only looked where failures are.
    pub first: u64,
    /// Runs from the start after them, which count.
    pub samples: u64,
    /// Of these, failures.
    pub failures: u64,
    /// As many equally weighted failures would say as much.
    pub effective: f64,
    /// The mean of the weights, which is unbiased; or what the drawn failures come to, if that is more.
    pub probability: f64,
    /// Lower end (95 %).
    pub low: f64,
    /// Upper end (95 %).
    pub high: f64,
    /// Whether there were too few failures for more than a bound.
    pub is_bound: bool,
    /// Runs that could not be computed; the upper end counts them as failures.
    pub faults: u64,
}

impl Interval {
    /// Whether it says where the probability is to within half of it.
    pub(super) fn is_narrow(&self) -> bool {
        !self.is_bound && self.high - self.low <= WIDTH_MAX * self.probability
    }
}

/// The interval of some runs.
pub(super) fn of_runs(runs: &Runs) -> Interval {
    let samples = runs.drawn.len() as u64;
    let count = |became| runs.drawn.iter().filter(|run| run.became == became).count() as u64;
    let (failures, faults) = (count(Became::Failed), count(Became::Fault));
    let failing = Moments::of(runs, |became| became == Became::Failed);
    let at_worst = if faults == 0 { failing } else { Moments::of(runs, |became| became != Became::Passed) };
    let known = Known::of(runs.first_failures.iter().chain(&runs.failures), runs.looks);
    let (certain, unseen) = (known.certain, known.unseen(runs));
    let is_bound = failing.effective < EFFECTIVE_MIN;
    let (low, high) = if is_bound {
        let (_, high) = clopper_pearson(failures + faults, samples, 0.05);
        (certain, runs.weight_max * high)
    } else {
        (failing.end(QUANTILE).max(certain), at_worst.end(-QUANTILE).max(certain + unseen))
    };
    // The drawn failures alone may come to more than the mean.
    let (effective, probability) = (failing.effective, failing.mean.max(certain).min(1.0));
    let (low, high) = (low.clamp(0.0, probability), high.clamp(probability, 1.0));
    Interval { first: runs.first, samples, failures, effective, probability, low, high, is_bound, faults }
}

/// What drawn failures say about all of them.
pub(super) struct Known {
    /// They come to this at least: each of them is possible.
    pub(super) certain: f64,
    /// Others that nobody expected hardly come to more than this.
    pub(super) beside: f64,
}

impl Known {
    /// With this many expected and none seen one would be surprised (95 %).
    const SURPRISING: f64 = 3.0;

    pub(super) fn of<'f>(failures: impl IntoIterator<Item = &'f Failure>, looks: Looks) -> Self {
        let distinct: BTreeMap<(usize, &[Choice]), &Failure> =
            failures.into_iter().map(|failure| ((failure.start, &failure.choices[..]), failure)).collect();
        let sum = |sum: f64, failure: &&Failure| sum + maths::exp(failure.log_p);
        let certain = distinct.values().fold(0.0, sum);
        let unexpected = distinct.values().filter(|failure| failure.surprise.is_some()).fold(0.0, sum);
        // How much probability a failure has for each time that it would be drawn by those who look around.
        let per_look = |[bold, blind]: [f64; 2]| 1.0 / (looks.bold as f64 * bold + looks.blind as f64 * blind);
        let hardest = distinct.values().filter_map(|failure| failure.surprise).map(per_look).fold(0.0, f64::max);
        // A graph that knew most of what was found is trusted accordingly.
        let doubt = if certain > 0.0 { unexpected / certain } else { 1.0 };
        Self { certain, beside: doubt * Self::SURPRISING * hardest }
    }

    /// Others than the drawn ones hardly come to more than this: what lies beside, what was drawn only once, and a little.
    fn unseen(&self, runs: &Runs) -> f64 {
        let mut distinct: BTreeMap<(usize, &[Choice]), (u32, f64)> = BTreeMap::new();
        for failure in runs.first_failures.iter().chain(&runs.failures) {
            distinct.entry((failure.start, &failure.choices)).or_insert((0, failure.weight)).0 += 1;
        }
        let once: f64 = distinct.values().filter(|(times, _)| *times == 1).map(|(_, weight)| weight).sum();
        let largest = runs.failures.iter().map(|failure| failure.weight).fold(0.0, f64::max);
        self.beside + (once + Self::SURPRISING * largest) / runs.drawn.len() as f64
    }
}

/// Mean of the weights of failures and how it spreads.
#[derive(Clone, Copy, Debug)]
struct Moments {
    mean: f64,
    /// Standard error of the mean.
    error: f64,
    /// Skewness of the mean.
    skewness: f64,
    effective: f64,
}

impl Moments {
    fn of(runs: &Runs, counts: impl Fn(Became) -> bool) -> Self {
        let n = runs.drawn.len() as f64;
        let (mut mean, mut variance, mut third) = (0.0, 0.0, 0.0);
        let (mut sum, mut squares) = (0.0, 0.0);
        // Each distribution has its share of the runs, so only the spread within it counts.
        for draw in 0..DRAWS {
            let own: Vec<f64> = (runs.drawn.iter().filter(|run| run.draw == draw))
                .map(|run| if counts(run.became) { run.weight } else { 0.0 })
                .collect();
            let size = own.len() as f64;
            if size < 2.0 {
                mean += own.iter().sum::<f64>() / n;
                continue;
            }
            let centre = own.iter().sum::<f64>() / size;
            let off = || own.iter().map(|x| x - centre);
            mean += size * centre / n;
            variance += size / (size - 1.0) * off().map(|d| d * d).sum::<f64>() / (n * n);
            third += off().map(|d| d * d * d).sum::<f64>() / (n * n * n);
            sum += size * centre;
            squares += own.iter().map(|x| x * x).sum::<f64>();
        }
        let error = variance.sqrt();
        let skewness = if error > 0.0 { third / (error * error * error) } else { 0.0 };
        let effective = if squares > 0.0 { sum * sum / squares } else { 0.0 };
        Self { mean, error, skewness, effective }
    }

    /// The end of the interval that the studentised mean exceeds or undercuts with the probability of a quantile.
    fn end(&self, quantile: f64) -> f64 {
        let skewness = self.skewness;
        let studentised = if skewness.abs() < 1e-6 {
            quantile
        } else {
            let cubed = 1.0 + skewness * (quantile - skewness / 6.0);
            3.0 / skewness * (maths::cbrt(cubed) - 1.0)
        };
        self.mean - self.error * studentised
    }
}
