//! Limits and the wish to stop, and running segments so that both are looked at in time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anabranch_kernel::{Digest, Job, System};
use rayon::prelude::*;

use crate::edge::{Clock, Progress};
use crate::settings::Budget;

/// Segments that are run together at most: enough to fill vector lanes.
const BATCH_JOBS: usize = 96;
/// Segments between two looks at the limits take about this long.
const LOOK_NS: u64 = 500_000_000;

/// A process holds about this much before it explores anything; smaller budgets are about states alone.
const RESIDENT_MIN: u64 = 128 << 20;
/// Exploring ends when this many tenths of the memory are used: what follows needs some as well.
const MEMORY_TENTHS: u64 = 9;
/// Runs of a finding for which time is set aside once there is one: two to confirm it, two to write down what happened.
const RUNS_OF_A_FINDING: u64 = 4;

/// Why an exploration ended before everything was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time budget was used up.
    Time,
    /// The budget of states was used up.
    States,
    /// The memory budget was used up.
    Memory,
    /// Somebody asked to stop.
    Interrupted,
    /// The first finding was enough.
    FirstFinding,
}

/// Limits and the wish to stop.
pub(crate) struct Limits<'a> {
    pub(crate) budget: Budget,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) started_ns: u64,
    pub(crate) interrupt: &'a AtomicBool,
    /// Of everything that decides the result, for checkpoints.
    pub(crate) identity: Digest,
    /// How long a segment takes on one core; 0 before anything was run.
    segment_ns: AtomicU64,
    /// Time that is not for exploring, because something was found that must be confirmed.
    reserved_ns: AtomicU64,
}

impl<'a> Limits<'a> {
    /// Limits that count from now on.
    pub(crate) fn new(budget: Budget, clock: &'a dyn Clock, interrupt: &'a AtomicBool) -> Self {
        let (started_ns, segment_ns, reserved_ns) = (clock.now_ns(), AtomicU64::new(0), AtomicU64::new(0));
        Self { budget, clock, started_ns, interrupt, identity: Digest::default(), segment_ns, reserved_ns }
    }

    /// What cannot wait: the time is over, or somebody asked to stop.
    pub(crate) fn urgent(&self) -> Option<Stop> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Some(Stop::Interrupted);
        }
        let max_ns = self.budget.time_ns?;
        let used_ns = self.clock.now_ns().saturating_sub(self.started_ns);
        (used_ns + self.reserved_ns.load(Ordering::Relaxed) > max_ns).then_some(Stop::Time)
    }

    /// Something was found after so many segments of this length: keeps the time to confirm it, at most half of all.
    pub(crate) fn reserve(&self, segments: u64, segment_ns: u64) {
        let needed_ns = segments.saturating_mul(segment_ns).saturating_mul(RUNS_OF_A_FINDING);
        self.reserved_ns.store(needed_ns.min(self.budget.time_ns.unwrap_or(0) / 2), Ordering::Relaxed);
    }

    /// States that may still be kept.
    pub(crate) fn states_left(&self, kept: u64) -> u64 {
        self.budget.states.map_or(u64::MAX, |max| max.saturating_sub(kept))
    }

    /// The first limit that is exceeded.
    pub(crate) fn exceeded(&self, progress: &Progress, bytes: u64, has_room: bool) -> Option<Stop> {
        if let Some(stop) = self.urgent() {
            return Some(stop);
        }
        if self.budget.states.is_some_and(|max| progress.states > max) {
            return Some(Stop::States);
        }
        let resident = |max: u64| self.clock.resident_bytes().is_some_and(|held| held > max.max(RESIDENT_MIN));
        let held = |max: u64| {
            let max = max / 10 * MEMORY_TENTHS;
            bytes > max || resident(max)
        };
        if !has_room || self.budget.memory_bytes.is_some_and(held) {
            return Some(Stop::Memory);
        }
        None
    }

    /// Segments that fit between two looks. Before anything is known about their pace, one for each core.
    fn fitting(&self) -> usize {
        let cores = rayon::current_num_threads();
        match self.segment_ns.load(Ordering::Relaxed) {
            0 => cores,
            ns => (LOOK_NS / ns).clamp(1, 1 << 20) as usize * cores,
        }
    }

    /// Runs every job; their order stays.
    ///
    /// # Errors
    /// With the wish or the limit that cut it off; jobs are then run in part.
    pub(crate) fn run_jobs<S: System>(&self, system: &S, jobs: &mut [Job<S::State>]) -> Result<(), Stop> {
        let cores = rayon::current_num_threads();
        let mut rest = jobs;
        while !rest.is_empty() {
            if let Some(stop) = self.urgent() {
                return Err(stop);
            }
            let count = self.fitting().min(rest.len());
            let (now, later) = rest.split_at_mut(count);
            rest = later;
            let began_ns = self.clock.now_ns();
            let batch = count.div_ceil(cores).min(BATCH_JOBS);
            now.par_chunks_mut(batch).for_each(|jobs| system.run_many(jobs));
            let took_ns = self.clock.now_ns().saturating_sub(began_ns);
            let per_core = count.div_ceil(cores) as u64;
            self.segment_ns.store((took_ns / per_core).max(1), Ordering::Relaxed);
            if let Some(stop) = self.urgent() {
                return Err(stop);
            }
        }
        Ok(())
    }
}
