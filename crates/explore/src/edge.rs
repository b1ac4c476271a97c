//! What the explorer needs from the edge: a clock, a disk, a trail, an audience. It has none of its own.

use std::io;

use anabranch_kernel::{CellKey, Choice};
use serde::{Deserialize, Serialize};

/// Time for budgets and profiles; results never depend on it.
pub trait Clock: Sync {
    /// Nanoseconds since some moment.
    fn now_ns(&self) -> u64;
    /// Memory that the process holds; `None` where nobody says.
    fn resident_bytes(&self) -> Option<u64> {
        None
    }
}

/// A clock that stands still: no time budget, no profile.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoClock;

impl Clock for NoClock {
    fn now_ns(&self) -> u64 {
        0
    }
}

/// A place for saved states that do not fit in memory.
pub trait Disk: Send + Sync {
    /// Appends a record and says where it is.
    ///
    /// # Errors
    /// When it cannot be written.
    fn append(&mut self, record: &[u8]) -> io::Result<u64>;
    /// Reads the record at a place given by [`append`](Disk::append).
    ///
    /// # Errors
    /// When it cannot be read or is not what was written.
    fn read(&self, place: u64, record: &mut Vec<u8>) -> io::Result<()>;
    /// Forgets all records.
    ///
    /// # Errors
    /// When the disk refuses.
    fn clear(&mut self) -> io::Result<()>;
}

/// The parent of a start state.
pub const NO_PARENT: u64 = u64::MAX;

/// Who came from whom: the path of every kept state.
pub trait Trail {
    /// Adds a kept state; numbers are given in order, from 0. Start states have [`NO_PARENT`] and their start's number
    /// instead of a choice.
    ///
    /// # Errors
    /// When it cannot be written.
    fn push(&mut self, parent: u64, choice: Choice) -> io::Result<u64>;
    /// A level is complete. The note is given back by [`resume`](Trail::resume).
    ///
    /// # Errors
    /// When it cannot be written.
    fn end_level(&mut self, note: &[u8]) -> io::Result<()>;
    /// Whether notes are kept, so that an exploration can be resumed.
    fn keeps_notes(&self) -> bool {
        false
    }
    /// Goes back to the last level with a note that is not empty, and returns the notes up to there, in order; empty if the
    /// exploration begins.
    ///
    /// # Errors
    /// When they cannot be read.
    fn resume(&mut self) -> io::Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }
    /// Kept states so far.
    fn len(&self) -> u64;
    /// Whether nothing was kept yet.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Parent and choice of a kept state.
    ///
    /// # Errors
    /// When it cannot be read.
    fn look(&self, node: u64) -> io::Result<(u64, Choice)>;

    /// The start and the choices that lead to a kept state.
    ///
    /// # Errors
    /// When the trail cannot be read.
    fn path(&self, mut node: u64) -> io::Result<(usize, Vec<Choice>)> {
        let mut choices = Vec::new();
        loop {
            let (parent, choice) = self.look(node)?;
            if parent == NO_PARENT {
                choices.reverse();
                return Ok((choice.index(), choices));
            }
            choices.push(choice);
            node = parent;
        }
    }
}

/// A trail in memory, for small explorations and tests.
#[derive(Clone, Debug, Default)]
pub struct MemoryTrail {
    steps: Vec<(u64, Choice)>,
    /// Notes of the levels, each with the number of states by then.
    notes: Option<Vec<(usize, Vec<u8>)>>,
}

impl MemoryTrail {
    /// A trail from which an exploration can be resumed.
    pub fn with_notes() -> Self {
        Self { steps: Vec::new(), notes: Some(Vec::new()) }
    }
}

impl Trail for MemoryTrail {
    fn push(&mut self, parent: u64, choice: Choice) -> io::Result<u64> {
        self.steps.push((parent, choice));
        Ok(self.steps.len() as u64 - 1)
    }
    fn end_level(&mut self, note: &[u8]) -> io::Result<()> {
        let states = self.steps.len();
        self.notes.iter_mut().for_each(|notes| notes.push((states, note.to_vec())));
        Ok(())
    }
    fn keeps_notes(&self) -> bool {
        self.notes.is_some()
    }
    fn resume(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let Some(notes) = &mut self.notes else { return Ok(Vec::new()) };
        let whole = notes.iter().take_while(|(_, note)| !note.is_empty()).count();
        notes.truncate(whole);
        self.steps.truncate(notes.last().map_or(0, |(states, _)| *states));
        Ok(notes.iter().map(|(_, note)| note.clone()).collect())
    }
    fn len(&self) -> u64 {
        self.steps.len() as u64
    }
    fn look(&self, node: u64) -> io::Result<(u64, Choice)> {
        self.steps.get(node as usize).copied().ok_or_else(|| io::Error::other(format!("no state number {node}")))
    }
}

/// What became of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its end state is continued, or was until a worse one replaced it.
    Kept,
    /// Its end state was like a kept one.
    Merged,
    /// The manoeuvre was completed.
    Goal,
    /// A *must* was violated.
    Violated,
    /// The scenario's time was over.
    TimedOut,
    /// It could not be computed.
    Fault,
}

impl Fate {
    /// The fate whose position among all this is.
    pub(crate) fn of_number(number: u8) -> Option<Self> {
        let all = [Self::Kept, Self::Merged, Self::Goal, Self::Violated, Self::TimedOut, Self::Fault];
        all.into_iter().find(|fate| *fate as u8 == number)
    }
}

