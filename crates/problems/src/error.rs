//! What is wrong with a request.

/// A problem or an input that cannot be understood.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// Nobody knows a problem of this name.
    #[error("there is no problem `{name}`; problems are {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A word of an input is no number.
    #[error(
        "row {row} of the input: `{word}` is not a finite number; write `0 100 0; 15 50 0`: a time and {inputs} values"
    )]
    Word {
        /// Which row, from one.
        row: usize,
        /// What was found.
        word: String,
        /// Values of a row.
        inputs: usize,
    },
    /// A row of an input has too few or too many numbers.
    #[error("row {row} of the input has {found} numbers; it needs a time and {inputs} values")]
    Row {
        /// Which row, from one.
        row: usize,
        /// How many numbers it has.
        found: usize,
        /// Values of a row.
        inputs: usize,
    },
    /// Times of an input do not begin with zero or do not increase.
    #[error("row {row} of the input: times begin with 0 and increase, but here stands {time_s} s")]
    Time {
        /// Which row, from one.
        row: usize,
        /// Its time.
        time_s: f64,
    },
    /// A value lies outside of its range.
    #[error("row {row} of the input: {value} is not between {lo} and {hi}")]
    Range {
        /// Which row, from one.
        row: usize,
        /// What was found.
        value: f64,
        /// Smallest value.
        lo: f64,
        /// Largest value.
        hi: f64,
    },
    /// An input has too few or too many numbers.
    #[error("the input has {found} numbers; {expected} are needed")]
    Length {
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
}
