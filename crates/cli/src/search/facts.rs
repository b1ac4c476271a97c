//! Everything that is said about a search, for machines.

use anabranch_kernel::System;
use anabranch_search::{Baseline, Domain, Ended, Evaluation, Importance, Report, Space};
use anabranch_study::{Conclusion, Coverage, Evidence, Findings, Musts, Stop, conclude};
use serde_json::{Value, json};

use super::findings::Confirmed;
use super::objective::ScenarioObjective;
use super::scorer::Scorer;
use super::space::Varied;
use super::store::values_json;
use crate::exit::Exit;

/// Most rows of a convergence plot; more would not be seen.
const CONVERGENCE_ROWS_MAX: usize = 400;
/// Most dangerous points that are listed.
const DANGEROUS_MAX: usize = 60;

/// A search that has come to its end.
#[derive(Debug)]
pub struct Facts<'a> {
    /// What was searched.
    pub objective: &'a ScenarioObjective<'a>,
    /// What the search did.
    pub report: &'a Report,
    /// Accidents that were confirmed.
    pub findings: &'a [Confirmed],
    /// Random points beside it.
    pub baseline: Option<&'a Baseline>,
    /// Which parameters matter.
    pub importance: Option<&'a [Importance]>,
    /// Most simulations.
    pub budget: u64,
    /// Most simulations under way that the optimiser has not heard of yet.
    pub batch: usize,
    /// Wall-clock and CPU seconds.
    pub used: (f64, Option<f64>),
    /// The folder.
    pub run: String,
}

impl Facts<'_> {
    fn space(&self) -> &Space {
        &self.objective.varied.space
    }
    /// Points that are no instance of the scenario.
    pub fn refused(&self) -> usize {
        self.report.evaluations.iter().filter(|e| e.result.is_ok() && e.value() == f64::INFINITY).count()
    }
    /// Whether nothing was simulated because no point is an instance: then "not found" would be untrue.
    fn has_no_instance(&self) -> bool {
        self.refused() > 0 && self.refused() == self.report.evaluations.len()
    }
    /// Evaluations that violate a requirement.
    pub fn violations(&self) -> usize {
        self.report.evaluations.iter().filter(|e| e.value() < 0.0).count()
    }
    /// What the effort up to the first violation is in whole runs, for the comparison with random ones: an instance that a
    /// tree or the explorer scores costs many.
    pub fn runs_to_first(&self) -> Option<u64> {
        let first = self.report.simulations_to_first()?;
        if self.objective.scorer == Scorer::Run {
            return Some(first);
        }
        let done = self.report.evaluations.iter().take(first as usize);
        let seconds: f64 = done.filter_map(|e| e.result.as_ref().ok()).map(|o| o.simulated_seconds).sum();
        let run_s = f64::from(self.objective.drive.segments()) * self.objective.drive.segment_seconds();
        Some((seconds / run_s).ceil().max(1.0) as u64)
    }
    /// What evaluations are: simulations, or instances with many simulations each.
    pub fn noun(&self) -> &'static str {
        if self.objective.scorer == Scorer::Run { "simulations" } else { "instances" }
    }
    /// What the verdict rests on. A search samples: it claims no coverage.
    fn evidence(&self) -> Evidence {
        let stop = match &self.report.ended {
            Ended::Interrupted => Some(Stop::Interrupted),
            _ if self.has_no_instance() => Some(Stop::Other(self.stop())),
            Ended::Found | Ended::Simulations | Ended::SimulatedSeconds => None,
            Ended::Rejected { .. } | Ended::Trouble(_) | Ended::NotSaved(_) => Some(Stop::Other(self.stop())),
        };
        let musts = match self.objective.drive.requirement_list().has_must() {
            true => Musts::Judged,
            false => Musts::Missing("the scenario has no [[must]], so no point can violate anything".to_owned()),
        };
        Evidence { musts, ..of_search(self.findings.len(), stop, self.report.evaluations.len()) }
    }
    /// The verdict.
    pub fn conclusion(&self) -> Conclusion {
        conclude(&self.evidence())
    }
    /// How the program ends.
    pub fn exit(&self) -> Exit {
        let evidence = self.evidence();
        let is_bad = matches!(evidence.stop, Some(Stop::Other(_)));
        let exits = [Exit::of_study(&evidence, &conclude(&evidence)), if is_bad { Exit::BadInput } else { Exit::Done }];
        Exit::of(&exits)
    }
    /// Why it ended, in words; empty if all was done that was asked for.
    pub fn stop(&self) -> String {
        match &self.report.ended {
            Ended::Interrupted => "interrupted".to_owned(),
            _ if self.has_no_instance() => {
                let all = self.refused();
                format!(
                    "none of {all} points is an instance of the scenario: the car does not fit, or there is no path"
                )
            }
            Ended::Found | Ended::Simulations => String::new(),
            Ended::SimulatedSeconds => "the simulated time is spent".to_owned(),
            Ended::Rejected { constraint, in_a_row } => {
                format!("no point keeps to `{constraint}`: the last {in_a_row} did not")
            }
            Ended::Trouble(what) => what.clone(),
            Ended::NotSaved(why) => format!("progress could not be saved: {why}"),
        }
    }
    /// The object of `--format json`.
    pub fn to_json(&self) -> Value {
        let (report, space) = (self.report, self.space());
        let point = |evaluation: &Evaluation| {
            let objectives = evaluation.result.as_ref().map(|outcome| json!(outcome.robustness)).unwrap_or(Value::Null);
            json!({
                "evaluation": evaluation.number,
                "value": evaluation.value(),
                "objectives": objectives,
                "values": values_json(self.objective.varied, &evaluation.values),
                "unit": space.unit(&evaluation.values).unwrap_or_default(),
            })
        };
        let accident = |found: &Confirmed| {
            let mut object = found.json.clone();
            object["evaluation"] = json!(found.evaluation);
            object["seen"] = json!(found.seen);
            object["set"] = json!(found.set);
            object
        };
        let mut object = json!({
            "schema": "anabranch.search/1",
            "scenario": self.objective.drive.name(),
            "scenario_hash": self.objective.loaded.hash.to_string(),
            "stop": Some(self.stop()).filter(|stop| !stop.is_empty()),
            "method": report.method,
            "score": match self.objective.scorer { Scorer::Run => "run", Scorer::Graph { .. } => "graph", Scorer::Tree { .. } => "tree" },
            "objective": self.objective.measures.iter().map(|measure| &measure.text).collect::<Vec<_>>(),
            "dimensions": dimensions(self.objective.varied),
            "seed": self.objective.seed.0,
            "budget": self.budget,
            "batch": self.batch,
            "evaluations": report.evaluations.len(),
            "violations": self.violations(),
            "first_violation_evaluation": report.simulations_to_first(),
            "refused": self.refused(),
            "rejected": report.rejected.iter().map(|(name, count)| json!({ "rule": name, "points": count })).collect::<Vec<_>>(),
            "troubles": report.troubles().map(|e| e.describe(space)).collect::<Vec<_>>(),
            "seconds_simulated": report.simulated_seconds(),
            "best": report.best().map(point),
            "findings": self.findings.len(),
            "groups": self.findings.iter().map(accident).collect::<Vec<_>>(),
            "front": report.front.iter().filter_map(|n| report.evaluations.get(*n as usize)).map(point).collect::<Vec<_>>(),
            "baseline": self.baseline.map(|baseline| self.baseline_json(baseline)),
            "importance": self.importance.map(|all| all.iter().map(|one| json!({ "name": one.name, "share": one.share })).collect::<Vec<_>>()),
            "convergence": convergence(report),
            "dangerous": dangerous(report).into_iter().map(point).collect::<Vec<_>>(),
            "digest": report.digest().to_string(),
            "wall_s": self.used.0,
            "cpu_s": self.used.1,
            "segment_s": self.objective.drive.segment_seconds(),
            "run": self.run,
        });
        self.conclusion().write(&mut object);
        object
    }

    fn baseline_json(&self, baseline: &Baseline) -> Value {
        json!({
            "simulations": baseline.simulations,
            "violations": baseline.hits,
            "best": baseline.best,
            "share_low": baseline.share.0,
            "share_high": baseline.share.1,
            "statement": baseline.statement(self.runs_to_first()),
        })
    }
}

