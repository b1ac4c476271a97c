//! Optimal feedback for following a trajectory: the path tracker for steering, and drive and brake towards a target that
//! moves along the line (S4-10).
//!
//! Along the line the errors are the way behind the target, the speed below it, and the acceleration, which lags behind
//! its command: ṡ = v, v̇ = a, ȧ = (a_c − a)/T_a (S4-11). The target's own acceleration is fed forward, ahead by the lag.

use anabranch_vehicle::CarSpec;
use serde::{Deserialize, Serialize};

use super::lqr::{LateralCar, LqrPath, LqrWeights};
use super::riccati::{NotSolvable, gains, sample};
use super::{EgoEstimate, Line};
use crate::follow::Command;

/// A drive that follows at once is modelled with this lag.
const LAG_MIN_S: f64 = 0.01;

/// Where the car should be now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Along the line.
    pub station_m: f64,
    /// Speed there.
    pub speed_mps: f64,
    /// Acceleration there.
    pub accel_mps2: f64,
}

/// How large errors along the line may be against each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryWeights {
    /// Way behind or ahead.
    pub station_m: f64,
    /// Speed.
    pub speed_mps: f64,
    /// Acceleration beyond the target's.
    pub accel_mps2: f64,
}

impl TrajectoryWeights {
    /// Smooth.
    pub const CALM: Self = Self { station_m: 1.0, speed_mps: 1.0, accel_mps2: 1.0 };
}

/// An optimal trajectory tracker for one car.
#[derive(Clone, Debug, PartialEq)]
pub struct LqrTrajectory {
    lateral: LqrPath,
    along: [f64; 3],
    accel_max_mps2: f64,
    brake_max_mps2: f64,
}

impl LqrTrajectory {
    /// Solves the gains for a car that is told new commands every `cycle_s`.
    ///
    /// # Errors
    /// [`NotSolvable`] if weights are not positive.
    pub fn new(
        car: &LateralCar,
        lateral: &LqrWeights,
        along: &TrajectoryWeights,
        cycle_s: f64,
    ) -> Result<Self, NotSolvable> {
        let spec: &CarSpec = match car {
            LateralCar::Rolling(spec) => spec,
            LateralCar::Tyres(spec) => &spec.car,
        };
        let lag_s = spec.accel_lag_s.max(LAG_MIN_S);
        let motion = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0 / lag_s]];
        let held = sample::<3, 4>(&motion, &[0.0, 0.0, 1.0 / lag_s], cycle_s);
        let square = |size: f64| cycle_s / (size * size);
        let weights = [square(along.station_m), square(along.speed_mps), 0.0];
        Ok(Self {
            lateral: LqrPath::new(car, lateral, cycle_s)?,
            along: gains(&held.a, &held.b, &weights, square(along.accel_mps2))?,
            accel_max_mps2: spec.accel_max_mps2,
            brake_max_mps2: spec.brake_max_mps2,
        })
    }
    /// The tracker of the path.
    pub fn lateral(&self) -> &LqrPath {
        &self.lateral
    }
    /// Commands; `station_m` is the foot of the rear axle.
    pub fn command(&self, line: &impl Line, station_m: f64, ego: &EgoEstimate, target: &Target) -> Command<f64> {
        let [k_station, k_speed, k_accel] = self.along;
        let correction = k_station * (station_m - target.station_m)
            + k_speed * (ego.speed_mps - target.speed_mps)
            + k_accel * (ego.accel_mps2 - target.accel_mps2);
        let accel = (target.accel_mps2 - correction).clamp(-self.brake_max_mps2, self.accel_max_mps2);
        Command { steering: self.lateral.steering(line, station_m, ego), accel, gear_sign: 1.0 }
    }
}
