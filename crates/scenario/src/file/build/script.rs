//! Predetermined ways of objects, and pedestrians by their five parameters (S2-32).

use anabranch_geometry::Pose;
use anabranch_kernel::maths;

use super::super::codes::Code;
use super::super::problems::Problems;
use super::super::road_spec::{ActAt, PoseAt, ScriptSpec, StrollSpec};
use super::super::span::Located;
use super::super::view::View;
use super::super::words::{ObjectKind, RoadSide, Walking};
use super::road::{Road, place};

/// How far a pedestrian goes on beside the road when it has crossed, where the file does not say.
pub(crate) const BESIDE_M: f64 = 1.0;
/// Nearer places are the same place, which has no direction.
const SAME_M: f64 = 1e-6;
/// Keys that say more about a pedestrian than how it crosses.
pub(super) const STROLL: [&str; 5] = ["side", "direction", "crosses", "walk", "along"];

/// The way of an object; `Some(None)` if it goes by itself.
pub(super) fn script(
    problems: &mut Problems<'_>,
    view: View<'_>,
    kind: ObjectKind,
    road: &Road,
) -> Option<Option<ScriptSpec>> {
    if let (Some(_), Some(span)) = (view.get("poses"), view.key_span("acts")) {
        let message = "`poses` and `acts` exclude each other";
        problems.add(Code::Exclusive, span, message, "keep one of them");
        return None;
    }
    for key in ["poses", "acts"] {
        for other in ["to", "care", "kerb", "ghost"].iter().chain(&STROLL) {
            if let Some(span) = view.key_span(other).filter(|_| view.get(key).is_some()) {
                let message = format!("`{other}` says nothing about somebody on a predetermined way");
                problems.add(Code::Exclusive, span, message, format!("keep `{other}` or `{key}`"));
                return None;
            }
        }
    }
    if view.get("poses").is_some() {
        return Some(Some(ScriptSpec::Poses(poses(problems, view, road)?)));
    }
    let Some(span) = view.key_span("acts") else { return Some(None) };
    if matches!(kind, ObjectKind::Pedestrian | ObjectKind::Thing) {
        let message = format!("a {} has no wheels to steer by", kind.word());
        problems.add(Code::Exclusive, span, message, "write `poses` instead");
        return None;
    }
    Some(Some(ScriptSpec::Acts(acts(problems, view)?)))
}

/// Complains about times that do not rise.
fn check_rises(problems: &mut Problems<'_>, times: impl Iterator<Item = Located<f64>>) -> Option<()> {
    let mut before = f64::NEG_INFINITY;
    for at in times {
        if at.value <= before {
            let message = "this is not later than the one before";
            problems.add(Code::OutOfRange, at.span, message, "order them by time");
            return None;
        }
        before = at.value;
    }
    Some(())
}

fn poses(problems: &mut Problems<'_>, view: View<'_>, road: &Road) -> Option<Vec<PoseAt>> {
    let tables = view.tables("poses");
    let mut given: Vec<(PoseAt, bool)> = Vec::new();
    for table in &tables {
        let pose = if table.get("lane").is_some() {
            let at = place(problems, Some(road), *table)?;
            road.network.lane(at.lane).pose_at(at.station_m, table.real("lateral")?.value, 0.0)
        } else {
            let Some(y) = table.real("y") else {
                problems.add(Code::MissingKey, table.span(), "`x` says nothing without `y`", "add y = \"0 m\"");
                return None;
            };
            Pose::new(table.real("x")?.value, y.value, 0.0)
        };
        let heading = table.real("heading").map(|heading| heading.value);
        // Along a lane its direction is the usual one.
        let is_told = heading.is_some() || table.get("lane").is_some();
        let pose = Pose { heading: heading.unwrap_or(pose.heading), ..pose };
        given.push((PoseAt { at_s: table.real("at")?, pose }, is_told));
    }
    check_rises(problems, given.iter().map(|(pose, _)| pose.at_s))?;
    let mut heading = given.iter().find(|(_, is_told)| *is_told).map_or(0.0, |(told, _)| told.pose.heading);
    let mut all: Vec<PoseAt> = Vec::new();
    for (number, (one, is_told)) in given.iter().enumerate() {
        let here = one.pose;
        let next = given.get(number + 1).map(|(next, _)| next.pose.point());
        heading = match next {
            _ if *is_told => here.heading,
            Some(next) if next.distance_m(here.point()) > SAME_M => maths::atan2(next.y - here.y, next.x - here.x),
            // It stays, or it is the last one: as before.
            _ => heading,
        };
        all.push(PoseAt { pose: Pose { heading, ..here }, ..*one });
    }
    Some(all)
}

fn acts(problems: &mut Problems<'_>, view: View<'_>) -> Option<Vec<ActAt>> {
    let (mut accel_mps2, mut steering_rad) = (0.0, 0.0);
    let mut all = Vec::new();
    for table in view.tables("acts") {
        accel_mps2 = table.real("accel").map_or(accel_mps2, |value| value.value);
        if let Some(steering) = table.real("steering") {
            if steering.value.abs() >= std::f64::consts::FRAC_PI_2 {
                let message = "wheels turn less than a quarter turn to each side";
                problems.add(Code::OutOfRange, steering.span, message, "write for example \"10 deg\"");
                return None;
            }
            steering_rad = steering.value;
        }
        all.push(ActAt { at_s: table.real("at")?, accel_mps2, steering_rad });
    }
    check_rises(problems, all.iter().map(|act| act.at_s))?;
    Some(all)
}

/// What the file says about a pedestrian besides how it crosses; `Some(None)` if nothing.
pub(super) fn stroll(problems: &mut Problems<'_>, view: View<'_>) -> Option<Option<StrollSpec>> {
    if STROLL.iter().all(|key| view.get(key).is_none()) {
        return Some(None);
    }
    let kerb_m = view.real("kerb")?.value;
    let walk = view.real("walk");
    let walk_m = walk.map_or(kerb_m + BESIDE_M, |walk| walk.value);
    let direction = view.word("direction", Walking::from_word)?.value;
    let crosses = view.flag("crosses")?;
    if let Some(walk) = walk.filter(|walk| crosses && walk.value <= kerb_m) {
        let message = "its way ends before the place where it crosses";
        problems.add(Code::OutOfRange, walk.span, message, "make `walk` longer than `kerb`, or `kerb` smaller");
        return None;
    }
    let from_m = match direction {
        Walking::Forth => 0.0,
        Walking::Back => walk_m,
    };
    let along = view.real("along");
    if let Some(along) = along.filter(|along| along.value > walk_m) {
        let message = "it would begin beyond the end of its way";
        problems.add(Code::OutOfRange, along.span, message, "make `along` smaller, or `walk` longer");
        return None;
    }
    let along_m = along.map_or(from_m, |along| along.value);
    let side = view.word("side", RoadSide::from_word)?.value;
    Some(Some(StrollSpec { side, direction, crosses, walk_m, along_m }))
}
