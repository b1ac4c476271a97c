//! A roundabout with one lane.

use anabranch_geometry::Pose;
use anabranch_kernel::maths;

use super::strip::{Strip, arc_line, straight_line, strip};
use super::{LANE_WIDTH_M, TOWN_LIMIT_MPS};
use crate::junction::{ApproachPlan, JunctionPlan, Sign};
use crate::plan::{LaneName, LinkPlan, Map};

/// Distance along the ring from the direction of an arm to where its cars leave and enter.
const SPREAD_M: f64 = 9.0;
/// From the ring to the end of an arm.
const GAP_M: f64 = 9.0;
/// How far before the end of an arm its cars stop.
const STOP_BEFORE_M: f64 = 0.5;

/// Length of the ring that each arm needs.
const RING_PER_ARM_M: f64 = 22.0;

/// Smallest radius of a ring on which so many arms have room.
pub fn ring_min_m(arms: usize) -> f64 {
    RING_PER_ARM_M * arms as f64 / (2.0 * std::f64::consts::PI)
}

/// A roundabout around the origin with arms `arm-0`, `arm-1`, … counter-clockwise from east, evenly spread. The ring is
/// made of roads `ring-0` … from one arm to the next; who drives on it goes first.
pub fn roundabout(radius_m: f64, arms: usize, arm_m: f64) -> Map {
    let mut map = Map { name: "roundabout".into(), ..Map::default() };
    let tau = 2.0 * std::f64::consts::PI;
    let spread = SPREAD_M / radius_m;
    let ring = Strip { forward: 1, backward: 0, width_m: LANE_WIDTH_M + 1.0, limit_mps: 30.0 / 3.6 };
    let arm = Strip { limit_mps: TOWN_LIMIT_MPS, ..Strip::TWO_WAY };
    for i in 0..arms {
        let angle = tau * i as f64 / arms as f64;
        let (sin, cos) = maths::sin_cos(angle);
        let end_m = radius_m + GAP_M;
        let line = straight_line(Pose::new(end_m * cos, end_m * sin, maths::wrap_angle(angle)), arm_m);
        map.roads.push(strip(&format!("arm-{i}"), &line, arm));
        let begin = angle + spread;
        let (sin, cos) = maths::sin_cos(begin);
        let from = Pose::new(radius_m * cos, radius_m * sin, maths::wrap_angle(begin + 0.25 * tau));
        let line = arc_line(from, radius_m, tau / arms as f64 - 2.0 * spread);
        map.roads.push(strip(&format!("ring-{i}"), &line, ring));
    }
    for i in 0..arms {
        let name = format!("j-{i}");
        let (before, after) = (format!("ring-{}", (i + arms - 1) % arms), format!("ring-{i}"));
        let ring_before = LaneName::new(before, "1");
        let ring_after = LaneName::new(after, "1");
        let (away, inwards) = (LaneName::new(format!("arm-{i}"), "1"), LaneName::new(format!("arm-{i}"), "-1"));
        map.links.extend([
            LinkPlan::new(ring_before.clone(), ring_after.clone()).in_junction(&name),
            LinkPlan::new(ring_before.clone(), away).in_junction(&name),
            LinkPlan::new(inwards.clone(), ring_after).in_junction(&name),
        ]);
        let approach = |lane: LaneName, sign: Sign, stop_before_m: f64| ApproachPlan {
            lane,
            sign,
            stop_before_m,
            group: None,
            turn_groups: Vec::new(),
        };
        let approaches =
            vec![approach(ring_before, Sign::Priority, 0.0), approach(inwards, Sign::Yield, STOP_BEFORE_M)];
        map.junctions.push(JunctionPlan { name, approaches, ..JunctionPlan::default() });
    }
    map
}
