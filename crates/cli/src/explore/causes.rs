//! Findings of an exploration by cause: few minimal sequences instead of many findings.

use std::collections::BTreeMap;

use anabranch_explore::OnTime;
use anabranch_explore::cause::{Asked, Cause, Causes, Found, Unfinished, find_causes};
use anabranch_explore::explain::ExplainError;
use anabranch_kernel::{Fault, Seed};
use serde_json::{Value, json};

use super::accident::{Accident, AccidentsOf};
use super::candidates::{Candidate, confirm_alone};
use super::facts::Facts;
use super::groups::{CauseOf, Group, label, rank};
use super::subject::Subject;
use super::time_left::TimeLeft;
use crate::errors_table::ErrorsTable;
use crate::failure::Failure;
use crate::project;

/// Of so many explored segments one more is run to find causes.
const WORK_ONE_IN: u64 = 4;
/// Segments that may be run for causes of a large exploration: two seconds of built-in segments. It does not depend on who
/// drives: the same law has the same causes, built in or from outside.
const WORK_MAX: u64 = 250_000;
/// A small exploration may run as many segments again, between these ends: so many find the causes of a few findings.
const WORK_SMALL: (u64, u64) = (300, 2_000);

/// What is known about causes besides their groups.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Causes; mirror images are one.
    pub causes: usize,
    /// Findings without a cause.
    pub unassigned: u64,
    /// Why there are some, in words.
    pub why: Option<String>,
    /// Segments that were simulated.
    pub segments: u64,
}

/// How hard to look.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Segments of the exploration.
    pub explored: u64,
    /// How long.
    pub time: TimeLeft,
    /// Threads; 0 is all cores.
    pub threads: usize,
}

/// Groups of findings: first the causes, the most frequent first, then what has no cause, then mirror images.
pub fn groups<S: Subject>(
    subject: &S,
    seed: Seed,
    candidates: &[Candidate],
    effort: Effort,
) -> Result<(Vec<Group>, Summary), Failure> {
    let mut candidates: Vec<&Candidate> = candidates.iter().collect();
    candidates.sort_by_key(|candidate| rank(candidate));
    let findings: Vec<Found<'_>> =
        candidates.iter().map(|one| Found { start: one.start, choices: &one.choices, verdict: one.verdict }).collect();
    let goes_on = || effort.time.looks_for_causes();
    let on_time = OnTime::new(subject, effort.time.clock(), &goes_on);
    let asked = Asked {
        system: &on_time,
        seed,
        starts: &subject.space().all(),
        findings: &findings,
        accidents: &AccidentsOf(subject),
        segments_max: subject.segments() as usize,
        work_max: work_max(effort.explored),
        threads: effort.threads,
        goes_on: &goes_on,
    };
    let found = find_causes(&asked).map_err(|error| match error {
        ExplainError::Fault(fault) => fault.into(),
        other => Failure::input(other.to_string(), ""),
    })?;
    let summary = Summary {
        causes: found.count(),
        unassigned: found.unassigned.len() as u64,
        why: found.unfinished.as_ref().map(|why| words(why, effort.time)),
        segments: found.segments_run,
    };
    Ok((in_order(subject, seed, (&candidates, effort.time), &found), summary))
}

/// Segments that may be run after so many of the exploration.
fn work_max(explored: u64) -> u64 {
    (explored / WORK_ONE_IN).max(explored.clamp(WORK_SMALL.0, WORK_SMALL.1)).min(WORK_MAX)
}

fn words(unfinished: &Unfinished, time: TimeLeft) -> String {
    match unfinished {
        Unfinished::Work => "the work for causes was used up".to_owned(),
        Unfinished::Stopped => "there was no time left for causes".to_owned(),
        Unfinished::Fault(Fault::External(_)) if !time.looks_for_causes() => {
            "there was no time left for causes".to_owned()
        }
        Unfinished::Fault(fault) => fault.to_string(),
    }
}

fn in_order<S: Subject>(
    subject: &S,
    seed: Seed,
    (candidates, time): (&[&Candidate], TimeLeft),
    found: &Causes<Accident>,
) -> Vec<Group> {
    let all = |number: usize| -> usize {
        let is_of = |(at, cause): &(usize, &Cause<Accident>)| *at == number || cause.mirror_of == Some(number);
        found.causes.iter().enumerate().filter(is_of).map(|(_, cause)| cause.members.len()).sum()
    };
    let source = |number: usize| candidates[found.causes[number].members[0]].source;
    let mut order: Vec<usize> = (0..found.causes.len()).filter(|n| found.causes[*n].mirror_of.is_none()).collect();
    order.sort_by_key(|&number| (source(number), std::cmp::Reverse(all(number))));
    let place: BTreeMap<usize, usize> = order.iter().enumerate().map(|(at, number)| (*number, at + 1)).collect();
    let group = |number: usize| {
        let cause = &found.causes[number];
        let main = cause.mirror_of.unwrap_or(number);
        of_cause(subject, seed, (candidates, time), found, (cause, place[&main]))
    };
    let mut groups: Vec<Group> = order.iter().map(|number| group(*number)).collect();
    groups.extend(without_cause(subject, candidates, &found.unassigned));
    let mut mirrored: Vec<usize> = (0..found.causes.len()).filter(|n| found.causes[*n].mirror_of.is_some()).collect();
    mirrored.sort_by_key(|number| found.causes[*number].mirror_of.and_then(|of| place.get(&of).copied()));
    groups.extend(mirrored.into_iter().map(group));
    groups
}

