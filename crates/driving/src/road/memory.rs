//! What a driver on roads remembers.

use anabranch_kernel::{KeyWriter, Variable};
use anabranch_roads::LaneId;
use serde::{Deserialize, Serialize};

use super::offset::Offset;

/// What it remembers about the junction ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GateMemory {
    /// The turn it wants to take there.
    pub turn: Option<LaneId>,
    /// It has stood at the line.
    pub stopped: bool,
    /// Conflicts whose cars stood there before it, one bit each: they go first.
    pub before_us: u32,
    /// How long it has stood at the line while it might have gone.
    pub waited_s: f64,
}

/// Everything a driver on roads remembers. Small, plain, and all of it in the merge key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoadMemory {
    /// Which of its ways it is on: 0 for the route, others after an exit that it missed.
    pub way: u8,
    /// Leg of that way.
    pub leg: u16,
    /// The lane that its plan refers to.
    pub lane: LaneId,
    /// Where its rear axle is along that lane, as it believes.
    pub station_m: f64,
    /// The way beside the middle of that lane.
    pub offset: Offset,
    /// Cycles until it plans again.
    pub plan_in_cycles: u8,
    /// The junction ahead.
    pub gate: GateMemory,
    /// It stands at its goal.
    pub arrived: bool,
}

/// Patience is a matter of seconds; waits that differ by less are alike.
const WAITED_CELL_S: f64 = 0.5;
/// The station is found anew from the pose in every cycle; a search that begins this much elsewhere finds the same place.
const STATION_CELL_M: f64 = 4.0;

impl RoadMemory {
    /// Its variables, in the order [`Self::write_key`] writes them. The plan is written as what of it is still ahead: the way
    /// left and offset, slope and bend where the car is; with the end they fix the rest of the quintic, so it does not matter
    /// when two equal rests were planned. Their cells are those of the car's own pose. The station is only where the search
    /// for the place of the next cycle begins.
    pub fn variables() -> Vec<Variable> {
        vec![
            Variable::exact("driver_leg"),
            Variable::exact("driver_lane"),
            Variable::real("driver_station", "m", STATION_CELL_M),
            Variable::real("driver_plan_left", "m", 2.0),
            Variable::real("driver_plan_offset", "m", 0.1),
            Variable::real("driver_plan_slope", "", 0.02),
            Variable::real("driver_plan_bend", "1/m", 0.005),
            Variable::real("driver_plan_end", "m", 0.1),
            Variable::exact("driver_plan_in"),
            Variable::exact("driver_turn"),
            Variable::exact("driver_stopped"),
            Variable::exact("driver_yields_to"),
            Variable::real("driver_waited", "s", WAITED_CELL_S),
            Variable::exact("driver_arrived"),
            Variable::exact("driver_way"),
        ]
    }
    /// Adds the memory to the merge key; its variables start at `base_index`.
    pub fn write_key(&self, base_index: usize, key: &mut KeyWriter<'_>) {
        key.exact(base_index, u64::from(self.leg));
        key.exact(base_index + 1, u64::from(self.lane.0));
        key.real(base_index + 2, self.station_m);
        let [offset_m, slope, bend] = self.offset.at(self.station_m);
        key.real(base_index + 3, (self.offset.from_m + self.offset.length_m - self.station_m).max(0.0));
        key.real(base_index + 4, offset_m);
        key.real(base_index + 5, slope);
        key.real(base_index + 6, bend);
        key.real(base_index + 7, self.offset.end_m);
        key.exact(base_index + 8, u64::from(self.plan_in_cycles));
        key.exact(base_index + 9, self.gate.turn.map_or(u64::MAX, |turn| u64::from(turn.0)));
        key.exact(base_index + 10, u64::from(self.gate.stopped));
        key.exact(base_index + 11, u64::from(self.gate.before_us));
        key.real(base_index + 12, self.gate.waited_s);
        key.exact(base_index + 13, u64::from(self.arrived));
        key.exact(base_index + 14, u64::from(self.way));
    }
}
