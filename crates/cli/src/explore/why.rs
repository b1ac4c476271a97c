//! What `explain` would say in short about the minimal sequence of a cause, for the report.

use anabranch_explore::OnTime;
use anabranch_explore::explain::{
    ExplainError, Explanation, Limits, Measure, Question, Tries, explain_minimal, single_errors, without_errors,
};
use anabranch_kernel::{Fault, Seed};
use serde_json::{Value, json};

use super::groups::{Group, shown};
use super::subject::Subject;
use super::time_left::TimeLeft;
use crate::explain::SameAccident;
use crate::failure::Failure;
use crate::numbers::short;

/// Little is tried here: the report is written with every exploration, `explain` only where somebody asks.
const LIMITS: Limits = Limits { holds_max: 400, samples: 16, measure: Measure::Verdict, threads: 0 };

/// Says of every cause that is shown what each error does and when it was too late. Code from outside may be slow, so it
/// is asked only by `explain`.
pub fn tell<S: Subject>(
    groups: &mut [Group],
    subject: &S,
    seed: Seed,
    (threads, time): (usize, TimeLeft),
) -> Result<(), Failure> {
    let count = if subject.is_outside() { 0 } else { shown(groups).len() };
    for group in &mut groups[..count] {
        let is_minimal = group.cause.as_ref().is_some_and(|cause| cause.is_minimal);
        if !is_minimal || !time.looks_for_causes() {
            continue;
        }
        let why = match told(group, subject, seed, (threads, time)) {
            Ok(why) => Some(why),
            Err(_) if !time.looks_for_causes() => None,
            Err(ExplainError::Fault(fault)) => return Err(fault.into()),
            // What cannot be told in short can still be asked for.
            Err(_) => None,
        };
        group.cause.iter_mut().for_each(|cause| cause.why.clone_from(&why));
    }
    Ok(())
}

fn told<S: Subject>(
    group: &Group,
    subject: &S,
    seed: Seed,
    (threads, time): (usize, TimeLeft),
) -> Result<Value, ExplainError> {
    let goes_on = || time.looks_for_causes();
    let on_time = OnTime::new(subject, time.clock(), &goes_on);
    let first = &group.first;
    let accident = SameAccident::of(subject, first.start, &first.choices, &first.verdict);
    let params = &subject.space().all()[first.start];
    let question = Question {
        system: &on_time,
        seed,
        params,
        choices: &first.choices,
        requirement: first.verdict.requirement,
        same: accident.same(),
        segments_max: subject.segments() as usize,
    };
    let why = explain_minimal(question, &Limits { threads, ..LIMITS })?;
    let errors = each_error(&question, subject)?;
    let mut sentences: Vec<String> =
        errors.iter().filter_map(|error| error["sentence"].as_str()).map(str::to_owned).collect();
    sentences.extend(too_late(&why, subject));
    Ok(json!({
        "errors": errors,
        "point_of_no_return_s": why.no_return.as_ref().map(|at| at.boundary as f64 * subject.segment_seconds()),
        "each_error_is_needed": why.superfluous.is_empty(),
        "sentences": sentences,
    }))
}

/// The sequence without each of its errors.
fn each_error<S: Subject>(question: &Question<'_, OnTime<'_, S>>, subject: &S) -> Result<Vec<Value>, Fault> {
    let space = subject.errors();
    let errors = single_errors(space, question.choices);
    let fewer: Vec<_> = errors.iter().map(|error| without_errors(space, question.choices, &[*error])).collect();
    let runs = Tries::new(*question)?.many(&fewer)?;
    let one = |(error, run): (&anabranch_explore::explain::SingleError, &anabranch_explore::explain::Tried)| {
        let site = &space.sites()[error.site];
        let mode = space.modes(question.choices[error.segment])[error.site];
        let name = format!("{}: {}", site.id, site.modes[usize::from(mode)].name);
        let time = |segment: usize| segment as f64 * subject.segment_seconds();
        let (from, to) = (time(error.segment), time(error.segment + 1));
        let margin = if run.margin.is_finite() {
            let (word, unit) = (S::MARGIN.name, S::MARGIN.unit);
            format!("; the smallest {word} is then {}{unit}", short(run.margin, 3))
        } else {
            String::new()
        };
        let sentence =
            format!("without `{name}` from {} to {} s it does not happen{margin}", short(from, 3), short(to, 3));
        let happens = question.accident(&run.end, &run.choices).is_some();
        json!({
            "from_s": from,
            "to_s": to,
            "error": name,
            "margin_without": if run.margin.is_finite() { json!(run.margin) } else { Value::Null },
            "sentence": if happens { Value::Null } else { json!(sentence) },
        })
    };
    Ok(errors.iter().zip(&runs).map(one).collect())
}

fn too_late<S: Subject>(why: &Explanation, subject: &S) -> Option<String> {
    let time = |segment: usize| short(segment as f64 * subject.segment_seconds(), 3);
    let at = why.no_return.as_ref()?;
    let seals = subject.errors().describe(*why.minimal.choices.get(at.boundary)?);
    let (from, to) = (time(at.boundary), time(at.boundary + 1));
    Some(format!("until {from} s it passes if nothing more goes wrong; with `{seals}` until {to} s it is too late"))
}
