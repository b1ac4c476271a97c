//! The most likely failures: shortest paths in −log p, each run from the start before it is told.
//!
//! Candidates come from three places: the best paths of the merged graph, in order; the paths by which the graph really
//! reached its violations; and the failures that were drawn. A path through a merge may not be real, so each is run from
//! the start, without merging, and what does not fail is passed over.
//!
//! **Diverse.** Two failures are told apart if their errors, counted from the first one on, differ in a quarter of the
//! segments, and in two at least: the same mishap a second later is no other one. A sequence that ended early counts as
//! free of errors afterwards.

use std::collections::{BTreeSet, BinaryHeap};

use anabranch_kernel::{Choice, Fault, Likelihood, System, maths};

use super::confirm::{Confirmed, confirm, log_start};
use super::flow::{End, Flow};
use super::sample::Failure;
use super::{LikelyFailure, World, value};

/// Best paths of the merged graph that are looked at.
const PATHS_MAX: usize = 500;
/// Steps of the search for them; each is a few comparisons.
const SEARCH_MAX: usize = 200_000;
/// Candidates of each other kind; the most likely ones.
const CANDIDATES_MAX: usize = 5_000;
/// Sequences that are run from the start; one costs as much as a single run.
const REPLAYS_MAX: usize = 1_000;

/// Failures, and how many candidates were none.
pub(super) struct Found {
    pub(super) failures: Vec<LikelyFailure>,
    pub(super) refuted: usize,
}

/// An error sequence that may be a failure.
#[derive(Clone, Debug, PartialEq)]
struct Candidate {
    log_p: f64,
    start: usize,
    choices: Vec<Choice>,
    confirmed: Option<Confirmed>,
}

impl Eq for Candidate {}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Candidate {
    /// The more likely, then the shorter, then the first in the order of starts and choices.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let rank = |c: &Self| std::cmp::Reverse((c.choices.len(), c.start, c.choices.clone()));
        self.log_p.total_cmp(&other.log_p).then_with(|| rank(self).cmp(&rank(other)))
    }
}

/// The most likely failures that differ enough from each other.
pub(super) fn most_likely<'f, S: System>(
    world: &World<'_, S>,
    flow: Option<&Flow>,
    drawn: impl Iterator<Item = &'f Failure>,
    wanted: usize,
) -> Result<Found, Fault> {
    let mut heap = BinaryHeap::new();
    if let Some(flow) = flow {
        heap.extend(best_paths(flow, world.likelihood));
        heap.extend(real_paths(flow, world.likelihood));
    }
    let of_drawn = |failure: &Failure| Candidate {
        log_p: failure.log_p,
        start: failure.start,
        choices: failure.choices.clone(),
        confirmed: None,
    };
    heap.extend(most(drawn.map(of_drawn).collect()));
    let mut found = Found { failures: Vec::new(), refuted: 0 };
    let (mut known, mut replays) = (BTreeSet::new(), 0);
    while let Some(candidate) = heap.pop() {
        if found.failures.len() == wanted || replays == REPLAYS_MAX {
            break;
        }
        if found.failures.iter().any(|failure| !differ(&failure.choices, &candidate.choices)) {
            continue;
        }
        if let Some(Confirmed { verdict, .. }) = candidate.confirmed {
            let Candidate { log_p, start, choices, .. } = candidate;
            found.failures.push(LikelyFailure { start, choices, probability: maths::exp(log_p), verdict });
            continue;
        }
        if !known.insert((candidate.start, candidate.choices.clone())) {
            continue;
        }
        replays += 1;
        match confirm(world, candidate.start, &candidate.choices)? {
            // Its own probability may be another than the graph's, so it queues up again.
            Some(confirmed) => heap.push(Candidate {
                log_p: confirmed.log_p,
                choices: candidate.choices[..confirmed.segments].to_vec(),
                start: candidate.start,
                confirmed: Some(confirmed),
            }),
            None => found.refuted += 1,
        }
    }
    Ok(found)
}

/// Whether two error sequences are told apart.
fn differ(a: &[Choice], b: &[Choice]) -> bool {
    let from_first = |choices: &[Choice]| choices.iter().take_while(|&&choice| choice == Choice::NONE).count();
    let (a, b) = (&a[from_first(a)..], &b[from_first(b)..]);
    let longest = a.len().max(b.len());
    let at = |choices: &[Choice], n: usize| choices.get(n).copied().unwrap_or(Choice::NONE);
    let different = (0..longest).filter(|&n| at(a, n) != at(b, n)).count();
    longest > 0 && different >= 2.max(longest.div_ceil(4)).min(longest)
}

/// The most likely of many.
fn most(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_unstable_by(|a, b| b.cmp(a));
    candidates.dedup();
    candidates.truncate(CANDIDATES_MAX);
    candidates
}

