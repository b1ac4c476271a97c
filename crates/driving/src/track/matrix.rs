//! Small square matrices, just enough for gains that are solved before driving.

/// A matrix of N rows.
pub(super) type Matrix<const N: usize> = [[f64; N]; N];

pub(super) fn identity<const N: usize>() -> Matrix<N> {
    from_fn(|i, j| f64::from(u8::from(i == j)))
}
pub(super) fn from_fn<const N: usize>(entry: impl Fn(usize, usize) -> f64) -> Matrix<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}
pub(super) fn product<const N: usize>(a: &Matrix<N>, b: &Matrix<N>) -> Matrix<N> {
    from_fn(|i, j| (0..N).map(|k| a[i][k] * b[k][j]).sum())
}
pub(super) fn transposed<const N: usize>(a: &Matrix<N>) -> Matrix<N> {
    from_fn(|i, j| a[j][i])
}
pub(super) fn sum<const N: usize>(a: &Matrix<N>, b: &Matrix<N>) -> Matrix<N> {
    from_fn(|i, j| a[i][j] + b[i][j])
}
pub(super) fn largest<const N: usize>(a: &Matrix<N>) -> f64 {
    a.iter().flatten().fold(0.0, |largest: f64, entry| largest.max(entry.abs()))
}

/// Solves a·x = b for the matrix x by elimination with row exchange; `None` if a has no inverse.
pub(super) fn solve<const N: usize>(mut a: Matrix<N>, mut b: Matrix<N>) -> Option<Matrix<N>> {
    for column in 0..N {
        let pivot =
            (column..N).fold(column, |best, row| if a[row][column].abs() > a[best][column].abs() { row } else { best });
        if a[pivot][column].abs() < f64::MIN_POSITIVE {
            return None;
        }
        a.swap(column, pivot);
        b.swap(column, pivot);
        for row in (0..N).filter(|row| *row != column) {
            let factor = a[row][column] / a[column][column];
            for k in 0..N {
                a[row][k] -= factor * a[column][k];
                b[row][k] -= factor * b[column][k];
            }
        }
    }
    Some(from_fn(|i, j| b[i][j] / a[i][i]))
}

/// exp(a) by its series on a / 2ⁿ, squared n times.
pub(super) fn exponential<const N: usize>(a: &Matrix<N>) -> Matrix<N> {
    let mut halvings = 0;
    let mut scale = 1.0;
    while largest(a) * N as f64 * scale > 0.25 {
        (halvings, scale) = (halvings + 1, scale * 0.5);
    }
    let small: Matrix<N> = from_fn(|i, j| a[i][j] * scale);
    let (mut term, mut total) = (identity(), identity());
    for k in 1..=14 {
        let next = product(&term, &small);
        term = from_fn(|i, j| next[i][j] / f64::from(k));
        total = sum(&total, &term);
    }
    (0..halvings).fold(total, |total, _| product(&total, &total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_the_exponential_of_its_generator() {
        let turned = exponential(&[[0.0, -1.2], [1.2, 0.0]]);
        let (sin, cos) = anabranch_kernel::maths::sin_cos(1.2);
        assert!((turned[0][0] - cos).abs() < 1e-14 && (turned[1][0] - sin).abs() < 1e-14, "{turned:?}");
    }

    #[test]
    fn solving_undoes_the_product() {
        let a = [[0.0, 2.0, 1.0], [1.0, -1.0, 0.5], [3.0, 0.0, 4.0]];
        let x = [[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0], [0.5, 0.25, 8.0]];
        let back = solve(a, product(&a, &x)).unwrap();
        assert!(largest::<3>(&from_fn(|i, j| back[i][j] - x[i][j])) < 1e-14);
        assert!(solve([[1.0, 2.0], [2.0, 4.0]], identity()).is_none());
    }
}
