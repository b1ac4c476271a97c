//! The truth between the rows of a log, and what an estimate looks like that tells an older one.

use super::likelihood::Regression;
use super::log::LogChannel;
use super::motion::Motion;
use anabranch_kernel::maths;

/// Delays tried before the first fit, in steps of [`GUESS_STEP_S`], up to [`DELAY_MAX_S`].
const GUESSES: i32 = 20;
const GUESS_STEP_S: f64 = 0.1;
/// The longest delay that is looked for.
pub(crate) const DELAY_MAX_S: f64 = GUESSES as f64 * GUESS_STEP_S;
/// The best of them is narrowed down so often, by a third each.
const GUESS_HALVINGS: u32 = 10;
/// Errors are compared over this time.
const GUESS_OVER_S: f64 = 1.0;

/// The truth as a smooth curve: cubic between rows, with the slopes of central differences.
#[derive(Clone, Debug)]
pub(crate) struct Truth<'a> {
    time_s: &'a [f64],
    value: Vec<f64>,
    slope: Vec<f64>,
}

impl<'a> Truth<'a> {
    /// The curve through the rows.
    pub(crate) fn new(time_s: &'a [f64], value: Vec<f64>) -> Self {
        let last = time_s.len() - 1;
        let slope = |i: usize| {
            let (a, b) = (i.saturating_sub(1), (i + 1).min(last));
            (value[b] - value[a]) / (time_s[b] - time_s[a])
        };
        let slope = (0..=last).map(slope).collect();
        Self { time_s, value, slope }
    }
    /// Value and speed at a time; `from` is a row not after it. `None` before the first row or after the last.
    fn at(&self, time_s: f64, from: &mut usize) -> Option<(f64, f64)> {
        while *from > 0 && self.time_s[*from] > time_s {
            *from -= 1;
        }
        while *from + 2 < self.time_s.len() && self.time_s[*from + 1] <= time_s {
            *from += 1;
        }
        let (a, b) = (*from, *from + 1);
        let width_s = self.time_s[b] - self.time_s[a];
        let u = (time_s - self.time_s[a]) / width_s;
        if !(-1e-9..=1.0 + 1e-9).contains(&u) {
            return None;
        }
        let (pa, pb, ma, mb) = (self.value[a], self.value[b], self.slope[a] * width_s, self.slope[b] * width_s);
        let rise = pb - pa;
        // Hermite's cubic, by its coefficients.
        let (c2, c3) = (3.0 * rise - 2.0 * ma - mb, ma + mb - 2.0 * rise);
        let value = pa + u * (ma + u * (c2 + u * c3));
        let speed = (ma + u * (2.0 * c2 + 3.0 * u * c3)) / width_s;
        Some((value, speed))
    }

    /// The series of errors against the truth of `delay_s` ago, with what explains them: bias and drift, and the delay if the
    /// truth tells it.
    pub(crate) fn regression(
        &self,
        channel: &LogChannel,
        present: &[bool],
        delay_s: f64,
        tells_delay: bool,
    ) -> Regression {
        let last = self.time_s.len() - 1;
        let duration_s = self.time_s[last] - self.time_s[0];
        let middle_s = 0.5 * (self.time_s[0] + self.time_s[last]);
        let mut found = Regression {
            step_s: Vec::with_capacity(last + 1),
            errors: Vec::with_capacity(last + 1),
            columns: Vec::with_capacity(last + 1),
            used: if tells_delay { 3 } else { 2 },
            duration_s,
        };
        let mut from = 0;
        for (row, &time_s) in self.time_s.iter().enumerate() {
            let older = self.at(time_s - delay_s, &mut from);
            let told = channel.estimate[row].filter(|_| present[row]);
            found.errors.push(told.zip(older).map(|(told, (truth, _))| channel.difference(told, truth)));
            let speed = older.map_or(0.0, |(_, speed)| speed);
            found.columns.push([1.0, (time_s - middle_s) / duration_s, -speed]);
            found.step_s.push(if row == 0 { 0.0 } else { rounded(time_s - self.time_s[row - 1]) });
        }
        found
    }
    /// How it moves over the log.
    pub(crate) fn motion(&self) -> Motion {
        Motion::of(self.time_s, &self.value, &self.slope)
    }

