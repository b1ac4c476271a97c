//! Samples of signals over time.

use crate::error::TraceError;

/// Times that differ by less count as the same: sums of decimal fractions are not exact.
pub const TIME_TOLERANCE_S: f64 = 1e-9;
/// The same for evenly spaced samples, in steps.
const STEP_TOLERANCE: f64 = 1e-6;

/// When samples were taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Clock {
    /// Every `step_s` seconds, from zero on.
    Even { step_s: f64, len: usize },
    /// At these times.
    Times(Vec<f64>),
}

impl Clock {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Even { len, .. } => *len,
            Self::Times(times) => times.len(),
        }
    }
    pub(crate) fn time_s(&self, index: usize) -> f64 {
        match self {
            Self::Even { step_s, .. } => step_s * index as f64,
            Self::Times(times) => times[index],
        }
    }
    /// The windows of samples from `from_s` to `to_s` relative to the samples from number `first` on.
    pub(crate) fn windows(&self, from_s: f64, to_s: f64, first: usize) -> Windows<'_> {
        match self {
            Self::Even { step_s, len } => {
                let steps = |x: f64| x.clamp(-1e15, 1e15) as i64;
                let from = steps((from_s / step_s - STEP_TOLERANCE).ceil());
                let to = steps((to_s / step_s + STEP_TOLERANCE).floor()) + 1;
                Windows::Even { from, to, len: *len as i64 }
            }
            Self::Times(times) => {
                let begin = times.get(first).map_or(f64::INFINITY, |t| t + from_s - TIME_TOLERANCE_S);
                let end = times.get(first).map_or(f64::INFINITY, |t| t + to_s + TIME_TOLERANCE_S);
                let start = times.partition_point(|&t| t < begin);
                let stop = times.partition_point(|&t| t <= end);
                Windows::Times { times, from_s, to_s, start, stop }
            }
        }
    }
}

/// Which samples lie in the window of a sample. Asked for increasing samples only.
pub(crate) enum Windows<'t> {
    Even { from: i64, to: i64, len: i64 },
    Times { times: &'t [f64], from_s: f64, to_s: f64, start: usize, stop: usize },
}

impl Windows<'_> {
    /// The first sample of the window and the one after its last; empty if the first is not before the second.
    #[inline(always)]
    pub(crate) fn of(&mut self, index: usize) -> (usize, usize) {
        match self {
            Self::Even { from, to, len } => {
                let index = index as i64;
                ((index + *from).clamp(0, *len) as usize, (index + *to).clamp(0, *len) as usize)
            }
            Self::Times { times, from_s, to_s, start, stop } => {
                let (begin, end) = (times[index] + *from_s - TIME_TOLERANCE_S, times[index] + *to_s + TIME_TOLERANCE_S);
                while *start < times.len() && times[*start] < begin {
                    *start += 1;
                }
                while *stop < times.len() && times[*stop] <= end {
                    *stop += 1;
                }
                (*start, *stop)
            }
        }
    }
}

/// Samples of all signals of a table, signal by signal.
///
/// ```
/// use anabranch_logic::Trace;
/// let trace = Trace::even(0.1, vec![vec![1.0, 2.0, 3.0]]).unwrap();
/// assert_eq!((trace.len(), trace.time_s(2)), (3, 0.2));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub(crate) clock: Clock,
    pub(crate) signals: Vec<Vec<f64>>,
}

impl Trace {
    /// Samples at increasing times.
    ///
    /// # Errors
    /// When times do not increase, values are not finite, or lengths differ.
    pub fn new(times_s: Vec<f64>, signals: Vec<Vec<f64>>) -> Result<Self, TraceError> {
        let mut before = f64::NEG_INFINITY;
        for (index, &time_s) in times_s.iter().enumerate() {
            if !(time_s > before && time_s.is_finite()) {
                return Err(TraceError::Order { index, time_s });
            }
            before = time_s;
        }
        Self::checked(Clock::Times(times_s), signals)
    }

    /// Samples every `step_s` seconds, from zero on.
    ///
    /// # Errors
    /// When the step is not positive, values are not finite, or lengths differ.
    pub fn even(step_s: f64, signals: Vec<Vec<f64>>) -> Result<Self, TraceError> {
        if !(step_s > 0.0 && step_s.is_finite()) {
            return Err(TraceError::Step(step_s));
        }
        let len = signals.first().map_or(0, Vec::len);
        Self::checked(Clock::Even { step_s, len }, signals)
    }

    fn checked(clock: Clock, signals: Vec<Vec<f64>>) -> Result<Self, TraceError> {
        let expected = clock.len();
        if expected == 0 {
            return Err(TraceError::Empty);
        }
        for (signal, values) in signals.iter().enumerate() {
            if values.len() != expected {
                return Err(TraceError::Length { signal, found: values.len(), expected });
            }
            // One sum instead of a branch per sample: it is finite exactly if no product with zero is not a number.
            let poison: f64 = values.iter().map(|value| value * 0.0).sum();
            if poison != 0.0 {
                let index = values.iter().position(|value| !value.is_finite()).unwrap_or(0);
                return Err(TraceError::NotFinite { signal, index, value: values[index] });
            }
        }
        Ok(Self { clock, signals })
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.clock.len()
    }
    /// Never: a trace has at least one sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// When a sample was taken.
    ///
    /// # Panics
    /// When there is no such sample.
    pub fn time_s(&self, index: usize) -> f64 {
        self.clock.time_s(index)
    }
    /// The samples of a signal.
    ///
    /// # Panics
    /// When there is no such signal.
    pub fn signal(&self, signal: usize) -> &[f64] {
        &self.signals[signal]
    }
    /// One value of every signal.
    pub fn frame(&self, index: usize) -> Vec<f64> {
        self.signals.iter().map(|values| values[index]).collect()
    }
}
