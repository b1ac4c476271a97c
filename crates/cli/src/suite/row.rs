//! One scenario of a suite.

use std::path::Path;

use anabranch_scenario::file::Expect;
use anabranch_study::{Conclusion, Tone};
use serde_json::{Value, json};

use super::case::trouble_word;
use super::muted;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load::Override;
use crate::numbers::short;
use crate::project;
use crate::screen::{Global, Screen};
use crate::usage::WallClock;
use crate::verbs::explore::{Concluded, Explore};

/// What came out of one scenario.
#[derive(Debug)]
pub struct Row {
    /// The file, relative.
    pub file: String,
    /// The verdict, or what kept it from being explored.
    pub answer: Result<Conclusion, Failure>,
    /// What the scenario says about tests, if it could be read.
    pub expect: Option<Expect>,
    /// How the program would end with this scenario alone.
    pub exit: Exit,
    /// The object of `explore`; `null` if it could not be explored.
    pub machine: Value,
    /// Seconds on the wall.
    pub seconds: f64,
}

impl Row {
    /// Explores one scenario; what goes wrong with it is a part of the answer and does not stop the others.
    pub fn evaluate(verb: &Explore, file: &Path, before: &[Override], global: &Global, screen: &Screen) -> Self {
        let clock = WallClock::start();
        let mut expect = None;
        let done = verb.load(file, before).and_then(|loaded| {
            expect = Some(loaded.spec.expect);
            verb.explore_one(&loaded, global, &muted(screen))
        });
        let (exit, answer, machine) = match done {
            Ok(Concluded { exit, conclusion, machine, .. }) => (exit, Ok(conclusion), machine),
            Err(failure) => (failure.exit(), Err(failure), Value::Null),
        };
        Self { file: project::relative(file), answer, expect, exit, machine, seconds: clock.seconds() }
    }

    /// The word of the verdict, or what kept it from being explored.
    pub fn word(&self) -> &'static str {
        self.answer.as_ref().map_or_else(trouble_word, Conclusion::word)
    }
    /// What kept it from being explored.
    pub fn failure(&self) -> Option<&Failure> {
        self.answer.as_ref().err()
    }
    /// Its colour.
    pub fn tone(&self) -> Tone {
        self.answer.as_ref().map_or(Tone::Bad, Conclusion::tone)
    }
    /// How many error sequences violate.
    pub fn findings(&self) -> u64 {
        self.machine["findings"].as_u64().unwrap_or(0)
    }
    /// The smallest clearance; `None` if nothing is near.
    pub fn worst_clearance_m(&self) -> Option<f64> {
        self.machine["worst_clearance_m"].as_f64()
    }
    /// Segments that were simulated.
    pub fn segments(&self) -> u64 {
        self.machine["segments"].as_u64().unwrap_or(0)
    }
    /// The folder of the run, if there is one.
    pub fn run(&self) -> Option<&str> {
        self.machine["run"].as_str()
    }
    /// Why it is no pass although nothing was found, in words; empty where it is one, or something was.
    pub fn why_open(&self) -> String {
        match &self.answer {
            Ok(conclusion) if !conclusion.is_pass() => conclusion.reason(),
            _ => String::new(),
        }
    }
    /// The first finding.
    pub fn first_finding(&self) -> &Value {
        &self.machine["groups"][0]
    }

    /// The errors of the first finding, in words: `3 – 5 s steering-pulls: left 6°`.
    pub fn worst_combination(&self) -> String {
        let rows = self.first_finding()["errors"].as_array().map_or(&[][..], Vec::as_slice);
        let words = |row: &Value| {
            let time = |key: &str| short(row[key].as_f64().unwrap_or(0.0), 3);
            let error = row["error"].as_str().filter(|error| *error != "none")?;
            Some(format!("{} – {} s {error}", time("from_s"), time("to_s")))
        };
        rows.iter().filter_map(words).collect::<Vec<_>>().join("; ")
    }

    /// For machines.
    pub fn to_json(&self) -> Value {
        json!({
            "file": self.file,
            "scenario": self.machine["scenario"],
            "verdict": self.word(),
            "conclusion": self.answer.as_ref().ok(),
            "exit": self.exit.code(),
            "findings": self.findings(),
            "worst_clearance_m": self.worst_clearance_m(),
            "worst_combination": self.first_finding()["errors"],
            "segments": self.segments(),
            "seconds": self.seconds,
            "stop": self.machine["stop"],
            "run": self.run(),
            "digest": self.machine["digest"],
            "error": self.failure().map(Failure::to_json),
        })
    }
}
