//! What a driver on roads is told: never the truth, always what sensors and trackers made of it.

use anabranch_geometry::Pose;
use anabranch_roads::{Aspect, SignalRef};
use serde::{Deserialize, Serialize};

use crate::track::EgoEstimate;

/// What an object was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObjectKind {
    /// A car, truck or bus.
    Car,
    /// Someone on a bicycle.
    Cyclist,
    /// Someone on foot.
    Pedestrian,
    /// Anything that lies or stands around.
    Thing,
}

/// An object as it is tracked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenObject {
    /// Middle of its box, and the direction of its length.
    pub pose: Pose,
    /// Velocity eastwards and northwards.
    pub velocity_mps: [f64; 2],
    /// Half its length.
    pub half_length_m: f64,
    /// Half its width.
    pub half_width_m: f64,
    /// What it was taken for.
    pub kind: ObjectKind,
}

/// A traffic light as it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenLight {
    /// Which one.
    pub signal: SignalRef,
    /// What it shows.
    pub aspect: Aspect,
}

/// What another car has told by radio: as it was when it sent it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeardCar {
    /// Its middle and its direction.
    pub pose: Pose,
    /// Along its direction.
    pub speed_mps: f64,
    /// Negative brakes.
    pub accel_mps2: f64,
    /// Half its length.
    pub half_length_m: f64,
    /// How long ago that was.
    pub age_s: f64,
}

/// Everything a driver on roads is told in one cycle.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Its own car.
    pub ego: EgoEstimate,
    /// Others, in any order; the order decides nothing but ties.
    pub objects: &'a [SeenObject],
    /// Lights in sight. One that is not in sight counts as red: who does not see it does not pass it.
    pub lights: &'a [SeenLight],
    /// What other cars have told by radio, if there is one.
    pub heard: &'a [HeardCar],
    /// The monitor of the tyres has told of too little pressure.
    pub soft_tyre: bool,
    /// Signs and lights whose line is farther ahead of the front than this are not known yet; infinite with a map that has them.
    pub signs_m: f64,
}

impl Seen<'_> {
    /// What a light shows.
    pub fn aspect(&self, signal: SignalRef) -> Aspect {
        self.lights.iter().find(|light| light.signal == signal).map_or(Aspect::Red, |light| light.aspect)
    }
}
