//! Derivatives as differences that stay within the bounds.

use super::{Failure, Sample};

/// First derivatives of value and constraints.
pub struct Slopes {
    pub value: Vec<f64>,
    pub at_least: Vec<Vec<f64>>,
    pub equal: Vec<Vec<f64>>,
}

/// About ∛ε: balances rounding and curvature in central differences.
const NEAR: f64 = 6e-6;
/// About ∜ε: the same for second differences.
const FAR: f64 = 1.2e-4;

/// A power of two near `share` of the size of a number, so that steps are exact.
fn stride(x: f64, share: f64) -> f64 {
    let size = if x.abs() > 1.0 { x.abs() } else { 1.0 };
    f64::from_bits((size * share).to_bits() & 0xfff0_0000_0000_0000)
}

/// Two places beside a variable, in multiples of a step: both sides if the bounds allow it.
fn places(x: f64, step: f64, [low, high]: [f64; 2]) -> [f64; 2] {
    if x + step > high {
        [-1.0, -2.0]
    } else if x - step < low {
        [1.0, 2.0]
    } else {
        [1.0, -1.0]
    }
}

/// The slope at 0 of the parabola through 0 and two places.
fn slope(middle: f64, values: [f64; 2], [a, b]: [f64; 2], step: f64) -> f64 {
    ((values[0] - middle) * b / (a * (b - a)) - (values[1] - middle) * a / (b * (b - a))) / step
}

pub fn first<E>(
    x: &[f64],
    bounds: &[[f64; 2]],
    here: &Sample,
    evaluate: &mut impl FnMut(&[f64]) -> Result<Sample, Failure<E>>,
) -> Result<Slopes, Failure<E>> {
    let n = x.len();
    let mut slopes = Slopes {
        value: vec![0.0; n],
        at_least: vec![vec![0.0; n]; here.at_least.len()],
        equal: vec![vec![0.0; n]; here.equal.len()],
    };
    for k in 0..n {
        let step = stride(x[k], NEAR);
        let at = places(x[k], step, bounds[k]);
        let mut beside = |place: f64| {
            let mut point = x.to_vec();
            point[k] += place * step;
            evaluate(&point)
        };
        let samples = [beside(at[0])?, beside(at[1])?];
        let along = |of: &dyn Fn(&Sample) -> f64| slope(of(here), [of(&samples[0]), of(&samples[1])], at, step);
        slopes.value[k] = along(&|sample| sample.value);
        for row in 0..here.at_least.len() {
            slopes.at_least[row][k] = along(&|sample| sample.at_least[row]);
        }
        for row in 0..here.equal.len() {
            slopes.equal[row][k] = along(&|sample| sample.equal[row]);
        }
    }
    Ok(slopes)
}

/// Second derivatives, row by row, of the value less the constraints times their forces: how the function bends along
/// the constraints.
///
/// With bounds in the way the pattern of points is moved inside; a parabola has the same curvature there.
pub fn second<E>(
    x: &[f64],
    bounds: &[[f64; 2]],
    here: &Sample,
    forces: &[f64],
    evaluate: &mut impl FnMut(&[f64]) -> Result<Sample, Failure<E>>,
) -> Result<Vec<f64>, Failure<E>> {
    let n = x.len();
    let bent = |sample: &Sample| {
        let constraints = sample.equal.iter().chain(&sample.at_least);
        constraints.zip(forces).fold(sample.value, |sum, (c, force)| sum - c * force)
    };
    let middle = bent(here);
    let steps: Vec<f64> = (0..n)
        .map(|k| {
            let step = stride(x[k], FAR);
            if x[k] + step > bounds[k][1] { -step } else { step }
        })
        .collect();
    let mut at = |moves: &[(usize, f64)]| {
        let mut point = x.to_vec();
        for &(k, times) in moves {
            point[k] += times * steps[k];
        }
        evaluate(&point).map(|sample| bent(&sample))
    };
    let mut one = Vec::with_capacity(n);
    for k in 0..n {
        one.push(at(&[(k, 1.0)])?);
    }
    let mut h = vec![0.0; n * n];
    for row in 0..n {
        let inside = |place: f64| (bounds[row][0]..=bounds[row][1]).contains(&(x[row] + place * steps[row]));
        h[row * n + row] = if inside(-1.0) {
            (one[row] - 2.0 * middle + at(&[(row, -1.0)])?) / (steps[row] * steps[row])
        } else {
            (at(&[(row, 2.0)])? - 2.0 * one[row] + middle) / (steps[row] * steps[row])
        };
        for column in 0..row {
            let both = at(&[(row, 1.0), (column, 1.0)])?;
            let mixed = (both - one[row] - one[column] + middle) / (steps[row] * steps[column]);
            h[row * n + column] = mixed;
            h[column * n + row] = mixed;
        }
    }
    Ok(h)
}
