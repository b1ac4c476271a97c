//! `explain` of a finding in a world: the smallest error sequence, what mattered in it, and when it was too late.

use std::fmt::Write as _;
use std::path::Path;

use anabranch_explore::explain::{ExplainError, Explanation, Limits, Measure, Question, Tried, explain, single_errors};
use anabranch_kernel::{Choice, Params, SegmentEnd, System, Verdict};
use anabranch_record::{ErrorRun, Finding, publish};
use serde_json::{Value, json};

use super::found::FoundInWorld;
use crate::errors_table::ErrorsTable;
use crate::escape::escape;
use crate::exit::Exit;
use crate::explain::SameAccident;
use crate::explain::files::Files;
use crate::explore::subject::Subject;
use crate::failure::Failure;
use crate::numbers::{count, short};
use crate::outside::Patience;
use crate::project;
use crate::rows::row;
use crate::screen::{Global, Paint, Screen};
use crate::verbs::explain::Explain;

/// Explains a finding, if it is one of a world.
pub fn explain_in_world(verb: &Explain, global: &Global, screen: &Screen) -> Result<Option<Exit>, Failure> {
    let Some(found) = FoundInWorld::open(&verb.reference, global, Patience::Usual)? else { return Ok(None) };
    for (is_asked, flag) in [(verb.against.is_some(), "--against"), (!verb.sets.is_empty(), "--set")] {
        if is_asked {
            return Err(Failure::input(format!("{flag} is about scenarios, and this finding is one of a world"), ""));
        }
    }
    if let Some(warning) = found.warning() {
        screen.warn(&warning);
    }
    let why = found.explain(verb, global.threads())?;
    let story = WorldStory { found: &found, why, files: global.seed.is_none().then(|| Files::beside(&found.path)) };
    let object = story.to_json();
    if let Some(files) = &story.files {
        publish(&files.minimal, story.minimal().to_toml().as_bytes())?;
        publish(&files.why, format!("{object:#}\n").as_bytes())?;
    }
    screen.result(|paint| story.human(paint), &object);
    Ok(Some(Exit::Done))
}

impl FoundInWorld {
    fn explain(&self, verb: &Explain, threads: usize) -> Result<Explanation, Failure> {
        let id = &self.finding.requirement;
        let known = self.world.requirements();
        let Some(requirement) = known.iter().position(|known| known == id) else {
            let message = format!("{}: the world has no requirement `{id}` any more", self.path.display());
            return Err(Failure::input(message, format!("it has {}", known.join(", "))));
        };
        let requirement = requirement as u16;
        let (end, segments) = self.world.run_from_start(self.seed, &Params::default(), &self.choices, None)?;
        let now = self.world_verdict(&end, requirement).filter(|_| !verb.any);
        let accident = match &now {
            Some(now) => SameAccident::of(&self.world, 0, &self.choices[..segments], now),
            None => SameAccident::ANY,
        };
        let question = Question {
            system: &self.world,
            seed: self.seed,
            params: &Params::default(),
            choices: &self.choices,
            requirement,
            same: accident.same(),
            segments_max: self.world.segments_max() as usize,
        };
        // What a margin has to do with this requirement is known to the world alone.
        let limits = Limits { samples: verb.samples, measure: Measure::Verdict, threads, ..Limits::default() };
        explain(question, &limits).map_err(|error| match error {
            ExplainError::Fault(fault) => fault.into(),
            ExplainError::Threads(text) => Failure::input(text, ""),
            ExplainError::NotViolated(_) | ExplainError::NotReproducible { .. } => Failure::Plain {
                exit: Exit::NotReproducible,
                message: format!("the finding does not reproduce: {error}"),
                help: "`anabranch replay --twice` shows whether two runs are the same".to_owned(),
            },
        })
    }

    /// The verdict about a requirement, if a run ended with its violation.
    fn world_verdict(&self, end: &SegmentEnd, requirement: u16) -> Option<Verdict> {
        let SegmentEnd::Violated(verdicts) = end else { return None };
        verdicts.iter().find(|verdict| verdict.requirement == requirement).copied()
    }
}

/// Everything that was found out.
struct WorldStory<'a> {
    found: &'a FoundInWorld,
    why: Explanation,
    files: Option<Files>,
}

