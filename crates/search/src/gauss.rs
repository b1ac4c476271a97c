//! A small exact Gaussian process over the unit cube.

use anabranch_kernel::maths;

use crate::space::{Kind, Layout};

/// Variance of values that the process does not explain, as a share of all variance.
const NOISE: f64 = 1e-4;
/// Length scales that are tried, for a cube of one dimension; more dimensions are farther apart.
const LENGTHS: [f64; 7] = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2];

/// A fitted process.
#[derive(Clone, Debug)]
pub struct Process {
    kinds: Vec<Kind>,
    points: Vec<Vec<f64>>,
    /// Lower factor of the covariance matrix, row by row.
    factor: Vec<Vec<f64>>,
    /// Covariance matrix inverse times values.
    weights: Vec<f64>,
    length: f64,
    mean: f64,
    spread: f64,
    log_likelihood: f64,
}

fn distance(kinds: &[Kind], a: &[f64], b: &[f64]) -> f64 {
    let part = |((kind, x), y): ((&Kind, &f64), &f64)| match kind {
        Kind::OneOf(_) => f64::from(u8::from(x != y)) * 0.5,
        _ => (x - y) * (x - y),
    };
    kinds.iter().zip(a).zip(b).map(part).sum::<f64>().sqrt()
}

/// Matérn 5/2.
fn likeness(distance: f64, length: f64) -> f64 {
    let r = 5.0_f64.sqrt() * distance / length;
    (1.0 + r + r * r / 3.0) * maths::exp(-r)
}

impl Process {
    /// Fits a process of a given length scale. `None` if there are no points or they cannot be told apart.
    pub fn fit(layout: &Layout, points: Vec<Vec<f64>>, values: &[f64], length: f64) -> Option<Self> {
        let n = points.len() as f64;
        if points.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let spread = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
        let spread = if spread > 0.0 { spread } else { 1.0 };
        let scaled: Vec<f64> = values.iter().map(|v| (v - mean) / spread).collect();
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(points.len());
        for (i, point) in points.iter().enumerate() {
            let mut row: Vec<f64> = Vec::with_capacity(i + 1);
            for (j, other) in points[..=i].iter().enumerate() {
                let own = if i == j { 1.0 + NOISE } else { likeness(distance(&layout.kinds, point, other), length) };
                let before = &row[..j];
                let known: f64 = if i == j {
                    before.iter().map(|x| x * x).sum()
                } else {
                    before.iter().zip(&factor[j]).map(|(x, y)| x * y).sum()
                };
                let left = own - known;
                row.push(if i == j { left.max(1e-12).sqrt() } else { left / factor[j][j] });
            }
            factor.push(row);
        }
        let half = forwards(&factor, &scaled);
        let log_likelihood = -0.5 * half.iter().map(|x| x * x).sum::<f64>()
            - factor.iter().enumerate().map(|(i, row)| maths::ln(row[i])).sum::<f64>();
        let weights = backwards(&factor, half);
        Some(Self { kinds: layout.kinds.clone(), points, factor, weights, length, mean, spread, log_likelihood })
    }
    /// The length scale under which the values are likeliest.
    pub fn best_length(layout: &Layout, points: &[Vec<f64>], values: &[f64]) -> f64 {
        let scale = (layout.len() as f64).sqrt();
        let mut best = (f64::NEG_INFINITY, LENGTHS[3] * scale);
        for length in LENGTHS {
            let fitted = Self::fit(layout, points.to_vec(), values, length * scale);
            if let Some(process) = fitted.filter(|p| p.log_likelihood > best.0) {
                best = (process.log_likelihood, process.length);
            }
        }
        best.1
    }
    /// How likely the values are under it, as a logarithm without its constant part.
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }
    /// Mean and standard deviation at a point.
    pub fn predict(&self, point: &[f64]) -> (f64, f64) {
        let likeness_to = |other: &Vec<f64>| likeness(distance(&self.kinds, point, other), self.length);
        let row: Vec<f64> = self.points.iter().map(likeness_to).collect();
        let mean: f64 = row.iter().zip(&self.weights).map(|(k, w)| k * w).sum();
        let explained: f64 = forwards(&self.factor, &row).iter().map(|x| x * x).sum();
        (self.mean + self.spread * mean, self.spread * (1.0 - explained).max(0.0).sqrt())
    }
    /// How much lower than `lowest` a value at a point is expected to be.
    pub fn expected_improvement(&self, point: &[f64], lowest: f64) -> f64 {
        let (mean, deviation) = self.predict(point);
        if deviation <= 1e-12 * self.spread {
            return (lowest - mean).max(0.0) * 1e-6;
        }
        let z = (lowest - mean) / deviation;
        let density = maths::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt();
        deviation * (z * normal_share(z) + density)
    }
}

/// Share of a standard normal distribution below `z` (Abramowitz and Stegun 26.2.17, error below 7.5e-8).
fn normal_share(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let density = maths::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt();
    let polynomial =
        t * (0.319_381_530 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let above = density * polynomial;
    if z >= 0.0 { 1.0 - above } else { above }
}

fn forwards(factor: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::with_capacity(right.len());
    for (i, row) in factor.iter().enumerate() {
        let known: f64 = row[..i].iter().zip(&out).map(|(l, x)| l * x).sum();
        out.push((right[i] - known) / row[i]);
    }
    out
}

fn backwards(factor: &[Vec<f64>], mut right: Vec<f64>) -> Vec<f64> {
    for i in (0..right.len()).rev() {
        right[i] /= factor[i][i];
        let value = right[i];
        for (j, entry) in factor[i][..i].iter().enumerate() {
            right[j] -= entry * value;
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_goes_through_its_points_and_doubts_in_between() {
        let layout = Layout::real(1);
        let points: Vec<Vec<f64>> = (0..6).map(|n| vec![f64::from(n) / 5.0]).collect();
        let values: Vec<f64> = points.iter().map(|p| maths::sin(6.0 * p[0])).collect();
        let length = Process::best_length(&layout, &points, &values);
        let process = Process::fit(&layout, points.clone(), &values, length).expect("six points");
        for (point, value) in points.iter().zip(&values) {
            let (mean, deviation) = process.predict(point);
            assert!((mean - value).abs() < 0.01 && deviation < 0.02, "{point:?}: {mean} ± {deviation}");
        }
        let (mean, deviation) = process.predict(&[0.3]);
        assert!((mean - maths::sin(1.8)).abs() < 0.1, "{mean}");
        assert!(deviation > 0.01, "{deviation}");
    }

    #[test]
    fn shares_of_the_normal_distribution() {
        for (z, share) in [(0.0, 0.5), (1.0, 0.841_344_75), (-1.96, 0.024_997_9), (3.0, 0.998_650_1)] {
            assert!((normal_share(z) - share).abs() < 1e-6, "{z}");
        }
    }
}