/// One line of the growing graph.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// Level of the start of the segment.
    pub level: u32,
    /// Where it started: the number of the kept state.
    pub parent: u64,
    /// Where it ended: x, y, heading.
    pub to: [f64; 3],
    /// What became of it.
    pub fate: Fate,
}

/// How far an arrival in a cell is from the first kept member of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// The largest difference over all continuous variables, in 1/256 of the cell's size.
    pub parts: u8,
    /// Number of the variable with that difference.
    pub variable: u16,
}

impl Apart {
    /// The difference as a share of the cell's size, off by less than 1/256.
    pub fn share(self) -> f64 {
        f64::from(self.parts) / 256.0
    }
}

/// A segment as part of the graph: from a kept state into a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Level of its start.
    pub level: u32,
    /// The kept state it starts from.
    pub parent: u64,
    /// The error during it.
    pub choice: Choice,
    /// What became of its end.
    pub fate: Fate,
    /// The cell its open end fell into; `None` for other ends and where nothing is merged.
    pub cell: Option<u32>,
    /// The name of that cell, the same in every run of a scenario; of other ends too, where there is a grid.
    pub key: Option<CellKey>,
    /// Smallest margin during it.
    pub margin: f64,
    /// How far its end is from the first kept member of its cell. With scope `frontier` that is the last kept member: the
    /// one that waits. `None` for the first member itself, and where no variable has cells.
    pub apart: Option<Apart>,
}

/// A kept state as part of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number; numbers are given in order, from 0.
    pub node: u64,
    /// Its level; 0 is the start.
    pub level: u32,
    /// Where it came from, or [`NO_PARENT`].
    pub parent: u64,
    /// By which choice; of a start state the number of the start.
    pub choice: Choice,
    /// The cell it is a member of; `None` where nothing is merged.
    pub cell: Option<u32>,
}

/// Counts that grow while exploring.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Level being expanded.
    pub level: u32,
    /// States waiting in this level that were expanded already.
    pub expanded: u64,
    /// States waiting in this level.
    pub waiting: u64,
    /// Segments run.
    pub segments: u64,
    /// Kept states.
    pub states: u64,
    /// Segments whose end was merged away.
    pub merged: u64,
    /// Segments that violated a *must*.
    pub findings: u64,
    /// Segments that would have been needed without saved states.
    pub segments_from_start: u64,
    /// Smallest margin seen.
    pub margin: f64,
    /// Of these segments, those that were taken from an earlier run; see [`crate::Remembering`].
    pub reused: u64,
    /// Of those taken from an earlier run, those that were run all the same, to check.
    pub checked: u64,
    /// The first segment that an earlier run knows too and that ends otherwise now.
    pub first_difference: Option<SegmentAt>,
}

/// A segment by where it begins: first by level, then by the number of its start, then by choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SegmentAt {
    /// Level of the state it begins in.
    pub level: u32,
    /// Number of that state.
    pub parent: u64,
    /// Number of its choice.
    pub choice: u16,
}

/// One finished level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelReport {
    /// Level whose states were expanded; 0 is the start.
    pub level: u32,
    /// Segments run from this level.
    pub segments: u64,
    /// New states kept.
    pub kept: u64,
    /// Ends merged away.
    pub merged: u64,
    /// Completed manoeuvres.
    pub goals: u64,
    /// Violations.
    pub findings: u64,
    /// Smallest margin among its segments.
    pub margin: f64,
}

/// What an exploration is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A few random runs that say over what things range.
    Pilot,
    /// Computing the waiting states of an earlier process again.
    Resuming,
    /// Running every error choice from every waiting state.
    Exploring,
    /// Looking closer, and random runs that measure coverage.
    Covering,
    /// Searches without merging.
    Searching,
    /// Every sequence, where that is affordable after all.
    Exhausting,
    /// Errors that are held from start to end.
    Holding,
    /// Segments that are run a second time.
    Repeating,
}

impl Stage {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Pilot => "a few random runs to see what moves the margin",
            Self::Resuming => "computing the waiting states again",
            Self::Exploring => "exploring",
            Self::Covering => "random runs that measure what was missed",
            Self::Searching => "searching without merging",
            Self::Exhausting => "running every sequence",
            Self::Holding => "holding every error from start to end",
            Self::Repeating => "running segments a second time",
        }
    }
}

/// Watches an exploration without influencing it.
pub trait Observer {
    /// Something else begins.
    fn stage(&mut self, stage: Stage) {
        let _ = stage;
    }
    /// Called often; must be quick.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
    /// A level is finished.
    fn level(&mut self, report: &LevelReport) {
        let _ = report;
    }
    /// Whether [`drawn`](Observer::drawn) and [`kept`](Observer::kept) are still wanted.
    fn draws(&self) -> bool {
        false
    }
    /// A segment, in the order of jobs.
    fn drawn(&mut self, drawn: &Drawn) {
        let _ = drawn;
    }
    /// A kept state with its number, in order.
    fn kept(&mut self, node: u64, at: [f64; 3]) {
        let _ = (node, at);
    }
    /// Whether [`edge`](Observer::edge) and [`node`](Observer::node) are wanted.
    fn records(&self) -> bool {
        false
    }
    /// A segment, in the order of jobs. An end that was [`Fate::Kept`] becomes a node of its cell unless a worse one
    /// takes its place before its level is finished.
    fn edge(&mut self, edge: &Edge) {
        let _ = edge;
    }
    /// A kept state, in order of numbers.
    fn node(&mut self, node: &Node) {
        let _ = node;
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;
impl Observer for NoObserver {}