    /// How much the errors against the truth of `delay_s` ago change over `rows` rows, in the mean. Jumps are rare and
    /// count little; bias and drift do not count.
    pub(crate) fn change(&self, channel: &LogChannel, delay_s: f64, rows: usize) -> f64 {
        let mut from = 0;
        let error = |(row, &time_s): (usize, &f64)| {
            let (truth, _) = self.at(time_s - delay_s, &mut from)?;
            channel.estimate[row].map(|told| channel.difference(told, truth))
        };
        let errors: Vec<Option<f64>> = self.time_s.iter().enumerate().map(error).collect();
        let pairs = errors.iter().zip(&errors[rows.min(errors.len())..]).filter_map(|(a, b)| a.zip(*b));
        let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), (a, b)| (sum + (b - a).abs(), count + 1.0));
        sum / f64::max(count, 1.0)
    }
}

/// A common delay to begin with: the one over which the errors of those channels that tell a delay change least. 0 if none does.
pub(crate) fn guess(truths: &[Truth<'_>], channels: &[LogChannel], tells: &[bool], period_s: f64) -> f64 {
    let rows = (GUESS_OVER_S / period_s).clamp(1.0, 1e6) as usize;
    let pairs = truths.iter().zip(channels).zip(tells).filter(|(_, tells)| **tells).map(|(pair, _)| pair);
    let telling: Vec<(&Truth<'_>, &LogChannel, f64)> =
        pairs.map(|(truth, channel)| (truth, channel, truth.change(channel, 0.0, rows))).collect();
    if telling.is_empty() {
        return 0.0;
    }
    let change = |delay_s: f64| -> f64 {
        let of_channel = |(truth, channel, plain): &(&Truth<'_>, &LogChannel, f64)| {
            truth.change(channel, delay_s, rows) / plain.max(f64::MIN_POSITIVE)
        };
        telling.iter().map(of_channel).sum()
    };
    let coarse = (0..=GUESSES).map(|step| f64::from(step) * GUESS_STEP_S);
    let best = coarse.min_by(|a, b| change(*a).total_cmp(&change(*b))).unwrap_or(0.0);
    let (mut low, mut high) = (best - GUESS_STEP_S, best + GUESS_STEP_S);
    for _ in 0..GUESS_HALVINGS {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if change(a) < change(b) { high = b } else { low = a }
    }
    0.5 * (low + high)
}

/// Steps of a log are those of a clock: rounding away the last digits lets equal steps be equal.
fn rounded(step_s: f64) -> f64 {
    (step_s * 1e9).round() * 1e-9
}

/// Angles without jumps by a full turn.
pub(crate) fn unrolled(angles: &[f64]) -> Vec<f64> {
    let mut last = angles.first().copied().unwrap_or(0.0);
    let unroll = |&angle: &f64| {
        last += maths::wrap_angle(angle - last);
        last
    };
    angles.iter().map(unroll).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_between_rows_is_cubic() {
        // A parabola is met exactly away from the ends, where central differences are its slopes.
        let time_s: Vec<f64> = (0..10).map(|i| 0.5 * f64::from(i)).collect();
        let squares: Vec<f64> = time_s.iter().map(|t| t * t).collect();
        let truth = Truth::new(&time_s, squares);
        let mut from = 0;
        let (value, speed) = truth.at(2.3, &mut from).unwrap();
        assert!((value - 5.29).abs() < 1e-12 && (speed - 4.6).abs() < 1e-12);
        assert_eq!(truth.at(-0.1, &mut from), None);
        assert!(truth.at(4.5, &mut from).is_some() && truth.at(4.6, &mut from).is_none());
    }

    #[test]
    fn angles_are_unrolled_over_the_seam() {
        let rolled = [3.0, -3.1, -2.9, 3.1];
        let found = unrolled(&rolled);
        assert!((found[1] - (std::f64::consts::TAU - 3.1)).abs() < 1e-12);
        assert!(found.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 1.0));
    }
}
