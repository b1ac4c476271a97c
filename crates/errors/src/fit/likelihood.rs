//! How likely a series of errors is under white plus Gauss–Markov noise about a straight line and a delay.

use anabranch_kernel::maths;

/// Columns of the regression: mean, slope over the log, minus the speed of the truth.
pub(crate) const COLUMNS: usize = 3;

/// A series to be explained.
#[derive(Clone, Debug)]
pub(crate) struct Regression {
    /// Seconds since the row before.
    pub(crate) step_s: Vec<f64>,
    /// Errors; `None` where nothing was told.
    pub(crate) errors: Vec<Option<f64>>,
    /// What explains them.
    pub(crate) columns: Vec<[f64; COLUMNS]>,
    /// How many of the columns are used.
    pub(crate) used: usize,
    /// Seconds from the first row to the last.
    pub(crate) duration_s: f64,
}

/// Numbers of the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    pub(crate) white: f64,
    pub(crate) wander: f64,
    pub(crate) wander_s: f64,
}

/// The best coefficients under a noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explained {
    /// Restricted log-likelihood, up to a constant.
    pub(crate) likelihood: f64,
    pub(crate) coefficients: [f64; COLUMNS],
    /// Their standard errors.
    pub(crate) errors: [f64; COLUMNS],
}

/// What a Kalman filter leaves of the data and of every column: independent numbers of known variance. Their normal
/// equations are summed up on the way.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    squares: f64,
    products: [f64; COLUMNS],
    normal: [[f64; COLUMNS]; COLUMNS],
    logarithms: f64,
}

impl Regression {
    /// Rows with an error.
    pub(crate) fn count(&self) -> usize {
        self.errors.iter().flatten().count()
    }

    fn sums(&self, noise: &Noise) -> Sums {
        let mut sums = Sums::default();
        let (white, wander) = (noise.white * noise.white, noise.wander * noise.wander);
        // The state of the filter for the data and for every column; they share one variance.
        let (mut mean, mut means, mut variance) = (0.0, [0.0; COLUMNS], wander);
        let (mut last_step_s, mut keep) = (f64::NAN, 1.0);
        // A product of many variances is one logarithm instead of many.
        let mut product = 1.0;
        for ((&step_s, error), column) in self.step_s.iter().zip(&self.errors).zip(&self.columns) {
            if step_s != last_step_s {
                keep = if wander > 0.0 { maths::exp(-step_s / noise.wander_s) } else { 0.0 };
                last_step_s = step_s;
            }
            mean *= keep;
            means.iter_mut().for_each(|m| *m *= keep);
            variance = keep * keep * variance + (1.0 - keep * keep) * wander;
            let Some(error) = error else { continue };
            let spread = variance + white;
            let per_spread = 1.0 / spread;
            let left = error - mean;
            let lefts: [f64; COLUMNS] = std::array::from_fn(|i| column[i] - means[i]);
            sums.squares += left * left * per_spread;
            for i in 0..self.used {
                sums.products[i] += lefts[i] * left * per_spread;
                for j in 0..=i {
                    sums.normal[i][j] += lefts[i] * lefts[j] * per_spread;
                }
            }
            product *= spread;
            if !(1e-200..1e200).contains(&product) {
                sums.logarithms += maths::ln(product);
                product = 1.0;
            }
            let gain = variance * per_spread;
            mean += gain * left;
            (0..COLUMNS).for_each(|i| means[i] += gain * lefts[i]);
            variance *= 1.0 - gain;
        }
        sums.logarithms += maths::ln(product);
        sums
    }

