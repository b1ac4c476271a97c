//! One path from the start in a new instance: no saved state is loaded, and nothing else has happened there.

use anabranch_kernel::Fault;
use anabranch_kernel::{Choice, Params, Recorder, Seed, SegmentEnd, System, Verdicts, Watch};

use super::runner::{Outcome, Ran, Task};
use super::{WorldState, WorldSystem};
use crate::fleet::Seat;
use crate::misbehaviour::Misbehaviour;
use crate::protocol::{Answer, Op};

/// What a path from the start gave.
#[derive(Clone, Debug)]
pub struct Straight {
    /// How it ended; `Open` if the choices were used up before.
    pub end: SegmentEnd,
    /// Segments that were run.
    pub segments: usize,
    /// Smallest margin.
    pub margin: f64,
    /// Violated *should* requirements.
    pub notes: Verdicts,
    /// The state at the end.
    pub state: WorldState,
}

/// The branch of the only run there is.
const BRANCH: u32 = 0;

impl WorldSystem {
    /// Runs the choices from the start in a new instance, segment by segment without saving or loading, until they are
    /// used up or the run ends. What depends on saved states or on what an instance did before comes out otherwise here.
    ///
    /// # Errors
    /// When nothing could be started.
    pub fn straight(
        &self,
        seed: Seed,
        params: &Params,
        choices: &[Choice],
        mut recorder: Option<&mut dyn Recorder>,
    ) -> Result<Straight, Fault> {
        let state = self.start(seed, params)?;
        let (end, notes) = (SegmentEnd::Open, Verdicts::new());
        let mut run = Straight { end, segments: 0, margin: f64::INFINITY, notes, state };
        let mut seat = self.fleet.seat(0);
        seat.renew();
        let mut begun = self.begin_straight(&mut seat, &run.state);
        for &choice in choices {
            let mut watch = match recorder {
                Some(ref mut recorder) => Watch::recording(&mut **recorder),
                None => Watch::off(),
            };
            let task = Task { state: &run.state, choice, record: watch.is_recording() };
            let outcome = match std::mem::replace(&mut begun, Ok(())) {
                Ok(()) => self.straight_segment(&mut seat, &task).unwrap_or_else(Outcome::Misbehaved),
                Err(wrong) => Outcome::Misbehaved(wrong),
            };
            run.end = self.apply(&mut run.state, choice, outcome, &mut watch)?;
            run.segments += 1;
            run.margin = run.margin.min(watch.margin);
            run.notes.append(&mut watch.notes);
            if run.end != SegmentEnd::Open {
                break;
            }
        }
        Ok(run)
    }

    fn begin_straight(&self, seat: &mut Seat<'_>, state: &WorldState) -> Result<(), Misbehaviour> {
        self.send(seat, &[self.reset_op(BRANCH, &state.origin)])?.swap_remove(0).map(|_| ())
    }

    fn straight_segment(&self, seat: &mut Seat<'_>, task: &Task<'_>) -> Result<Outcome, Misbehaviour> {
        let op: Op = self.run_op(BRANCH, task.choice, task.record);
        match self.send(seat, &[op])?.swap_remove(0)? {
            Answer::Segment(segment) => Ok(Outcome::Ran(Ran { segment: *segment, bytes: None, token: None })),
            _ => unreachable!("kinds of answers are checked"),
        }
    }
}
