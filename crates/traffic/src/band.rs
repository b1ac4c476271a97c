//! M1: swerving around what stands in the lane, by an elastic band (S4-12).
//!
//! One reference per lane and cycle, whatever the number of cars: a band along the lane is pulled straight by its own tension and
//! held off by obstacles; every car of the lane reads its offset at its own station. The band depends on the lane and on the obstacles only,
//! so equal obstacles give an equal band and it need not be saved: it is computed again when they change.
//!
//! Between its anchors the band settles where each free point is the mean of its neighbours (tension) and each touching one sits
//! on its bound: straight ramps that bend only at obstacles. Where no side is wide enough the lane is *blocked* and cars stop (S4-17).

use serde::{Deserialize, Serialize};

/// Distance of the points of a band, metres.
pub const SPACING_M: f64 = 1.0;
/// Length of the ramps before the first and after the last obstacle of a band, metres.
pub const RAMP_M: f64 = 25.0;
/// What stays free between a car and what it passes, metres.
pub const CLEARANCE_M: f64 = 0.3;
/// Half the width of the widest car that follows a band.
pub const HALF_WIDTH_M: f64 = 0.95;
/// Rounds of relaxation; with over-relaxation a band of 120 points has then settled to a millimetre.
const ROUNDS: usize = 220;
/// Over-relaxation: near the optimum for bands of about a hundred points.
const RELAXATION: f64 = 1.9;

/// Something standing in a lane, as the lane sees it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Where it begins along the lane.
    pub from_m: f64,
    /// Where it ends along the lane.
    pub to_m: f64,
    /// Its right edge across the lane, metres from the middle, positive to the left.
    pub right_m: f64,
    /// Its left edge.
    pub left_m: f64,
}

/// How far cars of a lane may leave its middle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Room {
    /// To the left, metres.
    pub left_m: f64,
    /// To the right, metres.
    pub right_m: f64,
}

impl Room {
    /// What a lane of this width leaves a car that stays inside of it.
    pub fn inside(width_m: f64) -> Self {
        let free_m = (0.5 * width_m - HALF_WIDTH_M).max(0.0);
        Self { left_m: free_m, right_m: free_m }
    }
}

/// One stretch of a band.
#[derive(Clone, Debug, PartialEq, Default)]
struct Stretch {
    from_m: f64,
    offsets_m: Vec<f64>,
}

/// The reference of a lane: its middle, except near obstacles.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Band {
    stretches: Vec<Stretch>,
    blocked_at_m: Vec<f64>,
}

impl Band {
    /// The band of a lane with these obstacles, in any order.
    pub fn around(standing: &[Standing], room: Room) -> Self {
        let mut sorted = standing.to_vec();
        sorted.sort_by(|a, b| a.from_m.total_cmp(&b.from_m).then(a.to_m.total_cmp(&b.to_m)));
        let mut band = Self::default();
        let mut passed: Vec<(Standing, Bound)> = Vec::new();
        for thing in sorted {
            match Bound::around(&thing, room) {
                None => {}
                Some(Bound::Blocked) => band.blocked_at_m.push(thing.from_m),
                Some(bound) => {
                    if passed.last().is_some_and(|(last, _)| last.to_m + 2.0 * RAMP_M < thing.from_m) {
                        band.stretches.push(Stretch::relaxed(&passed));
                        passed.clear();
                    }
                    passed.push((thing, bound));
                }
            }
        }
        if !passed.is_empty() {
            band.stretches.push(Stretch::relaxed(&passed));
        }
        band
    }
    /// Offset of the reference at a station, metres to the left of the middle.
    #[inline]
    pub fn offset_m(&self, station_m: f64) -> f64 {
        self.stretches.iter().find_map(|stretch| stretch.at(station_m)).unwrap_or(0.0)
    }
    /// The next station at or after this one where nobody can pass.
    #[inline]
    pub fn blocked_after_m(&self, station_m: f64) -> Option<f64> {
        self.blocked_at_m.iter().copied().find(|&at| at >= station_m)
    }
    /// Whether cars simply keep to the middle.
    pub fn is_straight(&self) -> bool {
        self.stretches.is_empty() && self.blocked_at_m.is_empty()
    }
}

/// What an obstacle asks of the band beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    AtLeast(f64),
    AtMost(f64),
    Blocked,
}

impl Bound {
    /// On the side that needs the smaller swerve and fits; left if both are alike. `None` if it is not in the way.
    fn around(thing: &Standing, room: Room) -> Option<Self> {
        let half_m = HALF_WIDTH_M + CLEARANCE_M;
        let (left_m, right_m) = (thing.left_m + half_m, thing.right_m - half_m);
        if left_m <= 0.0 || right_m >= 0.0 {
            return None;
        }
        let fits_left = left_m <= room.left_m;
        let fits_right = -right_m <= room.right_m;
        Some(match (fits_left, fits_right) {
            (true, true) if left_m <= -right_m => Self::AtLeast(left_m),
            (_, true) => Self::AtMost(right_m),
            (true, false) => Self::AtLeast(left_m),
            (false, false) => Self::Blocked,
        })
    }
}

