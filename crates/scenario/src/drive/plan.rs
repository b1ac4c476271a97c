//! Paths: planned once per start, or again and again on the way.

use anabranch_driving::follow::Trajectory;
use anabranch_driving::{EXPANSIONS_MAX, Gear, Gears, PlanCosts, PlanError, PlanRequest, plan, turning_radius_m};
use anabranch_geometry::{Edge, Path, Point, Pose};
use anabranch_vehicle::CarSpec;

/// What the driver follows from a start.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) path: Path,
    /// Its timetable, for a driver that has one.
    pub(crate) trajectory: Option<Trajectory>,
}

/// How paths are planned in this scenario.
#[derive(Clone, Debug)]
pub(crate) struct Planning {
    pub(crate) car: CarSpec,
    pub(crate) goal: Pose,
    pub(crate) final_gear: Option<Gear>,
    pub(crate) safety_distance_m: f64,
    /// Edges of the map.
    pub(crate) known: Vec<Edge>,
}

/// Planning again on the way (S1-51).
#[derive(Clone, Debug)]
pub(crate) struct Replanning {
    pub(crate) cycle_ticks: u32,
    pub(crate) planning: Planning,
}

impl Planning {
    /// A path from a pose that keeps the safety distance to the map and to what was perceived.
    pub(crate) fn plan(&self, start: Pose, perceived: &[Edge], expansions_max: u32) -> Result<Path, PlanError> {
        let edges: Vec<Edge> = self.known.iter().chain(perceived).copied().collect();
        plan(&PlanRequest {
            start,
            goal: self.goal,
            outline: self.car.outline,
            edges: &edges,
            safety_distance_m: self.safety_distance_m,
            turning_radius_m: turning_radius_m(self.car.wheelbase_m, self.car.steering_max_rad),
            gears: Gears::Both,
            final_gear: self.final_gear,
            costs: PlanCosts::PARKING,
            expansions_max,
        })
    }
    /// The first plan may take its time.
    pub(crate) fn first(&self, start: Pose) -> Result<Path, PlanError> {
        self.plan(start, &[], EXPANSIONS_MAX)
    }
}

/// Closed chain of edges through corners.
pub(crate) fn closed_edges(corners: &[Point], obstacle: u32) -> impl Iterator<Item = Edge> + '_ {
    let at = move |i: usize| corners[i % corners.len()];
    (0..corners.len()).map(move |i| Edge { a: at(i), b: at(i + 1), obstacle })
}
