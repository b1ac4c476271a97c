//! Tracking controllers: from a path and what the car is told about itself to steering and drive commands.
//!
//! [`PathFollower`] follows the path by place and stops at its end; [`TrajectoryFollower`] follows it by time (S1-50).
//! Both share one lateral law ([`LateralLaw`]), both drive sections forwards and backwards and change gear in between,
//! and both end with "manoeuvre completed" (S1-12). The laws are written over `Real`: one car or several side by side,
//! with equal bits.

mod lateral;
mod longitudinal;
mod path_follower;
mod trajectory;
mod trajectory_follower;

#[cfg(test)]
mod closed_loop;

pub use lateral::{Ahead, Deviation, LateralGains, LateralLaw, Reference, SectionLanes, look_up, project};
pub use longitudinal::{STANDSTILL_MPS, SpeedGains};
pub use path_follower::{PathFollower, PathFollowerSpec, PathLanes, PathMemory, PathMode};
pub use trajectory::{Profile, ProfileLanes, Target, Trajectory};
pub use trajectory_follower::{TrajectoryFollower, TrajectoryFollowerSpec, TrajectoryLanes, TrajectoryMemory};

/// What a driver is told about its car, after sensor errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told<R> {
    /// Rear axle, metres east.
    pub x: R,
    /// Rear axle, metres north.
    pub y: R,
    /// Radians counter-clockwise from east.
    pub heading: R,
    /// Metres per second, negative backwards.
    pub speed: R,
}

/// What a driver asks of its car, before actuator errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Command<R> {
    /// Angle of the front wheels in radians.
    pub steering: R,
    /// Acceleration along the gear in m/s²: positive drives, negative brakes.
    pub accel: R,
    /// Gear: +1 forwards, −1 backwards.
    pub gear_sign: R,
}
