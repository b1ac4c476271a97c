//! Running every error sequence after all, where that is affordable.

use anabranch_kernel::{Choice, Choices, Job, SegmentEnd, System};

use crate::cover::ErrorPath;
use crate::limits::{Limits, Stop};

/// States that are expanded together; the whole tree below them is run before the next ones.
const SLAB_STATES: usize = 512;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Exhausted {
    /// Whether every sequence was run to its end, without a fault.
    pub(crate) is_whole: bool,
    /// The first sequence that violates a requirement.
    pub(crate) violation: Option<ErrorPath>,
    /// Smallest margin.
    pub(crate) margin: f64,
    pub(crate) segments: u64,
    pub(crate) stop: Option<Stop>,
}

/// A state with its way.
#[derive(Clone)]
struct Leaf<S> {
    state: S,
    start: usize,
    choices: Vec<Choice>,
}

/// Segments of a tree with `choices` branches and `levels` levels from each start, as far as numbers reach.
pub(crate) fn segments_of(choices: usize, levels: u32, starts: usize) -> f64 {
    let branches = choices as f64;
    let mut sum = 0.0;
    let mut width = starts as f64;
    for _ in 0..levels {
        width *= branches;
        sum += width;
        if !sum.is_finite() {
            break;
        }
    }
    sum
}

/// Runs every sequence, unless that takes more than `segments_max` segments.
pub(crate) fn run<S: System>(
    system: &S,
    starts: &[S::State],
    levels_max: u32,
    segments_max: u64,
    limits: &Limits<'_>,
) -> Exhausted {
    let mut result = Exhausted { is_whole: true, margin: f64::INFINITY, ..Exhausted::default() };
    let leaf = |(start, state): (usize, &S::State)| Leaf { state: state.clone(), start, choices: Vec::new() };
    // Slabs of one level each; the deepest is taken first, so that few of them wait.
    let mut slabs: Vec<Vec<Leaf<S::State>>> = vec![starts.iter().enumerate().map(leaf).collect()];
    while let Some(mut slab) = slabs.pop() {
        if slab.len() > SLAB_STATES {
            let rest = slab.split_off(SLAB_STATES);
            slabs.push(rest);
        }
        match expand(system, slab, limits, &mut result) {
            Ok(next) if !next.is_empty() && next[0].choices.len() < levels_max as usize => slabs.push(next),
            Ok(_) => {}
            Err(stop) => result.stop = Some(stop),
        }
        if result.stop.is_some() || result.violation.is_some() || result.segments > segments_max {
            result.is_whole = false;
            return result;
        }
    }
    result
}

fn expand<S: System>(
    system: &S,
    slab: Vec<Leaf<S::State>>,
    limits: &Limits<'_>,
    result: &mut Exhausted,
) -> Result<Vec<Leaf<S::State>>, Stop> {
    let (mut live, mut from, mut jobs) = (Choices::new(), Vec::new(), Vec::new());
    for (at, leaf) in slab.iter().enumerate() {
        system.live(&leaf.state, &mut live);
        from.extend(std::iter::repeat_n(at, live.len()));
        jobs.extend(live.iter().map(|&choice| Job::new(leaf.state.clone(), choice)));
    }
    limits.run_jobs(system, &mut jobs)?;
    let mut next = Vec::new();
    for (from, job) in from.into_iter().zip(jobs) {
        result.segments += 1;
        result.margin = result.margin.min(job.margin);
        let way = || slab[from].choices.iter().copied().chain([job.choice]).collect::<Vec<Choice>>();
        match &job.end {
            Ok(SegmentEnd::Open) => {
                let choices = way();
                next.push(Leaf { start: slab[from].start, choices, state: job.state });
            }
            Ok(SegmentEnd::Violated(_)) if result.violation.is_none() => {
                result.violation = Some((slab[from].start, way()));
            }
            Ok(_) => {}
            Err(_) => result.is_whole = false,
        }
    }
    Ok(next)
}
