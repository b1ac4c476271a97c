//! Causes that are mirror images of each other.

use anabranch_kernel::System;

use super::find::Finder;
use super::{Accidents, Unfinished};

/// Starts from which a mirror image is run.
const STARTS_MAX: usize = 16;

/// Folds every cause into the first one whose minimal sequence, with left and right exchanged, leads to its accident; or
/// whose accident its own minimal sequence, exchanged, leads to.
pub(super) fn fold_mirrored<S: System, A: Accidents>(finder: &mut Finder<'_, S, A>) -> Result<(), Unfinished> {
    let certified = finder.certified();
    for (at, &number) in certified.iter().enumerate() {
        for &earlier in &certified[..at] {
            if finder.cause(earlier).mirror_of.is_none() && is_mirrored(finder, earlier, number)? {
                finder.set_mirror(number, earlier);
                break;
            }
        }
    }
    Ok(())
}

fn is_mirrored<S: System, A: Accidents>(
    finder: &mut Finder<'_, S, A>,
    one: usize,
    other: usize,
) -> Result<bool, Unfinished> {
    let (a, b) = (finder.cause(one), finder.cause(other));
    let kinds = finder.kinds();
    // The kinds must be mirror images too, or two causes of one accident would become one.
    let image = kinds.mirrored(&a.minimal.choices);
    let has_kinds = image.as_ref().is_some_and(|image| kinds.in_sequence(image) == b.kinds);
    if !has_kinds || !finder.accidents().are_mirrored(&a.accident, &b.accident) {
        return Ok(false);
    }
    Ok(leads_to(finder, one, other)? || leads_to(finder, other, one)?)
}

/// Whether the minimal sequence of one cause, with left and right exchanged, leads to the accident of the other.
fn leads_to<S: System, A: Accidents>(
    finder: &mut Finder<'_, S, A>,
    one: usize,
    other: usize,
) -> Result<bool, Unfinished> {
    let Some(image) = finder.kinds().mirrored(&finder.cause(one).minimal.choices) else { return Ok(false) };
    let cause = finder.cause(other);
    let (accident, requirement) = (cause.accident.clone(), cause.verdict.requirement);
    // The mirror image of a start off the middle is another start.
    let own = finder.cause(one).start;
    let others = (0..finder.starts().min(STARTS_MAX)).filter(|start| *start != own);
    for start in std::iter::once(own).chain(others) {
        let happens = finder.with_tries(start, &accident, requirement, |tries| {
            let run = tries.one(&image)?;
            Ok(tries.accident(&run).is_some())
        })?;
        if happens {
            return Ok(true);
        }
    }
    Ok(false)
}
