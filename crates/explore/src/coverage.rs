//! Random runs without merging beside each exploration: how much did merging miss?

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anabranch_kernel::{
    CellKey, Chance, Choice, Choices, Grid, Job, KeyWriter, Params, Seed, SegmentEnd, System, maths,
};

use crate::limits::{Limits, Stop};
use crate::modes::{Mode, ModeReader};
use crate::runner::cell_key;
use crate::table::Table;
use crate::unmerged::{Begun, Ended, run_in_time};

/// The share of random runs that must stay inside what was explored, unless somebody asks for another.
pub const TARGET_SHARE: f64 = 0.99;
/// Probability of calling an exploration covered that is not, over all looks together.
pub const DOUBT: f64 = 0.05;
/// Runs that are drawn side by side: limits are looked at in between, and their states are in memory together.
const SLAB_RUNS: u64 = 4_096;

/// Whether enough random runs stay inside what was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covered {
    /// Surely enough of them do.
    Yes,
    /// That is not so, or could not be shown.
    No,
    /// There were too few runs to say; never a pass.
    Unknown,
}

/// What random runs found about an exploration, drawn after its last segment: none of them became part of it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Coverage {
    /// Random runs; every live choice equally likely at every segment.
    pub rollouts: u64,
    /// Runs that stayed inside explored cells from start to end.
    pub runs_inside: u64,
    /// Their share, and its Clopper–Pearson interval (95 %).
    pub share: f64,
    /// Lower end of the interval.
    pub share_low: f64,
    /// Upper end of the interval.
    pub share_high: f64,
    /// The share that is asked for.
    pub target: f64,
    /// This look's part of the [`DOUBT`]; looks share it.
    pub doubt: f64,
    /// By how much a random run came closer than the whole exploration.
    pub worst_missed: f64,
    /// Runs that violated a requirement of which the exploration found no violation.
    pub disagreements: u64,
    /// Violating runs: start number and choices. They are findings as well.
    pub violations: Vec<(usize, Vec<Choice>)>,
    /// Good–Turing estimate of the share of steps of such runs that end in cells which neither the exploration nor these
    /// runs have seen.
    pub unseen_mass: f64,
    /// How often random runs were drawn: each time afresh, after the exploration had gone on.
    pub draws: u32,
    /// States of random runs that had left what was explored and joined it.
    pub joined: u64,
    /// Segments of all random runs, those that joined included.
    pub segments: u64,
    /// Whether nothing was merged, so that every run is inside.
    pub is_exhaustive: bool,
    /// Cells on the way of runs that the exploration disagrees with.
    pub(crate) disagreed: BTreeSet<CellKey>,
    /// Runs that left what was explored.
    pub(crate) outside: Vec<(usize, Vec<Choice>)>,
    /// How many runs met each value of a discrete variable.
    pub(crate) met: BTreeMap<Mode, u32>,
    /// Cells outside of what was explored, and how often runs were there.
    pub(crate) unseen: BTreeMap<CellKey, u32>,
}

impl Coverage {
    /// Of an exploration that merged nothing.
    pub(crate) fn exhaustive() -> Self {
        let (share, target) = (1.0, TARGET_SHARE);
        Self { share, share_low: share, share_high: share, target, is_exhaustive: true, ..Self::default() }
    }

    /// Whether the one-sided lower end of the share is at least the target, at this look's part of the doubt.
    pub fn covered(&self) -> Covered {
        if self.is_exhaustive {
            return Covered::Yes;
        }
        if self.rollouts == 0 || self.rollouts < runs_needed(self.target, self.doubt) {
            return Covered::Unknown;
        }
        let lower = lower_end(self.runs_inside, self.rollouts, self.doubt);
        if lower >= self.target { Covered::Yes } else { Covered::No }
    }
}

/// Fewest runs that can show the target if none of them leaves what was explored: 299 for 99 % with a doubt of 5 %.
pub(crate) fn runs_needed(target: f64, doubt: f64) -> u64 {
    (maths::ln(doubt) / maths::ln(target)).ceil() as u64
}

/// Fewest runs that show the target although so many of them leave what was explored: 473 for one.
pub(crate) fn runs_needed_with(outside: u64, target: f64, doubt: f64) -> u64 {
    let mut runs = runs_needed(target, doubt) + outside;
    while lower_end(runs - outside, runs, doubt) < target {
        runs += 1;
    }
    runs
}

