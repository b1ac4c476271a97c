//! The noise of one channel: which parts it has, how large they are, and how sure that is.

use anabranch_kernel::maths;

use super::interval::Estimated;
use super::likelihood::{Explained, Noise, Regression};
use super::search::{climb, covariance};

/// What is known about a channel after fitting. The delay is relative to the one the regression was made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoiseFit {
    pub(crate) bias: Estimated,
    pub(crate) drift_per_s: Estimated,
    pub(crate) deviation: Estimated,
    pub(crate) white: Option<Estimated>,
    pub(crate) wander: Option<Estimated>,
    pub(crate) wander_s: Option<Estimated>,
    pub(crate) delay_s: Option<Estimated>,
}

/// Sizes and curvature are searched in logarithms: the first step, the step near a peak, and that of second derivatives.
const SEARCH_STEP: f64 = 0.7;
const NEAR_STEP: f64 = 0.1;
const CURVATURE_STEP: f64 = 0.05;
/// Smallest deviation that is searched for, relative to that of the errors: below it the log is exact.
const EXACT: f64 = 1e-9;

/// A peak of the likelihood under one of the three kinds of noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    noise: Noise,
    /// Bayes' criterion, larger is better.
    score: f64,
    /// Standard errors of the logarithms of white, wander, time; and of the total deviation.
    errors: [f64; 4],
}

/// Fits white noise, wandering noise and both, and keeps what Bayes' criterion prefers.
pub(crate) fn fit(regression: &Regression) -> (Candidate, NoiseFit) {
    let rough = rough_deviation(regression).max(f64::MIN_POSITIVE);
    let time = start_time(regression);
    let climbs = [
        white(regression, rough, -0.1, SEARCH_STEP),
        wander(regression, rough, [-0.1, time], SEARCH_STEP),
        // Two starts: a log may be mostly white, or mostly wandering.
        both(regression, rough, [-0.5, -0.5, time], SEARCH_STEP),
        both(regression, rough, [-1.5, -0.1, time + 1.5], SEARCH_STEP),
    ];
    let best = climbs.into_iter().flatten().max_by(|a, b| a.score.total_cmp(&b.score));
    let plain = Noise { white: rough, wander: 0.0, wander_s: 1.0 };
    let found = best.unwrap_or(Candidate { noise: plain, score: 0.0, errors: [f64::INFINITY; 4] });
    (found, explain(regression, &found))
}

/// Fits again near a noise that was found for almost the same series.
pub(crate) fn refit(regression: &Regression, near: &Candidate) -> (Candidate, NoiseFit) {
    let Noise { white: white_size, wander: wander_size, wander_s } = near.noise;
    let start = [maths::ln(white_size), maths::ln(wander_size), maths::ln(wander_s)];
    let climbed = match (white_size > 0.0, wander_size > 0.0) {
        (true, true) => both(regression, 1.0, start, NEAR_STEP),
        (false, true) => wander(regression, 1.0, [start[1], start[2]], NEAR_STEP),
        _ => white(regression, 1.0, start[0], NEAR_STEP),
    };
    let found = climbed.unwrap_or(*near);
    (found, explain(regression, &found))
}

fn explain(regression: &Regression, found: &Candidate) -> NoiseFit {
    if let Some(explained) = regression.explained(&found.noise) {
        return report(regression, found, &explained);
    }
    // A column that says nothing new is left out.
    let fewer = Regression { used: 1, ..regression.clone() };
    let nothing = Explained { likelihood: 0.0, coefficients: [0.0; 3], errors: [f64::INFINITY; 3] };
    report(&fewer, found, &fewer.explained(&found.noise).unwrap_or(nothing))
}

fn report(regression: &Regression, found: &Candidate, explained: &Explained) -> NoiseFit {
    let Noise { white, wander, wander_s } = found.noise;
    // As many independent errors as fit into the log: Student's distribution for the means.
    let rows = regression.count() as f64;
    let independent = if wander > 0.0 { rows.min(regression.duration_s / (2.0 * wander_s)) } else { rows };
    let freedom = (independent - regression.used as f64).max(1.0);
    let mean =
        |i: usize, per: f64| Estimated::student(explained.coefficients[i] / per, explained.errors[i] / per, freedom);
    let part = |size: f64, error: f64| (size > 0.0).then(|| Estimated::of_logarithm(size, error));
    NoiseFit {
        bias: mean(0, 1.0),
        drift_per_s: mean(1, regression.duration_s),
        deviation: Estimated::of_logarithm(maths::hypot(white, wander), found.errors[3]),
        white: part(white, found.errors[0]),
        wander: part(wander, found.errors[1]),
        wander_s: part(wander, found.errors[2]).map(|_| Estimated::of_logarithm(wander_s, found.errors[2])),
        delay_s: (regression.used == 3).then(|| mean(2, 1.0)),
    }
}

