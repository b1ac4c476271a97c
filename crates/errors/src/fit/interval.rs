//! Estimates with their 95 % confidence intervals.

use anabranch_kernel::maths;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_985;

/// A number and the interval that holds the true one in 95 of 100 logs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimated {
    /// The best guess.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimated {
    /// Whether a number lies inside the interval.
    pub fn holds(&self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }
    /// Whether zero lies outside.
    pub fn differs_from_zero(&self) -> bool {
        !self.holds(0.0)
    }
    /// About a mean with a standard error, by Student's distribution.
    pub(crate) fn student(value: f64, error: f64, freedom: f64) -> Self {
        let half = student_quantile(freedom) * error;
        Self { value, low: value - half, high: value + half }
    }
    /// About a positive number whose logarithm has a standard error.
    pub(crate) fn of_logarithm(value: f64, error: f64) -> Self {
        let factor = maths::exp(Z * error);
        Self { value, low: value / factor, high: value * factor }
    }
    /// The rate of events that were counted over a time: Garwood's interval for Poisson counts.
    pub(crate) fn rate(count: usize, over_s: f64) -> Self {
        let n = count as f64;
        let low = if count == 0 { 0.0 } else { 0.5 * chi_squared_quantile(2.0 * n, -Z) };
        let high = 0.5 * chi_squared_quantile(2.0 * n + 2.0, Z);
        Self { value: n / over_s, low: low / over_s, high: high / over_s }
    }
    /// The mean of waiting times: at least as wide as for exponential ones, which few of them cannot be told from.
    pub(crate) fn mean_time(values_s: &[f64]) -> Option<Self> {
        Self::mean_of_positive(values_s, 1.0)
    }
    /// The mean of sizes, which may be all alike.
    pub(crate) fn mean_size(values: &[f64]) -> Option<Self> {
        Self::mean_of_positive(values, 0.0)
    }
    /// The mean of numbers from a gamma distribution of their own spread; `None` for none.
    fn mean_of_positive(values: &[f64], squared_spread_min: f64) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0).max(1.0);
        // One value alone says nothing about the spread: as wide as waiting times are.
        let own = if values.len() < 2 { 1.0 } else { (variance / (mean * mean)).max(1e-12) };
        let squared_spread = own.max(squared_spread_min);
        let freedom = 2.0 * n / squared_spread;
        let end = |z: f64| mean * freedom / chi_squared_quantile(freedom, z);
        // A spread that was estimated is uncertain itself: widen as Student does.
        let widen = if own > squared_spread_min { student_quantile((n - 1.0).max(1.0)) / Z } else { 1.0 };
        let (low, high) = (end(Z * widen), end(-Z * widen));
        (!values.is_empty() && mean > 0.0).then_some(Self { value: mean, low, high })
    }
    /// One estimate of several, the surer the more it counts; `None` for none.
    pub(crate) fn combined(all: &[Self]) -> Option<Self> {
        let weight = |e: &Self| 1.0 / ((e.high - e.low) * (e.high - e.low)).max(1e-300);
        let total: f64 = all.iter().map(weight).sum();
        let value = all.iter().map(|e| weight(e) * e.value).sum::<f64>() / total;
        let half = 0.5 / total.sqrt();
        (!all.is_empty()).then_some(Self { value, low: value - half, high: value + half })
    }
    /// The interval if the number is larger by `factor` times something that is only known within limits itself and was taken
    /// to be its `value`. What both are unsure about is independent.
    pub(crate) fn widened(&self, factor: f64, by: Self) -> Self {
        let ends = [factor * (by.low - by.value), factor * (by.high - by.value)];
        let (down, up) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        Self {
            value: self.value,
            low: self.value - maths::hypot(self.value - self.low, down),
            high: self.value + maths::hypot(self.high - self.value, up),
        }
    }
    /// The interval if the number is larger by `factor` times anything from 0 to `most`.
    pub(crate) fn stretched(&self, factor: f64, most: f64) -> Self {
        let end = factor * most;
        Self { value: self.value, low: self.low + end.min(0.0), high: self.high + end.max(0.0) }
    }
    /// The same interval elsewhere.
    pub(crate) fn shifted(&self, by: f64) -> Self {
        Self { value: self.value + by, low: self.low + by, high: self.high + by }
    }
}

/// The 97.5 % quantile of Student's distribution, by Cornish and Fisher's expansion; within 1 % from three degrees of
/// freedom on, and cautious below.
fn student_quantile(freedom: f64) -> f64 {
    let n = freedom.max(1.0);
    let (z3, z5, z7) = (Z * Z * Z, Z * Z * Z * Z * Z, Z * Z * Z * Z * Z * Z * Z);
    let third = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * n * n * n);
    Z + (z3 + Z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * n * n) + third
}

/// Quantile of the χ² distribution at the normal quantile `z`, by Wilson and Hilferty's cube.
fn chi_squared_quantile(freedom: f64, z: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    let root = (1.0 - part + z * part.sqrt()).max(1e-3);
    freedom * root * root * root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        for (freedom, expect) in [(3.0, 3.182), (5.0, 2.571), (10.0, 2.228), (30.0, 2.042), (1e6, 1.960)] {
            assert!((student_quantile(freedom) / expect - 1.0).abs() < 0.01, "{freedom}");
        }
        for (freedom, low, high) in [(10.0, 3.247, 20.483), (60.0, 40.482, 83.298)] {
            assert!((chi_squared_quantile(freedom, -Z) / low - 1.0).abs() < 0.01);
            assert!((chi_squared_quantile(freedom, Z) / high - 1.0).abs() < 0.01);
        }
    }

    #[test]
    fn rates_have_the_intervals_of_tables() {
        // Garwood's table: 10 events, 4.795 to 18.39; none, 0 to 3.689.
        let ten = Estimated::rate(10, 1.0);
        assert!((ten.low - 4.795).abs() < 0.05 && (ten.high - 18.39).abs() < 0.1, "{ten:?}");
        let none = Estimated::rate(0, 2.0);
        assert!(none.low == 0.0 && (none.high - 3.689 / 2.0).abs() < 0.02, "{none:?}");
    }

    #[test]
    fn several_estimates_are_surer_than_each() {
        let one = Estimated { value: 1.0, low: 0.8, high: 1.2 };
        let two = Estimated { value: 2.0, low: 1.8, high: 2.2 };
        let both = Estimated::combined(&[one, two]).unwrap();
        // By hand: equal weights give 1.5, and the interval is narrower by √2.
        assert!((both.value - 1.5).abs() < 1e-12 && (both.high - both.low - 0.4 / 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Estimated::combined(&[]), None);
    }
}
