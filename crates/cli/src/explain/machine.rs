//! An explanation for machines.

use anabranch_explore::explain::{HoldSearch, Measure, Method, Share, Tried};
use anabranch_kernel::{Choice, SegmentEnd, System};
use anabranch_record::StartValue;
use serde_json::{Map, Value, json};

use super::against::{Against, Compared};
use super::{Case, Story};
use crate::errors_table::ErrorsTable;
use crate::explore::contact;
use crate::project;
use crate::triage::Triage;

/// The whole object.
pub fn to_json(story: &Story<'_>) -> Value {
    let (case, why) = (story.case, &story.why);
    let drive = case.drive;
    let start = StartValue::of(drive.space(), &case.params);
    let start: Map<String, Value> =
        start.iter().map(|v| (v.name.clone(), json!({ "value": v.value, "unit": v.unit }))).collect();
    json!({
        "schema": "anabranch.explain/1",
        "scenario": drive.name(),
        "scenario_hash": case.loaded().hash.to_string(),
        "set": case.loaded().overrides,
        "finding": project::relative(&case.found.path),
        "requirement": case.requirement_id(),
        "seed": case.seed.0,
        "start": start,
        "segment_s": drive.segment_seconds(),
        "found": found(story),
        "minimal": minimal(story),
        "without_errors": run(case, &why.without_errors),
        "point_of_no_return": no_return(story),
        "blame": blame(story),
        "nearest_passing": nearest(story),
        "thresholds": thresholds(story),
        "triage": story.triage.as_ref().map(Triage::to_json),
        "against": story.against.as_ref().map(against),
        "segments_simulated": why.segments_run,
        "segments_without_saved_states": why.segments_asked,
        "files": story.files.as_ref().map(|files| Map::from_iter(files.names().map(|(k, v)| (k.to_owned(), json!(v))))),
        "repeat": story.commands(),
    })
}

fn run(case: &Case<'_>, tried: &Tried) -> Value {
    let verdict = match &tried.end {
        SegmentEnd::Violated(verdicts) => verdicts.first(),
        _ => None,
    };
    let id = |requirement: u16| case.drive.requirements()[usize::from(requirement)].clone();
    json!({
        "verdict": match &tried.end {
            SegmentEnd::Violated(_) => "violated",
            SegmentEnd::Goal => "completed",
            SegmentEnd::Open | SegmentEnd::TimedOut => "not completed",
        },
        "requirement": verdict.map(|v| id(v.requirement)),
        "tick": verdict.map(|v| v.tick),
        "time_s": verdict.map(|v| v.tick as f64 * case.drive.step_s()),
        "segments": tried.choices.len(),
        "clearance_m": tried.margin,
        "errors": table(case, &tried.choices).to_json(),
    })
}

fn table(case: &Case<'_>, choices: &[Choice]) -> ErrorsTable {
    ErrorsTable::of_choices(case.drive.errors(), choices, case.drive.segment_seconds())
}

fn found(story: &Story<'_>) -> Value {
    let mut value = run(story.case, &story.why.found);
    value["matters"] = json!(story.why.matters);
    value
}

fn minimal(story: &Story<'_>) -> Value {
    let (case, why) = (story.case, &story.why);
    let mut value = run(case, &why.minimal);
    value["changes"] = json!(why.cost.changes);
    value["single_errors"] = json!(why.cost.errors);
    value["same"] = json!(case.accident.word());
    value["erroneous_segments"] = json!(why.cost.erroneous);
    value["magnitude"] = json!(why.cost.magnitude_millionths as f64 * 1e-6);
    value["certified_from_start"] = json!(true);
    value["each_error_is_needed"] = json!(why.superfluous.is_empty());
    value["held_errors_tried"] = json!(match why.holds {
        HoldSearch::Nothing => "none",
        HoldSearch::One => "one",
        HoldSearch::TwoOfUsed => "two of those used",
        HoldSearch::Two => "two",
    });
    let place = why.verdict.place.as_ref();
    value["contact"] = json!(place.map(|place| contact::to_json(case.loaded(), case.drive, place)));
    value
}

