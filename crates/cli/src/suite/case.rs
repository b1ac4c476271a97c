//! One case of `test`: a kept finding or a scenario, and how it is told.

use anabranch_record::junit::{self, Ending};
use anabranch_scenario::file::Expect;
use serde_json::{Value, json};

use super::row::Row;
use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::numbers::{duration, short};
use crate::screen::Paint;

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// As it should.
    Passed,
    /// Otherwise than it should.
    Failed,
    /// Time, states or memory ran out: never a pass.
    Incomplete,
    /// It could not be run.
    Error,
    /// Somebody stopped the tests before.
    NotRun,
}

/// One case.
#[derive(Debug)]
pub struct Case {
    /// A file, relative.
    pub name: String,
    /// How it ended.
    pub result: Result,
    /// *violated*, *not found*, *safe*, *incomplete*, *no path*, *still fails*, *fixed* …
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
        if row.failure.is_some() {
            let Row { file, verdict, failure, seconds, .. } = row;
            let failure = failure.unwrap_or_else(|| Failure::input("", ""));
            return Self { word: verdict, ..Self::error(&file, failure, seconds) };
        }
        let (result, exit) = judge(&row, expect);
        let message = sentence(&row, expect, result);
        let again = match (row.run(), row.findings()) {
            (Some(run), 1..) => format!("anabranch replay {run}#1"),
            _ => format!("anabranch explore {}", row.file),
        };
        let mut details = row.to_json();
        details["expect"] = json!(expect.word());
        Self {
            name: row.file,
            result,
            word: row.verdict,
            message,
            again,
            seconds: row.seconds,
            exit,
            failure: None,
            details,
        }
    }

    /// One line for people.
    pub fn line(&self, paint: &Paint) -> String {
        let word = match self.result {
            Result::Passed => paint.green("pass"),
            Result::Failed => paint.red("FAIL"),
            Result::Incomplete => paint.yellow("INCOMPLETE"),
            Result::Error => paint.red("ERROR"),
            Result::NotRun => paint.yellow("not run"),
        };
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
            Result::Incomplete | Result::Error => Ending::Error,
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
        let result = match self.result {
            Result::Passed => "passed",
            Result::Failed => "failed",
            Result::Incomplete => "incomplete",
            Result::Error => "error",
            Result::NotRun => "not run",
        };
        json!({
            "name": self.name,
            "result": result,
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

/// An exploration that ended early is no pass, whatever was expected, unless what was expected was found.
fn judge(row: &Row, expect: Expect) -> (Result, Exit) {
    let fits = match expect {
        Expect::Violated => row.verdict == "violated",
        Expect::NotFound => row.verdict == "not found" || row.verdict == "safe",
        Expect::Safe => row.verdict == "safe",
        Expect::NoPath => row.verdict == "no path",
    };
    match (row.verdict.as_str(), row.exit) {
        (_, Exit::Interrupted) => (Result::Incomplete, Exit::Interrupted),
        // Too many random runs left what was explored.
        ("not found", Exit::Incomplete) => (Result::Incomplete, Exit::Incomplete),
        _ if fits => (Result::Passed, Exit::Done),
        ("not reproducible", _) => (Result::Failed, Exit::NotReproducible),
        ("incomplete", _) => (Result::Incomplete, Exit::Incomplete),
        _ => (Result::Failed, Exit::Findings),
    }
}

fn sentence(row: &Row, expect: Expect, result: Result) -> String {
    let first = row.first_finding();
    let mut text = match row.verdict.as_str() {
        "violated" => {
            let id = first["requirement"].as_str().unwrap_or_default();
            let time = short(first["time_s"].as_f64().unwrap_or(0.0), 3);
            format!("violated `{id}` after {time} s by {}", row.worst_combination())
        }
        "incomplete" => format!("incomplete: {}; nothing found so far, which is no pass", row.stop()),
        "no path" => row.stop().to_owned(),
        verdict => verdict.to_owned(),
    };
    if result == Result::Failed && expect != Expect::NotFound {
        text = format!("expected {}, but {text}", expect.word());
    } else if result == Result::Passed && expect != Expect::NotFound {
        text += ", as expected";
    }
    text
}
