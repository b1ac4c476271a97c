//! One scenario of a suite.

use std::path::Path;

use anabranch_scenario::file::Expect;
use serde_json::{Value, json};

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
    /// *violated*, *not found*, *safe*, *incomplete*, *no path*; or why it could not be explored.
    pub verdict: String,
    /// What the scenario says about tests, if it could be read.
    pub expect: Option<Expect>,
    /// How the program would end with this scenario alone.
    pub exit: Exit,
    /// What kept it from being explored.
    pub failure: Option<Failure>,
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
        let (exit, failure, machine) = match done {
            Ok(Concluded { exit, machine, .. }) => (exit, None, machine),
            Err(failure) => (failure.exit(), Some(failure), Value::Null),
        };
        let verdict = match (&failure, exit) {
            (None, _) => machine["verdict"].as_str().unwrap_or("incomplete"),
            (_, Exit::NotReproducible) => "not reproducible",
            (_, Exit::Bug) => "could not be computed",
            _ => "bad input",
        };
        let verdict = verdict.to_owned();
        Self { file: project::relative(file), verdict, expect, exit, failure, machine, seconds: clock.seconds() }
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
    /// Why it ended early, in words; empty if it did not.
    pub fn stop(&self) -> &str {
        self.machine["stop"].as_str().unwrap_or_default()
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
            "verdict": self.verdict,
            "exit": self.exit.code(),
            "findings": self.findings(),
            "worst_clearance_m": self.worst_clearance_m(),
            "worst_combination": self.first_finding()["errors"],
            "segments": self.segments(),
            "seconds": self.seconds,
            "stop": self.stop(),
            "run": self.run(),
            "digest": self.machine["digest"],
            "error": self.failure.as_ref().map(Failure::to_json),
        })
    }
}
