//! Everything that is said about the T-junction, for people and for machines.

use anabranch_problems::{JUNCTION_AXES, JUNCTION_RANGES};
use anabranch_search::{Baseline, Ended, Evaluation, Importance, Report, Settings, Space};
use anabranch_study::{Conclusion, Evidence, Stop, conclude};
use serde_json::{Value, json};

use super::facts::{convergence, dangerous, of_search};
use super::human::{headline, rounded, times};
use super::junction::NAME;
use super::junction_accident::{Found, command};
use crate::exit::Exit;
use crate::numbers::{duration, grouped, short};
use crate::screen::Paint;

/// Parameters that are named as important, and the share of the variance below which none is.
const IMPORTANT_MAX: usize = 5;
const IMPORTANT_MIN: f64 = 0.01;

/// A search that has come to its end.
pub(super) struct Told<'a> {
    pub(super) space: &'a Space,
    pub(super) report: &'a Report,
    /// Each different accident, run again.
    pub(super) accidents: &'a [Found],
    pub(super) baseline: Option<&'a Baseline>,
    pub(super) importance: Option<Vec<Importance>>,
    pub(super) settings: &'a Settings,
    pub(super) wall_s: f64,
    /// The folder.
    pub(super) run: String,
}

impl Told<'_> {
    fn evidence(&self) -> Evidence {
        let stop = match &self.report.ended {
            Ended::Found | Ended::Simulations | Ended::SimulatedSeconds => None,
            Ended::Interrupted => Some(Stop::Interrupted),
            Ended::Rejected { .. } | Ended::Trouble(_) | Ended::NotSaved(_) => Some(Stop::Other(self.stop())),
        };
        of_search(self.accidents.len(), stop, self.report.evaluations.len())
    }

    /// The verdict.
    pub(super) fn conclusion(&self) -> Conclusion {
        conclude(&self.evidence())
    }

    /// Why it ended before its end; empty if it did not.
    fn stop(&self) -> String {
        match &self.report.ended {
            Ended::Found | Ended::Simulations | Ended::SimulatedSeconds => String::new(),
            Ended::Interrupted => "interrupted".to_owned(),
            Ended::Rejected { constraint, .. } => format!("no point keeps to `{constraint}`"),
            Ended::Trouble(what) | Ended::NotSaved(what) => what.clone(),
        }
    }

    /// How the program ends.
    pub(super) fn exit(&self) -> Exit {
        let evidence = self.evidence();
        let is_bad = matches!(evidence.stop, Some(Stop::Other(_)));
        Exit::of(&[Exit::of_study(&evidence, &conclude(&evidence)), if is_bad { Exit::BadInput } else { Exit::Done }])
    }

    fn violations(&self) -> usize {
        self.report.evaluations.iter().filter(|evaluation| evaluation.value() < 0.0).count()
    }

    fn statement(&self) -> Option<String> {
        self.baseline.map(|baseline| baseline.statement(self.report.simulations_to_first()))
    }

    pub(super) fn human(&self, paint: &Paint) -> String {
        let (name, report) = (paint.bold(NAME), self.report);
        let simulations = grouped(report.evaluations.len() as u64);
        let method = &report.method;
        let many = (self.accidents.len(), simulations.as_str(), "simulations");
        let mut out = headline(&name, &self.conclusion(), many, method, paint);
        let mut row = |key: &str, value: &str| out += &format!("  {key:<17}{value}\n");
        if !self.stop().is_empty() {
            row("ended", &self.stop());
        }
        if let Some(best) = report.best() {
            row("most dangerous", &format!("simulation {}, danger {} m", best.number + 1, short(best.value(), 4)));
            row("", &self.space.describe(&rounded(&best.values)));
        }
        if let Some(first) = report.simulations_to_first() {
            row("first accident", &format!("simulation {first}; {} of {simulations} are accidents", self.violations()));
        }
        if let Some(statement) = self.statement() {
            row("random baseline", &statement);
        }
        let mut shares: Vec<&Importance> = self.importance.iter().flatten().collect();
        shares.sort_by(|a, b| b.share.total_cmp(&a.share));
        let shares = shares.iter().filter(|one| one.share >= IMPORTANT_MIN).take(IMPORTANT_MAX);
        let shares: Vec<String> = shares.map(|one| format!("{} {:.0} %", one.name, 100.0 * one.share)).collect();
        if !shares.is_empty() {
            row("what matters", &format!("{} of the variance", shares.join(", ")));
        }
        row("simulated", &format!("{} in {}", duration(report.simulated_seconds()), duration(self.wall_s)));
        for (number, found) in self.accidents.iter().enumerate() {
            let seen = found.seen.map_or(1, |(_, seen)| seen);
            let time_s = short(found.outcome.time_s, 2);
            let label = paint.bold(&found.label());
            out += &format!("  {}. {label}, after {time_s} s, seen {}\n", number + 1, times(seen));
            out += &lines(found, paint);
        }
        out
    }

    /// The object of `--format json`, with which the page is made too.
    pub(super) fn to_json(&self) -> Value {
        let report = self.report;
        let point = |evaluation: &Evaluation| {
            json!({
                "evaluation": evaluation.number,
                "value": evaluation.value(),
                "objectives": [evaluation.value()],
                "values": values(&evaluation.values),
                "unit": evaluation.unit,
            })
        };
        let dimension = |((name, unit), (lo, hi)): (&(&str, &str), (f64, f64))| json!({ "name": name, "unit": unit, "kind": "real", "from": lo, "to": hi, "labels": null });
        let accident = |(number, found): (usize, &Found)| {
            let mut object = found.to_json();
            let (evaluation, seen) = found.seen.unwrap_or_default();
            object["number"] = json!(number + 1);
            object["group"] = json!(found.label());
            object["requirement"] = json!("no-accident");
            object["evaluation"] = json!(evaluation);
            object["seen"] = json!(seen);
            object["story"] = json!(found.story());
            object["command"] = json!(command(&found.numbers));
            object["folder"] = json!(found.kept.as_ref().map(|(folder, _)| folder));
            object["files"] = json!(found.kept.as_ref().map(|(_, files)| files));
            object
        };
        let mut object = json!({
            "schema": "anabranch.search/1",
            "scenario": NAME,
            "bench": NAME,
            "stop": Some(self.stop()).filter(|stop| !stop.is_empty()),
            "method": report.method,
            "score": "run",
            "objective": ["danger"],
            "dimensions": JUNCTION_AXES.iter().zip(JUNCTION_RANGES).map(dimension).collect::<Vec<_>>(),
            "seed": self.settings.seed.0,
            "budget": self.settings.simulations,
            "batch": self.settings.batch,
            "evaluations": report.evaluations.len(),
            "violations": self.violations(),
            "first_violation_evaluation": report.simulations_to_first(),
            "troubles": report.troubles().map(|e| e.describe(self.space)).collect::<Vec<_>>(),
            "seconds_simulated": report.simulated_seconds(),
            "best": report.best().map(point),
            "findings": self.accidents.len(),
            "groups": self.accidents.iter().enumerate().map(accident).collect::<Vec<_>>(),
            "baseline": self.baseline.map(|baseline| json!({
                "simulations": baseline.simulations,
                "violations": baseline.hits,
                "best": baseline.best,
                "share_low": baseline.share.0,
                "share_high": baseline.share.1,
                "statement": self.statement(),
            })),
            "importance": self.importance.as_ref().map(|all| {
                all.iter().map(|one| json!({ "name": one.name, "share": one.share })).collect::<Vec<_>>()
            }),
            "convergence": convergence(report),
            "dangerous": dangerous(report).into_iter().map(point).collect::<Vec<_>>(),
            "digest": report.digest().to_string(),
            "wall_s": self.wall_s,
            "run": self.run,
        });
        self.conclusion().write(&mut object);
        object
    }
}

