//! What is wrong with a formula or a trace, where, and how to mend it.

/// A piece of the text of a formula, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub offset: usize,
    /// How long it is.
    pub length: usize,
}

impl Span {
    /// From the beginning of one piece to the end of another.
    pub(crate) fn to(self, last: Self) -> Self {
        Self { offset: self.offset, length: last.offset + last.length - self.offset }
    }
}

/// A formula that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FormulaError {
    /// Where in the text.
    pub at: Span,
    /// What is wrong.
    pub message: String,
    /// How to go on.
    pub suggestion: Option<String>,
}

impl FormulaError {
    pub(crate) fn new(at: Span, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), suggestion: None }
    }
    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

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

/// The known name that was probably meant: the same without its prefix, or few letters apart.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let rank = |candidate: &&str| {
        let own = candidate.rsplit('.').next().unwrap_or(candidate);
        if own == name { 0 } else { letters_apart(name, candidate).min(1 + letters_apart(name, own)) }
    };
    let best = known.map(|k| (rank(&k), std::cmp::Reverse(k.len()), k)).min();
    best.filter(|(rank, _, k)| *rank <= 1 + k.len() / 4).map(|(_, _, k)| k)
}

/// Levenshtein distance.
fn letters_apart(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.chars().count()]
}
