//! Looking closer where merging could have hidden a contact.
//!
//! Members of one cell have different futures. Where the closest future of a cell, less the spread between its members,
//! is a contact, what was merged into the cell is taken out again: the merged ends are run once more from their real
//! parents, and those that are not alike on a finer grid are continued, together with everything that follows
//! from them. Nothing else is run again but the way there.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use anabranch_kernel::{CellKey, Choice, Choices, Danger, Grid, Job, KeyWriter, Params, Seed, System};

use crate::edge::{Fate, Node, Trail};
use crate::graph::Graph;
use crate::limits::{Limits, Stop};
use crate::runner::{Done, Origin, cell_key};
use crate::table::Table;

/// Segments of a level that were run: where they began, their errors, why they were run, and how they ended.
type Ran<'s, S> = (u32, &'s [(u64, Choice, For)], Vec<Job<S>>);

/// How many spreads below the closest known future of a cell could still be hidden in it.
const RISK_SPREADS: f32 = 2.0;
/// Segments whose ends are in memory at a time; limits are looked at between them.
const SLAB_JOBS: usize = 4_096;

/// Why a refinement did not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefineEnd {
    /// No cell could hide a contact any more.
    NothingAtRisk,
    /// A violation was found.
    Found,
    /// The finest grid that was asked for was reached; some cells are still at risk.
    Finest,
    /// It used up the segments it was given.
    Effort,
    /// A budget or an interruption ended it.
    Stopped(Stop),
}

impl RefineEnd {
    /// For people and machines.
    pub fn words(self) -> &'static str {
        match self {
            Self::NothingAtRisk => "no cell could hide a contact any more",
            Self::Found => "a violation was found",
            Self::Finest => "the finest cells were reached",
            Self::Effort => "its effort was used up",
            Self::Stopped(_) => "a budget or an interruption ended it",
        }
    }
}

/// Where and how fine the exploration looked again.
#[derive(Clone, Debug, PartialEq)]
pub struct Refinement {
    /// Passes that were made; each halves the cells.
    pub passes: u32,
    /// Cells that could hide a contact, before the first pass.
    pub cells_at_risk: u64,
    /// Cells that still could, after the last.
    pub cells_left: u64,
    /// Merged ends that were taken out again.
    pub reopened: u64,
    /// States that were continued.
    pub states: u64,
    /// Segments it took, the way there included.
    pub segments: u64,
    /// Size of the finest cells as a share of the grid's.
    pub finest: f64,
    /// Taken out again, by level.
    pub reopened_by_level: Vec<u64>,
    /// Why it ended.
    pub end: RefineEnd,
}

impl Refinement {
    fn nothing() -> Self {
        Self {
            passes: 0,
            cells_at_risk: 0,
            cells_left: 0,
            reopened: 0,
            states: 0,
            segments: 0,
            finest: 1.0,
            reopened_by_level: Vec::new(),
            end: RefineEnd::NothingAtRisk,
        }
    }

    /// The budget or wish that ended it.
    pub fn stopped(&self) -> Option<Stop> {
        match self.end {
            RefineEnd::Stopped(stop) => Some(stop),
            _ => None,
        }
    }
}

/// What a refinement works with.
pub(crate) struct Refiner<'a, S: System> {
    pub(crate) system: &'a S,
    pub(crate) seed: Seed,
    pub(crate) starts: &'a [Params],
    pub(crate) grid: &'a Grid,
    pub(crate) level_in_key: bool,
    pub(crate) limits: &'a Limits<'a>,
}

/// What a segment of a pass is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// The way to a kept state with this number.
    Way(u64),
    /// A merged end, to be looked at more closely.
    Again,
    /// Something new.
    New,
}

impl For {
    /// Members that are kept already come first, so that nothing like them is kept again.
    fn turn(self) -> u8 {
        match self {
            Self::Way(_) => 0,
            Self::Again => 1,
            Self::New => 2,
        }
    }
}

/// Segments of one level of a pass, and the states they start from.
struct Front<S> {
    jobs: Vec<(u64, Choice, For)>,
    states: BTreeMap<u64, S>,
}

/// One pass over the levels.
struct Pass<'p> {
    fine: Grid,
    /// Cells of the fine grid that have a member.
    seen: Table,
    risky: &'p [bool],
    number: u16,
    segments_max: u64,
}

