//! What is wrong with an expression, where, and how to mend it.

/// A piece of the text of an expression, in bytes.
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

/// An expression that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// Where in the text.
    pub at: Span,
    /// What is wrong.
    pub message: String,
    /// How to go on.
    pub suggestion: Option<String>,
}

impl ExpressionError {
    pub(crate) fn new(at: Span, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), suggestion: None }
    }
    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// The known name that was probably meant: the same without its prefix, or few letters apart.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let rank = |candidate: &&str| {
        let own = candidate.rsplit('.').next().unwrap_or(candidate);
        if own == name { 0 } else { letters_apart(name, candidate).min(1 + letters_apart(name, own)) }
    };
    // Of equally near names the longer one: people leave letters out (`kmh`) rather than add some.
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
