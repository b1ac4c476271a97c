//! What can be wrong with an FMU, each with its place.

use std::path::PathBuf;

use crate::misbehaviour::{Kind, Misbehaviour};

/// What a function of an FMU returned; the numbers are those of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok,
    /// Done, with doubts.
    Warning,
    /// Not done, but another attempt may succeed.
    Discard,
    /// Failed; the component can only be restored or freed.
    Error,
    /// Failed, and every component of this library with it.
    Fatal,
    /// Will be done later; never asked for.
    Pending,
    /// A number the standard does not know.
    Unknown(i32),
}

impl Status {
    /// From the number.
    pub fn of(number: i32) -> Self {
        match number {
            0 => Self::Ok,
            1 => Self::Warning,
            2 => Self::Discard,
            3 => Self::Error,
            4 => Self::Fatal,
            5 => Self::Pending,
            other => Self::Unknown(other),
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Warning => f.write_str("warning"),
            Self::Discard => f.write_str("discard"),
            Self::Error => f.write_str("error"),
            Self::Fatal => f.write_str("fatal"),
            Self::Pending => f.write_str("pending"),
            Self::Unknown(number) => write!(f, "{number}, which the standard does not know"),
        }
    }
}

/// Why an FMU cannot be used, or what failed in it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FmuError {
    /// The file is no archive we unpack.
    #[error("{}: {text}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
    /// `modelDescription.xml` cannot be used.
    #[error("modelDescription.xml:{line}:{column}: {text}")]
    Description {
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
        /// What is wrong.
        text: String,
    },
    /// No binary for this machine.
    #[error("there is no {wanted} in the FMU; it has {}", list(there))]
    NoBinary {
        /// What would run here.
        wanted: String,
        /// Folders of binaries it has.
        there: Vec<String>,
    },
    /// The system does not load the binary.
    #[error("the binary does not load: {text}")]
    Library {
        /// What the system says.
        text: String,
    },
    /// The binary lacks functions of the standard.
    #[error("the binary lacks {}", list(names))]
    MissingFunctions {
        /// Their names.
        names: Vec<String>,
    },
    /// Variables do not fit what a driver gets and gives.
    #[error("{text}")]
    Mapping {
        /// What does not fit, and what there is.
        text: String,
    },
    /// The FMU refused to be instantiated.
    #[error("the FMU refuses to be instantiated{}", said(log))]
    Instantiate {
        /// What it logged.
        log: String,
    },
    /// A function failed.
    #[error("{function} returned {status}{}", said(log))]
    Call {
        /// Name of the function, or with its values.
        function: String,
        /// What it returned.
        status: Status,
        /// What it logged.
        log: String,
    },
    /// Saved states do not work as the description claims.
    #[error("{text}")]
    State {
        /// What does not work.
        text: String,
    },
    /// Something was asked of a branch or a saved state that is not there.
    #[error("{text}")]
    Order {
        /// What was asked.
        text: String,
    },
    /// An output that no decision can be made of.
    #[error("{text}")]
    Output {
        /// Which one, and its value.
        text: String,
    },
}

impl FmuError {
    /// Whether every component of the library is lost with it, or only the branch.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::Call { status: Status::Fatal | Status::Unknown(_), .. })
    }
    /// As the misbehaviour of a whole instance.
    pub fn into_misbehaviour(self) -> Misbehaviour {
        let kind = match &self {
            Self::Call { status: Status::Fatal | Status::Unknown(_), .. } => Kind::Crash,
            Self::Call { .. } | Self::Output { .. } | Self::Order { .. } => Kind::Exception,
            Self::State { .. } => Kind::BrokenPromise,
            Self::Archive { .. }
            | Self::Description { .. }
            | Self::NoBinary { .. }
            | Self::Library { .. }
            | Self::MissingFunctions { .. }
            | Self::Mapping { .. }
            | Self::Instantiate { .. } => Kind::NoStart,
        };
        Misbehaviour::new(kind, self.to_string())
    }
}

/// Names for people; long lists end with how many there are.
pub(super) fn list(names: &[String]) -> String {
    /// More names do not help to find the right one.
    const SHOWN_MAX: usize = 24;
    let shown: Vec<String> = names.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
    match (names.len(), names.len().saturating_sub(SHOWN_MAX)) {
        (0, _) => "none".to_owned(),
        (_, 0) => shown.join(", "),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

fn said(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!("; it logged: {log}") }
}
