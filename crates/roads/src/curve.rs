//! The middle line of a lane: way-points joined by cubics over the station (S4-3, S4-4).

use anabranch_geometry::Point;
use anabranch_kernel::maths;

use crate::cubic::{Cubic, monotone_slopes, smooth_slopes};
use crate::plan::{Interpolation, LanePlan};

/// Polynomials from one way-point to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub x: Cubic,
    pub y: Cubic,
    pub width: Cubic,
    pub limit: Cubic,
}

/// Position with first and second derivative by the station.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jet {
    pub position: Point,
    pub slope: Point,
    pub bend: Point,
}

/// The curve of one lane with a table that finds the piece of a station without searching.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    /// Station of each way-point; one more than pieces.
    pub knots: Vec<f64>,
    pub pieces: Vec<Piece>,
    /// First piece that reaches into each of equally long buckets.
    buckets: Vec<u32>,
    buckets_per_m: f64,
    length_m: f64,
}

/// Buckets per piece: a lookup then rarely has to go on by more than one piece.
const BUCKETS_PER_PIECE: usize = 2;

impl Curve {
    /// Joins the way-points of a lane, which are at least two and nowhere at the same place.
    pub fn new(plan: &LanePlan) -> Self {
        let points: Vec<Point> = plan.points.iter().map(|point| point.position).collect();
        let knots = stations(&points);
        let (x_slopes, y_slopes) = tangents(&knots, &points, plan.first_heading, plan.last_heading);
        let widths: Vec<f64> = plan.points.iter().map(|point| point.width_m).collect();
        let limits: Vec<f64> = plan.points.iter().map(|point| point.limit_mps).collect();
        let widths = scalars(&knots, &widths, plan.width);
        let limits = scalars(&knots, &limits, plan.limit);
        let piece = |i: usize| {
            let h = knots[i + 1] - knots[i];
            let (a, b) = (points[i], points[i + 1]);
            Piece {
                x: Cubic::hermite(h, [a.x, b.x], [x_slopes[i], x_slopes[i + 1]]),
                y: Cubic::hermite(h, [a.y, b.y], [y_slopes[i], y_slopes[i + 1]]),
                width: widths[i],
                limit: limits[i],
            }
        };
        let pieces: Vec<Piece> = (0..points.len() - 1).map(piece).collect();
        let (buckets, buckets_per_m) = buckets(&knots);
        let length_m = knots[knots.len() - 1];
        Self { knots, pieces, buckets, buckets_per_m, length_m }
    }

    #[inline]
    pub fn length_m(&self) -> f64 {
        self.length_m
    }

    /// Number of the piece of a station; the first or last one for stations outside.
    #[inline]
    pub fn piece_at(&self, station_m: f64) -> usize {
        // A negative or undefined number becomes 0 when it is cast.
        let bucket = ((station_m * self.buckets_per_m) as usize).min(self.buckets.len() - 1);
        let mut piece = self.buckets[bucket] as usize;
        while piece + 1 < self.pieces.len() && self.knots[piece + 1] <= station_m {
            piece += 1;
        }
        piece
    }

    /// Position and derivatives. Outside of its way-points a lane goes on straight.
    #[inline]
    pub fn jet(&self, station_m: f64) -> Jet {
        let inside = station_m.max(0.0).min(self.length_m());
        let i = self.piece_at(inside);
        let (piece, t) = (&self.pieces[i], inside - self.knots[i]);
        let beyond = station_m - inside;
        let slope = Point::new(piece.x.slope(t), piece.y.slope(t));
        let position = Point::new(piece.x.value(t) + beyond * slope.x, piece.y.value(t) + beyond * slope.y);
        let bend = if beyond == 0.0 { Point::new(piece.x.bend(t), piece.y.bend(t)) } else { Point::new(0.0, 0.0) };
        Jet { position, slope, bend }
    }

    /// Width and speed limit; those of the nearest way-point outside.
    #[inline]
    pub fn width_and_limit(&self, station_m: f64) -> (f64, f64) {
        let inside = station_m.max(0.0).min(self.length_m());
        let i = self.piece_at(inside);
        let t = inside - self.knots[i];
        (self.pieces[i].width.value(t), self.pieces[i].limit.value(t))
    }
}

impl Jet {
    /// Signed curvature in 1/m, positive to the left: (x′y″ − y′x″) / (x′² + y′²)^(3/2).
    #[inline]
    pub fn curvature(&self) -> f64 {
        let speed2 = self.slope.x * self.slope.x + self.slope.y * self.slope.y;
        (self.slope.x * self.bend.y - self.slope.y * self.bend.x) / (speed2 * speed2.sqrt())
    }
    /// Metres of path per metre of station: 1 on straight lanes, slightly more in curves, because stations are
    /// counted along chords (S4-3).
    #[inline]
    pub fn stretch(&self) -> f64 {
        maths::hypot(self.slope.x, self.slope.y)
    }
}

/// Ever-increasing station by piecewise-linear distance (S4-3).
pub(crate) fn stations(points: &[Point]) -> Vec<f64> {
    let mut station = 0.0;
    let steps = points.windows(2).map(|pair| {
        station += pair[0].distance_m(pair[1]);
        station
    });
    std::iter::once(0.0).chain(steps).collect()
}

