//! One case of `test`: a kept finding or a scenario, and how it is told.

use anabranch_record::junit::{self, Ending};
pub use anabranch_record::report::CaseResult as Result;
use anabranch_scenario::file::Expect;
use anabranch_study::{Conclusion, Tone};
use serde_json::{Value, json};

use super::row::Row;
use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::numbers::{duration, short};
use crate::screen::Paint;

/// One case.
#[derive(Debug)]
pub struct Case {
    /// A file, relative.
    pub name: String,
    /// How it ended.
    pub result: Result,
    /// The word of the verdict, or *still fails*, *fixed* …
    pub word: String,
    /// One sentence about it.
    pub message: String,
    /// A command that shows it again; may be empty.
    pub again: String,
    /// Seconds on the wall.
    pub seconds: f64,
    /// What it contributes to the exit code.
    pub exit: Exit,
    /// What kept it from being run.
    pub failure: Option<Failure>,
    /// Everything else for machines.
    pub details: Value,
}

impl Case {
    /// A case that was not run.
    pub fn not_run(name: &str) -> Self {
        let (result, exit, details) = (Result::NotRun, Exit::Interrupted, Value::Null);
        let (word, message) = ("not run".to_owned(), "the tests were interrupted before".to_owned());
        Self {
            name: name.to_owned(),
            result,
            word,
            message,
            again: String::new(),
            seconds: 0.0,
            exit,
            failure: None,
            details,
        }
    }

    /// A case that could not be run.
    pub fn error(name: &str, failure: Failure, seconds: f64) -> Self {
        let message = failure.to_string().trim().to_owned();
        Self {
            name: name.to_owned(),
            result: Result::Error,
            word: "bad input".to_owned(),
            message,
            again: String::new(),
            seconds,
            exit: failure.exit(),
            failure: Some(failure),
            details: Value::Null,
        }
    }

    /// The case of an explored scenario, judged by what it expects.
    pub fn of_row(row: Row) -> Self {
        let expect = row.expect.unwrap_or(Expect::NotFound);
        let word = row.word().to_owned();
        let conclusion = match row.answer {
            Err(failure) => return Self { word, ..Self::error(&row.file, failure, row.seconds) },
            Ok(ref conclusion) => conclusion.clone(),
        };
        let (result, exit) = judge(&conclusion, row.exit, expect);
        let message = sentence(&row, &conclusion, expect, result);
        let again = match (row.run(), row.findings()) {
            (Some(run), 1..) => format!("anabranch replay {run}#1"),
            _ => format!("anabranch explore {}", row.file),
        };
        let mut details = row.to_json();
        details["expect"] = json!(expect.word());
        Self { name: row.file, result, word, message, again, seconds: row.seconds, exit, failure: None, details }
    }

    /// One line for people.
    pub fn line(&self, paint: &Paint) -> String {
        let word = paint.toned(self.result.tone(), self.result.word());
        format!("{word} {} ({}) {}\n", escape(&self.name), duration(self.seconds), escape(self.first_line()))
    }

    /// Enough of the message for a line.
    pub fn first_line(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// For CI.
    pub fn to_junit(&self) -> junit::Case {
        let ending = match self.result {
            Result::Passed => Ending::Passed,
            Result::Failed => Ending::Failed,
            // A spent budget is neither a pass nor a failure, and must not look like a pass.
            Result::Incomplete | Result::NotCovered | Result::NothingToJudge | Result::Error => Ending::Error,
            Result::NotRun => Ending::Skipped,
        };
        let again = if self.again.is_empty() { String::new() } else { format!("\nSee it again: {}", self.again) };
        let text = format!("{}{again}", self.message);
        let first = self.first_line();
        let message = if first.starts_with(&self.word) { first.to_owned() } else { format!("{}: {first}", self.word) };
        junit::Case { name: self.name.clone(), ending, word: self.word.clone(), message, text, seconds: self.seconds }
    }

    /// For machines.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "result": self.result,
            "verdict": self.word,
            "message": self.message,
            "again": self.again,
            "seconds": self.seconds,
            "exit": self.exit.code(),
            "error": self.failure.as_ref().map(Failure::to_json),
            "details": self.details,
        })
    }
}

/// What it is called when a scenario could not be explored.
pub fn trouble_word(failure: &Failure) -> &'static str {
    match failure.exit() {
        Exit::NotReproducible => "not reproducible",
        Exit::Bug => "could not be computed",
        _ => "bad input",
    }
}

/// Whether a verdict is what a scenario expects. A fault of the code under test is not the accident that was expected.
fn fits(conclusion: &Conclusion, expect: Expect) -> bool {
    match (expect, conclusion) {
        (Expect::Violated, Conclusion::Violated(findings)) => findings.has_accident(),
        (Expect::DriverFault, Conclusion::Violated(findings)) => findings.faults > 0,
        (Expect::NotFound, conclusion) => conclusion.is_pass(),
        (Expect::Safe, Conclusion::Safe(_)) | (Expect::NoPath, Conclusion::NoPath(_)) => true,
        _ => false,
    }
}

/// An exploration that ended early is no pass, whatever was expected, unless what was expected was found.
fn judge(conclusion: &Conclusion, exit: Exit, expect: Expect) -> (Result, Exit) {
    if exit == Exit::Interrupted {
        return (Result::Incomplete, exit);
    }
    if fits(conclusion, expect) {
        return (Result::Passed, Exit::Done);
    }
    let exit = Exit::of_conclusion(conclusion);
    match conclusion {
        Conclusion::Incomplete(_) => (Result::Incomplete, exit),
        Conclusion::NotCovered(_) => (Result::NotCovered, exit),
        Conclusion::NothingToJudge(_) => (Result::NothingToJudge, exit),
        _ if conclusion.tone() == Tone::Bad => (Result::Failed, exit),
        // A pass where something else was expected.
        _ => (Result::Failed, Exit::Findings),
    }
}

fn sentence(row: &Row, conclusion: &Conclusion, expect: Expect, result: Result) -> String {
    let first = row.first_finding();
    let (word, reason) = (conclusion.word(), conclusion.reason());
    let mut text = match conclusion {
        Conclusion::Violated(findings) => {
            let id = first["requirement"].as_str().unwrap_or_default();
            let time = short(first["time_s"].as_f64().unwrap_or(0.0), 3);
            let fault = if findings.has_accident() { "" } else { ", a fault of the driver and no accident" };
            format!("{word} `{id}` after {time} s by {}{fault}", row.worst_combination())
        }
        Conclusion::Incomplete(_) => format!("{word}: {reason}; nothing found so far, which is no pass"),
        Conclusion::NotCovered(_) | Conclusion::NothingToJudge(_) => format!("{word}: {reason}, which is no pass"),
        Conclusion::NoPath(_) => reason,
        Conclusion::Safe(_) | Conclusion::NotFound { .. } | Conclusion::NotReproducible(_) => word.to_owned(),
    };
    if result == Result::Failed && expect != Expect::NotFound {
        text = format!("expected {}, but {text}", expect.word());
    } else if result == Result::Passed && expect != Expect::NotFound {
        text += ", as expected";
    }
    text
}
