//! Findings by group: what happened, which errors it took, and what it looks like.

use anabranch_study::Conclusion;
use serde_json::Value;

use super::html::Html;
use super::page::Budget;
use super::source::{FindingFiles, Run};
use super::words::{count, short};
use crate::command::quoted;

/// Groups that are told in full; the others are rows of a table.
const GROUPS_MAX: usize = 12;
/// Rows of the table of the other groups.
const ROWS_MAX: usize = 200;

/// Pictures of the last moment, in this order.
const VIEWS: [(&str, &str); 3] = [
    ("top", "Its last moment from above."),
    ("chase", "The same from behind the car under test."),
    ("kerb", "The same from the kerb."),
];

pub(super) fn put(out: &mut Html, budget: &mut Budget, run: &Run) {
    out.markup("<h2 id=\"findings\">Findings</h2>\n");
    let none = Vec::new();
    let groups = run.result["groups"].as_array().unwrap_or(&none);
    if groups.is_empty() {
        out.element("p", nothing(run));
    } else {
        out.element("p", "Findings of one cause have the same accident, and the same kinds of error are enough for it: with only those of their errors it still happens. Each was run again from the start, without merging, before it was written down.");
    }
    if let Some(svg) = run.pictures.get("bundle") {
        let caption = "The exploration on the map: saved states, segments and failing paths.";
        budget.figure(out, "bundle", svg, caption);
    }
    for group in groups.iter().take(GROUPS_MAX) {
        one(out, budget, run, group, "run");
    }
    rest(out, budget, groups);
    let unassigned = run.result["findings_without_cause"].as_u64().unwrap_or(0);
    if unassigned > 0 {
        let why = run.result["causes_unfinished"].as_str().map_or_else(String::new, |why| format!(": {why}"));
        out.element("p", &format!("{unassigned} findings not assigned to a cause{why}."));
    }
    let should = run.result["should_violated"].as_u64().unwrap_or(0);
    if should > 0 {
        let segments = count(&run.result["should_violated"]);
        out.element(
            "p",
            &format!("A should was violated in {segments} segments; this is reported and changes no verdict."),
        );
    }
}

fn nothing(run: &Run) -> &'static str {
    match run.conclusion {
        Conclusion::NoPath(_) => "There is no path to drive, so no error was tried.",
        Conclusion::Incomplete(_) => "None so far. The exploration is incomplete, so this is no pass.",
        Conclusion::NotCovered(_) => "None. What was explored does not cover enough of all runs, so this is no pass.",
        Conclusion::NothingToJudge(_) => "None. There is nothing to judge, so this is no pass.",
        Conclusion::Violated(_)
        | Conclusion::Safe(_)
        | Conclusion::NotFound { .. }
        | Conclusion::NotReproducible(_) => "None.",
    }
}

/// A group with its first finding; `place` keeps its anchor apart from those of other runs in the page.
pub(super) fn one(out: &mut Html, budget: &mut Budget, run: &Run, group: &Value, place: &str) {
    let number = group["number"].as_u64().unwrap_or(0);
    let files = u32::try_from(number).ok().and_then(|number| run.findings.get(&number));
    out.markup("<article")
        .attribute("id", &format!("{place}-finding-{number}"))
        .markup(">\n<h3>")
        .text(&format!("#{number} {}", text(&group["group"])))
        .markup("</h3>\n");
    if let Some(sentences) = group["story"].as_array() {
        out.element("p", &format!("After {} s.", short(group["time_s"].as_f64().unwrap_or(f64::NAN), 2)));
        for sentence in sentences {
            out.element("p", &whole_sentence(&text(sentence)));
        }
    } else {
        out.element("p", &story(group));
    }
    for sentence in group["triage"]["sentences"].as_array().into_iter().flatten() {
        out.element("p", &whole_sentence(&text(sentence)));
    }
    cause(out, run, group);
    if let Some(files) = files {
        pictures(out, budget, files, number);
    }
    let rows = group["errors"].as_array().into_iter().flatten();
    let time = |value: &Value| format!("{} s", short(value.as_f64().unwrap_or(0.0), 3));
    let rows: Vec<Vec<String>> =
        rows.map(|row| vec![time(&row["from_s"]), time(&row["to_s"]), text(&row["error"])]).collect();
    if !group["errors"].is_null() {
        let is_minimal = group["minimal"].as_bool() == Some(true);
        let caption =
            if is_minimal { "The minimal sequence of this cause" } else { "Errors of the first finding of this group" };
        out.table(caption, &["from", "to", "error"], &rows);
    }
    if let Some(command) = group["command"].as_str() {
        // An instance of a benchmark has no file to replay.
        out.commands(&[command.to_owned()]);
    } else if files.is_some() {
        let mut lines = vec![format!("anabranch replay {}", quoted(&format!("{}#{number}", run.name)))];
        // What a search found has values of its own, which `replay` knows.
        if let Some(file) = group["finding"].as_str().filter(|_| group["set"].is_null()) {
            let sets: String =
                run.sets.iter().map(|(key, value)| format!(" --set {}", quoted(&format!("{key}={value}")))).collect();
            let scenario = quoted(&run.scenario_file);
            lines.push(format!("anabranch run {scenario}{sets} --errors {} --trace trace.mcap", quoted(file)));
        }
        out.commands(&lines);
    }
    if let Some(traces) = files.map(|files| files.traces.join(" and ")).filter(|traces| !traces.is_empty()) {
        out.markup("<p class=\"soft\">").text(&format!("Its folder holds {traces}.")).markup("</p>\n");
    }
    out.markup("</article>\n");
}

