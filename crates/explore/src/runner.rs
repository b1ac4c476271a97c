//! Running the segments of many states: restore, run, key, danger; in parallel, with one result.

use std::io;
use std::iter::repeat_n;
use std::ops::AddAssign;

use anabranch_kernel::{CellKey, Choices, Danger, Fault, Grid, Job, KeyWriter, OffsetGrid, State, System};
use rayon::prelude::*;

use crate::edge::Clock;
use crate::on_time::OnTime;
use crate::pool::{Place, Pool};

/// Segments that are run together: enough to fill vector lanes and to make the clock cheap.
const BATCH_JOBS: usize = 96;

/// A waiting state: its number and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) node: u64,
    pub(crate) level: u32,
    pub(crate) place: Place,
}

/// Where a segment came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) parent: u64,
    pub(crate) level: u32,
    /// It is the last choice of its parent.
    pub(crate) last: bool,
}

/// A segment that was run, where it lies: states are large, and most are merged away.
pub(crate) struct Done<'b, S> {
    pub(crate) origin: Origin,
    pub(crate) job: &'b mut Job<S>,
    pub(crate) key: Option<CellKey>,
    /// Where in its cell its end is; empty where nothing is recorded.
    pub(crate) offsets: &'b [u8],
    pub(crate) danger: &'b Danger,
}

/// Where the time of an exploration went.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Profile {
    /// Restoring and saving states.
    pub save_load_ns: u64,
    /// Running segments.
    pub run_ns: u64,
    /// Computing keys.
    pub key_ns: u64,
    /// Computing danger.
    pub danger_ns: u64,
    /// Merging.
    pub merge_ns: u64,
    /// Counting and digesting segments and collecting findings.
    pub bookkeeping_ns: u64,
}

impl AddAssign for Profile {
    fn add_assign(&mut self, other: Self) {
        self.save_load_ns += other.save_load_ns;
        self.run_ns += other.run_ns;
        self.key_ns += other.key_ns;
        self.danger_ns += other.danger_ns;
        self.merge_ns += other.merge_ns;
        self.bookkeeping_ns += other.bookkeeping_ns;
    }
}

impl Profile {
    /// Share of saving, restoring, keying and merging in the whole (the paper: 7 %, S1-45).
    pub fn save_load_share(&self) -> f64 {
        let overhead = self.save_load_ns + self.key_ns + self.merge_ns;
        let all = overhead + self.run_ns + self.danger_ns + self.bookkeeping_ns;
        if all == 0 { 0.0 } else { overhead as f64 / all as f64 }
    }
}

/// How segments are run and what is computed about their ends.
pub(crate) struct Runner<'a, S: System> {
    pub(crate) system: &'a S,
    pub(crate) grid: Option<&'a Grid>,
    /// Where offsets in cells are recorded.
    pub(crate) offsets: Option<&'a OffsetGrid>,
    /// Whether the level is part of the key.
    pub(crate) level_in_key: bool,
    pub(crate) with_danger: bool,
    pub(crate) clock: &'a dyn Clock,
    /// Runs segments as long as there is time.
    pub(crate) on_time: OnTime<'a, S>,
}

/// The results of one batch, in the order of jobs.
pub(crate) struct Batch<S> {
    jobs: Vec<Job<S>>,
    origins: Vec<Origin>,
    pub(crate) keys: Vec<Option<CellKey>>,
    /// One row per job, if they are recorded.
    offsets: Vec<u8>,
    dangers: Vec<Danger>,
    pub(crate) profile: Profile,
}

impl<S> Batch<S> {
    /// Segments that were run.
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Hands out the segments one by one, in the order of jobs.
    pub(crate) fn each<E>(&mut self, mut settle: impl FnMut(Done<'_, S>) -> Result<(), E>) -> Result<(), E> {
        let calm = Danger::default();
        let row = self.offsets.len() / self.jobs.len().max(1);
        for (index, (job, &origin)) in self.jobs.iter_mut().zip(&self.origins).enumerate() {
            let key = self.keys.get(index).copied().flatten();
            let danger = self.dangers.get(index).unwrap_or(&calm);
            let offsets = &self.offsets[index * row..(index + 1) * row];
            settle(Done { origin, job, key, offsets, danger })?;
        }
        Ok(())
    }
}

impl<S: System> Runner<'_, S> {
    /// Runs every live choice of the waiting states; results in the order of states and choices.
    pub(crate) fn run(&self, waiting: &[Waiting], pool: &Pool<'_, S::State>) -> io::Result<Vec<Batch<S::State>>> {
        // A short wave is shared by all cores.
        let share = waiting.len().div_ceil(rayon::current_num_threads());
        let per_batch = (BATCH_JOBS / self.system.errors().len()).min(share).max(1);
        waiting.par_chunks(per_batch).map(|states| self.run_batch(states, pool)).collect()
    }

    /// The same for a small batch, cut finely so that several cores share it.
    pub(crate) fn run_split(&self, waiting: &[Waiting], pool: &Pool<'_, S::State>) -> io::Result<Vec<Batch<S::State>>> {
        let per_batch = (BATCH_JOBS / self.system.errors().len() / 4).max(1);
        waiting.par_chunks(per_batch).map(|states| self.run_batch(states, pool)).collect()
    }

