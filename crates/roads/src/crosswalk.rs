//! Where people cross a road.

use anabranch_geometry::Point;

use crate::lane::LaneId;

/// A crosswalk as a map says it.
#[derive(Clone, Debug, PartialEq)]
pub struct CrosswalkPlan {
    /// Its id.
    pub name: String,
    /// The kerb on one side.
    pub from: Point,
    /// The kerb on the other side.
    pub to: Point,
    /// Width of the marked strip, along the road.
    pub width_m: f64,
    /// Program and group of its light for people on foot, if it has one.
    pub signal: Option<(String, String)>,
}

/// A crosswalk with the lanes that it crosses.
#[derive(Clone, Debug, PartialEq)]
pub struct Crosswalk {
    /// Its id.
    pub name: String,
    /// The kerb on one side.
    pub from: Point,
    /// The kerb on the other side.
    pub to: Point,
    /// Width of the marked strip.
    pub width_m: f64,
    /// Program and group of its light, by number.
    pub signal: Option<SignalRef>,
    /// Where lanes are crossed, in the order of lanes.
    pub crossings: Vec<LaneCrossing>,
}

/// Where a lane is crossed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneCrossing {
    /// The lane.
    pub lane: LaneId,
    /// Station at which the strip begins.
    pub from_station_m: f64,
    /// Station at which it ends.
    pub to_station_m: f64,
}

/// A light by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignalRef {
    /// Number of the program in the network.
    pub program: usize,
    /// Number of the group in the program.
    pub group: usize,
}
