//! Conclusions in the results of earlier runs.

use serde_json::{Value, json};

use crate::conclusion::{Conclusion, Findings, Ground, Unfinished, Unsteady, Why};
use crate::coverage::{Coverage, Share};

/// Key of the typed conclusion in results.
const CONCLUSION: &str = "conclusion";
/// Key of its word, for scripts.
const VERDICT: &str = "verdict";

impl Conclusion {
    /// Writes the word for scripts and the typed conclusion into a result.
    pub fn write(&self, result: &mut Value) {
        result[VERDICT] = json!(self.word());
        result[CONCLUSION] = json!(self);
    }

    /// Reads the conclusion of a result. Results of versions that wrote the word alone are understood; what is not
    /// understood is incomplete, never a pass.
    pub fn read(result: &Value) -> Self {
        match serde_json::from_value(result[CONCLUSION].clone()) {
            Ok(conclusion) => conclusion,
            Err(_) => of_older(result),
        }
    }
}

/// From the words of versions without typed conclusions.
fn of_older(result: &Value) -> Conclusion {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let stop = || result["stop"].as_str().unwrap_or("there is no result").to_owned();
    match result[VERDICT].as_str() {
        Some("violated") => Conclusion::Violated(Findings { sequences: number(&result["findings"]).max(1), faults: 0 }),
        Some("safe") => Conclusion::Safe(Why { ground: older_ground(&result["soundness"]), limits: Vec::new() }),
        Some("not found") => {
            let coverage = older_coverage(result);
            if coverage.is_enough() {
                Conclusion::NotFound { resolution: None, coverage }
            } else {
                Conclusion::NotCovered(coverage)
            }
        }
        Some("not reproducible") => Conclusion::NotReproducible(Unsteady { cases: 1, first: stop() }),
        Some("no path") => Conclusion::NoPath(stop()),
        _ => Conclusion::Incomplete(Unfinished::NoResult(stop())),
    }
}

fn older_ground(soundness: &Value) -> Ground {
    match soundness["needed_m"].as_f64().filter(|_| soundness["lambda"].is_number()) {
        Some(needed) => Ground::Proven { needed, found: soundness["found_m"].as_f64() },
        None => Ground::Exhaustive,
    }
}

fn older_coverage(result: &Value) -> Coverage {
    if result["evaluations"].is_number() {
        return Coverage::NotClaimed { simulations: result["evaluations"].as_u64().unwrap_or(0) };
    }
    let coverage = &result["coverage"];
    let real = |name: &str| coverage[name].as_f64().unwrap_or(0.0);
    match coverage["covered"].as_bool() {
        _ if result["settings"]["merge"].is_string() => Coverage::NotNeeded,
        Some(is_covered) => Coverage::Measured(Share {
            runs: coverage["rollouts"].as_u64().unwrap_or(0),
            share: real("runs_inside"),
            low: real("runs_inside_low"),
            high: real("runs_inside_high"),
            needed: anabranch_explore::TARGET_SHARE,
            is_covered,
        }),
        None => Coverage::Unknown { why: "coverage was not measured".to_owned() },
    }
}
