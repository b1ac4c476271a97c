//! The comparison of two runs for machines.

use serde_json::{Value, json};

use super::compare::{Compared, Comparison};
use super::diff_section::told;
use super::{DIFF_SCHEMA, Gate};
use crate::graph_diff::{ChangeBin, Elsewhere, ErrorSequence, FailingCell};
use crate::table::SegmentRow;

/// Cells of one kind that are listed; all are counted.
const CELLS_MAX: usize = 1_000;

pub(super) fn to_json(comparison: &Comparison) -> Value {
    let runs: Vec<Value> = comparison
        .runs
        .iter()
        .map(|run| {
            json!({
                "run": run.name,
                "scenario": run.scenario(),
                "verdict": run.verdict(),
                "complete": run.is_complete(),
                "findings": run.result["findings"],
                "worst_clearance_m": run.result["worst_clearance_m"],
                "segments": run.result["segments"],
                "digest": run.result["digest"],
            })
        })
        .collect();
    let gate = match comparison.gate() {
        Gate::Open => "open",
        Gate::NewFailures => "new failures",
        Gate::Incomplete => "incomplete",
        Gate::NotCovered => "not covered",
        Gate::Incomparable => "incomparable",
    };
    let mut object = json!({
        "schema": DIFF_SCHEMA,
        "runs": runs,
        "gate": gate,
        "settings": comparison.differing_settings(),
    });
    match &comparison.graphs {
        Some(Ok(compared)) => put_diff(&mut object, compared),
        Some(Err(why)) => object["incomparable"] = json!(why),
        None => object["incomparable"] = json!("cells are compared between two runs"),
    }
    object
}

fn put_diff(object: &mut Value, compared: &Compared) {
    let (diff, [a, b]) = (&compared.diff, &compared.errors);
    let kind = |cells: &[FailingCell], errors: &[String]| {
        let listed: Vec<Value> = cells.iter().take(CELLS_MAX).map(|cell| cell_json(compared, cell, errors)).collect();
        json!({ "count": cells.len(), "cells": listed })
    };
    object["new"] = kind(&diff.new, b);
    object["fixed"] = kind(&diff.fixed, a);
    object["same"] = kind(&diff.same, b);
    object["equal"] = json!(diff.first.is_none());
    object["first_difference"] = diff.first.as_ref().map_or(Value::Null, |first| {
        json!({
            "level": first.level,
            "from_s": f64::from(first.level) * compared.segment_s,
            "errors": sequence(&first.sequence, a, compared.segment_s),
            "a": first.a.as_ref().map(segment),
            "b": first.b.as_ref().map(segment),
            "differing": first.differing,
            "compared": first.compared,
        })
    });
    let bin = |bin: &ChangeBin| json!({ "from_m": bin.from_m, "to_m": bin.to_m, "cells": bin.cells });
    object["clearance"] = json!({
        "shared_cells": diff.shared_cells,
        "largest_loss_m": diff.largest_loss_m,
        "bins": diff.clearance.iter().map(bin).collect::<Vec<_>>(),
    });
}

fn cell_json(compared: &Compared, cell: &FailingCell, errors: &[String]) -> Value {
    json!({
        "key": format!("{:032x}", cell.key),
        "margin_m": cell.margin,
        "other_run": match cell.elsewhere {
            Elsewhere::Fails => "fails",
            Elsewhere::Passes => "passes",
            Elsewhere::Unreached => "unreached",
        },
        "witness": sequence(&cell.witness, errors, compared.segment_s),
    })
}

fn sequence(sequence: &ErrorSequence, errors: &[String], segment_s: f64) -> Value {
    json!({ "start": sequence.start, "choices": sequence.choices, "words": told(sequence, errors, segment_s) })
}

fn segment(row: &SegmentRow) -> Value {
    json!({ "fate": row.fate.word(), "key": row.key.map(|key| format!("{key:032x}")), "margin_m": row.margin })
}
