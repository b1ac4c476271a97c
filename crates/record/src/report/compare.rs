//! Several runs side by side.

use std::collections::BTreeSet;

use anabranch_study::Conclusion;
use serde_json::Value;

use super::Gate;
use super::diff_section;
use super::html::Html;
use super::page::{Budget, frame, left_out};
use super::run_page::sentence;
use super::source::Run;
use super::words::{count, duration, metres, percent, plain};
use crate::command::quoted;
use crate::error::RecordError;
use crate::graph_diff::{Graph, GraphDiff, graph_diff};
use crate::run_folder::RunFolder;

/// What comparing two graphs gave.
#[derive(Debug)]
pub(super) struct Compared {
    pub diff: GraphDiff,
    /// Descriptions of the errors of both runs, by choice.
    pub errors: [Vec<String>; 2],
    pub segment_s: f64,
}

#[derive(Debug)]
pub(super) struct Comparison {
    pub runs: Vec<Run>,
    /// Of two runs: their graphs, or why they cannot be compared.
    pub graphs: Option<Result<Compared, String>>,
}

impl Comparison {
    pub fn read(folders: &[RunFolder]) -> Result<Self, RecordError> {
        let runs: Vec<Run> = folders.iter().map(Run::read).collect::<Result<_, _>>()?;
        let graphs = match (&runs[..], folders) {
            ([a, b], [in_a, in_b]) => Some(match incomparable(a, b) {
                Some(why) => Err(why),
                None => compare(in_a, in_b, a)?,
            }),
            _ => None,
        };
        Ok(Self { runs, graphs })
    }

    pub fn gate(&self) -> Gate {
        let is_incomplete = |run: &Run| {
            !run.is_complete()
                || matches!(
                    run.conclusion,
                    Conclusion::Incomplete(_) | Conclusion::NothingToJudge(_) | Conclusion::NotReproducible(_)
                )
        };
        let is_uncovered = |run: &Run| matches!(run.conclusion, Conclusion::NotCovered(_));
        match &self.graphs {
            Some(Ok(compared)) if !compared.diff.new.is_empty() => Gate::NewFailures,
            Some(Ok(_)) if self.runs.iter().any(is_incomplete) => Gate::Incomplete,
            Some(Ok(_)) if self.runs.iter().any(is_uncovered) => Gate::NotCovered,
            Some(Ok(_)) => Gate::Open,
            _ => Gate::Incomparable,
        }
    }

    pub fn sentence(&self) -> String {
        match &self.graphs {
            None => format!("{} runs side by side", self.runs.len()),
            Some(Err(why)) => format!("the graphs cannot be compared: {why}"),
            Some(Ok(Compared { diff, .. })) => {
                let cells = |number: usize| if number == 1 { "1 cell".to_owned() } else { format!("{number} cells") };
                let (fixed, new, same) = (cells(diff.fixed.len()), cells(diff.new.len()), cells(diff.same.len()));
                let caveat = match self.gate() {
                    Gate::Incomplete => " (incomplete: what is not failing was perhaps not reached)",
                    Gate::NotCovered => " (not covered: what is not failing was perhaps not reached)",
                    Gate::NewFailures if !self.runs.iter().all(Run::is_complete) => {
                        " (incomplete: what is not failing was perhaps not reached)"
                    }
                    _ => "",
                };
                format!("failing cells: {new} new, {fixed} fixed, {same} the same{caveat}")
            }
        }
    }

    pub fn page(&self) -> String {
        let mut budget = Budget::new();
        let mut body = Html::new();
        let names: Vec<&str> = self.runs.iter().map(Run::scenario).collect::<BTreeSet<_>>().into_iter().collect();
        body.markup("<h1>Comparison of runs</h1>\n").element("p", &names.join(", "));
        let (mark, class) = match self.gate() {
            Gate::NewFailures => ("\u{2717}", "bad"),
            Gate::Open => ("\u{2713}", "good"),
            Gate::Incomplete | Gate::NotCovered | Gate::Incomparable => ("?", "open"),
        };
        body.markup("<div")
            .attribute("class", &format!("verdict {class}"))
            .markup(" role=\"status\"><span class=\"mark\" aria-hidden=\"true\">");
        body.text(mark).markup("</span><p>").text(&self.sentence()).markup(".</p></div>\n");
        self.put_table(&mut body);
        self.put_settings(&mut body);
        match &self.graphs {
            Some(Ok(compared)) => diff_section::put(&mut body, &mut budget, compared),
            Some(Err(why)) => {
                body.markup("<h2>Graphs</h2>\n").element("p", &format!("They cannot be compared: {why}."));
            }
            None => {}
        }
        let lines: Vec<String> =
            self.runs.iter().map(|run| format!("anabranch report {}", quoted(&run.name))).collect();
        body.markup("<h2>Each run on its own</h2>\n").commands(&lines);
        left_out(&mut body, &budget);
        frame("Comparison of runs", &body)
    }

