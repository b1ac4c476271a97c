//! When it was too late.

use anabranch_kernel::{Choice, Fault, System};

use super::Limits;
use super::tries::{Tried, Tries};

/// Most runs to find out whether another error would still have helped.
const RESCUES_MAX: usize = 20_000;

/// The last moment from which the failure is avoided if nothing more goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct NoReturn {
    /// Segments from the start: with so many choices of the counterexample and no error from then on the requirement
    /// is not violated; with one more it is.
    pub boundary: usize,
    /// For every number of choices from 0 to all: whether the requirement is kept without further error. More than one
    /// change from *kept* to *violated* says that a later error makes good an earlier one for a while.
    pub avoided: Vec<bool>,
    /// Smallest margin of the run that turns back at the boundary.
    pub margin: f64,
    /// The last moment after the boundary at which some error, held from then on, still avoids the failure.
    pub rescue: Option<Rescue>,
    /// Whether rescues were looked for; with very many error choices they are not.
    pub rescues_tried: bool,
}

/// An error that happens to help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rescue {
    /// Segments from the start.
    pub boundary: usize,
    /// The error that is held from there on.
    pub choice: Choice,
}

/// Scans every boundary; `None` if the requirement is violated without any error.
pub(super) fn find<S: System>(
    tries: &mut Tries<'_, S>,
    minimal: &Tried,
    limits: &Limits,
) -> Result<Option<NoReturn>, Fault> {
    let requirement = tries.question().requirement;
    let whole = &minimal.choices;
    let begun: Vec<Vec<Choice>> = (0..=whole.len()).map(|n| whole[..n].to_vec()).collect();
    let tried = tries.many(&begun)?;
    let avoided: Vec<bool> = tried.iter().map(|one| one.violation(requirement).is_none()).collect();
    let Some(boundary) = avoided.iter().rposition(|&avoided| avoided) else { return Ok(None) };
    let margin = tried[boundary].margin;
    let choices = tries.question().system.errors().len();
    let rescues_tried = choices * whole.len() <= RESCUES_MAX.min(limits.holds_max);
    let rescue = if rescues_tried { last_rescue(tries, whole, boundary)? } else { None };
    Ok(Some(NoReturn { boundary, avoided, margin, rescue, rescues_tried }))
}

/// Looks from the end back to the boundary for a constant error that avoids the failure.
fn last_rescue<S: System>(
    tries: &mut Tries<'_, S>,
    whole: &[Choice],
    boundary: usize,
) -> Result<Option<Rescue>, Fault> {
    let question = *tries.question();
    let held: Vec<Choice> = question.system.errors().choices().skip(1).collect();
    for n in (boundary + 1..whole.len()).rev() {
        let rest = question.segments_max.saturating_sub(n);
        let sequence = |&choice: &Choice| [whole[..n].to_vec(), vec![choice; rest]].concat();
        let tried = tries.many(&held.iter().map(sequence).collect::<Vec<_>>())?;
        let saved = tried.iter().position(|one| one.violation(question.requirement).is_none());
        if let Some(at) = saved {
            return Ok(Some(Rescue { boundary: n, choice: held[at] }));
        }
    }
    Ok(None)
}
