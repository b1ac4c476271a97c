//! What a map says, before it is checked and compiled into a [`Network`](crate::Network).
//!
//! Plain data with names, as a person or an importer writes it: roads with parallel lanes, way-points that carry position,
//! width and speed limit (S4-2), links from lane to lane, and what stands beside them.

use anabranch_geometry::Point;

use crate::barrier::Barrier;
use crate::crosswalk::CrosswalkPlan;
use crate::junction::JunctionPlan;
use crate::signal::Program;
use crate::zone::Zone;

/// A whole map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Its name.
    pub name: String,
    /// Stretches with parallel lanes; DARPA's files call them segments.
    pub roads: Vec<RoadPlan>,
    /// Pairs of exit and entry (S4-2).
    pub links: Vec<LinkPlan>,
    /// Where links cross each other, and by which rule.
    pub junctions: Vec<JunctionPlan>,
    /// Programs of traffic lights.
    pub programs: Vec<Program>,
    /// Where people cross.
    pub crosswalks: Vec<CrosswalkPlan>,
    /// Areas with a property of their own.
    pub zones: Vec<Zone>,
    /// Kerbs, fences and walls (S4-5).
    pub barriers: Vec<Barrier>,
    /// Named ways through the map; each must exist.
    pub routes: Vec<RoutePlan>,
}

/// A stretch with parallel lanes. Which lanes are neighbours follows from where they lie.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoadPlan {
    /// Its id, the only one of the map.
    pub name: String,
    /// Lanes in any order and direction.
    pub lanes: Vec<LanePlan>,
}

/// A lane as a series of way-points, in the direction of driving.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LanePlan {
    /// Its id, the only one of the road.
    pub name: String,
    /// At least two.
    pub points: Vec<Waypoint>,
    /// How width goes from point to point.
    pub width: Interpolation,
    /// How the speed limit goes from point to point.
    pub limit: Interpolation,
    /// Direction at the first point in radians, where it is known; else the curve finds its own.
    pub first_heading: Option<f64>,
    /// Direction at the last point in radians.
    pub last_heading: Option<f64>,
    /// The line on its left.
    pub left: Marking,
    /// The line on its right.
    pub right: Marking,
}

/// A way-point: position, lane width and speed limit (S4-2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// Middle of the lane.
    pub position: Point,
    /// Width of the lane here.
    pub width_m: f64,
    /// Speed limit from here.
    pub limit_mps: f64,
}

/// How a quantity goes from way-point to way-point, Eq. (1) (S4-4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// By a cubic polynomial that does not overshoot.
    Cubic,
    /// At each way-point at once.
    #[default]
    Step,
}

/// The painted line between a lane and what is beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marking {
    /// May be crossed to change lanes.
    #[default]
    Broken,
    /// Must not be crossed.
    Solid,
}

/// A lane by the names of its road and itself: `main.1` in files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneName {
    /// Id of the road.
    pub road: String,
    /// Id of the lane in its road.
    pub lane: String,
}

impl LaneName {
    /// From the two ids.
    pub fn new(road: impl Into<String>, lane: impl Into<String>) -> Self {
        Self { road: road.into(), lane: lane.into() }
    }
}

impl std::fmt::Display for LaneName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.road, self.lane)
    }
}

/// A named way from one place to another.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutePlan {
    /// Its id.
    pub name: String,
    /// Lane and station of the start.
    pub from: (LaneName, f64),
    /// Lane and station of the goal.
    pub to: (LaneName, f64),
}

/// An exit and its entry. Where they are apart, a turning lane is laid between them.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlan {
    /// The lane that is left.
    pub from: LaneName,
    /// Number of the way-point where it is left; its last one if not given.
    pub exit_point: Option<usize>,
    /// The lane that is entered.
    pub to: LaneName,
    /// Number of the way-point where it is entered; its first one if not given.
    pub entry_point: Option<usize>,
    /// Speed limit of the turning lane; what the curve lets a car drive comfortably if not given.
    pub limit_mps: Option<f64>,
    /// Way-points between exit and entry, where the curve is given instead of laid.
    pub through: Vec<Point>,
    /// The junction it belongs to, by name.
    pub junction: Option<String>,
}

impl LinkPlan {
    /// From the end of a lane to the beginning of another.
    pub fn new(from: LaneName, to: LaneName) -> Self {
        Self { from, exit_point: None, to, entry_point: None, limit_mps: None, through: Vec::new(), junction: None }
    }
    /// The same as a turn of a junction.
    #[must_use]
    pub fn in_junction(mut self, name: &str) -> Self {
        self.junction = Some(name.to_owned());
        self
    }
}
