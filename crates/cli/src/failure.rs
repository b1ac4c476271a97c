//! What keeps a verb from doing its work, and how it is said.

use std::path::Path;

use anabranch_explore::ExploreError;
use anabranch_kernel::Fault;
use anabranch_record::RecordError;
use anabranch_scenario::file::{Colour, Report};
use serde_json::{Value, json};

use crate::escape::escape_lines;
use crate::exit::Exit;

/// A verb that could not do its work. A violated requirement is never one.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file with mistakes, each with its place.
    #[error("{0}")]
    Located(Report),
    /// Anything else.
    #[error("{message}")]
    Plain {
        /// How the program ends.
        exit: Exit,
        /// What happened.
        message: String,
        /// How to go on; may be empty.
        help: String,
    },
}

impl Failure {
    /// Input that cannot be used.
    pub fn input(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Plain { exit: Exit::BadInput, message: message.into(), help: help.into() }
    }
    /// A file that the system refuses.
    pub fn file(what: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::input(format!("cannot {what} `{}`: {error}", path.display()), "")
    }
    /// How the program ends.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Located(_) => Exit::BadInput,
            Self::Plain { exit, .. } => *exit,
        }
    }
    /// For people.
    pub fn render(&self, colour: Colour) -> String {
        match self {
            Self::Located(report) => report.render(colour),
            Self::Plain { message, help, .. } => {
                let (red, cyan, off) = match colour {
                    Colour::On => ("\x1b[1;31m", "\x1b[36m", "\x1b[0m"),
                    Colour::Off => ("", "", ""),
                };
                let help = if help.is_empty() {
                    String::new()
                } else {
                    format!("  {cyan}help{off}: {}\n", escape_lines(help))
                };
                format!("{red}error{off}: {}\n{help}", escape_lines(message))
            }
        }
    }
    /// For machines.
    pub fn to_json(&self) -> Value {
        let (message, help, diagnostics) = match self {
            Self::Located(report) => ("the file has mistakes", "", diagnostics_json(report)),
            Self::Plain { message, help, .. } => (message.as_str(), help.as_str(), json!([])),
        };
        json!({
            "schema": "anabranch.error/1",
            "exit": self.exit().code(),
            "message": message,
            "help": help,
            "diagnostics": diagnostics,
        })
    }
}

/// Every diagnostic of a report with its place.
pub fn diagnostics_json(report: &Report) -> Value {
    let one = |d: &anabranch_scenario::file::Diagnostic| {
        json!({
            "code": d.code,
            "file": d.file,
            "line": d.line,
            "column": d.column,
            "length": d.length,
            "message": d.message,
            "help": d.help,
        })
    };
    report.diagnostics.iter().map(one).collect()
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Self::Located(report)
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::input(error.to_string(), "")
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let (exit, message) = match fault {
            Fault::Contract(_) | Fault::Numeric(_) => {
                (Exit::Bug, format!("the simulation could not be computed: {fault}"))
            }
            // It began well, and then somebody else went away: what was asked is not answered, which is no pass.
            Fault::External(what) => (Exit::Incomplete, format!("the simulation could not be completed: {what}")),
        };
        Self::Plain { exit, message, help: String::new() }
    }
}

impl From<ExploreError> for Failure {
    fn from(error: ExploreError) -> Self {
        match error {
            ExploreError::Start(fault) => fault.into(),
            other => Self::input(other.to_string(), ""),
        }
    }
}
