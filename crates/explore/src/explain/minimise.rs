//! The smallest error sequence that still violates the requirement.
//!
//! What is guaranteed: the result violates the same requirement, and it is *1-minimal*: without any single one of its
//! errors the requirement is not violated. It never has more errors than what delta debugging left of the finding,
//! unless it has fewer changes. Among all 1-minimal sequences that hold one error, or one after another, it has the
//! smallest [`Cost`], as far as [`HoldSearch`] says that they were tried. Beyond that it is a local optimum.

use anabranch_kernel::{Choice, Fault, System};

use super::cost::Cost;
use super::holds::{self, HoldSearch};
use super::tries::{Tried, Tries};
use super::{ExplainError, Limits, erroneous, improve, without};

/// The smallest sequence, and what was left of the one that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimal {
    /// The sequence that was found, up to its violation.
    pub found: Tried,
    /// The smallest one.
    pub minimal: Tried,
    /// For each segment that was found: whether its error is needed. Without all the others the requirement is still
    /// violated, and without any one of these it is not.
    pub matters: Vec<bool>,
    /// How small the smallest one is.
    pub cost: Cost,
    /// Which held errors were tried.
    pub holds: HoldSearch,
}

/// Minimises the sequence of the question.
///
/// # Errors
/// When a segment cannot be computed or the sequence does not violate the requirement.
pub fn minimise<S: System>(tries: &mut Tries<'_, S>, limits: &Limits) -> Result<Minimal, ExplainError> {
    let question = *tries.question();
    let found = tries.one(question.choices)?;
    if found.violation(question.requirement).is_none() {
        return Err(ExplainError::NotViolated(found.end));
    }
    tries.set_found(found.choices.len());
    let needed = delta_debug(tries, found.clone())?;
    let needed = reduce(tries, needed)?;
    let kept = |at: usize| needed.choices.get(at).is_some_and(|&choice| choice != Choice::NONE);
    let matters = (0..found.choices.len()).map(kept).collect();
    let improved = improve::improve(tries, needed)?;
    let (held, holds) = holds::search(tries, improved, limits.holds_max)?;
    let minimal = improve::improve(tries, held)?;
    let cost = tries.cost(&minimal);
    Ok(Minimal { found, minimal, matters, cost, holds })
}

/// Delta debugging (Zeller and Hildebrandt 2002) over the erroneous segments: halves, quarters, … of them are tried
/// alone and left out, side by side; the first that still violates is taken.
fn delta_debug<S: System>(tries: &mut Tries<'_, S>, found: Tried) -> Result<Tried, Fault> {
    let mut current = found;
    if let Some(harmless) = tries.violating(&[Vec::new()])?.pop() {
        return Ok(harmless);
    }
    let mut parts = 2;
    loop {
        let positions = erroneous(&current.choices);
        parts = parts.min(positions.len());
        if parts < 2 {
            return Ok(current);
        }
        let chunks: Vec<&[usize]> = positions.chunks(positions.len().div_ceil(parts)).collect();
        let rest = |chunk: &[usize]| positions.iter().copied().filter(|at| !chunk.contains(at)).collect::<Vec<_>>();
        let alone = chunks.iter().map(|chunk| without(&current.choices, &rest(chunk)));
        if let Some(smaller) = first_violating(tries, alone.collect())? {
            (current, parts) = (smaller, 2);
            continue;
        }
        let left_out = chunks.iter().map(|chunk| without(&current.choices, chunk));
        if let Some(smaller) = first_violating(tries, left_out.collect())? {
            (current, parts) = (smaller, (parts - 1).max(2));
            continue;
        }
        if parts == positions.len() {
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
        let smaller = tries.violating(&each_left_out(&current.choices))?;
        let best = smaller.into_iter().min_by_key(|tried| tries.cost(tried));
        match best {
            Some(best) => current = best,
            None => return Ok(current),
        }
    }
}

/// Whether the requirement is violated without some single error. The last error is the usual suspect and is asked
/// alone first.
pub(super) fn is_minimal<S: System>(tries: &mut Tries<'_, S>, violating: &Tried) -> Result<bool, Fault> {
    let mut smaller = each_left_out(&violating.choices);
    let Some(last) = smaller.pop() else { return Ok(true) };
    Ok(tries.violating(&[last])?.is_empty() && tries.violating(&smaller)?.is_empty())
}

fn each_left_out(choices: &[Choice]) -> Vec<Vec<Choice>> {
    erroneous(choices).iter().map(|&at| without(choices, &[at])).collect()
}
