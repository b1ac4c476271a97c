//! Distance between a rounded outline and straight edges, exact and without branches.
//!
//! The outline is everything within a radius of its core, an upright box in the car's frame, so the clearance is the
//! distance of the edge from the core less the radius. Along the edge's line the distance from a box is a convex
//! function. Its minimum over the edge is therefore either inside the edge, where it equals the distance of the whole
//! line (the gap on the separating axis across the edge), or at one of the two ends. That needs no search over corners,
//! no division, and one square root for any number of edges.

use anabranch_kernel::maths::{self, Real};

use crate::outline::{Body, Edge};
use crate::pose::{Point, Pose};

/// An edge prepared for distance queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallEdge {
    /// Middle of the edge.
    pub middle: Point,
    /// Unit vector along the edge; (1, 0) for an edge of no length.
    pub along: Point,
    /// Half the length.
    pub half_m: f64,
    /// Number of the obstacle it belongs to.
    pub obstacle: u32,
}

impl From<Edge> for WallEdge {
    fn from(edge: Edge) -> Self {
        let length_m = edge.a.distance_m(edge.b);
        let along = if length_m > 0.0 {
            Point::new((edge.b.x - edge.a.x) / length_m, (edge.b.y - edge.a.y) / length_m)
        } else {
            Point::new(1.0, 0.0)
        };
        let middle = Point::new(0.5 * (edge.a.x + edge.b.x), 0.5 * (edge.a.y + edge.b.y));
        Self { middle, along, half_m: 0.5 * length_m, obstacle: edge.obstacle }
    }
}

impl WallEdge {
    /// Distance of a point from the edge.
    pub fn distance_m(&self, point: Point) -> f64 {
        let (dx, dy) = (point.x - self.middle.x, point.y - self.middle.y);
        let along_m = dx * self.along.x + dy * self.along.y;
        let beyond_m = (along_m.abs() - self.half_m).max(0.0);
        let across_m = dx * self.along.y - dy * self.along.x;
        maths::hypot(beyond_m, across_m)
    }
}

/// The edge in the frame of the core: x forwards, origin at the core's centre.
#[derive(Clone, Copy)]
struct LocalEdge<R> {
    middle_x: R,
    middle_y: R,
    along_x: R,
    along_y: R,
    half_m: R,
}

#[inline(always)]
fn in_core_frame<R: Real>(body: &Body, [x, y, cos, sin]: [R; 4], edge: &WallEdge) -> LocalEdge<R> {
    let (dx, dy) = (R::splat(edge.middle.x) - x, R::splat(edge.middle.y) - y);
    let (ux, uy) = (R::splat(edge.along.x), R::splat(edge.along.y));
    LocalEdge {
        middle_x: (cos * dx + sin * dy) - R::splat(body.core_ahead_m),
        middle_y: cos * dy - sin * dx,
        along_x: cos * ux + sin * uy,
        along_y: cos * uy - sin * ux,
        half_m: R::splat(edge.half_m),
    }
}

/// Where the core's corner nearest to the edge's line projects to, in metres from the middle of the edge.
#[inline(always)]
fn corner_along<R: Real>(body: &Body, edge: &LocalEdge<R>, across: R) -> R {
    let (hx, hy) = (R::splat(body.core_half_length_m), R::splat(body.core_half_width_m));
    let corner = hy * edge.along_y * edge.along_x.sign() - hx * edge.along_x * edge.along_y.sign();
    across.sign() * corner - (edge.middle_x * edge.along_x + edge.middle_y * edge.along_y)
}

/// Square of the distance of a point from a box about the origin.
#[inline(always)]
fn outside_squared<R: Real>(x: R, y: R, half_x: R, half_y: R) -> R {
    let dx = (x.abs() - half_x).max(R::splat(0.0));
    let dy = (y.abs() - half_y).max(R::splat(0.0));
    dx * dx + dy * dy
}

/// Distance of the core from the inside of the edge (infinite where the nearest point is an end), and the square of its
/// distance from the nearer end.
#[inline(always)]
fn measure<R: Real>(body: &Body, edge: &LocalEdge<R>) -> (R, R) {
    let zero = R::splat(0.0);
    let (hx, hy) = (R::splat(body.core_half_length_m), R::splat(body.core_half_width_m));
    let (ex, ey) = (edge.half_m * edge.along_x, edge.half_m * edge.along_y);
    let a = outside_squared(edge.middle_x - ex, edge.middle_y - ey, hx, hy);
    let b = outside_squared(edge.middle_x + ex, edge.middle_y + ey, hx, hy);
    let ends = a.min(b);

    let across = edge.along_x * edge.middle_y - edge.along_y * edge.middle_x;
    let gap = across.abs() - (edge.along_y.abs() * hx + edge.along_x.abs() * hy);
    let beside = corner_along(body, edge, across).abs().le(edge.half_m);
    let boxes_meet = edge.middle_x.abs().le(hx + ex.abs()) & edge.middle_y.abs().le(hy + ey.abs());
    let apart = zero.lt(gap);
    let inside = (apart & beside) | (!apart & boxes_meet);
    (R::select(inside, gap.max(zero), R::splat(f64::INFINITY)), ends)
}

