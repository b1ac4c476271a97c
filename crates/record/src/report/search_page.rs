//! The page of a search.

use anabranch_study::Conclusion;
use serde_json::Value;

use super::html::Html;
use super::page::{Budget, frame, left_out};
use super::source::Run;
use super::words::{count, duration, short};
use super::{findings, run_page};
use crate::picture::{Convergence, Parallel, ParallelAxis, convergence_plot, importance_bars, parallel_plot};

/// Schema of the objects of searches.
pub(super) const SCHEMA: &str = "anabranch.search/";
/// Parameters in a plot; more cannot be read.
const AXES_MAX: usize = 10;
/// Bars of importance.
const BARS_MAX: usize = 12;
/// Rows of a table.
const ROWS_MAX: usize = 20;
/// Findings that are told.
const FINDINGS_MAX: usize = 12;

pub(super) fn page(run: &Run) -> String {
    let (mut budget, mut body) = (Budget::new(), Html::new());
    head(&mut body, run);
    run_page::repeat(&mut body, run);
    accidents(&mut body, &mut budget, run);
    plots(&mut body, &mut budget, run);
    tables(&mut body, run);
    if run.result["bench"].is_null() {
        run_page::scenario(&mut body, &mut budget, run);
    }
    run_page::versions(&mut body, run);
    left_out(&mut body, &budget);
    frame(&format!("{}: {}", run.scenario(), run.verdict()), &body)
}

fn head(out: &mut Html, run: &Run) {
    let result = &run.result;
    out.element("h1", run.scenario());
    let started = run.info.as_ref().map_or("", |info| info.started.as_str());
    out.markup("<p class=\"soft\">").text(&format!("Search {}, started {started}", run.name)).markup("</p>\n");
    let tone = run.conclusion.tone();
    out.markup("<div").attribute("class", &format!("verdict {}", tone.class()));
    out.markup(" role=\"status\"><span class=\"mark\" aria-hidden=\"true\">").text(tone.mark()).markup("</span><p>");
    let simulations = count(&result["evaluations"]);
    let sentence = match &run.conclusion {
        Conclusion::Violated(_) => {
            let many = match result["findings"].as_u64() {
                Some(1) => "1 accident".to_owned(),
                _ => format!("{} different accidents", count(&result["findings"])),
            };
            format!(", by {many} in {simulations} simulations.")
        }
        Conclusion::NotFound { .. } => {
            format!(" in {simulations} simulations. A search proves nothing: what it did not find may exist.")
        }
        other => format!(" ({}); nothing found so far, which is no pass.", other.reason()),
    };
    out.element("strong", run.verdict()).text(&sentence).markup("</p></div>\n");
    let tiles = [
        ("simulations", simulations),
        ("violations", count(&result["violations"])),
        ("first at", result["first_violation_evaluation"].as_u64().map_or("–".to_owned(), |n| n.to_string())),
        ("lowest value", number(&result["best"]["value"])),
        ("lowest of random", number(&result["baseline"]["best"])),
        ("method", text(&result["method"])),
        ("simulated", duration(&result["seconds_simulated"])),
        ("time", duration(&result["wall_s"])),
    ];
    out.markup("<dl class=\"tiles\">\n");
    for (name, value) in tiles {
        out.markup("<div>").element("dt", name).element("dd", &value).markup("</div>\n");
    }
    out.markup("</dl>\n");
    if let Some(statement) = result["baseline"]["statement"].as_str() {
        out.markup("<p>").element("strong", "Against random points. ").text(statement).markup("</p>\n");
    }
}

fn accidents(out: &mut Html, budget: &mut Budget, run: &Run) {
    out.markup("<h2 id=\"findings\">Accidents</h2>\n");
    let none = Vec::new();
    let groups = run.result["groups"].as_array().unwrap_or(&none);
    if groups.is_empty() {
        out.element("p", "None.");
    }
    for group in groups.iter().take(FINDINGS_MAX) {
        findings::one(out, budget, run, group, "run");
        let pairs = group["set"].as_array().into_iter().flatten();
        let rows: Vec<Vec<String>> = pairs.map(|pair| vec![text(&pair[0]), text(&pair[1])]).collect();
        if let Some(zone) = group["blind_corner"].as_str() {
            out.element("p", "What a map should carry about this corner:").element("pre", zone);
        }
        if !rows.is_empty() {
            out.table("Values of this instance", &["value", "is"], &rows);
        }
    }
    if groups.len() > FINDINGS_MAX {
        budget.left_out.push(format!("{} accidents; they are in the run folder", groups.len() - FINDINGS_MAX));
    }
}

