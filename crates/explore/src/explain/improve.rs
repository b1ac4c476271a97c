//! Small steps that make a counterexample smaller: equal neighbours, smaller errors, fewer types, a later start.

use std::collections::BTreeSet;

use anabranch_kernel::{Choice, ErrorSpace, Fault, System};

use super::cost::{Cost, weight};
use super::minimise::reduce;
use super::single::drop_site;
use super::tries::{Tried, Tries};

/// Most rounds; each makes the counterexample smaller, so there are rarely more than a few.
const ROUNDS_MAX: usize = 64;
/// Most steps that are tried in a round.
const STEPS_MAX: usize = 4_096;
/// Of the steps that still violate, the best so many are made 1-minimal and compared.
const REDUCED_MAX: usize = 16;

/// Takes the best step until none helps. What goes in is 1-minimal, and so is what comes out.
pub(super) fn improve<S: System>(tries: &mut Tries<'_, S>, minimal: Tried) -> Result<Tried, Fault> {
    let mut current = minimal;
    for _ in 0..ROUNDS_MAX {
        let mut violating = tries.violating(&steps(tries, &current.choices))?;
        violating.sort_by_cached_key(|tried| rank(tries, tried));
        violating.dedup();
        let mut best = current.clone();
        for tried in violating.into_iter().take(REDUCED_MAX) {
            let reduced = reduce(tries, tried)?;
            if rank(tries, &reduced) < rank(tries, &best) {
                best = reduced;
            }
        }
        if best.choices == current.choices {
            break;
        }
        current = best;
    }
    Ok(current)
}

/// A total order, so that the best is always the same one.
fn rank<S: System>(tries: &Tries<'_, S>, tried: &Tried) -> (Cost, Vec<Choice>) {
    (tries.cost(tried), tried.choices.clone())
}

/// An error that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hold {
    from: usize,
    to: usize,
    choice: Choice,
}

fn holds_of(choices: &[Choice]) -> Vec<Hold> {
    let mut holds: Vec<Hold> = Vec::new();
    for (at, &choice) in choices.iter().enumerate() {
        match holds.last_mut() {
            Some(last) if last.choice == choice => last.to = at + 1,
            _ => holds.push(Hold { from: at, to: at + 1, choice }),
        }
    }
    holds
}

fn set(choices: &[Choice], range: std::ops::Range<usize>, choice: Choice) -> Vec<Choice> {
    let mut changed = choices.to_vec();
    changed[range].fill(choice);
    changed
}

/// Everything worth trying from here, in a fixed order.
fn steps<S: System>(tries: &Tries<'_, S>, choices: &[Choice]) -> Vec<Vec<Choice>> {
    let question = tries.question();
    let space = question.system.errors();
    let mut all = BTreeSet::new();
    let holds = holds_of(choices);
    let erroneous: Vec<Hold> = holds.iter().copied().filter(|hold| hold.choice != Choice::NONE).collect();
    for pair in holds.windows(2) {
        all.extend(merged(choices, pair[0], pair[1]));
    }
    for hold in &erroneous {
        let smaller = smaller_than(space, hold.choice);
        all.extend(smaller.iter().map(|&choice| set(choices, hold.from..hold.to, choice)));
        all.extend(delayed(choices, *hold));
    }
    for site in 0..space.sites().len() {
        all.insert(choices.iter().map(|&choice| drop_site(space, choice, site)).collect());
    }
    let latest = tries.found().saturating_sub(choices.len());
    all.extend((1..=latest).map(|by| std::iter::repeat_n(Choice::NONE, by).chain(choices.iter().copied()).collect()));
    all.remove(choices);
    all.into_iter().take(STEPS_MAX).collect()
}

/// Two errors in a row become one, or one of them gets a segment of the other.
fn merged(choices: &[Choice], a: Hold, b: Hold) -> Vec<Vec<Choice>> {
    if a.choice == Choice::NONE || b.choice == Choice::NONE {
        return Vec::new();
    }
    vec![
        set(choices, a.from..a.to, b.choice),
        set(choices, b.from..b.to, a.choice),
        set(choices, a.to - 1..a.to, b.choice),
        set(choices, b.from..b.from + 1, a.choice),
    ]
}

/// The error one segment later, where there is room.
fn delayed(choices: &[Choice], hold: Hold) -> Option<Vec<Choice>> {
    let has_room = choices.get(hold.to).is_some_and(|&next| next == Choice::NONE);
    has_room.then(|| {
        let mut changed = choices.to_vec();
        changed.swap(hold.from, hold.to);
        changed
    })
}

/// Errors that are smaller than this one, the smallest first.
fn smaller_than(space: &ErrorSpace, choice: Choice) -> Vec<Choice> {
    let own = weight(space, choice);
    let mut smaller: Vec<(u64, Choice)> =
        space.choices().skip(1).map(|other| (weight(space, other), other)).filter(|(w, _)| *w < own).collect();
    smaller.sort_unstable();
    smaller.into_iter().map(|(_, choice)| choice).take(STEPS_PER_HOLD).collect()
}

/// Most smaller errors that are tried for one that is held.
const STEPS_PER_HOLD: usize = 256;