/// The paths by which the graph really reached its violations.
fn real_paths(flow: &Flow, likelihood: &Likelihood) -> Vec<Candidate> {
    let log_first = log_start(flow.starts().len());
    let mut log_p = vec![log_first; flow.len() as usize];
    // Numbers grow from parents to children.
    for node in 0..flow.len() {
        if let Some((parent, choice)) = flow.parent(node) {
            let previous = flow.parent(parent).map_or(Likelihood::BEFORE, |(_, choice)| choice);
            log_p[node as usize] = log_p[parent as usize] + likelihood.log_p(previous, choice, flow.live(parent));
        }
    }
    let mut ends: Vec<(f64, u32, Choice)> = Vec::new();
    for node in 0..flow.len() {
        let previous = flow.parent(node).map_or(Likelihood::BEFORE, |(_, choice)| choice);
        for step in flow.steps_of(node).filter(|&step| flow.steps[step].end == End::Violated) {
            let choice = flow.steps[step].choice;
            let log_p = log_p[node as usize] + likelihood.log_p(previous, choice, flow.live(node));
            if log_p > f64::NEG_INFINITY {
                ends.push((log_p, node, choice));
            }
        }
    }
    ends.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    ends.truncate(CANDIDATES_MAX);
    let candidate = |(log_p, node, choice): (f64, u32, Choice)| {
        let (start, mut choices) = path_to(flow, node);
        choices.push(choice);
        Candidate { log_p, start, choices, confirmed: None }
    };
    ends.into_iter().map(candidate).collect()
}

fn path_to(flow: &Flow, mut node: u32) -> (usize, Vec<Choice>) {
    let mut choices = Vec::new();
    while let Some((parent, choice)) = flow.parent(node) {
        choices.push(choice);
        node = parent;
    }
    choices.reverse();
    (node as usize, choices)
}

/// A path on its way; the best that can become of it decides its turn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Partial {
    log_best: f64,
    log_p: f64,
    step: u32,
    start: u32,
    /// Position in the list of expanded paths.
    from: Option<u32>,
}

impl Eq for Partial {}
impl PartialOrd for Partial {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Partial {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let rank = |p: &Self| std::cmp::Reverse((p.from, p.start, p.step));
        self.log_best.total_cmp(&other.log_best).then_with(|| rank(self).cmp(&rank(other)))
    }
}

/// The best paths of the merged graph, the most likely first: best-first search with the exact rest of the way.
fn best_paths(flow: &Flow, likelihood: &Likelihood) -> Vec<Candidate> {
    let rest = log_rest(flow, likelihood);
    let search = Search { flow, likelihood, rest: &rest };
    let (mut heap, mut expanded, mut found) = (BinaryHeap::new(), Vec::new(), Vec::new());
    let log_first = log_start(flow.starts().len());
    for start in flow.starts() {
        let root = Partial { log_best: 0.0, log_p: log_first, step: 0, start, from: None };
        search.push(&mut heap, &[start], Likelihood::BEFORE, &root);
    }
    while let Some(partial) = heap.pop() {
        if found.len() == PATHS_MAX || expanded.len() == SEARCH_MAX {
            break;
        }
        let step = &flow.steps[partial.step as usize];
        match &step.end {
            End::Violated => found.push(complete(flow, &expanded, &partial)),
            End::Open(members) => {
                let from = Some(expanded.len() as u32);
                expanded.push(partial);
                search.push(&mut heap, flow.nodes(members), step.choice, &Partial { from, ..partial });
            }
            End::Over => {}
        }
    }
    found
}

struct Search<'a> {
    flow: &'a Flow,
    likelihood: &'a Likelihood,
    rest: &'a [f64],
}

impl Search<'_> {
    /// Continues a path from some members, by each choice from the best of them: so no sequence comes twice.
    fn push(&self, heap: &mut BinaryHeap<Partial>, members: &[u32], previous: Choice, path: &Partial) {
        let mut ways: Vec<(Choice, Partial)> = Vec::new();
        let mut probabilities = Vec::new();
        for &node in members.iter().filter(|&&node| !self.flow.live(node).is_empty()) {
            self.likelihood.probabilities(previous, self.flow.live(node), &mut probabilities);
            for (step, p) in self.flow.steps_of(node).zip(&probabilities) {
                let log_p = path.log_p + maths::ln(*p);
                let log_best = log_p + self.rest[step];
                if *p > 0.0 && log_best > f64::NEG_INFINITY {
                    ways.push((self.flow.steps[step].choice, Partial { log_best, log_p, step: step as u32, ..*path }));
                }
            }
        }
        ways.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
        ways.dedup_by_key(|way| way.0);
        heap.extend(ways.into_iter().map(|way| way.1));
    }
}

fn complete(flow: &Flow, expanded: &[Partial], last: &Partial) -> Candidate {
    let mut choices = vec![flow.steps[last.step as usize].choice];
    let mut from = last.from;
    while let Some(at) = from {
        let partial = &expanded[at as usize];
        choices.push(flow.steps[partial.step as usize].choice);
        from = partial.from;
    }
    choices.reverse();
    Candidate { log_p: last.log_p, start: last.start as usize, choices, confirmed: None }
}

/// Logarithm of the probability of the most likely way from the end of each step to a violation.
fn log_rest(flow: &Flow, likelihood: &Likelihood) -> Vec<f64> {
    value::fill(flow, |end, choice, rest, probabilities| match end {
        End::Violated => 0.0,
        End::Over => f64::NEG_INFINITY,
        End::Open(members) => {
            let mut best = f64::NEG_INFINITY;
            for &node in flow.nodes(members).iter().filter(|&&node| !flow.live(node).is_empty()) {
                likelihood.probabilities(choice, flow.live(node), probabilities);
                let ways = probabilities.iter().zip(&rest[flow.steps_of(node)]);
                best = ways.filter(|(p, _)| **p > 0.0).map(|(p, rest)| maths::ln(*p) + rest).fold(best, f64::max);
            }
            best
        }
    })
}
