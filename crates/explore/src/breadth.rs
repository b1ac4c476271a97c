//! Level by level: run the segments of a level in parallel, merge their ends in the order of jobs.

use std::io;

use anabranch_kernel::{Choice, System};

use crate::cells::{Arrival, JobOrder, Member};
use crate::checkpoint::{self, Log, Resumed};
use crate::edge::{Fate, Node, Progress, Stage, Trail};
use crate::graph::Graph;
use crate::limits::{Limits, Stop};
use crate::pool::{Place, Pool};
use crate::runner::{Batch, Done, Lap, Origin, Runner, Waiting};

/// Segments between two merges, per thread: enough to keep all busy, few enough that they are still in a near cache when
/// they are merged. Results do not depend on it.
const WAVE_JOBS_PER_THREAD: usize = 768;
/// Fewest segments between two merges, where they are quick.
const WAVE_JOBS_MIN: usize = 1024;
/// A wave of slow segments is cut so that it takes about this long: between waves budgets and Ctrl-C are looked at.
const WAVE_NS: u64 = 1_000_000_000;

/// An arrival of the next level.
struct Candidate {
    place: Option<Place>,
    job: JobOrder,
    cell: Option<u32>,
}

/// The next level while it grows.
struct Next<'p, 'd, S> {
    pool: &'p mut Pool<'d, S>,
    candidates: Vec<Candidate>,
    first_member: u64,
    /// Candidates that were not replaced by a worse one.
    kept: u64,
}

/// How many states a wave has. Results do not depend on it.
#[derive(Debug, Default)]
struct Pace {
    /// Of the wave before.
    ns_per_state: u64,
}

impl Pace {
    /// At most as many as can be kept, in all waves that are not merged yet: limits hold by a wave of one state.
    fn states_within(&self, choices: usize, left: u64) -> usize {
        self.states(choices).min(usize::try_from(left).unwrap_or(usize::MAX) / choices).max(1)
    }
    fn states(&self, choices: usize) -> usize {
        let threads = rayon::current_num_threads();
        let most = WAVE_JOBS_MIN.max(WAVE_JOBS_PER_THREAD * threads) / choices;
        // Before anything is known about the pace, one state for each core: segments may be slow.
        let in_time = WAVE_NS.checked_div(self.ns_per_state).map_or(threads, |states| states as usize);
        in_time.min(most).max(1)
    }
    fn took(&mut self, ns: u64, states: usize) {
        self.ns_per_state = (ns / states as u64).max(1);
    }
}