fn values(numbers: &[f64]) -> Value {
    let pair = |((name, _), number): (&(&str, &str), &f64)| ((*name).to_owned(), json!(number));
    Value::Object(JUNCTION_AXES.iter().zip(numbers).map(pair).collect())
}

/// What is said below the headline of an accident.
fn lines(found: &Found, paint: &Paint) -> String {
    let mut out = String::new();
    for sentence in found.story() {
        out += &format!("       {sentence}\n");
    }
    out += &format!("       {}\n", found.measures());
    if let Some((folder, files)) = &found.kept {
        out += &format!("       {folder}: {}\n", files.join(", "));
        out += &format!("       {}\n", paint.cyan(&command(&found.numbers)));
    }
    out
}

/// One instance that was asked for.
pub(super) fn one(found: &Found, paint: &Paint) -> String {
    let label = match &found.outcome.triage {
        Some(_) => paint.red(&found.label()),
        None => paint.green(&found.label()),
    };
    let mut out = format!("{}: {label}, after {} s\n", paint.bold(NAME), short(found.outcome.time_s, 2));
    out += &lines(found, paint);
    for line in found.map_zone.iter().flat_map(|zone| zone.lines()) {
        out += &format!("       {line}\n");
    }
    out
}

/// Every evaluation as a table that any tool reads.
pub(super) fn csv(report: &Report, space: &Space) -> String {
    let column = |name: &str, unit: &str| if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") };
    let names = space.dimensions().iter().map(|dimension| column(&dimension.name, &dimension.unit));
    let header: Vec<String> =
        std::iter::once("evaluation".to_owned()).chain(names).chain(["objective_1".to_owned()]).collect();
    let mut out = header.join(",") + "\n";
    for evaluation in &report.evaluations {
        let mut row = vec![evaluation.number.to_string()];
        row.extend(evaluation.values.iter().map(f64::to_string));
        row.push(evaluation.result.as_ref().map_or_else(|_| String::new(), |outcome| outcome.value().to_string()));
        out += &(row.join(",") + "\n");
    }
    out
}
