//! The car under test and its software.

use anabranch_geometry::{Arc, Pose};

use super::super::Hooks;
use super::super::codes::Code;
use super::super::problems::Problems;
use super::super::span::Located;
use super::super::spec::{EgoSpec, GoalSpec, ObstacleSensorSpec, StartSpec};
use super::super::view::View;
use super::super::words::Gear;
use super::road::Road;

/// Most starting states of a scenario.
pub const STARTS_MAX: usize = 10_000;
/// Longest path that is given piece by piece: it is kept as a sample every 5 cm, 20 MB in all.
const PATH_MAX_M: f64 = 20_000.0;

pub(super) fn build(
    problems: &mut Problems<'_>,
    view: View<'_>,
    road: Option<&Road>,
    (hooks, step_s): (&Hooks<'_>, Located<f64>),
) -> Option<EgoSpec> {
    let start = start(problems, view.table("start")?, road);
    let goal = goal(problems, view.table("goal")?, road);
    let path = path(problems, view);
    let vehicle = super::vehicle::build(problems, view)?;
    Some(EgoSpec {
        driver: super::driver::build(problems, view, (hooks, &vehicle.car, step_s))?,
        vehicle,
        start: start?,
        goal: goal?,
        part: super::driver::part(problems, view)?,
        safety_distance_m: view.real("safety_distance")?,
        path: path?,
        filter: super::localisation::build(problems, view)?,
        plain: super::plain::build(problems, view)?,
        localisation_cycle_s: view.table("localisation").and_then(|table| table.real("cycle")),
        obstacle_sensor: match view.table("obstacle_sensor") {
            Some(table) => Some(ObstacleSensorSpec { range_m: table.real("range")?, cycle_s: table.real("cycle")? }),
            None => None,
        },
        sign_range_m: view.real("sign_range"),
    })
}

fn start(problems: &mut Problems<'_>, view: View<'_>, road: Option<&Road>) -> Option<StartSpec> {
    let [x_m, y_m, heading_rad] = pose(problems, view, road)?;
    let start = StartSpec { x_m, y_m, heading_rad, speed_mps: view.reals("speed")?, span: view.span() };
    let count =
        start.x_m.len() as u64 * start.y_m.len() as u64 * start.heading_rad.len() as u64 * start.speed_mps.len() as u64;
    if count > STARTS_MAX as u64 {
        let message = format!("the start values combine to {count} starting states; at most {STARTS_MAX} are tried");
        problems.add(Code::TooMany, view.span(), message, "use shorter lists or wider steps");
        return None;
    }
    Some(start)
}

/// Values of x, y and heading: given, or those of a place on a lane.
fn pose(problems: &mut Problems<'_>, view: View<'_>, road: Option<&Road>) -> Option<[Vec<Located<f64>>; 3]> {
    if view.get("lane").is_none() {
        if let Some(span) = view.key_span("station") {
            problems.add(Code::MissingKey, span, "`station` says nothing without `lane`", "add the lane");
            return None;
        }
        let Some(y) = view.reals("y") else {
            problems.add(Code::MissingKey, view.span(), "`x` says nothing without `y`", "add y = \"0 m\"");
            return None;
        };
        return Some([view.reals("x")?, y, view.reals("heading")?]);
    }
    for key in ["y", "heading"] {
        if let Some(span) = view.key_span(key) {
            let message = format!("the place on the lane says where it is, so `{key}` would change nothing");
            problems.add(Code::Exclusive, span, message, format!("remove `{key}`"));
        }
    }
    let place = super::road::place(problems, road, view)?;
    let pose = road?.network.lane(place.lane).pose(place.station_m);
    Some([pose.x, pose.y, pose.heading].map(|value| vec![Located::new(value, view.span())]))
}

fn goal(problems: &mut Problems<'_>, view: View<'_>, road: Option<&Road>) -> Option<GoalSpec> {
    let [x, y, heading] = pose(problems, view, road)?.map(|values| values[0].value);
    Some(GoalSpec {
        pose: Pose::new(x, y, heading),
        gear: view.word("gear", Gear::from_word),
        tolerance_m: view.real("tolerance")?,
        heading_tolerance_rad: view.real("heading_tolerance")?,
        span: view.span(),
    })
}

fn path(problems: &mut Problems<'_>, ego: View<'_>) -> Option<Option<Vec<Located<Arc>>>> {
    if ego.get("path").is_none() {
        return Some(None);
    }
    let mut arcs = Vec::new();
    for view in ego.tables("path") {
        let (curvature, length) = (view.real("curvature")?, view.real("length")?);
        if length.value == 0.0 {
            let help = "write a positive length to drive forwards, a negative one to drive backwards";
            problems.add(Code::EmptyPath, length.span, "this piece of the path has no length", help);
        }
        arcs.push(Located::new(Arc { curvature_per_m: curvature.value, length_m: length.value }, view.span()));
    }
    let length_m: f64 = arcs.iter().map(|arc| arc.value.length_m.abs()).sum();
    if length_m > PATH_MAX_M {
        let message = format!("the path is {length_m:.0} m long; at most {PATH_MAX_M} m are possible");
        problems.add(Code::OutOfRange, ego.key_span("path").unwrap_or(ego.span()), message, "is the unit right?");
        return None;
    }
    Some(Some(arcs))
}
