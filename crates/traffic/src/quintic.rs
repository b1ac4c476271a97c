//! M3: the path of a lane change as a polynomial of degree five (S4-14).
//!
//! Eq. (4): `y = Σ pᵢ·xⁱ`, i = 0 … 5, from `[0, 0, 0, κ₀]` to `[x_f, y_f, θ_f, κ_f]`, with coefficients in closed form. Along
//! `y(x)` the heading is `atan y′` and the curvature `y″ / (1 + y′²)^1.5`. Valid for headings below a right angle.

use anabranch_kernel::maths;
use serde::{Deserialize, Serialize};

/// `y` as a polynomial in `x`, lowest power first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quintic {
    /// p₀ … p₅.
    pub p: [f64; 6],
}

/// Where a lane change ends, in the frame of the car that begins it (x ahead, y to the left).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeEnd {
    /// x_f, metres; positive.
    pub x_m: f64,
    /// y_f, metres.
    pub y_m: f64,
    /// θ_f, radians, below a right angle either way.
    pub heading_rad: f64,
    /// κ_f, per metre.
    pub curvature_per_m: f64,
}

/// Value, slope and second derivative at one place.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Jet {
    /// y.
    pub value: f64,
    /// y′.
    pub slope: f64,
    /// y″.
    pub second: f64,
}

impl Quintic {
    /// The path of Eq. (4) from the origin, heading along x, with curvature κ₀.
    pub fn lane_change(start_curvature_per_m: f64, end: ChangeEnd) -> Self {
        let slope = maths::tan(end.heading_rad);
        let stretch = 1.0 + slope * slope;
        let last = Jet { value: end.y_m, slope, second: end.curvature_per_m * stretch * stretch.sqrt() };
        Self::between(Jet { second: start_curvature_per_m, ..Jet::default() }, last, end.x_m)
    }
    /// The quintic with given ends at x = 0 and x = `length_m`.
    pub fn between(start: Jet, end: Jet, length_m: f64) -> Self {
        let l = length_m;
        // What is left for the three upper powers, in units of a path of length one.
        let value = end.value - start.value - start.slope * l - 0.5 * start.second * l * l;
        let slope = (end.slope - start.slope - start.second * l) * l;
        let second = (end.second - start.second) * l * l;
        let l3 = l * l * l;
        Self {
            p: [
                start.value,
                start.slope,
                0.5 * start.second,
                (10.0 * value - 4.0 * slope + 0.5 * second) / l3,
                (-15.0 * value + 7.0 * slope - second) / (l3 * l),
                (6.0 * value - 3.0 * slope + 0.5 * second) / (l3 * l * l),
            ],
        }
    }
    /// Value and derivatives at x.
    #[inline]
    pub fn at(&self, x_m: f64) -> Jet {
        let [p0, p1, p2, p3, p4, p5] = self.p;
        let x = x_m;
        Jet {
            value: p0 + x * (p1 + x * (p2 + x * (p3 + x * (p4 + x * p5)))),
            slope: p1 + x * (2.0 * p2 + x * (3.0 * p3 + x * (4.0 * p4 + x * 5.0 * p5))),
            second: 2.0 * p2 + x * (6.0 * p3 + x * (12.0 * p4 + x * 20.0 * p5)),
        }
    }
    /// Heading at x, radians.
    pub fn heading_rad(&self, x_m: f64) -> f64 {
        maths::atan(self.at(x_m).slope)
    }
    /// Curvature at x, per metre.
    pub fn curvature_per_m(&self, x_m: f64) -> f64 {
        let jet = self.at(x_m);
        let stretch = 1.0 + jet.slope * jet.slope;
        jet.second / (stretch * stretch.sqrt())
    }
}

/// Length of a lane change: an empirical function of the speed (S4-14), about four seconds of way and never so short that
/// a car could not steer it. Over 3.5 m at 30 m/s the largest lateral acceleration is then 1.3 m/s².
#[inline]
pub fn look_ahead_m(speed_mps: f64) -> f64 {
    (4.0 * speed_mps).max(15.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn a_plain_change_has_the_well_known_coefficients() {
        // By hand: from rest values to (40, 3.5, 0, 0): y = 3.5·(10 u³ − 15 u⁴ + 6 u⁵), u = x / 40.
        let end = ChangeEnd { x_m: 40.0, y_m: 3.5, heading_rad: 0.0, curvature_per_m: 0.0 };
        let path = Quintic::lane_change(0.0, end);
        near(path.p[3], 35.0 / 64_000.0);
        near(path.p[4], -52.5 / 2_560_000.0);
        near(path.p[5], 21.0 / 102_400_000.0);
        near(path.at(20.0).value, 1.75);
        // The middle is steepest: 1.875·3.5/40.
        near(path.at(20.0).slope, 0.164_062_5);
    }

    #[test]
    fn the_ends_have_the_heading_and_curvature_that_were_asked_for() {
        let end = ChangeEnd { x_m: 30.0, y_m: -3.0, heading_rad: 0.1, curvature_per_m: 0.01 };
        let path = Quintic::lane_change(-0.02, end);
        near(path.at(0.0).value, 0.0);
        near(path.heading_rad(0.0), 0.0);
        near(path.curvature_per_m(0.0), -0.02);
        near(path.at(30.0).value, -3.0);
        near(path.heading_rad(30.0), 0.1);
        near(path.curvature_per_m(30.0), 0.01);
    }

    #[test]
    fn a_change_between_lanes_stays_comfortable_at_every_speed() {
        for speed in [5.0, 10.0, 20.0, 30.0, 40.0] {
            let x_m = look_ahead_m(speed);
            let end = ChangeEnd { x_m, y_m: 3.5, heading_rad: 0.0, curvature_per_m: 0.0 };
            let path = Quintic::lane_change(0.0, end);
            let largest = (0..=100).map(|i| path.curvature_per_m(x_m * f64::from(i) / 100.0).abs()).fold(0.0, f64::max);
            assert!(largest * speed * speed < 1.3, "{speed} m/s: {}", largest * speed * speed);
        }
    }
}