/// What a random run is compared with.
pub(crate) struct Explored<'a> {
    pub(crate) table: &'a Table,
    pub(crate) grid: &'a Grid,
    pub(crate) level_in_key: bool,
    pub(crate) merge_every: u32,
    pub(crate) levels_max: u32,
    pub(crate) margin: f64,
    pub(crate) found: &'a [u16],
    /// Which drawing of rollouts this is; each is independent of the others.
    pub(crate) draw: u32,
    pub(crate) target: f64,
    pub(crate) doubt: f64,
    /// Reads modes, if somebody will search where runs hardly ever come.
    pub(crate) modes: Option<ModeReader>,
    pub(crate) limits: &'a Limits<'a>,
}

struct Rollout {
    number: u64,
    start: usize,
    choices: Vec<Choice>,
    inside: bool,
    margin: f64,
    /// Cells on its way.
    keys: Vec<CellKey>,
    /// Those that were not explored.
    outside: Vec<CellKey>,
    /// Modes on its way.
    modes: BTreeSet<Mode>,
}

impl Rollout {
    fn begin(number: u64, start: usize) -> Self {
        let (choices, keys, outside) = (Vec::new(), Vec::new(), Vec::new());
        let modes = BTreeSet::new();
        Self { number, start, choices, inside: true, margin: f64::INFINITY, keys, outside, modes }
    }

    /// A segment of the run is over.
    fn see<S: System>(&mut self, system: &S, level: u32, job: &Job<S::State>, explored: &Explored<'_>) {
        self.choices.push(job.choice);
        self.margin = self.margin.min(job.margin);
        if let Some(reader) = &explored.modes {
            self.modes.extend(reader.read(system, &job.state));
        }
        if job.end != Ok(SegmentEnd::Open) || level >= explored.levels_max {
            self.inside &= job.end.is_ok();
            return;
        }
        let mut writer = KeyWriter::new(explored.grid);
        let key = cell_key(system, &job.state, explored.level_in_key.then_some(level), &mut writer);
        let known = key.is_some_and(|key| explored.table.contains(key));
        let merged_here = level.is_multiple_of(explored.merge_every);
        self.inside &= !merged_here || known;
        self.keys.extend(key);
        self.outside.extend(key.filter(|_| merged_here && !known));
    }
}

/// Random runs that were cut off: their share says nothing, but what they found is found.
#[derive(Debug)]
pub(crate) struct CutOff {
    pub(crate) stop: Stop,
    /// Sequences that violate a requirement.
    pub(crate) violations: Vec<(usize, Vec<Choice>)>,
    pub(crate) segments: u64,
}

/// Draws `rollouts` more random runs, and compares all that were drawn with an exploration.
pub(crate) fn measure<S: System>(
    (system, seed, starts): (&S, Seed, &[Params]),
    rollouts: u64,
    explored: &Explored<'_>,
    before: Coverage,
) -> Result<Coverage, CutOff> {
    let Explored { target, doubt, .. } = *explored;
    let (first, end) = (before.rollouts, before.rollouts + rollouts);
    let mut coverage = Coverage { draws: explored.draw + 1, target, doubt, ..before };
    for number in (first..end).step_by(SLAB_RUNS as usize) {
        let slab = number..end.min(number + SLAB_RUNS);
        let (runs, stop) = draw_runs((system, seed, starts), slab, explored);
        coverage.rollouts += runs.len() as u64;
        runs.into_iter().for_each(|run| coverage.see(run, explored));
        if let Some(stop) = stop.or_else(|| explored.limits.urgent_or_full()) {
            let Coverage { violations, segments, .. } = coverage;
            return Err(CutOff { stop, violations, segments });
        }
    }
    if !coverage.worst_missed.is_finite() {
        coverage.worst_missed = 0.0;
    }
    let once = coverage.unseen.values().filter(|count| **count == 1).count();
    coverage.unseen_mass = once as f64 / coverage.segments.max(1) as f64;
    coverage.share = coverage.runs_inside as f64 / coverage.rollouts.max(1) as f64;
    (coverage.share_low, coverage.share_high) = clopper_pearson(coverage.runs_inside, coverage.rollouts, 0.05);
    Ok(coverage)
}

impl Coverage {
    /// A random run is over.
    fn see(&mut self, run: Ended<Rollout>, explored: &Explored<'_>) {
        self.segments += run.segments;
        let violated: Vec<u16> = match &run.end {
            Ok(SegmentEnd::Violated(verdicts)) => verdicts.iter().map(|verdict| verdict.requirement).collect(),
            _ => Vec::new(),
        };
        let run = run.notes;
        run.modes.iter().for_each(|mode| *self.met.entry(*mode).or_insert(0) += 1);
        run.outside.iter().for_each(|key| *self.unseen.entry(*key).or_insert(0_u32) += 1);
        self.runs_inside += u64::from(run.inside);
        self.worst_missed = self.worst_missed.max(explored.margin - run.margin);
        if !run.inside {
            self.outside.push((run.start, run.choices.clone()));
        }
        if !violated.is_empty() {
            if violated.iter().any(|requirement| !explored.found.contains(requirement)) {
                self.disagreements += 1;
                self.disagreed.extend(&run.keys);
            }
            self.violations.push((run.start, run.choices));
        }
    }
}

