//! Paths for manoeuvres at low speed, forwards and backwards, that keep a safety distance.
//!
//! [`plan`] searches a lattice of arcs ([`PlanRequest`] in, [`Path`] out) and is exact where it matters: the path ends
//! at the goal and every point of it keeps the safety distance (S1-37). "No path" is an outcome, not a failure of the
//! program (S1-36): [`PlanError`] says which of its kinds it is.
//!
//! ```
//! use anabranch_driving::{Gears, PlanCosts, PlanRequest, EXPANSIONS_MAX, plan, turning_radius_m};
//! use anabranch_geometry::{Edge, Outline, Point, Pose};
//!
//! let wall = |y: f64| Edge { a: Point::new(-30.0, y), b: Point::new(-1.0, y), obstacle: 0 };
//! let path = plan(&PlanRequest {
//!     start: Pose::new(0.0, 0.0, 0.0),
//!     goal: Pose::new(-17.0, 0.0, 0.0),
//!     outline: Outline { front_m: 3.4, rear_m: 0.8, half_width_m: 0.9, corner_radius_m: 0.3 },
//!     edges: &[wall(1.6), wall(-1.6)],
//!     safety_distance_m: 0.2,
//!     turning_radius_m: turning_radius_m(2.6, 0.55),
//!     gears: Gears::Both,
//!     final_gear: None,
//!     costs: PlanCosts::PARKING,
//!     expansions_max: EXPANSIONS_MAX,
//! })?;
//! assert_eq!(path.arcs().len(), 1);
//! assert_eq!(path.sections()[0].direction, -1.0);
//! # Ok::<(), anabranch_driving::PlanError>(())
//! ```

mod corner;
mod costs;
mod guide;
mod hybrid_a_star;
pub mod reeds_shepp;
mod shortcut;
mod surroundings;
#[cfg(test)]
mod tests;
mod tiles;

use anabranch_geometry::{Arc, Edge, Outline, Path, Pose};
use anabranch_kernel::maths;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use costs::PlanCosts;
use hybrid_a_star::Search;
use surroundings::Surroundings;

/// Share of the steering that plans use; the rest is left to the controller.
pub const STEERING_SHARE: f64 = 0.9;
/// Usual limit of the search: an impossible request ends within two seconds on one core of a build machine.
pub const EXPANSIONS_MAX: u32 = 40_000;

/// Farthest goal: manoeuvres at low speed take a few hundred metres, and every half metre of a way is looked at.
pub const REACH_MAX_M: f64 = 2_000.0;
/// What is said of too many or too large obstacles.
const TOO_MUCH: PlanError = PlanError::BadRequest(
    "the obstacles take too much time and memory; use fewer or shorter walls, or a smaller safety distance",
);

/// The direction a section is driven in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gear {
    /// Forwards.
    Forward,
    /// Backwards.
    Reverse,
}

/// The directions a plan may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gears {
    /// Forwards only.
    Forward,
    /// Backwards only.
    Reverse,
    /// Forwards and backwards.
    Both,
}

impl Gear {
    fn of(arc: Arc) -> Self {
        if arc.length_m < 0.0 { Self::Reverse } else { Self::Forward }
    }
}

impl Gears {
    /// Whether a gear is among them.
    pub fn allow(self, gear: Gear) -> bool {
        match self {
            Self::Forward => gear == Gear::Forward,
            Self::Reverse => gear == Gear::Reverse,
            Self::Both => true,
        }
    }
}

/// A wish for a path.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    /// Where the car stands.
    pub start: Pose,
    /// Where it shall stand.
    pub goal: Pose,
    /// Its outline.
    pub outline: Outline,
    /// What it must not touch.
    pub edges: &'a [Edge],
    /// Least distance between outline and edges all along the path, start and goal included.
    pub safety_distance_m: f64,
    /// Smallest radius of the rear axle's arcs; see [`turning_radius_m`].
    pub turning_radius_m: f64,
    /// The gears it may use.
    pub gears: Gears,
    /// The gear of the last section, if that matters.
    pub final_gear: Option<Gear>,
    /// What the path should avoid.
    pub costs: PlanCosts,
    /// After this many poses the search gives up; usually [`EXPANSIONS_MAX`].
    pub expansions_max: u32,
}

/// Why there is no path.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum PlanError {
    /// The request makes no sense.
    #[error("the planner cannot use this request: {0}")]
    BadRequest(&'static str),
    /// The car is closer to an obstacle than it may be before it drives.
    #[error(
        "the start is {clearance_m:.3} m from an obstacle, less than the safety distance of {safety_distance_m} m; move the start or lower the safety distance"
    )]
    StartBlocked {
        /// Distance of the outline at the start; negative if it overlaps.
        clearance_m: f64,
        /// What was asked for.
        safety_distance_m: f64,
    },
    /// The goal is closer to an obstacle than the car may be.
    #[error(
        "the goal is {clearance_m:.3} m from an obstacle, less than the safety distance of {safety_distance_m} m; move the goal or lower the safety distance"
    )]
    GoalBlocked {
        /// Distance of the outline at the goal; negative if it overlaps.
        clearance_m: f64,
        /// What was asked for.
        safety_distance_m: f64,
    },
    /// Every pose of the lattice that can be reached was tried.
    #[error(
        "planner found no path: all {expanded} poses within reach were tried; lower the safety distance or move obstacles"
    )]
    NoPath {
        /// Number of poses tried; zero if already a disc as wide as the car cannot pass.
        expanded: u32,
    },
    /// The search gave up.
    #[error(
        "planner found no path within its limit of {expanded} poses; raise the limit, lower the safety distance or move obstacles"
    )]
    LimitReached {
        /// Number of poses tried.
        expanded: u32,
    },
}

