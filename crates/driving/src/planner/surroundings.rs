//! How far the car's outline is from the obstacles, at a pose and along an arc.

use anabranch_geometry::{Arc, Edge, Outline, Point, Pose, along_arc};
use anabranch_kernel::maths::{hypot, sin_cos};

use super::tiles::Tiles;

/// Distances count as kept when they are short by no more than this: rounding along a path of hundreds of arcs.
pub(super) const KEPT_WITHIN_M: f64 = 1e-6;
/// Arcs are looked at in pieces of at most this length.
const PIECE_MAX_M: f64 = 0.5;
/// Half length at which a piece of a curve counts as too close although no sample is: the search for a gap must end.
const HALF_MIN_M: f64 = 0.004;
/// Smallest band above the safety distance in which clearance is known exactly.
const BAND_MIN_M: f64 = 0.5;
/// Longest arc that is looked at: a way twice as long as the goal is far away, piece by piece.
const ARC_MAX_M: f64 = 2.0 * super::REACH_MAX_M;
/// Most tiles that are looked at to list the edges nearby; each may hold a number of four bytes.
pub(super) const EFFORT_MAX: f64 = 5e7;
/// Side of the tiles that list the edges nearby.
const TILE_M: f64 = 1.0;

/// Clearance between an outline and edges.
pub(super) struct Surroundings<'a> {
    edges: &'a [Edge],
    near: Tiles<Vec<u32>>,
    /// The outline shrunk by its corner radius, in the car's frame.
    core: Core,
    corner_radius_m: f64,
    outline: Outline,
    safety_m: f64,
    cap_m: f64,
    band_m: f64,
}

/// A box in the car's frame, symmetric about its axis.
#[derive(Clone, Copy)]
struct Core {
    back: f64,
    front: f64,
    half_width: f64,
}

/// What the planner knows of the world's extent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) low: Point,
    pub(super) high: Point,
}

impl Bounds {
    /// The smallest bounds of some points; `None` without points.
    pub(super) fn of(points: impl Iterator<Item = Point>) -> Option<Self> {
        points.fold(None, |bounds, p| {
            let Self { low, high } = bounds.unwrap_or(Self { low: p, high: p });
            let low = Point::new(low.x.min(p.x), low.y.min(p.y));
            Some(Self { low, high: Point::new(high.x.max(p.x), high.y.max(p.y)) })
        })
    }
    /// Grown by a margin on every side.
    pub(super) fn grown(self, margin_m: f64) -> Self {
        let Self { low, high } = self;
        let low = Point::new(low.x - margin_m, low.y - margin_m);
        Self { low, high: Point::new(high.x + margin_m, high.y + margin_m) }
    }
}

impl<'a> Surroundings<'a> {
    /// `None` if listing the edges nearby takes too much time and memory.
    pub(super) fn new(outline: Outline, edges: &'a [Edge], safety_m: f64, band_m: f64) -> Option<Self> {
        let corner_radius_m = outline.corner_radius_m;
        let core = Core {
            back: corner_radius_m - outline.rear_m,
            front: outline.front_m - corner_radius_m,
            half_width: outline.half_width_m - corner_radius_m,
        };
        let cap_m = safety_m + band_m.max(BAND_MIN_M);
        let half_length_m = 0.5 * (outline.front_m + outline.rear_m);
        let reach_m = hypot(half_length_m + 0.5 * PIECE_MAX_M, outline.half_width_m) + cap_m;
        let ends = edges.iter().flat_map(|edge| [edge.a, edge.b]);
        let bounds = Bounds::of(ends).unwrap_or(Bounds { low: Point::default(), high: Point::default() });
        let mut near = Tiles::new(bounds.grown(reach_m), TILE_M, Vec::new());
        if near.effort(edges, reach_m) > EFFORT_MAX {
            return None;
        }
        for (index, edge) in (0_u32..).zip(edges) {
            near.for_each_within(edge, reach_m, |list: &mut Vec<u32>, _| list.push(index));
        }
        Some(Self { edges, near, core, corner_radius_m, outline, safety_m, cap_m, band_m })
    }

