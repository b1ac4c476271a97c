//! The junction as a system: its errors are frames that the camera loses.

use anabranch_kernel::{
    Choice, Danger, ErrorSpace, Fault, KeyWriter, Leaf, Params, Seed, SegmentEnd, Signal, System, Variable, Watch,
};

use super::world::{GOAL_M, distance_m};
use super::{Junction, JunctionState, Phase, SEGMENT_TICKS, TICKS_MAX};

impl System for Junction {
    type State = JunctionState;

    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
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
        let reals = [
            state.way_m,
            state.speed_mps,
            state.other_x,
            state.other_mps,
            state.sign_evidence,
            state.car_evidence,
            state.distance_min_m,
            state.reserve_min_m.min(1e6),
            state.late_min_m.min(1e6),
            state.apart_m.unwrap_or(-1.0),
        ];
        reals.iter().enumerate().for_each(|(index, value)| key.real(index, *value));
        let phase = match state.phase {
            Phase::Coming => 0,
            Phase::Stopping => 1,
            Phase::Turning => 2,
            Phase::Standing(ticks) => 3 + u64::from(ticks),
        };
        let when = |tick: Option<u32>| tick.map_or(0, |tick| 1 + u64::from(tick));
        let exact = [
            phase,
            when(state.sign_tick),
            when(state.car_tick),
            when(state.noticed_tick),
            when(state.visible_tick),
            when(state.entry_tick),
            u64::from(state.moved_tick),
            when(state.hit_tick),
        ];
        exact.iter().enumerate().for_each(|(index, value)| key.exact(10 + index, *value));
    }
    fn danger(&self, state: &JunctionState) -> Danger {
        Danger { worst: -state.distance_min_m, ..Danger::default() }
    }
    fn leaves(&self) -> Vec<Leaf> {
        vec![Leaf::time("tick")]
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
