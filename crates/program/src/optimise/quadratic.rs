//! Parabolas under planes, by the interior point method of Clarabel (Goulart and Chen, 2024).

use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::{NonnegativeConeT, ZeroConeT};
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver as _, SolverStatus};

use super::derivatives::Slopes;
use super::{Sample, largest};
use crate::array::dot;
use crate::linear;

/// A constraint of a step: normal·step + offset is zero, or not negative.
#[derive(Clone, Debug)]
pub struct Plane {
    pub normal: Vec<f64>,
    pub offset: f64,
    pub equal: bool,
}

/// A solution with the force of each plane, along its normal.
pub struct Step {
    pub way: Vec<f64>,
    pub multipliers: Vec<f64>,
}

/// Curvatures below this part of the largest are raised to it: the parabola must have a lowest point.
const FLATTEST: f64 = 1e-8;
/// How near the solver must come to the lowest point and to the planes.
const TOLERANCE: f64 = 1e-11;
/// A plane counts as met, and a force as none, within this part of the largest number about.
const ROUNDING: f64 = 1e-10;

/// A symmetric matrix whose curvatures are made positive.
fn convex(h: &[f64], n: usize) -> Option<Vec<f64>> {
    let (values, v) = linear::eigen(h.to_vec(), n).ok()?;
    let largest = values.iter().fold(0.0, |most: f64, x| if x.abs() > most { x.abs() } else { most });
    // A flat function still needs some curvature; this one allows steps of about a million.
    let least = if largest > 1e-6 { largest * FLATTEST } else { 1e-6 };
    let bent: Vec<f64> = values.iter().map(|x| if x.abs() > least { x.abs() } else { least }).collect();
    let mut result = vec![0.0; n * n];
    for row in 0..n {
        for column in 0..n {
            result[row * n + column] = (0..n).fold(0.0, |sum, k| sum + v[row * n + k] * bent[k] * v[column * n + k]);
        }
    }
    Some(result)
}

/// A matrix with all of its numbers, column by column; those above `last_row(column)` only.
fn columns(
    rows: usize,
    columns: usize,
    last_row: impl Fn(usize) -> usize,
    at: impl Fn(usize, usize) -> f64,
) -> CscMatrix {
    let (mut starts, mut places, mut numbers) = (vec![0], Vec::new(), Vec::new());
    for column in 0..columns {
        for row in 0..last_row(column) {
            places.push(row);
            numbers.push(at(row, column));
        }
        starts.push(places.len());
    }
    CscMatrix::new(rows, columns, starts, places, numbers)
}

/// The lowest point of ½·d·H·d + g·d under planes, or nothing if they contradict each other. Equations come first.
pub fn solve(h: &[f64], g: &[f64], planes: &[Plane]) -> Option<Step> {
    let n = g.len();
    let h = convex(h, n)?;
    let equations = planes.iter().take_while(|plane| plane.equal).count();
    // The solver wants A·d + s = b, with s zero for equations and not negative for the others.
    let sign = |row: usize| if row < equations { 1.0 } else { -1.0 };
    let parabola = columns(n, n, |column| column + 1, |row, column| h[row * n + column]);
    let normals = columns(planes.len(), n, |_| planes.len(), |row, column| sign(row) * planes[row].normal[column]);
    let offsets: Vec<f64> = planes.iter().enumerate().map(|(row, plane)| -sign(row) * plane.offset).collect();
    let cones = [ZeroConeT(equations), NonnegativeConeT(planes.len() - equations)];
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: TOLERANCE,
        tol_gap_rel: TOLERANCE,
        tol_feas: TOLERANCE,
        ..DefaultSettings::default()
    };
    let mut solver = DefaultSolver::new(&parabola, g, &normals, &offsets, &cones, settings).ok()?;
    solver.solve();
    let solution = &solver.solution;
    if !matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved) {
        return None;
    }
    let near = Step {
        way: solution.x.clone(),
        multipliers: solution.z.iter().enumerate().map(|(row, z)| -sign(row) * z).collect(),
    };
    let active: Vec<usize> =
        (0..planes.len()).filter(|&row| row < equations || solution.z[row] > solution.s[row]).collect();
    Some(on_planes(&h, g, planes, &active).unwrap_or(near))
}

/// The lowest point that lies on all of these planes exactly, if it is the solution: an interior point method ends beside them.
fn on_planes(h: &[f64], g: &[f64], planes: &[Plane], active: &[usize]) -> Option<Step> {
    let (n, q) = (g.len(), active.len());
    let size = n + q;
    let mut system = vec![0.0; size * size];
    let mut right: Vec<f64> = g.iter().map(|x| -x).collect();
    for row in 0..n {
        system[row * size..row * size + n].copy_from_slice(&h[row * n..(row + 1) * n]);
    }
    for (k, &plane) in active.iter().enumerate() {
        for (column, x) in planes[plane].normal.iter().enumerate() {
            system[column * size + n + k] = -x;
            system[(n + k) * size + column] = *x;
        }
        right.push(-planes[plane].offset);
    }
    let mut way = linear::solve(system, (size, size), right, 1).ok()?;
    let forces = way.split_off(n);
    let mut multipliers = vec![0.0; planes.len()];
    for (&plane, &force) in active.iter().zip(&forces) {
        multipliers[plane] = force;
    }
    let strongest = largest(&multipliers, 1.0);
    let holds = |(plane, force): (&Plane, &f64)| {
        let size = plane.offset.abs() + plane.normal.iter().zip(&way).fold(1.0, |sum, (a, x)| sum + (a * x).abs());
        let gap = dot(&plane.normal, &way) + plane.offset;
        if plane.equal {
            gap.abs() <= ROUNDING * size
        } else {
            gap >= -ROUNDING * size && *force >= -ROUNDING * strongest
        }
    };
    let is_solution = way.iter().all(|x| x.is_finite()) && planes.iter().zip(&multipliers).all(holds);
    is_solution.then_some(Step { way, multipliers })
}

/// The step that misses violated constraints least, by least squares with a small weight on its length.
pub fn least_violation(slopes: &Slopes, here: &Sample) -> Vec<f64> {
    let n = slopes.value.len();
    let violated = slopes.at_least.iter().zip(&here.at_least).filter(|(_, c)| **c < 0.0);
    let rows: Vec<(&Vec<f64>, f64)> =
        violated.chain(slopes.equal.iter().zip(&here.equal)).map(|(row, &c)| (row, c)).collect();
    let mut normal = vec![0.0; n * n];
    let mut right = vec![0.0; n];
    for (row, c) in rows {
        for i in 0..n {
            right[i] -= row[i] * c;
            for j in 0..n {
                normal[i * n + j] += row[i] * row[j];
            }
        }
    }
    for k in 0..n {
        normal[k * n + k] += 1e-9;
    }
    linear::solve(normal, (n, n), right, 1).unwrap_or_else(|_| vec![0.0; n])
}