impl<S: System> Refiner<'_, S> {
    /// Looks closer until nothing is at risk, a violation is found, or a limit is reached. `forced` are cells that are
    /// known to have hidden something.
    pub(crate) fn refine(
        &self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        forced: &BTreeSet<CellKey>,
    ) -> io::Result<Refinement> {
        let mut result = Refinement::nothing();
        let base_segments = graph.progress.segments;
        let segments_max = (graph.settings.refine.effort * base_segments as f64) as u64;
        let findings = graph.progress.findings;
        for number in 1..=graph.settings.refine.passes {
            let risky = self.at_risk(graph, forced, number as u16);
            let count = risky.iter().filter(|risky| **risky).count() as u64;
            if number == 1 {
                result.cells_at_risk = count;
            }
            result.cells_left = count;
            if count == 0 {
                result.end = RefineEnd::NothingAtRisk;
                return Ok(result);
            }
            let fine = self.grid.scaled(0.5_f64.powi(number as i32));
            let pass = Pass { fine, seen: Table::new(), risky: &risky, number: number as u16, segments_max };
            let end = self.pass(graph, trail, pass, &mut result)?;
            trail.end_level(&[])?;
            result.passes = number;
            result.finest = 0.5_f64.powi(number as i32);
            result.end = if graph.progress.findings > findings { RefineEnd::Found } else { end };
            if !matches!(result.end, RefineEnd::Finest) {
                return Ok(result);
            }
        }
        result.cells_left = self.at_risk(graph, forced, u16::MAX).iter().filter(|risky| **risky).count() as u64;
        if result.cells_left == 0 {
            result.end = RefineEnd::NothingAtRisk;
        }
        Ok(result)
    }

    /// Cells that could hide a contact and hold something that was not looked at in this pass yet.
    fn at_risk(&self, graph: &Graph<'_, S>, forced: &BTreeSet<CellKey>, pass: u16) -> Vec<bool> {
        let links = graph.links.as_ref().expect("links are kept when refining");
        let cells = graph.table.len() as usize;
        let futures = links.futures(cells);
        let forced: BTreeSet<u32> = forced.iter().filter_map(|key| graph.table.get(*key)).collect();
        let mut risky = vec![false; cells];
        for merged in links.merged.iter().filter(|merged| merged.passes < pass) {
            let cell = merged.cell as usize;
            let by_value = forced.is_empty() && futures.least[cell] - RISK_SPREADS * futures.spread[cell] <= 0.0;
            risky[cell] = risky[cell] || by_value || forced.contains(&merged.cell);
        }
        risky
    }

    fn pass(
        &self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        mut pass: Pass<'_>,
        result: &mut Refinement,
    ) -> io::Result<RefineEnd> {
        let mut levels = self.plan(graph, &pass, result);
        let mut front = Front { jobs: Vec::new(), states: self.start_states() };
        for level in 0.. {
            if level as usize >= levels.len() && front.jobs.is_empty() {
                break;
            }
            front.jobs.extend(levels.get_mut(level as usize).map(std::mem::take).unwrap_or_default());
            front.jobs.sort_unstable_by_key(|(parent, choice, what)| (what.turn(), *parent, choice.0));
            front = match self.level(graph, trail, &mut pass, result, (level, front))? {
                Ok(front) => front,
                Err(stop) => return Ok(RefineEnd::Stopped(stop)),
            };
            if result.segments > pass.segments_max {
                return Ok(RefineEnd::Effort);
            }
        }
        Ok(RefineEnd::Finest)
    }

    fn start_states(&self) -> BTreeMap<u64, S::State> {
        let starts = self.starts.iter().enumerate();
        starts.filter_map(|(at, params)| Some((at as u64, self.system.start(self.seed, params).ok()?))).collect()
    }

    /// Which known segments must be run again, by level: merged ends of risky cells, and the way to them and to the
    /// members of those cells.
    fn plan(&self, graph: &mut Graph<'_, S>, pass: &Pass<'_>, result: &mut Refinement) -> Vec<Vec<(u64, Choice, For)>> {
        let links = graph.links.as_mut().expect("links are kept when refining");
        let mut needed = vec![false; links.kept.len()];
        let mut levels: Vec<Vec<(u64, Choice, For)>> = Vec::new();
        let mut add = |level: u32, entry| {
            levels.resize_with(levels.len().max(level as usize + 1), Vec::new);
            levels[level as usize].push(entry);
        };
        for merged in &mut links.merged {
            if merged.passes < pass.number && pass.risky[merged.cell as usize] {
                merged.passes = pass.number;
                let level = links.kept[merged.parent as usize].level;
                needed[merged.parent as usize] = true;
                add(level, (u64::from(merged.parent), Choice(merged.choice), For::Again));
                result.reopened += 1;
                let by_level = &mut result.reopened_by_level;
                by_level.resize(by_level.len().max(level as usize + 2), 0);
                by_level[level as usize + 1] += 1;
            }
        }
        for (at, kept) in links.kept.iter().enumerate().rev() {
            needed[at] |= pass.risky.get(kept.cell as usize).copied().unwrap_or(false);
            if let Some(parent) = kept.parent().filter(|_| needed[at]) {
                needed[parent] = true;
                add(kept.level - 1, (parent as u64, Choice(kept.choice), For::Way(at as u64)));
            }
        }
        levels
    }

    /// Runs the segments of a level and returns those of the next that follow from something new.
    fn level(
        &self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        pass: &mut Pass<'_>,
        result: &mut Refinement,
        (level, front): (u32, Front<S::State>),
    ) -> io::Result<Result<Front<S::State>, Stop>> {
        let mut next = Front { jobs: Vec::new(), states: BTreeMap::new() };
        let mut rest = &front.jobs[..];
        while !rest.is_empty() {
            let left = usize::try_from(self.limits.states_left(graph.progress.states)).unwrap_or(usize::MAX);
            let slab;
            (slab, rest) = rest.split_at(left.clamp(1, SLAB_JOBS).min(rest.len()));
            let job = |&(parent, choice, _): &(u64, Choice, For)| Job::new(front.states[&parent].clone(), choice);
            let mut ran: Vec<Job<S::State>> = slab.iter().map(job).collect();
            if let Err(stop) = self.limits.run_jobs(self.system, &mut ran) {
                return Ok(Err(stop));
            }
            self.take_in(graph, trail, pass, result, (level, slab, ran), &mut next)?;
            let bytes = graph.see_bytes();
            if let Some(stop) = self.limits.exceeded(&graph.progress, bytes, true) {
                return Ok(Err(stop));
            }
        }
        Ok(Ok(next))
    }

    /// Settles segments that were run; those of the next level follow from what is new.
    fn take_in(
        &self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        pass: &mut Pass<'_>,
        result: &mut Refinement,
        (level, slab, ran): Ran<'_, S::State>,
        next: &mut Front<S::State>,
    ) -> io::Result<()> {
        let mut live = Choices::new();
        for (mut job, &(parent, choice, what)) in ran.into_iter().zip(slab) {
            result.segments += 1;
            let key = self.key(self.grid, &job.state, level + 1);
            let (calm, offsets) = (Danger::default(), graph.offsets_of(&job.state));
            let origin = Origin { parent, level, last: false };
            let mut done = Done { origin, job: &mut job, key, offsets: &offsets, danger: &calm };
            let fate = if what == For::New { graph.account(&mut done) } else { graph.see_again(&done)? };
            if let Some(fate) = fate {
                graph.show(&done, fate, None);
                continue;
            }
            let Some(fine_key) = self.key(&pass.fine, &done.job.state, level + 1) else { continue };
            let unlike = pass.seen.insert(fine_key).1;
            if let For::Way(node) = what {
                next.states.insert(node, job.state);
                continue;
            }
            let Some(cell) = self.settle(graph, pass, &done, what, unlike) else { continue };
            let node = trail.push(parent, choice)?;
            let state = job.state;
            let shown = Node { node, level: level + 1, parent, choice, cell: Some(cell) };
            graph.show_node(&shown, || Ok(state.clone()))?;
            graph.count_kept(level);
            result.states += 1;
            self.system.live(&state, &mut live);
            next.jobs.extend(live.iter().map(|&choice| (node, choice, For::New)));
            next.states.insert(node, state);
        }
        Ok(())
    }

    /// The cell of an open end that is kept: one whose cell is at risk or new, and which is unlike all others on the
    /// fine grid.
    fn settle(
        &self,
        graph: &mut Graph<'_, S>,
        pass: &Pass<'_>,
        done: &Done<'_, S::State>,
        what: For,
        unlike: bool,
    ) -> Option<u32> {
        let level = done.origin.level;
        let (cell, new) = graph.table.insert(done.key?);
        let at_risk = new || pass.risky.get(cell as usize).copied().unwrap_or(true);
        if at_risk && unlike && level + 1 < graph.settings.levels_max {
            graph.show(done, Fate::Kept, Some(cell));
            if what == For::Again {
                graph.uncount_merged(level);
            }
            return Some(cell);
        }
        if what == For::New {
            graph.show(done, Fate::Merged, Some(cell));
            graph.count_merged(level);
            graph.link_merged(done.origin.parent, done.job.choice, Some(cell), pass.number);
        }
        None
    }

    fn key(&self, grid: &Grid, state: &S::State, level: u32) -> Option<CellKey> {
        cell_key(self.system, state, self.level_in_key.then_some(level), &mut KeyWriter::new(grid))
    }
}
