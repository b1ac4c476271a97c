//! Random runs without merging beside each exploration: how much did merging miss?

use std::collections::{BTreeMap, BTreeSet};

use anabranch_kernel::{
    CellKey, Chance, Choice, Choices, Grid, Job, KeyWriter, Params, Seed, SegmentEnd, System, maths,
};
use rayon::prelude::*;

use crate::runner::cell_key;
use crate::table::Table;

/// Runs that are advanced together.
const SIDE_BY_SIDE: u64 = 64;

/// Where surely fewer random runs than this stay inside what was explored, an exploration without finding is no pass.
pub const COVERED_SHARE: f64 = 0.95;

/// What random runs found about an exploration.
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
    /// By how much a random run came closer than the whole exploration.
    pub worst_missed: f64,
    /// Runs that violated a requirement of which the exploration found no violation.
    pub disagreements: u64,
    /// Violating runs: start number and choices. They are findings as well.
    pub violations: Vec<(usize, Vec<Choice>)>,
    /// Good–Turing estimate of the share of steps of such runs that end in cells which neither the exploration nor these
    /// runs have seen.
    pub unseen_mass: f64,
    /// How often rollouts were drawn: each time afresh, after the exploration looked closer.
    pub draws: u32,
    /// Cells on the way of runs that the exploration disagrees with.
    pub(crate) disagreed: BTreeSet<CellKey>,
}

impl Coverage {
    /// Whether enough random runs may stay inside, by the upper end of the interval: what chance could have done is not
    /// held against an exploration. None if nobody looked.
    pub fn is_covered(&self) -> Option<bool> {
        (self.rollouts > 0).then_some(self.share_high >= COVERED_SHARE)
    }
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
}

struct Rollout {
    start: usize,
    choices: Vec<Choice>,
    inside: bool,
    margin: f64,
    violated: Vec<u16>,
    /// Cells on its way.
    keys: Vec<CellKey>,
    /// Those that were not explored.
    outside: Vec<CellKey>,
    steps: u64,
}

impl Rollout {
    fn begin(start: usize) -> Self {
        let (choices, violated, keys, outside) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { start, choices, inside: true, margin: f64::INFINITY, violated, keys, outside, steps: 0 }
    }

    /// The run goes on through a cell.
    fn pass(&mut self, key: Option<CellKey>, merged_here: bool, explored: &Explored<'_>) {
        let known = key.is_some_and(|key| explored.table.contains(key));
        self.inside &= !merged_here || known;
        self.keys.extend(key);
        self.outside.extend(key.filter(|_| merged_here && !known));
    }
}

/// Draws `rollouts` random runs and compares them with an exploration.
pub(crate) fn measure<S: System>(
    system: &S,
    seed: Seed,
    starts: &[Params],
    rollouts: u64,
    explored: &Explored<'_>,
) -> Coverage {
    let firsts: Vec<u64> = (0..rollouts).step_by(SIDE_BY_SIDE as usize).collect();
    let runs: Vec<Rollout> = firsts
        .into_par_iter()
        .flat_map_iter(|first| {
            let count = SIDE_BY_SIDE.min(rollouts - first);
            run_side_by_side(system, seed, starts, first, count, explored)
        })
        .collect();
    let mut coverage = Coverage { rollouts: runs.len() as u64, draws: explored.draw + 1, ..Coverage::default() };
    let (mut steps, mut outside) = (0, BTreeMap::new());
    for run in runs {
        steps += run.steps;
        run.outside.iter().for_each(|key| *outside.entry(*key).or_insert(0_u32) += 1);
        coverage.runs_inside += u64::from(run.inside);
        coverage.worst_missed = coverage.worst_missed.max(explored.margin - run.margin);
        if !run.violated.is_empty() {
            if run.violated.iter().any(|r| !explored.found.contains(r)) {
                coverage.disagreements += 1;
                coverage.disagreed.extend(&run.keys);
            }
            coverage.violations.push((run.start, run.choices));
        }
    }
    if !coverage.worst_missed.is_finite() {
        coverage.worst_missed = 0.0;
    }
    let once = outside.values().filter(|count| **count == 1).count();
    coverage.unseen_mass = once as f64 / steps.max(1) as f64;
    coverage.share = coverage.runs_inside as f64 / coverage.rollouts.max(1) as f64;
    (coverage.share_low, coverage.share_high) = clopper_pearson(coverage.runs_inside, coverage.rollouts, 0.05);
    coverage
}

fn run_side_by_side<S: System>(
    system: &S,
    seed: Seed,
    starts: &[Params],
    first: u64,
    count: u64,
    explored: &Explored<'_>,
) -> Vec<Rollout> {
    let chance = match explored.draw {
        0 => Chance::new(seed, "rollout"),
        again => Chance::new(seed, &format!("rollout {again}")),
    };
    let (mut finished, mut active, mut jobs) = (Vec::new(), Vec::new(), Vec::new());
    for n in first..first + count {
        let start = chance.at(n).below(0, starts.len() as u64) as usize;
        let Ok(state) = system.start(seed, &starts[start]) else { continue };
        active.push((n, Rollout::begin(start)));
        jobs.push(Job::new(state, Choice::NONE));
    }
    let mut writer = KeyWriter::new(explored.grid);
    let mut live = Choices::new();
    let mut level = 0;
    while !jobs.is_empty() {
        for (job, (n, run)) in jobs.iter_mut().zip(&mut active) {
            system.live(&job.state, &mut live);
            job.choice = live[chance.at(*n).below(1 + u64::from(level), live.len() as u64) as usize];
            run.choices.push(job.choice);
        }
        system.run_many(&mut jobs);
        level += 1;
        let mut still = (Vec::new(), Vec::new());
        for (job, (n, mut run)) in jobs.into_iter().zip(active) {
            run.margin = run.margin.min(job.margin);
            run.steps += 1;
            let key = cell_key(system, &job.state, explored.level_in_key.then_some(level), &mut writer);
            match job.end {
                Ok(SegmentEnd::Open) if level < explored.levels_max => {
                    run.pass(key, level.is_multiple_of(explored.merge_every), explored);
                    still.0.push(Job::new(job.state, Choice::NONE));
                    still.1.push((n, run));
                    continue;
                }
                Ok(SegmentEnd::Violated(verdicts)) => run.violated = verdicts.iter().map(|v| v.requirement).collect(),
                Ok(_) => {}
                Err(_) => run.inside = false,
            }
            if run.violated.is_empty() {
                run.keys = Vec::new();
            }
            finished.push((n, run));
        }
        (jobs, active) = still;
    }
    finished.sort_by_key(|(n, _)| *n);
    finished.into_iter().map(|(_, run)| run).collect()
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
    fn surely_less_than_nineteen_of_twenty_is_not_covered() {
        let of = |inside, rollouts| {
            let (_, share_high) = clopper_pearson(inside, rollouts, 0.05);
            Coverage { rollouts, share_high, ..Coverage::default() }.is_covered()
        };
        assert_eq!([of(0, 0), of(473, 500), of(460, 500), of(43, 50)], [None, Some(true), Some(false), Some(false)]);
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
