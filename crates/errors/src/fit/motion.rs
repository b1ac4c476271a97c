//! How a truth moves, and whether that tells a delay from a bias.
//!
//! An estimate that is late by d errs by −d·v. While the speed v is constant this is a bias, and while it changes evenly
//! a bias and a drift: only what of the speed leaves a straight line over time tells a delay apart. A truth that was measured
//! has noise of its own, which looks like changing speed and tells nothing.

use super::interval::Estimated;

/// Share of the speed that must leave the straight line.
const SPEED_CHANGE_MIN: f64 = 1e-3;
/// How much more it must leave it than noise of the truth alone would make it: with three times as much the delay is found
/// within a tenth of what is left of it in each round.
const CHANGE_OVER_NOISE: f64 = 3.0;
/// From the median of absolute values to a deviation, for normal numbers.
const DEVIATION_PER_MEDIAN: f64 = 1.482_602_2;
/// Deviation of the fourth difference of white noise of deviation one: √(1 + 16 + 36 + 16 + 1).
const FOURTH_DIFFERENCE: f64 = 8.366_600_265;

/// How a truth moves over a log: v(t) = speed + accel·(t − middle) and what leaves that line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Motion {
    /// Speed in the middle of the log.
    pub(crate) speed: f64,
    /// Change of the speed per second.
    pub(crate) accel: f64,
    /// Deviation of the speed from that line.
    change: f64,
    /// Root of the mean square of the speed.
    size: f64,
    /// Deviation of the speed that noise of the truth alone makes.
    noise: f64,
}

impl Motion {
    /// From the rows of a truth and its speeds there.
    pub(crate) fn of(time_s: &[f64], value: &[f64], speed: &[f64]) -> Self {
        let last = time_s.len() - 1;
        let middle_s = 0.5 * (time_s[0] + time_s[last]);
        let n = time_s.len() as f64;
        let mean = |series: &dyn Fn(usize) -> f64| (0..=last).map(series).sum::<f64>() / n;
        let (t, v) = (mean(&|i| time_s[i] - middle_s), mean(&|i| speed[i]));
        let along = |i: usize| time_s[i] - middle_s - t;
        let (tt, tv) = (mean(&|i| along(i) * along(i)), mean(&|i| along(i) * (speed[i] - v)));
        let accel = if tt > 0.0 { tv / tt } else { 0.0 };
        let left = |i: usize| speed[i] - v - accel * along(i);
        let change = mean(&|i| left(i) * left(i)).sqrt();
        let size = mean(&|i| speed[i] * speed[i]).sqrt();
        Self { speed: v - accel * t, accel, change, size, noise: speed_noise(time_s, value) }
    }
    /// Whether a delay can be told from bias and drift.
    pub(crate) fn tells_delay(&self) -> bool {
        self.change > SPEED_CHANGE_MIN * self.size && self.change > CHANGE_OVER_NOISE * self.noise
    }
    /// Bias and drift that were found with the value of a delay that is known within limits.
    pub(crate) fn widened(&self, [bias, drift_per_s]: [Estimated; 2], delay_s: Estimated) -> [Estimated; 2] {
        [bias.widened(self.speed, delay_s), drift_per_s.widened(self.accel, delay_s)]
    }
    /// Bias and drift that were found without a delay, if there may be one of up to `most_s`.
    pub(crate) fn stretched(&self, [bias, drift_per_s]: [Estimated; 2], most_s: f64) -> [Estimated; 2] {
        [bias.stretched(self.speed, most_s), drift_per_s.stretched(self.accel, most_s)]
    }
}

/// What white noise of a truth does to its central differences. Its size is that of fourth differences, in which smooth motion
/// is nearly gone.
fn speed_noise(time_s: &[f64], value: &[f64]) -> f64 {
    let fourth = |w: &[f64]| (w[0] - 4.0 * w[1] + 6.0 * w[2] - 4.0 * w[3] + w[4]).abs();
    let mut sizes: Vec<f64> = value.windows(5).map(fourth).collect();
    sizes.sort_by(f64::total_cmp);
    let deviation = DEVIATION_PER_MEDIAN * sizes.get(sizes.len() / 2).copied().unwrap_or(0.0) / FOURTH_DIFFERENCE;
    let period_s = (time_s[time_s.len() - 1] - time_s[0]) / (time_s.len() - 1) as f64;
    deviation * std::f64::consts::FRAC_1_SQRT_2 / period_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::{Chance, Seed, maths};

    fn motion(value: impl Fn(f64) -> f64) -> Motion {
        let time_s: Vec<f64> = (0..2000).map(|i| 0.1 * f64::from(i)).collect();
        let value: Vec<f64> = time_s.iter().map(|t| value(*t)).collect();
        super::super::delay::Truth::new(&time_s, value).motion()
    }

    #[test]
    fn uniform_motion_tells_no_delay_however_it_was_measured() {
        let even = motion(|t| 3.0 + 10.0 * t);
        assert!((even.speed - 10.0).abs() < 1e-9 && even.accel.abs() < 1e-9 && !even.tells_delay());
        let faster = motion(|t| 2.0 * t + 0.25 * t * t);
        // By hand: 2 m/s and 0.5 m/s², in the middle of 199.9 s.
        assert!((faster.speed - (2.0 + 0.5 * 99.95)).abs() < 1e-3 && (faster.accel - 0.5).abs() < 1e-4);
        assert!(!faster.tells_delay());
        let chance = Chance::new(Seed(4), "truth");
        let noise = |t: f64| chance.at((10.0 * t).round() as u64).normal(0);
        assert!(!motion(|t| 10.0 * t + 0.02 * noise(t)).tells_delay());
        assert!(!motion(|t| ((10.03 * t) * 1000.0).round() / 1000.0).tells_delay(), "rounded to millimetres");
        assert!(!motion(|_| 5.0).tells_delay());
    }

    #[test]
    fn a_change_of_speed_tells_a_delay_even_if_the_truth_is_noisy() {
        assert!(motion(|t| 10.0 * t + maths::sin(0.3 * t)).tells_delay());
        let chance = Chance::new(Seed(4), "truth");
        let noise = |t: f64| 0.01 * chance.at((10.0 * t).round() as u64).normal(0);
        assert!(motion(|t| 10.0 * t + 5.0 * maths::sin(0.3 * t) + noise(t)).tells_delay());
    }

    #[test]
    fn noise_of_the_truth_is_told_from_its_motion() {
        let chance = Chance::new(Seed(5), "truth");
        let found = motion(|t| 25.0 * maths::sin(0.2 * t) + 0.02 * chance.at((10.0 * t).round() as u64).normal(0));
        // By hand: 0.02 m over two rows of 0.1 s each, √2·0.02/0.2.
        let expect = 2.0_f64.sqrt() * 0.02 / 0.2;
        assert!((found.noise / expect - 1.0).abs() < 0.1, "{} {expect}", found.noise);
    }
}
