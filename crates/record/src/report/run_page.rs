//! The page of one run.

use anabranch_study::{Conclusion, Coverage};
use serde_json::Value;

use super::html::Html;
use super::page::{Budget, frame, left_out};
use super::source::Run;
use super::words::{bytes, count, duration, metres, percent, plain, short, spaced};
use super::{driver, findings, hints, meaning, plots};
use crate::command::quoted;

/// Longest scenario text in a page.
const SCENARIO_BYTES_MAX: usize = 400_000;
/// Rows of a section that this version does not know.
const ROWS_MAX: usize = 200;
/// What the page tells elsewhere; everything else in the object of a run becomes a section of its own.
const TOLD: [&str; 49] = [
    "schema",
    "scenario",
    "digest",
    "complete",
    "levels",
    "segments",
    "states",
    "merged",
    "error_choices",
    "findings",
    "finding_groups",
    "first_finding_segment",
    "worst_clearance_m",
    "seconds_simulated",
    "seconds_without_saved_states",
    "seconds_without_merging",
    "constant_errors_violate",
    "save_load_share",
    "cpu_s",
    "wall_s",
    "peak_rss_bytes",
    "coverage",
    "verdict",
    "conclusion",
    "hints",
    "ignored",
    "run",
    "stop",
    "explored_cpu_s",
    "explored_wall_s",
    "goals",
    "timed_out",
    "should_violated",
    "settings",
    "groups",
    "causes",
    "findings_without_cause",
    "causes_unfinished",
    "segments_for_causes",
    "level_rows",
    "profile",
    "graph",
    "error_sites",
    "starts",
    "sequences",
    "error_limits",
    "faults",
    "av",
    "driver",
];

pub(super) fn page(run: &Run) -> String {
    let mut budget = Budget::new();
    let mut body = Html::new();
    head(&mut body, run);
    hints::put(&mut body, run);
    repeat(&mut body, run);
    findings::put(&mut body, &mut budget, run);
    meaning::put(&mut body, &mut budget, run);
    work(&mut body, &mut budget, run);
    others(&mut body, run);
    health(&mut body, run);
    scenario(&mut body, &mut budget, run);
    versions(&mut body, run);
    left_out(&mut body, &budget);
    frame(&format!("{}: {}", run.scenario(), run.verdict()), &body)
}

/// The verdict as one sentence, in the words of the terminal and of the machine output.
pub(super) fn sentence(run: &Run) -> String {
    let result = &run.result;
    let stop = run.stop();
    let why = if stop.is_empty() { String::new() } else { format!(" ({stop})") };
    let until_s = result["settings"]["until_s"].as_f64().map_or_else(|| "?".to_owned(), |s| short(s, 3));
    let shortened = result["settings"]["until_is_shortened"].as_bool().unwrap_or(false);
    let shortened = if shortened { ", shorter than the scenario" } else { "" };
    let sequences = format!("in any error sequence of {until_s} s{shortened}");
    let reason = run.conclusion.reason();
    match &run.conclusion {
        Conclusion::Violated(_) => {
            let (sequences, groups) = (count(&result["findings"]), count(&result["finding_groups"]));
            let sequences =
                if sequences == "1" { "1 error sequence".to_owned() } else { format!("{sequences} error sequences") };
            let causes = result["causes"].as_array().map_or(0, Vec::len);
            let groups = match (causes, groups.as_str()) {
                (0, "1") => "in 1 group".to_owned(),
                (0, groups) => format!("in {groups} groups"),
                (1, _) => "of 1 cause".to_owned(),
                (causes, _) => format!("of {causes} causes"),
            };
            format!(", by {sequences} {groups}{why}.")
        }
        Conclusion::Incomplete(_) if result.is_null() => format!("{why}; nothing found so far, which is no pass."),
        Conclusion::Incomplete(_) => format!(" ({reason}); nothing found so far, which is no pass."),
        Conclusion::NoPath(_) => format!(": {reason}."),
        Conclusion::NothingToJudge(_) => format!(": {reason}; which is no pass."),
        Conclusion::NotReproducible(_) => "; the same question was answered in two ways, which is no pass.".to_owned(),
        Conclusion::NotCovered(_) => format!(": {reason}; nothing found {sequences}, which is no pass."),
        Conclusion::Safe(_) => format!(" inside the error model: {reason}, {sequences}."),
        Conclusion::NotFound { resolution, coverage } => {
            let up_to = if *coverage == Coverage::NotNeeded { "" } else { ", up to merging" };
            let depth = resolution.as_ref().map_or_else(String::new, |resolution| format!("; {}", resolution.words()));
            format!(" {sequences}{up_to}{depth}.")
        }
    }
}

