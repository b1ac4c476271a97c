//! How much work a run was, and how much another one would be.

use anabranch_explore::Merge;

use super::Asked;
use super::command::Typed;
use crate::explore::facts::Facts;
use crate::explore::subject::Subject;
use crate::load::Override;
use crate::numbers::short;

/// An exploration without merging is proposed if it takes at most this long,
const CHEAP_S: f64 = 120.0;
/// or at most this many times as long as the run took.
const CHEAP_TIMES: f64 = 3.0;
/// Segments beyond which nothing is proposed, however fast they are: waiting states fill the disk.
const SEGMENTS_MAX: f64 = 1e8;
/// A time budget leaves this many times what was estimated.
const SPARE: f64 = 2.0;

/// Running every error sequence.
#[derive(Clone, Copy, Debug)]
pub struct Exhaustive {
    /// Segments, at most.
    pub segments: f64,
    /// Seconds at the pace of the run.
    pub time_s: f64,
}

/// The work of one run.
#[derive(Debug)]
pub struct Work<'a, S: Subject> {
    facts: &'a Facts<'a, S>,
}

impl<'a, S: Subject> Work<'a, S> {
    pub fn of(facts: &'a Facts<'a, S>) -> Self {
        Self { facts }
    }

    /// Segments per second, everything that the run spent them on included.
    pub fn pace(&self) -> Option<f64> {
        let outcome = self.facts.outcome;
        let searched = outcome.resolution.as_ref().map_or(0, |resolution| resolution.segments);
        let segments = outcome.progress.segments + outcome.coverage.segments + searched;
        let pace = segments as f64 / self.facts.used.explored_wall_s;
        // What comes from outside is run twice before *safe* is said.
        let twice = if self.facts.drive.card().is_some() { 2.0 } else { 1.0 };
        (pace.is_finite() && pace > 0.0).then_some(pace / twice)
    }

    /// Segments of the tree of all error sequences up to this level, at most; `per_run` limits how many of them have an error.
    pub fn tree(&self, levels: u32, per_run: Option<u16>) -> f64 {
        let drive = self.facts.drive;
        let (starts, mut sum) = (drive.space().len() as f64, 0.0);
        for level in 1..=levels {
            let count = match per_run {
                None => drive.sequences(level).count,
                Some(limit) => drive.sequences_with(level, limit).map_or(f64::INFINITY, |sequences| sequences.count),
            };
            sum += starts * count;
            if sum > SEGMENTS_MAX {
                return f64::INFINITY;
            }
        }
        sum
    }

    /// Running every sequence, if something was merged and that is cheap.
    pub fn exhaustive(&self) -> Option<Exhaustive> {
        let facts = self.facts;
        if facts.settings.merge == Merge::None {
            return None;
        }
        let segments = self.tree(facts.horizon.levels, None);
        let time_s = segments / self.pace()?;
        let is_cheap = time_s <= CHEAP_S.max(CHEAP_TIMES * facts.used.explored_wall_s);
        is_cheap.then_some(Exhaustive { segments, time_s })
    }

    /// The command that runs every sequence, with room for it in the limits of the run.
    pub fn command(&self, asked: &Asked, every: Exhaustive) -> Typed {
        let typed = ["--scope", "--keep", "--preset", "--order", "--resolution"].into_iter();
        let typed = typed.fold(asked.typed.clone(), Typed::without).with("--merge", "none");
        typed.with_budget(&self.room(every))
    }

    fn room(&self, every: Exhaustive) -> Vec<Override> {
        let budget = &self.facts.settings.budget;
        let mut room = Vec::new();
        let time_s = budget.time_ns.map(|ns| ns as f64 * 1e-9).filter(|time_s| *time_s < SPARE * every.time_s);
        if time_s.is_some() {
            room.push(("time".to_owned(), format!("{}s", short((SPARE * every.time_s).ceil() + 1.0, 0))));
        }
        if budget.states.is_some_and(|states| (states as f64) < every.segments) {
            room.push(("states".to_owned(), short(every.segments.ceil(), 0)));
        }
        room
    }
}