fn no_return(story: &Story<'_>) -> Value {
    let case = story.case;
    let Some(at) = &story.why.no_return else { return Value::Null };
    json!({
        "segment": at.boundary,
        "time_s": case.begin_s(at.boundary),
        "clearance_m": at.margin,
        "kept_without_further_error": at.avoided,
        "rescue": at.rescue.map(|rescue| json!({
            "segment": rescue.boundary,
            "time_s": case.begin_s(rescue.boundary),
            "error": case.error(rescue.choice),
        })),
        "rescues_tried": at.rescues_tried,
    })
}

fn blame(story: &Story<'_>) -> Value {
    let (case, blame) = (story.case, &story.why.blame);
    let clearance_m = story.why.minimal.margin;
    let share = |share: &Share| json!({ "value": share.value, "standard_error": share.standard_error });
    let by = |method: &Method| match method {
        Method::Exact { coalitions } => json!({ "method": "exact", "coalitions": coalitions }),
        Method::Sampled { permutations } => json!({ "method": "sampled", "permutations": permutations }),
    };
    let segments = blame.segments.iter().map(|one| {
        json!({
            "segment": one.segment,
            "from_s": case.begin_s(one.segment),
            "to_s": case.begin_s(one.segment + 1),
            "error": case.error(one.choice),
            "clearance_without_m": one.margin_without,
            "delta_clearance_m": one.margin_without - clearance_m,
            "share": share(&one.share),
        })
    });
    let sites = blame.sites.iter().map(|one| {
        json!({
            "error": case.drive.errors().sites()[one.site].id,
            "clearance_without_m": one.margin_without,
            "delta_clearance_m": one.margin_without - clearance_m,
            "violates_without": one.violates_without,
            "share": share(&one.share),
        })
    });
    json!({
        "measure": match blame.measure { Measure::Margin => "lost clearance in m", Measure::Verdict => "violation" },
        "whole": blame.whole,
        "segments": segments.collect::<Vec<_>>(),
        "segments_by": by(&blame.segments_by),
        "sites": sites.collect::<Vec<_>>(),
        "sites_by": by(&blame.sites_by),
    })
}

fn nearest(story: &Story<'_>) -> Value {
    let Some(nearest) = &story.why.nearest else { return Value::Null };
    let case = story.case;
    let mut value = run(case, &nearest.passing);
    let changed = nearest.changed.iter().map(|&at| {
        let was = story.why.minimal.choices.get(at).copied().unwrap_or(Choice::NONE);
        json!({
            "segment": at,
            "from_s": case.begin_s(at),
            "to_s": case.begin_s(at + 1),
            "was": case.error(was),
            "now": case.error(nearest.passing.choices[at]),
        })
    });
    value["changed"] = changed.collect();
    value
}

fn thresholds(story: &Story<'_>) -> Value {
    let one = |t: &super::threshold::Threshold| {
        json!({
            "error": t.id,
            "key": t.key,
            "unit": t.unit,
            "size": t.size,
            "violates_at": t.violates_at,
            "passes_at": t.passes_at,
        })
    };
    story.thresholds.iter().map(one).collect()
}

fn against(against: &Against) -> Value {
    let one = |run: &Compared| {
        json!({
            "errors": run.what,
            "survives": run.violated.is_none(),
            "requirement": run.violated.as_ref().map(|(id, _)| id),
            "time_s": run.violated.as_ref().map(|(_, time_s)| time_s),
            "completed": run.is_completed,
            "own_clearance_m": run.own_clearance_m,
            "other_clearance_m": run.other_clearance_m,
            "first_difference": run.difference.as_ref().map(|d| json!({
                "tick": d.tick,
                "time_s": d.time_s,
                "signal": d.signal,
                "signals": d.signals,
                "unit": d.unit,
                "own": d.own,
                "other": d.other,
            })),
        })
    };
    json!({ "file": against.file, "runs": against.runs.iter().map(one).collect::<Vec<_>>() })
}
