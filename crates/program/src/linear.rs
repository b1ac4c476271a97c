//! Linear algebra on small dense matrices, row by row in slices. Plain loops in a fixed order: the same bits everywhere.

use crate::fault::FaultKind;

/// Rounds after which the search for eigenvalues is given up; it needs about ten.
const SWEEPS_MAX: u32 = 100;

/// A pivot counts as zero below this part of the largest element: what is left is rounding.
const RANK_TOLERANCE: f64 = 1e-14;

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |best, x| if x.abs() > best { x.abs() } else { best })
}

/// Swaps two rows of a matrix with this many columns.
fn swap_rows(a: &mut [f64], columns: usize, one: usize, other: usize) {
    for k in 0..columns {
        a.swap(one * columns + k, other * columns + k);
    }
}

/// The row, from `column` on, whose element in `column` is largest.
fn pivot(a: &[f64], n: usize, column: usize) -> usize {
    let mut best = column;
    for row in column + 1..n {
        if a[row * n + column].abs() > a[best * n + column].abs() {
            best = row;
        }
    }
    best
}

/// The determinant of an n×n matrix; 1 for n = 0.
pub fn determinant(mut a: Vec<f64>, n: usize) -> f64 {
    let mut product = 1.0;
    for column in 0..n {
        let row = pivot(&a, n, column);
        let head = a[row * n + column];
        if head == 0.0 {
            return 0.0;
        }
        if row != column {
            swap_rows(&mut a, n, row, column);
            product = -product;
        }
        product *= head;
        for below in column + 1..n {
            let factor = a[below * n + column] / head;
            for k in column..n {
                a[below * n + k] -= factor * a[column * n + k];
            }
        }
    }
    product
}

/// The inverse of an n×n matrix.
pub fn inverse(a: Vec<f64>, n: usize) -> Result<Vec<f64>, FaultKind> {
    let mut unit = vec![0.0; n * n];
    (0..n).for_each(|k| unit[k * n + k] = 1.0);
    eliminate(a, n, unit, n)
}

/// x with a·x = b for each column of b; least squares if a has more rows than columns.
pub fn solve(a: Vec<f64>, (rows, columns): (usize, usize), b: Vec<f64>, sides: usize) -> Result<Vec<f64>, FaultKind> {
    if rows == columns { eliminate(a, rows, b, sides) } else { least_squares(a, (rows, columns), b, sides) }
}

/// Gauss–Jordan with partial pivoting.
fn eliminate(mut a: Vec<f64>, n: usize, mut b: Vec<f64>, sides: usize) -> Result<Vec<f64>, FaultKind> {
    let least = largest(&a) * RANK_TOLERANCE;
    for column in 0..n {
        let row = pivot(&a, n, column);
        let head = a[row * n + column];
        if head.is_nan() || head.abs() <= least {
            return Err(FaultKind::Singular);
        }
        if row != column {
            swap_rows(&mut a, n, row, column);
            swap_rows(&mut b, sides, row, column);
        }
        for other in (0..n).filter(|&other| other != column) {
            let factor = a[other * n + column] / head;
            if factor == 0.0 {
                continue;
            }
            for k in column..n {
                a[other * n + k] -= factor * a[column * n + k];
            }
            for k in 0..sides {
                b[other * sides + k] -= factor * b[column * sides + k];
            }
        }
    }
    for row in 0..n {
        for k in 0..sides {
            b[row * sides + k] /= a[row * n + row];
        }
    }
    Ok(b)
}

/// Householder's reflections, then back substitution.
fn least_squares(
    mut a: Vec<f64>,
    (rows, columns): (usize, usize),
    mut b: Vec<f64>,
    sides: usize,
) -> Result<Vec<f64>, FaultKind> {
    let least = largest(&a) * RANK_TOLERANCE;
    for column in 0..columns {
        let norm = (column..rows).fold(0.0, |sum, row| sum + a[row * columns + column] * a[row * columns + column]);
        let norm = if a[column * columns + column] > 0.0 { -norm.sqrt() } else { norm.sqrt() };
        if norm.is_nan() || norm.abs() <= least {
            return Err(FaultKind::Singular);
        }
        let mut v: Vec<f64> = (column..rows).map(|row| a[row * columns + column]).collect();
        v[0] -= norm;
        let square = v.iter().fold(0.0, |sum, x| sum + x * x);
        for (matrix, width) in [(&mut a, columns), (&mut b, sides)] {
            for k in 0..width {
                let dot = v.iter().enumerate().fold(0.0, |sum, (i, x)| sum + x * matrix[(column + i) * width + k]);
                let factor = 2.0 * dot / square;
                for (i, x) in v.iter().enumerate() {
                    matrix[(column + i) * width + k] -= factor * x;
                }
            }
        }
    }
    let mut x = vec![0.0; columns * sides];
    for k in 0..sides {
        for row in (0..columns).rev() {
            let known = (row + 1..columns).fold(0.0, |sum, i| sum + a[row * columns + i] * x[i * sides + k]);
            x[row * sides + k] = (b[row * sides + k] - known) / a[row * columns + row];
        }
    }
    Ok(x)
}