/// Deviation of the errors about their mean.
fn rough_deviation(regression: &Regression) -> f64 {
    let n = regression.count() as f64;
    let mean = regression.errors.iter().flatten().sum::<f64>() / n;
    let squares: f64 = regression.errors.iter().flatten().map(|e| (e - mean) * (e - mean)).sum();
    (squares / n).sqrt()
}

/// Bayes' criterion, twice as strict: another part must be plain to see.
fn score(regression: &Regression, likelihood: f64, numbers: f64) -> f64 {
    likelihood - numbers * maths::ln(regression.count() as f64)
}

fn height(regression: &Regression, noise: Noise) -> f64 {
    if noise.wander > 0.0 && !timely(regression, noise.wander_s) {
        return f64::NEG_INFINITY;
    }
    regression.explained(&noise).map_or(f64::NEG_INFINITY, |explained| explained.likelihood)
}

fn white(regression: &Regression, unit: f64, start: f64, step: f64) -> Option<Candidate> {
    let noise = |p: &[f64; 1]| Noise { white: unit * maths::exp(p[0]), wander: 0.0, wander_s: 1.0 };
    let climbed = |p: &[f64; 1]| height(regression, noise(p));
    let (peak, likelihood) = climb([start], step, climbed);
    let [[variance]] = covariance(&peak, CURVATURE_STEP, climbed)?;
    let error = variance.sqrt();
    Some(Candidate { noise: noise(&peak), score: score(regression, likelihood, 1.0), errors: [error, 0.0, 0.0, error] })
}

fn wander(regression: &Regression, unit: f64, start: [f64; 2], step: f64) -> Option<Candidate> {
    let noise = |p: &[f64; 2]| {
        let wander = unit * maths::exp(p[0]);
        Noise { white: EXACT * wander, wander, wander_s: maths::exp(p[1]) }
    };
    let climbed = |p: &[f64; 2]| height(regression, noise(p));
    let (peak, likelihood) = climb(start, step, climbed);
    let found = covariance(&peak, CURVATURE_STEP, climbed)?;
    let errors = [0.0, found[0][0].sqrt(), found[1][1].sqrt(), found[0][0].sqrt()];
    let noise = Noise { white: 0.0, ..noise(&peak) };
    Some(Candidate { noise, score: score(regression, likelihood, 2.0), errors })
}

fn both(regression: &Regression, unit: f64, start: [f64; 3], step: f64) -> Option<Candidate> {
    let noise = |p: &[f64; 3]| {
        let [white, wander, wander_s] = p.map(maths::exp);
        Noise { white: unit * white, wander: unit * wander, wander_s }
    };
    let climbed = |p: &[f64; 3]| height(regression, noise(p));
    let (peak, likelihood) = climb(start, step, climbed);
    let found = covariance(&peak, CURVATURE_STEP, climbed)?;
    let noise = noise(&peak);
    let total = noise.white * noise.white + noise.wander * noise.wander;
    let (a, b) = (noise.white * noise.white / total, noise.wander * noise.wander / total);
    let total_error = (a * a * found[0][0] + 2.0 * a * b * found[0][1] + b * b * found[1][1]).max(0.0).sqrt();
    let errors = [found[0][0].sqrt(), found[1][1].sqrt(), found[2][2].sqrt(), total_error];
    Some(Candidate { noise, score: score(regression, likelihood, 3.0), errors })
}

/// Logarithm of a correlation time to begin with: ten rows.
fn start_time(regression: &Regression) -> f64 {
    maths::ln(10.0 * regression.duration_s / regression.step_s.len() as f64)
}

/// Whether a correlation time can be seen in the log: not far below its rows, not beyond its length.
fn timely(regression: &Regression, wander_s: f64) -> bool {
    let row_s = regression.duration_s / regression.step_s.len() as f64;
    (0.2 * row_s..regression.duration_s).contains(&wander_s)
}
