//! Small matrices for bounding differences: coordinates in which a loop contracts visibly, and norms that show it.

use anabranch_kernel::maths::{self, Interval};

/// Rounds sums of non-negative products up.
const ROUND_UP: f64 = 1.0 + 1e-12;
/// Steps of the iteration that looks for coordinates; more would not change them.
const ITERATIONS: usize = 400;

/// A square matrix of numbers.
pub(super) type Matrix = Vec<Vec<f64>>;
/// A matrix of intervals, by rows.
pub(super) type Bounds = Vec<Vec<Interval>>;

/// New coordinates z = T·s of the state, with enclosures of both directions.
#[derive(Clone, Debug)]
pub(super) struct Coordinates {
    /// z from s.
    pub(super) to: Bounds,
    /// s from z.
    pub(super) from: Bounds,
}

/// The product of two interval matrices.
pub(super) fn product(a: &Bounds, b: &Bounds) -> Bounds {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |row: &[Interval], j: usize| {
        row.iter().zip(b).fold(Interval::ZERO, |sum, (&left, right)| sum + left * right[j])
    };
    a.iter().map(|row| (0..columns).map(|j| entry(row, j)).collect()).collect()
}

/// |A|·d, rounded up: how large A·Δ can be where |Δ| ≤ d.
pub(super) fn reach(a: &Bounds, d: &[f64]) -> Vec<f64> {
    let term = |(entry, &d): (&Interval, &f64)| if d == 0.0 { 0.0 } else { entry.magnitude() * d };
    a.iter().map(|row| row.iter().zip(d).map(term).sum::<f64>() * ROUND_UP).collect()
}

