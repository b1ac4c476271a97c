//! The smallest error sequence that still violates the requirement.
//!
//! What is guaranteed: the result leads to the same accident, and it is *1-minimal*: without any single one of its
//! errors, site by site and segment by segment, that accident does not happen. It never has more errors than the
//! finding. Among all 1-minimal sequences that hold one error, or one after another, it has the
//! smallest [`Cost`], as far as [`HoldSearch`] says that they were tried. Beyond that it is a local optimum.

use anabranch_kernel::{Choice, ErrorSpace, Fault, System};

use super::cost::Cost;
use super::holds::{self, HoldSearch};
use super::single::{SingleError, single_errors, without_errors};
use super::tries::{Tried, Tries};
use super::{ExplainError, Limits, improve};

/// The smallest sequence, and what was left of the one that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimal {
    /// The sequence that was found, up to its violation.
    pub found: Tried,
    /// The smallest one.
    pub minimal: Tried,
    /// For each segment that was found: whether an error of it is needed. Without all the others the accident still
    /// happens, and without any single one of these it does not.
    pub matters: Vec<bool>,
    /// How small the smallest one is.
    pub cost: Cost,
    /// Which held errors were tried.
    pub holds: HoldSearch,
}

/// Minimises the sequence of the question.
///
/// # Errors
/// When a segment cannot be computed or the sequence does not lead to the accident.
pub fn minimise<S: System>(tries: &mut Tries<'_, S>, limits: &Limits) -> Result<Minimal, ExplainError> {
    let question = *tries.question();
    let found = tries.one(question.choices)?;
    if tries.accident(&found).is_none() {
        return Err(ExplainError::NotViolated(found.end));
    }
    tries.set_found(found.choices.len());
    let needed = shrink(tries, found.clone())?;
    let kept = |at: usize| needed.choices.get(at).is_some_and(|&choice| choice != Choice::NONE);
    let matters = (0..found.choices.len()).map(kept).collect();
    let improved = improve::improve(tries, needed)?;
    let (held, holds) = holds::search(tries, improved, limits.holds_max)?;
    let minimal = improve::improve(tries, held)?;
    let cost = tries.cost(&minimal);
    Ok(Minimal { found, minimal, matters, cost, holds })
}

/// Leaves out errors until every one that is left is needed. Nothing is put in their place.
///
/// # Errors
/// When a segment cannot be computed.
pub(crate) fn shrink<S: System>(tries: &mut Tries<'_, S>, found: Tried) -> Result<Tried, Fault> {
    let smaller = delta_debug(tries, found)?;
    reduce(tries, smaller)
}

/// Delta debugging (Zeller and Hildebrandt 2002) over single errors: halves, quarters, … of them are tried alone and left
/// out, side by side; the first that still leads to the accident is taken.
fn delta_debug<S: System>(tries: &mut Tries<'_, S>, found: Tried) -> Result<Tried, Fault> {
    let space = tries.question().system.errors();
    let mut current = found;
    if let Some(harmless) = tries.violating(&[Vec::new()])?.pop() {
        return Ok(harmless);
    }
    let mut parts = 2;
    loop {
        let errors = single_errors(space, &current.choices);
        parts = parts.min(errors.len());
        if parts < 2 {
            return Ok(current);
        }
        let chunks: Vec<&[SingleError]> = errors.chunks(errors.len().div_ceil(parts)).collect();
        let rest =
            |chunk: &[SingleError]| errors.iter().copied().filter(|error| !chunk.contains(error)).collect::<Vec<_>>();
        let alone = chunks.iter().map(|chunk| without_errors(space, &current.choices, &rest(chunk)));
        if let Some(smaller) = first_violating(tries, alone.collect())? {
            (current, parts) = (smaller, 2);
            continue;
        }
        let left_out = chunks.iter().map(|chunk| without_errors(space, &current.choices, chunk));
        if let Some(smaller) = first_violating(tries, left_out.collect())? {
            (current, parts) = (smaller, (parts - 1).max(2));
            continue;
        }
        if parts == errors.len() {
            return Ok(current);
        }
        parts *= 2;
    }
}

fn first_violating<S: System>(tries: &mut Tries<'_, S>, sequences: Vec<Vec<Choice>>) -> Result<Option<Tried>, Fault> {
    Ok(tries.violating(&sequences)?.into_iter().next())
}

/// Leaves out single errors until none can be left out: the result is 1-minimal.
pub(super) fn reduce<S: System>(tries: &mut Tries<'_, S>, violating: Tried) -> Result<Tried, Fault> {
    let mut current = violating;
    loop {
        let space = tries.question().system.errors();
        let smaller = tries.violating(&each_left_out(space, &current.choices))?;
        let best = smaller.into_iter().min_by_key(|tried| tries.cost(tried));
        match best {
            Some(best) => current = best,
            None => return Ok(current),
        }
    }
}

/// Whether every single error is needed. The last error is the usual suspect and is asked alone first.
pub(super) fn is_minimal<S: System>(tries: &mut Tries<'_, S>, violating: &Tried) -> Result<bool, Fault> {
    let mut smaller = each_left_out(tries.question().system.errors(), &violating.choices);
    let Some(last) = smaller.pop() else { return Ok(true) };
    Ok(tries.violating(&[last])?.is_empty() && tries.violating(&smaller)?.is_empty())
}

fn each_left_out(space: &ErrorSpace, choices: &[Choice]) -> Vec<Vec<Choice>> {
    single_errors(space, choices).iter().map(|error| without_errors(space, choices, &[*error])).collect()
}
