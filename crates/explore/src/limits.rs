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
    /// Memory that the end of the level in hand takes beyond what is held now.
    ahead_bytes: AtomicU64,
}

impl<'a> Limits<'a> {
    /// Limits that count from now on.
    pub(crate) fn new(budget: Budget, clock: &'a dyn Clock, interrupt: &'a AtomicBool) -> Self {
        let (identity, zero) = (Digest::default(), || AtomicU64::new(0));
        let (segment_ns, reserved_ns, ahead_bytes) = (zero(), zero(), zero());
        let started_ns = clock.now_ns();
        Self { budget, clock, started_ns, interrupt, identity, segment_ns, reserved_ns, ahead_bytes }
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

    /// What cannot wait, or more memory than is allowed.
    pub(crate) fn urgent_or_full(&self) -> Option<Stop> {
        let is_full = || self.budget.memory_bytes.is_some_and(|max| self.is_resident(max));
        self.urgent().or_else(|| is_full().then_some(Stop::Memory))
    }

    /// The end of the level in hand will take so much memory beyond what is held then.
    pub(crate) fn expect(&self, bytes: u64) {
        self.ahead_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Whether the process holds, or soon will, more than exploring may of this budget.
    fn is_resident(&self, max: u64) -> bool {
        let ahead = self.ahead_bytes.load(Ordering::Relaxed);
        let most = (max / 10 * MEMORY_TENTHS).max(RESIDENT_MIN);
        self.clock.resident_bytes().is_some_and(|held| held + ahead > most)
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
        let held = |max: u64| bytes > max / 10 * MEMORY_TENTHS || self.is_resident(max);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that holds 150 MB.
    struct Held;
    impl Clock for Held {
        fn now_ns(&self) -> u64 {
            0
        }
        fn resident_bytes(&self) -> Option<u64> {
            Some(150_000_000)
        }
    }

    #[test]
    fn what_the_end_of_a_level_takes_counts_before_it_is_taken() {
        let budget = Budget { memory_bytes: Some(200_000_000), ..Budget::default() };
        let interrupt = AtomicBool::new(false);
        let limits = Limits::new(budget, &Held, &interrupt);
        let exceeded = || limits.exceeded(&Progress::default(), 0, true);
        assert_eq!(exceeded(), None);
        limits.expect(40_000_000);
        assert_eq!((exceeded(), limits.urgent_or_full()), (Some(Stop::Memory), Some(Stop::Memory)));
        limits.expect(0);
        assert_eq!((exceeded(), limits.urgent_or_full()), (None, None));
    }
}
