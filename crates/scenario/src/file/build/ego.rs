//! The car under test and its software.

use anabranch_geometry::{Arc, Pose};

use super::super::codes::Code;
use super::super::problems::Problems;
use super::super::span::Located;
use super::super::spec::{EgoSpec, GoalSpec, ObstacleSensorSpec, StartSpec};
use super::super::view::View;
use super::super::words::Gear;

/// Most starting states of a scenario.
pub const STARTS_MAX: usize = 10_000;

pub(super) fn build(problems: &mut Problems<'_>, view: View<'_>) -> Option<EgoSpec> {
    let start = start(problems, view.table("start")?);
    let path = path(problems, view);
    let vehicle = super::vehicle::build(problems, view);
    Some(EgoSpec {
        vehicle: vehicle?,
        start: start?,
        goal: goal(view.table("goal")?)?,
        driver: super::driver::build(problems, view)?,
        part: super::driver::part(problems, view)?,
        safety_distance_m: view.real("safety_distance")?,
        path: path?,
        localisation_cycle_s: view.table("localisation").and_then(|table| table.real("cycle")),
        obstacle_sensor: match view.table("obstacle_sensor") {
            Some(table) => Some(ObstacleSensorSpec { range_m: table.real("range")?, cycle_s: table.real("cycle")? }),
            None => None,
        },
    })
}

fn start(problems: &mut Problems<'_>, view: View<'_>) -> Option<StartSpec> {
    let start = StartSpec {
        x_m: view.reals("x")?,
        y_m: view.reals("y")?,
        heading_rad: view.reals("heading")?,
        speed_mps: view.reals("speed")?,
        span: view.span(),
    };
    let count =
        start.x_m.len() as u64 * start.y_m.len() as u64 * start.heading_rad.len() as u64 * start.speed_mps.len() as u64;
    if count > STARTS_MAX as u64 {
        let message = format!("the start values combine to {count} starting states; at most {STARTS_MAX} are tried");
        problems.add(Code::TooMany, view.span(), message, "use shorter lists or wider steps");
        return None;
    }
    Some(start)
}

fn goal(view: View<'_>) -> Option<GoalSpec> {
    let real = |key: &str| view.real(key).map(|value| value.value);
    Some(GoalSpec {
        pose: Pose::new(real("x")?, real("y")?, real("heading")?),
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
    Some(Some(arcs))
}
