//! What to try where a run has no answer: why that is so, a command or a key, and what it would change.
//!
//! A hint is either estimated from numbers of the run itself, or a rule that a test has shown to help.

mod cells;
mod command;
mod rules;
mod work;

use serde_json::{Value, json};

use super::facts::Facts;
use super::subject::Subject;
use crate::escape::escape;
use crate::rows;
use crate::screen::Paint;

pub use command::Typed;

/// Hints of a run at most.
const HINTS_MAX: usize = 3;
/// Width of a line of a hint: with the column of names, 80 characters.
const WIDTH: usize = 68;

/// Something to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// Why the run has no answer.
    pub why: String,
    /// What to try.
    pub attempt: Attempt,
    /// What that changes, as far as it was estimated.
    pub effect: Option<String>,
}

/// What to try.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// A command to run.
    Command(Typed),
    /// A line to write into the code under test.
    Key(String),
}

impl Attempt {
    /// On one line.
    pub fn text(&self) -> String {
        match self {
            Self::Command(command) => command.text(),
            Self::Key(key) => key.clone(),
        }
    }

    fn lines(&self) -> Vec<String> {
        match self {
            Self::Command(command) => command.lines(WIDTH),
            Self::Key(key) => vec![key.clone()],
        }
    }
}

/// Where the cells of a run came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellsFrom {
    /// The program measured them.
    Measuring,
    /// The scenario, the world or the command line has them.
    Writing,
}

/// What hints need to know about what was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The command of the run.
    pub typed: Typed,
    /// Where its cells came from.
    pub cells: CellsFrom,
}

/// The most useful hints, the best first.
pub fn of<S: Subject>(facts: &Facts<'_, S>, asked: &Asked) -> Vec<Hint> {
    let mut hints = rules::Desk::new(facts, asked).hints();
    hints.truncate(HINTS_MAX);
    hints
}

impl Hint {
    /// For machines.
    pub fn to_json(&self) -> Value {
        json!({ "why": self.why, "try": self.attempt.text(), "effect": self.effect })
    }
}

/// Lines under the result for people, at most 80 characters wide.
pub fn text(hints: &[Hint], paint: &Paint) -> String {
    let mut out = String::new();
    for hint in hints {
        let mut lines = rows::wrapped(&escape(&hint.why), WIDTH);
        lines.extend(hint.attempt.lines().iter().map(|line| paint.cyan(&escape(line))));
        lines.extend(hint.effect.iter().flat_map(|effect| rows::wrapped(&escape(effect), WIDTH)));
        out += &rows::block(paint, "hint", &lines);
    }
    out
}
