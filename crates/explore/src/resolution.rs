//! How small a violation could have been missed: searches that shadow the graph without merging.
//!
//! Merging drops states, and what follows from a dropped one is known only as far as it resembles the one that was kept. So
//! error sequences are improved without merging, one error at a time and finally two, starting from the closest run
//! of the graph, from random runs, and from random beginnings that the graph continues. Each ends where no such
//! change comes closer to a violation. If three of them end within the resolution of the closest, nothing deeper
//! than the resolution is taken to be left. That is calibrated on families of systems with known answers
//! (`docs/trust.md`), not proven.

use std::io;

use anabranch_kernel::{CellKey, Chance, Choice, Choices, Grid, Job, KeyWriter, System};

use crate::cover::ErrorPath;
use crate::edge::Trail;
use crate::graph::Graph;
use crate::limits::{Limits, Stop};
use crate::links::Policy;
use crate::runner::cell_key;
use crate::settings::Merge;
use crate::table::Table;
use crate::unmerged::{Begun, Ended, run_in_time};

/// Searches that must end close to each other.
const AGREEING: usize = 3;
/// Searches of the first round, and of each further one.
const SEARCHES: u64 = 7;
/// Rounds.
const ROUNDS: u64 = 5;
/// Of the searches of a round after the first, this many start at random; the others follow the graph.
const AT_RANDOM: u64 = 3;
/// Of the room that is left to the limit, how far apart searches may end that are called far from it.
const FAR_SHARE: f64 = 0.25;
/// An improvement below this share of the resolution is none.
const STEP_SHARE: f64 = 0.01;
/// Differences between runs that grow by more than this over a whole run leave nothing to be concluded.
const GROWTH_MAX: f64 = 100.0;

/// How deep a violation could have been missed.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The depth that was asked for, in the unit of the margin.
    pub asked: f64,
    /// The unit of the margin; empty where nobody said.
    pub unit: String,
    /// Whether it follows from what random runs range over, because nobody asked for one.
    pub is_default: bool,
    /// How far apart the closest three searches ended; nothing if that is not known.
    pub reached: Option<f64>,
    /// The closest approach of all runs, merged or not, in the unit of the margin.
    pub closest: f64,
    /// The margin at which a requirement is violated.
    pub limit: f64,
    /// Runs without merging that were compared with the graph.
    pub runs: u64,
    /// Segments they took, those of the runs before the exploration included.
    pub segments: u64,
    /// Why nothing can be said; empty if it can.
    pub why: String,
    /// By which factor differences between runs grow in a segment, where they grow so much that nothing can be said.
    pub growth: Option<f64>,
    /// Error sequences that violate a requirement: start and choices. They are findings as well.
    pub violations: Vec<ErrorPath>,
}

impl Resolution {
    /// Whether no violation deeper than what was asked for is taken to be left.
    pub fn is_reached(&self) -> bool {
        self.hidden().is_some_and(|hidden| hidden <= self.asked)
    }

    /// Whether searches ended much closer to each other than to any violation, so that more of them would change nothing.
    fn is_far(&self) -> bool {
        let room = self.closest - self.limit;
        self.why.is_empty() && self.reached.is_some_and(|reached| room > self.asked && reached <= FAR_SHARE * room)
    }

    /// Whether a run came closer than the limit and violated nothing: then depth below the limit is no depth of a violation.
    fn is_below_limit(&self) -> bool {
        self.closest < self.limit && self.violations.is_empty()
    }

    /// Segments over which differences grow little enough for something to be said, where they grow too much over a whole run.
    pub fn levels_within_growth(&self) -> Option<u32> {
        let rate = anabranch_kernel::maths::ln(self.growth?);
        Some((anabranch_kernel::maths::ln(GROWTH_MAX) / rate).floor() as u32)
    }

    /// How deep a violation could be hidden: as deep as searches ended apart, less the room that is left to the limit.
    pub fn hidden(&self) -> Option<f64> {
        let room = (self.closest - self.limit).max(0.0);
        self.reached.filter(|_| self.why.is_empty()).map(|reached| (reached - room).max(0.0))
    }
}

/// What searches work with.
pub(crate) struct Shadow<'a, S: System> {
    pub(crate) system: &'a S,
    pub(crate) starts: &'a [S::State],
    pub(crate) chance: Chance,
    pub(crate) level_in_key: bool,
    pub(crate) levels_max: u32,
    pub(crate) limits: &'a Limits<'a>,
    /// Segments the searches may take.
    pub(crate) segments_max: u64,
    /// By which factor differences grow in a segment.
    pub(crate) growth: Option<f64>,
    /// Segments of a run, as far as the exploration went.
    pub(crate) run_levels: usize,
}