/// The evidence of any search.
pub(super) fn of_search(findings: usize, stop: Option<Stop>, simulations: usize) -> Evidence {
    Evidence {
        findings: Findings { sequences: findings as u64, faults: 0 },
        stop,
        coverage: Coverage::NotClaimed { simulations: simulations as u64 },
        ..Evidence::default()
    }
}

fn dimensions(varied: &Varied) -> Vec<Value> {
    let ends = |pick: fn(&Domain) -> f64| -> Vec<f64> {
        varied.plain(&varied.space.dimensions().iter().map(|dimension| pick(&dimension.domain)).collect::<Vec<_>>())
    };
    let low = ends(|domain| match domain {
        Domain::Real { lo, .. } => *lo,
        Domain::Whole { lo, .. } => *lo as f64,
        Domain::OneOf(_) => 0.0,
    });
    let high = ends(|domain| match domain {
        Domain::Real { hi, .. } => *hi,
        Domain::Whole { hi, .. } => *hi as f64,
        Domain::OneOf(_) => 0.0,
    });
    let one = |(n, dimension): (usize, &anabranch_search::Dimension)| {
        let (kind, lo, hi, labels) = match &dimension.domain {
            Domain::Real { .. } => ("real", json!(low[n]), json!(high[n]), Value::Null),
            Domain::Whole { .. } => ("whole", json!(low[n]), json!(high[n]), Value::Null),
            Domain::OneOf(labels) => ("one of", Value::Null, Value::Null, json!(labels)),
        };
        json!({ "name": dimension.name, "unit": dimension.unit, "kind": kind, "from": lo, "to": hi, "labels": labels })
    };
    varied.space.dimensions().iter().enumerate().map(one).collect()
}

/// The most dangerous points, the worst first.
pub(super) fn dangerous(report: &Report) -> Vec<&Evaluation> {
    let mut all: Vec<&Evaluation> = report.evaluations.iter().filter(|e| e.value().is_finite()).collect();
    all.sort_by(|a, b| a.value().total_cmp(&b.value()).then(a.number.cmp(&b.number)));
    all.truncate(DANGEROUS_MAX);
    all
}

/// Value and lowest value over simulations, thinned evenly but never at a new lowest.
pub(super) fn convergence(report: &Report) -> Vec<Value> {
    let steps = report.convergence();
    let every = steps.len().div_ceil(CONVERGENCE_ROWS_MAX).max(1);
    let mut best = f64::INFINITY;
    let kept = steps.iter().enumerate().filter(|(n, step)| {
        let is_new = step.best < best;
        best = step.best;
        is_new || n % every == 0 || n + 1 == steps.len()
    });
    kept.map(|(_, step)| json!([step.number, step.value, step.best, step.simulated_seconds])).collect()
}