    /// Middle of the outline at a pose.
    pub(super) fn middle(&self, pose: Pose) -> Point {
        pose.world_from_local(Point::new(0.5 * (self.outline.front_m - self.outline.rear_m), 0.0))
    }

    /// Distance of the outline to the nearest edge, or the cap if that is less.
    pub(super) fn clearance_m(&self, pose: Pose) -> f64 {
        self.clearance_stretched_m(pose, 0.0)
    }

    /// The same for an outline made longer at both ends.
    fn clearance_stretched_m(&self, pose: Pose, stretch_m: f64) -> f64 {
        let (sin, cos) = sin_cos(pose.heading);
        let middle_m = 0.5 * (self.outline.front_m - self.outline.rear_m);
        let middle = Point::new(pose.x + cos * middle_m, pose.y + sin * middle_m);
        let Some(list) = self.near.at(middle) else { return self.cap_m };
        let core = Core { back: self.core.back - stretch_m, front: self.core.front + stretch_m, ..self.core };
        let local = |p: Point| {
            let (dx, dy) = (p.x - pose.x, p.y - pose.y);
            Point::new(cos * dx + sin * dy, cos * dy - sin * dx)
        };
        let mut least_m = self.cap_m + self.corner_radius_m;
        for &index in list {
            let edge = &self.edges[index as usize];
            least_m = core.distance_below(local(edge.a), local(edge.b), least_m);
        }
        least_m - self.corner_radius_m
    }

    /// Whether a clearance keeps the safety distance.
    pub(super) fn keeps(&self, clearance_m: f64) -> bool {
        clearance_m >= self.safety_m - KEPT_WITHIN_M
    }

    /// Drives an arc: `None` if some point of it is closer than the safety distance or the arc is too long to tell, else the metres driven close to
    /// obstacles, weighted by how close.
    pub(super) fn closeness_m(&self, from: Pose, arc: Arc) -> Option<f64> {
        if arc.length_m.abs() > ARC_MAX_M {
            return None;
        }
        let pieces = (arc.length_m.abs() / PIECE_MAX_M).ceil().max(1.0);
        let half_m = 0.5 * arc.length_m / pieces;
        let mut sum_m = 0.0;
        for piece in 0..(pieces as usize) {
            let middle = along_arc(from, arc.curvature_per_m, half_m * (2 * piece + 1) as f64);
            let clearance_m = if arc.curvature_per_m == 0.0 {
                // A straight drive sweeps exactly the stretched outline.
                Some(self.clearance_stretched_m(middle, half_m.abs())).filter(|&c| self.keeps(c))
            } else {
                self.around(middle, arc.curvature_per_m, half_m.abs())
            };
            let spare_m = clearance_m? - self.safety_m;
            sum_m += 2.0 * half_m.abs() * (1.0 - spare_m / self.band_m).clamp(0.0, 1.0);
        }
        Some(sum_m)
    }

    /// Clearance at the middle of a piece of a curve, if all of the piece keeps the safety distance.
    ///
    /// Between the middle and an end no point of the outline moves further than `half_m` times its speed per metre.
    fn around(&self, middle: Pose, curvature_per_m: f64, half_m: f64) -> Option<f64> {
        let clearance_m = Some(self.clearance_m(middle)).filter(|&c| self.keeps(c))?;
        let turn = curvature_per_m.abs();
        let far_m = self.outline.front_m.max(self.outline.rear_m);
        let speed = hypot(1.0 + turn * self.outline.half_width_m, turn * far_m);
        if !self.keeps(clearance_m - half_m * speed) {
            if half_m < HALF_MIN_M {
                return None;
            }
            for side in [-0.5, 0.5] {
                self.around(along_arc(middle, curvature_per_m, side * half_m), curvature_per_m, 0.5 * half_m)?;
            }
        }
        Some(clearance_m)
    }

    /// Distance from a point to the nearest edge listed around it; infinite if none is.
    pub(super) fn point_distance_m(&self, p: Point) -> f64 {
        let list = self.near.at(p).map_or(&[][..], Vec::as_slice);
        list.iter().fold(f64::INFINITY, |least, &index| least.min(point_to_edge_m(p, &self.edges[index as usize])))
    }
}

