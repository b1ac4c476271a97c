//! Messages that point at what a person wrote: file, line, column, reason and the way out.

use std::fmt::{self, Write};

/// Most diagnostics of one reading; more would only be scrolled away.
pub const DIAGNOSTICS_MAX: usize = 20;
/// Most characters of a source line that are shown; longer lines are cut around the mark.
const SHOWN_MAX: usize = 160;

/// A piece of a text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// First byte behind it.
    pub end: usize,
}

/// One mistake: what, where, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable code.
    pub code: &'static str,
    /// File as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Marked characters, at least 1.
    pub length: usize,
    /// What happened.
    pub message: String,
    /// How to go on; may be empty.
    pub help: String,
    /// The line it is about.
    pub source_line: String,
}

/// A text with its name and the mistakes found in it so far.
#[derive(Clone, Debug)]
pub struct Notes<'t> {
    file: &'t str,
    text: &'t str,
    found: Vec<(Span, &'static str, String, String)>,
}

/// Why a file could not be read: at least one diagnostic, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The first [`DIAGNOSTICS_MAX`] of them.
    pub diagnostics: Vec<Diagnostic>,
    /// How many more there were.
    pub left_out: usize,
}

impl<'t> Notes<'t> {
    /// No mistakes yet.
    pub fn new(file: &'t str, text: &'t str) -> Self {
        Self { file, text, found: Vec::new() }
    }
    /// Notes a mistake.
    pub fn add(&mut self, code: &'static str, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.found.push((span, code, message.into(), help.into()));
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
    /// All of them in the order of the file.
    pub fn into_report(mut self) -> Report {
        self.found.sort();
        self.found.dedup();
        let left_out = self.found.len().saturating_sub(DIAGNOSTICS_MAX);
        self.found.truncate(DIAGNOSTICS_MAX);
        let locate = |(span, code, message, help): &(Span, &'static str, String, String)| {
            self.locate(*span, code, message.clone(), help.clone())
        };
        Report { diagnostics: self.found.iter().map(locate).collect(), left_out }
    }

    fn locate(&self, span: Span, code: &'static str, message: String, help: String) -> Diagnostic {
        let start = self.text.floor_char_boundary(span.start);
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = self.text[line_start..].find('\n').map_or(self.text.len(), |at| line_start + at);
        let source_line = self.text[line_start..line_end].trim_end_matches('\r');
        let start = start.min(line_start + source_line.len());
        let end = self.text.floor_char_boundary(span.end).clamp(start, line_start + source_line.len());
        Diagnostic {
            code,
            file: self.file.to_owned(),
            line: self.text[..line_start].matches('\n').count() + 1,
            column: self.text[line_start..start].chars().count() + 1,
            length: self.text[start..end].chars().count().max(1),
            message,
            help,
            source_line: source_line.to_owned(),
        }
    }
}

/// Control characters of a file must not reach the terminal.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { if c == '\t' { ' ' } else { '\u{FFFD}' } } else { c }).collect()
}

impl fmt::Display for Diagnostic {
    /// As compilers print it: place, line, mark, help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let pad = " ".repeat(number.len());
        let skipped = if self.column > SHOWN_MAX - 20 { self.column - 40 } else { 0 };
        let line: String = self.source_line.chars().skip(skipped).take(SHOWN_MAX).collect();
        let gap = " ".repeat((self.column - 1).saturating_sub(skipped));
        let carets = "^".repeat(self.length.min(line.chars().count().saturating_sub(gap.len())).max(1));
        writeln!(f, "error[{}]: {}", self.code, shown(&self.message))?;
        writeln!(f, "{pad}--> {}:{}:{}", shown(&self.file), self.line, self.column)?;
        writeln!(f, "{pad} |")?;
        writeln!(f, "{number} | {}", shown(&line))?;
        writeln!(f, "{pad} | {gap}{carets}")?;
        if !self.help.is_empty() {
            writeln!(f, "{pad} = help: {}", shown(&self.help))?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in &self.diagnostics {
            writeln!(f, "{diagnostic}")?;
        }
        let count = self.diagnostics.len() + self.left_out;
        let mut closing = format!("{count} error{}", if count == 1 { "" } else { "s" });
        if self.left_out > 0 {
            let _ = write!(closing, ", the first {} are shown", self.diagnostics.len());
        }
        writeln!(f, "{closing}")
    }
}

impl std::error::Error for Report {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_shown_with_its_line_and_mark() {
        let mut notes = Notes::new("a.road.toml", "x = 1\nß = \"é\"\r\nlast");
        notes.add("E0604", Span { start: 11, end: 15 }, "this is wrong", "mend it");
        let text = notes.into_report().to_string();
        let expect = "error[E0604]: this is wrong\n --> a.road.toml:2:5\n  |\n2 | ß = \"é\"\n  |     ^^^\n  \
                      = help: mend it\n\n1 error\n";
        assert_eq!(text, expect);
    }

    #[test]
    fn twenty_are_shown_in_the_order_of_the_file_and_the_rest_is_counted() {
        let text = "0123456789".repeat(5);
        let mut notes = Notes::new("a", &text);
        for i in (0..30).rev() {
            notes.add("E0604", Span { start: i, end: i + 1 }, format!("mistake {i}"), "");
        }
        let report = notes.into_report();
        assert_eq!((report.diagnostics.len(), report.left_out), (20, 10));
        assert_eq!(report.diagnostics[0].column, 1);
        assert!(report.to_string().ends_with("30 errors, the first 20 are shown\n"));
    }

    #[test]
    fn control_characters_and_long_lines_do_not_reach_the_terminal() {
        let text = "\x1b[2J".to_owned() + &"x".repeat(5000);
        let mut notes = Notes::new("a", &text);
        notes.add("E0604", Span { start: 3000, end: 3900 }, "wrong", "");
        let text = notes.into_report().to_string();
        assert!(!text.contains('\x1b') && text.lines().all(|line| line.chars().count() < 200));
    }
}
