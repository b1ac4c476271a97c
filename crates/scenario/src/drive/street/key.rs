//! Roads in the merge key.
//!
//! Cars that are as they would be without the car under test are functions of the tick, which is in the key: only touched ones
//! are written, by the cells that the traffic declares.

use anabranch_driving::road::RoadMemory;
use anabranch_kernel::{KeyWriter, Variable};
use anabranch_sensing::Tracker;

use super::super::state::DriveState;
use super::Street;

/// Where the variables of roads stand in the key.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct StreetLayout {
    memory: usize,
    traffic: usize,
    detector: usize,
    tracks: usize,
    stood: usize,
}

impl Street {
    /// Declares the variables.
    pub(in super::super) fn lay_out(&self, all: &mut Vec<Variable>) -> StreetLayout {
        let mut add = |variables: Vec<Variable>| {
            let first = all.len();
            all.extend(variables);
            first
        };
        let mut traffic = anabranch_traffic::variables();
        traffic.extend(anabranch_traffic::walker_variables());
        StreetLayout {
            memory: add(RoadMemory::variables()),
            traffic: add(traffic),
            detector: add(self.detector.variables("sensor")),
            tracks: add(Tracker::variables("track")),
            stood: add(vec![Variable::exact("stood")]),
        }
    }

    /// Writes them.
    pub(in super::super) fn write_key(&self, layout: &StreetLayout, state: &DriveState, key: &mut KeyWriter<'_>) {
        let street = state.street();
        street.memory.write_key(layout.memory, key);
        street.branch.write_key(&self.timeline, layout.traffic, key);
        self.detector.write_key(&street.detector, layout.detector, key);
        street.tracks.write_key(layout.tracks, key);
        key.exact(layout.stood, u64::from(street.stood));
    }
}
