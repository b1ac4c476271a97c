//! Roads without junctions.

use anabranch_geometry::Point;
use anabranch_kernel::maths;

use super::{LANE_WIDTH_M, TOWN_LIMIT_MPS};
use crate::plan::{LanePlan, Map, RoadPlan, Waypoint};

/// Distance of way-points on straight roads.
const SPACING_M: f64 = 50.0;
/// Angle between way-points on arcs, in radians.
const ARC_STEP: f64 = 0.1;

/// A straight road `main` eastwards from the origin, with this many lanes `1`, `2`, … from the right; the middle of lane 1
/// is the x axis.
pub fn straight(length_m: f64, lanes: usize) -> Map {
    let count = (length_m / SPACING_M).ceil().max(1.0) as usize;
    let lane = |i: usize| {
        let y = i as f64 * LANE_WIDTH_M;
        let point = |k: usize| waypoint(Point::new(length_m * k as f64 / count as f64, y));
        LanePlan { name: (i + 1).to_string(), points: (0..=count).map(point).collect(), ..LanePlan::default() }
    };
    let main = RoadPlan { name: "main".into(), lanes: (0..lanes).map(lane).collect() };
    Map { name: "straight".into(), roads: vec![main], ..Map::default() }
}

/// An arc `main` that begins at the origin eastwards and turns left by `angle` radians (right if negative); lane 1 has the
/// radius, the others lie to its left.
pub fn arc(radius_m: f64, angle: f64, lanes: usize) -> Map {
    let count = (angle.abs() / ARC_STEP).ceil().max(1.0) as usize;
    let side = if angle < 0.0 { -1.0 } else { 1.0 };
    let lane = |i: usize| {
        let own_m = radius_m - side * i as f64 * LANE_WIDTH_M;
        let point = |k: usize| {
            let (sin, cos) = maths::sin_cos(angle.abs() * k as f64 / count as f64);
            waypoint(Point::new(own_m * sin, side * (radius_m - own_m * cos)))
        };
        LanePlan {
            name: (i + 1).to_string(),
            points: (0..=count).map(point).collect(),
            first_heading: Some(0.0),
            last_heading: Some(angle),
            ..LanePlan::default()
        }
    };
    let main = RoadPlan { name: "main".into(), lanes: (0..lanes).map(lane).collect() };
    Map { name: "arc".into(), roads: vec![main], ..Map::default() }
}

fn waypoint(position: Point) -> Waypoint {
    Waypoint { position, width_m: LANE_WIDTH_M, limit_mps: TOWN_LIMIT_MPS }
}
