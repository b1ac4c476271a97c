//! From the world to a lane and back.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;

use crate::curve::{Curve, Jet};
use crate::lane::{Frenet, Lane};

/// Newton steps after which the nearest point is found or never will be; five are usual.
const STEPS_MAX: usize = 40;
/// A step this short ends the search. Newton's error after it is about its square.
const STEP_M: f64 = 1e-6;
/// Share of the undamped curvature of the distance below which Newton's step is replaced by a shorter, safe one.
const SAFE_SHARE: f64 = 0.2;

impl Lane {
    /// The place of a point relative to this lane: the nearest point of the lane that is reached downhill from
    /// `near_station_m`, by Newton's method on the cubics.
    ///
    /// For a car, `near_station_m` is where it was one cycle ago; this keeps its place where a lane comes close to itself.
    pub fn project(&self, point: Point, near_station_m: f64) -> Frenet {
        let foot = self.curve.foot(point, self.curve.nearby_chord(point, near_station_m));
        self.frenet(point, foot)
    }

    /// The place of a point relative to this lane, wherever on the lane that is.
    pub fn project_anywhere(&self, point: Point) -> Frenet {
        let foot = self.curve.foot(point, self.curve.nearest_chord(point));
        self.frenet(point, foot)
    }

    /// The point of the world at a place relative to this lane.
    pub fn point(&self, place: Frenet) -> Point {
        self.point_at(place.station_m, place.lateral_m)
    }

    /// The point of the world `lateral_m` left of the middle.
    #[inline]
    pub fn point_at(&self, station_m: f64, lateral_m: f64) -> Point {
        let jet = self.curve.jet(station_m);
        let share = lateral_m / jet.stretch();
        Point::new(jet.position.x - jet.slope.y * share, jet.position.y + jet.slope.x * share)
    }

    /// The pose `lateral_m` left of the middle, turned by `heading_error` against the direction of the lane.
    pub fn pose_at(&self, station_m: f64, lateral_m: f64, heading_error: f64) -> Pose {
        let point = self.point_at(station_m, lateral_m);
        let jet = self.curve.jet(station_m);
        Pose::new(point.x, point.y, maths::wrap_angle(maths::atan2(jet.slope.y, jet.slope.x) + heading_error))
    }

    /// Distance of a point to the middle of the lane between its first and last way-point.
    pub fn distance_m(&self, point: Point) -> f64 {
        let place = self.project_anywhere(point);
        let inside = place.station_m.max(0.0).min(self.length_m());
        if inside == place.station_m { place.lateral_m.abs() } else { self.position(inside).distance_m(point) }
    }

    fn frenet(&self, point: Point, station_m: f64) -> Frenet {
        let jet = self.curve.jet(station_m);
        let (dx, dy) = (point.x - jet.position.x, point.y - jet.position.y);
        let lateral_m = (jet.slope.x * dy - jet.slope.y * dx) / jet.stretch();
        Frenet { station_m, lateral_m, heading: maths::atan2(jet.slope.y, jet.slope.x) }
    }
}

impl Curve {
    /// Squared distance to a chord, and the station of its nearest point. The first and the last chord have no end outwards.
    pub fn chord(&self, i: usize, point: Point) -> (f64, f64) {
        let (a, b) = (self.knot_point(i), self.knot_point(i + 1));
        let h = self.knots[i + 1] - self.knots[i];
        let along = ((point.x - a.x) * (b.x - a.x) + (point.y - a.y) * (b.y - a.y)) / h;
        let lo = if i == 0 { f64::NEG_INFINITY } else { 0.0 };
        let hi = if i + 1 == self.pieces.len() { f64::INFINITY } else { h };
        let t = along.max(lo).min(hi);
        let (x, y) = (a.x + (b.x - a.x) * t / h - point.x, a.y + (b.y - a.y) * t / h - point.y);
        (x * x + y * y, self.knots[i] + t)
    }

    /// Station of the nearest point of the chords that is reached downhill from a station.
    fn nearby_chord(&self, point: Point, near_station_m: f64) -> f64 {
        let mut i = self.piece_at(near_station_m);
        let mut best = self.chord(i, point);
        loop {
            let after = (i + 1 < self.pieces.len()).then(|| self.chord(i + 1, point));
            let before = (i > 0).then(|| self.chord(i - 1, point));
            match (before, after) {
                (_, Some(after)) if after.0 < best.0 => (i, best) = (i + 1, after),
                (Some(before), _) if before.0 < best.0 => (i, best) = (i - 1, before),
                _ => return best.1,
            }
        }
    }

    fn nearest_chord(&self, point: Point) -> f64 {
        let chords = (0..self.pieces.len()).map(|i| self.chord(i, point));
        chords.fold((f64::INFINITY, 0.0), |best, chord| if chord.0 < best.0 { chord } else { best }).1
    }

    /// Station of the nearest point on the cubics, downhill from a start.
    fn foot(&self, point: Point, start_m: f64) -> f64 {
        let mut station = start_m;
        let mut jet = self.jet(station);
        let mut distance2 = squared_distance(&jet, point);
        for _ in 0..STEPS_MAX {
            let mut step = newton_step(&jet, point);
            if step.abs() < STEP_M {
                return station + step;
            }
            // Halved until it leads downhill; a step that never does is the rounding of the minimum itself.
            loop {
                let next = self.jet(station + step);
                let next_distance2 = squared_distance(&next, point);
                if next_distance2 <= distance2 {
                    (station, jet, distance2) = (station + step, next, next_distance2);
                    break;
                }
                step *= 0.5;
                if step.abs() < STEP_M {
                    return station;
                }
            }
        }
        station
    }

    fn knot_point(&self, i: usize) -> Point {
        if i < self.pieces.len() {
            return Point::new(self.pieces[i].x.p[0], self.pieces[i].y.p[0]);
        }
        let (last, h) = (&self.pieces[i - 1], self.knots[i] - self.knots[i - 1]);
        Point::new(last.x.value(h), last.y.value(h))
    }
}

fn squared_distance(jet: &Jet, point: Point) -> f64 {
    let (dx, dy) = (jet.position.x - point.x, jet.position.y - point.y);
    dx * dx + dy * dy
}

/// Newton's step for (r − p)·r′ = 0. Where the point lies so far inside of a curve that the step would lead away from the
/// lane, the bend is left out, which always leads towards it.
fn newton_step(jet: &Jet, point: Point) -> f64 {
    let (dx, dy) = (jet.position.x - point.x, jet.position.y - point.y);
    let value = dx * jet.slope.x + dy * jet.slope.y;
    let straight = jet.slope.x * jet.slope.x + jet.slope.y * jet.slope.y;
    let full = straight + dx * jet.bend.x + dy * jet.bend.y;
    -value / if full < SAFE_SHARE * straight { straight } else { full }
}
