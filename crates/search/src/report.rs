//! What a search did and found, as plain data.

use anabranch_kernel::{Digest, DigestWriter};
use serde::{Deserialize, Serialize};

use crate::objective::{Outcome, Trouble};
use crate::space::Space;

/// Who proposed a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// A corner of the space, tried before the search; reported apart.
    Probe,
    /// The optimiser.
    Optimiser,
}

/// One simulated point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Its number, from zero.
    pub number: u64,
    /// The batch it was part of.
    pub batch: u64,
    /// Who proposed it.
    pub origin: Origin,
    /// The point in the unit cube.
    pub unit: Vec<f64>,
    /// The values that were simulated.
    pub values: Vec<f64>,
    /// What it showed.
    pub result: Result<Outcome, Trouble>,
}

impl Evaluation {
    /// What leads the search; infinite where nothing could be computed.
    pub fn value(&self) -> f64 {
        self.result.as_ref().map_or(f64::INFINITY, Outcome::value)
    }
    /// Where and what, for messages.
    pub fn describe(&self, space: &Space) -> String {
        let what = match &self.result {
            Ok(outcome) => format!("robustness {}", outcome.value()),
            Err(trouble) => trouble.to_string(),
        };
        format!("evaluation {} ({}): {what}", self.number, space.describe(&self.values))
    }
}

/// A violation unlike the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accident {
    /// The evaluation that showed it first.
    pub first: u64,
    /// The most dangerous evaluation of its kind.
    pub worst: u64,
    /// How many evaluations showed it.
    pub seen: u64,
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    /// What was wanted is found.
    Found,
    /// The budget of simulations is spent.
    Simulations,
    /// The budget of simulated time is spent.
    SimulatedSeconds,
    /// No point keeps to the constraints: the last so many did not.
    Rejected {
        /// The constraint that refused most.
        constraint: String,
        /// Points refused in a row.
        in_a_row: u64,
    },
    /// More points could not be computed than are tolerated; the last one, in words.
    Trouble(String),
    /// Progress could not be saved.
    NotSaved(String),
    /// The edge asked to stop.
    Interrupted,
}

/// All of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The method's name.
    pub method: String,
    /// Every simulated point, in order.
    pub evaluations: Vec<Evaluation>,
    /// Violations unlike each other, in the order they were found.
    pub accidents: Vec<Accident>,
    /// Per constraint: its name and how many points it refused before they were simulated.
    pub rejected: Vec<(String, u64)>,
    /// Numbers of the evaluations that no other one beats by all objectives.
    pub front: Vec<u64>,
    /// Why it ended.
    pub ended: Ended,
}

/// One step of a convergence plot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Number of the evaluation.
    pub number: u64,
    /// Its value.
    pub value: f64,
    /// Lowest value so far.
    pub best: f64,
    /// Simulated time so far.
    pub simulated_seconds: f64,
}

impl Report {
    /// The most dangerous evaluation; the first of equals.
    pub fn best(&self) -> Option<&Evaluation> {
        let computed = self.evaluations.iter().filter(|e| e.result.is_ok());
        computed.min_by(|a, b| a.value().total_cmp(&b.value()).then(a.number.cmp(&b.number)))
    }
    /// How many simulations it took to the first violation.
    pub fn simulations_to_first(&self) -> Option<u64> {
        self.accidents.first().map(|accident| accident.first + 1)
    }
    /// Simulated time of all evaluations.
    pub fn simulated_seconds(&self) -> f64 {
        self.evaluations.iter().filter_map(|e| e.result.as_ref().ok()).map(|o| o.simulated_seconds).sum()
    }
    /// Points that could not be computed.
    pub fn troubles(&self) -> impl Iterator<Item = &Evaluation> {
        self.evaluations.iter().filter(|e| e.result.is_err())
    }
    /// Value and best value over simulations, for plots.
    pub fn convergence(&self) -> Vec<Step> {
        let (mut best, mut seconds) = (f64::INFINITY, 0.0);
        let step = |e: &Evaluation| {
            best = best.min(e.value());
            seconds += e.result.as_ref().map_or(0.0, |o| o.simulated_seconds);
            Step { number: e.number, value: e.value(), best, simulated_seconds: seconds }
        };
        self.evaluations.iter().map(step).collect()
    }
    /// One number for all evaluations: equal searches, equal digests.
    pub fn digest(&self) -> Digest {
        let mut writer = DigestWriter::new();
        for evaluation in &self.evaluations {
            writer.bytes(&anabranch_kernel::to_bytes(evaluation));
        }
        writer.finish()
    }
}