fn tangents(knots: &[f64], points: &[Point], first: Option<f64>, last: Option<f64>) -> (Vec<f64>, Vec<f64>) {
    let n = points.len();
    let first = first.map(|heading| end_slope(heading, points[0], points[1]));
    let last = last.map(|heading| end_slope(heading, points[n - 2], points[n - 1]));
    let xs: Vec<f64> = points.iter().map(|point| point.x).collect();
    let ys: Vec<f64> = points.iter().map(|point| point.y).collect();
    (
        smooth_slopes(knots, &xs, first.map(|p| p.x), last.map(|p| p.x)),
        smooth_slopes(knots, &ys, first.map(|p| p.y), last.map(|p| p.y)),
    )
}

/// Largest angle between an end and its chord for which the end is taken as a piece of a circle.
const CIRCLE_ANGLE_MAX: f64 = 1.0;

/// Derivative by the station at an end with a known heading, as long as that of a circle through both points: there the
/// way along the arc is longer than the chord by angle / sin(angle).
fn end_slope(heading: f64, from: Point, to: Point) -> Point {
    let (sin, cos) = maths::sin_cos(heading);
    let chord = maths::atan2(to.y - from.y, to.x - from.x);
    let angle = maths::wrap_angle(heading - chord).abs().min(CIRCLE_ANGLE_MAX);
    let stretch = if angle < 1e-6 { 1.0 } else { angle / maths::sin(angle) };
    Point::new(cos * stretch, sin * stretch)
}

fn scalars(knots: &[f64], values: &[f64], interpolation: Interpolation) -> Vec<Cubic> {
    match interpolation {
        Interpolation::Step => values.iter().map(|value| Cubic::constant(*value)).collect(),
        Interpolation::Cubic => {
            let slopes = monotone_slopes(knots, values);
            let cubic = |i: usize| {
                let h = knots[i + 1] - knots[i];
                Cubic::hermite(h, [values[i], values[i + 1]], [slopes[i], slopes[i + 1]])
            };
            (0..values.len() - 1).map(cubic).collect()
        }
    }
}

fn buckets(knots: &[f64]) -> (Vec<u32>, f64) {
    let pieces = knots.len() - 1;
    let count = BUCKETS_PER_PIECE * pieces;
    let length_m = knots[pieces];
    let first_piece = |bucket: usize| {
        let begin = length_m * bucket as f64 / count as f64;
        // One earlier than the knot says, because bucket borders and the lookup round differently.
        (knots.partition_point(|knot| *knot < begin).saturating_sub(1)).min(pieces - 1) as u32
    };
    ((0..count).map(first_piece).collect(), count as f64 / length_m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Waypoint;

    fn arc(radius_m: f64, points: usize, step: f64) -> LanePlan {
        let waypoint = |i: usize| {
            let (sin, cos) = maths::sin_cos(step * i as f64);
            Waypoint { position: Point::new(radius_m * sin, radius_m * (1.0 - cos)), width_m: 3.5, limit_mps: 10.0 }
        };
        LanePlan {
            points: (0..points).map(waypoint).collect(),
            first_heading: Some(0.0),
            last_heading: Some(step * (points - 1) as f64),
            ..LanePlan::default()
        }
    }

    #[test]
    fn the_station_is_the_sum_of_chords() {
        let points = [Point::new(0.0, 0.0), Point::new(3.0, 4.0), Point::new(3.0, 10.0)];
        assert_eq!(stations(&points), [0.0, 5.0, 11.0]);
    }

    #[test]
    fn an_arc_has_the_heading_and_curvature_of_its_circle() {
        let curve = Curve::new(&arc(20.0, 12, 0.1));
        for k in 0..=200 {
            let station = curve.length_m() * f64::from(k) / 200.0;
            let jet = curve.jet(station);
            // The chord of 0.1 rad on 20 m is 40·sin(0.05) m for 2 m of arc.
            let angle = station / (40.0 * maths::sin(0.05)) * 0.1;
            assert!((maths::atan2(jet.slope.y, jet.slope.x) - angle).abs() < 1e-5, "heading at {station}");
            assert!((jet.curvature() - 0.05).abs() < 1e-4, "curvature {} at {station}", jet.curvature());
            assert!((jet.position.distance_m(Point::new(0.0, 20.0)) - 20.0).abs() < 1e-5);
            assert!((jet.stretch() - 0.05 / maths::sin(0.05)).abs() < 1e-4, "{}", jet.stretch());
        }
    }

    #[test]
    fn every_station_is_found_in_its_piece() {
        let mut plan = arc(20.0, 12, 0.1);
        plan.points.remove(3);
        plan.points.remove(3);
        plan.points.remove(6);
        let curve = Curve::new(&plan);
        for k in -10..=1010 {
            let station = curve.length_m() * f64::from(k) / 1000.0;
            let expect = curve.knots[1..curve.pieces.len()].iter().filter(|knot| **knot <= station).count();
            assert_eq!(curve.piece_at(station), expect, "{station}");
        }
        for (i, knot) in curve.knots.iter().enumerate() {
            assert_eq!(curve.piece_at(*knot), i.min(curve.pieces.len() - 1));
        }
    }

    #[test]
    fn outside_of_its_way_points_a_lane_goes_on_straight() {
        let curve = Curve::new(&arc(20.0, 12, 0.1));
        let before = curve.jet(-2.0);
        assert!((before.position.x + 2.0 * before.stretch()).abs() < 1e-12 && before.position.y.abs() < 1e-12);
        assert_eq!(before.curvature(), 0.0);
    }
}