/// Free distance between the outline and one edge, for a rear axle at (`x`, `y`) and a heading given by its cosine and
/// sine. Zero or less is contact; where the core itself meets the edge it is minus the corner radius.
#[inline(always)]
pub fn clearance<R: Real>(body: &Body, x: R, y: R, cos: R, sin: R, edge: &WallEdge) -> R {
    nearest(body, x, y, cos, sin, std::slice::from_ref(edge))
}

/// Free distance between the outline and the nearest of the edges; infinite if there is none.
///
/// The result does not depend on the order of the edges, nor on edges that are farther away.
#[inline(always)]
pub fn nearest<R: Real>(body: &Body, x: R, y: R, cos: R, sin: R, edges: &[WallEdge]) -> R {
    let mut beside = R::splat(f64::INFINITY);
    let mut ends = R::splat(f64::INFINITY);
    for edge in edges {
        let (gap, end) = measure(body, &in_core_frame(body, [x, y, cos, sin], edge));
        beside = gap.min(beside);
        ends = end.min(ends);
    }
    // Roots are rounded exactly and therefore keep the order: one root is enough.
    beside.min(ends.sqrt()) - R::splat(body.radius_m)
}

/// The nearest edge with the points where it is nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Free distance; zero or less is contact.
    pub clearance_m: f64,
    /// Index of the edge in the slice.
    pub edge: usize,
    /// Its obstacle.
    pub obstacle: u32,
    /// Nearest point of the outline, in the car's frame (x forwards, origin at the rear axle).
    pub on_ego: Point,
    /// Nearest point of the obstacle, in the world.
    pub in_world: Point,
}

/// The nearest edge (the first of equally near ones), with points; `None` without edges.
pub fn nearest_with_points(body: &Body, pose: Pose, edges: &[WallEdge]) -> Option<Nearest> {
    let mut best: Option<(f64, usize)> = None;
    let (sin, cos) = maths::sin_cos(pose.heading);
    for (index, edge) in edges.iter().enumerate() {
        let clearance_m = clearance(body, pose.x, pose.y, cos, sin, edge);
        if best.is_none_or(|(least_m, _)| clearance_m < least_m) {
            best = Some((clearance_m, index));
        }
    }
    best.map(|(clearance_m, index)| {
        let touch = closest(body, pose, &edges[index]);
        Nearest {
            clearance_m,
            edge: index,
            obstacle: edges[index].obstacle,
            on_ego: touch.on_ego(body),
            in_world: pose.world_from_local(touch.wall),
        }
    })
}

/// The nearest points of core and edge, both in the car's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closest {
    pub(crate) core_distance_m: f64,
    pub(crate) core: Point,
    pub(crate) wall: Point,
}

impl Closest {
    /// Unit vector from the car to the edge; none where they overlap.
    pub(crate) fn towards_wall(&self) -> Option<Point> {
        let d = self.core_distance_m;
        (d > 0.0).then(|| Point::new((self.wall.x - self.core.x) / d, (self.wall.y - self.core.y) / d))
    }
    pub(crate) fn on_ego(&self, body: &Body) -> Point {
        let towards = self.towards_wall().unwrap_or_default();
        Point::new(self.core.x + body.radius_m * towards.x, self.core.y + body.radius_m * towards.y)
    }
}

/// The nearest points of core and edge at a pose.
pub(crate) fn closest(body: &Body, pose: Pose, edge: &WallEdge) -> Closest {
    let (sin, cos) = maths::sin_cos(pose.heading);
    let local = in_core_frame(body, [pose.x, pose.y, cos, sin], edge);
    let (gap_m, ends) = measure(body, &local);
    let wall = if gap_m <= 0.0 {
        middle_of_overlap(body, &local)
    } else if gap_m * gap_m <= ends {
        let across = local.along_x * local.middle_y - local.along_y * local.middle_x;
        local.point(corner_along(body, &local, across))
    } else {
        let (a, b) = (local.point(-local.half_m), local.point(local.half_m));
        if core_distance_m(body, a) <= core_distance_m(body, b) { a } else { b }
    };
    let core = clamp_to_core(body, wall);
    let ahead = |p: Point| Point::new(p.x + body.core_ahead_m, p.y);
    Closest { core_distance_m: core.distance_m(wall), core: ahead(core), wall: ahead(wall) }
}

impl LocalEdge<f64> {
    fn point(&self, along_m: f64) -> Point {
        Point::new(self.middle_x + along_m * self.along_x, self.middle_y + along_m * self.along_y)
    }
}

fn clamp_to_core(body: &Body, p: Point) -> Point {
    let (hx, hy) = (body.core_half_length_m, body.core_half_width_m);
    Point::new(Real::clamp(p.x, -hx, hx), Real::clamp(p.y, -hy, hy))
}

fn core_distance_m(body: &Body, p: Point) -> f64 {
    p.distance_m(clamp_to_core(body, p))
}

/// Middle of the part of the edge that lies inside the core.
fn middle_of_overlap(body: &Body, edge: &LocalEdge<f64>) -> Point {
    let (mut low_m, mut high_m) = (-edge.half_m, edge.half_m);
    let slabs =
        [(edge.middle_x, edge.along_x, body.core_half_length_m), (edge.middle_y, edge.along_y, body.core_half_width_m)];
    for (middle, along, half) in slabs {
        if along != 0.0 {
            let (s, t) = ((-half - middle) / along, (half - middle) / along);
            low_m = low_m.max(s.min(t));
            high_m = high_m.min(s.max(t));
        }
    }
    clamp_to_core(body, edge.point(0.5 * (low_m + high_m)))
}