    /// The best coefficients under a noise, and how likely the series is with them.
    pub(crate) fn explained(&self, noise: &Noise) -> Option<Explained> {
        let sums = self.sums(noise);
        let mut lower = [[0.0; COLUMNS]; COLUMNS];
        let mut logarithm = 0.0;
        for row in 0..self.used {
            for column in 0..row {
                let dot: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
                lower[row][column] = (sums.normal[row][column] - dot) / lower[column][column];
            }
            let rest = sums.normal[row][row] - (0..row).map(|k| lower[row][k] * lower[row][k]).sum::<f64>();
            if rest.is_nan() || rest <= 1e-12 * sums.normal[row][row] {
                return None;
            }
            lower[row][row] = rest.sqrt();
            logarithm += maths::ln(rest);
        }
        let solve = |right: &[f64; COLUMNS]| self.solve(&lower, right);
        let coefficients = solve(&sums.products);
        let explained: f64 = (0..self.used).map(|i| coefficients[i] * sums.products[i]).sum();
        let left = sums.squares - explained;
        let error = |i: usize| {
            let mut unit = [0.0; COLUMNS];
            unit[i] = 1.0;
            if i < self.used { solve(&unit)[i].sqrt() } else { 0.0 }
        };
        let likelihood = -0.5 * (sums.logarithms + logarithm + left);
        likelihood.is_finite().then(|| Explained { likelihood, coefficients, errors: std::array::from_fn(error) })
    }

    /// Solves the normal equations by Cholesky's factor.
    fn solve(&self, lower: &[[f64; COLUMNS]; COLUMNS], right: &[f64; COLUMNS]) -> [f64; COLUMNS] {
        let mut found = [0.0; COLUMNS];
        for row in 0..self.used {
            let known: f64 = (0..row).map(|k| lower[row][k] * found[k]).sum();
            found[row] = (right[row] - known) / lower[row][row];
        }
        for row in (0..self.used).rev() {
            let known: f64 = (row + 1..self.used).map(|k| lower[k][row] * found[k]).sum();
            found[row] = (found[row] - known) / lower[row][row];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likelihood_is_that_of_the_joint_normal_distribution() {
        // By hand: two rows 1 s apart, white variance 1, wandering variance 3 with τ = 1/ln 2 s, so the covariance is
        // [[4, 1.5], [1.5, 4]]; its inverse is [[4, −1.5], [−1.5, 4]]/13.75. The mean of 2 and 4 is 3 by symmetry, its
        // variance 1/(2 · 2.5/13.75) = 2.75, the rest (1, −1)·Σ⁻¹·(1, −1) = 11/13.75 = 0.8.
        let regression = Regression {
            step_s: vec![0.0, 1.0],
            errors: vec![Some(2.0), Some(4.0)],
            columns: vec![[1.0, 0.0, 0.0]; 2],
            used: 1,
            duration_s: 1.0,
        };
        let noise = Noise { white: 1.0, wander: 3.0_f64.sqrt(), wander_s: 1.0 / maths::ln(2.0) };
        let found = regression.explained(&noise).unwrap();
        assert!((found.coefficients[0] - 3.0).abs() < 1e-12);
        assert!((found.errors[0] - 2.75_f64.sqrt()).abs() < 1e-12);
        let expect = -0.5 * (maths::ln(13.75) - maths::ln(2.75) + 0.8);
        assert!((found.likelihood - expect).abs() < 1e-12, "{} {expect}", found.likelihood);
    }

    #[test]
    fn missing_rows_are_stepped_over() {
        let series = |errors: Vec<Option<f64>>, step_s: Vec<f64>| {
            let columns = vec![[1.0, 0.0, 0.0]; errors.len()];
            let regression = Regression { step_s, errors, columns, used: 1, duration_s: 3.0 };
            regression.explained(&Noise { white: 0.5, wander: 1.0, wander_s: 2.0 }).unwrap().likelihood
        };
        let with_gap = series(vec![Some(1.0), None, Some(2.0), Some(0.0)], vec![0.0, 1.0, 1.0, 1.0]);
        let without = series(vec![Some(1.0), Some(2.0), Some(0.0)], vec![0.0, 2.0, 1.0]);
        assert!((with_gap - without).abs() < 1e-12);
    }
}