/// Turning radius of the rear axle for planning, from the wheelbase and the largest steering angle.
pub fn turning_radius_m(wheelbase_m: f64, steering_max_rad: f64) -> f64 {
    wheelbase_m / maths::tan(STEERING_SHARE * steering_max_rad)
}

/// Finds a path from start to goal that keeps the safety distance, or says why it has none.
///
/// The same request gives the same bits on every machine.
///
/// # Errors
/// See [`PlanError`].
pub fn plan(request: &PlanRequest<'_>) -> Result<Path, PlanError> {
    check(request)?;
    let band_m = request.costs.closeness_band_m;
    let surroundings = Surroundings::new(request.outline, request.edges, request.safety_distance_m, band_m);
    let surroundings = surroundings.ok_or(TOO_MUCH)?;
    let safety_distance_m = request.safety_distance_m;
    let clearance_m = surroundings.clearance_m(request.start);
    if !surroundings.keeps(clearance_m) {
        return Err(PlanError::StartBlocked { clearance_m, safety_distance_m });
    }
    let clearance_m = surroundings.clearance_m(request.goal);
    if !surroundings.keeps(clearance_m) {
        return Err(PlanError::GoalBlocked { clearance_m, safety_distance_m });
    }
    if let Some(arcs) = straight(request, &surroundings) {
        return Ok(Path::new(request.start, arcs));
    }
    let arcs = Search::new(request, &surroundings).ok_or(TOO_MUCH)?.run()?;
    Ok(Path::new(request.start, shortcut::improve(request, &surroundings, arcs)))
}

/// The straight drive to a goal right ahead or behind, if it is allowed: no other path is considered then.
fn straight(request: &PlanRequest<'_>, surroundings: &Surroundings<'_>) -> Option<Vec<Arc>> {
    let arcs = reeds_shepp::shortest(request.start, request.goal, request.turning_radius_m);
    match arcs[..] {
        [] => Some(arcs),
        [arc] if arc.curvature_per_m == 0.0 && allowed(request, None, &arcs, End::Goal) => {
            surroundings.closeness_m(request.start, arc).map(|_| arcs)
        }
        _ => None,
    }
}

/// Whether arcs driven after another use the gears they may, the last one included if they end at the goal.
fn allowed(request: &PlanRequest<'_>, before: Option<Arc>, arcs: &[Arc], end: End) -> bool {
    let last = arcs.last().copied().or(before).map(Gear::of);
    arcs.iter().all(|&arc| request.gears.allow(Gear::of(arc)))
        && (end == End::OnTheWay || request.final_gear.is_none_or(|gear| last.is_none_or(|last| last == gear)))
}

/// Where a part of a path ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Goal,
    OnTheWay,
}

fn check(request: &PlanRequest<'_>) -> Result<(), PlanError> {
    let PlanRequest { start, goal, outline, costs, .. } = request;
    let ends = request.edges.iter().flat_map(|edge| [edge.a.x, edge.a.y, edge.b.x, edge.b.y]);
    let poses = [start.x, start.y, start.heading, goal.x, goal.y, goal.heading];
    let length_m = outline.front_m + outline.rear_m;
    let round_m = outline.corner_radius_m;
    let rules = [
        (poses.into_iter().chain(ends).all(f64::is_finite), "a coordinate is not a finite number"),
        (start.point().distance_m(goal.point()) <= REACH_MAX_M, "the goal is more than 2 km away"),
        (request.turning_radius_m > 0.0 && request.turning_radius_m.is_finite(), "the turning radius is not positive"),
        (request.safety_distance_m >= 0.0 && request.safety_distance_m.is_finite(), "the safety distance is negative"),
        (outline.half_width_m > 0.0 && length_m > 0.0 && length_m.is_finite(), "the outline has no area"),
        (round_m >= 0.0 && round_m <= outline.half_width_m.min(0.5 * length_m), "the corners do not fit the outline"),
        (request.final_gear.is_none_or(|gear| request.gears.allow(gear)), "the last gear is not among the gears"),
        (costs.closeness_band_m > 0.0, "the band of closeness has no width"),
        (
            costs.reverse_factor > 0.0
                && [costs.gear_change_m, costs.steering_m, costs.closeness_factor].iter().all(|&cost| cost >= 0.0),
            "a cost is negative",
        ),
    ];
    rules.into_iter().find(|(kept, _)| !kept).map_or(Ok(()), |(_, what)| Err(PlanError::BadRequest(what)))
}
