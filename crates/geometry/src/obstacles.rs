//! Obstacles and walls as one set of edges, and the few of them that matter near a place.

use crate::clearance::{Nearest, WallEdge, nearest, nearest_with_points};
use crate::outline::{Body, Edge};
use crate::pose::{Point, Pose};

/// Larger than any rounding in the distances that culling compares.
const CULL_MARGIN_M: f64 = 1e-6;

/// Everything that stands still and must not be touched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgeSet {
    edges: Vec<WallEdge>,
    polygons: Vec<(u32, Vec<Point>)>,
}

impl EdgeSet {
    /// Adds a closed polygon: its corners in order, the last joined to the first. Its inside is forbidden too.
    pub fn add_polygon(&mut self, obstacle: u32, corners: &[Point]) {
        self.add_wall(obstacle, corners);
        if let (Some(&first), Some(&last), true) = (corners.first(), corners.last(), corners.len() > 2) {
            self.edges.push(Edge { a: last, b: first, obstacle }.into());
            self.polygons.push((obstacle, corners.to_vec()));
        }
    }
    /// Adds a wall: a line through the points. A single point is a thin post.
    pub fn add_wall(&mut self, obstacle: u32, points: &[Point]) {
        if let &[post] = points {
            self.edges.push(Edge { a: post, b: post, obstacle }.into());
        }
        self.edges.extend(points.windows(2).map(|ends| WallEdge::from(Edge { a: ends[0], b: ends[1], obstacle })));
    }
    /// All edges.
    pub fn edges(&self) -> &[WallEdge] {
        &self.edges
    }
    /// The nearest edge to a car; `None` if there is no edge at all.
    pub fn nearest(&self, body: &Body, pose: Pose) -> Option<Nearest> {
        nearest_with_points(body, pose, &self.edges)
    }

    /// Fills `out` with every edge that can be the nearest one, or be touched, for a car whose rear axle stays within
    /// `reach_m` of `center`, whatever its heading. The minimum over `out` has the same bits as over all edges.
    ///
    /// For a rear axle p the core's distance from an edge lies within dist(p, edge) − core radius and
    /// dist(p, edge) + distance of the axle from the core; dist(p, edge) itself differs by at most `reach_m`.
    pub fn cull(&self, body: &Body, center: Point, reach_m: f64, out: &mut Vec<WallEdge>) {
        let least_m = self.edges.iter().map(|edge| edge.distance_m(center)).fold(f64::INFINITY, f64::min);
        let limit_m = least_m + 2.0 * reach_m + body.axle_to_core_m() + body.core_radius_m + CULL_MARGIN_M;
        out.clear();
        out.extend(self.edges.iter().filter(|edge| edge.distance_m(center) <= limit_m));
    }

    /// Like [`Self::cull`], for a car that starts at a pose and of which no point moves farther than `moved_m` from
    /// where it was: much tighter, because the heading is known. The caller must watch that bound.
    pub fn cull_near(&self, body: &Body, pose: Pose, moved_m: f64, out: &mut Vec<WallEdge>) {
        let (sin, cos) = anabranch_kernel::maths::sin_cos(pose.heading);
        // The distance of the core from an edge changes by no more than its points move.
        let limit_m = nearest(body, pose.x, pose.y, cos, sin, &self.edges) + 2.0 * moved_m + CULL_MARGIN_M;
        let near = |edge: &&WallEdge| nearest(body, pose.x, pose.y, cos, sin, std::slice::from_ref(*edge)) <= limit_m;
        out.clear();
        out.extend(self.edges.iter().filter(near));
    }

    /// The polygon a point lies in, if any (even-odd rule; the edge itself may count either way).
    pub fn polygon_at(&self, point: Point) -> Option<u32> {
        self.polygons.iter().find(|(_, corners)| contains(corners, point)).map(|(obstacle, _)| *obstacle)
    }
    /// The obstacle that a car at this pose overlaps, also when it stands completely inside a polygon. For checks when
    /// a scenario is loaded: from a free pose, [`crate::first_contact`] finds every way into an obstacle.
    pub fn overlapped(&self, body: &Body, pose: Pose) -> Option<u32> {
        let touched = self.nearest(body, pose).filter(|n| n.clearance_m <= 0.0).map(|n| n.obstacle);
        touched.or_else(|| self.polygon_at(pose.world_from_local(Point::new(body.core_ahead_m, 0.0))))
    }
}

/// Whether a polygon contains a point: an upward ray crosses its edges an odd number of times.
fn contains(corners: &[Point], point: Point) -> bool {
    let mut inside = false;
    let mut from = corners[corners.len() - 1];
    for &to in corners {
        if (from.x > point.x) != (to.x > point.x) {
            let crossing_y = from.y + (point.x - from.x) / (to.x - from.x) * (to.y - from.y);
            inside ^= point.y < crossing_y;
        }
        from = to;
    }
    inside
}
