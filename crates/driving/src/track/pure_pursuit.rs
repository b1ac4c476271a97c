//! Pure pursuit: drive the arc that leads from the rear axle to a point of the line ahead (Snider 2009, eq. 2).
//!
//! δ = atan(2·L·sin α / l) with the distance l to that point and the angle α towards it. On a circle the arc is the circle:
//! no steady error without slip. A short look-ahead oscillates, a long one cuts corners; it grows with speed.

use anabranch_kernel::maths;
use anabranch_vehicle::CarSpec;
use serde::{Deserialize, Serialize};

use super::{EgoEstimate, Line};

/// How far a pursuit looks ahead.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PurePursuitSpec {
    /// Look-ahead as time.
    pub look_ahead_s: f64,
    /// At least this far.
    pub look_ahead_min_m: f64,
    /// At most this far.
    pub look_ahead_max_m: f64,
}

impl PurePursuitSpec {
    /// One second ahead: steady up to motorway speed.
    pub const CALM: Self = Self { look_ahead_s: 1.0, look_ahead_min_m: 4.0, look_ahead_max_m: 60.0 };
    /// Half a second ahead: for towns.
    pub const EAGER: Self = Self { look_ahead_s: 0.5, look_ahead_min_m: 3.0, look_ahead_max_m: 30.0 };
}

/// A pure pursuit for one car.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PurePursuit {
    spec: PurePursuitSpec,
    wheelbase_m: f64,
    steering_max_rad: f64,
}

impl PurePursuit {
    /// For a car.
    pub fn new(spec: PurePursuitSpec, car: &CarSpec) -> Self {
        Self { spec, wheelbase_m: car.wheelbase_m, steering_max_rad: car.steering_max_rad }
    }
    /// Steering angle; `station_m` is the foot of the rear axle.
    pub fn steering(&self, line: &impl Line, station_m: f64, ego: &EgoEstimate) -> f64 {
        let PurePursuitSpec { look_ahead_s, look_ahead_min_m, look_ahead_max_m } = self.spec;
        let ahead_m = (look_ahead_s * ego.speed_mps).clamp(look_ahead_min_m, look_ahead_max_m);
        let goal = ego.pose.local_from_world(line.at(station_m + ahead_m).pose.point());
        // 2·sin α / l is 2·y / l², the curvature of the arc; no angle is needed.
        let curvature_per_m = 2.0 * goal.y / (goal.x * goal.x + goal.y * goal.y).max(1e-6);
        maths::atan(self.wheelbase_m * curvature_per_m).clamp(-self.steering_max_rad, self.steering_max_rad)
    }
}