fn plots(out: &mut Html, budget: &mut Budget, run: &Run) {
    out.markup("<h2 id=\"plots\">How it went</h2>\n");
    let result = &run.result;
    let rows: Vec<[f64; 3]> = result["convergence"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| [float(&row[0]) + 1.0, float(&row[1]), float(&row[2])])
        .collect();
    if !rows.is_empty() {
        let objective = text(&result["objective"][0]);
        let (title, random_best) = (format!("{}: convergence", run.scenario()), result["baseline"]["best"].as_f64());
        let svg = convergence_plot(&Convergence { title, objective, rows, random_best });
        budget.figure(out, "convergence", &svg, "Every simulation, and the lowest value so far.");
    }
    let shares = shares(result);
    if !shares.is_empty() {
        let svg = importance_bars(&format!("{}: what matters", run.scenario()), &shares);
        budget.figure(out, "importance", &svg, "Importance of parameters, by functional analysis of variance.");
    }
    if let Some(parallel) = parallel(run, &shares) {
        let caption = "The most dangerous simulations over the parameters that matter most.";
        budget.figure(out, "parallel", &parallel_plot(&parallel), caption);
    }
}

/// Importance by dimension, the largest first.
fn shares(result: &Value) -> Vec<(String, f64)> {
    let all = result["importance"].as_array().into_iter().flatten();
    let mut all: Vec<(String, f64)> = all.map(|one| (text(&one["name"]), float(&one["share"]))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(BARS_MAX);
    all
}

/// Dangerous cases over the parameters that matter most, in the order of the space.
fn parallel(run: &Run, shares: &[(String, f64)]) -> Option<Parallel> {
    let dimensions = run.result["dimensions"].as_array()?;
    let rank = |name: &str| shares.iter().position(|(known, _)| known == name).unwrap_or(usize::MAX);
    let mut chosen: Vec<usize> = (0..dimensions.len()).collect();
    chosen.sort_by_key(|n| (rank(dimensions[*n]["name"].as_str().unwrap_or_default()), *n));
    chosen.truncate(AXES_MAX);
    chosen.sort_unstable();
    let axis = |n: &usize| {
        let dimension = &dimensions[*n];
        let unit = dimension["unit"].as_str().unwrap_or_default();
        let name =
            if unit.is_empty() { text(&dimension["name"]) } else { format!("{} [{unit}]", text(&dimension["name"])) };
        let labels = dimension["labels"].as_array();
        let end = |label: Option<&Value>, number_at: &Value| match label {
            Some(label) => text(label),
            None => number(number_at),
        };
        ParallelAxis {
            name,
            low: end(labels.and_then(|labels| labels.first()), &dimension["from"]),
            high: end(labels.and_then(|labels| labels.last()), &dimension["to"]),
        }
    };
    let case = |case: &Value| {
        let places = chosen.iter().map(|n| float(&case["unit"][*n])).collect();
        (places, case["value"].as_f64().is_some_and(|value| value < 0.0))
    };
    let cases: Vec<_> = run.result["dangerous"].as_array()?.iter().map(case).collect();
    if cases.is_empty() || chosen.len() < 2 {
        return None;
    }
    Some(Parallel {
        title: format!("{}: dangerous cases", run.scenario()),
        axes: chosen.iter().map(axis).collect(),
        cases,
    })
}

fn tables(out: &mut Html, run: &Run) {
    let result = &run.result;
    let values = |point: &Value| {
        let all = point["values"].as_object().into_iter().flatten();
        let words: Vec<String> = all.map(|(name, value)| format!("{name} = {}", plain(value))).collect();
        words.join(", ")
    };
    let objectives = |point: &Value| {
        let all = point["objectives"].as_array().into_iter().flatten();
        all.map(number).collect::<Vec<_>>().join(", ")
    };
    let rows = |list: &Value| -> Vec<Vec<String>> {
        let all = list.as_array().into_iter().flatten().take(ROWS_MAX);
        all.map(|point| {
            let simulation = point["evaluation"].as_u64().unwrap_or(0) + 1;
            vec![simulation.to_string(), objectives(point), values(point)]
        })
        .collect()
    };
    out.markup("<h2 id=\"cases\">Most dangerous cases</h2>\n");
    out.table("The lowest values first", &["simulation", "value", "instance"], &rows(&result["dangerous"]));
    if result["objective"].as_array().is_some_and(|all| all.len() > 1) {
        out.markup("<h2 id=\"front\">Front</h2>\n");
        out.table(
            "What no other simulation beats by all objectives",
            &["simulation", "values", "instance"],
            &rows(&result["front"]),
        );
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("–").to_owned()
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::INFINITY)
}

fn number(value: &Value) -> String {
    value.as_f64().map_or("–".to_owned(), |value| short(value, 4))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| number(value), str::to_owned)
}
