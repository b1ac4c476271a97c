//! What "all error sequences" means in this run, and how much of it was measured.

use serde_json::Value;

use super::html::Html;
use super::page::Budget;
use super::plots;
use super::source::Run;
use super::words::{count, metres, percent, plain, short, spaced};

/// Modes of one error that are listed.
const MODES_MAX: usize = 40;

pub(super) fn put(out: &mut Html, budget: &mut Budget, run: &Run) {
    out.markup("<h2 id=\"all\">What \u{201c}all\u{201d} means</h2>\n");
    let (result, settings) = (&run.result, &run.result["settings"]);
    if settings.is_null() {
        out.element("p", "Nothing was explored, so nothing is claimed.");
        coverage(out, budget, run);
        return;
    }
    errors(out, run);
    out.markup("<div class=\"scroll\"><table><tbody>\n");
    let seconds = |value: &Value| value.as_f64().map_or_else(|| "–".to_owned(), |s| format!("{} s", short(s, 6)));
    out.row("choices per segment", &format!("{}, \u{201c}no error\u{201d} included", count(&result["error_choices"])));
    out.row("segment", &format!("{}: errors change only between segments", seconds(&settings["segment_s"])));
    let shortened = settings["until_is_shortened"].as_bool().unwrap_or(false);
    let shortened = if shortened { ", shorter than the scenario: what is due later was not judged" } else { "" };
    out.row("horizon", &format!("{}{shortened}", seconds(&settings["until_s"])));
    if !result["sequences"].is_null() {
        let starts = match result["starts"].as_u64() {
            Some(1) => "one start".to_owned(),
            _ => format!("{} starts", plain(&result["starts"])),
        };
        out.row("error sequences", &format!("{} from {starts}", count(&result["sequences"])));
    }
    let merge = settings["merge"].as_array();
    out.row(
        "counted as alike",
        &merge.map_or_else(
            || "nothing: every end was continued".to_owned(),
            |_| "states that fall into one cell of the table below".to_owned(),
        ),
    );
    out.row("left out of the key", &left_out(&result["ignored"]));
    let every = settings["merge_every"].as_u64().unwrap_or(1);
    let every = if every > 1 { format!(", merged every {every} segments") } else { String::new() };
    let rules = format!(
        "scope {}, keep {}, order {}{every}",
        plain(&settings["scope"]),
        plain(&settings["keep"]),
        plain(&settings["order"])
    );
    out.row("rules", &rules);
    out.row("seed", &plain(&settings["seed"]));
    out.row("budget", &limits(&settings["budget"]));
    let finished =
        if run.is_complete() { "yes, nothing was waiting any more".to_owned() } else { format!("no: {}", run.stop()) };
    out.row("finished", &finished);
    out.row(
        "constant errors",
        &format!("{} violate when held from start to end", count(&result["constant_errors_violate"])),
    );
    out.markup("</tbody></table></div>\n");
    if let Some(cells) = merge {
        out.markup("<details open><summary>Merge tolerance per state variable</summary>\n");
        let row = |cell: &Value| {
            let text = cell.as_str().unwrap_or("–");
            let (name, size) = text.split_once(' ').unwrap_or((text, ""));
            vec![name.to_owned(), size.replace("^2", "\u{b2}")]
        };
        let rows: Vec<Vec<String>> = cells.iter().map(row).collect();
        out.table("States whose variables all fall into the same cell count as alike", &["variable", "cell"], &rows);
        out.markup("</details>\n");
    }
    coverage(out, budget, run);
}

/// Only limits that there are.
fn limits(budget: &Value) -> String {
    let given = budget.as_object().into_iter().flatten().filter(|(_, limit)| !limit.is_null());
    let words: Vec<String> = given.map(|(name, limit)| format!("{}: {}", spaced(name), plain(limit))).collect();
    if words.is_empty() { "none".to_owned() } else { words.join("; ") }
}

fn left_out(ignored: &Value) -> String {
    match ignored.as_array().map(Vec::as_slice) {
        Some([]) | None => "no state variable".to_owned(),
        Some(_) => format!("{}: states that differ only there count as one", plain(ignored)),
    }
}

fn errors(out: &mut Html, run: &Run) {
    let Some(sites) = run.result["error_sites"].as_array() else { return };
    let row = |site: &Value| {
        let none = Vec::new();
        let modes = site["modes"].as_array().unwrap_or(&none);
        let mut names: Vec<String> = modes.iter().take(MODES_MAX).map(plain).collect();
        if modes.len() > MODES_MAX {
            names.push(format!("and {} more", modes.len() - MODES_MAX));
        }
        vec![plain(&site["id"]), names.join(", ")]
    };
    let rows: Vec<Vec<String>> = sites.iter().map(row).collect();
    out.table("The error model: what can be wrong during a segment", &["error", "modes"], &rows);
}

fn coverage(out: &mut Html, budget: &mut Budget, run: &Run) {
    out.markup("<h2 id=\"coverage\">Coverage</h2>\n");
    let coverage = &run.result["coverage"];
    if run.result["settings"]["merge"] == "none" {
        out.element("p", "Nothing was merged, so nothing was missed by merging.");
        return;
    }
    if coverage["rollouts"].as_u64().unwrap_or(0) == 0 {
        out.element("p", "Not measured. Random runs without merging measure what merging missed: --rollouts 1000.");
        return;
    }
    let closer = match coverage["worst_missed_m"].as_f64() {
        Some(missed_m) if missed_m > 0.0 => {
            format!("At worst one came {} closer than the exploration", metres(&coverage["worst_missed_m"]))
        }
        _ => "None came closer than the exploration".to_owned(),
    };
    let sentence = format!(
        "{} random runs without merging: {} stayed inside what was explored ({} to {} with 95 % confidence). {closer}; {} verdicts disagree.",
        count(&coverage["rollouts"]),
        percent(&coverage["runs_inside"]),
        percent(&coverage["runs_inside_low"]),
        percent(&coverage["runs_inside_high"]),
        count(&coverage["verdict_disagreements"]),
    );
    out.element("p", &sentence);
    if let Some(svg) = plots::coverage(run) {
        budget.figure(out, "coverage", &svg, "Share of whole random runs that stayed inside explored cells.");
    }
}