impl Core {
    /// Distance to a segment in the same frame if that is below a limit, else the limit.
    fn distance_below(self, a: Point, b: Point, limit: f64) -> f64 {
        let apart = a.x.min(b.x) - self.front > limit
            || self.back - a.x.max(b.x) > limit
            || a.y.min(b.y) - self.half_width > limit
            || -self.half_width - a.y.max(b.y) > limit;
        if apart {
            return limit;
        }
        if self.meets(a, b) {
            return 0.0;
        }
        // Two convex shapes apart are closest at a corner of one of them.
        let mut least = limit.min(self.to_point(a)).min(self.to_point(b));
        for x in [self.back, self.front] {
            for y in [-self.half_width, self.half_width] {
                least = least.min(point_to_segment_m(Point::new(x, y), a, b));
            }
        }
        least
    }

    fn to_point(self, p: Point) -> f64 {
        hypot((p.x - self.front).max(self.back - p.x).max(0.0), (p.y.abs() - self.half_width).max(0.0))
    }

    /// Whether a segment has a point in the box (clipped side by side, after Liang and Barsky).
    fn meets(self, a: Point, b: Point) -> bool {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let sides = [(a.x, b.x - a.x, self.back, self.front), (a.y, b.y - a.y, -self.half_width, self.half_width)];
        for (from, delta, low, high) in sides {
            if delta == 0.0 {
                if from < low || from > high {
                    return false;
                }
                continue;
            }
            let (first, second) = ((low - from) / delta, (high - from) / delta);
            enter = enter.max(first.min(second));
            leave = leave.min(first.max(second));
        }
        enter <= leave
    }
}

fn point_to_segment_m(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 { (((p.x - a.x) * dx + (p.y - a.y) * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
    hypot(p.x - a.x - along * dx, p.y - a.y - along * dy)
}

/// Distance from a point to an edge.
pub(super) fn point_to_edge_m(p: Point, edge: &Edge) -> f64 {
    point_to_segment_m(p, edge.a, edge.b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTLINE: Outline = Outline { front_m: 3.0, rear_m: 1.0, half_width_m: 0.9, corner_radius_m: 0.3 };

    fn edge(a: (f64, f64), b: (f64, f64)) -> Edge {
        Edge { a: Point::new(a.0, a.1), b: Point::new(b.0, b.1), obstacle: 0 }
    }

    fn check(a: (f64, f64), b: (f64, f64), expect_m: f64) {
        for turn in [0.0, 1.0, 2.5] {
            let pose = Pose::new(5.0, -2.0, turn);
            let world = |p: (f64, f64)| {
                let p = pose.world_from_local(Point::new(p.0, p.1));
                (p.x, p.y)
            };
            let edges = [edge(world(a), world(b))];
            let found_m = Surroundings::new(OUTLINE, &edges, 0.2, 1.5).unwrap().clearance_m(pose);
            assert!((found_m - expect_m).abs() < 1e-9, "{a:?} {b:?}: {found_m}");
        }
    }

    #[test]
    fn clearance_is_measured_to_the_rounded_outline() {
        check((3.5, -5.0), (3.5, 5.0), 0.5);
        check((-2.0, 0.0), (-2.0, 0.0), 1.0);
        check((-9.0, 1.4), (9.0, 1.4), 0.5);
        // Towards a corner the radius takes away less than the box would.
        check((3.1, 1.0), (9.0, 9.0), 0.4 * 2.0_f64.sqrt() - 0.3);
        // Beyond the cap, and inside.
        check((9.0, 0.0), (9.0, 1.0), 1.7);
        check((1.0, 0.0), (1.1, 0.1), -0.3);
    }

    #[test]
    fn driving_past_a_post_between_two_samples_is_noticed() {
        let post = [edge((10.0, 1.0), (10.0, 1.0))];
        let surroundings = Surroundings::new(OUTLINE, &post, 0.2, 0.5).unwrap();
        let drive =
            |curvature_per_m| surroundings.closeness_m(Pose::default(), Arc { curvature_per_m, length_m: 20.0 });
        assert_eq!(drive(0.0), None);
        assert_eq!(drive(1e-6), None);
        assert!(drive(-0.02).is_some());
    }
}
