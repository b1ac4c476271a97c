//! Judging a formula while the samples arrive.
//!
//! A [`Monitor`] is behaviour and never changes; what it remembers is its [`Memory`], plain data that is saved, restored
//! and written into merge keys. Operators of the past answer at once, those of the future as soon as their window is
//! complete; until then [`Monitor::interval`] bounds what the answer can become (J. Deshmukh et al., "Robust online
//! monitoring of signal temporal logic", 2017). When the trace ends the answer equals that on the finished trace.

mod bounds;
mod flow;
mod key;
mod plan;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::atom::Reading;
use crate::error::TraceError;
use crate::formula::Formula;
use crate::trace::TIME_TOLERANCE_S;
use plan::Plan;

/// A value at a time.
pub(crate) type Sample = (f64, f64);

/// What one operator remembers.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Cell {
    /// Times of samples whose answer is open.
    waiting: VecDeque<f64>,
    /// Answers of the first and second condition that are still needed. Under one condition: those that came too early.
    left: VecDeque<Sample>,
    right: VecDeque<Sample>,
    /// Answers that can still become the best of a window, in falling order.
    best: VecDeque<Sample>,
    /// For *since* without far end: its value at the last sample that was dropped.
    folded: Option<f64>,
    /// Answered by one of two conditions alone up to this time; what the other says about it comes too late.
    answered_s: Option<f64>,
}

/// What a monitor remembers of a run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    cells: Vec<Cell>,
    /// Time of the first and of the last sample.
    start_s: Option<f64>,
    last_s: f64,
    /// The answer, once it is final.
    answer: Option<f64>,
}

/// Judges a formula at the start of a trace that is still growing.
///
/// ```
/// use anabranch_kernel::units::Dimension;
/// use anabranch_logic::{Formula, Monitor, Reading, SignalKind};
/// let table = [("speed", SignalKind::Real(Dimension::Speed))];
/// let formula = Formula::parse("always[0 s, 20 s] (speed < 30 m/s)", &table).unwrap();
/// let monitor = Monitor::new(formula, Reading::Margin);
/// let mut memory = monitor.start();
/// monitor.see(&mut memory, 0.0, &[10.0]).unwrap();
/// assert_eq!(monitor.interval(&memory), (f64::NEG_INFINITY, 20.0));
/// monitor.see(&mut memory, 0.1, &[31.0]).unwrap();
/// assert_eq!(monitor.verdict(&memory), Some(false));
/// ```
#[derive(Clone, Debug)]
pub struct Monitor {
    formula: Formula,
    plan: Plan,
    reading: Reading,
    /// Answers are given as soon as nothing can change them, not when their window is complete.
    is_deciding: bool,
}

/// Buffers that are never saved: what operators hand on while one sample is seen.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    emitted: Vec<Vec<Sample>>,
    open_s: Vec<f64>,
}

impl Monitor {
    /// A monitor of a formula.
    pub fn new(formula: Formula, reading: Reading) -> Self {
        let plan = Plan::new(formula.root());
        Self { formula, plan, reading, is_deciding: false }
    }
    /// A monitor that only asks whether the formula holds, and answers 1 or −1 as soon as that is certain. It remembers less, so
    /// that more runs are alike, and takes infinite values.
    pub fn deciding(formula: Formula) -> Self {
        Self { is_deciding: true, ..Self::new(formula, Reading::Truth) }
    }
    /// What is judged.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }
    /// What is remembered before the first sample.
    pub fn start(&self) -> Memory {
        Memory { cells: vec![Cell::default(); self.plan.operators.len()], ..Memory::default() }
    }

    /// Takes in the next sample: one value for every signal.
    ///
    /// # Errors
    /// When the time is not later than that of the sample before, or values are missing or not finite.
    pub fn see(&self, memory: &mut Memory, time_s: f64, frame: &[f64]) -> Result<(), TraceError> {
        self.see_with(memory, time_s, frame, &mut Scratch::default())
    }

    /// The same with buffers that are used again, for loops.
    ///
    /// # Errors
    /// When the time is not later than that of the sample before, or values are missing or not finite.
    pub fn see_with(
        &self,
        memory: &mut Memory,
        time_s: f64,
        frame: &[f64],
        scratch: &mut Scratch,
    ) -> Result<(), TraceError> {
        self.formula.check_signals(frame.len())?;
        if !self.is_deciding
            && let Some(signal) = frame.iter().position(|value| !value.is_finite())
        {
            return Err(TraceError::NotFinite { signal, index: 0, value: frame[signal] });
        }
        let is_later = memory.start_s.is_none() || time_s > memory.last_s + 2.0 * TIME_TOLERANCE_S;
        if !(is_later && time_s.is_finite()) {
            return Err(TraceError::Order { index: 0, time_s });
        }
        memory.start_s.get_or_insert(time_s);
        memory.last_s = time_s;
        if memory.answer.is_none() {
            self.flow(memory, Some(frame), scratch);
        }
        Ok(())
    }

    /// Ends the trace: the answer becomes final. `None` if nothing was seen.
    pub fn finish(&self, memory: &mut Memory) -> Option<f64> {
        if memory.start_s.is_some() && memory.answer.is_none() {
            self.flow(memory, None, &mut Scratch::default());
        }
        memory.answer
    }

    /// The answer, if nothing that comes can change it.
    pub fn answer(&self, memory: &Memory) -> Option<f64> {
        memory.answer
    }

    /// Whether the formula holds, as soon as that is certain.
    pub fn verdict(&self, memory: &Memory) -> Option<bool> {
        match self.interval(memory) {
            (lo, _) if lo > 0.0 => Some(true),
            (_, hi) if hi < 0.0 => Some(false),
            (lo, hi) if lo == hi => Some(lo > 0.0),
            _ => None,
        }
    }
}
