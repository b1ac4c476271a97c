//! The page of a whole test run: every case with its verdict, and the findings of each scenario.

use anabranch_study::Tone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::findings;
use super::html::Html;
use super::page::{Budget, frame, left_out};
use super::source::Run;
use super::words::{count, duration, metres};
use crate::command::quoted;
use crate::run_folder::RunFolder;

/// Groups of one scenario that are told in full; its own report has the others.
const GROUPS_MAX: usize = 3;
/// Rows of new failing cells of one scenario.
const CELLS_MAX: usize = 25;
/// Longest message of one case.
const MESSAGE_BYTES_MAX: usize = 4_000;

/// How a case of a test run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CaseResult {
    /// As it should.
    #[serde(rename = "passed")]
    Passed,
    /// Otherwise than it should.
    #[serde(rename = "failed")]
    Failed,
    /// Time, states or memory ran out: never a pass.
    #[serde(rename = "incomplete")]
    Incomplete,
    /// Too many random runs left what was explored, or too few were made to know: never a pass.
    #[serde(rename = "not covered")]
    NotCovered,
    /// No requirement is there to be judged: never a pass.
    #[serde(rename = "nothing to judge")]
    NothingToJudge,
    /// It could not be run.
    #[serde(rename = "error")]
    Error,
    /// Somebody stopped the tests before.
    #[serde(rename = "not run")]
    NotRun,
}

impl CaseResult {
    /// How a case is shown, in the terminal and in pages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed => "FAIL",
            Self::Incomplete => "INCOMPLETE",
            Self::NotCovered => "NOT COVERED",
            Self::NothingToJudge => "NOTHING TO JUDGE",
            Self::Error => "ERROR",
            Self::NotRun => "not run",
        }
    }
    /// Its colour and mark.
    pub fn tone(self) -> Tone {
        match self {
            Self::Passed => Tone::Good,
            Self::Failed | Self::Error => Tone::Bad,
            Self::Incomplete | Self::NotCovered | Self::NothingToJudge | Self::NotRun => Tone::Open,
        }
    }
}

/// A test run, as the program tells it to machines and to people.
#[derive(Debug)]
pub struct TestRun<'a> {
    /// The object of `test --format json`.
    pub tested: &'a Value,
    /// The last line of the terminal: `3 cases: 2 passed, 1 failed; 4.2 s`.
    pub summary: &'a str,
    /// What was typed, without absolute paths.
    pub command: Vec<String>,
    /// When it began, UTC; may be empty.
    pub started: String,
}

/// Where a case stands in the page.
struct Place<'a> {
    anchor: String,
    case: &'a Value,
}

