//! Small symmetric matrices for filters: fixed size, no allocation, one order of operations on every machine.
//!
//! A library would choose fused instructions where the processor has them, and results would differ from machine to
//! machine. What filters here need is little: every measurement is one component of the state.

#![expect(clippy::needless_range_loop, reason = "formulas of matrices are read by their indices")]

/// A square matrix by rows.
pub(crate) type Square<const N: usize> = [[f64; N]; N];

/// Takes in a measurement of component `index` with a variance; returns the squared innovation in units of its variance.
///
/// The covariance is updated in Joseph form, `(I − K H) P (I − K H)ᵀ + K R Kᵀ`, as two one-sided products, so that it
/// stays positive whatever the rounding.
#[inline]
pub(crate) fn update<const N: usize>(
    mean: &mut [f64; N],
    covariance: &mut Square<N>,
    index: usize,
    innovation: f64,
    variance: f64,
) -> f64 {
    let spread = covariance[index][index] + variance;
    let gain: [f64; N] = std::array::from_fn(|row| covariance[row][index] / spread);
    for row in 0..N {
        mean[row] += gain[row] * innovation;
    }
    let measured = covariance[index];
    for row in 0..N {
        for column in 0..N {
            covariance[row][column] -= gain[row] * measured[column];
        }
    }
    for row in 0..N {
        let through = covariance[row][index];
        for column in 0..N {
            covariance[row][column] += gain[column] * (variance * gain[row] - through);
        }
    }
    innovation * innovation / spread
}

/// Both halves made equal: rounding differs in the last bit.
#[inline]
pub(crate) fn symmetrise<const N: usize>(covariance: &mut Square<N>) {
    for row in 0..N {
        for column in 0..row {
            let mean = 0.5 * (covariance[row][column] + covariance[column][row]);
            covariance[row][column] = mean;
            covariance[column][row] = mean;
        }
    }
}

/// The upper triangle by rows; `M` must be N(N+1)/2.
pub(crate) fn triangle<const N: usize, const M: usize>(covariance: &Square<N>) -> [f64; M] {
    let mut packed = [0.0; M];
    let mut next = 0;
    for (row, values) in covariance.iter().enumerate() {
        for value in &values[row..] {
            packed[next] = *value;
            next += 1;
        }
    }
    packed
}

/// The matrix of an upper triangle.
pub(crate) fn square<const N: usize, const M: usize>(packed: &[f64; M]) -> Square<N> {
    let mut covariance = [[0.0; N]; N];
    let mut next = 0;
    for row in 0..N {
        for column in row..N {
            covariance[row][column] = packed[next];
            covariance[column][row] = packed[next];
            next += 1;
        }
    }
    covariance
}

/// `errorᵀ P⁻¹ error` by Cholesky's factors; `None` where the covariance is not positive.
pub(crate) fn squared_distance<const N: usize>(covariance: &Square<N>, error: &[f64; N]) -> Option<f64> {
    let mut lower = [[0.0; N]; N];
    let mut solved = [0.0; N];
    for row in 0..N {
        for column in 0..row {
            let dot: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
            lower[row][column] = (covariance[row][column] - dot) / lower[column][column];
        }
        let rest = covariance[row][row] - (0..row).map(|k| lower[row][k] * lower[row][k]).sum::<f64>();
        if rest.is_nan() || rest <= 0.0 {
            return None;
        }
        lower[row][row] = rest.sqrt();
        let known: f64 = (0..row).map(|k| lower[row][k] * solved[k]).sum();
        solved[row] = (error[row] - known) / lower[row][row];
    }
    Some(solved.iter().map(|value| value * value).sum())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_number_is_weighed_by_its_variances() {
        // By hand: prior 0 ± √4, measured 5 ± √1 gives 5 · 4/5 = 4 ± √(4/5), and 25/5 as squared innovation.
        let (mut mean, mut covariance) = ([0.0], [[4.0]]);
        let normalised = update(&mut mean, &mut covariance, 0, 5.0, 1.0);
        assert!((mean[0] - 4.0).abs() < 1e-12 && (covariance[0][0] - 0.8).abs() < 1e-12 && normalised == 5.0);
    }

    #[test]
    fn a_correlated_component_is_corrected_too() {
        // By hand: P = [[2, 1], [1, 3]], R = 2, K = [1/2, 1/4]; P' = [[1, 1/2], [1/2, 11/4]].
        let (mut mean, mut covariance) = ([0.0, 0.0], [[2.0, 1.0], [1.0, 3.0]]);
        update(&mut mean, &mut covariance, 0, 4.0, 2.0);
        assert_eq!(mean, [2.0, 1.0]);
        let expect = [[1.0, 0.5], [0.5, 2.75]];
        assert!(covariance.iter().zip(expect).all(|(a, b)| a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-12)));
    }

    #[test]
    fn distances_are_measured_in_deviations() {
        // By hand: P⁻¹ of [[2, 1], [1, 3]] is [[3, −1], [−1, 2]]/5; for (1, 2): (3 − 4 + 8)/5 = 7/5.
        assert!((squared_distance(&[[2.0, 1.0], [1.0, 3.0]], &[1.0, 2.0]).unwrap() - 1.4).abs() < 1e-12);
        assert_eq!(squared_distance(&[[1.0, 2.0], [2.0, 1.0]], &[1.0, 1.0]), None);
    }

    #[test]
    fn a_triangle_is_the_whole_matrix() {
        let covariance = [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]];
        let packed: [f64; 6] = triangle(&covariance);
        assert_eq!(packed, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(square::<3, 6>(&packed), covariance);
    }

    proptest! {
        #[test]
        fn the_covariance_stays_positive_and_shrinks(
            factor in prop::array::uniform3(prop::array::uniform3(-3.0..3.0_f64)),
            measurements in prop::collection::vec((0..3_usize, -1.0..1.0_f64, 1e-9..10.0_f64), 1..20),
        ) {
            let mut covariance: Square<3> = std::array::from_fn(|r| std::array::from_fn(|c| {
                let dot: f64 = (0..3).map(|k| factor[r][k] * factor[c][k]).sum();
                if r == c { dot + 0.01 } else { dot }
            }));
            let mut mean = [0.0; 3];
            for (index, innovation, variance) in measurements {
                let before = covariance;
                update(&mut mean, &mut covariance, index, innovation, variance);
                symmetrise(&mut covariance);
                prop_assert!(squared_distance(&covariance, &[1.0; 3]).is_some());
                prop_assert!((0..3).all(|i| covariance[i][i] <= before[i][i] * (1.0 + 1e-9)));
            }
        }
    }
}