/// Explores breadth-first from the waiting states. A level that a limit cuts off is not published: resuming begins it
/// again.
pub(crate) fn explore<S: System>(
    graph: &mut Graph<'_, S>,
    runner: &Runner<'_, S>,
    trail: &mut dyn Trail,
    limits: &Limits<'_>,
    from: Resumed,
    pools: &mut [Pool<'_, S::State>; 2],
) -> io::Result<Option<Stop>> {
    let Resumed { mut waiting, mut level, mut first_member, stop } = from;
    if stop.is_some() {
        return Ok(stop);
    }
    graph.observer.stage(Stage::Exploring);
    let mut pace = Pace::default();
    while !waiting.is_empty() && level < graph.settings.levels_max {
        let [pool, next_pool] = &mut *pools;
        graph.begin_level(level, waiting.len() as u64);
        let mut next = Next { pool: next_pool, candidates: Vec::new(), first_member, kept: 0 };
        let stop = expand_level(graph, runner, limits, &waiting, pool, &mut next, &mut pace)?;
        if let Some(stop) = stop.filter(|stop| *stop != Stop::FirstFinding) {
            return Ok(Some(stop));
        }
        first_member += next.candidates.len() as u64;
        waiting = publish(graph, trail, &mut next, level)?;
        let note = graph.log.is_some().then(|| checkpoint::write(graph, level, first_member, limits.identity));
        graph.continue_digest(graph.digest());
        trail.end_level(&note.unwrap_or_default())?;
        let report = graph.levels[level as usize];
        graph.observer.level(&report);
        if stop.is_some() {
            return Ok(stop);
        }
        pools[0].clear()?;
        pools.swap(0, 1);
        level += 1;
    }
    Ok(None)
}

fn expand_level<S: System>(
    graph: &mut Graph<'_, S>,
    runner: &Runner<'_, S>,
    limits: &Limits<'_>,
    waiting: &[Waiting],
    pool: &Pool<'_, S::State>,
    next: &mut Next<'_, '_, S::State>,
    pace: &mut Pace,
) -> io::Result<Option<Stop>> {
    let first_node = waiting[0].node;
    let choices = graph.system.errors().len();
    let mut in_hand: Vec<Batch<S::State>> = Vec::new();
    let mut stop = limits.urgent();
    let mut rest = waiting;
    while !rest.is_empty() && stop.is_none() {
        let unmerged: usize = in_hand.iter().map(Batch::len).sum();
        let left = limits.states_left(graph.progress.states + next.kept + unmerged as u64);
        let (wave, after) = rest.split_at(pace.states_within(choices, left).min(rest.len()));
        rest = after;
        let ready = std::mem::take(&mut in_hand);
        let mut lap = Lap::start(runner.clock);
        let (ran, merged) = rayon::join(|| runner.run(wave, pool), || merge(graph, runner, ready, next, first_node));
        merged?;
        in_hand = ran?;
        pace.took(lap.next(), wave.len());
        graph.progress.expanded += wave.len() as u64;
        graph.observer.progress(&graph.progress);
        if graph.progress.findings > 0 {
            let level = graph.progress.level;
            limits.reserve(u64::from(level) + 1, runner.on_time.segment_ns());
        }
        limits.expect(end_bytes(graph, next));
        let bytes = graph.see_bytes();
        let progress = Progress { states: graph.progress.states + next.kept, ..graph.progress };
        stop = limits.exceeded(&progress, bytes, next.pool.has_room());
    }
    merge(graph, runner, in_hand, next, first_node)?;
    if graph.settings.stop_on_first && graph.progress.findings > 0 {
        stop = stop.or(Some(Stop::FirstFinding));
    }
    graph.observer.progress(&graph.progress);
    limits.expect(0);
    Ok(stop)
}

/// Memory that publishing a level takes beyond the candidates: the list of those that wait, and what is written about
/// them and about the segments, once as it is and once as it goes to the file.
fn end_bytes<S: System>(graph: &Graph<'_, S>, next: &Next<'_, '_, S::State>) -> u64 {
    let waiting = (next.candidates.len() * size_of::<Waiting>()) as u64;
    waiting + 2 * graph.log.as_ref().map_or(0, Log::bytes)
}

fn merge<S: System>(
    graph: &mut Graph<'_, S>,
    runner: &Runner<'_, S>,
    batches: Vec<Batch<S::State>>,
    next: &mut Next<'_, '_, S::State>,
    first_node: u64,
) -> io::Result<()> {
    let mut lap = Lap::start(runner.clock);
    if let Some(first) = batches.first() {
        graph.prefetch(&first.keys);
    }
    let mut batches = batches.into_iter().peekable();
    while let Some(batch) = batches.next() {
        graph.profile += batch.profile;
        if let Some(ahead) = batches.peek() {
            graph.prefetch(&ahead.keys);
        }
        if graph.merge_clock.is_sample() {
            merge_by_passes(graph, batch, next, first_node, &mut lap)?;
        } else {
            let mut batch = batch;
            batch.each(|mut done| {
                let fate = graph.account(&mut done);
                settle(graph, next, first_node, done, fate)
            })?;
            graph.merge_clock.whole(lap.next(), &mut graph.profile);
        }
    }
    Ok(())
}

/// The same in two passes, so that a clock can tell counting from merging.
fn merge_by_passes<S: System>(
    graph: &mut Graph<'_, S>,
    mut batch: Batch<S::State>,
    next: &mut Next<'_, '_, S::State>,
    first_node: u64,
    lap: &mut Lap<'_>,
) -> io::Result<()> {
    let mut fates = Vec::new();
    batch.each(|mut done| {
        fates.push(graph.account(&mut done));
        io::Result::Ok(())
    })?;
    let bookkeeping = lap.next();
    let mut fates = fates.into_iter();
    batch.each(|done| settle(graph, next, first_node, done, fates.next().flatten()))?;
    graph.merge_clock.split(bookkeeping, lap.next(), &mut graph.profile);
    Ok(())
}

/// Keeps or merges the open end of a segment.
fn settle<S: System>(
    graph: &mut Graph<'_, S>,
    next: &mut Next<'_, '_, S::State>,
    first_node: u64,
    done: Done<'_, S::State>,
    fate: Option<Fate>,
) -> io::Result<()> {
    let Origin { parent, level, last } = done.origin;
    if last {
        graph.dequeue_parent((parent - first_node) as usize);
    }
    if let Some(fate) = fate {
        graph.show(&done, fate, None);
        return Ok(());
    }
    let (base, candidates) = (next.first_member, &next.candidates);
    let waiting = |m: Member| {
        let index = u64::from(m).checked_sub(base)?;
        candidates.get(index as usize).map(|c| c.job)
    };
    let member = Member::try_from(base + candidates.len() as u64).expect("fewer than 2³² kept states");
    let (cell, arrival) = graph.admit(&done, member, waiting);
    graph.see_reached(level + 1, &done.job.state);
    match arrival {
        Arrival::Merged => {
            pair_up(graph, next, &done, cell)?;
            graph.count_merged(level);
            graph.link_merged(parent, done.job.choice, cell, 0);
            graph.show(&done, Fate::Merged, cell);
        }
        Arrival::Kept { replaced } => {
            graph.show(&done, Fate::Kept, cell);
            for m in replaced {
                let candidate = &mut next.candidates[(u64::from(m) - base) as usize];
                next.pool.release(candidate.place.take().expect("a member is replaced once"));
                next.kept -= 1;
                graph.count_merged(level);
                graph.link_merged(candidate.job.parent, Choice(candidate.job.choice), candidate.cell, 0);
            }
            let place = Some(next.pool.put(&done.job.state)?);
            next.kept += 1;
            next.candidates.push(Candidate { place, job: JobOrder { parent, choice: done.job.choice.0 }, cell });
        }
    }
    Ok(())
}

/// Remembers some pairs of merged states for an estimate, if one is wanted.
fn pair_up<S: System>(
    graph: &mut Graph<'_, S>,
    next: &Next<'_, '_, S::State>,
    done: &Done<'_, S::State>,
    cell: Option<u32>,
) -> io::Result<()> {
    let level = done.origin.level + 1;
    let Some(evidence) = &mut graph.evidence else { return Ok(()) };
    if !evidence.wants_pair(level) {
        return Ok(());
    }
    let kept = next.candidates.iter().rev().find(|candidate| candidate.cell == cell && candidate.place.is_some());
    if let Some(place) = kept.and_then(|candidate| candidate.place) {
        evidence.pair(level, &done.job.state, next.pool.get(place)?);
    }
    Ok(())
}

/// Numbers the kept states of a finished level and makes them wait.
fn publish<S: System>(
    graph: &mut Graph<'_, S>,
    trail: &mut dyn Trail,
    next: &mut Next<'_, '_, S::State>,
    level: u32,
) -> io::Result<Vec<Waiting>> {
    let mut waiting = Vec::with_capacity(next.candidates.len());
    graph.parent_keys.clear();
    for candidate in &next.candidates {
        let Some(place) = candidate.place else { continue };
        let JobOrder { parent, choice } = candidate.job;
        let (choice, level, cell) = (Choice(choice), level + 1, candidate.cell);
        let node = trail.push(parent, choice)?;
        waiting.push(Waiting { node, level, place });
        graph.count_kept(level - 1);
        graph.show_node(&Node { node, level, parent, choice, cell }, || next.pool.get(place))?;
    }
    graph.remember_parent_keys(&waiting, next.pool)?;
    Ok(waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_of_slow_segments_is_short_and_of_quick_ones_long() {
        let mut pace = Pace::default();
        assert!(pace.states(9) <= rayon::current_num_threads());
        pace.took(1_000, 1_000);
        let most = pace.states(9);
        assert!(most * 9 > 900, "{most}");
        // A world that takes half a second for all errors of a state, then one that takes a minute, then a quick one.
        pace.took(10 * WAVE_NS / 2, 10);
        assert_eq!(pace.states(9), 2);
        pace.took(60 * WAVE_NS, 1);
        assert_eq!(pace.states(9), 1);
        pace.took(1_000, 1_000);
        assert_eq!(pace.states(9), most);
    }
}
