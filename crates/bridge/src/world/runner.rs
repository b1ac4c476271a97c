//! Running many segments in few messages, rebuilding what is gone, and finding the one branch that is guilty.
//!
//! A verdict is a function of the path alone. So a message with many branches that fails as a whole is taken apart until the
//! guilty one is alone, and one that fails alone in an instance that has done other things before is run
//! once more from its start in a new one: that run decides.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use anabranch_kernel::Choice;

use super::state::Origin;
use super::{WorldState, WorldSystem};
use crate::clock::now;
use crate::fleet::{Seat, Token};
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, Begin, Branch, Op, Support, TokenId, WorldSegment};

/// One segment to run.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) state: &'a WorldState,
    pub(super) choice: Choice,
    pub(super) record: bool,
}

/// What came of it.
pub(super) enum Outcome {
    Ran(Ran),
    Misbehaved(Misbehaviour),
}

/// A segment that was run.
pub(super) struct Ran {
    pub(super) segment: WorldSegment,
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) token: Option<Arc<Token>>,
}

/// How many segments fit into one message: about a second's worth, so that deadlines are for one message and a hang is
/// noticed soon. It decides nothing but speed.
#[derive(Debug, Default)]
pub(super) struct Pace {
    nanoseconds: AtomicU64,
    segments: AtomicU64,
}

impl Pace {
    const MESSAGE_NS: u64 = 1_000_000_000;
    const SEGMENTS_MAX: u64 = 256;
    /// Before anything is known.
    const SEGMENTS_FIRST: u64 = 8;

    pub(super) fn segments(&self) -> usize {
        let (time, count) = (self.nanoseconds.load(Ordering::Relaxed), self.segments.load(Ordering::Relaxed));
        let fitting = if count == 0 { Self::SEGMENTS_FIRST } else { Self::MESSAGE_NS * count / time.max(1) };
        fitting.clamp(1, Self::SEGMENTS_MAX) as usize
    }
    fn learn(&self, nanoseconds: u64, segments: u64) {
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        self.segments.fetch_add(segments, Ordering::Relaxed);
    }
}

type Answers = Vec<Result<Answer, Misbehaviour>>;

impl WorldSystem {
    /// Runs every task; one outcome each, in order.
    pub(super) fn run_tasks(&self, tasks: &[Task<'_>]) -> Vec<Outcome> {
        let seats = self.fleet.instances() as u64;
        let mut at_home: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (n, task) in tasks.iter().enumerate() {
            at_home.entry(task.state.home(task.choice) % seats).or_default().push(n);
        }
        let mut outcomes: Vec<Option<Outcome>> = tasks.iter().map(|_| None).collect();
        for (home, members) in at_home {
            let mut seat = self.fleet.seat(home);
            let group: Vec<Task<'_>> = members.iter().map(|&n| tasks[n]).collect();
            for (n, outcome) in members.into_iter().zip(self.run_group(&mut seat, &group)) {
                outcomes[n] = Some(outcome);
            }
        }
        outcomes.into_iter().map(|outcome| outcome.expect("every task has a home")).collect()
    }

    fn run_group(&self, seat: &mut Seat<'_>, tasks: &[Task<'_>]) -> Vec<Outcome> {
        if seat.card().support == Support::None {
            return tasks.iter().map(|task| self.run_anew(seat, task)).collect();
        }
        let mut outcomes = Vec::with_capacity(tasks.len());
        while outcomes.len() < tasks.len() {
            let rest = &tasks[outcomes.len()..];
            let chunk = &rest[..rest.len().min(self.pace.segments())];
            outcomes.extend(self.run_chunk(seat, chunk));
        }
        outcomes
    }

