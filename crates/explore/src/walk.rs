//! Walking known paths again from the start, without merging.
//!
//! Paths share most of their way, so a kept state that many of them pass through is computed once. Nothing is taken
//! from the exploration but who came from whom: every state is computed afresh from time zero.

use std::collections::BTreeMap;
use std::io;

use anabranch_kernel::{Choice, Fault, Job, Params, Seed, SegmentEnd, System};
use rayon::prelude::*;

use crate::edge::{NO_PARENT, Trail};

/// Segments that are run together.
const BATCH_JOBS: usize = 96;
/// Segments whose ends are in memory at a time.
const SLAB_JOBS: usize = 8_192;

/// The last segment of a path: from a kept state under a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Number of the kept state.
    pub parent: u64,
    /// Choice of the segment.
    pub choice: Choice,
}

/// A path that could not be walked again.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The trail could not be read.
    #[error("the trail cannot be read: {0}")]
    Trail(#[from] io::Error),
    /// The start could not be computed.
    #[error("the start state cannot be computed: {0}")]
    Start(#[from] Fault),
    /// A segment in the middle of a path ended otherwise than it did before.
    #[error("state {node} was reached by an open segment, but from the start the same errors end with {end:?}")]
    Differs {
        /// The kept state that was not reached again.
        node: u64,
        /// What happened instead.
        end: Result<SegmentEnd, Fault>,
    },
}

/// A kept state on the way to some target.
#[derive(Clone, Copy, Debug)]
struct Step {
    parent: u64,
    choice: Choice,
    depth: u32,
}

/// What a segment of the walk leads to.
#[derive(Clone, Copy, Debug)]
enum Leads {
    /// A kept state with this number.
    To(u64),
    /// The end of the target with this position.
    Ends(usize),
}

/// Runs every target again, each from the start; hands out its position and how it ended, in order of depth.
/// Returns how many segments it took.
///
/// # Errors
/// When the trail cannot be read or a path does not lead where it led before.
pub fn walk<S: System>(
    system: &S,
    seed: Seed,
    starts: &[Params],
    trail: &dyn Trail,
    targets: &[Target],
    ended: impl FnMut(usize, Job<S::State>),
) -> Result<u64, WalkError> {
    let starts: Vec<S::State> = starts.iter().map(|params| system.start(seed, params)).collect::<Result<_, _>>()?;
    let steps = steps_to(trail, targets.iter().map(|target| target.parent))?;
    Tree { system, starts: &starts, steps }.climb(targets, |_, _, _| (), ended)
}

/// Computes kept states again, each from the start; hands out number, depth and state, in order of depth and number.
///
/// # Errors
/// When the trail cannot be read or a path does not lead where it led before.
pub(crate) fn walk_nodes<S: System>(
    system: &S,
    starts: &[S::State],
    trail: &dyn Trail,
    nodes: &[u64],
    reached: impl FnMut(u64, u32, &S::State),
) -> Result<u64, WalkError> {
    let steps = steps_to(trail, nodes.iter().copied())?;
    Tree { system, starts, steps }.climb(&[], reached, |_, _| ())
}

/// The ways to some kept states.
struct Tree<'a, S: System> {
    system: &'a S,
    starts: &'a [S::State],
    steps: BTreeMap<u64, Step>,
}

impl<S: System> Tree<'_, S> {
    fn climb(
        &self,
        targets: &[Target],
        mut reached: impl FnMut(u64, u32, &S::State),
        mut ended: impl FnMut(usize, Job<S::State>),
    ) -> Result<u64, WalkError> {
        let mut states = BTreeMap::new();
        for (&node, step) in self.steps.iter().filter(|(_, step)| step.parent == NO_PARENT) {
            let state = self.starts.get(step.choice.index()).ok_or_else(|| io::Error::other("no such start"))?;
            states.insert(node, state.clone());
        }
        let mut segments = 0;
        for (depth, entries) in self.by_depth(targets).into_iter().enumerate() {
            let mut next = BTreeMap::new();
            for slab in entries.chunks(SLAB_JOBS) {
                for (job, &(.., leads)) in run_slab(self.system, &states, slab).into_iter().zip(slab) {
                    segments += 1;
                    match leads {
                        Leads::Ends(position) => ended(position, job),
                        Leads::To(node) if job.end == Ok(SegmentEnd::Open) => {
                            reached(node, depth as u32 + 1, &job.state);
                            next.insert(node, job.state);
                        }
                        Leads::To(node) => return Err(WalkError::Differs { node, end: job.end }),
                    }
                }
            }
            states = next;
        }
        Ok(segments)
    }

    /// Segments by the depth of their start, in order of the states they lead to; targets last.
    fn by_depth(&self, targets: &[Target]) -> Vec<Vec<(u64, Choice, Leads)>> {
        let mut at_depth: Vec<Vec<(u64, Choice, Leads)>> = Vec::new();
        let mut add = |parent: u64, choice: Choice, leads: Leads| {
            let depth = self.steps[&parent].depth as usize;
            at_depth.resize_with(at_depth.len().max(depth + 1), Vec::new);
            at_depth[depth].push((parent, choice, leads));
        };
        for (&node, step) in self.steps.iter().filter(|(_, step)| step.parent != NO_PARENT) {
            add(step.parent, step.choice, Leads::To(node));
        }
        for (position, target) in targets.iter().enumerate() {
            add(target.parent, target.choice, Leads::Ends(position));
        }
        at_depth
    }
}

/// Every kept state on the way to these, and they themselves.
fn steps_to(trail: &dyn Trail, nodes: impl Iterator<Item = u64>) -> io::Result<BTreeMap<u64, Step>> {
    let mut steps: BTreeMap<u64, Step> = BTreeMap::new();
    let mut chain = Vec::new();
    for node in nodes {
        let mut at = node;
        let mut depth = loop {
            if let Some(known) = steps.get(&at) {
                break known.depth + 1;
            }
            let (parent, choice) = trail.look(at)?;
            chain.push((at, parent, choice));
            if parent == NO_PARENT {
                break 0;
            }
            at = parent;
        };
        for (node, parent, choice) in chain.drain(..).rev() {
            steps.insert(node, Step { parent, choice, depth });
            depth += 1;
        }
    }
    Ok(steps)
}

fn run_slab<S: System>(
    system: &S,
    states: &BTreeMap<u64, S::State>,
    slab: &[(u64, Choice, Leads)],
) -> Vec<Job<S::State>> {
    slab.par_chunks(BATCH_JOBS)
        .flat_map_iter(|part| {
            let job = |&(parent, choice, _): &(u64, Choice, Leads)| Job::new(states[&parent].clone(), choice);
            let mut jobs: Vec<Job<S::State>> = part.iter().map(job).collect();
            system.run_many(&mut jobs);
            jobs
        })
        .collect()
}
