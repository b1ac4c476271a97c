//! What a driver on roads remembers.

use anabranch_kernel::Visitor;
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
    /// Names its variables. The plan is written as what of it is still ahead: the way left and offset, slope and bend where the
    /// car is; with the end they fix the rest of the quintic, so it does not matter when two equal rests were planned. Their
    /// cells are those of the car's own pose. The station is only where the search for the place of the next cycle begins.
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        v.exact("driver_leg", u64::from(self.leg));
        v.exact("driver_lane", u64::from(self.lane.0));
        v.real("driver_station", "m", STATION_CELL_M, self.station_m);
        let [offset_m, slope, bend] = self.offset.at(self.station_m);
        let left_m = (self.offset.from_m + self.offset.length_m - self.station_m).max(0.0);
        v.real("driver_plan_left", "m", 2.0, left_m);
        v.real("driver_plan_offset", "m", 0.1, offset_m);
        v.real("driver_plan_slope", "", 0.02, slope);
        v.real("driver_plan_bend", "1/m", 0.005, bend);
        v.real("driver_plan_end", "m", 0.1, self.offset.end_m);
        v.exact("driver_plan_in", u64::from(self.plan_in_cycles));
        v.exact("driver_turn", self.gate.turn.map_or(u64::MAX, |turn| u64::from(turn.0)));
        v.exact("driver_stopped", u64::from(self.gate.stopped));
        v.exact("driver_yields_to", u64::from(self.gate.before_us));
        v.real("driver_waited", "s", WAITED_CELL_S, self.gate.waited_s);
        v.exact("driver_arrived", u64::from(self.arrived));
        v.exact("driver_way", u64::from(self.way));
    }
}
