//! Optimal gains of a sampled linear system: the discrete Riccati equation by structure-preserving doubling.
//!
//! For x' = A·x + B·u and the cost Σ xᵀQx + R·u² the gain is K = (R + BᵀPB)⁻¹BᵀPA with the solution P of
//! P = Q + AᵀPA − AᵀPB(R + BᵀPB)⁻¹BᵀPA. Each doubling (Chu, Fan, Lin and Wang 2004) does the work of twice as many
//! iterations as the one before it, so about ten suffice, always in the same order: the same bits on every machine.

use thiserror::Error;

use super::matrix::{Matrix, exponential, from_fn, identity, largest, product, solve, sum, transposed};

/// Doublings after which an equation counts as not solvable: 2³⁰ steps are more than any drive has.
const DOUBLINGS_MAX: usize = 30;
/// The solution changes by less than this share.
const TOLERANCE: f64 = 1e-13;

/// There are no gains: the system cannot be stabilised or costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no optimal gains exist: the weights leave an unstable motion free, or the input does not reach it")]
pub struct NotSolvable;

/// A continuous system with one input, sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled<const N: usize> {
    pub a: Matrix<N>,
    pub b: [f64; N],
}

/// Samples ẋ = A·x + B·u with u held for `dt_s`, exactly: exp of the system with its input as one more state. `M` is
/// `N + 1`, which the language cannot say.
pub(super) fn sample<const N: usize, const M: usize>(a: &Matrix<N>, b: &[f64; N], dt_s: f64) -> Sampled<N> {
    assert_eq!(N + 1, M, "the input is one more state");
    let held = exponential::<M>(&from_fn(|i, j| match (i < N, j < N) {
        (true, true) => a[i][j] * dt_s,
        (true, false) => b[i] * dt_s,
        _ => 0.0,
    }));
    Sampled { a: from_fn(|i, j| held[i][j]), b: std::array::from_fn(|i| held[i][N]) }
}

/// Gains of the cost Σ Σᵢ qᵢ·xᵢ² + r·u² for x' = A·x + B·u.
///
/// # Errors
/// [`NotSolvable`] if no gains make the cost finite.
pub fn gains<const N: usize>(
    a: &[[f64; N]; N],
    b: &[f64; N],
    state_weights: &[f64; N],
    input_weight: f64,
) -> Result<[f64; N], NotSolvable> {
    let mut motion = *a;
    let mut reach: Matrix<N> = from_fn(|i, j| b[i] * b[j] / input_weight);
    let mut cost: Matrix<N> = from_fn(|i, j| if i == j { state_weights[i] } else { 0.0 });
    for _ in 0..DOUBLINGS_MAX {
        let shared = sum(&identity(), &product(&reach, &cost));
        let onward = solve(shared, motion).ok_or(NotSolvable)?;
        let spread = solve(shared, reach).ok_or(NotSolvable)?;
        let back = transposed(&motion);
        let added = product(&product(&back, &cost), &onward);
        let reached = product(&product(&motion, &spread), &back);
        motion = product(&motion, &onward);
        (reach, cost) = (sum(&reach, &reached), sum(&cost, &added));
        if !largest(&cost).is_finite() {
            return Err(NotSolvable);
        }
        if largest(&added) <= TOLERANCE * largest(&cost) {
            return Ok(gain(a, b, &cost, input_weight));
        }
    }
    Err(NotSolvable)
}

fn gain<const N: usize>(a: &Matrix<N>, b: &[f64; N], cost: &Matrix<N>, input_weight: f64) -> [f64; N] {
    let pushed: [f64; N] = std::array::from_fn(|j| (0..N).map(|k| b[k] * cost[k][j]).sum());
    let weight = input_weight + (0..N).map(|k| pushed[k] * b[k]).sum::<f64>();
    std::array::from_fn(|j| (0..N).map(|k| pushed[k] * a[k][j]).sum::<f64>() / weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p = q + a²p − a²b²p²/(r + b²p) for a = b = q = r = 1: p² = p + 1, the golden ratio; k = p/(1 + p).
    #[test]
    fn a_scalar_equation_gives_the_golden_ratio() {
        let k = gains(&[[1.0]], &[1.0], &[1.0], 1.0).unwrap();
        let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
        assert!((k[0] - golden / (1.0 + golden)).abs() < 1e-14);
    }

    /// For the double integrator with weights 1 on place, 0 on speed, and r on the push, the continuous optimum is
    /// (r^−1/2, √2·r^−1/4); fine sampling approaches it.
    #[test]
    fn a_finely_sampled_double_integrator_approaches_the_continuous_optimum() {
        let (dt, r) = (1e-4, 4.0_f64);
        let held = sample::<2, 3>(&[[0.0, 1.0], [0.0, 0.0]], &[0.0, 1.0], dt);
        let k = gains(&held.a, &held.b, &[dt, 0.0], r * dt).unwrap();
        let expected = [1.0 / r.sqrt(), std::f64::consts::SQRT_2 / r.sqrt().sqrt()];
        assert!((k[0] - expected[0]).abs() < 1e-3 && (k[1] - expected[1]).abs() < 1e-3, "{k:?} {expected:?}");
    }

    #[test]
    fn what_the_input_does_not_reach_cannot_be_held() {
        assert_eq!(gains(&[[1.2, 0.0], [0.0, 0.5]], &[0.0, 1.0], &[1.0, 1.0], 1.0), Err(NotSolvable));
    }
}