fn draw_runs<S: System>(
    (system, seed, starts): (&S, Seed, &[Params]),
    numbers: Range<u64>,
    explored: &Explored<'_>,
) -> (Vec<Ended<Rollout>>, Option<Stop>) {
    let chance = match explored.draw {
        0 => Chance::new(seed, "rollout"),
        again => Chance::new(seed, &format!("rollout {again}")),
    };
    let begun = numbers
        .filter_map(|number| {
            let start = chance.at(number).below(0, starts.len() as u64) as usize;
            let state = system.start(seed, &starts[start]).ok()?;
            Some(Begun { state, level: 0, notes: Rollout::begin(number, start) })
        })
        .collect();
    run_in_time(
        system,
        explored.limits,
        explored.levels_max,
        begun,
        |run: &Rollout, level, _, live: &Choices| {
            live[chance.at(run.number).below(1 + u64::from(level), live.len() as u64) as usize]
        },
        |run, level, job| run.see(system, level, job, explored),
    )
}

/// Lower end of a one-sided interval for a share that is missed with probability `doubt` at most.
pub(crate) fn lower_end(hits: u64, n: u64, doubt: f64) -> f64 {
    if hits == 0 { 0.0 } else { solve(|p| at_least(hits, n, p) < doubt) }
}

/// Exact interval for a share of `hits` in `n` trials that covers with probability at least 1 − `alpha`.
pub fn clopper_pearson(hits: u64, n: u64, alpha: f64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let low = if hits == 0 { 0.0 } else { solve(|p| at_least(hits, n, p) < alpha / 2.0) };
    let high = if hits == n { 1.0 } else { solve(|p| 1.0 - at_least(hits + 1, n, p) > alpha / 2.0) };
    (low, high)
}

/// The p in [0, 1] up to which `below` holds.
fn solve(below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Probability of at least `hits` successes in `n` trials of probability `p`.
fn at_least(hits: u64, n: u64, p: f64) -> f64 {
    let (n_real, log_p, log_q) = (n as f64, maths::ln(p), maths::ln(1.0 - p));
    let log_choose =
        |k: f64| maths::ln_gamma(n_real + 1.0) - maths::ln_gamma(k + 1.0) - maths::ln_gamma(n_real - k + 1.0);
    let term = |k: u64| maths::exp(log_choose(k as f64) + k as f64 * log_p + (n - k) as f64 * log_q);
    if hits <= n / 2 { 1.0 - (0..hits).map(term).sum::<f64>() } else { (hits..=n).map(term).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covered_is_what_the_lower_end_of_the_interval_shows() {
        let of = |inside: u64, rollouts, doubt| {
            Coverage { rollouts, runs_inside: inside, target: 0.99, doubt, ..Coverage::default() }.covered()
        };
        // 0 of 299 and 1 of 473 are the smallest samples that show 99 % with a doubt of 5 %.
        assert_eq!([of(299, 299, 0.05), of(472, 473, 0.05)], [Covered::Yes; 2]);
        assert_eq!([of(298, 299, 0.05), of(471, 472, 0.05), of(0, 500, 0.05)], [Covered::No; 3]);
        assert_eq!([of(0, 0, 0.05), of(1, 1, 0.05), of(298, 298, 0.05)], [Covered::Unknown; 3]);
        assert_eq!([0, 1].map(|outside| runs_needed_with(outside, 0.99, 0.05)), [299, 473]);
        // A second look has a smaller part of the doubt and needs more runs.
        assert_eq!([of(299, 299, 0.025), of(368, 368, 0.025)], [Covered::Unknown, Covered::Yes]);
    }

    #[test]
    fn intervals_agree_with_published_tables() {
        for (hits, n, low, high) in
            [(0, 10, 0.0, 0.3085), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0), (95, 100, 0.8872, 0.9836)]
        {
            let (l, h) = clopper_pearson(hits, n, 0.05);
            assert!((l - low).abs() < 1e-4 && (h - high).abs() < 1e-4, "{hits}/{n}: {l} {h}");
        }
        assert_eq!(clopper_pearson(0, 0, 0.05), (0.0, 1.0));
    }
}
