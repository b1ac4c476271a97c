//! The most dangerous state first, in batches of fixed size, so that any number of threads gives one result.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use anabranch_kernel::System;

use crate::cells::{Arrival, JobOrder, Member};
use crate::edge::{Fate, Node, Stage, Trail};
use crate::graph::Graph;
use crate::limits::{Limits, Stop};
use crate::pool::Pool;
use crate::runner::{Done, Lap, Origin, Runner, Waiting};

/// Segments per batch; part of the result, so a constant.
const BATCH_JOBS: usize = 64;

/// A danger that can be ordered; not-a-number counts as the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(i64);

impl Rank {
    fn of(danger: f64) -> Self {
        let bits = if danger.is_nan() { f64::INFINITY.to_bits() as i64 } else { danger.to_bits() as i64 };
        // Flips the order of negative numbers, as `f64::total_cmp` does.
        Self(bits ^ (((bits >> 63) as u64) >> 1) as i64)
    }
}

/// One bit per number; of a kept state: does it still wait?
#[derive(Debug, Default)]
pub(crate) struct Flags(Vec<u64>);

impl Flags {
    /// Bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(self.0.as_slice()) as u64
    }
    pub(crate) fn set(&mut self, index: u64, value: bool) {
        let (word, bit) = ((index / 64) as usize, index % 64);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] = self.0[word] & !(1 << bit) | u64::from(value) << bit;
    }
    pub(crate) fn get(&self, index: u64) -> bool {
        self.0.get((index / 64) as usize).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

struct Queue<'p, 'd, S> {
    heap: BinaryHeap<(Rank, Reverse<u64>, usize)>,
    slots: Vec<Waiting>,
    free: Vec<usize>,
    alive: Flags,
    pool: &'p mut Pool<'d, S>,
}

impl<S: anabranch_kernel::State> Queue<'_, '_, S> {
    fn push(&mut self, danger: f64, waiting: Waiting) {
        let slot = self.free.pop().unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(waiting);
        } else {
            self.slots[slot] = waiting;
        }
        self.alive.set(waiting.node, true);
        self.heap.push((Rank::of(danger), Reverse(waiting.node), slot));
    }

    /// The next states to expand, the worst first; replaced ones are passed over.
    fn take(&mut self, count: usize) -> Vec<Waiting> {
        let mut batch = Vec::with_capacity(count);
        while batch.len() < count {
            let Some((_, Reverse(node), slot)) = self.heap.pop() else { break };
            self.free.push(slot);
            if self.alive.get(node) {
                self.alive.set(node, false);
                batch.push(self.slots[slot]);
            } else {
                self.pool.release(self.slots[slot].place);
            }
        }
        batch
    }
}

/// Explores in order of danger from the waiting start states.
pub(crate) fn explore<S: System>(
    graph: &mut Graph<'_, S>,
    runner: &Runner<'_, S>,
    trail: &mut dyn Trail,
    limits: &Limits<'_>,
    starts: Vec<Waiting>,
    pool: &mut Pool<'_, S::State>,
) -> io::Result<Option<Stop>> {
    graph.observer.stage(Stage::Exploring);
    let (slots, free) = (Vec::new(), Vec::new());
    let mut queue = Queue { heap: BinaryHeap::new(), slots, free, alive: Flags::default(), pool };
    for start in starts {
        queue.push(0.0, start);
    }
    let per_batch = (BATCH_JOBS / graph.system.errors().len()).max(1);
    loop {
        if let Some(stop) = limits.urgent() {
            return Ok(Some(stop));
        }
        let left = usize::try_from(limits.states_left(graph.progress.states)).unwrap_or(usize::MAX);
        let batch = queue.take(per_batch.min(left / graph.system.errors().len()).max(1));
        if batch.is_empty() {
            return Ok(None);
        }
        let results = runner.run_split(&batch, queue.pool)?;
        let mut lap = Lap::start(runner.clock);
        for mut results in results {
            graph.profile += results.profile;
            results.each(|done| settle(graph, trail, &mut queue, done))?;
        }
        batch.iter().for_each(|waiting| queue.pool.release(waiting.place));
        graph.profile.merge_ns += lap.next();
        graph.progress.waiting = queue.heap.len() as u64;
        graph.observer.progress(&graph.progress);
        if graph.progress.findings > 0 {
            limits.reserve(u64::from(graph.progress.level) + 1, runner.on_time.segment_ns());
        }
        let bytes = graph.see_bytes();
        let first = graph.settings.stop_on_first && graph.progress.findings > 0;
        let stop = limits.exceeded(&graph.progress, bytes, queue.pool.has_room());
        if let Some(stop) = stop.or(first.then_some(Stop::FirstFinding)) {
            return Ok(Some(stop));
        }
    }
}

fn settle<S: System>(
    graph: &mut Graph<'_, S>,
    trail: &mut dyn Trail,
    queue: &mut Queue<'_, '_, S::State>,
    mut done: Done<'_, S::State>,
) -> io::Result<()> {
    let Origin { parent, level, .. } = done.origin;
    graph.progress.level = graph.progress.level.max(level);
    if let Some(fate) = graph.account(&mut done) {
        graph.show(&done, fate, None);
        return Ok(());
    }
    if level + 1 >= graph.settings.levels_max {
        return Ok(());
    }
    // The number the state gets if it is kept; start states came before.
    let node = graph.progress.states;
    let member = Member::try_from(node).expect("fewer than 2³² kept states");
    // Results come in one fixed order, so among equals the earlier arrival stays.
    let earliest = JobOrder { parent: 0, choice: 0 };
    let alive = &queue.alive;
    let (cell, arrival) = graph.admit(&done, member, |m| alive.get(u64::from(m)).then_some(earliest));
    match arrival {
        Arrival::Merged => {
            graph.count_merged(level);
            graph.link_merged(parent, done.job.choice, cell, 0);
            graph.show(&done, Fate::Merged, cell);
        }
        Arrival::Kept { replaced } => {
            graph.show(&done, Fate::Kept, cell);
            for m in replaced {
                queue.alive.set(u64::from(m), false);
                graph.count_merged(level);
                let (parent, choice) = trail.look(u64::from(m))?;
                graph.link_merged(parent, choice, cell, 0);
            }
            let (choice, state) = (done.job.choice, &done.job.state);
            graph.show_node(&Node { node, level: level + 1, parent, choice, cell }, || Ok(state.clone()))?;
            let given = trail.push(parent, choice)?;
            assert_eq!(given, node, "trail and explorer number states alike");
            let place = queue.pool.put(&done.job.state)?;
            queue.push(done.danger.worst, Waiting { node, level: level + 1, place });
            graph.count_kept(level);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_order_like_numbers() {
        let numbers = [f64::NEG_INFINITY, -2.0, -1e-300, 0.0, 1e-300, 3.0, 3.0 + 1e-12, f64::INFINITY];
        assert!(numbers.windows(2).all(|pair| Rank::of(pair[0]) < Rank::of(pair[1])));
        assert!(Rank::of(f64::NAN) >= Rank::of(f64::INFINITY));
    }

    #[test]
    fn flags_remember() {
        let mut flags = Flags::default();
        flags.set(130, true);
        flags.set(131, true);
        flags.set(130, false);
        assert!(!flags.get(130) && flags.get(131) && !flags.get(10_000));
    }
}
