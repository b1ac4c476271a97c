//! Held errors one by one: the cheap exhaustive search beside the local one.

use anabranch_kernel::{Choice, Fault, System};

use super::cost::Cost;
use super::minimise::is_minimal;
use super::tries::{Tried, Tries};

/// Which held errors were tried one by one: each from any segment of the finding to any later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldSearch {
    /// None: there would have been too many.
    Nothing,
    /// Every error, held once.
    One,
    /// Every error held once, and two after another of those that the counterexample consists of.
    TwoOfUsed,
    /// Every error held once, and every two of them after another.
    Two,
}

/// Sequences that are made at once.
const BATCH: usize = 4_096;

/// What to try.
struct Space {
    /// Errors may be held within so many segments.
    segments: usize,
    /// Errors that are held alone.
    alone: Vec<Choice>,
    /// Errors of which two are held after another.
    paired: Vec<Choice>,
}

/// The best 1-minimal counterexample that holds one or two errors, if it is better than the given one.
pub(super) fn search<S: System>(
    tries: &mut Tries<'_, S>,
    minimal: Tried,
    holds_max: usize,
) -> Result<(Tried, HoldSearch), Fault> {
    let errors = tries.question().system.errors();
    let own = tries.cost(&minimal);
    if own.erroneous == 0 {
        return Ok((minimal, HoldSearch::Two));
    }
    let (space, kind) = choose(errors.choices().skip(1).collect(), &minimal.choices, tries.found(), holds_max, &own);
    let mut better: Vec<(Cost, Tried)> = Vec::new();
    let mut sequences = space.all().peekable();
    while sequences.peek().is_some() {
        let batch: Vec<Vec<Choice>> = sequences.by_ref().take(BATCH).collect();
        let violating = tries.violating(&batch)?;
        let costs = violating.into_iter().map(|tried| (tries.cost(&tried), tried));
        better.extend(costs.filter(|(cost, _)| *cost < own));
    }
    better.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.choices.cmp(&y.choices)));
    better.dedup_by(|(_, x), (_, y)| x.choices == y.choices);
    for (_, tried) in better {
        if is_minimal(tries, &tried)? {
            return Ok((tried, kind));
        }
    }
    Ok((minimal, kind))
}

/// As much as the limit allows. Where one error is enough, two after another cannot be better.
fn choose(all: Vec<Choice>, minimal: &[Choice], segments: usize, holds_max: usize, own: &Cost) -> (Space, HoldSearch) {
    let mut used: Vec<Choice> = minimal.iter().copied().filter(|&choice| choice != Choice::NONE).collect();
    used.sort_unstable();
    used.dedup();
    let count = |alone: usize, paired: usize| {
        let n = segments as u128;
        let pairs = (n + 2) * (n + 1) * n * n.saturating_sub(1) / 24;
        alone as u128 * n * (n + 1) / 2 + (paired * paired) as u128 * pairs
    };
    let fits = |alone: usize, paired: usize| count(alone, paired) <= holds_max as u128;
    let space = |alone, paired| Space { segments, alone, paired };
    match (own.errors <= 1, fits(all.len(), all.len()), fits(all.len(), used.len())) {
        (true, ..) if fits(all.len(), 0) => (space(all, Vec::new()), HoldSearch::Two),
        (false, true, _) => (space(all.clone(), all), HoldSearch::Two),
        (false, false, true) => (space(all, used), HoldSearch::TwoOfUsed),
        _ if fits(all.len(), 0) => (space(all, Vec::new()), HoldSearch::One),
        _ => (space(Vec::new(), Vec::new()), HoldSearch::Nothing),
    }
}

impl Space {
    fn all(&self) -> impl Iterator<Item = Vec<Choice>> + '_ {
        let alone =
            self.alone.iter().flat_map(move |&a| self.intervals(0).map(move |held| self.sequence(&[(held, a)])));
        let pairs = self.paired.iter().flat_map(|&a| self.paired.iter().map(move |&b| (a, b)));
        let paired = pairs.flat_map(move |(a, b)| {
            let two =
                self.intervals(0).flat_map(move |first| self.intervals(first.1).map(move |second| (first, second)));
            two.map(move |(first, second)| self.sequence(&[(first, a), (second, b)]))
        });
        alone.chain(paired)
    }

    /// Every interval of segments that begins at `from` or later.
    fn intervals(&self, from: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let segments = self.segments;
        (from..segments).flat_map(move |from| (from + 1..=segments).map(move |to| (from, to)))
    }

    fn sequence(&self, held: &[((usize, usize), Choice)]) -> Vec<Choice> {
        let end = held.iter().map(|((_, to), _)| *to).max().unwrap_or(0);
        let mut choices = vec![Choice::NONE; end];
        for &((from, to), choice) in held {
            choices[from..to].fill(choice);
        }
        choices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hold_and_every_pair_is_tried_as_counted() {
        let (one, two) = (vec![Choice(1), Choice(2), Choice(3)], vec![Choice(1), Choice(2)]);
        for n in 1..7_usize {
            let alone = Space { segments: n, alone: one.clone(), paired: Vec::new() }.all().count();
            assert_eq!(alone, 3 * n * (n + 1) / 2);
            let paired = Space { segments: n, alone: Vec::new(), paired: two.clone() }.all().count();
            assert_eq!(paired, 4 * (n + 2) * (n + 1) * n * (n - 1) / 24, "{n}");
        }
    }
}
