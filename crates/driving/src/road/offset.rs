//! The planned way beside the middle of a lane: a quintic to a new offset, level from there on (S4-14).

use serde::{Deserialize, Serialize};

/// An offset along the way: from value, slope and bend at one station to a level offset further on.
///
/// With u = (s − s₀)/l the offset is Σ pᵢ·uⁱ, i = 0…5, the one quintic that fits value, slope and bend at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offset {
    /// Station at which it begins.
    pub from_m: f64,
    /// Way until it is level.
    pub length_m: f64,
    /// Offset, slope and bend at its beginning; positive is left.
    pub start: [f64; 3],
    /// Offset at its end.
    pub end_m: f64,
}

impl Offset {
    /// A level offset.
    pub fn level(from_m: f64, offset_m: f64) -> Self {
        Self { from_m, length_m: 1.0, start: [offset_m, 0.0, 0.0], end_m: offset_m }
    }
    /// Offset, slope and bend at a station.
    pub fn at(&self, station_m: f64) -> [f64; 3] {
        let u = (station_m - self.from_m) / self.length_m;
        if u >= 1.0 {
            return [self.end_m, 0.0, 0.0];
        }
        let (per_m, u) = (1.0 / self.length_m, u.max(0.0));
        let p = self.coefficients();
        let value = p[0] + u * (p[1] + u * (p[2] + u * (p[3] + u * (p[4] + u * p[5]))));
        let slope = p[1] + u * (2.0 * p[2] + u * (3.0 * p[3] + u * (4.0 * p[4] + u * 5.0 * p[5])));
        let bend = 2.0 * p[2] + u * (6.0 * p[3] + u * (12.0 * p[4] + u * 20.0 * p[5]));
        [value, slope * per_m, bend * per_m * per_m]
    }
    /// The same way seen from another middle: stations shifted, and everything moved sideways.
    #[must_use]
    pub fn rebased(&self, station_shift_m: f64, lateral_shift_m: f64) -> Self {
        let [offset_m, slope, bend] = self.start;
        Self {
            from_m: self.from_m + station_shift_m,
            length_m: self.length_m,
            start: [offset_m + lateral_shift_m, slope, bend],
            end_m: self.end_m + lateral_shift_m,
        }
    }
    fn coefficients(&self) -> [f64; 6] {
        let l = self.length_m;
        let (p0, p1, p2) = (self.start[0], self.start[1] * l, 0.5 * self.start[2] * l * l);
        // What value, slope and bend are still missing at u = 1.
        let (a, b, c) = (self.end_m - p0 - p1 - p2, -p1 - 2.0 * p2, -2.0 * p2);
        [p0, p1, p2, 10.0 * a - 4.0 * b + 0.5 * c, 7.0 * b - 15.0 * a - c, 6.0 * a - 3.0 * b + 0.5 * c]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From rest to rest the quintic is 10u³ − 15u⁴ + 6u⁵: half of the way at its middle, slope 15/8 there, and the
    /// largest bend 10/√3 at u = ½ − √3/6.
    #[test]
    fn a_change_from_rest_to_rest_is_the_minimum_jerk_curve() {
        let offset = Offset { from_m: 10.0, length_m: 40.0, start: [0.0; 3], end_m: 3.5 };
        let [middle, slope, bend] = offset.at(30.0);
        assert!((middle - 1.75).abs() < 1e-12 && (slope - 3.5 / 40.0 * 15.0 / 8.0).abs() < 1e-12 && bend.abs() < 1e-12);
        let sharpest = offset.at(10.0 + 40.0 * (0.5 - 3.0_f64.sqrt() / 6.0))[2];
        assert!((sharpest - 3.5 / 1600.0 * 10.0 / 3.0_f64.sqrt()).abs() < 1e-12, "{sharpest}");
    }

    #[test]
    fn both_ends_are_met_with_slope_and_bend_and_beyond_it_is_level() {
        let offset = Offset { from_m: 0.0, length_m: 25.0, start: [0.4, -0.05, 0.01], end_m: -1.0 };
        let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(offset.at(0.0), [0.4, -0.05, 0.01]));
        assert!(near(offset.at(25.0 - 1e-12), [-1.0, 0.0, 0.0]) && near(offset.at(99.0), [-1.0, 0.0, 0.0]));
        let moved = offset.rebased(7.0, 3.5);
        let [a, b, c] = offset.at(12.0);
        assert!(near(moved.at(19.0), [a + 3.5, b, c]));
    }
}
