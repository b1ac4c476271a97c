//! Messages that point at what a person wrote: file, line, column, reason and the way out. Scenario files use them too.

use std::fmt::{self, Write};

use crate::codes;

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
    /// Its stable code, such as `E0104`.
    pub code: &'static str,
    /// File as the user named it, or `--set`.
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
        debug_assert!(code < codes::ALL[0].text || codes::find(code).is_some(), "{code} is explained nowhere");
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

/// Whether rendered text carries terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Off,
    /// ANSI colours.
    On,
}

/// Control characters of a file must not reach the terminal, nor marks that reorder its text.
fn shown(text: &str) -> String {
    let one = |c: char| match c {
        '\t' => ' ',
        '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '\u{FFFD}',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    };
    text.chars().map(one).collect()
}

impl Diagnostic {
    /// The message as compilers print it: place, line, mark, help.
    pub fn render(&self, colour: Colour) -> String {
        let (red, blue, cyan, bold, off) = match colour {
            Colour::Off => ("", "", "", "", ""),
            Colour::On => ("\x1b[1;31m", "\x1b[1;34m", "\x1b[36m", "\x1b[1m", "\x1b[0m"),
        };
        let number = self.line.to_string();
        let pad = " ".repeat(number.len());
        let (line, skipped) = self.visible_line();
        let gap = " ".repeat((self.column - 1).saturating_sub(skipped));
        let carets = "^".repeat(self.length.min(line.chars().count().saturating_sub(gap.len())).max(1));
        let mut out = String::new();
        let _ = writeln!(out, "{red}error[{}]{off}{bold}: {}{off}", self.code, shown(&self.message));
        let _ = writeln!(out, "{pad}{blue}-->{off} {}:{}:{}", shown(&self.file), self.line, self.column);
        let _ = writeln!(out, "{pad} {blue}|{off}");
        let _ = writeln!(out, "{blue}{number} |{off} {line}");
        let _ = writeln!(out, "{pad} {blue}|{off} {gap}{red}{carets}{off}");
        if !self.help.is_empty() {
            let _ = writeln!(out, "{pad} {blue}={off} {cyan}help{off}: {}", shown(&self.help));
        }
        out
    }

    /// The part of the line around the mark, and how many characters were cut off before it.
    fn visible_line(&self) -> (String, usize) {
        let skipped = if self.column > SHOWN_MAX - 20 { self.column - 40 } else { 0 };
        let part: String = self.source_line.chars().skip(skipped).take(SHOWN_MAX).collect();
        (shown(&part), skipped)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Colour::Off))
    }
}

impl Report {
    /// Keeps the first [`DIAGNOSTICS_MAX`] and counts the others.
    pub fn new(mut diagnostics: Vec<Diagnostic>) -> Self {
        let left_out = diagnostics.len().saturating_sub(DIAGNOSTICS_MAX);
        diagnostics.truncate(DIAGNOSTICS_MAX);
        Self { diagnostics, left_out }
    }
    /// All messages, separated by empty lines, with a closing count.
    pub fn render(&self, colour: Colour) -> String {
        let mut out: String = self.diagnostics.iter().map(|d| d.render(colour) + "\n").collect();
        let count = self.diagnostics.len() + self.left_out;
        let _ = write!(out, "{count} error{}", if count == 1 { "" } else { "s" });
        if self.left_out > 0 {
            let _ = write!(out, ", the first {} are shown", self.diagnostics.len());
        }
        out.push('\n');
        out
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Colour::Off))
    }
}

impl From<Diagnostic> for Report {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic], left_out: 0 }
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
    fn colours_are_put_around_and_change_no_word() {
        let mut notes = Notes::new("a.road.toml", "x = 1");
        notes.add("E0604", Span { start: 0, end: 1 }, "this is wrong", "mend it");
        let report = notes.into_report();
        let coloured = report.render(Colour::On);
        assert!(coloured.contains("\x1b[1;31merror[E0604]\x1b[0m"));
        let codes = ["\x1b[1;31m", "\x1b[1;34m", "\x1b[36m", "\x1b[1m", "\x1b[0m"];
        assert_eq!(codes.iter().fold(coloured, |text, code| text.replace(code, "")), report.to_string());
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