    /// One message, or as many as it takes to know who is to blame.
    fn run_chunk(&self, seat: &mut Seat<'_>, tasks: &[Task<'_>]) -> Vec<Outcome> {
        let was_empty = seat.is_empty();
        match (self.try_chunk(seat, tasks), tasks) {
            (Ok(outcomes), _) => outcomes,
            (Err(wrong), [_]) if was_empty => vec![Outcome::Misbehaved(wrong)],
            (Err(wrong), [task]) => {
                let outcome = self.run_anew(seat, task);
                if matches!(outcome, Outcome::Ran(_)) {
                    self.note_incident(wrong);
                }
                vec![outcome]
            }
            (Err(_), _) => {
                let (first, second) = tasks.split_at(tasks.len() / 2);
                let mut outcomes = self.run_chunk(seat, first);
                outcomes.extend(self.run_chunk(seat, second));
                outcomes
            }
        }
    }

    /// All tasks in one message, after what is gone was rebuilt.
    fn try_chunk(&self, seat: &mut Seat<'_>, tasks: &[Task<'_>]) -> Result<Vec<Outcome>, Misbehaviour> {
        if seat.card().support != Support::Save {
            return tasks.iter().map(|task| self.run_from_start(seat, task)).collect();
        }
        let mut rebuilt: BTreeMap<&[Choice], Result<Arc<Token>, Misbehaviour>> = BTreeMap::new();
        for task in tasks.iter().filter(|task| !task.state.path.is_empty()) {
            let held = task.state.live.as_ref().filter(|token| seat.holds(token));
            // It must still be there when the others have been rebuilt.
            held.iter().for_each(|token| seat.pin(token));
            if held.is_none() && !rebuilt.contains_key(&*task.state.path) {
                let token = self.rebuild(seat, task.state)?;
                token.iter().for_each(|token| seat.pin(token));
                rebuilt.insert(&task.state.path, token);
            }
        }
        let mut message = Message::default();
        for (n, task) in tasks.iter().enumerate() {
            let token = rebuilt.get(&*task.state.path).map(|token| token.as_ref().ok().cloned());
            let token = token.unwrap_or_else(|| task.state.live.clone().filter(|token| seat.holds(token)));
            // A path that could not be rebuilt has its verdict already.
            if !matches!(rebuilt.get(&*task.state.path), Some(Err(_))) {
                message.add(seat, self, n, task, token.as_deref());
            }
        }
        let mut answers = if message.ops.is_empty() { Vec::new() } else { self.send(seat, &message.ops)? }.into_iter();
        let mut outcomes = Vec::with_capacity(tasks.len());
        for (n, task) in tasks.iter().enumerate() {
            outcomes.push(match (message.saves.get(&n), rebuilt.get(&*task.state.path)) {
                (None, Some(Err(wrong))) => Outcome::Misbehaved(wrong.clone()),
                (save, _) => {
                    let of_task = [answers.next(), answers.next(), answers.next()]
                        .map(|answer| answer.expect("three answers each"));
                    self.conclude(seat, task, save.copied(), of_task)?
                }
            });
        }
        Ok(outcomes)
    }

    /// From the answers to load or reset, run, and save.
    fn conclude(
        &self,
        seat: &mut Seat<'_>,
        task: &Task<'_>,
        save: Option<TokenId>,
        [begun, ran, saved]: [Result<Answer, Misbehaviour>; 3],
    ) -> Result<Outcome, Misbehaviour> {
        if let Err(wrong) = begun {
            if wrong.kind != Kind::BrokenPromise {
                return Ok(Outcome::Misbehaved(wrong));
            }
            // A state that cannot be loaded is rebuilt: what is found must not depend on what still lived.
            self.note_incident(wrong);
            return self.run_from_start(seat, task);
        }
        let segment = match ran {
            Ok(Answer::Segment(segment)) => *segment,
            Ok(_) => unreachable!("kinds of answers are checked"),
            Err(wrong) => return Ok(Outcome::Misbehaved(wrong)),
        };
        Ok(Outcome::Ran(self.with_saved(seat, segment, save, saved)))
    }

    fn with_saved(
        &self,
        seat: &mut Seat<'_>,
        segment: WorldSegment,
        save: Option<TokenId>,
        saved: Result<Answer, Misbehaviour>,
    ) -> Ran {
        match (saved, save) {
            (Ok(Answer::Saved { bytes, .. }), Some(id)) => {
                Ran { segment, bytes: bytes.map(serde_bytes::ByteBuf::into_vec), token: Some(seat.saved(id)) }
            }
            (Err(wrong), _) => {
                self.note_incident(wrong);
                Ran { segment, bytes: None, token: None }
            }
            _ => Ran { segment, bytes: None, token: None },
        }
    }

    /// In a new instance, from the start: nothing else has happened there.
    fn run_anew(&self, seat: &mut Seat<'_>, task: &Task<'_>) -> Outcome {
        seat.end();
        self.run_from_start(seat, task).unwrap_or_else(Outcome::Misbehaved)
    }

    /// The whole path again, then the segment.
    fn run_from_start(&self, seat: &mut Seat<'_>, task: &Task<'_>) -> Result<Outcome, Misbehaviour> {
        if let Err(wrong) = self.replay(seat, task.state)? {
            return Ok(Outcome::Misbehaved(wrong));
        }
        let mut ops = vec![self.run_op(REPLAY_BRANCH, task.choice, task.record)];
        let save = (seat.card().support == Support::Save).then(|| seat.next_token());
        ops.extend(save.map(|token| Op::Save { branch: REPLAY_BRANCH, token }));
        let mut answers = self.send(seat, &ops)?.into_iter();
        let segment = match answers.next() {
            Some(Ok(Answer::Segment(segment))) => *segment,
            Some(Err(wrong)) => return Ok(Outcome::Misbehaved(wrong)),
            _ => unreachable!("kinds of answers are checked"),
        };
        let saved = answers.next().unwrap_or(Ok(Answer::Done {}));
        Ok(Outcome::Ran(self.with_saved(seat, segment, save, saved)))
    }

    /// Runs a path again and saves its end. The inner failure is a verdict on the path.
    fn rebuild(
        &self,
        seat: &mut Seat<'_>,
        state: &WorldState,
    ) -> Result<Result<Arc<Token>, Misbehaviour>, Misbehaviour> {
        if let Err(wrong) = self.replay(seat, state)? {
            return Ok(Err(wrong));
        }
        let token = seat.next_token();
        let saved = self.send(seat, &[Op::Save { branch: REPLAY_BRANCH, token }])?.swap_remove(0);
        Ok(saved.map(|_| seat.saved(token)))
    }

    /// Runs a path again; its end must report what it reported before.
    fn replay(&self, seat: &mut Seat<'_>, state: &WorldState) -> Result<Result<(), Misbehaviour>, Misbehaviour> {
        let begun = self.send(seat, &[self.reset_op(REPLAY_BRANCH, &state.origin)])?.swap_remove(0);
        if let Err(wrong) = begun {
            return Ok(Err(wrong));
        }
        let mut last = None;
        for part in state.path.chunks(self.pace.segments()) {
            let ops: Vec<Op> = part.iter().map(|&choice| self.run_op(REPLAY_BRANCH, choice, false)).collect();
            for answer in self.send(seat, &ops)? {
                match answer {
                    Ok(Answer::Segment(segment)) => last = Some(segment.values),
                    Ok(_) => unreachable!("kinds of answers are checked"),
                    // A path that failed before fails again, and nothing can go on from there.
                    Err(wrong) if state.has_failed_as(wrong.kind) => return Ok(Err(wrong)),
                    Err(wrong) => {
                        let text = format!("the same path went well before, and now: {wrong}");
                        return Ok(Err(Misbehaviour::new(Kind::Nondeterministic, text)));
                    }
                }
            }
        }
        Ok(last.map_or(Ok(()), |values| self.compare(state, &values)))
    }

    fn compare(&self, state: &WorldState, values: &[f64]) -> Result<(), Misbehaviour> {
        let differ = |(then, now): (&f64, &f64)| (now + 0.0).to_bits() != then.to_bits();
        match state.values.iter().zip(values).position(differ) {
            None => Ok(()),
            Some(n) => {
                let (name, then, now) = (&self.world.merge[n].name, state.values[n], values[n]);
                let text = format!("the same path gave `{name}` = {then} first and {now} when it was run again");
                Err(Misbehaviour::new(Kind::Nondeterministic, text))
            }
        }
    }

    pub(super) fn send(&self, seat: &mut Seat<'_>, ops: &[Op]) -> Result<Answers, Misbehaviour> {
        if let Some(gone) = self.gone() {
            return Err(gone);
        }
        let began = now();
        let mut asked = seat.ask(ops);
        // Once may be an accident of this machine.
        if matches!(&asked, Err(wrong) if wrong.kind == Kind::NoStart) {
            asked = seat.ask(ops);
        }
        if let Err(wrong) = &asked
            && wrong.kind == Kind::NoStart
        {
            *self.gone.lock().unwrap_or_else(PoisonError::into_inner) = Some(wrong.clone());
        }
        let answers = asked?;
        let segments = ops.iter().filter(|op| matches!(op, Op::Run { .. })).count() as u64;
        if segments > 0 {
            self.pace.learn(began.elapsed().as_nanos() as u64, segments);
        }
        Ok(answers)
    }
    pub(super) fn reset_op(&self, branch: Branch, origin: &Origin) -> Op {
        let begin = Begin {
            seed: origin.seed,
            scenario: self.fleet.card().name.clone(),
            params: origin.params.clone(),
            cycle_s: self.world.tick_s,
            until_s: self.world.segment_s * f64::from(self.world.segments_max),
            ..Begin::default()
        };
        Op::Reset { branch, begin: Box::new(begin) }
    }
    pub(super) fn run_op(&self, branch: Branch, choice: Choice, record: bool) -> Op {
        let modes = self.errors.modes(choice).iter().map(|&mode| u16::from(mode)).collect();
        Op::Run { branch, modes, record }
    }
}

/// The branch in which paths are run again; those of messages with many begin at 1.
const REPLAY_BRANCH: Branch = 0;

/// Operations of many tasks, three each.
#[derive(Default)]
struct Message {
    ops: Vec<Op>,
    /// Number of the saved state for each task that takes part.
    saves: BTreeMap<usize, TokenId>,
}

impl Message {
    fn add(&mut self, seat: &mut Seat<'_>, system: &WorldSystem, n: usize, task: &Task<'_>, token: Option<&Token>) {
        let branch = REPLAY_BRANCH + 1 + n as Branch;
        self.ops.push(match token {
            Some(token) => Op::Load { token: token.id(), branch },
            None => system.reset_op(branch, &task.state.origin),
        });
        self.ops.push(system.run_op(branch, task.choice, task.record));
        let save = seat.next_token();
        self.ops.push(Op::Save { branch, token: save });
        self.saves.insert(n, save);
    }
}
