//! Exploring until random runs stay inside: a random run that leaves what was explored is a real run, so its states join the
//! graph and are expanded like any other.

use std::collections::BTreeMap;
use std::io;

use anabranch_kernel::{CellKey, Choice, Choices, Danger, Grid, Job, KeyWriter, Params, Seed, System};

use crate::edge::{Fate, Node, Trail};
use crate::graph::Graph;
use crate::limits::{Limits, Stop};
use crate::runner::{Done, Origin, cell_key};

/// States that are expanded between two looks at the limits.
const SLAB_STATES: usize = 1_024;

/// A start and the error of every segment.
pub(crate) type ErrorPath = (usize, Vec<Choice>);

/// Segments that were run, each with the state it started from.
type Ran<S> = Vec<(u64, Job<S>)>;

/// States that wait, by level.
type Waiting<S> = BTreeMap<u32, Vec<(u64, S)>>;

/// How taking in runs ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    /// Everything that follows from them was expanded.
    Whole,
    /// The effort was used up before.
    Spent,
    /// A limit or a wish ended it before.
    Stopped(Stop),
}

/// Takes random runs into a graph.
pub(crate) struct Joiner<'a, S: System> {
    pub(crate) system: &'a S,
    pub(crate) seed: Seed,
    pub(crate) starts: &'a [Params],
    pub(crate) grid: &'a Grid,
    pub(crate) level_in_key: bool,
    pub(crate) limits: &'a Limits<'a>,
    /// States of joined runs by where they came from, so that a common beginning joins once.
    known: BTreeMap<(u64, u16), u64>,
    /// States that joined.
    pub(crate) joined: u64,
    /// Segments it took.
    pub(crate) segments: u64,
    /// Segments of random runs that were drawn for it.
    pub(crate) effort: u64,
    /// Segments it may take.
    pub(crate) segments_max: u64,
}

