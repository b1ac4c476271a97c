//! Roads without junctions.

use anabranch_geometry::Pose;

use super::strip::{Strip, arc_line, straight_line, strip};
use super::{LANE_WIDTH_M, TOWN_LIMIT_MPS};
use crate::plan::{LaneName, LinkPlan, Map, RoadPlan};

fn one_way(lanes: usize) -> Strip {
    Strip { forward: lanes, backward: 0, width_m: LANE_WIDTH_M, limit_mps: TOWN_LIMIT_MPS }
}

/// Where the line of a one-way road lies so that the middle of its lane 1 goes through the origin, eastwards.
fn beside_lane_1(lanes: usize) -> Pose {
    Pose::new(0.0, -one_way(lanes).lateral_m(1, super::strip::Way::Forward), 0.0)
}

fn of_one_road(name: &str, road: RoadPlan) -> Map {
    Map { name: name.to_owned(), roads: vec![road], ..Map::default() }
}

/// A straight road `main` eastwards from the origin, with this many lanes from the right; the middle of lane 1 is the x
/// axis.
pub fn straight(length_m: f64, lanes: usize) -> Map {
    of_one_road("straight", strip("main", &straight_line(beside_lane_1(lanes), length_m), one_way(lanes)))
}

/// An arc `main` that begins at the origin eastwards and turns left by `angle` radians (right if negative). Lane 1 has the
/// radius; the others lie to its left.
pub fn arc(radius_m: f64, angle: f64, lanes: usize) -> Map {
    let from = beside_lane_1(lanes);
    let side = if angle < 0.0 { -1.0 } else { 1.0 };
    of_one_road("arc", strip("main", &arc_line(from, radius_m - side * from.y, angle), one_way(lanes)))
}

/// A ring road of two halves `north` and `south`, driven counter-clockwise around the origin, for traffic without end. The
/// radius is that of the line in its middle.
pub fn ring(radius_m: f64, lanes: usize) -> Map {
    let pi = std::f64::consts::PI;
    let half = |name: &str, from: Pose| strip(name, &arc_line(from, radius_m, pi), one_way(lanes));
    let roads =
        vec![half("north", Pose::new(radius_m, 0.0, 0.5 * pi)), half("south", Pose::new(-radius_m, 0.0, -0.5 * pi))];
    let link = |from: &str, to: &str, lane: usize| {
        LinkPlan::new(LaneName::new(from, lane.to_string()), LaneName::new(to, lane.to_string()))
    };
    let links = (1..=lanes).flat_map(|lane| [link("north", "south", lane), link("south", "north", lane)]).collect();
    Map { name: "ring".into(), roads, links, ..Map::default() }
}
