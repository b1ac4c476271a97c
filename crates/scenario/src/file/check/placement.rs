//! The car must fit where it starts and where it shall stop.

use anabranch_geometry::{Body, EdgeSet, Point, Pose};
use anabranch_vehicle::TrailerSpec;

use super::super::codes::Code;
use super::super::motion_spec::VehicleModel;
use super::super::problems::Problems;
use super::super::spec::ScenarioSpec;

/// Complains about starts and goals at which the car touches a wall or an obstacle that is there from the start.
pub(in super::super) fn check(problems: &mut Problems<'_>, spec: &ScenarioSpec) {
    let body = Body::new(&spec.ego.vehicle.car.outline);
    let (edges, names) = things(spec);
    let trailer = match spec.ego.vehicle.model.value {
        VehicleModel::Trailer(trailer) => Some((Body::new(&trailer.outline), trailer)),
        VehicleModel::Rolling | VehicleModel::Tyres(_) => None,
    };
    let touched = |pose: Pose| {
        // A trailer is straight behind its car.
        let drawn = |(body, trailer): &(Body, TrailerSpec)| {
            let axle = pose.world_from_local(Point::new(-(trailer.hitch_behind_m + trailer.length_m), 0.0));
            edges.overlapped(body, Pose::new(axle.x, axle.y, pose.heading))
        };
        let number = edges.overlapped(&body, pose).or_else(|| trailer.as_ref().and_then(drawn));
        number.and_then(|number| names.get(number as usize))
    };
    let start = spec.ego.start.all().find_map(|start| Some((start.pose, touched(start.pose)?)));
    if let Some((pose, name)) = start {
        let help = "move the start, or make the car smaller";
        let message = format!("at {} the car touches `{name}`", shown(pose));
        problems.add(Code::StartContact, spec.ego.start.span, message, help);
    }
    if let Some(name) = touched(spec.ego.goal.pose) {
        let message = format!("at {} the car touches `{name}`", shown(spec.ego.goal.pose));
        problems.add(Code::GoalContact, spec.ego.goal.span, message, "move the goal, or make the car smaller");
    }
}

fn shown(pose: Pose) -> String {
    format!("x = {:.3} m, y = {:.3} m, heading = {:.3} rad", pose.x, pose.y, pose.heading)
}

/// Everything that is really there from the start, with its names by number.
fn things(spec: &ScenarioSpec) -> (EdgeSet, Vec<&str>) {
    let (mut edges, mut names) = (EdgeSet::default(), Vec::new());
    for wall in &spec.world.walls {
        let points: Vec<Point> = wall.points.iter().map(|point| point.value).collect();
        edges.add_wall(names.len() as u32, &points);
        names.push(wall.id.value.as_str());
    }
    for obstacle in spec.world.obstacles.iter().filter(|obstacle| obstacle.present) {
        edges.add_polygon(names.len() as u32, &obstacle.corners);
        names.push(obstacle.id.value.as_str());
    }
    (edges, names)
}
