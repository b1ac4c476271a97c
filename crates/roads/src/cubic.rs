//! Cubic interpolation over the station: Eq. (1) of the paper (S4-4).
//!
//! Every quantity X of a lane is, between two way-points, X(s) = Σ pᵢ sⁱ with i = 0 … 3, or the value of the last way-point.
//! The coefficients are kept around the way-point they begin at, which is the same polynomial with better rounding.

/// X as a polynomial of the distance to the way-point it begins at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cubic {
    /// Coefficients of 1, t, t² and t³.
    pub p: [f64; 4],
}

impl Cubic {
    /// The polynomial over a width `h` from its values and slopes at both ends.
    pub fn hermite(h: f64, values: [f64; 2], slopes: [f64; 2]) -> Self {
        let d = (values[1] - values[0]) / h;
        let p2 = (3.0 * d - 2.0 * slopes[0] - slopes[1]) / h;
        let p3 = (slopes[0] + slopes[1] - 2.0 * d) / (h * h);
        Self { p: [values[0], slopes[0], p2, p3] }
    }
    /// The same value everywhere.
    pub const fn constant(value: f64) -> Self {
        Self { p: [value, 0.0, 0.0, 0.0] }
    }
    /// Its value.
    #[inline(always)]
    pub fn value(&self, t: f64) -> f64 {
        ((self.p[3] * t + self.p[2]) * t + self.p[1]) * t + self.p[0]
    }
    /// Its first derivative.
    #[inline(always)]
    pub fn slope(&self, t: f64) -> f64 {
        (3.0 * self.p[3] * t + 2.0 * self.p[2]) * t + self.p[1]
    }
    /// Its second derivative.
    #[inline(always)]
    pub fn bend(&self, t: f64) -> f64 {
        6.0 * self.p[3] * t + 2.0 * self.p[2]
    }
    /// Smallest and largest value that it can have for t from 0 to h: those of its Bézier points.
    pub fn bounds(&self, h: f64) -> (f64, f64) {
        let [a, b, c, d] = self.p;
        let points = [a, a + b * h / 3.0, a + 2.0 * b * h / 3.0 + c * h * h / 3.0, a + h * (b + h * (c + h * d))];
        points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(*x), hi.max(*x)))
    }
}

/// Slopes at the knots that make the interpolation twice continuously differentiable, so that curvature has no jumps.
///
/// An end whose slope is not prescribed gets a constant second derivative in its first piece, as a circle has.
pub fn smooth_slopes(stations: &[f64], values: &[f64], first: Option<f64>, last: Option<f64>) -> Vec<f64> {
    let n = values.len();
    let h: Vec<f64> = stations.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let d: Vec<f64> = (0..n - 1).map(|i| (values[i + 1] - values[i]) / h[i]).collect();
    if n == 2 && first.is_none() && last.is_none() {
        return vec![d[0]; 2];
    }
    // Rows (below, diagonal, above, right side) of a tridiagonal system, solved by elimination.
    let row = |i: usize| match i {
        0 => first.map_or((0.0, 1.0, 1.0, 2.0 * d[0]), |slope| (0.0, 1.0, 0.0, slope)),
        _ if i == n - 1 => last.map_or((1.0, 1.0, 0.0, 2.0 * d[n - 2]), |slope| (0.0, 1.0, 0.0, slope)),
        _ => (h[i], 2.0 * (h[i - 1] + h[i]), h[i - 1], 3.0 * (h[i] * d[i - 1] + h[i - 1] * d[i])),
    };
    let mut above = vec![0.0; n];
    let mut slopes = vec![0.0; n];
    for i in 0..n {
        let (below, diagonal, next, right) = row(i);
        let (above_before, slope_before) = if i == 0 { (0.0, 0.0) } else { (above[i - 1], slopes[i - 1]) };
        let pivot = diagonal - below * above_before;
        above[i] = next / pivot;
        slopes[i] = (right - below * slope_before) / pivot;
    }
    for i in (0..n - 1).rev() {
        slopes[i] -= above[i] * slopes[i + 1];
    }
    slopes
}

