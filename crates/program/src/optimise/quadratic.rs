//! Parabolas under planes: the dual method of Goldfarb and Idnani (Mathematical Programming 27, 1983).

use super::Sample;
use super::derivatives::Slopes;
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
/// A plane counts as met within this.
const MET: f64 = 1e-12;

/// The inverse of a symmetric matrix whose curvatures are made positive.
fn inverse_of_convex(h: &[f64], n: usize) -> Option<Vec<f64>> {
    let (values, v) = linear::eigen(h.to_vec(), n).ok()?;
    let largest = values.iter().fold(0.0, |most: f64, x| if x.abs() > most { x.abs() } else { most });
    // A flat function still needs some curvature; this one allows steps of about a million.
    let least = if largest > 1e-6 { largest * FLATTEST } else { 1e-6 };
    let inverse: Vec<f64> = values.iter().map(|&x| 1.0 / if x.abs() > least { x.abs() } else { least }).collect();
    let mut result = vec![0.0; n * n];
    for row in 0..n {
        for column in 0..n {
            result[row * n + column] = (0..n).fold(0.0, |sum, k| sum + v[row * n + k] * inverse[k] * v[column * n + k]);
        }
    }
    Some(result)
}

fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks(vector.len()).map(|row| dot(row, vector)).collect()
}

/// The lowest point of ½·d·H·d + g·d under planes, or nothing if they contradict each other.
pub fn solve(h: &[f64], g: &[f64], planes: &[Plane]) -> Option<Step> {
    let n = g.len();
    let inverse = inverse_of_convex(h, n)?;
    let mut way: Vec<f64> = times(&inverse, g).into_iter().map(|x| -x).collect();
    let mut active: Vec<usize> = Vec::new();
    let mut forces: Vec<f64> = Vec::new();
    let mut turned = vec![false; planes.len()];
    // Each round adds a plane for good or drops one; more rounds than this are a circle of rounding.
    for _ in 0..50 * (planes.len() + n + 1) {
        let Some(next) = most_violated(planes, &active, &way) else {
            let mut multipliers = vec![0.0; planes.len()];
            for (&plane, &force) in active.iter().zip(&forces) {
                multipliers[plane] = if turned[plane] { -force } else { force };
            }
            return Some(Step { way, multipliers });
        };
        // An equation that is missed from above is met from the other side.
        let signed = |plane: usize, turned: &[bool]| -> Vec<f64> {
            let sign = if turned[plane] { -1.0 } else { 1.0 };
            planes[plane].normal.iter().map(|x| sign * x).collect()
        };
        turned[next] = planes[next].equal && gap(&planes[next], &way) > 0.0;
        let normal = signed(next, &turned);
        let mut force = 0.0;
        loop {
            let normals: Vec<Vec<f64>> = active.iter().map(|&plane| signed(plane, &turned)).collect();
            let (direction, pressure) = directions(&inverse, &normals, &normal)?;
            let missed = -gap(&planes[next], &way).abs();
            let climb = dot(&direction, &normal);
            let scale = dot(&normal, &times(&inverse, &normal));
            let full = if climb > 1e-13 * scale { Some(-missed / climb) } else { None };
            let limit = (0..active.len())
                .filter(|&k| !planes[active[k]].equal && pressure[k] > 1e-14)
                .map(|k| (forces[k] / pressure[k], k))
                .reduce(|best, other| if other.0 < best.0 { other } else { best });
            let (length, drop) = match (full, limit) {
                (None, None) => return None,
                (Some(full), Some((part, _))) if full <= part => (full, None),
                (Some(full), None) => (full, None),
                (_, Some((part, k))) => (part, Some(k)),
            };
            if full.is_some() {
                way.iter_mut().zip(&direction).for_each(|(x, d)| *x += length * d);
            }
            forces.iter_mut().zip(&pressure).for_each(|(u, r)| *u -= length * r);
            force += length;
            match drop {
                Some(k) => {
                    active.remove(k);
                    forces.remove(k);
                }
                None => {
                    active.push(next);
                    forces.push(force);
                    break;
                }
            }
        }
    }
    None
}

fn gap(plane: &Plane, way: &[f64]) -> f64 {
    dot(&plane.normal, way) + plane.offset
}

/// The plane that is missed most, equations first.
fn most_violated(planes: &[Plane], active: &[usize], way: &[f64]) -> Option<usize> {
    let mut worst: Option<(bool, f64, usize)> = None;
    for (k, plane) in planes.iter().enumerate().filter(|(k, _)| !active.contains(k)) {
        let gap = gap(plane, way);
        let missed = if plane.equal { gap.abs() } else { -gap };
        let size = plane.offset.abs() + plane.normal.iter().zip(way).fold(1.0, |sum, (a, x)| sum + (a * x).abs());
        if missed > MET * size && worst.is_none_or(|(equal, most, _)| (plane.equal, missed) > (equal, most)) {
            worst = Some((plane.equal, missed, k));
        }
    }
    worst.map(|(_, _, k)| k)
}

/// The way in which a plane is approached along the active ones, and how their forces change on it.
fn directions(inverse: &[f64], normals: &[Vec<f64>], normal: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let bent = times(inverse, normal);
    if normals.is_empty() {
        return Some((bent, Vec::new()));
    }
    let q = normals.len();
    let bents: Vec<Vec<f64>> = normals.iter().map(|other| times(inverse, other)).collect();
    let mut gram = vec![0.0; q * q];
    for row in 0..q {
        for column in 0..q {
            gram[row * q + column] = dot(&normals[row], &bents[column]);
        }
    }
    let right = normals.iter().map(|other| dot(other, &bent)).collect();
    let pressure = linear::solve(gram, (q, q), right, 1).ok()?;
    let mut direction = bent;
    for (bent, r) in bents.iter().zip(&pressure) {
        direction.iter_mut().zip(bent).for_each(|(d, b)| *d -= r * b);
    }
    Some((direction, pressure))
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