fn head(out: &mut Html, run: &Run) {
    let started = run.info.as_ref().map_or("", |info| info.started.as_str());
    out.element("h1", run.scenario());
    out.markup("<p class=\"soft\">").text(&format!("Run {}, started {started}", run.name)).markup("</p>\n");
    let tone = run.conclusion.tone();
    out.markup("<div")
        .attribute("class", &format!("verdict {}", tone.class()))
        .markup(" role=\"status\"><span class=\"mark\" aria-hidden=\"true\">");
    out.text(tone.mark())
        .markup("</span><p>")
        .element("strong", run.verdict())
        .text(&sentence(run))
        .markup("</p></div>\n");
    out.markup(
        "<nav aria-label=\"Sections\"><ul><li><a href=\"#repeat\">Repeat it</a></li><li><a href=\"#findings\">Findings</a></li>\
         <li><a href=\"#all\">What \u{201c}all\u{201d} means</a></li><li><a href=\"#coverage\">Coverage</a></li>\
         <li><a href=\"#work\">Work and savings</a></li><li><a href=\"#health\">Health of the software under test</a></li>\
         <li><a href=\"#scenario\">Scenario</a></li><li><a href=\"#versions\">Versions</a></li></ul></nav>\n",
    );
    if run.result.is_null() {
        return;
    }
    let result = &run.result;
    let tiles = [
        ("findings", count(&result["findings"])),
        ("worst clearance", metres(&result["worst_clearance_m"])),
        ("segments run", count(&result["segments"])),
        ("states kept", count(&result["states"])),
        ("ends merged", count(&result["merged"])),
        ("random runs inside", percent(&result["coverage"]["runs_inside"])),
        ("time", duration(&result["wall_s"])),
        ("finished", if run.is_complete() { "yes".to_owned() } else { "no".to_owned() }),
    ];
    out.markup("<dl class=\"tiles\">\n");
    for (name, value) in tiles {
        out.markup("<div>").element("dt", name).element("dd", &value).markup("</div>\n");
    }
    out.markup("</dl>\n");
}

pub(super) fn repeat(out: &mut Html, run: &Run) {
    out.markup("<h2 id=\"repeat\">Repeat it</h2>\n");
    let mut lines: Vec<String> = Vec::new();
    if let Some(info) = &run.info {
        // However the program was reached then, here it has its name.
        let arguments = info.command.iter().skip(1).map(|argument| quoted(argument));
        lines.push(std::iter::once("anabranch".to_owned()).chain(arguments).collect::<Vec<_>>().join(" "));
    }
    if !run.findings.is_empty() {
        lines.push(format!("anabranch replay {}", quoted(&format!("{}#1", run.name))));
    }
    lines.push(format!("anabranch report {}", quoted(&run.name)));
    out.commands(&lines);
    if let Some(info) = &run.info {
        let seed = format!(
            "Seed {}; the same seed, scenario and version give the same result on any machine and with any number of threads.",
            info.seed
        );
        out.markup("<p class=\"soft\">").text(&seed).markup("</p>\n");
    }
}

