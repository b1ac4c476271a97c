//! What the sensors say, after their errors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything a driver is told in one step.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// Seconds since the start of the run.
    pub time: f64,
    /// Base cycles since the start of the run.
    pub tick: u64,
    /// Where the car believes to be.
    pub pose: PoseSeen,
    /// Metres per second, negative backwards.
    pub speed: f64,
    /// Angle of the front wheels.
    pub steer: f64,
    /// +1 forwards, −1 backwards.
    pub gear: i8,
    /// The car relative to its path.
    pub path: PathSeen,
    /// Where to go.
    pub goal: GoalSeen,
    /// What is perceived around the car.
    pub objects: Vec<ObjectSeen>,
    /// The car on its road, where there are roads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub road: Option<Box<RoadSeen>>,
    /// What plain sensors tell, where the car has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<Box<PlainSeen>>,
    /// What sensors that somebody added in Rust read, by their names (S2-36).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub readings: BTreeMap<String, f64>,
    /// What other cars have told by radio, the newest message of each, where there is a radio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<Vec<HeardSeen>>,
    /// What the monitor of the tyres tells, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tyres: Option<Box<TyresSeen>>,
    /// What is free near the car, for those who want `occupancy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Box<Occupancy>>,
}

/// What plain sensors tell, each with its own noise and period.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlainSeen {
    /// Friction coefficient of the road below the car.
    pub weather: f64,
    /// Rear axle.
    pub x: f64,
    /// Rear axle.
    pub y: f64,
    /// Heading, counter-clockwise from east.
    pub compass: f64,
    /// Metres per second, negative backwards.
    pub speed: f64,
    /// Angle of the front wheels.
    pub steer: f64,
    /// Metres from the right side of the car to the right edge of the road.
    pub to_right: f64,
    /// Metres from the front left corner to the marker left of the lane; negative is beyond it.
    pub front_left: f64,
    /// From the front right corner to the right marker.
    pub front_right: f64,
    /// From the rear left corner to the left marker.
    pub rear_left: f64,
    /// From the rear right corner to the right marker.
    pub rear_right: f64,
}

impl PlainSeen {
    /// All numbers, in the order of the fields.
    pub fn numbers(&self) -> [f64; 11] {
        let Self { weather, x, y, compass, speed, steer, to_right, .. } = *self;
        let Self { front_left, front_right, rear_left, rear_right, .. } = *self;
        [weather, x, y, compass, speed, steer, to_right, front_left, front_right, rear_left, rear_right]
    }
}

/// A message of another car: what it told of itself when it sent it.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HeardSeen {
    /// Number of the sender, the same all along a run; none of the numbers of `objects`.
    pub id: u32,
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Counter-clockwise from east.
    pub heading: f64,
    /// Along the heading.
    pub speed: f64,
    /// Along the heading; negative brakes.
    pub accel: f64,
    /// Along the heading.
    pub length: f64,
    /// Seconds since it was sent.
    pub age: f64,
}

/// What the monitor of the tyres tells: shares of the nominal pressure.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TyresSeen {
    /// Front left.
    pub fl: f64,
    /// Front right.
    pub fr: f64,
    /// Rear left.
    pub rl: f64,
    /// Rear right.
    pub rr: f64,
    /// One of them is too low.
    pub warning: bool,
}

/// A pose with what is known about its error.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct PoseSeen {
    /// Rear axle.
    pub x: f64,
    /// Rear axle.
    pub y: f64,
    /// Counter-clockwise from east.
    pub heading: f64,
    /// Of x, y, heading, row by row.
    pub covariance: [f64; 9],
}

/// The car relative to its path: the foot of the told position on the section that is being driven.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct PathSeen {
    /// Driven metres since the start of the path.
    pub station: f64,
    /// Metres left of the path, as seen along the path's heading.
    pub lateral: f64,
    /// Heading relative to the path's.
    pub heading: f64,
    /// Curvature to drive here, averaged about the car and moved ahead by the lag of the steering.
    pub curvature: f64,
    /// Metres to the end of this section, or to where an obstacle asks to stand.
    pub remaining: f64,
    /// Speed at which the steering can follow the path here.
    pub speed_max: f64,
    /// +1 forwards, −1 backwards.
    pub direction: i8,
    /// Index of the section that is being driven.
    pub section: u32,
    /// Sections that follow.
    pub sections_left: u32,
    /// Metres to the end of this section, whatever stands before it: who stands there has arrived, and who stands at an
    /// obstacle (`remaining`) has not.
    #[serde(default)]
    pub to_end: f64,
}

