//! Nelder and Mead's search for the highest point of a smooth function of a few numbers.

/// Steps at most; three numbers need about eighty.
const STEPS_MAX: usize = 150;
/// The search ends when the corners are this close in height: of a logarithm of a likelihood, a hundredth of a standard
/// error.
const SAME_HEIGHT: f64 = 1e-4;

/// A point and its height.
pub(crate) type Point<const N: usize> = ([f64; N], f64);

/// The highest point near a start; `step` is the size of the first simplex.
pub(crate) fn climb<const N: usize>(start: [f64; N], step: f64, height: impl Fn(&[f64; N]) -> f64) -> Point<N> {
    let at = |point: [f64; N]| (point, height(&point));
    let mut corners: Vec<Point<N>> = vec![at(start)];
    for i in 0..N {
        let mut corner = start;
        corner[i] += step;
        corners.push(at(corner));
    }
    for _ in 0..STEPS_MAX {
        // Highest first; equal heights keep their order.
        corners.sort_by(|a, b| b.1.total_cmp(&a.1));
        if corners[0].1 - corners[N].1 < SAME_HEIGHT {
            break;
        }
        let centre: [f64; N] = std::array::from_fn(|i| corners[..N].iter().map(|c| c.0[i]).sum::<f64>() / N as f64);
        let lowest = corners[N];
        let along = |factor: f64| at(std::array::from_fn(|i| centre[i] + factor * (centre[i] - lowest.0[i])));
        let mirrored = along(1.0);
        let new = if mirrored.1 > corners[0].1 {
            let farther = along(2.0);
            if farther.1 > mirrored.1 { farther } else { mirrored }
        } else if mirrored.1 > corners[N - 1].1 {
            mirrored
        } else {
            let nearer = if mirrored.1 > lowest.1 { along(0.5) } else { along(-0.5) };
            if nearer.1 > lowest.1.max(mirrored.1) {
                nearer
            } else {
                let best = corners[0].0;
                let shrunk = |c: &Point<N>| at(std::array::from_fn(|i| best[i] + 0.5 * (c.0[i] - best[i])));
                corners = corners.iter().map(shrunk).collect();
                continue;
            }
        };
        corners[N] = new;
    }
    corners.sort_by(|a, b| b.1.total_cmp(&a.1));
    corners[0]
}

/// Inverse of minus the second derivatives at a highest point: the covariance of what was searched for. `None` if the
/// point is no peak.
pub(crate) fn covariance<const N: usize>(
    peak: &[f64; N],
    step: f64,
    height: impl Fn(&[f64; N]) -> f64,
) -> Option<[[f64; N]; N]> {
    let moved = |i: usize, j: usize, a: f64, b: f64| {
        let mut point = *peak;
        point[i] += a * step;
        point[j] += b * step;
        height(&point)
    };
    let second = |i: usize, j: usize| {
        let sum = moved(i, j, 1.0, 1.0) - moved(i, j, 1.0, -1.0) - moved(i, j, -1.0, 1.0) + moved(i, j, -1.0, -1.0);
        -sum / (4.0 * step * step)
    };
    let information: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| second(i, j)));
    inverse(information)
}

/// Inverse of a symmetric positive matrix by Gauss and Jordan.
fn inverse<const N: usize>(mut matrix: [[f64; N]; N]) -> Option<[[f64; N]; N]> {
    let mut found: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for pivot in 0..N {
        let size = matrix[pivot][pivot];
        if size.is_nan() || size <= 0.0 {
            return None;
        }
        for i in 0..N {
            matrix[pivot][i] /= size;
            found[pivot][i] /= size;
        }
        let (row, found_row) = (matrix[pivot], found[pivot]);
        for other in (0..N).filter(|&other| other != pivot) {
            let factor = matrix[other][pivot];
            for i in 0..N {
                matrix[other][i] -= factor * row[i];
                found[other][i] -= factor * found_row[i];
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hill(p: &[f64; 2]) -> f64 {
        let (x, y) = (p[0] - 1.0, p[1] + 2.0);
        -(2.0 * x * x + x * y + y * y)
    }

    #[test]
    fn the_peak_of_a_hill_is_found_with_its_curvature() {
        let (peak, height) = climb([5.0, 5.0], 1.0, hill);
        assert!((peak[0] - 1.0).abs() < 0.02 && (peak[1] + 2.0).abs() < 0.02 && height > -1e-3);
        // By hand: minus the second derivatives are [[4, 1], [1, 2]], their inverse is [[2, −1], [−1, 4]]/7.
        let covariance = covariance(&[1.0, -2.0], 0.1, hill).unwrap();
        let expect = [[2.0 / 7.0, -1.0 / 7.0], [-1.0 / 7.0, 4.0 / 7.0]];
        assert!((0..2).all(|i| (0..2).all(|j| (covariance[i][j] - expect[i][j]).abs() < 1e-9)));
    }

    #[test]
    fn a_saddle_is_no_peak() {
        assert_eq!(covariance(&[0.0, 0.0], 0.1, |p: &[f64; 2]| p[0] * p[0] - p[1] * p[1]), None);
    }
}
