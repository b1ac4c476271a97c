//! From what an instance answered to what the explorer is told.

use anabranch_kernel::{Choice, Digest, Fault, SegmentEnd, Verdict, Watch};

use super::runner::{Outcome, Ran};
use super::{MergeRule, WorldState, WorldSystem};
use crate::attributes;
use crate::misbehaviour::{Kind, Misbehaviour};

impl WorldSystem {
    /// Moves the state to the end of the segment.
    pub(super) fn apply(
        &self,
        state: &mut WorldState,
        choice: Choice,
        outcome: Outcome,
        watch: &mut Watch<'_>,
    ) -> Result<SegmentEnd, Fault> {
        match outcome {
            Outcome::Ran(ran) => {
                state.path.push(choice);
                Ok(self.end_of(state, ran, watch))
            }
            // That nothing can be started says nothing about this path.
            Outcome::Misbehaved(wrong) if wrong.kind == Kind::NoStart => Err(Fault::External(wrong.to_string())),
            Outcome::Misbehaved(wrong) => {
                state.path.push(choice);
                state.live = None;
                self.note_fault(&state.path, &wrong);
                Ok(SegmentEnd::Violated(vec![self.verdict(self.requirement_of(&wrong), state)]))
            }
        }
    }

    fn end_of(&self, state: &mut WorldState, ran: Ran, watch: &mut Watch<'_>) -> SegmentEnd {
        let segment = ran.segment;
        let ticks = self.ticks_per_segment();
        let first_tick = (state.path.len() as u64 - 1) * ticks + 1;
        for (tick, frame) in (first_tick..).zip(&segment.frames) {
            watch.frame(tick, frame);
        }
        state.memory = match (self.rule, &ran.bytes) {
            (MergeRule::Memory, Some(bytes)) => Some(Digest::of(bytes).0),
            _ => None,
        };
        // Zero has one sign, so that equal values have equal bytes.
        state.values = segment.values.iter().map(|value| value + 0.0).collect();
        state.danger = segment.danger + 0.0;
        state.hidden = None;
        if let Some(attributes) = segment.attributes.as_ref().filter(|_| self.rule == MergeRule::Values) {
            state.hidden = Some(attributes::digest(attributes, &state.values));
            self.hidden.note(attributes, &state.values);
        }
        state.live = ran.token;
        if let Some(margin) = segment.margin {
            watch.see_margin(margin);
        }
        for name in &segment.notes {
            watch.note(self.verdict(self.requirement_named(name), state));
        }
        if !segment.violated.is_empty() {
            let verdicts = segment.violated.iter().map(|name| self.verdict(self.requirement_named(name), state));
            SegmentEnd::Violated(verdicts.collect())
        } else if segment.done {
            SegmentEnd::Goal
        } else if state.path.len() as u64 >= u64::from(self.world.segments_max) {
            SegmentEnd::TimedOut
        } else {
            SegmentEnd::Open
        }
    }
    fn verdict(&self, requirement: usize, state: &WorldState) -> Verdict {
        let tick = state.path.len() as u64 * self.ticks_per_segment();
        Verdict { requirement: requirement as u16, tick, place: None }
    }
    /// The answer was looked at before, so the name is among them.
    fn requirement_named(&self, name: &str) -> usize {
        self.world.requirements.iter().position(|known| known == name).expect("names of requirements are checked")
    }
    fn requirement_of(&self, wrong: &Misbehaviour) -> usize {
        let kind = Kind::ALL.iter().position(|kind| *kind == wrong.kind).expect("every kind is among all");
        self.world.requirements.len() + kind
    }
}