/// The cause that the findings of a group share, and what each error of its minimal sequence does.
fn cause(out: &mut Html, run: &Run, group: &Value) {
    let Some(kinds) = group["kinds"].as_array() else { return };
    let kinds: Vec<String> = kinds.iter().map(text).collect();
    let image = if group["mirrored"] == true { " It is the mirror image of another." } else { "" };
    let number = count(&group["cause"]);
    let sentence = match kinds.as_slice() {
        [] => format!("Cause {number}: it happens without any error.{image}"),
        kinds => format!("Cause {number}: {}.{image}", kinds.join(", ")),
    };
    out.element("p", &sentence);
    let causes = run.result["causes"].as_array().into_iter().flatten();
    let why = causes.filter(|cause| cause["finding_number"] == group["number"]).map(|cause| &cause["why"]["sentences"]);
    let sentences: Vec<&Value> = why.filter_map(Value::as_array).flatten().collect();
    if !sentences.is_empty() {
        out.markup("<ul>\n");
        for sentence in sentences {
            out.element("li", &whole_sentence(&text(sentence)));
        }
        out.markup("</ul>\n");
    }
}

/// Where it was on the map, what its last moment looked like from three places, side by side, and how it went over time.
fn pictures(out: &mut Html, budget: &mut Budget, files: &FindingFiles, number: u64) {
    let mut put = |out: &mut Html, name: &str, svg: &str, caption: &str| {
        budget.figure(out, &format!("{}/{name}", files.name), svg, &format!("Finding #{number}. {caption}"));
    };
    let views = VIEWS.iter().filter_map(|(name, caption)| Some((*name, files.pictures.get(*name)?, *caption)));
    let is_view = |name: &str| VIEWS.iter().any(|(view, _)| *view == name);
    if let Some(svg) = files.pictures.get("map") {
        put(out, "map", svg, "The failing path on the map.");
    }
    if files.pictures.keys().any(|name| is_view(name)) {
        out.markup("<div class=\"views\">\n");
        views.for_each(|(name, svg, caption)| put(out, name, svg, caption));
        out.markup("</div>\n");
    }
    for (name, svg) in files.pictures.iter().filter(|(name, _)| *name != "map" && !is_view(name)) {
        let caption = match name.as_str() {
            "timeline" => "Errors over time, the clearance of the car, and on roads what else it did.",
            _ => "A picture of its folder.",
        };
        put(out, name, svg, caption);
    }
}

/// With a capital letter and a full stop.
fn whole_sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map_or_else(String::new, |first| first.to_uppercase().collect());
    format!("{first}{}.", chars.as_str())
}

fn story(group: &Value) -> String {
    let contact = &group["contact"];
    let place = match (contact["sector"].as_str(), contact["other"].as_str()) {
        (Some(sector), Some(other)) => {
            let at = |axis: usize| short(contact["in_world_m"][axis].as_f64().unwrap_or(f64::NAN), 2);
            format!(": {sector} of the car at {other}, ({}, {}) m", at(0), at(1))
        }
        _ => String::new(),
    };
    let alike = match group["count"].as_u64() {
        Some(1) | None => String::new(),
        Some(_) => format!(" {} error sequences end alike.", count(&group["count"])),
    };
    let source = match group["source"].as_str() {
        Some("constant") => " It was found by holding one error from start to end.",
        Some("rollout") => " It was found by a random run, not by the exploration.",
        _ => "",
    };
    let time = short(group["time_s"].as_f64().unwrap_or(f64::NAN), 3);
    format!("{} is violated after {time} s{place}.{alike}{source}", text(&group["requirement"]))
}

fn rest(out: &mut Html, budget: &mut Budget, groups: &[Value]) {
    let Some(rest) = groups.get(GROUPS_MAX..).filter(|rest| !rest.is_empty()) else { return };
    let row = |group: &Value| {
        let time = short(group["time_s"].as_f64().unwrap_or(f64::NAN), 3);
        let errors = group["errors"].as_array().into_iter().flatten();
        let errors: Vec<String> = errors.map(|row| text(&row["error"])).collect();
        let number = group["number"].as_u64().unwrap_or(0);
        vec![
            format!("#{number}"),
            text(&group["group"]),
            format!("{time} s"),
            count(&group["count"]),
            errors.join(" → "),
        ]
    };
    let rows: Vec<Vec<String>> = rest.iter().take(ROWS_MAX).map(row).collect();
    out.markup("<details><summary>").text(&format!("{} more groups", rest.len())).markup("</summary>\n");
    out.table("Further groups, each by its first finding", &["number", "group", "time", "alike", "errors"], &rows);
    out.markup("</details>\n");
    budget
        .left_out
        .push(format!("pictures and error tables of {} further groups; they are in the run folder", rest.len()));
    if rest.len() > ROWS_MAX {
        budget.left_out.push(format!("{} groups; they are in result.json", rest.len() - ROWS_MAX));
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("–").to_owned()
}
