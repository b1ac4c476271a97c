//! Drivers: planners and tracking controllers; see `docs/ARCHITECTURE.md`.

pub mod follow;
pub mod planner;
pub mod road;
pub mod track;

pub use planner::{
    EXPANSIONS_MAX, Gear, Gears, PlanCosts, PlanError, PlanRequest, REACH_MAX_M, plan, reeds_shepp, turning_radius_m,
};
