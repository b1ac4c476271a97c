//! One lane: what a car on it needs to know.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::plan::{LaneName, Marking};

/// Number of a lane in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub struct LaneId(pub u32);

impl LaneId {
    /// As an index into [`Network::lanes`](crate::Network::lanes).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number of a junction in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JunctionId(pub u32);

/// Whether a lane is part of a road or leads from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// A lane of a road.
    Road,
    /// A lane that was laid for a link.
    Turn(Turn),
}

/// Which way a link goes, by its change of heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Less than 30° to either side.
    Straight,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// More than 150° to either side.
    Back,
}

/// A way from this lane onto another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The lane that is entered.
    pub to: LaneId,
    /// Station at which this lane is left; its length for most links.
    pub from_station_m: f64,
    /// Station at which the other is entered; 0 for most links.
    pub to_station_m: f64,
    /// Which way it goes.
    pub turn: Turn,
}

/// Everything about a lane at one station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LanePoint {
    /// Middle of the lane.
    pub position: Point,
    /// Direction in radians, counter-clockwise from east.
    pub heading: f64,
    /// In 1/m, positive to the left.
    pub curvature: f64,
    /// Width of the lane.
    pub width_m: f64,
    /// Speed limit.
    pub limit_mps: f64,
    /// Metres of path per metre of station: a car that drives v·dt metres advances v·dt / stretch in station.
    pub stretch: f64,
}

/// A place relative to a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frenet {
    /// Along the lane; negative before its beginning and more than its length behind its end.
    pub station_m: f64,
    /// Beside its middle, positive to the left.
    pub lateral_m: f64,
    /// Direction of the lane there, in radians of the world.
    pub heading: f64,
}

/// How far beyond the end of a lane its neighbour still counts as beside it, so that lanes that begin together do.
const SIDE_SLACK_M: f64 = 0.1;

/// A lane on the left or right, with the stations that lie side by side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Beside {
    pub lane: LaneId,
    /// For each way-point of this lane, the station of the other one beside it.
    pub stations_m: Vec<f64>,
    pub other_length_m: f64,
}

/// A lane of a network. Its parts are immutable; cars keep their place on it as a [`Frenet`].
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    pub(crate) id: LaneId,
    pub(crate) name: LaneName,
    pub(crate) kind: LaneKind,
    pub(crate) curve: Curve,
    pub(crate) left: Option<Beside>,
    pub(crate) right: Option<Beside>,
    pub(crate) oncoming: Option<LaneId>,
    pub(crate) markings: [Marking; 2],
    pub(crate) next: Vec<Link>,
    pub(crate) previous: Vec<LaneId>,
    pub(crate) junction: Option<JunctionId>,
}

impl Lane {
    /// Its number.
    pub fn id(&self) -> LaneId {
        self.id
    }
    /// Its name in maps.
    pub fn name(&self) -> &LaneName {
        &self.name
    }
    /// Whether it is part of a road or leads from one to another.
    pub fn kind(&self) -> LaneKind {
        self.kind
    }
    /// Its length as the station of its last way-point (S4-3).
    #[inline]
    pub fn length_m(&self) -> f64 {
        self.curve.length_m()
    }
    /// Stations of its way-points.
    pub fn waypoint_stations_m(&self) -> &[f64] {
        &self.curve.knots
    }
    /// Everything about it at a station. Outside of its way-points it goes on straight with equal width and limit.
    pub fn at(&self, station_m: f64) -> LanePoint {
        let jet = self.curve.jet(station_m);
        let (width_m, limit_mps) = self.curve.width_and_limit(station_m);
        LanePoint {
            position: jet.position,
            heading: maths::atan2(jet.slope.y, jet.slope.x),
            curvature: jet.curvature(),
            width_m,
            limit_mps,
            stretch: jet.stretch(),
        }
    }
    /// Position and direction, for those who need no more.
    pub fn pose(&self, station_m: f64) -> Pose {
        let jet = self.curve.jet(station_m);
        Pose::new(jet.position.x, jet.position.y, maths::atan2(jet.slope.y, jet.slope.x))
    }
    /// Position of its middle.
    #[inline]
    pub fn position(&self, station_m: f64) -> Point {
        self.curve.jet(station_m).position
    }
    /// Curvature in 1/m, positive to the left.
    #[inline]
    pub fn curvature(&self, station_m: f64) -> f64 {
        self.curve.jet(station_m).curvature()
    }
    /// Width at a station.
    #[inline]
    pub fn width_m(&self, station_m: f64) -> f64 {
        self.curve.width_and_limit(station_m).0
    }
    /// Speed limit at a station.
    #[inline]
    pub fn limit_mps(&self, station_m: f64) -> f64 {
        self.curve.width_and_limit(station_m).1
    }
    /// The lane to the left with the same direction.
    pub fn left(&self) -> Option<LaneId> {
        self.left.as_ref().map(|beside| beside.lane)
    }
    /// The lane to the right with the same direction.
    pub fn right(&self) -> Option<LaneId> {
        self.right.as_ref().map(|beside| beside.lane)
    }
    /// The lane to the left and the station on it that lies beside this one; none where that lane has not begun or has
    /// ended.
    pub fn left_at(&self, station_m: f64) -> Option<(LaneId, f64)> {
        self.left.as_ref().and_then(|beside| self.beside_at(beside, station_m))
    }
    /// The same to the right.
    pub fn right_at(&self, station_m: f64) -> Option<(LaneId, f64)> {
        self.right.as_ref().and_then(|beside| self.beside_at(beside, station_m))
    }
    /// The nearest lane of the same road to the left that goes the other way, when no lane lies between.
    pub fn oncoming(&self) -> Option<LaneId> {
        self.oncoming
    }
    /// The line on its left.
    pub fn left_marking(&self) -> Marking {
        self.markings[0]
    }
    /// The line on its right.
    pub fn right_marking(&self) -> Marking {
        self.markings[1]
    }
    /// Where one can go from it, in the order of the map.
    pub fn next(&self) -> &[Link] {
        &self.next
    }
    /// The lanes that lead onto it.
    pub fn previous(&self) -> &[LaneId] {
        &self.previous
    }
    /// The junction whose turn it is.
    pub fn junction(&self) -> Option<JunctionId> {
        self.junction
    }

    fn beside_at(&self, beside: &Beside, station_m: f64) -> Option<(LaneId, f64)> {
        let knots = &self.curve.knots;
        let i = self.curve.piece_at(station_m);
        let fraction = (station_m - knots[i]) / (knots[i + 1] - knots[i]);
        let (from, to) = (beside.stations_m[i], beside.stations_m[i + 1]);
        let station = from + fraction * (to - from);
        let inside = station.max(0.0).min(beside.other_length_m);
        ((station - inside).abs() <= SIDE_SLACK_M).then_some((beside.lane, inside))
    }
}
