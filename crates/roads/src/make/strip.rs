//! Parallel lanes along a line.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;

use super::{LANE_WIDTH_M, TOWN_LIMIT_MPS};
use crate::plan::{LanePlan, RoadPlan, Waypoint};

/// How many lanes lie along a line, and how they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strip {
    /// Lanes along the line, on its right if there are others, else around it.
    pub forward: usize,
    /// Lanes against it, on its left.
    pub backward: usize,
    /// Width of each lane.
    pub width_m: f64,
    /// Speed limit.
    pub limit_mps: f64,
}

impl Strip {
    /// One lane each way with the usual width, in town.
    pub const TWO_WAY: Self = Self { forward: 1, backward: 1, width_m: LANE_WIDTH_M, limit_mps: TOWN_LIMIT_MPS };

    /// How far left of the line the middle of a lane lies; lanes are counted from their own right, from 1.
    pub(super) fn lateral_m(&self, lane: usize, way: Way) -> f64 {
        let middle = if self.backward == 0 { 0.5 * self.forward as f64 } else { 0.0 };
        match way {
            Way::Forward => (middle - (self.forward - lane) as f64 - 0.5) * self.width_m,
            Way::Backward => ((self.backward - lane) as f64 + 0.5) * self.width_m,
        }
    }
}

/// Along a line or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    Backward,
}

/// A road of parallel lanes along a line of poses.
pub fn strip(name: &str, line: &[Pose], lanes: Strip) -> RoadPlan {
    let forward = (1..=lanes.forward).map(|lane| lane_along(lane, line, lanes, Way::Forward));
    let backward = (1..=lanes.backward).map(|lane| lane_along(lane, line, lanes, Way::Backward));
    RoadPlan { name: name.to_owned(), lanes: forward.chain(backward).collect() }
}

fn lane_along(lane: usize, line: &[Pose], lanes: Strip, way: Way) -> LanePlan {
    let lateral_m = lanes.lateral_m(lane, way);
    let waypoint = |pose: &Pose| Waypoint {
        position: pose.world_from_local(Point::new(0.0, lateral_m)),
        width_m: lanes.width_m,
        limit_mps: lanes.limit_mps,
    };
    let (first, last) = (line[0].heading, line[line.len() - 1].heading);
    let back = |heading: f64| maths::wrap_angle(heading + std::f64::consts::PI);
    let (name, points, headings) = match way {
        Way::Forward => (lane.to_string(), line.iter().map(waypoint).collect(), [first, last]),
        Way::Backward => (format!("-{lane}"), line.iter().rev().map(waypoint).collect(), [back(last), back(first)]),
    };
    LanePlan { name, points, first_heading: Some(headings[0]), last_heading: Some(headings[1]), ..LanePlan::default() }
}

/// Distance of way-points on straight lines.
const SPACING_M: f64 = 50.0;

/// A straight line from a pose.
pub(super) fn straight_line(from: Pose, length_m: f64) -> Vec<Pose> {
    let count = (length_m / SPACING_M).ceil().max(1.0) as usize;
    let at = |k: usize| from.world_from_local(Point::new(length_m * k as f64 / count as f64, 0.0));
    (0..=count).map(at).map(|point| Pose::new(point.x, point.y, from.heading)).collect()
}

/// Angle between way-points on arcs, in radians: the cubics between them are within 0.1 mm of a circle of 50 m.
const ARC_STEP: f64 = 0.1;

/// An arc from a pose, with this radius, to the left by a positive angle and to the right by a negative one.
pub(super) fn arc_line(from: Pose, radius_m: f64, angle: f64) -> Vec<Pose> {
    let count = (angle.abs() / ARC_STEP).ceil().max(1.0) as usize;
    let side = if angle < 0.0 { -1.0 } else { 1.0 };
    let at = |k: usize| {
        let turned = angle.abs() * k as f64 / count as f64;
        let (sin, cos) = maths::sin_cos(turned);
        let point = from.world_from_local(Point::new(radius_m * sin, side * radius_m * (1.0 - cos)));
        Pose::new(point.x, point.y, maths::wrap_angle(from.heading + side * turned))
    };
    (0..=count).map(at).collect()
}
