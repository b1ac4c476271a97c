//! Segments that are run a second time: along their whole path from the start, without saved states, in a new instance.
//!
//! What depends on chance, on a clock, or on memory that several branches share comes out otherwise there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use anabranch_kernel::{Choice, Digest, Twice};

use super::said::{Report, Said};
use super::state::Origin;
use super::{MergeRule, WorldState, WorldSystem};
use crate::doubling;
use crate::fleet::Seat;
use crate::misbehaviour::Kind;
use crate::protocol::{Answer, Op, Snapshot, Support};

/// Paths that have an instance of their own, before others share one: memory that outlives `reset` shows best in the
/// first run of an instance, and an instance takes its time to start.
const ALONE: usize = 8;
/// Paths that share an instance.
const TOGETHER: usize = 64;
/// Differences after which nothing more can be learned.
const DIFFERENCES: usize = 8;
/// The branch of the only run there is.
const BRANCH: u32 = 0;

/// A path that reported something else when it was run a second time.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The choices up to the first segment that differed.
    pub choices: Vec<Choice>,
    /// What differed.
    pub text: String,
}

/// A segment that was run, with everything its path reported.
#[derive(Clone, Debug)]
pub(super) struct Record {
    origin: Origin,
    path: Vec<Choice>,
    said: Arc<Said>,
    /// Of the canonical bytes at its end, where those count.
    memory: Option<u128>,
}

impl Record {
    fn beginnings(&self) -> Vec<u128> {
        let Origin { seed, params } = &self.origin;
        (1..=self.path.len()).map(|end| doubling::address(*seed, params, &self.path[..end])).collect()
    }
}

/// What came of running one path a second time.
enum Again {
    /// No instance starts.
    NotStarted,
    /// The instance ended in a message with several segments.
    Lost,
    /// One report for each segment that was run, and the digest of the bytes at the end.
    Reported(Vec<Report>, Option<u128>),
}

impl Again {
    fn reported(self) -> Option<(Vec<Report>, Option<u128>)> {
        match self {
            Self::NotStarted | Self::Lost => None,
            Self::Reported(reports, bytes) => Some((reports, bytes)),
        }
    }
}

/// What came of running segments twice.
#[derive(Debug, Default)]
pub(super) struct Doubled {
    /// Comparisons that were made.
    segments: u64,
    /// How much was asked for last, and whether that was done.
    asked: Option<(Twice, bool)>,
    /// By length and choices.
    differences: BTreeMap<(usize, Vec<Choice>), String>,
}