impl WorldStory<'_> {
    fn error(&self, choice: Choice) -> String {
        self.found.world.errors().describe(choice)
    }
    fn begin_s(&self, segment: usize) -> f64 {
        segment as f64 * self.found.world.segment_seconds()
    }
    fn span(&self, segment: usize) -> String {
        format!("{} – {} s", short(self.begin_s(segment), 3), short(self.begin_s(segment + 1), 3))
    }
    fn table(&self, choices: &[Choice]) -> ErrorsTable {
        ErrorsTable::of_choices(self.found.world.errors(), choices, self.found.world.segment_seconds())
    }

    /// The smallest counterexample as a finding that `replay` accepts.
    fn minimal(&self) -> Finding {
        let (found, verdict) = (self.found, &self.why.verdict);
        let mut finding = Finding::new(found.world.name(), found.program.hash, found.world.segment_seconds());
        finding.scenario_file.clone_from(&found.finding.scenario_file);
        finding.seed = found.seed.0;
        finding.errors = ErrorRun::group_needed(found.world.errors(), &self.why.minimal.choices);
        finding.requirement.clone_from(&found.finding.requirement);
        finding.tick = verdict.tick;
        finding.time_s = verdict.tick as f64 * found.world.tick_s();
        finding.group.clone_from(&finding.requirement);
        finding
    }

    fn human(&self, paint: &Paint) -> String {
        let (found, why) = (self.found, &self.why);
        let (name, id) = (paint.bold(&escape(found.world.name())), escape(&found.finding.requirement));
        let time_s = short(why.verdict.tick as f64 * found.world.tick_s(), 3);
        let takes = match why.cost.errors {
            0 => "it takes no error at all".to_owned(),
            1 => "it takes 1 error".to_owned(),
            more => format!("it takes {more} errors"),
        };
        let then = single_errors(found.world.errors(), &why.found.choices).len();
        let mut out =
            format!("{name}: {} `{id}`; {takes}, found were {then}. After {time_s} s\n\n", paint.red("violated"));
        for one in &why.blame.segments {
            let share = if why.blame.whole == 0.0 { 0.0 } else { 100.0 * one.share.value / why.blame.whole };
            let _ = writeln!(
                out,
                "  {}  {}  {} % of the violation",
                self.span(one.segment),
                escape(&self.error(one.choice)),
                short(share, 0)
            );
        }
        out.push('\n');
        out += &row(paint, "too late", &self.too_late());
        out += &row(paint, "enough", &self.enough());
        let (run, asked) = (count(why.segments_run as f64), count(why.segments_asked as f64));
        let tried =
            format!("{run} segments instead of {asked} without saved states; the result was run again from the start");
        out += &row(paint, "tried", &tried);
        if let Some(files) = &self.files {
            let folder = project::relative(files.minimal.parent().unwrap_or(Path::new(".")));
            out += &row(paint, "files", &format!("minimal.toml, why.json in {folder}"));
            let again = format!("anabranch replay {}", project::relative(&files.minimal));
            let _ = write!(out, "\nSee it again\n  {}\n", paint.cyan(&escape(&again)));
        }
        out
    }

    fn too_late(&self) -> String {
        let Some(at) = &self.why.no_return else { return "from the start: it happens without any error".to_owned() };
        let time = |segment: usize| format!("{} s", short(self.begin_s(segment), 3));
        let seals = self.error(self.why.minimal.choices[at.boundary]);
        let (from, to) = (time(at.boundary), time(at.boundary + 1));
        let mut text = format!("after {from}: without further error it passes; with `{seals}` until {to} it is lost");
        match at.rescue {
            Some(rescue) => {
                let (error, from) = (self.error(rescue.choice), time(rescue.boundary));
                let _ = write!(text, ", unless `{error}` is held from {from} on");
            }
            None if at.rescues_tried => text += ", whatever error is held from then on",
            None => {}
        }
        text
    }

    fn enough(&self) -> String {
        let Some(nearest) = &self.why.nearest else {
            return "no sequence that differs in one segment passes".to_owned();
        };
        let one = |&at: &usize| {
            let was = self.why.minimal.choices.get(at).copied().unwrap_or(Choice::NONE);
            let (was, now) = (self.error(was), self.error(nearest.passing.choices[at]));
            format!("`{now}` instead of `{was}` at {}", self.span(at))
        };
        let changed: Vec<String> = nearest.changed.iter().map(one).collect();
        format!("{}: it passes", changed.join(" and "))
    }

    fn run_json(&self, tried: &Tried) -> Value {
        let violated = self.found.violated(&tried.end);
        json!({
            "verdict": match &tried.end {
                SegmentEnd::Violated(_) => "violated",
                SegmentEnd::Goal => "completed",
                SegmentEnd::Open | SegmentEnd::TimedOut => "not completed",
            },
            "requirement": violated.map(|(id, _)| id),
            "tick": violated.map(|(_, tick)| tick),
            "segments": tried.choices.len(),
            "margin": if tried.margin.is_finite() { json!(tried.margin) } else { Value::Null },
            "errors": self.table(&tried.choices).to_json(),
        })
    }

    fn to_json(&self) -> Value {
        let (found, why) = (self.found, &self.why);
        let mut minimal = self.run_json(&why.minimal);
        minimal["erroneous_segments"] = json!(why.cost.erroneous);
        minimal["changes"] = json!(why.cost.changes);
        minimal["single_errors"] = json!(why.cost.errors);
        minimal["each_error_is_needed"] = json!(why.superfluous.is_empty());
        minimal["certified_from_start"] = json!(true);
        let blame = why.blame.segments.iter().map(|one| {
            json!({
                "segment": one.segment,
                "from_s": self.begin_s(one.segment),
                "to_s": self.begin_s(one.segment + 1),
                "error": self.error(one.choice),
                "share": { "value": one.share.value, "standard_error": one.share.standard_error },
            })
        });
        let mut then = self.run_json(&why.found);
        then["matters"] = json!(why.matters);
        json!({
            "schema": "anabranch.explain/1",
            "scenario": found.world.name(),
            "scenario_hash": found.program.hash.to_string(),
            "program": project::relative(&found.program.path),
            "finding": project::relative(&found.path),
            "requirement": found.finding.requirement,
            "seed": found.seed.0,
            "segment_s": found.world.segment_seconds(),
            "found": then,
            "minimal": minimal,
            "without_errors": self.run_json(&why.without_errors),
            "point_of_no_return": why.no_return.as_ref().map(|at| json!({
                "segment": at.boundary,
                "time_s": self.begin_s(at.boundary),
                "kept_without_further_error": at.avoided,
            })),
            "blame": { "measure": "violation", "whole": why.blame.whole, "segments": blame.collect::<Vec<_>>() },
            "nearest_passing": why.nearest.as_ref().map(|nearest| self.run_json(&nearest.passing)),
            "segments_simulated": why.segments_run,
            "segments_without_saved_states": why.segments_asked,
            "files": self.files.as_ref().map(|files| json!({
                "minimal": project::relative(&files.minimal), "why": project::relative(&files.why),
            })),
        })
    }
}
