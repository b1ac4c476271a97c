//! Highways: an on-ramp with its acceleration lane, and a lane that ends.

use anabranch_geometry::Pose;

use super::strip::{Strip, straight_line, strip};
use super::{HIGHWAY_LIMIT_MPS, LANE_WIDTH_M};
use crate::plan::{LaneName, LinkPlan, Map, RoadPlan};

fn one_way(lanes: usize) -> Strip {
    Strip { forward: lanes, backward: 0, width_m: LANE_WIDTH_M, limit_mps: HIGHWAY_LIMIT_MPS }
}

/// A straight road from `x` on whose leftmost lane has the same middle whatever the number of its lanes.
fn stretch(name: &str, x: f64, length_m: f64, lanes: usize) -> RoadPlan {
    let y = -0.5 * lanes as f64 * LANE_WIDTH_M;
    strip(name, &straight_line(Pose::new(x, y, 0.0), length_m), one_way(lanes))
}

/// Links the leftmost lanes of two stretches, as many as both have.
fn follow(from: &str, to: &str, from_lanes: usize, to_lanes: usize) -> Vec<LinkPlan> {
    let link = |i: usize| {
        let exit = LaneName::new(from, (from_lanes - i).to_string());
        LinkPlan::new(exit, LaneName::new(to, (to_lanes - i).to_string()))
    };
    (0..from_lanes.min(to_lanes)).map(link).collect()
}

/// A straight highway `main` eastwards from the origin.
pub fn highway(length_m: f64, lanes: usize) -> Map {
    Map { name: "highway".into(), roads: vec![stretch("main", 0.0, length_m, lanes)], ..Map::default() }
}

/// A highway eastwards with `lanes` lanes: `before` (500 m), `merge` with an acceleration lane 1 on the right, and `after`
/// (1000 m). The road `ramp` leads onto the acceleration lane, which ends with `merge`.
pub fn on_ramp(lanes: usize, merge_m: f64) -> Map {
    let mut links = follow("before", "merge", lanes, lanes + 1);
    links.extend(follow("merge", "after", lanes + 1, lanes));
    let ramp_y = -(lanes as f64 + 0.5) * LANE_WIDTH_M;
    let angle = 0.12;
    // The ramp comes from the right and takes up the direction of the highway over its last metres.
    let (ramp_m, bend_m) = (200.0, 40.0);
    let corner = Pose::new(500.0 - bend_m, ramp_y - bend_m * angle * 0.5, angle);
    let from = corner.world_from_local(anabranch_geometry::Point::new(-ramp_m, 0.0));
    let mut line = straight_line(Pose::new(from.x, from.y, angle), ramp_m);
    line.push(Pose::new(500.0, ramp_y, 0.0));
    let ramp = strip("ramp", &line, Strip { limit_mps: 80.0 / 3.6, ..one_way(1) });
    links.push(LinkPlan::new(LaneName::new("ramp", "1"), LaneName::new("merge", "1")));
    let roads = vec![
        stretch("before", 0.0, 500.0, lanes),
        stretch("merge", 500.0, merge_m, lanes + 1),
        stretch("after", 500.0 + merge_m, 1000.0, lanes),
        ramp,
    ];
    Map { name: "on-ramp".into(), roads, links, ..Map::default() }
}

/// A highway eastwards whose rightmost lane of `before` ends after `before_m`; `after` has one lane less.
pub fn lane_drop(lanes: usize, before_m: f64, after_m: f64) -> Map {
    let after = lanes.saturating_sub(1).max(1);
    let roads = vec![stretch("before", 0.0, before_m, lanes), stretch("after", before_m, after_m, after)];
    Map { name: "lane-drop".into(), roads, links: follow("before", "after", lanes, after), ..Map::default() }
}
