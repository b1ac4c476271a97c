//! What would have been enough to pass.

use std::cmp::Reverse;

use anabranch_kernel::{Choice, Fault, System};

use super::Limits;
use super::cost::{distance, weight};
use super::tries::{Tried, Tries};

/// The passing sequence that is closest to the counterexample.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// It violates no requirement.
    pub passing: Tried,
    /// The segments that differ from the counterexample.
    pub changed: Vec<usize>,
}

/// One segment is changed to every other choice; only if that never passes, two. Among equally many the smallest change
/// of size is nearest, then the one with smaller errors left (a person would rather leave one out than add one), then
/// the largest margin, then the latest segment.
pub(super) fn find<S: System>(
    tries: &mut Tries<'_, S>,
    minimal: &Tried,
    limits: &Limits,
) -> Result<Option<Nearest>, Fault> {
    let choices: Vec<Choice> = tries.question().system.errors().choices().collect();
    let one = minimal.choices.len() * (choices.len() - 1);
    if one <= limits.holds_max {
        let single: Vec<Vec<Choice>> = changed(&minimal.choices, 0, &choices).map(|(_, changed)| changed).collect();
        if let Some(nearest) = best(tries, minimal, &single, 1)? {
            return Ok(Some(nearest));
        }
    }
    if one.saturating_mul(one) / 2 > limits.holds_max {
        return Ok(None);
    }
    let mut double = Vec::new();
    for (first, once) in changed(&minimal.choices, 0, &choices) {
        double.extend(changed(&once, first + 1, &choices).map(|(_, twice)| twice));
    }
    best(tries, minimal, &double, 2)
}

/// Each sequence with one other choice, at `from` or later, and where it differs.
fn changed<'c>(
    sequence: &'c [Choice],
    from: usize,
    choices: &'c [Choice],
) -> impl Iterator<Item = (usize, Vec<Choice>)> + 'c {
    (from..sequence.len()).flat_map(move |at| {
        choices.iter().filter(move |&&choice| choice != sequence[at]).map(move |&choice| {
            let mut changed = sequence.to_vec();
            changed[at] = choice;
            (at, changed)
        })
    })
}

/// The nearest of those that pass and differ in exactly `count` segments.
fn best<S: System>(
    tries: &mut Tries<'_, S>,
    minimal: &Tried,
    sequences: &[Vec<Choice>],
    count: usize,
) -> Result<Option<Nearest>, Fault> {
    let space = tries.question().system.errors();
    let at_minimal = |at: usize| minimal.choices.get(at).copied().unwrap_or(Choice::NONE);
    let passing = tries.many(sequences)?.into_iter().filter(Tried::passes);
    let nearest = passing.map(|passing| {
        let changed = (0..passing.choices.len()).filter(|&at| passing.choices[at] != at_minimal(at)).collect();
        Nearest { passing, changed }
    });
    let size = |near: &Nearest| -> u64 {
        near.changed.iter().map(|&at| distance(space, near.passing.choices[at], at_minimal(at))).sum()
    };
    let left = |near: &Nearest| -> u64 { near.passing.choices.iter().map(|&choice| weight(space, choice)).sum() };
    let order = |a: &Nearest, b: &Nearest| {
        let margins = b.passing.margin.total_cmp(&a.passing.margin);
        (size(a), left(a))
            .cmp(&(size(b), left(b)))
            .then(margins)
            .then_with(|| Reverse(&a.changed).cmp(&Reverse(&b.changed)))
    };
    Ok(nearest.filter(|near| near.changed.len() == count).min_by(order))
}
