//! The text of a scenario, line by line with the place in a model that says it.

use anabranch_language::diagnostic::{Code, Lines, Problem};
use anabranch_language::syntax::Span;
use anabranch_language::syntax::assembly::Text;

use crate::file::{Diagnostic, Report};

/// A place in a simulation or a car.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Line, from one.
    pub line: usize,
    /// Character, from one.
    pub column: usize,
    /// Characters.
    pub length: usize,
    /// The line itself.
    pub source_line: String,
}

/// A text with its name, for messages.
pub(crate) struct Source<'t> {
    pub(crate) file: String,
    pub(crate) text: &'t str,
}

impl Source<'_> {
    /// Where something stands.
    pub(super) fn place(&self, span: Span) -> Place {
        let start = span.start as usize;
        let (line, column) = Lines::of(self.text).place(self.text, start);
        let marked = self.text.get(start..span.end as usize).unwrap_or("").lines().next().unwrap_or("");
        Place {
            file: self.file.clone(),
            line,
            column,
            length: marked.chars().count().max(1),
            source_line: self.text.lines().nth(line - 1).unwrap_or("").to_owned(),
        }
    }

    /// A mistake at its place.
    pub(crate) fn located(&self, problem: &Problem) -> Diagnostic {
        let place = self.place(problem.span);
        Diagnostic {
            code: problem.code.text(),
            file: place.file,
            line: place.line,
            column: place.column,
            length: place.length,
            message: problem.message.clone(),
            help: problem.help.clone().unwrap_or_default(),
            source_line: place.source_line,
        }
    }

    pub(super) fn report(&self, problems: &[Problem]) -> Report {
        Report::new(problems.iter().map(|problem| self.located(problem)).collect())
    }
}

/// A mistake in a field.
pub(crate) fn wrong(text: &Text, message: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem::error(Code::Field, text.span, message).help(help)
}

/// A text between quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().replace('\\', "\\\\").replace('"', "\\\"")
}

/// Lines, each with the place that says it.
#[derive(Default)]
pub(super) struct Page {
    text: String,
    places: Vec<Option<Place>>,
}

impl Page {
    /// Lines that nobody wrote: headings and what is always so.
    pub(super) fn plain(&mut self, lines: &str) {
        for line in lines.lines() {
            self.text += line;
            self.text.push('\n');
            self.places.push(None);
        }
    }

    /// A line that something at a place says.
    pub(super) fn line(&mut self, place: &Place, line: &str) {
        self.text += line;
        self.text.push('\n');
        self.places.push(Some(place.clone()));
    }

    pub(super) fn finish(self) -> (String, Vec<Option<Place>>) {
        (self.text, self.places)
    }
}
