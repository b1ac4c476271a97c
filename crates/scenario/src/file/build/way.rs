//! Whether what a scenario says about roads goes together with the rest of it.

use anabranch_driving::REACH_MAX_M;
use anabranch_geometry::Pose;
use anabranch_roads::{LaneId, LanePlace, Network, Sign};

use super::super::codes::Code;
use super::super::motion_spec::VehicleModel;
use super::super::problems::Problems;
use super::super::spec::{EgoSpec, ObstacleSpec, Start};
use super::super::words::DriverKind;
use super::road::Road;

/// The place on the roads of a pose that the file gives.
pub(crate) fn place(network: &Network, pose: Pose) -> Option<LanePlace> {
    let (lane, place) = network.nearest_along(pose)?;
    Some(LanePlace { lane, station_m: place.station_m.clamp(0.0, network.lane(lane).length_m()) })
}

/// Complains about a driver, an obstacle or a goal that is nothing for these roads.
pub(super) fn check(problems: &mut Problems<'_>, ego: &EgoSpec, obstacles: &[ObstacleSpec], road: Option<&Road>) {
    let kind = &ego.driver.kind;
    let Some(road) = road else {
        if kind.value == DriverKind::Road {
            let help = "add [road], or choose another driver";
            problems.add(Code::NotOnRoads, kind.span, "the driver `road` needs a [road]", help);
        }
        let model = &ego.vehicle.model;
        if model.value != VehicleModel::Rolling {
            let help = "add [road], or write model = \"car\"";
            problems.add(Code::NotOnRoads, model.span, "cars with tyres or trailers drive on roads only", help);
        }
        if let Some(filter) = &ego.filter {
            let help = "add [road], or leave out `filter`";
            problems.add(Code::NotOnRoads, filter.span, "the filter works on roads only", help);
        }
        if let Some(plain) = &ego.plain {
            let help = "add [road], or leave out `plain`";
            problems.add(Code::NotOnRoads, plain.span, "plain sensors work on roads only", help);
        }
        if let Some(range) = &ego.sign_range_m {
            let help = "add [road], or leave out `sign_range`";
            problems.add(Code::NotOnRoads, range.span, "there are signs and lights on roads only", help);
        }
        check_reach(problems, ego);
        return;
    };
    if kind.value != DriverKind::Road && ego.driver.outside.is_none() && ego.driver.model.is_none() {
        let help = "write driver = \"road\" or the name of a file, or leave out [road]";
        problems.add(Code::NotOnRoads, kind.span, "this driver follows a path and knows no roads", help);
    }
    if let (Some(part), VehicleModel::Tyres(_) | VehicleModel::Trailer(_)) = (&ego.part, ego.vehicle.model.value) {
        let help = "leave out the part, or write model = \"car\"";
        problems.add(Code::Exclusive, part.span, "a part from outside moves a car without slip and trailer", help);
    }
    for obstacle in obstacles.iter().filter(|obstacle| !(obstacle.known && obstacle.present)) {
        let message = format!("`{}` must be sensed or appears, which on roads objects do", obstacle.id.value);
        let help = "write it as an [[object]] with kind = \"thing\"";
        problems.add(Code::NotOnRoads, obstacle.shape_span, message, help);
    }
    if let Some(range) = ego.sign_range_m.as_ref().filter(|_| !has_signs(&road.network)) {
        let message = "there are no signs and no lights on these roads, so `sign_range` would change nothing";
        problems.add(Code::Exclusive, range.span, message, "leave it out, or lay a junction with signs or lights");
    }
    if let Some(reason) = ego.start.all().find_map(|start| no_route(&road.network, start.pose, ego.goal.pose)) {
        problems.add(Code::NoRoute, ego.goal.span, reason, "choose another goal, or another start");
    }
}

/// Complains about a goal that is too far away for the planner.
fn check_reach(problems: &mut Problems<'_>, ego: &EgoSpec) {
    let far = |start: Start| start.pose.point().distance_m(ego.goal.pose.point()) > REACH_MAX_M;
    if ego.path.is_none() && ego.start.all().any(far) {
        let message = format!("the goal is more than {REACH_MAX_M} m away from the start, too far to plan a path");
        let help = "move the goal closer, give a `path`, or drive on a [road]";
        problems.add(Code::OutOfRange, ego.goal.span, message, help);
    }
}

/// Whether a sign or a light makes anybody stop.
fn has_signs(network: &Network) -> bool {
    let mut rules = network.lanes().iter().enumerate().filter_map(|(lane, _)| network.rule(LaneId(lane as u32)));
    rules.any(|rule| rule.signal.is_some() || matches!(rule.sign, Sign::Stop | Sign::Yield))
}

fn no_route(network: &Network, start: Pose, goal: Pose) -> Option<String> {
    let Some(from) = place(network, start) else { return Some("no lane leads the way the car starts".to_owned()) };
    let Some(to) = place(network, goal) else { return Some("no lane leads the way of the goal".to_owned()) };
    network.route(from, to).err().map(|none| none.to_string())
}