/// A run without merging: its errors, and the smallest margin up to each of its segments.
#[derive(Clone, Debug)]
struct Trial {
    start: usize,
    choices: Vec<Choice>,
    margin: f64,
    /// What is tried after the choices that are fixed.
    plan: Vec<Choice>,
    follows: Follows,
}

/// Who decides where a trial has no fixed choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    /// The rest of its plan.
    Plan,
    /// The worst continuation the graph knows, and the plan where it knows none.
    Graph,
}

/// A finished search.
#[derive(Clone, Debug)]
struct Found {
    start: usize,
    choices: Vec<Choice>,
    margin: f64,
}

/// The graph as searches see it.
struct Map<'g> {
    table: &'g Table,
    grid: &'g Grid,
    levels: usize,
    policy: Policy,
}

impl<S: System> Shadow<'_, S> {
    /// Searches until enough of them agree, something is violated, or the effort is used up.
    pub(crate) fn resolve(
        &self,
        graph: &Graph<'_, S>,
        (trail, hardly_met): (&dyn Trail, &[u64]),
        mut result: Resolution,
    ) -> io::Result<(Resolution, Option<Stop>)> {
        let (Some(links), Merge::Grid(grid)) = (&graph.links, &graph.settings.merge) else { return Ok((result, None)) };
        let policy = links.policy(graph.table.len() as usize);
        let map = Map { table: &graph.table, grid, levels: graph.levels.len(), policy };
        let mut found = self.through_rare_modes(&map, (trail, hardly_met), &mut result)?;
        for round in 0..ROUNDS {
            for number in 0..SEARCHES {
                let first = match (round, number) {
                    (0, 0) => self.closest(&map, trail)?,
                    _ => self.at_random(&map, round * SEARCHES + number, &mut result),
                };
                let ended = first.and_then(|first| self.improve(&map, first, &mut result));
                found.extend(ended);
                if let Some(stop) = self.limits.exceeded(&graph.progress, 0, true) {
                    return Ok((result, Some(stop)));
                }
                result = self.conclude(&found, result);
                let is_settled = !result.violations.is_empty() || result.is_far() || result.is_below_limit();
                if is_settled || self.is_spent(&result) {
                    return Ok((result, None));
                }
            }
            found.sort_by(|a, b| a.margin.total_cmp(&b.margin));
            if let Some(best) = found.first().cloned() {
                found[0] = self.improve_by_pairs(&map, best, &mut result);
            }
            result = self.conclude(&found, result);
            if result.is_reached() || !result.violations.is_empty() || self.is_spent(&result) {
                break;
            }
        }
        Ok((result, None))
    }

    fn is_spent(&self, result: &Resolution) -> bool {
        result.segments >= self.segments_max
    }

    /// What the finished searches say.
    fn conclude(&self, found: &[Found], mut result: Resolution) -> Resolution {
        let mut margins: Vec<f64> = found.iter().map(|found| found.margin).collect();
        margins.sort_by(f64::total_cmp);
        if let Some(closest) = margins.first() {
            result.closest = result.closest.min(*closest);
        }
        result.reached = margins.get(AGREEING - 1).map(|third| third - result.closest);
        let run = self.run_levels as f64;
        let limit = anabranch_kernel::maths::ln(GROWTH_MAX);
        result.growth = self.growth.filter(|growth| anabranch_kernel::maths::ln(*growth) * run > limit);
        result.why = if result.is_below_limit() {
            "a run came closer than the limit and violated no requirement, so the margin does not measure them"
                .to_owned()
        } else if let Some(growth) = result.growth {
            format!(
                "differences between runs grow {}-fold in a segment, so that nearby states say nothing about each other",
                (growth * 100.0).round() / 100.0
            )
        } else if result.reached.is_none() {
            "its effort was used up before three searches had ended".to_owned()
        } else {
            String::new()
        };
        result
    }

    /// The closest run of the graph itself.
    fn closest(&self, map: &Map<'_>, trail: &dyn Trail) -> io::Result<Option<Trial>> {
        let Some((node, choice)) = map.policy.closest else { return Ok(None) };
        let (start, mut choices) = trail.path(node)?;
        choices.push(choice);
        Ok(Some(Trial { start, choices: Vec::new(), margin: f64::INFINITY, plan: choices, follows: Follows::Plan }))
    }

    /// Runs through modes that random runs hardly ever meet, each continued by the graph, and the closest of them improved.
    fn through_rare_modes(
        &self,
        map: &Map<'_>,
        (trail, hardly_met): (&dyn Trail, &[u64]),
        result: &mut Resolution,
    ) -> io::Result<Vec<Found>> {
        let mut begun = Vec::new();
        for &node in hardly_met {
            let (start, plan) = trail.path(node)?;
            let trial = Trial { start, choices: Vec::new(), margin: f64::INFINITY, plan, follows: Follows::Graph };
            begun.push(Begun { state: self.starts[start].clone(), level: 0, notes: trial });
        }
        let ended = self.run(begun, |trial, level, state, live| match trial.plan.get(level as usize) {
            Some(&planned) if live.contains(&planned) => planned,
            _ => map.next(self, trial, level, state, live),
        });
        let mut trials = self.account(ended, result);
        trials.sort_by(|a, b| a.margin.total_cmp(&b.margin));
        let mut found = Vec::new();
        for trial in trials.into_iter().take(AGREEING) {
            if self.is_spent(result) || !result.violations.is_empty() {
                break;
            }
            let first = Trial {
                plan: trial.choices,
                choices: Vec::new(),
                margin: f64::INFINITY,
                follows: Follows::Plan,
                ..trial
            };
            found.extend(self.improve(map, first, result));
        }
        Ok(found)
    }

    /// A random run, or a random beginning that the graph continues.
    fn at_random(&self, map: &Map<'_>, number: u64, result: &mut Resolution) -> Option<Trial> {
        let draw = |n: u64, below: usize| self.chance.at(number).below(n, below.max(1) as u64);
        let start = draw(0, self.starts.len()) as usize;
        let follows = if number % SEARCHES <= AT_RANDOM { Follows::Plan } else { Follows::Graph };
        let levels = map.levels;
        let random = match follows {
            Follows::Plan => levels,
            Follows::Graph => 1 + draw(1, levels) as usize,
        };
        let trial = Trial { start, choices: Vec::new(), margin: f64::INFINITY, plan: Vec::new(), follows };
        let begun = vec![Begun { state: self.starts[start].clone(), level: 0, notes: trial }];
        let ended = self.run(begun, |trial, level, state, live| {
            let is_random = (level as usize) < random;
            let at_random = live[draw(2 + u64::from(level), live.len()) as usize];
            if is_random { at_random } else { map.next(self, trial, level, state, live) }
        });
        let ended = self.account(ended, result).pop()?;
        Some(Trial { plan: ended.choices.clone(), choices: Vec::new(), follows: Follows::Plan, ..ended })
    }

    /// Counts runs and keeps those that violate something.
    fn account(&self, ended: Vec<Ended<Trial>>, result: &mut Resolution) -> Vec<Trial> {
        let mut trials = Vec::with_capacity(ended.len());
        for run in ended {
            result.runs += 1;
            result.segments += run.segments;
            if run.is_violated() && result.violations.is_empty() {
                result.violations.push((run.notes.start, run.notes.choices.clone()));
            }
            trials.push(run.notes);
        }
        trials
    }

    fn run(
        &self,
        begun: Vec<Begun<S::State, Trial>>,
        choose: impl Fn(&Trial, u32, &S::State, &Choices) -> Choice,
    ) -> Vec<Ended<Trial>> {
        let see = |trial: &mut Trial, _: u32, job: &Job<S::State>| {
            trial.choices.push(job.choice);
            trial.margin = trial.margin.min(job.margin);
        };
        // Whoever asks for runs looks at the limits next.
        run_in_time(self.system, self.limits, self.levels_max, begun, choose, see).0
    }

    /// The states on the way of a sequence, and the smallest margin up to each of them.
    fn way(&self, found: &Found, result: &mut Resolution) -> Vec<(S::State, f64)> {
        let mut way = vec![(self.starts[found.start].clone(), f64::INFINITY)];
        let mut job = Job::new(self.starts[found.start].clone(), Choice::NONE);
        let mut margin = f64::INFINITY;
        for &choice in &found.choices {
            job = Job::new(job.state, choice);
            self.system.run_many(std::slice::from_mut(&mut job));
            result.segments += 1;
            margin = margin.min(job.margin);
            way.push((job.state.clone(), margin));
            if job.end != Ok(anabranch_kernel::SegmentEnd::Open) {
                break;
            }
        }
        way
    }

    /// Changes one error at a time, each time the one that helps most, until none does.
    fn improve(&self, map: &Map<'_>, first: Trial, result: &mut Resolution) -> Option<Found> {
        let state = self.starts[first.start].clone();
        let begun = vec![Begun { state, level: 0, notes: first }];
        let ended = self.run(begun, |trial, level, state, live| map.next(self, trial, level, state, live));
        let trial = self.account(ended, result).pop()?;
        let mut best = Found { start: trial.start, choices: trial.choices, margin: trial.margin };
        while result.violations.is_empty() && !self.is_spent(result) {
            let way = self.way(&best, result);
            let mut begun = Vec::new();
            for (level, at) in way.iter().enumerate().take(best.choices.len()) {
                for follows in [Follows::Plan, Follows::Graph] {
                    self.vary(&best, at, level, follows, &mut begun);
                }
            }
            match self.better(map, begun, &best, result) {
                Some(better) => best = better,
                None => break,
            }
        }
        Some(best)
    }

    /// The sequence with every other choice at one level.
    fn vary(
        &self,
        best: &Found,
        (state, margin): &(S::State, f64),
        level: usize,
        follows: Follows,
        begun: &mut Vec<Begun<S::State, Trial>>,
    ) {
        let mut live = Choices::new();
        self.system.live(state, &mut live);
        for &choice in live.iter().filter(|choice| **choice != best.choices[level]) {
            let mut plan = best.choices.clone();
            plan[level] = choice;
            let (start, choices) = (best.start, best.choices[..level].to_vec());
            let trial = Trial { start, choices, margin: *margin, plan, follows };
            begun.push(Begun { state: state.clone(), level: level as u32, notes: trial });
        }
    }

    /// The best of some trials, if it is better than the best so far.
    fn better(
        &self,
        map: &Map<'_>,
        begun: Vec<Begun<S::State, Trial>>,
        best: &Found,
        result: &mut Resolution,
    ) -> Option<Found> {
        let ended = self.run(begun, |trial, level, state, live| {
            // The changed error itself is fixed; what follows it may be the graph's.
            let is_changed = trial.choices.len() == level as usize && trial.first_change(best) == Some(level as usize);
            if is_changed { trial.plan[level as usize] } else { map.next(self, trial, level, state, live) }
        });
        let step = STEP_SHARE * result.asked;
        let trials = self.account(ended, result);
        let trial = trials.into_iter().min_by(|a, b| a.margin.total_cmp(&b.margin))?;
        let is_better = trial.margin < best.margin - step;
        is_better.then_some(Found { start: trial.start, choices: trial.choices, margin: trial.margin })
    }

    /// Changes two errors at a time, where that is affordable, and one again after each success.
    fn improve_by_pairs(&self, map: &Map<'_>, mut best: Found, result: &mut Resolution) -> Found {
        while result.violations.is_empty() {
            let way = self.way(&best, result);
            let (levels, others) = (best.choices.len() as u64, self.system.errors().len() as u64 - 1);
            let cost = levels.pow(3) * others.pow(2) / 6;
            if result.segments + cost > self.segments_max {
                return best;
            }
            let mut better = None;
            for (first, at) in way.iter().enumerate().take(best.choices.len()) {
                let mut begun = Vec::new();
                self.vary(&best, at, first, Follows::Plan, &mut begun);
                let pairs = begun.into_iter().flat_map(|run| self.with_second(&best, run)).collect();
                better = self.better(map, pairs, &best, result);
                if better.is_some() {
                    break;
                }
            }
            match better {
                Some(found) => {
                    let (start, plan, follows) = (found.start, found.choices, Follows::Plan);
                    let trial = Trial { start, choices: Vec::new(), margin: f64::INFINITY, plan, follows };
                    match self.improve(map, trial, result) {
                        Some(improved) => best = improved,
                        None => return best,
                    }
                }
                None => return best,
            }
        }
        best
    }

    /// A trial with each other choice at each later level as well.
    fn with_second(&self, best: &Found, run: Begun<S::State, Trial>) -> Vec<Begun<S::State, Trial>> {
        let mut runs = Vec::new();
        for level in run.level as usize + 1..best.choices.len() {
            for choice in self.system.errors().choices().filter(|choice| *choice != best.choices[level]) {
                let mut trial = run.notes.clone();
                trial.plan[level] = choice;
                runs.push(Begun { state: run.state.clone(), level: run.level, notes: trial });
            }
        }
        runs
    }

    fn key(&self, map: &Map<'_>, state: &S::State, level: u32) -> Option<CellKey> {
        cell_key(self.system, state, self.level_in_key.then_some(level), &mut KeyWriter::new(map.grid))
    }
}

impl Trial {
    /// The first level at which its plan differs from a sequence.
    fn first_change(&self, best: &Found) -> Option<usize> {
        self.plan.iter().zip(&best.choices).position(|(own, other)| own != other)
    }
}

impl Map<'_> {
    /// The next error of a trial: the graph's, or the plan's, or none; always one that is live.
    fn next<S: System>(
        &self,
        shadow: &Shadow<'_, S>,
        trial: &Trial,
        level: u32,
        state: &S::State,
        live: &Choices,
    ) -> Choice {
        let planned = trial.plan.get(level as usize).copied();
        let known = match trial.follows {
            Follows::Plan => None,
            Follows::Graph => shadow
                .key(self, state, level)
                .and_then(|key| self.table.get(key))
                .map(|cell| self.policy.choices[cell as usize]),
        };
        known.into_iter().chain(planned).find(|choice| live.contains(choice)).unwrap_or(Choice::NONE)
    }
}
