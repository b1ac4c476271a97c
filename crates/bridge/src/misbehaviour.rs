//! What code from outside can do wrong, by kind and with evidence.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The kinds, in the order in which verdicts number them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The process ended, or the module trapped.
    Crash,
    /// No answer within the deadline.
    Hang,
    /// The code raised an error of its own.
    Exception,
    /// A number that is none, or is not finite.
    NotANumber,
    /// A number outside of what a car can do.
    OutOfRange,
    /// The answer to another question, or another number of answers.
    WrongSequence,
    /// Speaks another version of the protocol.
    WrongVersion,
    /// Bytes that are no message.
    Malformed,
    /// A message beyond the limit.
    Oversized,
    /// A message that ends too early.
    Truncated,
    /// More output than allowed.
    Flood,
    /// More memory than allowed.
    Memory,
    /// The same question was answered differently.
    Nondeterministic,
    /// Slower than its budget.
    Late,
    /// Does not keep what it claims: a state that cannot be loaded, a key of another length.
    BrokenPromise,
    /// Did not start.
    NoStart,
}

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Self; 16] = [
        Self::Crash,
        Self::Hang,
        Self::Exception,
        Self::NotANumber,
        Self::OutOfRange,
        Self::WrongSequence,
        Self::WrongVersion,
        Self::Malformed,
        Self::Oversized,
        Self::Truncated,
        Self::Flood,
        Self::Memory,
        Self::Nondeterministic,
        Self::Late,
        Self::BrokenPromise,
        Self::NoStart,
    ];

    /// Name in verdicts, findings and folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Exception => "exception",
            Self::NotANumber => "not-a-number",
            Self::OutOfRange => "out-of-range",
            Self::WrongSequence => "wrong-sequence",
            Self::WrongVersion => "wrong-version",
            Self::Malformed => "malformed",
            Self::Oversized => "oversized",
            Self::Truncated => "truncated",
            Self::Flood => "flood",
            Self::Memory => "memory",
            Self::Nondeterministic => "nondeterministic",
            Self::Late => "late",
            Self::BrokenPromise => "broken-promise",
            Self::NoStart => "no-start",
        }
    }
}

/// One misbehaviour with what is known about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {text}", kind.name())]
pub struct Misbehaviour {
    /// What kind.
    pub kind: Kind,
    /// What happened, in a sentence; text from outside is not yet escaped.
    pub text: String,
    /// The last output of the process, if it had one.
    pub output: Option<Arc<str>>,
}

impl Misbehaviour {
    /// Without output.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), output: None }
    }
    /// Nobody waits for it any more. It did nothing wrong, and nobody can say what it would have done.
    pub fn cut_off() -> Self {
        Self::new(Kind::NoStart, CUT_OFF)
    }
    /// Whether it says so.
    pub fn is_cut_off(&self) -> bool {
        self.kind == Kind::NoStart && self.text == CUT_OFF
    }
    /// What a `failed` answer tells: an error of the code itself, or that the process of one branch ended. Who keeps
    /// branches as processes says so by the first word of the text, and the other branches live on.
    pub fn of_failure(text: &str, told: impl Into<String>) -> Self {
        let kind = if text.starts_with(CRASHED) { Kind::Crash } else { Kind::Exception };
        Self::new(kind, told)
    }
}

/// Said of code that was ended, or not started or asked, because nobody waits for it.
const CUT_OFF: &str = "nobody waits for it any more, because the run is ending";
/// First word of a failure that is a crash.
const CRASHED: &str = "crash: ";
