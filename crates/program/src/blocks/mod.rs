//! Library blocks: the discrete blocks that block diagrams are made of, as fragments of programs (S2-25).
//!
//! A block has two parts. What it *computes* gives its outputs of this tick; what it *updates* is its memory for the
//! next one. A block whose outputs do not depend on its inputs of the same tick can break a loop: its outputs are
//! computed early and it is updated when its inputs are known.
//!
//! ```
//! use anabranch_program::blocks::Block;
//! use anabranch_program::{Builder, Now};
//!
//! let mut builder = Builder::new("ramp");
//! let one = builder.constant("one", &[1.0]).start;
//! let integrator = Block::named("DiscreteIntegrator", &[("sample_time", &[0.5])])?;
//! let level = integrator.add(&mut builder, "level", &[one])?[0];
//! let program = builder.finish()?;
//! let mut memory = program.memory();
//! let mut seen = Vec::new();
//! for tick in 0..3 {
//!     program.tick(&mut memory, Now { tick, ..Now::default() }).map_err(|fault| program.explain(&fault))?;
//!     seen.push(memory.get(level));
//! }
//! assert_eq!(seen, [0.0, 0.5, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod functions;
mod lasting;
mod named;
mod shaping;
mod sources;
mod tables;

use crate::builder::Builder;
use crate::expression::{Binary, Draw, Unary};
use crate::memory::Slot;
use crate::statement::Stmt;

/// Why there is no such block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// No block has this name.
    #[error("there is no block `{0}`")]
    Unknown(String),
    /// A parameter is missing, unknown or out of range.
    #[error("block {block}: parameter `{parameter}` {reason}")]
    Parameter {
        /// The block.
        block: String,
        /// The parameter.
        parameter: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The number of inputs or outputs is wrong.
    #[error("block {block} has {expected} {kind}, not {given}")]
    Ports {
        /// The block.
        block: String,
        /// `inputs` or `outputs`.
        kind: &'static str,
        /// How many it has.
        expected: usize,
        /// How many were given.
        given: usize,
    },
}

/// How an integrator takes the input between ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// y(n) = x(n), x(n+1) = x(n) + K·T·u(n).
    ForwardEuler,
    /// y(n) = x(n) + K·T·u(n), x(n+1) = y(n).
    BackwardEuler,
    /// y(n) = x(n) + K·T/2·u(n), x(n+1) = y(n) + K·T/2·u(n).
    Trapezoidal,
}

/// Which changes of a truth value count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// From false to true.
    Rising,
    /// From true to false.
    Falling,
    /// Both.
    Either,
}

/// What a table gives beyond its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The value at the end.
    Clip,
    /// The line through the last two points.
    Extend,
}

