//! Sensors and actuators whose units the compiler checks (S2-38).
//!
//! The car and its commands as quantities: what mixes them up does not compile, and a sensor of a length cannot read a speed.
//!
//! ```
//! use anabranch::*;
//! use anabranch::kernel::units::{Length, Time, Velocity, metre_per_second, second};
//!
//! // The way to a stop with 3 m/s², as a sensor.
//! let stopping = in_units(|_: &World<'_>, car: &CarInUnits| -> Length {
//!     let braking = Velocity::new::<metre_per_second>(3.0) / Time::new::<second>(1.0);
//!     car.velocity * car.velocity / (2.0 * braking)
//! });
//! let sensors = Sensors::default().with("stopping", stopping);
//! # let _ = sensors;
//!
//! // An engine that gives less the faster it goes.
//! let mut asked = Decision { accel: 1.5, ..Decision::default() };
//! change_in_units(&Seen { speed: 2.0, ..Seen::default() }, &mut asked, |velocity, command| {
//!     if velocity > Velocity::new::<metre_per_second>(1.0) {
//!         command.acceleration = command.acceleration / 3.0;
//!     }
//! });
//! assert_eq!(asked.accel, 0.5);
//! ```
//!
//! ```compile_fail
//! use anabranch::*;
//! use anabranch::kernel::units::Length;
//! // A speed is no length.
//! let wrong = in_units(|_: &World<'_>, car: &CarInUnits| -> Length { car.velocity });
//! ```
//!
//! ```compile_fail
//! use anabranch::*;
//! change_in_units(&Seen::default(), &mut Decision::default(), |velocity, command| command.acceleration = velocity);
//! ```

use anabranch_bridge::{Decision, Seen};
use anabranch_kernel::units::{
    Acceleration, Angle, Length, Time, Velocity, metre, metre_per_second, metre_per_second_squared, radian, second,
};
use anabranch_scenario::drive::foreign::{Sensor, TrueCar, World};

/// Something with a unit that a sensor reads; the driver is told it in SI.
pub trait Reading {
    /// In SI.
    fn si(self) -> f64;
}

impl Reading for Length {
    fn si(self) -> f64 {
        self.get::<metre>()
    }
}
impl Reading for Velocity {
    fn si(self) -> f64 {
        self.get::<metre_per_second>()
    }
}
impl Reading for Acceleration {
    fn si(self) -> f64 {
        self.get::<metre_per_second_squared>()
    }
}
impl Reading for Angle {
    fn si(self) -> f64 {
        self.get::<radian>()
    }
}
impl Reading for Time {
    fn si(self) -> f64 {
        self.get::<second>()
    }
}

/// The car as it truly is, with units.
#[derive(Clone, Copy, Debug)]
pub struct CarInUnits {
    /// Rear axle, to the east.
    pub east: Length,
    /// Rear axle, to the north.
    pub north: Length,
    /// Counter-clockwise from east.
    pub heading: Angle,
    /// Negative is backwards.
    pub velocity: Velocity,
    /// In the direction of positive speed.
    pub acceleration: Acceleration,
    /// Of the front wheels, positive to the left.
    pub steering: Angle,
}

impl CarInUnits {
    /// The same car.
    pub fn of(car: &TrueCar) -> Self {
        Self {
            east: Length::new::<metre>(car.x),
            north: Length::new::<metre>(car.y),
            heading: Angle::new::<radian>(car.heading),
            velocity: Velocity::new::<metre_per_second>(car.speed),
            acceleration: Acceleration::new::<metre_per_second_squared>(car.accel),
            steering: Angle::new::<radian>(car.steering),
        }
    }
}

/// A sensor that reads a quantity.
pub fn in_units<Q: Reading>(read: impl Fn(&World<'_>, &CarInUnits) -> Q + Send + Sync + 'static) -> impl Sensor {
    move |world: &World<'_>, car: &TrueCar| read(world, &CarInUnits::of(car)).si()
}

/// What a driver asks for, with units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommandInUnits {
    /// Along the gear.
    pub acceleration: Acceleration,
    /// Of the front wheels, positive to the left.
    pub steering: Angle,
}

/// Changes what a driver asks for, knowing how fast the car is; for the inside of an [`Actuator`](crate::Actuator).
pub fn change_in_units(inputs: &Seen, outputs: &mut Decision, change: impl FnOnce(Velocity, &mut CommandInUnits)) {
    let mut command = CommandInUnits {
        acceleration: Acceleration::new::<metre_per_second_squared>(outputs.accel),
        steering: Angle::new::<radian>(outputs.steer),
    };
    change(Velocity::new::<metre_per_second>(inputs.speed), &mut command);
    outputs.accel = command.acceleration.si();
    outputs.steer = command.steering.si();
}
