//! From many findings to few causes.
//!
//! **What a cause is.** An *accident* is what happened: the requirement, and whatever else the caller tells apart (what was
//! hit, with which part of the car). A *cause* is an accident and the [kinds of error](Kinds) that are enough for it.
//!
//! **When a finding shares a cause.** It has errors of every kind of the cause, and some of its errors of these kinds lead to
//! the same accident when all its other errors are left out. That was run for every finding that is counted, in one of three ways:
//!
//! 1. it has no errors of other kinds, and was itself run from the start when it was confirmed;
//! 2. it was run with all its errors of these kinds and no others;
//! 3. it contains, segment by segment, a smaller sequence of these kinds that was run.
//!
//! A finding that shares several causes counts for one without another's further kinds. What could not be assigned
//! before the work was used up is counted, never guessed.
//!
//! **The minimal sequence of a cause** consists of errors of one of its findings. It was run from the start, and without any
//! single one of its errors, site by site and segment by segment, the accident does not happen.
//!
//! **Mirror images.** Two causes are one where the minimal sequence of one, with left and right exchanged, was run and led to
//! the accident of the other, on the other side. Where there are several starts, it may be from another one.

mod find;
mod kind;
mod mirror;

use std::collections::BTreeSet;
use std::fmt::Debug;

use anabranch_kernel::{Choice, Fault, Params, Seed, System, Verdict};

pub use find::find_causes;
pub use kind::{Kind, Kinds, contains};

use crate::explain::Tried;

/// What tells accidents apart, beside what the system says.
pub trait Accidents: Sync {
    /// An accident: findings with unequal ones never share a cause.
    type Accident: Ord + Clone + Debug + Send + Sync;

    /// What happened in a finding.
    fn of(&self, finding: &Found<'_>) -> Self::Accident;

    /// Whether a run ended with this accident; usually where what happened in it is equal.
    fn is_same(&self, accident: &Self::Accident, run: &Found<'_>) -> bool {
        self.of(run) == *accident
    }

    /// Whether two accidents are what is left of each other when left and right are exchanged.
    fn are_mirrored(&self, one: &Self::Accident, other: &Self::Accident) -> bool;
}

/// Accidents that differ in nothing but the violated requirement.
#[derive(Clone, Copy, Debug)]
pub struct ByRequirement;

impl Accidents for ByRequirement {
    type Accident = u16;
    fn of(&self, finding: &Found<'_>) -> u16 {
        finding.verdict.requirement
    }
    fn are_mirrored(&self, one: &u16, other: &u16) -> bool {
        one == other
    }
}

/// A finding, confirmed from the start.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Position of its start in [`Asked::starts`].
    pub start: usize,
    /// The error of every segment up to the violation.
    pub choices: &'a [Choice],
    /// What was violated.
    pub verdict: Verdict,
}

/// What causes are looked for in, and how hard.
pub struct Asked<'a, S: System, A: Accidents> {
    /// What was explored.
    pub system: &'a S,
    /// Seed of all chance.
    pub seed: Seed,
    /// All starts.
    pub starts: &'a [Params],
    /// The findings, the most telling first.
    pub findings: &'a [Found<'a>],
    /// What tells their accidents apart.
    pub accidents: &'a A,
    /// Segments after which a run is over, even if its system does not end it.
    pub segments_max: usize,
    /// Segments that may be simulated; what is under way then is finished.
    pub work_max: u64,
    /// Threads; 0 is all cores. Results do not depend on it.
    pub threads: usize,
    /// Asked between pieces of work; the search ends when it says no.
    pub goes_on: &'a (dyn Fn() -> bool + Sync),
}

/// Why some findings have no cause.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfinished {
    /// The work was used up.
    Work,
    /// The caller said so.
    Stopped,
    /// A segment could not be computed.
    Fault(Fault),
}

/// A cause, and the findings that share it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause<A> {
    /// What happens.
    pub accident: A,
    /// The kinds of error that are enough; none where it happens without any error.
    pub kinds: BTreeSet<Kind>,
    /// The minimal sequence.
    pub minimal: Tried,
    /// Its verdict, from the start.
    pub verdict: Verdict,
    /// Its start.
    pub start: usize,
    /// The finding whose errors it consists of.
    pub from: usize,
    /// Positions of the findings that share it, in order.
    pub members: Vec<usize>,
    /// Sequences of these kinds that were run and led to the accident, each with its start. A member that contains one
    /// of them, segment by segment, need not be run itself.
    pub witnesses: Vec<(usize, Vec<Choice>)>,
    /// The cause of which it is the mirror image; that one comes before it and is itself none.
    pub mirror_of: Option<usize>,
}

/// All causes, in the order in which they were found.
#[derive(Clone, Debug)]
pub struct Causes<A> {
    /// The causes.
    pub causes: Vec<Cause<A>>,
    /// The kinds they speak of.
    pub kinds: Kinds,
    /// Findings without a cause, in order.
    pub unassigned: Vec<usize>,
    /// Why there are some.
    pub unfinished: Option<Unfinished>,
    /// Segments that were simulated.
    pub segments_run: u64,
}

impl<A> Causes<A> {
    /// How many there are when mirror images are one.
    pub fn count(&self) -> usize {
        self.causes.iter().filter(|cause| cause.mirror_of.is_none()).count()
    }
}
