//! Trackers for driving on roads (S4-10): steering onto a line, from walking pace to motorway speed (Snider 2009).
//!
//! | tracker | steers by | knows |
//! |---|---|---|
//! | [`PurePursuit`] | an arc to a point ahead | wheelbase |
//! | [`Stanley`] | heading and offset at the front axle | wheelbase, slip of the front tyres |
//! | [`LqrPath`] | optimal feedback of all errors, gains by speed | the linear car, its tyres and steering lag |
//! | [`LqrTrajectory`] | the same, and optimal drive and brake towards a moving target | also the lag of the drive |
//!
//! All are immutable and without memory; the place along the line is the caller's state and is moved by [`Line::foot`].
//! They drive forwards; the parking followers of [`crate::follow`] also reverse.
//!
//! ```
//! use anabranch_driving::track::{EgoEstimate, Line, LineSample, PurePursuit, PurePursuitSpec, SampledLine};
//! use anabranch_geometry::Pose;
//! use anabranch_vehicle::CarSpec;
//!
//! let line = SampledLine::new((0..=200).map(|i| LineSample::straight(f64::from(i), Pose::new(f64::from(i), 0.0, 0.0))).collect());
//! let tracker = PurePursuit::new(PurePursuitSpec::CALM, &CarSpec::compact());
//! let ego = EgoEstimate::rolling(Pose::new(10.0, 0.5, 0.0), 15.0); // half a metre left of the line
//! let station_m = line.foot(ego.pose.point(), 9.0);
//! assert!((station_m - 10.0).abs() < 1e-9);
//! assert!(tracker.steering(&line, station_m, &ego) < 0.0); // steers right
//! ```

mod line;
mod lqr;
mod matrix;
mod pure_pursuit;
mod riccati;
mod stanley;
mod trajectory;

#[cfg(test)]
mod tests;

use anabranch_geometry::Pose;
use anabranch_vehicle::{CarSpec, PlantMotion, SingleTrackSpec};
use serde::{Deserialize, Serialize};

pub use line::{Line, LineSample, SampledLine};
pub use lqr::{FeedForward, LateralCar, LqrPath, LqrWeights};
pub use pure_pursuit::{PurePursuit, PurePursuitSpec};
pub use riccati::{NotSolvable, gains};
pub use stanley::{Stanley, StanleySpec};
pub use trajectory::{LqrTrajectory, Target, TrajectoryWeights};

/// Any of the trackers of a path, for drivers that take theirs from a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Tracker {
    /// An arc to a point ahead.
    PurePursuit(PurePursuit),
    /// Heading and offset at the front axle.
    Stanley(Stanley),
    /// Optimal feedback.
    Lqr(LqrPath),
}

/// A law of steering with its habits (S4-10), before it knows its car.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Steering {
    /// Optimal feedback.
    Lqr(LqrWeights),
    /// An arc to a point ahead.
    PurePursuit(PurePursuitSpec),
    /// Heading and offset at the front axle.
    Stanley(StanleySpec),
}

impl Tracker {
    /// For a car that rolls without slip, deciding every `cycle_s`.
    ///
    /// # Errors
    /// [`NotSolvable`] if weights are not positive.
    pub fn for_rolling(steering: &Steering, car: &CarSpec, cycle_s: f64) -> Result<Self, NotSolvable> {
        Ok(match *steering {
            Steering::Lqr(weights) => Self::Lqr(LqrPath::new(&LateralCar::Rolling(*car), &weights, cycle_s)?),
            Steering::PurePursuit(spec) => Self::PurePursuit(PurePursuit::new(spec, car)),
            Steering::Stanley(spec) => Self::Stanley(Stanley::new(spec, car)),
        })
    }
    /// For a car whose tyres are known. A pursuit is geometry and does not ask for them.
    ///
    /// # Errors
    /// [`NotSolvable`] if weights are not positive.
    pub fn for_tyres(steering: &Steering, car: &SingleTrackSpec, cycle_s: f64) -> Result<Self, NotSolvable> {
        Ok(match *steering {
            Steering::Lqr(weights) => Self::Lqr(LqrPath::new(&LateralCar::Tyres(*car), &weights, cycle_s)?),
            Steering::PurePursuit(spec) => Self::PurePursuit(PurePursuit::new(spec, &car.car)),
            Steering::Stanley(spec) => Self::Stanley(Stanley::with_tyres(spec, car)),
        })
    }
    /// Steering angle; `station_m` is the foot of the rear axle.
    pub fn steering(&self, line: &impl Line, station_m: f64, ego: &EgoEstimate) -> f64 {
        match self {
            Self::PurePursuit(tracker) => tracker.steering(line, station_m, ego),
            Self::Stanley(tracker) => tracker.steering(line, station_m, ego),
            Self::Lqr(tracker) => tracker.steering(line, station_m, ego),
        }
    }
}

/// What a driver believes about its own car, after sensor errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EgoEstimate {
    /// Pose of the rear axle.
    pub pose: Pose,
    /// Speed along the car.
    pub speed_mps: f64,
    /// Speed of the rear axle across the car, to the left; 0 if nothing measures it.
    pub slide_mps: f64,
    /// Counter-clockwise.
    pub yaw_rate_radps: f64,
    /// Angle of the front wheels.
    pub steering_rad: f64,
    /// Along the car.
    pub accel_mps2: f64,
}

impl EgoEstimate {
    /// A car that rolls straight on.
    pub fn rolling(pose: Pose, speed_mps: f64) -> Self {
        Self { pose, speed_mps, slide_mps: 0.0, yaw_rate_radps: 0.0, steering_rad: 0.0, accel_mps2: 0.0 }
    }
}

impl From<PlantMotion> for EgoEstimate {
    /// The truth: what perfect sensors tell.
    fn from(motion: PlantMotion) -> Self {
        let PlantMotion { pose, speed_mps, slide_mps, yaw_rate_radps, steering_rad, accel_mps2 } = motion;
        Self { pose, speed_mps, slide_mps, yaw_rate_radps, steering_rad, accel_mps2 }
    }
}
