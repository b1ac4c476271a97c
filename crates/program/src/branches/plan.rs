//! Which steps may run at the same time, and which do.
//!
//! Steps are put into levels, a level after all levels it depends on ([`Program::levels`]). Consecutive levels form a stage;
//! the steps of a stage fall into branches that share nothing that one of them writes. Where to cut is decided by what the
//! stages are likely to take: a stage with branches on several cores costs a hand-over and then as long as its busiest core.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::cost;
use crate::program::Program;

/// What handing over to other threads and waiting for them costs, in nanoseconds: a bit more than 1 µs was measured with threads
/// that wait awake; the rest is room for those that are late. Ticks of 10 µs gained a tenth on two calm cores, and lose on busy ones.
pub const HANDOVER_NS: f64 = 4_000.0;
/// A stage must promise at least this share of its time.
const GAIN_MIN: f64 = 0.15;
/// Bundles per thread, so that who is done early can take one more.
const BUNDLES_PER_THREAD: usize = 4;
/// Steps and dependencies looked at while cuts are chosen; beyond it fewer cuts are tried.
const LOOKS_MAX: usize = 30_000_000;

/// Steps that one thread executes in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Numbers of steps, rising.
    pub steps: Vec<usize>,
    /// What they are likely to take.
    pub cost_ns: f64,
}

/// Lanes that run at the same time, after the stage before.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The most expensive first.
    pub lanes: Vec<Lane>,
    /// How many independent branches the lanes were made of.
    pub branches: usize,
}

/// The stages of a tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// One after the other.
    pub stages: Vec<Stage>,
}

impl Plan {
    /// The plan for a program on some threads, if it is likely to be quicker than one thread.
    pub fn new(program: &Program, threads: usize, handover_ns: f64) -> Option<Self> {
        let costs: Vec<f64> = program.steps().iter().map(|step| cost::body(&step.body)).collect();
        if threads < 2 || costs.len() < 2 || costs.iter().sum::<f64>() < 2.0 * handover_ns {
            return None;
        }
        let graph = Graph::of(program, costs);
        let cuts = graph.cuts(threads, handover_ns);
        let stages: Vec<Stage> = cuts.iter().map(|cut| graph.stage(cut, threads)).collect();
        stages.iter().any(|stage| stage.lanes.len() > 1).then_some(Self { stages })
    }
    /// The most branches that run at the same time.
    pub fn branches(&self) -> usize {
        self.stages.iter().filter(|stage| stage.lanes.len() > 1).map(|stage| stage.branches).max().unwrap_or(1)
    }
}

/// Consecutive levels, in parallel or not.
#[derive(Clone, Copy, Debug)]
struct Cut {
    from: usize,
    to: usize,
    parallel: bool,
}

struct Graph {
    costs: Vec<f64>,
    /// Steps of each level.
    levels: Vec<Vec<usize>>,
    level_of: Vec<usize>,
    /// Earlier steps that share something with a step which one of the two writes. Whoever shares without being named is
    /// connected through steps of levels between.
    before: Vec<Vec<usize>>,
}

impl Graph {
    fn of(program: &Program, costs: Vec<f64>) -> Self {
        let level_of: Vec<usize> = program.levels().into_iter().map(|level| level as usize).collect();
        let mut levels = vec![Vec::new(); level_of.iter().max().map_or(0, |level| level + 1)];
        for (step, level) in level_of.iter().enumerate() {
            levels[*level].push(step);
        }
        Self { costs, levels, level_of, before: before(program) }
    }

    /// The cheapest way to cut the levels into stages.
    fn cuts(&self, threads: usize, handover_ns: f64) -> Vec<Cut> {
        let count = self.levels.len();
        let edges: usize = self.before.iter().map(Vec::len).sum();
        let stride = (count * (self.costs.len() + edges)).div_ceil(LOOKS_MAX).max(1);
        // The least time for the levels before a cut, and the last stage of that.
        let mut best: Vec<(f64, Option<Cut>)> = vec![(f64::INFINITY, None); count + 1];
        best[0].0 = 0.0;
        let mut sets = Sets::new(self.costs.len());
        for from in (0..count).step_by(stride) {
            let so_far = best[from].0;
            let (mut total, mut largest) = (0.0, 0.0_f64);
            for (to, level) in (from + 1..).zip(&self.levels[from..]) {
                for &step in level {
                    sets.open(step, self.costs[step]);
                    total += self.costs[step];
                    largest = largest.max(self.costs[step]);
                    for &other in &self.before[step] {
                        if self.level_of[other] >= from {
                            largest = largest.max(sets.join(step, other));
                        }
                    }
                }
                if !to.is_multiple_of(stride) && to != count {
                    continue;
                }
                let apart = handover_ns + largest.max(total / threads as f64);
                let parallel = apart < total * (1.0 - GAIN_MIN);
                let time = so_far + if parallel { apart } else { total };
                if time < best[to].0 {
                    best[to] = (time, Some(Cut { from, to, parallel }));
                }
            }
        }
        let mut cuts: Vec<Cut> = Vec::new();
        let mut at = count;
        while let (Some(cut), true) = (best[at].1, at > 0) {
            match cuts.last_mut() {
                Some(next) if !next.parallel && !cut.parallel => next.from = cut.from,
                _ => cuts.push(cut),
            }
            at = cut.from;
        }
        cuts.reverse();
        cuts
    }

