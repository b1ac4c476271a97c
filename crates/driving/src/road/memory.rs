//! What a driver on roads remembers.

use anabranch_kernel::{KeyWriter, Variable};
use anabranch_roads::LaneId;
use serde::{Deserialize, Serialize};

use super::offset::Offset;

/// What it remembers about the junction ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateMemory {
    /// The turn it wants to take there.
    pub turn: Option<LaneId>,
    /// It has stood at the line.
    pub stopped: bool,
    /// Conflicts whose cars stood there before it, one bit each: they go first.
    pub before_us: u32,
    /// Cycles it has stood at the line while it might have gone.
    pub waited_cycles: u16,
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

impl RoadMemory {
    /// Its variables, in the order [`Self::write_key`] writes them. The plan's cells are those of the car's own pose: two
    /// plans whose offsets, slopes and bends differ by less lead to the same cells of the pose.
    pub fn variables() -> Vec<Variable> {
        vec![
            Variable::exact("driver_leg"),
            Variable::exact("driver_lane"),
            Variable::real("driver_station", "m", 0.5),
            Variable::real("driver_plan_from", "m", 1.0),
            Variable::real("driver_plan_length", "m", 1.0),
            Variable::real("driver_plan_offset", "m", 0.1),
            Variable::real("driver_plan_slope", "", 0.02),
            Variable::real("driver_plan_bend", "1/m", 0.005),
            Variable::real("driver_plan_end", "m", 0.1),
            Variable::exact("driver_plan_in"),
            Variable::exact("driver_turn"),
            Variable::exact("driver_stopped"),
            Variable::exact("driver_yields_to"),
            Variable::exact("driver_waited"),
            Variable::exact("driver_arrived"),
            Variable::exact("driver_way"),
        ]
    }
    /// Adds the memory to the merge key; its variables start at `base_index`.
    pub fn write_key(&self, base_index: usize, key: &mut KeyWriter<'_>) {
        key.exact(base_index, u64::from(self.leg));
        key.exact(base_index + 1, u64::from(self.lane.0));
        key.real(base_index + 2, self.station_m);
        key.real(base_index + 3, self.offset.from_m);
        key.real(base_index + 4, self.offset.length_m);
        key.real(base_index + 5, self.offset.start[0]);
        key.real(base_index + 6, self.offset.start[1]);
        key.real(base_index + 7, self.offset.start[2]);
        key.real(base_index + 8, self.offset.end_m);
        key.exact(base_index + 9, u64::from(self.plan_in_cycles));
        key.exact(base_index + 10, self.gate.turn.map_or(u64::MAX, |turn| u64::from(turn.0)));
        key.exact(base_index + 11, u64::from(self.gate.stopped));
        key.exact(base_index + 12, u64::from(self.gate.before_us));
        key.exact(base_index + 13, u64::from(self.gate.waited_cycles));
        key.exact(base_index + 14, u64::from(self.arrived));
        key.exact(base_index + 15, u64::from(self.way));
    }
}