    fn put_table(&self, out: &mut Html) {
        out.markup("<h2>Results</h2>\n");
        let row = |(at, run): (usize, &Run)| {
            let mark = run.conclusion.tone().mark();
            let result = &run.result;
            vec![
                letter(at),
                run.name.clone(),
                format!("{mark} {}{}", run.verdict(), sentence(run)),
                count(&result["findings"]),
                count(&result["finding_groups"]),
                metres(&result["worst_clearance_m"]),
                count(&result["segments"]),
                count(&result["states"]),
                percent(&result["coverage"]["runs_inside"]),
                duration(&result["wall_s"]),
            ]
        };
        let rows: Vec<Vec<String>> = self.runs.iter().enumerate().map(row).collect();
        let header = [
            "",
            "run",
            "verdict",
            "findings",
            "groups",
            "worst clearance",
            "segments",
            "states",
            "random runs inside",
            "time",
        ];
        out.table("One row per run", &header, &rows);
    }

    /// Settings and versions that are not the same everywhere.
    fn put_settings(&self, out: &mut Html) {
        out.markup("<h2>What differs in the settings</h2>\n");
        let rows = self.differing_settings();
        if rows.is_empty() {
            out.element("p", "Nothing: the same scenario, settings and version.");
            return;
        }
        let letters: Vec<String> = (0..self.runs.len()).map(letter).collect();
        let header: Vec<&str> = std::iter::once("setting").chain(letters.iter().map(String::as_str)).collect();
        out.table("Only rows that differ", &header, &rows);
    }

    /// Rows of a name and one value per run.
    pub fn differing_settings(&self) -> Vec<Vec<String>> {
        let all: Vec<Vec<(String, String)>> = self.runs.iter().map(settings).collect();
        let mut names: Vec<&String> = Vec::new();
        for (name, _) in all.iter().flatten() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let row = |name: &&String| {
            let value = |of: &Vec<(String, String)>| {
                of.iter().find(|(n, _)| n == *name).map_or("–".to_owned(), |(_, v)| v.clone())
            };
            std::iter::once((*name).clone()).chain(all.iter().map(value)).collect::<Vec<String>>()
        };
        names.iter().map(row).filter(|row| row[2..].iter().any(|value| *value != row[1])).collect()
    }
}

/// `A`, `B`, …; numbers beyond the alphabet.
pub(super) fn letter(at: usize) -> String {
    u8::try_from(at)
        .ok()
        .filter(|at| *at < 26)
        .map_or_else(|| (at + 1).to_string(), |at| char::from(b'A' + at).to_string())
}

fn settings(run: &Run) -> Vec<(String, String)> {
    let mut all = vec![("scenario".to_owned(), run.scenario().to_owned())];
    if let Some(info) = &run.info {
        all.extend(info.versions.iter().map(|(name, version)| (format!("version of {name}"), version.clone())));
        all.push(("scenario text and changes".to_owned(), info.scenario_hash.clone()));
    }
    all.extend(run.sets.iter().map(|(key, value)| (format!("--set {key}"), value.clone())));
    if let Some(settings) = run.result["settings"].as_object() {
        all.extend(settings.iter().map(|(key, value)| (super::words::spaced(key), plain(value))));
    }
    all.push(("error choices".to_owned(), plain(&run.result["error_choices"])));
    all
}

/// Why cells of two runs have no common names; nothing if they have.
fn incomparable(a: &Run, b: &Run) -> Option<String> {
    let differs = |key: &str| a.result["settings"][key] != b.result["settings"][key];
    if a.scenario() != b.scenario() {
        return Some(format!("they are of two scenarios, {} and {}", a.scenario(), b.scenario()));
    }
    if [a, b].iter().any(|run| run.result["settings"] == Value::Null) {
        return Some("one of them has no result".to_owned());
    }
    for (key, what) in [("merge", "cell sizes"), ("segment_s", "lengths of a segment"), ("scope", "scopes")] {
        if differs(key) {
            return Some(format!("they have different {what}, so their cells have different names"));
        }
    }
    None
}

fn compare(in_a: &RunFolder, in_b: &RunFolder, run: &Run) -> Result<Result<Compared, String>, RecordError> {
    let mut graphs = Vec::new();
    for folder in [in_a, in_b] {
        match Graph::read(folder.path()) {
            Ok(graph) if graph.has_keys() => graphs.push(graph),
            Ok(_) => return Ok(Err("nothing was merged, so there are no cells".to_owned())),
            Err(RecordError::NotFound(why)) => return Ok(Err(why)),
            Err(error) => return Err(error),
        }
    }
    let [a, b] = &graphs[..] else { unreachable!("two folders give two graphs") };
    let segment_s = run.result["settings"]["segment_s"].as_f64().unwrap_or(1.0);
    Ok(Ok(Compared { diff: graph_diff(a, b), errors: [a.errors.clone(), b.errors.clone()], segment_s }))
}
