//! Small optimisation problems: the smallest value of a function within bounds and constraints.
//!
//! Sequential quadratic programming (Nocedal and Wright, *Numerical Optimization*, chapter 18): at each point the function
//! is replaced by a parabola and the constraints by planes, Clarabel solves that problem, and a line search on the sum of
//! function and violation decides how far to go. The functions are statements of a program, known only by their values, so
//! derivatives are differences. The result is a function of the problem and the start alone. Convex problems are solved;
//! others end in a minimum near the start.

mod derivatives;
mod quadratic;

use crate::array::dot;
use crate::fault::FaultKind;
use derivatives::Slopes;
use quadratic::Plane;

/// Rounds after which the search is given up. Quadratic problems need two.
const ROUNDS_MAX: u32 = 200;
/// A step below this, relative to the point, ends the search.
const STEP_TOLERANCE: f64 = 1e-9;
/// A promise below this part of the value is rounding.
const RELATIVE_PROMISE: f64 = 1e-14;
/// A constraint may be missed by this, relative to the largest variable.
const VIOLATION_TOLERANCE: f64 = 1e-7;
/// Points at which a function of one bounded variable is looked at before the search, so that it starts in the right
/// valley.
const LOOKS: u32 = 64;

/// What a point has: the value, constraints that must not be negative, constraints that must be zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    pub value: f64,
    pub at_least: Vec<f64>,
    pub equal: Vec<f64>,
}

impl Sample {
    /// How far constraints are missed, summed.
    fn violation(&self) -> f64 {
        let missed = self.at_least.iter().fold(0.0, |sum, c| if *c < 0.0 || c.is_nan() { sum - c } else { sum });
        self.equal.iter().fold(missed, |sum, c| sum + c.abs())
    }
    fn is_finite(&self) -> bool {
        self.value.is_finite() && self.at_least.iter().chain(&self.equal).all(|c| c.is_finite())
    }
}

/// Computes a sample at a point; a fault ends the search.
pub type Evaluate<'a, E> = dyn FnMut(&[f64]) -> Result<Sample, E> + 'a;

/// Why there is no solution.
pub enum Failure<E> {
    /// The function could not be computed.
    Evaluate(E),
    /// The search ended without one.
    Search(FaultKind),
}

/// The point with the smallest value within the bounds that meets the constraints.
pub fn minimise<E>(start: &[f64], bounds: &[[f64; 2]], evaluate: &mut Evaluate<'_, E>) -> Result<Vec<f64>, Failure<E>> {
    if bounds.iter().any(|[low, high]| low.is_nan() || high.is_nan() || low > high) {
        return Err(Failure::Search(FaultKind::Infeasible));
    }
    let mut evaluate = |x: &[f64]| evaluate(x).map_err(Failure::Evaluate);
    let mut x: Vec<f64> = start.iter().zip(bounds).map(|(&x, &bound)| clamp(x, bound)).collect();
    look_around(&mut x, bounds, &mut evaluate)?;
    let mut here = evaluate(&x)?;
    if !here.is_finite() {
        return Err(Failure::Search(FaultKind::NoConvergence));
    }
    let mut weight = 1.0;
    // Of equations, then of inequalities.
    let mut forces = vec![0.0; here.equal.len() + here.at_least.len()];
    for _ in 0..ROUNDS_MAX {
        let slopes = derivatives::first(&x, bounds, &here, &mut evaluate)?;
        let planes = planes(&x, bounds, &here, &slopes);
        let curvature = derivatives::second(&x, bounds, &here, &forces, &mut evaluate)?;
        let Some(step) = quadratic::solve(&curvature, &slopes.value, &planes) else {
            // The planes contradict each other: go where they are missed least, if there is such a way.
            let step = quadratic::least_violation(&slopes, &here);
            match advance(&x, bounds, &here, &step, Merit::Violation, &mut evaluate)? {
                Some((point, sample)) if sample.violation() < 0.999 * here.violation() => (x, here) = (point, sample),
                _ => return Err(Failure::Search(FaultKind::Infeasible)),
            }
            continue;
        };
        forces.copy_from_slice(&step.multipliers[..here.equal.len() + here.at_least.len()]);
        let steepest = largest(&step.multipliers, 0.0);
        weight = if steepest * 1.5 > weight { steepest * 1.5 } else { weight };
        let scale = largest(&x, 1.0);
        let length = largest(&step.way, 0.0);
        let fits = here.violation() <= VIOLATION_TOLERANCE * scale;
        // What the parabola promises, at first order.
        let promised = weight * here.violation() - dot(&slopes.value, &step.way);
        let little = promised <= RELATIVE_PROMISE * here.value.abs();
        if fits && (length <= STEP_TOLERANCE * scale || little) {
            return Ok(x);
        }
        match advance(&x, bounds, &here, &step.way, Merit::Both { weight, promised }, &mut evaluate)? {
            Some((point, sample)) => (x, here) = (point, sample),
            // No way leads further down within what differences can tell.
            None if fits => return Ok(x),
            None => return Err(Failure::Search(FaultKind::NoConvergence)),
        }
    }
    Err(Failure::Search(FaultKind::NoConvergence))
}