    fn stage(&self, cut: &Cut, threads: usize) -> Stage {
        let mut steps: Vec<usize> = self.levels[cut.from..cut.to].iter().flatten().copied().collect();
        steps.sort_unstable();
        let cost_ns = |steps: &[usize]| steps.iter().map(|step| self.costs[*step]).sum::<f64>();
        if !cut.parallel {
            let cost_ns = cost_ns(&steps);
            return Stage { lanes: vec![Lane { steps, cost_ns }], branches: 1 };
        }
        let mut sets = Sets::new(self.costs.len());
        steps.iter().for_each(|step| sets.open(*step, self.costs[*step]));
        for &step in &steps {
            for &other in self.before[step].iter().filter(|other| self.level_of[**other] >= cut.from) {
                sets.join(step, other);
            }
        }
        let mut branches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for step in steps {
            branches.entry(sets.root(step)).or_default().push(step);
        }
        let count = branches.len();
        let mut branches: Vec<Lane> =
            branches.into_values().map(|steps| Lane { cost_ns: cost_ns(&steps), steps }).collect();
        branches.sort_by(dear_first);
        Stage { lanes: bundled(branches, threads * BUNDLES_PER_THREAD), branches: count }
    }
}

fn dear_first(one: &Lane, other: &Lane) -> std::cmp::Ordering {
    other.cost_ns.total_cmp(&one.cost_ns).then_with(|| one.steps.cmp(&other.steps))
}

/// Branches put together until there are at most so many lanes: each to the lane that has least.
fn bundled(branches: Vec<Lane>, most: usize) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for branch in branches {
        if lanes.len() < most {
            lanes.push(branch);
        } else if let Some(least) = lanes.iter_mut().min_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns)) {
            least.steps.extend(branch.steps);
            least.cost_ns += branch.cost_ns;
        }
    }
    lanes.iter_mut().for_each(|lane| lane.steps.sort_unstable());
    lanes.sort_by(dear_first);
    lanes
}

/// For each step the earlier steps it must come after: who wrote last what it touches, and who has read since what it writes.
fn before(program: &Program) -> Vec<Vec<usize>> {
    // Slots that all steps touch or leave together count as one.
    let ranges = program.effects().iter().flat_map(|effects| effects.reads.iter().chain(&effects.writes));
    let bounds: BTreeSet<usize> = ranges.flat_map(|range| [range.start, range.end]).collect();
    let bounds: Vec<usize> = bounds.into_iter().collect();
    let places = |ranges: &[Range<usize>]| -> Vec<usize> {
        let at = |address: usize| bounds.partition_point(|bound| *bound < address);
        ranges.iter().flat_map(|range| at(range.start)..at(range.end)).collect()
    };
    let mut written = vec![false; bounds.len()];
    for effects in program.effects() {
        places(&effects.writes).into_iter().for_each(|place| written[place] = true);
    }
    let mut writer: Vec<Option<usize>> = vec![None; bounds.len()];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); bounds.len()];
    let mut all = Vec::with_capacity(program.steps().len());
    for (step, effects) in program.effects().iter().enumerate() {
        let mut reads = places(&effects.reads);
        reads.retain(|place| written[*place]);
        let mut before: Vec<usize> = reads.iter().filter_map(|place| writer[*place]).collect();
        for place in places(&effects.writes) {
            before.extend(writer[place]);
            before.append(&mut readers[place]);
            writer[place] = Some(step);
        }
        reads.into_iter().for_each(|place| readers[place].push(step));
        before.sort_unstable();
        before.dedup();
        all.push(before);
    }
    all
}

/// Disjoint sets of steps with the sum of their costs.
struct Sets {
    parent: Vec<usize>,
    cost: Vec<f64>,
}

impl Sets {
    fn new(count: usize) -> Self {
        Self { parent: (0..count).collect(), cost: vec![0.0; count] }
    }
    /// A step on its own, whatever it was before.
    fn open(&mut self, step: usize, cost: f64) {
        self.parent[step] = step;
        self.cost[step] = cost;
    }
    fn root(&mut self, mut step: usize) -> usize {
        while self.parent[step] != step {
            self.parent[step] = self.parent[self.parent[step]];
            step = self.parent[step];
        }
        step
    }
    /// Makes one set of two. Returns its cost.
    fn join(&mut self, one: usize, other: usize) -> f64 {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return self.cost[one];
        }
        let (keep, gone) = if one < other { (one, other) } else { (other, one) };
        self.parent[gone] = keep;
        self.cost[keep] += self.cost[gone];
        self.cost[keep]
    }
}
