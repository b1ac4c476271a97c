//! Junctions: turns, stop lines, signs, lights, and who yields to whom.

use serde::{Deserialize, Serialize};

use crate::crosswalk::SignalRef;
use crate::lane::LaneId;
use crate::plan::LaneName;

/// What stands beside an approach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// Stop, then yield. Where every approach has one, who came first goes first.
    Stop,
    /// Yield.
    Yield,
    /// Nothing: the rule of the right.
    #[default]
    None,
    /// A road with priority.
    Priority,
}

/// A junction as a map says it. Its turns are the links that name it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JunctionPlan {
    /// Its id.
    pub name: String,
    /// What stands beside the lanes that lead into it; lanes not named have no sign.
    pub approaches: Vec<ApproachPlan>,
    /// The program of its lights.
    pub program: Option<String>,
    /// Exceptions: the first turn yields to the second, whatever the signs say.
    pub yields: Vec<YieldPlan>,
}

/// A lane that leads into a junction.
#[derive(Clone, Debug, PartialEq)]
pub struct ApproachPlan {
    /// The lane.
    pub lane: LaneName,
    /// Its sign.
    pub sign: Sign,
    /// How far before the end of the lane cars stop.
    pub stop_before_m: f64,
    /// The group of lights for all its turns.
    pub group: Option<String>,
    /// Groups for single turns, by the lane that they lead to.
    pub turn_groups: Vec<(LaneName, String)>,
}

/// An exception to the rules of priority.
#[derive(Clone, Debug, PartialEq)]
pub struct YieldPlan {
    /// The turn that yields, by the lanes it leads from and to.
    pub turn: (LaneName, LaneName),
    /// The turn that goes first.
    pub to: (LaneName, LaneName),
}

/// A junction with everything worked out.
#[derive(Clone, Debug, PartialEq)]
pub struct Junction {
    /// Its id.
    pub name: String,
    /// Its turning lanes, in order.
    pub turns: Vec<LaneId>,
    /// Number of its program of lights.
    pub program: Option<usize>,
}

/// What holds for one turning lane.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRule {
    /// The turning lane.
    pub turn: LaneId,
    /// The lane it begins on.
    pub approach: LaneId,
    /// Where cars stop on that lane.
    pub stop_station_m: f64,
    /// The sign of the approach.
    pub sign: Sign,
    /// Its light.
    pub signal: Option<SignalRef>,
    /// Other turns of the junction that come too close, in the order of lanes.
    pub conflicts: Vec<Conflict>,
}

/// Two turns that cannot be driven at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conflict {
    /// The other turn.
    pub with: LaneId,
    /// Station on this turn where it becomes too close to the other one.
    pub from_station_m: f64,
    /// Station on this turn from which it is clear again.
    pub to_station_m: f64,
    /// The same on the other turn.
    pub with_from_station_m: f64,
    /// The same on the other turn.
    pub with_to_station_m: f64,
    /// Who goes first when both could go.
    pub precedence: Precedence,
}

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Precedence {
    /// This turn.
    Goes,
    /// The other turn.
    Yields,
    /// Whoever was there first.
    FirstCome,
}

impl Precedence {
    /// As seen by the other turn.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Goes => Self::Yields,
            Self::Yields => Self::Goes,
            Self::FirstCome => Self::FirstCome,
        }
    }
}
