//! What is searched: anything that says how safe a point is.

use anabranch_kernel::Fault;
use serde::{Deserialize, Serialize};

/// One question to an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question<'a> {
    /// The values, in the order of the space's dimensions.
    pub values: &'a [f64],
    /// Nobody asks how far the first robustness lies below this: a simulation may end once it is below.
    pub decided_below: f64,
}

/// What a simulation showed.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// How safe it was, by each objective; below zero a requirement is violated. The first one leads the search.
    pub robustness: Vec<f64>,
    /// Simulated time.
    pub simulated_seconds: f64,
    /// Whether it ended before its time because the outcome was decided.
    pub stopped_early: bool,
    /// What kind of event it was, as numbers on scales of about 1, to tell accidents apart. Empty: by their parameters.
    pub signature: Vec<f64>,
}

impl Outcome {
    /// An outcome of one objective.
    pub fn of(robustness: f64, simulated_seconds: f64) -> Self {
        Self { robustness: vec![robustness], simulated_seconds, ..Self::default() }
    }
    /// What leads the search.
    pub fn value(&self) -> f64 {
        self.robustness.first().copied().unwrap_or(f64::NAN)
    }
}

/// Says how safe a point is. Equal questions have equal answers, on any thread.
pub trait Objective: Sync {
    /// Simulates one point.
    ///
    /// # Errors
    /// When it could not be computed. A violated requirement is a robustness below zero, never an error.
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault>;
}

impl<F: Fn(&[f64]) -> f64 + Sync> Objective for F {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        Ok(Outcome::of(self(question.values), 0.0))
    }
}

/// Why a point has no value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Trouble {
    /// The objective gave NaN.
    #[error("objective {0} is not a number")]
    NotANumber(usize),
    /// The objective gave fewer or more numbers than before.
    #[error("the outcome has {found} objectives, earlier ones had {expected}")]
    Length {
        /// Objectives of the first outcome.
        expected: usize,
        /// Objectives of this one.
        found: usize,
    },
    /// The simulation could not be computed.
    #[error("{0}")]
    Fault(String),
}

/// Turns an answer into something that can be worked with, or into a named trouble.
pub(crate) fn judged(answer: Result<Outcome, Fault>, expected: Option<usize>) -> Result<Outcome, Trouble> {
    let outcome = answer.map_err(|fault| Trouble::Fault(fault.to_string()))?;
    let found = outcome.robustness.len();
    if let Some(n) = outcome.robustness.iter().position(|value| value.is_nan()) {
        return Err(Trouble::NotANumber(n));
    }
    let expected = expected.unwrap_or(found.max(1));
    if found == expected { Ok(outcome) } else { Err(Trouble::Length { expected, found }) }
}
