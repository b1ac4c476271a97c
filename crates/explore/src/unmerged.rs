//! Runs without merging, many at once: random ones, held errors, and those that shadow the graph.

use anabranch_kernel::{Choice, Choices, Fault, Job, SegmentEnd, System};

use crate::limits::{Limits, Stop};

/// A run on its way.
pub(crate) struct Begun<S, T> {
    pub(crate) state: S,
    /// Segments it has behind it.
    pub(crate) level: u32,
    /// Whatever is collected on the way.
    pub(crate) notes: T,
}

/// A run that is over.
pub(crate) struct Ended<T> {
    /// How it ended; `Open` if it was cut off by the last level.
    pub(crate) end: Result<SegmentEnd, Fault>,
    /// Segments that were run.
    pub(crate) segments: u64,
    /// What was collected.
    pub(crate) notes: T,
}

impl<T> Ended<T> {
    pub(crate) fn is_violated(&self) -> bool {
        matches!(self.end, Ok(SegmentEnd::Violated(_)))
    }
}

/// Runs everything to its end, side by side. `choose` names the next error of a run, `see` collects what a segment brought,
/// together with the level it ended in. Results are in the order of the runs.
///
/// # Errors
/// With the wish or the limit that cut it off.
pub(crate) fn run_all<S, T, C, V>(
    system: &S,
    limits: &Limits<'_>,
    levels_max: u32,
    begun: Vec<Begun<S::State, T>>,
    choose: C,
    see: V,
) -> Result<Vec<Ended<T>>, Stop>
where
    S: System,
    C: Fn(&T, u32, &S::State, &Choices) -> Choice,
    V: FnMut(&mut T, u32, &Job<S::State>),
{
    let (ended, stop) = run_in_time(system, limits, levels_max, begun, choose, see);
    stop.map_or(Ok(ended), Err)
}

/// The same, as far as limits let it: the runs that came to their end, and what cut off the others.
pub(crate) fn run_in_time<S, T, C, V>(
    system: &S,
    limits: &Limits<'_>,
    levels_max: u32,
    begun: Vec<Begun<S::State, T>>,
    choose: C,
    mut see: V,
) -> (Vec<Ended<T>>, Option<Stop>)
where
    S: System,
    C: Fn(&T, u32, &S::State, &Choices) -> Choice,
    V: FnMut(&mut T, u32, &Job<S::State>),
{
    let mut ended: Vec<(usize, Ended<T>)> = Vec::with_capacity(begun.len());
    let mut on_the_way = Vec::with_capacity(begun.len());
    let mut jobs = Vec::with_capacity(begun.len());
    for (number, run) in begun.into_iter().enumerate() {
        let over = Ended { end: Ok(SegmentEnd::Open), segments: 0, notes: run.notes };
        if run.level < levels_max {
            jobs.push(Job::new(run.state, Choice::NONE));
            on_the_way.push((number, run.level, over));
        } else {
            ended.push((number, over));
        }
    }
    let (mut live, mut stop) = (Choices::new(), None);
    while !jobs.is_empty() {
        for (job, (_, level, run)) in jobs.iter_mut().zip(&on_the_way) {
            system.live(&job.state, &mut live);
            job.choice = choose(&run.notes, *level, &job.state, &live);
        }
        if let Err(limit) = limits.run_jobs(system, &mut jobs) {
            stop = Some(limit);
            break;
        }
        let mut still = (Vec::with_capacity(jobs.len()), Vec::with_capacity(jobs.len()));
        for (job, (number, level, mut run)) in jobs.into_iter().zip(on_the_way) {
            run.segments += 1;
            see(&mut run.notes, level + 1, &job);
            if job.end == Ok(SegmentEnd::Open) && level + 1 < levels_max {
                still.0.push(Job::new(job.state, Choice::NONE));
                still.1.push((number, level + 1, run));
            } else {
                run.end = job.end;
                ended.push((number, run));
            }
        }
        (jobs, on_the_way) = still;
    }
    ended.sort_by_key(|(number, _)| *number);
    (ended.into_iter().map(|(_, run)| run).collect(), stop)
}
