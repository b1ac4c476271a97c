//! What a search may vary, as the file says it.

use super::span::{Located, Span};

/// `[search]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSpec {
    /// Where the table begins; the file if there is none.
    pub span: Span,
    /// What varies, in the order of the file.
    pub vary: Vec<VarySpec>,
    /// What points must keep to.
    pub require: Vec<Located<String>>,
    /// What is made small; empty for clearance.
    pub objective: Vec<Located<String>>,
    /// How often errors may change; nothing for the usual.
    pub error_points: Option<Located<u32>>,
    /// Most simulations.
    pub budget: Located<u64>,
}

/// One value that varies.
#[derive(Clone, Debug, PartialEq)]
pub struct VarySpec {
    /// Its path: `object.crosser.speed`.
    pub key: Located<String>,
    /// Over what.
    pub over: Located<Over>,
}

/// What a value varies over.
#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    /// Every number from one to the other, in the unit that was written.
    Range(Range),
    /// From one to the other in steps.
    Steps {
        /// From where to where.
        range: Range,
        /// Width of a step.
        step: f64,
    },
    /// One of several alternatives, as TOML.
    OneOf(Vec<String>),
    /// A signal over the time of a run.
    Signal {
        /// From where to where.
        range: Range,
        /// Control points.
        points: usize,
        /// Whether it goes straight from point to point; else it holds.
        is_linear: bool,
    },
}

/// Two numbers with one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Smallest.
    pub lo: f64,
    /// Largest.
    pub hi: f64,
    /// As written; empty for plain numbers.
    pub unit: String,
}

impl Range {
    /// A value of the range as somebody would write it in the file.
    pub fn text(&self, value: f64) -> String {
        if self.unit.is_empty() { format!("{value:?}") } else { format!("\"{value} {}\"", self.unit) }
    }
    /// A whole number of the range, for keys that count.
    pub fn whole_text(&self, value: f64) -> String {
        format!("{}", value.round() as i64)
    }
}