impl Stretch {
    fn relaxed(passed: &[(Standing, Bound)]) -> Self {
        let from_m = passed[0].0.from_m - RAMP_M;
        let end_m = passed.iter().map(|(thing, _)| thing.to_m).fold(from_m, f64::max) + RAMP_M;
        let points = ((end_m - from_m) / SPACING_M).ceil() as usize + 1;
        let mut bounds = vec![(f64::NEG_INFINITY, f64::INFINITY); points];
        for (thing, bound) in passed {
            for (k, limits) in bounds.iter_mut().enumerate() {
                let station_m = from_m + k as f64 * SPACING_M;
                // Half a spacing more at both ends, so that the straight lines between points keep the clearance too.
                if station_m > thing.from_m - SPACING_M && station_m < thing.to_m + SPACING_M {
                    match *bound {
                        Bound::AtLeast(offset_m) => limits.0 = limits.0.max(offset_m),
                        Bound::AtMost(offset_m) => limits.1 = limits.1.min(offset_m),
                        Bound::Blocked => {}
                    }
                }
            }
        }
        let mut offsets_m = vec![0.0; points];
        for _ in 0..ROUNDS {
            for k in 1..points - 1 {
                let mean_m = 0.5 * (offsets_m[k - 1] + offsets_m[k + 1]);
                let moved_m = offsets_m[k] + RELAXATION * (mean_m - offsets_m[k]);
                offsets_m[k] = moved_m.max(bounds[k].0).min(bounds[k].1);
            }
        }
        Self { from_m, offsets_m }
    }
    #[inline]
    fn at(&self, station_m: f64) -> Option<f64> {
        let place = (station_m - self.from_m) / SPACING_M;
        if place < 0.0 || place >= (self.offsets_m.len() - 1) as f64 {
            return None;
        }
        let k = place as usize;
        let part = place - k as f64;
        Some(self.offsets_m[k] * (1.0 - part) + self.offsets_m[k + 1] * part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { left_m: 2.0, right_m: 2.0 };

    #[test]
    fn without_obstacles_the_reference_is_the_middle() {
        assert!(Band::around(&[], ROOM).is_straight());
        // Something at the edge that leaves enough room is nobody's business.
        let kerb = Standing { from_m: 10.0, to_m: 12.0, right_m: -1.75, left_m: -1.4 };
        assert!(Band::around(&[kerb], ROOM).is_straight());
    }

    #[test]
    fn the_band_is_a_taut_string_over_the_obstacle() {
        // By hand: left edge at −0.5 m asks for −0.5 + 0.95 + 0.3 = 0.75 m. A taut string rises evenly from its anchor
        // 25 m before to the first point that feels the obstacle (24.x m further), stays, and falls evenly.
        let bin = Standing { from_m: 100.0, to_m: 104.0, right_m: -1.5, left_m: -0.5 };
        let band = Band::around(&[bin], ROOM);
        for station_m in [100.0, 101.5, 102.0, 104.0] {
            assert!((band.offset_m(station_m) - 0.75).abs() < 1e-3, "{station_m}: {}", band.offset_m(station_m));
        }
        // Points lie at 75, 76 …; the first inside the open interval (99, 105) is 100, and 25 spacings of ramp lead there.
        for k in 0..=25 {
            let expect = 0.75 * f64::from(k) / 25.0;
            let seen = band.offset_m(75.0 + f64::from(k));
            assert!((seen - expect).abs() < 2e-3, "{k}: {seen} is not {expect}");
        }
        assert_eq!(band.offset_m(74.9), 0.0);
        assert_eq!(band.offset_m(140.0), 0.0);
    }

    #[test]
    fn the_smaller_swerve_is_taken_and_a_full_lane_is_blocked() {
        let right = Standing { from_m: 50.0, to_m: 51.0, right_m: -0.2, left_m: 1.5 };
        let band = Band::around(&[right], ROOM);
        assert!((band.offset_m(50.5) + 1.45).abs() < 1e-3, "{}", band.offset_m(50.5));
        let wall = Standing { from_m: 50.0, to_m: 51.0, right_m: -1.5, left_m: 1.5 };
        let band = Band::around(&[wall], ROOM);
        assert_eq!(band.blocked_after_m(10.0), Some(50.0));
        assert_eq!(band.blocked_after_m(51.0), None);
    }

    #[test]
    fn the_order_of_obstacles_does_not_matter_and_far_ones_have_bands_of_their_own() {
        let a = Standing { from_m: 100.0, to_m: 104.0, right_m: -1.5, left_m: -0.5 };
        let b = Standing { from_m: 300.0, to_m: 304.0, right_m: 0.5, left_m: 1.5 };
        assert_eq!(Band::around(&[a, b], ROOM), Band::around(&[b, a], ROOM));
        let both = Band::around(&[a, b], ROOM);
        assert_eq!(both.offset_m(200.0), 0.0);
        assert!(both.offset_m(302.0) < -0.7);
    }
}
