//! Measures of a run as signals behind those of the frame, and judging at its start and its end (S2-52 … S2-54).

use anabranch_geometry::{Contact, Pose};
use anabranch_kernel::{SegmentEnd, Signal, Watch};
use anabranch_monitors::{
    Measured, MeasuredMoment, Requirements, SignalKind, low_speed, measure, recorded, road, verdicts,
};

use super::Drive;
use super::door::Doors;
use super::state::DriveState;
use super::tick::{COSTLY, Scratch};
use crate::file::DoorSpec;

/// Longest frame with its measures: requirements name signals by the bits of a word.
pub(super) const FRAME_MAX: usize = 64;

/// The signals of a loop by name, in the order of frames.
type Table = Vec<(&'static str, SignalKind)>;

/// Which measures a loop has. Those that nobody reads cost nothing and are in no state and no key.
#[derive(Clone, Debug)]
pub(super) struct Measuring {
    /// Signals of the loop and its helpers, then the measures.
    table: Table,
    /// Position of the first measure: how many signals stand before.
    pub(super) first: usize,
    /// How many measures the table of this loop has.
    count: usize,
    /// Those that are there, one bit each.
    kept: u32,
    /// Those that are read before a run ends.
    on_the_way: u32,
    /// Frames are just those of the loop: nobody needs their measures.
    plain: bool,
    /// Signals that requirements or measures read.
    pub(super) wanted: u64,
    pub(super) door: DoorSpec,
}

impl Measuring {
    /// The measures that requirements read.
    pub(super) fn new(requirements: &Requirements, table: Table, is_road: bool, door: DoorSpec) -> Self {
        let count = if is_road { measure::ROAD_COUNT } else { measure::LOW_SPEED_COUNT };
        let first = table.len() - count;
        let of = |signals: u64| (signals >> first) as u32;
        let used = requirements.signals_used();
        let plain = of(used) == 0 && !requirements.is_temporal();
        let on_the_way = of(requirements.signals_used_on_the_way());
        Self { table, first, count, kept: 0, on_the_way, plain, wanted: used, door }.with(of(used))
    }
    /// With these as well.
    fn with(self, more: u32) -> Self {
        let kept = self.kept | more;
        let needs = |of: u32, signal: usize| u64::from(kept & of != 0) << signal;
        let of_line =
            if self.first == low_speed::COUNT { needs(measure::OF_LINE, low_speed::LATERAL_ERROR) } else { 0 };
        let wanted = self.wanted | of_line | needs(measure::OF_JERK, low_speed::JERK);
        Self { kept, wanted, plain: self.plain && kept == 0, ..self }
    }
    /// What the state remembers for them.
    pub(super) fn start(&self, at: [f64; 2], steering_rad: f64) -> Option<Box<Measured>> {
        (self.kept & measure::REMEMBERED != 0).then(|| Box::new(Measured::start(at, steering_rad)))
    }
    /// Those that the state remembers.
    pub(super) fn remembered(&self) -> u32 {
        self.kept & measure::REMEMBERED
    }
    /// Whether a moment counts differently at different times of the run.
    pub(super) fn time_matters(&self) -> bool {
        self.kept & measure::OVER_TIME != 0
    }
    /// Whether segments with these requirements can run side by side.
    pub(super) fn is_cheap(&self) -> bool {
        self.kept == 0 && self.wanted & COSTLY == 0
    }
    /// The signals that are recorded: all of the frame, and the measures that are there.
    pub(super) fn recorded(&self) -> Vec<Signal> {
        let is_there = |at: usize| at < self.first || self.kept >> (at - self.first) & 1 == 1;
        recorded(&self.table)
            .into_iter()
            .enumerate()
            .filter(|(at, _)| is_there(*at))
            .map(|(_, signal)| signal)
            .collect()
    }
    /// Shows a frame to whoever records.
    fn show(&self, tick: u32, whole: &[f64], watch: &mut Watch<'_>) {
        if !watch.is_recording() {
            return;
        }
        let (plain, measures) = whole.split_at(self.first);
        let there = measures.iter().enumerate().filter(|(at, _)| self.kept >> at & 1 == 1);
        let shown: Vec<f64> = plain.iter().chain(there.map(|(_, value)| value)).copied().collect();
        watch.frame(u64::from(tick), &shown);
    }
}

impl Drive {
    /// The same loop with every measure there is, whoever reads them: for searches, comparisons and traces of single runs. The
    /// measures are part of the state then, so less is merged.
    #[must_use]
    pub fn with_all_measures(mut self) -> Self {
        let all = (1_u32 << self.measuring.count) - 1;
        self.measuring = self.measuring.with(all);
        self.signals = self.measuring.recorded();
        self.lay_out();
        self.set_side_by_side(true);
        self
    }

    /// Whether every measure is there.
    pub fn has_all_measures(&self) -> bool {
        self.measuring.kept.count_ones() as usize == self.measuring.count
    }

    /// The room of the doors, where it is read now.
    fn doors(&self, pose: Pose, is_read: bool, meet: impl FnOnce(&mut Doors)) -> [f64; 2] {
        if !is_read {
            return [0.0; 2];
        }
        let mut doors = Doors::new(&self.measuring.door, self.model.spec.outline.half_width_m, pose);
        doors.meet(self.index.all(), Pose::default());
        meet(&mut doors);
        doors.room_m()
    }

    /// A frame of the loop with its measures behind. `meet` shows the doors what stands beside the walls.
    fn whole_frame(
        &self,
        state: &DriveState,
        frame: &[f64],
        is_read: bool,
        meet: impl FnOnce(&mut Doors),
    ) -> [f64; FRAME_MAX] {
        let mut whole = [0.0; FRAME_MAX];
        let first = self.measuring.first;
        whole[..first].copy_from_slice(frame);
        let out = &mut whole[first..first + self.measuring.count];
        if let Some(measured) = state.extras.as_ref().and_then(|extras| extras.measured.as_deref()) {
            measured.fill(self.model.dt_s, out);
        }
        out[measure::COMMANDED_STEERING] = state.command.steering_rad;
        out[measure::COMMANDED_ACCELERATION] = state.car.gear.sign() * state.command.accel_mps2;
        let [left, right] = self.doors(state.car.car.pose(), is_read, meet);
        out[measure::DOOR_ROOM] = left.min(right);
        (out[measure::DOOR_ROOM_LEFT], out[measure::DOOR_ROOM_RIGHT]) = (left, right);
        whole
    }

    /// Whether somebody reads the room of the doors now.
    fn reads_doors(&self, state: &DriveState, watch: &Watch<'_>) -> bool {
        let kept = self.measuring.kept & measure::OF_DOORS != 0;
        let now = self.measuring.on_the_way & measure::OF_DOORS != 0;
        kept && (now || watch.is_recording() || state.driver.is_completed() || state.tick >= self.until_ticks)
    }

    /// The frame before the first base cycle: recorded, and judged by what has to hold at the start. `Some` if the run ends with that.
    pub(super) fn see_start(
        &self,
        state: &mut DriveState,
        frame: &[f64],
        watch: &mut Watch<'_>,
        meet: impl FnOnce(&mut Doors),
    ) -> Option<SegmentEnd> {
        let whole = self.whole_frame(state, frame, self.measuring.kept & measure::OF_DOORS != 0, meet);
        let whole = &whole[..self.measuring.first + self.measuring.count];
        self.measuring.show(0, whole, watch);
        if !self.requirements.has_start() {
            return None;
        }
        let (memory, histories) = state.remembered();
        let judgement = self.requirements.start(whole, memory, histories);
        verdicts(judgement.noted, 0, None).into_iter().for_each(|note| watch.note(note));
        (judgement.violated != 0).then(|| SegmentEnd::Violated(verdicts(judgement.violated, 0, None)))
    }

    /// What is recorded and judged before the first base cycle off roads; `Some` if the run ends with it.
    #[inline(always)]
    pub(super) fn open_run(
        &self,
        state: &mut DriveState,
        scratch: &Scratch<'_>,
        watch: &mut Watch<'_>,
    ) -> Option<SegmentEnd> {
        if state.tick > 0 || !(watch.is_recording() || self.requirements.has_start()) {
            return None;
        }
        let frame = self.frame(state, scratch, state.car.car.accel, None);
        self.see_start(state, &frame, watch, |doors| self.show_obstacles(scratch, doors))
    }

    /// The frame after a base cycle: measured, recorded and judged. `Some` if the run ends with it.
    #[inline(always)]
    pub(super) fn see(
        &self,
        state: &mut DriveState,
        frame: &[f64],
        contact: Option<&Contact>,
        watch: &mut Watch<'_>,
        meet: impl FnOnce(&mut Doors),
    ) -> Option<SegmentEnd> {
        if self.measuring.plain {
            watch.frame(u64::from(state.tick), frame);
            return self.judge(state, frame, contact, watch);
        }
        self.see_measured(state, frame, contact, watch, meet)
    }

    #[inline(never)]
    fn see_measured(
        &self,
        state: &mut DriveState,
        frame: &[f64],
        contact: Option<&Contact>,
        watch: &mut Watch<'_>,
        meet: impl FnOnce(&mut Doors),
    ) -> Option<SegmentEnd> {
        let line = if self.street.is_some() { road::LANE_OFFSET } else { low_speed::LATERAL_ERROR };
        if let Some(measured) = state.extras.as_mut().and_then(|extras| extras.measured.as_deref_mut()) {
            // What nobody reads may be computed for a recorder, and is not remembered: watching changes nothing.
            let read = |of: u32, signal: usize| if self.measuring.kept & of != 0 { frame[signal] } else { 0.0 };
            let now = MeasuredMoment {
                at: [frame[low_speed::X], frame[low_speed::Y]],
                speed_mps: frame[low_speed::SPEED],
                off_m: read(measure::OF_LINE, line),
                steering_rad: frame[low_speed::STEERING],
                jerk_mps3: read(measure::OF_JERK, low_speed::JERK),
                at_goal: frame[low_speed::AT_GOAL] != 0.0,
            };
            measured.step(&now, self.model.dt_s);
        }
        let whole = self.whole_frame(state, frame, self.reads_doors(state, watch), meet);
        let whole = &whole[..self.measuring.first + self.measuring.count];
        self.measuring.show(state.tick, whole, watch);
        self.judge(state, whole, contact, watch)
    }

    /// The end of a run, whose last frame this is: what had to happen and did not, and what has to hold now.
    pub(super) fn finish(&self, state: &mut DriveState, frame: &[f64], watch: &mut Watch<'_>) -> Option<SegmentEnd> {
        let tick = u64::from(state.tick);
        let (memory, histories) = state.remembered();
        let judgement = self.requirements.finish(frame, memory, histories);
        for note in verdicts(judgement.noted, tick, None) {
            watch.note(note);
        }
        (judgement.violated != 0).then(|| SegmentEnd::Violated(verdicts(judgement.violated, tick, None)))
    }

    /// Obstacles that are there besides the walls, for doors off roads.
    pub(super) fn show_obstacles(&self, scratch: &Scratch<'_>, doors: &mut Doors) {
        for edges in self.present_edges(scratch.present) {
            doors.meet(edges, Pose::default());
        }
    }
}