fn work(out: &mut Html, budget: &mut Budget, run: &Run) {
    out.markup("<h2 id=\"work\">Work and savings</h2>\n");
    let result = &run.result;
    if result["segments"].as_u64().unwrap_or(0) == 0 {
        out.element("p", "Nothing was simulated.");
        return;
    }
    out.markup("<div class=\"scroll\"><table><tbody>\n");
    out.row("simulated with saved states", &format!("{} s", count(&result["seconds_simulated"])));
    out.row("without saved states", &format!("{} s", count(&result["seconds_without_saved_states"])));
    out.row("without merging", &format!("{} s", count(&result["seconds_without_merging"])));
    out.row(
        "kept and merged",
        &format!("{} states kept, {} ends merged", count(&result["states"]), count(&result["merged"])),
    );
    out.row(
        "ends of segments",
        &format!("{} completed, {} out of time", count(&result["goals"]), count(&result["timed_out"])),
    );
    out.row("CPU time", &duration(&result["cpu_s"]));
    out.row("largest memory", &bytes(&result["peak_rss_bytes"]));
    out.row("saving, restoring, merging", &format!("{} of the CPU time", percent(&result["save_load_share"])));
    out.markup("</tbody></table></div>\n");
    let figures = [
        (
            "savings",
            plots::savings(run),
            "Seconds simulated against the length of a sequence, with and without saved states.",
        ),
        ("levels", plots::levels(run), "States kept and merged, and the worst clearance, level by level."),
        ("profile", plots::profile(run), "Where the CPU time of the exploration went."),
    ];
    for (name, svg, caption) in figures {
        if let Some(svg) = svg {
            budget.figure(out, name, &svg, caption);
        }
    }
}

/// Sections that other versions and other verbs add to the object of a run.
fn others(out: &mut Html, run: &Run) {
    let Some(result) = run.result.as_object() else { return };
    for (key, value) in result.iter().filter(|(key, value)| !TOLD.contains(&key.as_str()) && !value.is_null()) {
        let title = spaced(key);
        let mut letters = title.chars();
        let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        out.element("h2", &title).markup("\n");
        put_value(out, value);
    }
}

fn put_value(out: &mut Html, value: &Value) {
    match value {
        Value::Object(map) => {
            out.markup("<div class=\"scroll\"><table><tbody>\n");
            map.iter().take(ROWS_MAX).for_each(|(key, value)| {
                out.row(&spaced(key), &plain(value));
            });
            out.markup("</tbody></table></div>\n");
        }
        Value::Array(values) => {
            out.markup("<ul>\n");
            values.iter().take(ROWS_MAX).for_each(|value| {
                out.element("li", &plain(value));
            });
            out.markup("</ul>\n");
        }
        value => {
            out.element("p", &plain(value));
        }
    }
}

fn health(out: &mut Html, run: &Run) {
    out.markup("<h2 id=\"health\">Health of the software under test</h2>\n");
    driver::put(out, &run.result["driver"]);
    for key in ["av", "faults"] {
        if !run.result[key].is_null() {
            put_value(out, &run.result[key]);
        }
    }
    if run.faults.is_empty() {
        out.element("p", "No external software failed in this run.");
        return;
    }
    for fault in &run.faults {
        out.markup("<details><summary>").text(&fault.name).markup("</summary>\n");
        for (name, text) in &fault.files {
            out.element("h3", name).markup("<pre>").text(text).markup("</pre>\n");
        }
        out.markup("</details>\n");
    }
}

pub(super) fn scenario(out: &mut Html, budget: &mut Budget, run: &Run) {
    out.markup("<h2 id=\"scenario\">Scenario</h2>\n");
    for (key, value) in &run.sets {
        out.markup("<p>Changed on the command line: <code>").text(&format!("{key} = {value}")).markup("</code></p>\n");
    }
    if run.scenario_text.is_empty() {
        out.element("p", "The run folder has no copy of the scenario.");
        return;
    }
    let text = budget.text("the scenario", &run.scenario_text, SCENARIO_BYTES_MAX);
    out.markup("<details open><summary>").text(&run.scenario_file).markup("</summary>\n<pre>").text(text);
    out.markup("</pre></details>\n");
}

pub(super) fn versions(out: &mut Html, run: &Run) {
    out.markup("<h2 id=\"versions\">Versions</h2>\n<div class=\"scroll\"><table><tbody>\n");
    if let Some(info) = &run.info {
        info.versions.iter().for_each(|(name, version)| {
            out.row(name, version);
        });
        out.row("scenario", &info.scenario_hash).row("started", &info.started).row("schema of run.json", &info.schema);
    }
    out.row("digest of the graph", run.result["digest"].as_str().unwrap_or("–"));
    out.row("schema of the result", run.result["schema"].as_str().unwrap_or("–"));
    out.markup("</tbody></table></div>\n");
}