/// The group of a cause: its minimal sequence is its first finding. Where code from outside does not show it once more,
/// the finding that it comes from takes its place.
fn of_cause<S: Subject>(
    subject: &S,
    seed: Seed,
    (candidates, time): (&[&Candidate], TimeLeft),
    found: &Causes<Accident>,
    (cause, number): (&Cause<Accident>, usize),
) -> Group {
    let from = candidates[cause.from].clone();
    let minimal = Candidate {
        // The findings are in the order of their sources: the best way in which the cause was found.
        source: candidates[cause.members[0]].source,
        start: cause.start,
        choices: cause.minimal.choices.clone(),
        verdict: cause.verdict,
    };
    let is_minimal = time.looks_for_causes() && confirm_alone(subject, seed, &minimal).is_ok();
    Group {
        label: label(subject, &minimal),
        first: if is_minimal { minimal } else { from.clone() },
        count: cause.members.len(),
        cause: Some(CauseOf {
            number,
            kinds: cause.kinds.iter().map(|kind| found.kinds.name(*kind).to_owned()).collect(),
            is_mirrored: cause.mirror_of.is_some(),
            is_minimal,
            found: from,
            line: cause.accident.line.clone(),
            why: None,
        }),
        file: None,
    }
}

/// Findings without a cause, by accident.
fn without_cause<S: Subject>(subject: &S, candidates: &[&Candidate], unassigned: &[usize]) -> Vec<Group> {
    let mut groups: BTreeMap<Accident, Group> = BTreeMap::new();
    for &at in unassigned {
        let one = candidates[at];
        let key = super::accident::accident(subject, one.start, &one.choices, &one.verdict);
        groups.entry(key).or_insert_with(|| Group::alone(subject, one.clone(), 0)).count += 1;
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| (rank(&group.first), std::cmp::Reverse(group.count)));
    groups
}

/// Says for machines what the causes are.
pub fn add_to<S: Subject>(facts: &Facts<'_, S>, object: &mut Value) {
    object["causes"] = to_json(facts);
    object["findings_without_cause"] = json!(facts.causes.unassigned);
    object["causes_unfinished"] = json!(facts.causes.why);
    object["segments_for_causes"] = json!(facts.causes.segments);
}

/// Mirror images are one cause.
fn to_json<S: Subject>(facts: &Facts<'_, S>) -> Value {
    let (groups, drive) = (facts.groups, facts.drive);
    let mut causes = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let Some(cause) = group.cause.as_ref().filter(|cause| !cause.is_mirrored) else { continue };
        let is_same = |other: &Group| other.cause.as_ref().is_some_and(|c| c.number == cause.number);
        let numbers: Vec<usize> = (1..=groups.len()).filter(|n| is_same(&groups[n - 1])).collect();
        let place = group.first.verdict.place.as_ref().map(|place| drive.place_json(facts.loaded, place));
        let part = |name: &str| place.as_ref().map_or(Value::Null, |place| place[name].clone());
        causes.push(json!({
            "cause": cause.number,
            "label": cause.sentence(),
            "requirement": drive.requirements()[usize::from(group.first.verdict.requirement)],
            "partner": part("other"),
            "side": part("sector"),
            "line": cause.line,
            "kinds": cause.kinds,
            "errors": ErrorsTable::of_choices(drive.errors(), &group.first.choices, drive.segment_seconds()).to_json(),
            "each_error_is_needed": cause.is_minimal,
            "sequences": numbers.iter().map(|n| groups[n - 1].count).sum::<usize>(),
            "mirrored": numbers.len() > 1,
            "why": cause.why,
            "finding_number": at + 1,
            "finding": group.file.as_ref().map(|path| project::relative(path)),
            "groups": numbers,
        }));
    }
    Value::Array(causes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_take_a_share_of_the_exploration() {
        let check = |explored, expect| assert_eq!(work_max(explored), expect, "{explored}");
        check(0, 300);
        check(1_000, 1_000);
        check(5_000, 2_000);
        check(20_000, 5_000);
        check(5_000_000, 250_000);
    }
}
