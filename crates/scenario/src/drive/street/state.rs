//! What of roads evolves.

use anabranch_driving::road::RoadMemory;
use anabranch_helpers::HelpersState;
use anabranch_monitors::Lately;
use anabranch_sensing::{DetectorState, NavigationState, PlainState, TrackerState};
use anabranch_traffic::Branch;
use serde::{Deserialize, Serialize};

use super::Attached;

/// The part of the state that roads need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreetState {
    /// The driver.
    pub memory: RoadMemory,
    /// Others, as far as they differ from what they would do without the car.
    pub branch: Branch,
    /// Of the first object sensor: readings on their way, and how long objects have been in sight.
    pub detector: DetectorState,
    /// Of the others.
    pub detectors: Vec<DetectorState>,
    /// What the driver believes about others.
    pub tracks: TrackerState,
    /// The car has stood before the stop sign that comes next.
    pub stood: bool,
    /// What of the vehicle evolves besides the plain car.
    pub attached: Attached,
    /// What the filter of the own motion believes, where there is one.
    pub navigation: Option<Box<NavigationState>>,
    /// What plain sensors tell, where there are some.
    pub plain: Option<Box<PlainState>>,
    /// What helper simulators have computed, where there are some.
    pub helpers: Option<Box<HelpersState>>,
    /// How the car has behaved, for requirements.
    pub lately: Lately,
    /// Of the chance of sensors: the same in every state of an exploration.
    pub seed: u64,
}