/// A library block with its parameters. Times are in seconds, `sample_time` is the length of a tick.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "parameters have the names that block diagrams give them; blocks say what they compute"
)]
pub enum Block {
    /// y = gain·u.
    Gain { gain: f64 },
    /// y = u + bias.
    Bias { bias: f64 },
    /// Sum of the inputs with these signs (+1 or −1).
    Sum { signs: Vec<f64> },
    /// Product of the inputs; one with sign −1 divides.
    Product { signs: Vec<f64> },
    /// A function of one input.
    Function(Unary),
    /// A function of two numbers over all inputs, from the first on; negated if asked.
    Combine { function: Binary, inputs: u32, negated: bool },
    /// y = function(u, constant).
    CompareToConstant { function: Binary, constant: f64 },
    /// 1 if low ≤ u ≤ high.
    IntervalTest { low: f64, high: f64 },
    /// The input of the tick before. In one fixed cycle a memory block is the same.
    UnitDelay { initial: f64 },
    /// The input of `ticks` ticks before.
    Delay { ticks: u32, initial: f64 },
    /// Integral of the input, within limits.
    DiscreteIntegrator { method: Method, gain: f64, sample_time: f64, initial: f64, low: f64, high: f64 },
    /// y = gain·(u(n) − u(n−1))/T; `initial` is u(−1).
    DiscreteDerivative { gain: f64, sample_time: f64, initial: f64 },
    /// Quotient of polynomials in z, highest power first (direct form II): also IIR filters.
    DiscreteTransferFcn { numerator: Vec<f64>, denominator: Vec<f64> },
    /// y = Σ coefficients(k)·u(n−k).
    DiscreteFir { coefficients: Vec<f64> },
    /// y = y + T/(tau + T)·(u − y): first-order low-pass (backward Euler).
    LowPass { time_constant: f64, sample_time: f64, initial: f64 },
    /// Parallel form, forward Euler, filtered derivative, limited output. The integral waits while the output is limited
    /// and the input would drive it further.
    Pid { p: f64, i: f64, d: f64, filter: f64, sample_time: f64, low: f64, high: f64 },
    /// The input within limits.
    Saturation { low: f64, high: f64 },
    /// Zero between the ends, shifted beyond.
    DeadZone { start: f64, end: f64 },
    /// The input, changing at most by `rising`·T up and `falling`·T (negative) down.
    RateLimiter { rising: f64, falling: f64, sample_time: f64, initial: f64 },
    /// y = interval·round(u/interval).
    Quantizer { interval: f64 },
    /// On at or above `on_point`, off at or below `off_point`, unchanged between: also hysteresis.
    Relay { on_point: f64, off_point: f64, on_value: f64, off_value: f64 },
    /// Play of a given width between input and output.
    Backlash { width: f64, initial: f64 },
    /// The first input if the second ≥ threshold, else the third.
    Switch { threshold: f64 },
    /// The first input says which of the others, from 1; another number is a fault.
    MultiportSwitch { inputs: u32 },
    /// Straight lines between points.
    Lookup1 { points: Vec<f64>, values: Vec<f64>, beyond: Beyond },
    /// Bilinear between points; values lie row by row, one row per point of the first input.
    Lookup2 { rows: Vec<f64>, columns: Vec<f64>, values: Vec<f64>, beyond: Beyond },
    /// 0, 1, … `upper`, 0, …
    CounterLimited { upper: u32 },
    /// Counts ticks in which the first input is true; the second sets it to zero first.
    Counter { initial: f64 },
    /// 1 in the tick of a change.
    DetectEdge { edge: Edge, initial: bool },
    /// 1 if the number differs from the one before.
    DetectChange { initial: f64 },
    /// Set, reset (which wins) → stored bit, its opposite.
    RsFlipFlop { initial: bool },
    /// The same number always.
    Constant { value: f64 },
    /// Seconds since tick 0.
    Clock { sample_time: f64 },
    /// `before` until `time`, then `after`.
    Step { time: f64, before: f64, after: f64, sample_time: f64 },
    /// `initial`, and from `start` on growing by `slope` per second.
    Ramp { slope: f64, start: f64, initial: f64, sample_time: f64 },
    /// bias + amplitude·sin(frequency·t + phase), frequency in rad/s.
    Sine { amplitude: f64, frequency: f64, phase: f64, bias: f64, sample_time: f64 },
    /// `amplitude` for `width` of every `period` ticks, from tick `delay` on.
    Pulse { amplitude: f64, period: u32, width: u32, delay: u32 },
    /// Random numbers: mean + deviation·draw.
    Random { draw: Draw, mean: f64, deviation: f64 },
}

/// A block in a program.
#[derive(Clone, Debug, Default)]
pub struct Emitted {
    /// Gives the outputs of this tick.
    pub compute: Vec<Stmt>,
    /// Gives the memory for the next tick. Reads inputs, and comes after `compute`.
    pub update: Vec<Stmt>,
}