/// The largest size of a number in a list, but not less than `least`.
fn largest(list: &[f64], least: f64) -> f64 {
    list.iter().fold(least, |most, x| if x.abs() > most { x.abs() } else { most })
}

fn clamp(x: f64, [low, high]: [f64; 2]) -> f64 {
    let x = if x.is_nan() { 0.0 } else { x };
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// One bounded variable: starts at the best of points all over the range.
fn look_around<E>(
    x: &mut [f64],
    bounds: &[[f64; 2]],
    evaluate: &mut impl FnMut(&[f64]) -> Result<Sample, Failure<E>>,
) -> Result<(), Failure<E>> {
    let ([place], [[low, high]]) = (x, bounds) else { return Ok(()) };
    if !(low.is_finite() && high.is_finite()) {
        return Ok(());
    }
    let mut best: Option<(f64, f64, f64)> = None;
    let points = (0..=LOOKS).map(|k| low + (high - low) * (f64::from(k) / f64::from(LOOKS)));
    for point in std::iter::once(*place).chain(points) {
        let sample = evaluate(&[point])?;
        let rank = (sample.violation(), sample.value);
        if sample.is_finite() && best.is_none_or(|(violation, value, _)| rank < (violation, value)) {
            best = Some((rank.0, rank.1, point));
        }
    }
    if let Some((_, _, point)) = best {
        *place = point;
    }
    Ok(())
}

/// The constraints as planes in the step: normal·step + offset is zero, or not negative.
fn planes(x: &[f64], bounds: &[[f64; 2]], here: &Sample, slopes: &Slopes) -> Vec<Plane> {
    let mut planes = Vec::new();
    let all = [(&slopes.equal, &here.equal, true), (&slopes.at_least, &here.at_least, false)];
    for (normals, offsets, equal) in all {
        for (normal, &offset) in normals.iter().zip(offsets) {
            planes.push(Plane { normal: normal.clone(), offset, equal });
        }
    }
    for (k, [low, high]) in bounds.iter().enumerate() {
        for (limit, sign) in [(low, 1.0), (high, -1.0)] {
            if limit.is_finite() {
                let mut normal = vec![0.0; x.len()];
                normal[k] = sign;
                planes.push(Plane { normal, offset: sign * (x[k] - limit), equal: false });
            }
        }
    }
    planes
}

/// What a step must make smaller.
#[derive(Clone, Copy)]
enum Merit {
    /// Value + weight·violation, by a part of what was promised for the whole step (Armijo's rule).
    Both { weight: f64, promised: f64 },
    /// The violation alone.
    Violation,
}

/// The first point on the way, halving, that is good enough.
fn advance<E>(
    x: &[f64],
    bounds: &[[f64; 2]],
    here: &Sample,
    way: &[f64],
    merit: Merit,
    evaluate: &mut impl FnMut(&[f64]) -> Result<Sample, Failure<E>>,
) -> Result<Option<(Vec<f64>, Sample)>, Failure<E>> {
    /// What is left of a step below this, relative to the point, is rounding: going on would creep along noise.
    const LEAST: f64 = 1e-11;
    let (weight, promised) = match merit {
        Merit::Both { weight, promised } => (Some(weight), promised),
        Merit::Violation => (None, 0.0),
    };
    let size = |sample: &Sample| match weight {
        Some(weight) => sample.value + weight * sample.violation(),
        None => sample.violation(),
    };
    let promised = if promised > 0.0 { promised } else { 0.0 };
    let least = LEAST * largest(x, 1.0);
    let length = largest(way, 0.0);
    let mut share = 1.0;
    while share * length > least {
        let point: Vec<f64> =
            x.iter().zip(way).zip(bounds).map(|((x, d), &bound)| clamp(x + share * d, bound)).collect();
        let sample = evaluate(&point)?;
        let (now, before) = (size(&sample), size(here));
        if sample.is_finite() && now < before && now <= before - 1e-4 * share * promised {
            return Ok(Some((point, sample)));
        }
        share *= 0.5;
    }
    Ok(None)
}