impl Coordinates {
    /// Coordinates in which a linear map is nearly upper triangular: the most persistent direction first. Any
    /// invertible coordinates would be sound; these lose little when signs are dropped.
    pub(super) fn triangular(map: &Matrix) -> Option<Self> {
        let n = map.len();
        let mut columns = orthonormal((0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect());
        for _ in 0..ITERATIONS {
            columns = orthonormal(columns.iter().map(|c| apply(map, c)).collect());
        }
        even_out(map, &mut columns);
        Self::from_rows(columns)
    }

    /// The same coordinates, with one more variable that stays as it is.
    pub(super) fn and_as_is(mut self) -> Self {
        for matrix in [&mut self.to, &mut self.from] {
            let n = matrix.len();
            matrix.iter_mut().for_each(|row| row.push(Interval::ZERO));
            matrix.push((0..=n).map(|j| unit(n, j)).collect());
        }
        self
    }

    /// Coordinates whose rows are nearly orthonormal. The inverse is enclosed: with T·Tᵗ = I + R it is Tᵗ·(I + R)⁻¹,
    /// and (I + R)⁻¹ differs from I by at most r/(1 − r) in every entry, where r is the largest row sum of |R|.
    fn from_rows(rows: Matrix) -> Option<Self> {
        let n = rows.len();
        let to: Bounds = rows.iter().map(|row| row.iter().map(|&v| Interval::point(v)).collect()).collect();
        let turned: Bounds = (0..n).map(|i| (0..n).map(|j| Interval::point(rows[j][i])).collect()).collect();
        let square = product(&to, &turned);
        let off = |i: usize| (0..n).map(|j| (square[i][j] - unit(i, j)).magnitude()).sum::<f64>() * ROUND_UP;
        let r = (0..n).map(off).fold(0.0, f64::max);
        if r.is_nan() || r >= 0.5 {
            return None;
        }
        let slack = r / (1.0 - r) * ROUND_UP;
        let near: Bounds = (0..n).map(|i| (0..n).map(|j| unit(i, j).widened(slack)).collect()).collect();
        Some(Self { to, from: product(&turned, &near) })
    }
}

fn unit(i: usize, j: usize) -> Interval {
    Interval::point(f64::from(u8::from(i == j)))
}

fn apply(map: &Matrix, v: &[f64]) -> Vec<f64> {
    map.iter().map(|row| dot(row, v)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Gram and Schmidt, twice for accuracy; a direction that vanishes is replaced by one that is still free.
fn orthonormal(vectors: Matrix) -> Matrix {
    let n = vectors.len();
    let mut done: Matrix = Vec::new();
    for vector in vectors {
        let axes = (0..n).map(|axis| (0..n).map(|j| f64::from(u8::from(axis == j))).collect::<Vec<f64>>());
        let length = dot(&vector, &vector).sqrt();
        let scaled: Vec<f64> = vector.iter().map(|v| v / length.max(f64::MIN_POSITIVE)).collect();
        for candidate in std::iter::once(scaled).chain(axes) {
            let mut free = candidate;
            for _ in 0..2 {
                for other in &done {
                    let along = dot(&free, other);
                    free.iter_mut().zip(other).for_each(|(f, o)| *f -= along * o);
                }
            }
            let length = dot(&free, &free).sqrt();
            if length > 1e-6 {
                done.push(free.iter().map(|v| v / length).collect());
                break;
            }
        }
    }
    done
}

/// Turns pairs of directions that rotate into each other so that both shrink alike: then dropping signs costs least.
fn even_out(map: &Matrix, columns: &mut Matrix) {
    for i in 0..columns.len().saturating_sub(1) {
        let (p, q) = (columns[i].clone(), columns[i + 1].clone());
        let (mp, mq) = (apply(map, &p), apply(map, &q));
        let (a, b, c, d) = (dot(&p, &mp), dot(&p, &mq), dot(&q, &mp), dot(&q, &mq));
        if c.abs() < 1e-9 * (a.abs() + d.abs()) {
            continue;
        }
        let angle = 0.5 * maths::atan2(d - a, b + c);
        let size = |angle: f64| {
            let (sin, cos) = maths::sin_cos(angle);
            (a * cos * cos + (b + c) * sin * cos + d * sin * sin - 0.5 * (a + d)).abs()
        };
        let angle = if size(angle) < size(-angle) { angle } else { -angle };
        let (sin, cos) = maths::sin_cos(angle);
        for (k, (&x, &y)) in p.iter().zip(&q).enumerate() {
            (columns[i][k], columns[i + 1][k]) = (cos * x + sin * y, cos * y - sin * x);
        }
    }
}

/// The factor by which a non-negative matrix shrinks the norm max |d_i|/w_i, and the weights w for which it is small.
///
/// With w = Σ (M/g)ᵏ·1 it is M·w = g·(w − 1 − …) < g·w: a guess g above the spectral radius proves itself.
pub(super) fn contraction(matrix: &Matrix) -> (f64, Vec<f64>) {
    let guesses = (1..40).map(|n| f64::from(n) * 0.025).chain([0.99, 0.999]);
    let mut best = (f64::INFINITY, vec![1.0; matrix.len()]);
    for guess in guesses {
        let mut weights = vec![1.0; matrix.len()];
        let mut power = weights.clone();
        for _ in 0..ITERATIONS {
            power = apply(matrix, &power).iter().map(|v| v / guess).collect();
            weights.iter_mut().zip(&power).for_each(|(w, p)| *w += p);
        }
        let factor = factor(matrix, &weights);
        if factor < best.0 {
            best = (factor, weights);
        }
    }
    best
}

/// The factor by which a non-negative matrix changes the norm max |d_i|/w_i at most.
pub(super) fn factor(matrix: &Matrix, weights: &[f64]) -> f64 {
    let rows = apply(matrix, weights).into_iter().zip(weights).map(|(image, w)| image / w * ROUND_UP);
    rows.fold(0.0, |most, ratio| if ratio <= most { most } else { ratio })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn magnitudes(bounds: &Bounds) -> Matrix {
        bounds.iter().map(|row| row.iter().map(|b| b.magnitude()).collect()).collect()
    }
    fn points(matrix: &Matrix) -> Bounds {
        matrix.iter().map(|row| row.iter().map(|&v| Interval::point(v)).collect()).collect()
    }

    #[track_caller]
    fn check(map: Matrix, radius: f64) {
        let z = Coordinates::triangular(&map).unwrap();
        let both = product(&z.to, &z.from);
        for (i, row) in both.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                assert!(entry.contains(f64::from(u8::from(i == j))) && entry.hi - entry.lo < 1e-12);
            }
        }
        let seen = magnitudes(&product(&product(&z.to, &points(&map)), &z.from));
        let (lambda, weights) = contraction(&seen);
        assert!(lambda >= radius - 1e-6 && lambda < radius + 0.05, "{lambda} {weights:?}");
        assert!(weights.iter().all(|&w| w > 0.0) && factor(&seen, &weights) <= lambda);
    }

    #[test]
    fn coordinates_show_the_contraction_that_signs_hide() {
        // A double pole: without signs it would grow by 3 per cent.
        check(vec![vec![0.91, 0.61], vec![-0.15, 0.30]], 0.605);
        // Two directions that rotate into each other: real plus imaginary part.
        check(vec![vec![0.5, 0.3], vec![-0.3, 0.5]], 0.8);
        check(vec![vec![0.2, 0.9, 0.0], vec![0.0, 0.7, 0.1], vec![0.0, 0.0, 0.0]], 0.7);
    }

    #[test]
    fn growth_is_not_called_contraction() {
        for map in [vec![vec![1.0]], vec![vec![0.9, 0.2], vec![0.2, 0.9]]] {
            assert!(contraction(&map).0 >= 1.0);
        }
    }
}