impl<'a, S: System> Joiner<'a, S> {
    pub(crate) fn new(
        (system, seed, starts): (&'a S, Seed, &'a [Params]),
        (grid, level_in_key): (&'a Grid, bool),
        limits: &'a Limits<'a>,
        segments_max: u64,
    ) -> Self {
        let known = BTreeMap::new();
        Self {
            system,
            seed,
            starts,
            grid,
            level_in_key,
            limits,
            known,
            joined: 0,
            segments: 0,
            effort: 0,
            segments_max,
        }
    }

    /// Whether the effort is used up.
    pub(crate) fn is_spent(&self) -> bool {
        self.segments + self.effort >= self.segments_max
    }

    /// Takes in runs that left what was explored, and everything that follows from where they were.
    pub(crate) fn join(
        &mut self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        runs: &[ErrorPath],
    ) -> io::Result<Joined> {
        let mut waiting = Waiting::new();
        for (start, choices) in runs {
            self.take_in(graph, trail, (*start, choices), &mut waiting)?;
            if let Some(stop) = self.limits.urgent() {
                return Ok(Joined::Stopped(stop));
            }
        }
        let joined = self.expand(graph, trail, waiting)?;
        trail.end_level(&[])?;
        Ok(joined)
    }

    /// Runs a path again and makes its states part of the graph; those in new cells wait for expansion.
    fn take_in(
        &mut self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        (start, choices): (usize, &[Choice]),
        waiting: &mut Waiting<S::State>,
    ) -> io::Result<()> {
        let Ok(state) = self.system.start(self.seed, &self.starts[start]) else { return Ok(()) };
        let (mut job, mut parent) = (Job::new(state, Choice::NONE), start as u64);
        for (level, &choice) in choices.iter().enumerate() {
            if self.limits.urgent().is_some() {
                return Ok(());
            }
            let level = level as u32;
            job = Job::new(job.state, choice);
            self.system.run_many(std::slice::from_mut(&mut job));
            self.segments += 1;
            if let Some(&known) = self.known.get(&(parent, choice.0)) {
                parent = known;
                continue;
            }
            let (cell, is_new) = match self.arrive(graph, &mut job, (parent, level)) {
                Some(arrived) if level + 1 < graph.settings.levels_max => arrived,
                _ => return Ok(()),
            };
            let node = Node { node: 0, level: level + 1, parent, choice, cell: Some(cell) };
            let node = self.keep(graph, trail, node, &job.state)?;
            self.known.insert((parent, choice.0), node);
            self.joined += 1;
            if is_new {
                waiting.entry(level + 1).or_default().push((node, job.state.clone()));
            }
            parent = node;
        }
        Ok(())
    }

    /// Counts a segment; the cell of its end and whether it is new, if the run goes on.
    fn arrive(&self, graph: &mut Graph<'_, S>, job: &mut Job<S::State>, from: (u64, u32)) -> Option<(u32, bool)> {
        let (parent, level) = from;
        let key = self.key(&job.state, level + 1);
        let (calm, offsets) = (Danger::default(), graph.offsets_of(&job.state));
        let origin = Origin { parent, level, last: false };
        let mut done = Done { origin, job, key, offsets: &offsets, danger: &calm };
        if let Some(fate) = graph.account(&mut done) {
            graph.show(&done, fate, None);
            return None;
        }
        let (cell, is_new) = graph.table.insert(done.key?);
        let is_kept = is_new || !graph.merges_at(level + 1);
        graph.show(&done, if is_kept { Fate::Kept } else { Fate::Merged }, Some(cell));
        Some((cell, is_kept))
    }

    fn keep(&self, graph: &mut Graph<'_, S>, trail: &mut dyn Trail, node: Node, state: &S::State) -> io::Result<u64> {
        let number = trail.push(node.parent, node.choice)?;
        let node = Node { node: number, ..node };
        graph.show_node(&node, || Ok(state.clone()))?;
        graph.count_kept(node.level - 1);
        Ok(number)
    }

    /// Expands what waits, level by level; only states in cells that nobody was in are continued.
    fn expand(
        &mut self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        mut waiting: Waiting<S::State>,
    ) -> io::Result<Joined> {
        while let Some((level, states)) = waiting.pop_first() {
            let mut rest = &states[..];
            while !rest.is_empty() {
                let slab;
                (slab, rest) = rest.split_at(self.slab_states(graph).min(rest.len()));
                let ran = match self.run(slab) {
                    Ok(ran) => ran,
                    Err(stop) => return Ok(Joined::Stopped(stop)),
                };
                self.segments += ran.len() as u64;
                for (parent, mut job) in ran {
                    let choice = job.choice;
                    let Some((cell, is_kept)) = self.arrive(graph, &mut job, (parent, level)) else { continue };
                    if !is_kept {
                        graph.count_merged(level);
                        graph.link_merged(parent, choice, Some(cell), 0);
                    } else if level + 1 < graph.settings.levels_max {
                        let node = Node { node: 0, level: level + 1, parent, choice, cell: Some(cell) };
                        let node = self.keep(graph, trail, node, &job.state)?;
                        self.joined += 1;
                        waiting.entry(level + 1).or_default().push((node, job.state));
                    }
                }
                let bytes = graph.see_bytes();
                if let Some(stop) = self.limits.exceeded(&graph.progress, bytes, true) {
                    return Ok(Joined::Stopped(stop));
                }
                let is_last = waiting.is_empty() && rest.is_empty();
                if self.is_spent() && !is_last {
                    return Ok(Joined::Spent);
                }
            }
        }
        Ok(Joined::Whole)
    }

    /// As many as can be kept, where there is a limit, and not more than usual.
    fn slab_states(&self, graph: &Graph<'_, S>) -> usize {
        let left = usize::try_from(self.limits.states_left(graph.progress.states)).unwrap_or(usize::MAX);
        (left / self.system.errors().len()).clamp(1, SLAB_STATES)
    }

    fn run(&self, slab: &[(u64, S::State)]) -> Result<Ran<S::State>, Stop> {
        let (mut live, mut parents, mut jobs) = (Choices::new(), Vec::new(), Vec::new());
        for (node, state) in slab {
            self.system.live(state, &mut live);
            parents.extend(std::iter::repeat_n(*node, live.len()));
            jobs.extend(live.iter().map(|&choice| Job::new(state.clone(), choice)));
        }
        self.limits.run_jobs(self.system, &mut jobs)?;
        Ok(parents.into_iter().zip(jobs).collect())
    }

    fn key(&self, state: &S::State, level: u32) -> Option<CellKey> {
        cell_key(self.system, state, self.level_in_key.then_some(level), &mut KeyWriter::new(self.grid))
    }
}