impl WorldSystem {
    /// Segments that were run twice so far.
    pub fn doubled(&self) -> u64 {
        self.twice().segments
    }
    /// Paths that came out otherwise when they were run again, the shortest first.
    pub fn differences(&self) -> Vec<Difference> {
        let all = |((_, choices), text): (&(usize, Vec<Choice>), &String)| {
            let text = format!("{text}; {}", self.hint());
            Difference { choices: choices.clone(), text }
        };
        self.twice().differences.iter().map(all).collect()
    }
    /// Why *safe* must not be said as far as running twice goes.
    pub(super) fn doubts(&self) -> Option<String> {
        if let Some(first) = self.differences().into_iter().next() {
            return Some(format!("the world is not reproducible: {}", first.text));
        }
        let segments = self.doubled();
        let asked = self.twice().asked;
        match asked {
            None => Some("no segment of the world was run twice".to_owned()),
            Some((Twice::Whole, true)) => None,
            Some(_) => Some(format!("only {segments} segments of the world could be run twice in the time there was")),
        }
    }
    fn twice(&self) -> MutexGuard<'_, Doubled> {
        self.twice.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// What to do about it.
    fn hint(&self) -> &'static str {
        match self.fleet.card().snapshot {
            Snapshot::Fork => "does it read a clock, a file or a generator without a seed?",
            _ => {
                "does it keep memory in globals, or read a clock or a generator without a seed? (globals: snapshot = \"fork\")"
            }
        }
    }

    /// Notes what a segment reported, for a second run of its path.
    pub(super) fn remember(&self, state: &mut WorldState, before: Option<Arc<Said>>, report: Report) {
        let said = Said::after(before, report);
        state.said = Some(said.clone());
        let address = doubling::address(state.origin.seed, &state.origin.params, &state.path);
        let record = || {
            let (origin, path, memory) = (state.origin.clone(), state.path.clone(), state.memory);
            Record { origin, path, said: said.clone(), memory }
        };
        // Random runs and the exploration meet on the same paths; that is a comparison for nothing.
        if let Some(earlier) = self.sample.offer(address, record)
            && let Some(text) = earlier.said.report.difference(&said.report, &self.world)
        {
            self.note_difference(&state.path, format!("the same path gave two results: {text}"));
        }
    }
    pub(super) fn note_difference(&self, path: &[Choice], text: String) {
        self.twice().differences.entry((path.len(), path.to_vec())).or_insert(text);
    }

    /// Runs as much as is asked for a second time and compares.
    pub(super) fn double(&self, how_much: Twice, goes_on: &(dyn Fn() -> bool + Sync)) {
        let plan = self.sample.plan(how_much, Record::beginnings);
        let together = if self.fleet.card().support == Support::None { 1 } else { TOGETHER };
        let (alone, others) = plan.split_at(plan.len().min(ALONE));
        let units: Vec<&[Record]> = alone.chunks(1).chain(others.chunks(together)).collect();
        let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for home in 0..self.fleet.instances().min(units.len()) as u64 {
                let (units, next, ended) = (&units, &next, &ended);
                scope.spawn(move || {
                    while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let mut seat = self.fleet.seat(home);
                        ended.fetch_add(self.double_unit(&mut seat, unit, goes_on), Ordering::Relaxed);
                    }
                });
            }
        });
        self.twice().asked = Some((how_much, ended.into_inner() == plan.len()));
    }

    /// Runs some paths one after the other, the first of them in a new instance; says how many.
    fn double_unit(&self, seat: &mut Seat<'_>, unit: &[Record], goes_on: &(dyn Fn() -> bool + Sync)) -> usize {
        seat.renew();
        for (at, record) in unit.iter().enumerate() {
            if !goes_on() || self.twice().differences.len() >= DIFFERENCES {
                return at;
            }
            let Some(again) = self.again(seat, record) else { return at };
            let Some((length, text)) = self.differs(record, &again) else { continue };
            // Was it the path, or what the instance had done before?
            seat.renew();
            let is_alone = at == 0;
            let Some(anew) = self.again(seat, record).filter(|_| !is_alone) else {
                self.note_difference(&record.path[..length], format!("{text} in a new instance from the start"));
                continue;
            };
            let (length, text) = match self.differs(record, &anew) {
                Some((length, text)) => (length, format!("{text} in a new instance from the start")),
                None => (length, format!("{text} in an instance that had run other paths before")),
            };
            self.note_difference(&record.path[..length], text);
        }
        unit.len()
    }

    /// The number of segments up to the first difference, and what differs.
    fn differs(&self, record: &Record, (again, memory): &(Vec<Report>, Option<u128>)) -> Option<(usize, String)> {
        let first = record.said.in_order();
        // Of a state that waited on disk only the last reports are known.
        let from = record.path.len() - first.len();
        let mut compared = 0;
        let mut found = None;
        for (at, report) in first.into_iter().enumerate() {
            compared += 1;
            let segment = from + at;
            found = match again.get(segment) {
                Some(again) => report.difference(again, &self.world),
                None => Some("the second run ended before".to_owned()),
            }
            .map(|text| (segment + 1, text));
            // What comes after a failure says nothing.
            if found.is_some() || report.is_failed() {
                break;
            }
        }
        self.twice().segments += compared;
        match (found, memory, record.memory) {
            (None, Some(now), Some(before)) if *now != before => {
                Some((record.path.len(), "the bytes of the saved state were others".to_owned()))
            }
            (found, ..) => found,
        }
    }

    /// The whole path from the start, with the digest of its bytes at the end; nothing if no instance starts.
    fn again(&self, seat: &mut Seat<'_>, record: &Record) -> Option<(Vec<Report>, Option<u128>)> {
        match self.again_by(seat, record, self.pace.segments()) {
            // Which segment ended the instance is known where each has a message of its own.
            Again::Lost => {
                seat.renew();
                self.again_by(seat, record, 1).reported()
            }
            known => known.reported(),
        }
    }

    /// The same with so many segments in a message.
    fn again_by(&self, seat: &mut Seat<'_>, record: &Record, together: usize) -> Again {
        let mut reports = Vec::with_capacity(record.path.len());
        let mut ops = vec![self.reset_op(BRANCH, &record.origin)];
        for part in record.path.chunks(together) {
            ops.extend(part.iter().map(|&choice| self.run_op(BRANCH, choice, false)));
            let answers = match self.send(seat, &std::mem::take(&mut ops)) {
                Ok(answers) => answers,
                Err(wrong) if wrong.kind == Kind::NoStart => return Again::NotStarted,
                Err(_) if part.len() > 1 => return Again::Lost,
                Err(wrong) => {
                    reports.push(Report::failed(wrong.kind));
                    return Again::Reported(reports, None);
                }
            };
            for answer in answers {
                match answer {
                    Ok(Answer::Segment(segment)) => reports.push(Report::of_segment(&segment)),
                    Ok(_) => {}
                    Err(wrong) => {
                        reports.push(Report::failed(wrong.kind));
                        return Again::Reported(reports, None);
                    }
                }
            }
        }
        let bytes = self.bytes_at_end(seat);
        Again::Reported(reports, bytes)
    }

    fn bytes_at_end(&self, seat: &mut Seat<'_>) -> Option<u128> {
        if self.rule != MergeRule::Memory {
            return None;
        }
        let token = seat.next_token();
        let saved = self.send(seat, &[Op::Save { branch: BRANCH, token }]).ok()?.swap_remove(0).ok()?;
        // Nobody continues it; dropping the handle frees it.
        drop(seat.saved(token));
        match saved {
            Answer::Saved { bytes: Some(bytes), .. } => Some(Digest::of(&bytes).0),
            _ => None,
        }
    }
}
