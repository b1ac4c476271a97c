//! Lateral control of a car of the traffic: pure pursuit in lane coordinates (S4-16, S4-10).
//!
//! Across the lane a car is two numbers: lateral offset y and heading ψ relative to the lane. It aims at the reference one look-ahead
//! further on and drives the arc that leads there: `κ = 2·e / L²`, with e the offset of that point across the car's own heading. Small
//! headings are assumed (|ψ| < 0.5), where `sin ψ ≈ ψ − ψ³/6` is right to 3·10⁻⁴.

use serde::{Deserialize, Serialize};

/// What of a car evolves across its lane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Default)]
pub struct Across {
    /// Offset from the middle of the lane, metres, positive to the left.
    pub lateral_m: f64,
    /// Heading relative to the lane, radians.
    pub heading_rad: f64,
}

/// Shortest look-ahead, metres: below it a slow car would swing.
pub const LOOK_AHEAD_MIN_M: f64 = 6.0;
/// Seconds of way that the look-ahead spans.
pub const LOOK_AHEAD_S: f64 = 0.6;
/// Sharpest curve of a car of the traffic, per metre (a radius of 6 m).
pub const CURVATURE_MAX_PER_M: f64 = 1.0 / 6.0;
/// Largest heading relative to the lane; the sine above is good up to here.
pub const HEADING_MAX_RAD: f64 = 0.5;

/// How far ahead the tracker aims at a speed.
#[inline]
pub fn aim_m(speed_mps: f64) -> f64 {
    (LOOK_AHEAD_S * speed_mps).max(LOOK_AHEAD_MIN_M)
}

#[inline]
fn small_sin(x: f64) -> f64 {
    x - x * x * x * (1.0 / 6.0)
}

/// Curvature to drive relative to the lane, towards a reference offset one [`aim_m`] ahead.
#[inline]
pub fn curvature_per_m(across: Across, speed_mps: f64, reference_m: f64) -> f64 {
    let aim_m = aim_m(speed_mps);
    let (sin, cos) = (small_sin(across.heading_rad), 1.0 - 0.5 * across.heading_rad * across.heading_rad);
    let error_m = (reference_m - across.lateral_m) * cos - aim_m * sin;
    (2.0 * error_m / (aim_m * aim_m)).clamp(-CURVATURE_MAX_PER_M, CURVATURE_MAX_PER_M)
}

/// One step of `advance_m` along the way with that curvature.
#[inline]
pub fn step(across: Across, advance_m: f64, curvature_per_m: f64) -> Across {
    let heading = (across.heading_rad + curvature_per_m * advance_m).clamp(-HEADING_MAX_RAD, HEADING_MAX_RAD);
    let middle = 0.5 * (across.heading_rad + heading);
    Across { lateral_m: across.lateral_m + advance_m * small_sin(middle), heading_rad: heading }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curvature_is_that_of_the_arc_to_the_point_aimed_at() {
        // By hand: 10 m/s aims 6 m ahead; straight ahead, point 0.9 m to the left: κ = 1.8 / 36 = 0.05.
        assert!((curvature_per_m(Across::default(), 10.0, 0.9) - 0.05).abs() < 1e-15);
        // Heading at the point already: nothing to steer (to second order).
        let across = Across { lateral_m: 0.0, heading_rad: 0.1 };
        let reference_m = 6.0 * small_sin(0.1) / (1.0 - 0.005);
        assert!(curvature_per_m(across, 10.0, reference_m).abs() < 1e-15);
    }

    #[test]
    fn an_arc_leads_where_a_circle_would() {
        // A circle of radius 50 m, seen after 5 m: offset R(1 − cos 0.1) = 0.249792 m, heading 0.1.
        let mut across = Across::default();
        for _ in 0..50 {
            across = step(across, 0.1, 0.02);
        }
        assert!((across.heading_rad - 0.1).abs() < 1e-12);
        assert!((across.lateral_m - 0.249_792).abs() < 2e-3 * 0.25, "{}", across.lateral_m);
    }

    #[test]
    fn a_car_beside_its_reference_comes_back_without_swinging() {
        for speed in [3.0, 10.0, 30.0] {
            let mut across = Across { lateral_m: 1.0, heading_rad: 0.0 };
            let mut least = 1.0_f64;
            for _ in 0..200 {
                let curvature = curvature_per_m(across, speed, 0.0);
                across = step(across, speed * 0.1, curvature);
                least = least.min(across.lateral_m);
            }
            assert!(across.lateral_m.abs() < 0.01, "{speed} m/s: {}", across.lateral_m);
            assert!(least > -0.1, "{speed} m/s swings to {least}");
        }
    }
}