/// Where to go, from where the car believes to be: metres ahead and to the left, and the turn.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct GoalSeen {
    /// Ahead.
    pub ahead: f64,
    /// To the left.
    pub left: f64,
    /// Heading of the goal less that of the car.
    pub heading: f64,
}

/// Something perceived.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ObjectSeen {
    /// Number that stays the same while it is tracked.
    pub id: u32,
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Counter-clockwise from east.
    pub heading: f64,
    /// Along the heading.
    pub speed: f64,
    /// Along the heading.
    pub length: f64,
    /// Across the heading.
    pub width: f64,
    /// Velocity eastwards.
    #[serde(default)]
    pub vx: f64,
    /// Velocity northwards.
    #[serde(default)]
    pub vy: f64,
}

/// The car on its road, from where it believes to be.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct RoadSeen {
    /// Its lane, as road and lane: `main.1`.
    pub lane: String,
    /// Along that lane.
    pub station: f64,
    /// Left of its middle.
    pub lateral: f64,
    /// Heading less that of the lane.
    pub heading: f64,
    /// Of the lane.
    pub width: f64,
    /// Here.
    pub speed_limit: f64,
    /// The lane on the left, if it may be changed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<BesideSeen>,
    /// The lane on the right, if it may be changed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<BesideSeen>,
    /// What the route does next: `straight on`, `left` or `right` (change lanes), `arrive`.
    pub then: String,
    /// Metres until that must have happened.
    pub then_in: f64,
    /// Metres of the route that are left.
    pub route_left: f64,
    /// The middle of the lanes ahead along the route: x, y, heading, curvature, width, speed limit; the first is beside the car.
    pub ahead: Vec<[f64; 6]>,
    /// Metres between two of them.
    pub step: f64,
    /// Lines ahead at which one may have to stop, the nearest first.
    pub lines: Vec<LineSeen>,
}

/// A lane beside that of the car.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct BesideSeen {
    /// Its name.
    pub lane: String,
    /// From middle to middle.
    pub apart: f64,
    /// The line between may be crossed.
    pub may_change: bool,
}

/// A line ahead at which one may have to stop.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct LineSeen {
    /// From the rear axle.
    pub ahead: f64,
    /// `stop`, `yield`, `priority`, or `none`.
    pub sign: String,
    /// `red`, `red-amber`, `amber`, `green`, `dark`; nothing where there is no light.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub light: Option<String>,
}

/// Words by number, as in `c/anabranch.h`; a word that is not among them is −1.
fn number(words: &[&str], word: &str) -> i8 {
    words.iter().position(|known| *known == word).map_or(-1, |number| number as i8)
}

/// What a route does next, by number: 0 straight on, 1 left, 2 right, 3 arrive; −1 something else.
pub fn then_number(then: &str) -> i8 {
    number(&["straight on", "left", "right", "arrive"], then)
}

impl LineSeen {
    /// Its sign by number: 0 none, 1 stop, 2 yield, 3 priority; −1 another one.
    pub fn sign_number(&self) -> i8 {
        number(&["none", "stop", "yield", "priority"], &self.sign)
    }
    /// Its light by number: 0 none, 1 red, 2 red-amber, 3 amber, 4 green, 5 dark; −1 another one.
    pub fn light_number(&self) -> i8 {
        let lights = ["", "red", "red-amber", "amber", "green", "dark"];
        self.light.as_deref().map_or(0, |light| number(&lights, light))
    }
}

/// What is free near the car. For those who want `blobs` the cells travel as a frame beside the message.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Occupancy {
    /// Edge of a cell.
    pub cell_m: f64,
    /// Cells ahead-to-behind, left-to-right; the car's rear axle is in the middle.
    pub columns: u32,
    /// Cells ahead-to-behind, left-to-right; the car's rear axle is in the middle.
    pub rows: u32,
    /// One byte for each cell, row by row: 0 free, 255 occupied.
    #[serde(default, skip_serializing_if = "nothing")]
    pub cells: serde_bytes::ByteBuf,
    /// Where the cells are, if not here: number of the frame after the message, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<u32>,
}

fn nothing(cells: &serde_bytes::ByteBuf) -> bool {
    cells.is_empty()
}