/// Eigenvalues, ascending, and eigenvectors as columns of a symmetric n×n matrix (Jacobi's rotations, cyclic by rows).
/// Only the lower half is read.
pub fn eigen(mut a: Vec<f64>, n: usize) -> Result<(Vec<f64>, Vec<f64>), FaultKind> {
    for row in 0..n {
        for column in row + 1..n {
            a[row * n + column] = a[column * n + row];
        }
    }
    if !a.iter().all(|x| x.is_finite()) {
        return Err(FaultKind::NoConvergence);
    }
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|k| v[k * n + k] = 1.0);
    let mut sweeps = 0;
    while rotate_all(&mut a, &mut v, n) {
        sweeps += 1;
        if sweeps > SWEEPS_MAX {
            return Err(FaultKind::NoConvergence);
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[i * n + i].partial_cmp(&a[j * n + j]).unwrap_or(std::cmp::Ordering::Equal));
    let values = order.iter().map(|&k| a[k * n + k]).collect();
    let mut vectors = vec![0.0; n * n];
    for (to, &from) in order.iter().enumerate() {
        let mut best = 0;
        for row in 1..n {
            if v[row * n + from].abs() > v[best * n + from].abs() {
                best = row;
            }
        }
        let sign = if v[best * n + from] < 0.0 { -1.0 } else { 1.0 };
        (0..n).for_each(|row| vectors[row * n + to] = sign * v[row * n + from]);
    }
    Ok((values, vectors))
}

/// One rotation for each pair whose element is not yet negligible. Returns whether there was one.
fn rotate_all(a: &mut [f64], v: &mut [f64], n: usize) -> bool {
    let mut rotated = false;
    for p in 0..n {
        for q in p + 1..n {
            let off = a[p * n + q];
            if off.abs() <= f64::EPSILON * 0.5 * (a[p * n + p].abs() * a[q * n + q].abs()).sqrt()
                || off.abs() < f64::MIN_POSITIVE
            {
                continue;
            }
            rotated = true;
            let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
            let t = if theta >= 0.0 { 1.0 } else { -1.0 } / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for k in 0..n {
                let (x, y) = (a[k * n + p], a[k * n + q]);
                a[k * n + p] = c * x - s * y;
                a[k * n + q] = s * x + c * y;
            }
            for k in 0..n {
                let (x, y) = (a[p * n + k], a[q * n + k]);
                a[p * n + k] = c * x - s * y;
                a[q * n + k] = s * x + c * y;
            }
            a[p * n + q] = 0.0;
            a[q * n + p] = 0.0;
            for k in 0..n {
                let (x, y) = (v[k * n + p], v[k * n + q]);
                v[k * n + p] = c * x - s * y;
                v[k * n + q] = s * x + c * y;
            }
        }
    }
    rotated
}

/// The square root of a symmetric n×n matrix: V·√D·Vᵀ.
pub fn square_root(a: Vec<f64>, n: usize) -> Result<Vec<f64>, FaultKind> {
    let (values, v) = eigen(a, n)?;
    let scale = largest(&values);
    let mut roots = Vec::with_capacity(n);
    for value in values {
        if value < -scale * RANK_TOLERANCE * n as f64 {
            return Err(FaultKind::NoRealRoot);
        }
        roots.push(if value > 0.0 { value.sqrt() } else { 0.0 });
    }
    let mut root = vec![0.0; n * n];
    for row in 0..n {
        for column in 0..n {
            root[row * n + column] = (0..n).fold(0.0, |sum, k| sum + v[row * n + k] * roots[k] * v[column * n + k]);
        }
    }
    Ok(root)
}
