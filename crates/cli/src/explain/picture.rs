//! The picture of an explanation: clearance over time of the found, the smallest and the nearest passing run.

use anabranch_explore::explain::{Explanation, Tried};
use anabranch_kernel::{Choice, System};
use anabranch_record::picture::{Why, WhyError, WhyRun};

use super::Case;
use super::runs::{record, signal};
use crate::failure::Failure;
use crate::numbers::short;

/// The signal that is drawn.
const CLEARANCE: &str = "ego.clearance";

/// What to draw.
pub fn why(case: &Case<'_>, why: &Explanation) -> Result<Why, Failure> {
    let mut runs = vec![
        run(case, "found", &why.found, |at| Shown::of(why.found.choices[at], why.matters[at]))?,
        run(case, "smallest", &why.minimal, |at| Shown::of(why.minimal.choices[at], true))?,
    ];
    if let Some(nearest) = &why.nearest {
        // An error that was left out shows where it had been.
        let shown = |at: usize| match nearest.passing.choices[at] {
            Choice::NONE if nearest.changed.contains(&at) => Shown::Pale,
            choice => Shown::of(choice, true),
        };
        runs.push(run(case, "nearest that passes", &nearest.passing, shown)?);
    }
    let time_s = why.verdict.tick as f64 * case.drive.step_s();
    let errors = match why.cost.erroneous {
        1 => "One erroneous segment is".to_owned(),
        count => format!("{count} erroneous segments are"),
    };
    let subtitle =
        format!("{errors} enough, after {} s. Pale: not needed, or left out. ×: violated.", short(time_s, 2));
    Ok(Why {
        title: format!("{}: why `{}` is violated", case.drive.name(), case.requirement_id()),
        subtitle,
        margin_title: "clearance [m]".to_owned(),
        runs,
        no_return_s: why.no_return.as_ref().map(|at| case.begin_s(at.boundary)),
    })
}

/// How a segment is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Not,
    Pale,
    Strong,
}

impl Shown {
    fn of(choice: Choice, matters: bool) -> Self {
        match (choice, matters) {
            (Choice::NONE, _) => Self::Not,
            (_, true) => Self::Strong,
            (_, false) => Self::Pale,
        }
    }
}

fn run(case: &Case<'_>, label: &str, tried: &Tried, shown: impl Fn(usize) -> Shown) -> Result<WhyRun, Failure> {
    let recorded = record(case.drive, case.seed, &case.params, &tried.choices)?;
    let step_s = case.drive.step_s();
    let clearance = signal(case.drive, CLEARANCE);
    let margin =
        |(tick, values): &(u64, Vec<f64>)| [*tick as f64 * step_s, clearance.map_or(f64::NAN, |at| values[at])];
    Ok(WhyRun {
        label: label.to_owned(),
        margin: recorded.frames.iter().map(margin).collect(),
        errors: boxes(case, &tried.choices, shown),
        violated_s: recorded.verdict.map(|v| v.tick as f64 * step_s),
    })
}

/// One box for the same error in a row.
fn boxes(case: &Case<'_>, choices: &[Choice], shown: impl Fn(usize) -> Shown) -> Vec<WhyError> {
    let mut boxes: Vec<(Choice, WhyError)> = Vec::new();
    for (at, &choice) in choices.iter().enumerate() {
        let (from_s, to_s) = (case.begin_s(at), case.begin_s(at + 1));
        let matters = shown(at) == Shown::Strong;
        match (shown(at), boxes.last_mut()) {
            (Shown::Not, _) => {}
            (_, Some((same, last))) if *same == choice && last.matters == matters && last.to_s >= from_s => {
                last.to_s = to_s;
            }
            _ => boxes.push((choice, WhyError { from_s, to_s, label: modes(case, choice), matters })),
        }
    }
    boxes.into_iter().map(|(_, one)| one).collect()
}

/// Names of the modes; the ids of errors are left out where there is only one.
fn modes(case: &Case<'_>, choice: Choice) -> String {
    let space = case.drive.errors();
    match space.sites() {
        [site] => site.modes[usize::from(space.modes(choice)[0])].name.clone(),
        _ => space.describe(choice),
    }
}