/// The page; `folder_of` finds the folder of a run by what the case calls it.
pub fn test_report(run: &TestRun<'_>, folder_of: impl Fn(&str) -> Option<RunFolder>) -> String {
    let (mut budget, mut body) = (Budget::new(), Html::new());
    let places = |part: &'static str| -> Vec<Place<'_>> {
        let cases = run.tested[part].as_array().map_or(&[][..], Vec::as_slice);
        let place = |(at, case)| Place { anchor: format!("{part}-{}", at + 1), case };
        cases.iter().enumerate().map(place).collect()
    };
    let (kept, scenarios) = (places("findings"), places("scenarios"));
    head(&mut body, run);
    overview(&mut body, &kept, &scenarios);
    body.markup("<h2 id=\"kept\">Kept findings</h2>\n");
    if kept.is_empty() {
        body.element("p", "None was selected. anabranch replay last#1 --keep keeps one.");
    }
    for place in &kept {
        heading(&mut body, &mut budget, place);
        repeat(&mut body, place.case);
    }
    body.markup("<h2 id=\"scenarios\">Scenarios</h2>\n");
    if scenarios.is_empty() {
        body.element("p", "None was selected.");
    }
    for place in &scenarios {
        let folder = place.case["details"]["run"].as_str().and_then(&folder_of);
        scenario(&mut body, &mut budget, place, folder.and_then(|folder| Run::read(&folder).ok()).as_ref());
    }
    body.markup("<h2 id=\"repeat\">Repeat it</h2>\n");
    let arguments = run.command.iter().skip(1).map(|argument| quoted(argument));
    body.commands(&[std::iter::once("anabranch".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")]);
    left_out(&mut body, &budget);
    frame(&format!("Tests: {}", word(run.tested).1), &body)
}

/// How the whole test run ended: class and word. The graver of several wins, as in the exit code.
fn word(tested: &Value) -> (&'static str, &'static str) {
    match tested["exit"].as_u64() {
        Some(0) => ("good", "passed"),
        Some(4) => ("open", "nothing to test"),
        Some(5) => ("open", "incomplete"),
        Some(130) => ("open", "interrupted"),
        _ => ("bad", "failed"),
    }
}

/// Mark, word and class of one case, as the terminal says them.
fn result(case: &Value) -> (&'static str, &'static str, &'static str) {
    let result: CaseResult = serde_json::from_value(case["result"].clone()).unwrap_or(CaseResult::NotRun);
    let tone = result.tone();
    (tone.mark(), result.word(), tone.class())
}

fn head(out: &mut Html, run: &TestRun<'_>) {
    out.markup("<h1>Tests</h1>\n");
    if !run.started.is_empty() {
        out.markup("<p class=\"soft\">Started ").text(&run.started).markup("</p>\n");
    }
    let (class, word) = word(run.tested);
    let mark = match class {
        "good" => "\u{2713}",
        "bad" => "\u{2717}",
        _ => "?",
    };
    out.markup("<div").attribute("class", &format!("verdict {class}"));
    out.markup(" role=\"status\"><span class=\"mark\" aria-hidden=\"true\">").text(mark).markup("</span><p>");
    out.element("strong", word).text(&format!(". {}", run.summary.trim())).markup("</p></div>\n");
    out.markup(
        "<nav aria-label=\"Sections\"><ul><li><a href=\"#cases\">All cases</a></li><li><a href=\"#kept\">Kept findings</a></li>\
         <li><a href=\"#scenarios\">Scenarios</a></li><li><a href=\"#repeat\">Repeat it</a></li></ul></nav>\n",
    );
    let tested = run.tested;
    let names = ["passed", "failed", "incomplete", "not_covered", "nothing_to_judge", "errors", "not_run"];
    let words = ["passed", "failed", "incomplete", "not covered", "nothing to judge", "could not be run", "not run"];
    out.markup("<dl class=\"tiles\">\n");
    for (name, word) in names.iter().zip(words) {
        out.markup("<div>").element("dt", word).element("dd", &count(&tested[*name])).markup("</div>\n");
    }
    out.markup("<div><dt>time</dt>").element("dd", &duration(&tested["wall_s"])).markup("</div>\n</dl>\n");
}

/// Every case in a line that leads to it.
fn overview(out: &mut Html, kept: &[Place<'_>], scenarios: &[Place<'_>]) {
    out.markup("<h2 id=\"cases\">All cases</h2>\n");
    if kept.is_empty() && scenarios.is_empty() {
        out.element("p", "No kept finding and no scenario was selected.");
        return;
    }
    out.markup("<div class=\"scroll\"><table class=\"cases\"><caption>In the order in which they were run</caption><thead><tr>");
    for name in ["result", "case", "verdict"] {
        out.markup("<th scope=\"col\">").text(name).markup("</th>");
    }
    for name in ["findings", "worst clearance", "segments", "time"] {
        out.markup("<th scope=\"col\" class=\"number\">").text(name).markup("</th>");
    }
    out.markup("</tr></thead><tbody>\n");
    for Place { anchor, case } in kept.iter().chain(scenarios) {
        let (mark, word, class) = result(case);
        out.markup("<tr><td class=\"result\"><span").attribute("class", class).markup("><span class=\"mark\">");
        out.text(mark).markup("</span> ").element("strong", word).markup("</span></td><td><a");
        out.attribute("href", &format!("#{anchor}")).markup(">").text(&text(&case["name"])).markup("</a></td>");
        out.element("td", &text(&case["verdict"]));
        let details = &case["details"];
        let found = if details["digest"].is_null() { Value::Null } else { details["findings"].clone() };
        for cell in [
            count(&found),
            metres(&details["worst_clearance_m"]),
            count(&details["segments"]),
            duration(&case["seconds"]),
        ] {
            out.markup("<td class=\"number\">").text(&cell).markup("</td>");
        }
        out.markup("</tr>\n");
    }
    out.markup("</tbody></table></div>\n");
}

/// Name, result and message of a case, where links to it lead.
fn heading(out: &mut Html, budget: &mut Budget, place: &Place<'_>) {
    let Place { anchor, case } = place;
    let (mark, word, class) = result(case);
    out.markup("<h3").attribute("id", anchor).markup(">").text(&text(&case["name"])).markup("</h3>\n");
    out.markup("<div").attribute("class", &format!("verdict small {class}"));
    out.markup("><span class=\"mark\" aria-hidden=\"true\">").text(mark).markup("</span><p>").element("strong", word);
    let message = text(&case["message"]);
    let shown = budget.text(&format!("what is said about {}", text(&case["name"])), &message, MESSAGE_BYTES_MAX);
    let mut lines = shown.lines();
    out.text(&format!(" {}", lines.next().unwrap_or_default())).markup("</p></div>\n");
    // New failing cells have a table of their own.
    let rest: Vec<&str> = lines.filter(|_| case["details"]["baseline"]["new"].is_null()).collect();
    if rest.iter().any(|line| !line.trim().is_empty()) {
        out.markup("<pre>").text(rest.join("\n").trim_matches('\n')).markup("</pre>\n");
    }
    if let Some(help) = case["error"]["help"].as_str().filter(|help| !help.is_empty()) {
        out.element("p", &format!("Help: {help}"));
    }
}

fn repeat(out: &mut Html, case: &Value) {
    if let Some(again) = case["again"].as_str().filter(|again| !again.is_empty()) {
        out.commands(&[again.to_owned()]);
    }
}

fn scenario(out: &mut Html, budget: &mut Budget, place: &Place<'_>, run: Option<&Run>) {
    heading(out, budget, place);
    let details = &place.case["details"];
    if details.is_object() {
        let groups = run.map_or_else(|| "–".to_owned(), |run| count(&run.result["finding_groups"]));
        out.markup("<div class=\"scroll\"><table><tbody>\n");
        out.row("expected", &text(&details["expect"])).row("verdict", &text(&place.case["verdict"]));
        out.row("findings", &format!("{} in {groups} groups", count(&details["findings"])));
        out.row("worst clearance", &metres(&details["worst_clearance_m"]));
        out.row("segments run", &count(&details["segments"])).row("time", &duration(&place.case["seconds"]));
        out.row("run", &text(&details["run"])).row("digest of the graph", &text(&details["digest"]));
        out.markup("</tbody></table></div>\n");
        gate(out, budget, place);
    }
    let groups = run.and_then(|run| run.result["groups"].as_array()).map_or(&[][..], Vec::as_slice);
    if let (Some(run), false) = (run, groups.is_empty()) {
        for group in groups.iter().take(GROUPS_MAX) {
            findings::one(out, budget, run, group, &place.anchor);
        }
        if groups.len() > GROUPS_MAX {
            let more = groups.len() - GROUPS_MAX;
            let name = text(&place.case["name"]);
            budget.left_out.push(format!("{more} groups of findings of {name}: anabranch report {}", run.name));
        }
        return;
    }
    repeat(out, place.case);
}

/// The comparison with an earlier run, where one was asked for.
fn gate(out: &mut Html, budget: &mut Budget, place: &Place<'_>) {
    let gate = &place.case["details"]["baseline"];
    if gate.is_null() {
        return;
    }
    out.markup("<h4>Compared with an earlier run</h4>\n").element("p", &text(&gate["sentence"]));
    let cells = gate["new"].as_array().map_or(&[][..], Vec::as_slice);
    if cells.is_empty() {
        return;
    }
    let row = |cell: &Value| {
        let then = if cell["other_run"] == "passes" { "passed" } else { "not reached" };
        vec![text(&cell["cell"]), metres(&cell["margin_m"]), then.to_owned(), text(&cell["errors"])]
    };
    let rows: Vec<Vec<String>> = cells.iter().take(CELLS_MAX).map(row).collect();
    out.table(
        "Cells that fail now and did not then, with the shortest error sequence into each",
        &["cell", "margin", "then", "errors"],
        &rows,
    );
    if cells.len() > CELLS_MAX {
        budget.left_out.push(format!("{} new failing cells of {}", cells.len() - CELLS_MAX, text(&place.case["name"])));
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("–").to_owned()
}
