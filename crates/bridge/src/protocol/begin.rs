//! What a run begins with.

use serde::{Deserialize, Serialize};

/// Everything that does not change during a run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Begin {
    /// Seed of the run: the only source of chance a driver or world may use.
    pub seed: u64,
    /// Name of the scenario.
    pub scenario: String,
    /// Start parameters (role world).
    pub params: Vec<f64>,
    /// Seconds between two steps (role driver).
    pub cycle_s: f64,
    /// Seconds the scenario lasts.
    pub until_s: f64,
    /// Where the car stands.
    pub start: StartFacts,
    /// Where it shall stop.
    pub goal: GoalFacts,
    /// The car.
    pub car: CarFacts,
    /// The planned path; empty where there is none.
    pub path: PathFacts,
    /// Lanes to follow, where there are roads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route: Vec<LegFacts>,
    /// How often each channel of what is seen is renewed.
    pub periods: PeriodFacts,
    /// Walls as x1, y1, x2, y2, for those who want `walls`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<[f64; 4]>,
}

/// Seconds between two samples of each channel; a step between two of them sees the older one again.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PeriodFacts {
    /// Of the pose, and of the path and the goal as seen from it.
    pub pose_s: f64,
    /// Of speed, steering and gear.
    pub speed_s: f64,
    /// Of objects.
    pub objects_s: f64,
    /// Of what is free near the car.
    pub occupancy_s: f64,
}

/// A stretch of the route on one lane.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct LegFacts {
    /// As road and lane: `main.1`.
    pub lane: String,
    /// Station at which it is entered.
    pub from_m: f64,
    /// Station at which it is left at the latest.
    pub to_m: f64,
    /// How it is left: `straight on`, `left`, `right`, `arrive`.
    pub then: String,
}

/// A pose with a speed.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StartFacts {
    /// Rear axle.
    pub x: f64,
    /// Rear axle.
    pub y: f64,
    /// Counter-clockwise from east.
    pub heading: f64,
    /// Negative backwards.
    pub speed: f64,
}

/// Where the car shall stop.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct GoalFacts {
    /// Rear axle.
    pub x: f64,
    /// Rear axle.
    pub y: f64,
    /// Counter-clockwise from east.
    pub heading: f64,
    /// How near is near enough.
    pub tolerance_m: f64,
}

/// What a driver may know about its car.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CarFacts {
    /// Distance of the axles.
    pub wheelbase_m: f64,
    /// Bumper to bumper.
    pub length_m: f64,
    /// Without mirrors.
    pub width_m: f64,
    /// From the rear axle to the rear bumper.
    pub rear_overhang_m: f64,
    /// Largest angle of the front wheels.
    pub steering_max_rad: f64,
    /// Fastest change of that angle.
    pub steering_rate_max_radps: f64,
}

/// The planned path.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PathFacts {
    /// Driven metres in all.
    pub length_m: f64,
    /// Parts driven in one direction.
    pub sections: Vec<SectionFacts>,
    /// x, y, heading, curvature, station, for those who want `samples`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<[f64; 5]>,
}

/// A part of the path driven in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct SectionFacts {
    /// Station where it begins.
    pub start_m: f64,
    /// Station where it ends.
    pub end_m: f64,
    /// +1 forwards, −1 backwards.
    pub direction: i8,
}