    fn run_batch(&self, states: &[Waiting], pool: &Pool<'_, S::State>) -> io::Result<Batch<S::State>> {
        let mut profile = Profile::default();
        let mut lap = Lap::start(self.clock);
        let mut jobs = Vec::with_capacity(BATCH_JOBS);
        let mut origins = Vec::with_capacity(BATCH_JOBS);
        let mut choices = Choices::new();
        for waiting in states {
            let state = pool.get(waiting.place)?;
            self.system.live(&state, &mut choices);
            let last = *choices.last().expect("choice 0 is always live");
            let (parent, level) = (waiting.node, waiting.level);
            origins.extend(choices.iter().map(|&choice| Origin { parent, level, last: choice == last }));
            jobs.extend(
                repeat_n(state, choices.len()).zip(choices.iter()).map(|(state, &choice)| Job::new(state, choice)),
            );
        }
        profile.save_load_ns = lap.next();
        self.on_time.run_many(&mut jobs);
        self.leave_out_what_was_cut_off(&mut jobs, &mut origins);
        profile.run_ns = lap.next();
        let (keys, offsets) = self.keys(&jobs, &origins);
        profile.key_ns = lap.next();
        let dangers: Vec<Danger> =
            if self.with_danger { jobs.iter().map(|job| self.system.danger(&job.state)).collect() } else { Vec::new() };
        profile.danger_ns = lap.next();
        Ok(Batch { jobs, origins, keys, offsets, dangers, profile })
    }

    /// What was not run because the time was over is not part of the graph: nothing is known about it.
    fn leave_out_what_was_cut_off(&self, jobs: &mut Vec<Job<S::State>>, origins: &mut Vec<Origin>) {
        let is_cut_off = |job: &Job<S::State>| matches!(job.end, Err(Fault::External(_)));
        if !jobs.iter().any(is_cut_off) || self.on_time.goes_on() {
            return;
        }
        let ran: Vec<bool> = jobs.iter().map(|job| !is_cut_off(job)).collect();
        let (mut of_job, mut of_origin) = (ran.iter(), ran.iter());
        jobs.retain(|_| of_job.next() == Some(&true));
        origins.retain(|_| of_origin.next() == Some(&true));
    }

    /// The cells of the ends, and where they are recorded the offsets in them.
    fn keys(&self, jobs: &[Job<S::State>], origins: &[Origin]) -> (Vec<Option<CellKey>>, Vec<u8>) {
        let Some(grid) = self.grid else { return (Vec::new(), Vec::new()) };
        let mut writer = self.offsets.map_or_else(|| KeyWriter::new(grid), |offsets| offsets.writer(jobs.len()));
        let key = |(job, origin): (&Job<S::State>, &Origin)| {
            let level = self.level_in_key.then_some(origin.level + 1);
            writer.begin_offsets();
            cell_key(self.system, &job.state, level, &mut writer)
        };
        let keys = jobs.iter().zip(origins).map(key).collect();
        (keys, writer.into_offsets())
    }
}

/// The cell of a state, with its level where time is part of the key.
#[inline]
pub(crate) fn cell_key<S: System>(
    system: &S,
    state: &S::State,
    level: Option<u32>,
    writer: &mut KeyWriter<'_>,
) -> Option<CellKey> {
    system.cell(state, writer);
    if let Some(level) = level {
        writer.extra(u64::from(level));
    }
    writer.finish()
}

/// Laps of a clock.
pub(crate) struct Lap<'c> {
    clock: &'c dyn Clock,
    last: u64,
}

impl<'c> Lap<'c> {
    pub(crate) fn start(clock: &'c dyn Clock) -> Self {
        Self { clock, last: clock.now_ns() }
    }
    /// Nanoseconds since the last lap.
    pub(crate) fn next(&mut self) -> u64 {
        let now = self.clock.now_ns();
        now.saturating_sub(std::mem::replace(&mut self.last, now))
    }
}

/// Tells counting from merging by a sample of batches: a clock around every segment would cost more than either.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MergeClock {
    batches: u64,
    bookkeeping_ns: u64,
    merge_ns: u64,
}

impl MergeClock {
    /// One batch in so many is merged in two passes.
    const SAMPLE: u64 = 16;

    /// Whether the next batch is part of the sample.
    pub(crate) fn is_sample(&mut self) -> bool {
        self.batches += 1;
        self.batches % Self::SAMPLE == 1
    }

    /// A batch of the sample took this long.
    pub(crate) fn split(&mut self, bookkeeping_ns: u64, merge_ns: u64, profile: &mut Profile) {
        self.bookkeeping_ns += bookkeeping_ns;
        self.merge_ns += merge_ns;
        profile.bookkeeping_ns += bookkeeping_ns;
        profile.merge_ns += merge_ns;
    }

    /// Another batch took this long in all; it is shared out as the sample was.
    pub(crate) fn whole(&self, ns: u64, profile: &mut Profile) {
        let sampled = (self.bookkeeping_ns + self.merge_ns).max(1);
        let bookkeeping = (u128::from(ns) * u128::from(self.bookkeeping_ns) / u128::from(sampled)) as u64;
        profile.bookkeeping_ns += bookkeeping;
        profile.merge_ns += ns - bookkeeping;
    }
}

/// Bytes a state takes in memory, judged by one of them.
pub(crate) fn state_bytes<S: State>(state: &S) -> usize {
    // What lies on the heap is about as large as its canonical bytes that do not fit in the value itself.
    let canonical = anabranch_kernel::to_bytes(state).len();
    size_of::<S>() + canonical.saturating_sub(size_of::<S>())
}
