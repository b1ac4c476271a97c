//! What a part of the car gets and gives: an actuator between command and car, or the car as a whole.

use serde::{Deserialize, Serialize};

/// What reaches a part in one base cycle.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Push {
    /// Seconds since the start of the run.
    pub time: f64,
    /// Base cycles since the start.
    pub tick: u64,
    /// Commanded angle of the front wheels (rad, left positive), errors of the actuators included.
    pub steer: f64,
    /// Commanded acceleration along the gear (m/s²): positive drives, negative brakes.
    pub accel: f64,
    /// +1 forwards, −1 backwards.
    pub gear: i8,
    /// The car before this cycle.
    pub car: CarNow,
}

/// The car at one moment, as it really is.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CarNow {
    /// Rear axle, metres east.
    pub x: f64,
    /// Rear axle, metres north.
    pub y: f64,
    /// Radians counter-clockwise from east.
    pub heading: f64,
    /// Metres per second; negative backwards.
    pub speed: f64,
    /// Angle of the front wheels.
    pub steer: f64,
    /// Along the gear.
    pub accel: f64,
}

/// What a part made of it, at the end of the cycle. An actuator gives `steer` and `accel`; a plant gives where the car is
/// and how fast, and the other two if it knows them.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Moved {
    /// Rear axle, metres east.
    pub x: Option<f64>,
    /// Rear axle, metres north.
    pub y: Option<f64>,
    /// Radians counter-clockwise from east, not wrapped.
    pub heading: Option<f64>,
    /// Metres per second; negative backwards.
    pub speed: Option<f64>,
    /// Angle that the front wheels really have.
    pub steer: Option<f64>,
    /// Acceleration that the car really has, along the gear.
    pub accel: Option<f64>,
    /// The values of [`super::Card::key`], in its order.
    pub key: Vec<f64>,
}

impl Moved {
    /// Every number that is there, with its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("x", self.x),
            ("y", self.y),
            ("heading", self.heading),
            ("speed", self.speed),
            ("steer", self.steer),
            ("accel", self.accel),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}