impl Block {
    /// How many inputs it has.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Sum { signs } | Self::Product { signs } => signs.len(),
            Self::Combine { inputs, .. } => *inputs as usize,
            Self::Switch { .. } => 3,
            Self::MultiportSwitch { inputs } => 1 + *inputs as usize,
            Self::Lookup2 { .. } | Self::RsFlipFlop { .. } | Self::Counter { .. } => 2,
            Self::CounterLimited { .. }
            | Self::Constant { .. }
            | Self::Clock { .. }
            | Self::Step { .. }
            | Self::Ramp { .. }
            | Self::Sine { .. }
            | Self::Pulse { .. }
            | Self::Random { .. } => 0,
            _ => 1,
        }
    }
    /// How many outputs it has.
    pub fn outputs(&self) -> usize {
        if matches!(self, Self::RsFlipFlop { .. }) { 2 } else { 1 }
    }
    /// Whether an output depends on an input of the same tick. A loop needs one block in which none does.
    pub fn passes_through(&self) -> bool {
        match self {
            Self::UnitDelay { .. } => false,
            Self::Delay { ticks, .. } => *ticks == 0,
            Self::DiscreteIntegrator { method, .. } => *method != Method::ForwardEuler,
            Self::DiscreteFir { coefficients } => coefficients.first().is_some_and(|&first| first != 0.0),
            Self::DiscreteTransferFcn { numerator, denominator } => numerator.len() == denominator.len(),
            _ => self.inputs() > 0,
        }
    }
    /// The statements of this block between given slots; its own memory is allocated under `name`.
    ///
    /// # Errors
    /// If the number of inputs or outputs is wrong.
    pub fn emit(
        &self,
        builder: &mut Builder,
        name: &str,
        inputs: &[Slot],
        outputs: &[Slot],
    ) -> Result<Emitted, BlockError> {
        let given = [("inputs", self.inputs(), inputs.len()), ("outputs", self.outputs(), outputs.len())];
        for (kind, expected, given) in given {
            if expected != given {
                return Err(BlockError::Ports { block: name.to_owned(), kind, expected, given });
            }
        }
        let mut emitted = Emitted::default();
        let mut wiring = Wiring { builder, name, inputs, outputs, emitted: &mut emitted };
        let done = functions::emit(self, &mut wiring)
            || lasting::emit(self, &mut wiring)
            || shaping::emit(self, &mut wiring)
            || tables::emit(self, &mut wiring)
            || sources::emit(self, &mut wiring);
        debug_assert!(done, "no module knows {self:?}");
        Ok(emitted)
    }
    /// This block as one step: compute, then update. For blocks outside loops.
    ///
    /// # Errors
    /// If the number of inputs is wrong.
    pub fn add(&self, builder: &mut Builder, name: &str, inputs: &[Slot]) -> Result<Vec<Slot>, BlockError> {
        let outputs: Vec<Slot> = match self.outputs() {
            1 => vec![builder.signal(name, 1).start],
            count => (0..count).map(|k| builder.signal(format!("{name}.{}", k + 1), 1).start).collect(),
        };
        let emitted = self.emit(builder, name, inputs, &outputs)?;
        let body = emitted.compute.into_iter().chain(emitted.update).collect();
        builder.step(name, body);
        Ok(outputs)
    }
}

/// Where a block is put.
struct Wiring<'a> {
    builder: &'a mut Builder,
    name: &'a str,
    inputs: &'a [Slot],
    outputs: &'a [Slot],
    emitted: &'a mut Emitted,
}

impl Wiring<'_> {
    fn state(&mut self, what: &str, initial: &[f64]) -> crate::Span {
        self.builder.state(format!("{}.{what}", self.name), initial)
    }
    fn compute(&mut self, stmt: impl Into<Stmt>) {
        self.emitted.compute.push(stmt.into());
    }
    fn update(&mut self, stmt: impl Into<Stmt>) {
        self.emitted.update.push(stmt.into());
    }
    /// Sets the first output.
    fn give(&mut self, value: impl Into<crate::Expr>) {
        let stmt = Stmt::set(self.outputs[0], value);
        self.compute(stmt);
    }
}
