//! The junction as a system: its errors are frames that the camera loses.

use anabranch_kernel::{
    Choice, Danger, ErrorSpace, Fault, KeyWriter, Leaf, Params, Seed, SegmentEnd, Signal, System, Variable, Watch,
};

use super::world::{GOAL_M, distance_m};
use super::{Junction, JunctionState, SEGMENT_TICKS, TICKS_MAX};

impl System for Junction {
    type State = JunctionState;

    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.declared.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<JunctionState, Fault> {
        Ok(self.begin())
    }
    fn run(&self, state: &mut JunctionState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        for _ in 0..SEGMENT_TICKS {
            self.tick(state, choice == Choice::NONE);
            let distance_m = distance_m(&self.car(state), &self.other(state));
            watch.see_margin(distance_m);
            let frame = [state.way_m, state.speed_mps, state.other_x, state.other_mps, distance_m];
            watch.frame(u64::from(state.tick), &frame);
            if state.hit_tick.is_some() {
                return Ok(SegmentEnd::violated(0, u64::from(state.tick)));
            }
            if state.way_m >= GOAL_M {
                return Ok(SegmentEnd::Goal);
            }
            if state.tick >= TICKS_MAX {
                return Ok(SegmentEnd::TimedOut);
            }
        }
        Ok(SegmentEnd::Open)
    }
    fn cell(&self, state: &JunctionState, key: &mut KeyWriter<'_>) {
        state.visit(&mut key.visitor(&self.declared.sections));
    }
    fn danger(&self, state: &JunctionState) -> Danger {
        Danger { worst: -state.distance_min_m, ..Danger::default() }
    }
    fn leaves(&self) -> Vec<Leaf> {
        self.declared.leaves.clone()
    }
    fn time_matters(&self) -> bool {
        true
    }
    fn requirements(&self) -> &[String] {
        &self.requirements
    }
    fn signals(&self) -> &[Signal] {
        &self.signals
    }
}
