//! Turning lanes: what is laid between an exit and its entry.

use anabranch_geometry::Point;
use anabranch_kernel::maths;

use crate::cubic::Cubic;
use crate::lane::{LanePoint, Turn};
use crate::plan::{Interpolation, LanePlan, LinkPlan, Marking, Waypoint};

/// An exit and an entry no further apart than this need no lane between them.
const JOINED_M: f64 = 0.5;
/// Nor may their directions differ by more than this, in radians.
const JOINED_ANGLE: f64 = 0.15;
/// No lane fits between an exit and an entry this close.
const TOUCHING_M: f64 = 0.1;
/// Way-points of a laid curve besides its ends.
const LAID_POINTS: usize = 7;
/// Lateral acceleration with which a curve is driven comfortably; it limits the speed on turning lanes.
const COMFORT_MPS2: f64 = 2.5;
/// Changes of heading up to this are straight on, in radians.
const STRAIGHT_MAX: f64 = 0.524;
/// Changes of heading beyond this lead back, in radians.
const BACK_MIN: f64 = 2.618;

/// Which way a change of heading goes.
pub(crate) fn turn_of(from_heading: f64, to_heading: f64) -> Turn {
    let change = maths::wrap_angle(to_heading - from_heading);
    match change.abs() {
        size if size <= STRAIGHT_MAX => Turn::Straight,
        size if size >= BACK_MIN => Turn::Back,
        _ if change > 0.0 => Turn::Left,
        _ => Turn::Right,
    }
}

/// Whether two lanes meet so closely that one goes over into the other. Links of junctions get a lane wherever there is
/// room for one, because rules hold for it.
pub(crate) fn are_joined(link: &LinkPlan, exit: &LanePoint, entry: &LanePoint) -> bool {
    let distance_m = exit.position.distance_m(entry.position);
    let angle = maths::wrap_angle(entry.heading - exit.heading).abs();
    distance_m <= TOUCHING_M || (link.junction.is_none() && distance_m <= JOINED_M && angle <= JOINED_ANGLE)
}

/// The lane between an exit and an entry: the way-points of the map, or else a curve that leaves one direction and takes
/// up the other.
pub(crate) fn lay(link: &LinkPlan, exit: &LanePoint, entry: &LanePoint) -> LanePlan {
    let positions = if link.through.is_empty() { laid_points(exit, entry) } else { link.through.clone() };
    let count = positions.len() + 1;
    let all = std::iter::once(exit.position).chain(positions).chain(std::iter::once(entry.position));
    let width_m = |i: usize| exit.width_m + (entry.width_m - exit.width_m) * i as f64 / count as f64;
    let limit_mps = link.limit_mps.unwrap_or(exit.limit_mps.max(entry.limit_mps));
    let points = all.enumerate().map(|(i, position)| Waypoint { position, width_m: width_m(i), limit_mps }).collect();
    LanePlan {
        name: format!("{}-{}", link.from, link.to),
        points,
        width: Interpolation::Cubic,
        limit: Interpolation::Step,
        first_heading: Some(exit.heading),
        last_heading: Some(entry.heading),
        left: Marking::Solid,
        right: Marking::Solid,
    }
}

/// Speed at which the tightest place of a curve is driven comfortably.
pub(crate) fn comfortable_mps(curvature_max: f64) -> f64 {
    (COMFORT_MPS2 / curvature_max.max(1e-9)).sqrt()
}

fn laid_points(exit: &LanePoint, entry: &LanePoint) -> Vec<Point> {
    let distance_m = exit.position.distance_m(entry.position);
    // The curve between two tangents of a circle: its Hermite slopes are 4·tan(angle / 4) radii long, and the chord is
    // 2·sin(angle / 2) radii.
    let angle = maths::wrap_angle(entry.heading - exit.heading).abs();
    let share = if angle < 1e-3 { 1.0 } else { 2.0 * maths::tan(angle / 4.0) / maths::sin(angle / 2.0) };
    let slope_m = distance_m * share;
    let (exit_sin, exit_cos) = maths::sin_cos(exit.heading);
    let (entry_sin, entry_cos) = maths::sin_cos(entry.heading);
    let x = Cubic::hermite(1.0, [exit.position.x, entry.position.x], [exit_cos * slope_m, entry_cos * slope_m]);
    let y = Cubic::hermite(1.0, [exit.position.y, entry.position.y], [exit_sin * slope_m, entry_sin * slope_m]);
    let points = LAID_POINTS.min(distance_m as usize);
    (1..=points).map(|i| i as f64 / (points + 1) as f64).map(|t| Point::new(x.value(t), y.value(t))).collect()
}
