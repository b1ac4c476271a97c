//! What a scenario says about code from outside.

use super::span::{Located, Span};
use super::words::HiddenMemory;

/// A driver from outside: what starts it, and its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideSpec {
    /// What it is.
    pub program: Located<Program>,
    /// Longest wait for an answer.
    pub deadline_s: Located<f64>,
    /// Time for one step; slower ones are counted.
    pub latency_budget_s: Located<f64>,
    /// Copies side by side; one per core if `None`.
    pub instances: Option<Located<u32>>,
    /// Most main memory of one copy.
    pub memory_bytes: Located<u64>,
    /// Memory that it does not report.
    pub hidden: Located<HiddenMemory>,
    /// Share of segments that are run twice.
    pub double: Located<f64>,
    /// Which variables of an FMU are what; empty for everything else.
    pub mapping: MappingSpec,
}

/// What cannot be told from the names of an FMU's variables: lists of `variable = what it is`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MappingSpec {
    /// Where inputs come from.
    pub inputs: Vec<Located<String>>,
    /// What outputs are.
    pub outputs: Vec<Located<String>>,
    /// Numbers set before the start.
    pub parameters: Vec<Located<String>>,
    /// What of its memory counts for merging, each with its cell size or alone.
    pub key: Vec<Located<String>>,
    /// Somebody vouches that it has no memory besides what it gives.
    pub memoryless: bool,
}

/// Which part of the car comes from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Between command and car.
    Actuator,
    /// The car itself.
    Plant,
}

/// An FMU as a part of the car.
#[derive(Clone, Debug, PartialEq)]
pub struct PartSpec {
    /// Which part.
    pub kind: PartKind,
    /// What it is, and its limits.
    pub outside: OutsideSpec,
    /// Where its key is written.
    pub span: Span,
}

/// What a driver from outside is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A file, as written: relative to the scenario.
    File(String),
    /// A command with its arguments.
    Command(Vec<String>),
    /// The address of one that is running already.
    Zmq(String),
}
