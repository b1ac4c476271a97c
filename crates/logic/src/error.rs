//! Samples that are no trace.

/// Samples that are no trace.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TraceError {
    /// Nothing was sampled.
    #[error("a trace needs at least one sample")]
    Empty,
    /// The step between samples is not a positive time.
    #[error("the step between samples is {0} s; it must be positive and finite")]
    Step(f64),
    /// A time is not later than the one before it.
    #[error("sample {index}: its time {time_s} s is not later than that of the sample before it")]
    Order {
        /// Number of the sample.
        index: usize,
        /// Its time.
        time_s: f64,
    },
    /// A value is not a finite number.
    #[error("sample {index} of signal {signal} is {value}; values must be finite")]
    NotFinite {
        /// Position in the table of signals.
        signal: usize,
        /// Number of the sample.
        index: usize,
        /// What was found.
        value: f64,
    },
    /// A signal has fewer or more samples than there are times.
    #[error("signal {signal} has {found} samples; there are {expected} times")]
    Length {
        /// Position in the table of signals.
        signal: usize,
        /// Its samples.
        found: usize,
        /// Samples of the trace.
        expected: usize,
    },
    /// The formula speaks about more signals than the trace or frame has.
    #[error("{found} signals; the formula was made for {expected}")]
    Signals {
        /// What there is.
        found: usize,
        /// What the formula needs.
        expected: usize,
    },
}