/// Slopes that never overshoot: between two way-points the value stays between theirs (Fritsch and Carlson).
///
/// A lane that narrows from 3.5 m to 3 m is never wider than 3.5 m or narrower than 3 m on the way.
pub fn monotone_slopes(stations: &[f64], values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let h = |i: usize| stations[i + 1] - stations[i];
    let d = |i: usize| (values[i + 1] - values[i]) / h(i);
    let interior = |i: usize| {
        let (before, after) = (d(i - 1), d(i));
        if before * after <= 0.0 {
            return 0.0;
        }
        let (w1, w2) = (2.0 * h(i) + h(i - 1), h(i) + 2.0 * h(i - 1));
        (w1 + w2) / (w1 / before + w2 / after)
    };
    (0..n)
        .map(|i| match i {
            0 => d(0),
            _ if i == n - 1 => d(n - 2),
            _ => interior(i),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_has_the_values_and_derivatives_of_equation_1() {
        // By hand: 1 + 2·2 + 3·4 + 4·8 = 49; 2 + 6·2 + 12·4 = 62; 6 + 24·2 = 54.
        let cubic = Cubic { p: [1.0, 2.0, 3.0, 4.0] };
        assert_eq!((cubic.value(2.0), cubic.slope(2.0), cubic.bend(2.0)), (49.0, 62.0, 54.0));
    }

    #[test]
    fn hermite_meets_values_and_slopes_at_both_ends() {
        let cubic = Cubic::hermite(2.0, [1.0, 5.0], [3.0, -1.0]);
        assert_eq!((cubic.value(0.0), cubic.slope(0.0)), (1.0, 3.0));
        assert!((cubic.value(2.0) - 5.0).abs() < 1e-14 && (cubic.slope(2.0) + 1.0).abs() < 1e-14);
    }

    #[test]
    fn smooth_slopes_reproduce_a_parabola_exactly_and_have_continuous_second_derivatives() {
        let stations = [0.0, 1.0, 3.0, 4.5];
        let values: Vec<f64> = stations.iter().map(|s| s * s).collect();
        let slopes = smooth_slopes(&stations, &values, None, None);
        for (slope, station) in slopes.iter().zip(stations) {
            assert!((slope - 2.0 * station).abs() < 1e-12, "{slopes:?}");
        }
        let wild = [0.0, 4.0, -1.0, 2.0];
        let slopes = smooth_slopes(&stations, &wild, Some(1.0), None);
        let piece = |i: usize| {
            Cubic::hermite(stations[i + 1] - stations[i], [wild[i], wild[i + 1]], [slopes[i], slopes[i + 1]])
        };
        assert_eq!(slopes[0], 1.0);
        assert!((piece(0).bend(1.0) - piece(1).bend(0.0)).abs() < 1e-12);
        assert!((piece(1).bend(2.0) - piece(2).bend(0.0)).abs() < 1e-12);
    }

    #[test]
    fn monotone_slopes_never_overshoot() {
        let stations = [0.0, 10.0, 20.0, 21.0, 40.0];
        let widths = [3.5, 3.5, 3.0, 0.5, 0.5];
        let slopes = monotone_slopes(&stations, &widths);
        for i in 0..4 {
            let h = stations[i + 1] - stations[i];
            let piece = Cubic::hermite(h, [widths[i], widths[i + 1]], [slopes[i], slopes[i + 1]]);
            for k in 0..=100 {
                let width = piece.value(h * f64::from(k) / 100.0);
                assert!(width <= widths[i] + 1e-12 && width >= widths[i + 1] - 1e-12, "{i} {k} {width}");
            }
        }
    }

    #[test]
    fn bounds_contain_the_curve() {
        let cubic = Cubic { p: [1.0, -3.0, 0.5, 0.25] };
        let (lo, hi) = cubic.bounds(4.0);
        assert!((0..=40).map(|k| cubic.value(f64::from(k) / 10.0)).all(|x| lo <= x && x <= hi));
    }
}
