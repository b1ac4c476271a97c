//! Messages that point at what a person wrote.

use std::fmt::{self, Write};

use super::codes::Code;

/// Most diagnostics of one reading; more would only be scrolled away.
pub const DIAGNOSTICS_MAX: usize = 20;
/// Most characters of a source line that are shown; longer lines are cut around the mark.
const SHOWN_MAX: usize = 160;

/// One mistake: what, where, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind; [`Code::explanation`] says more.
    pub code: Code,
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

/// Whether rendered text carries terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Off,
    /// ANSI colours.
    On,
}

/// Control characters of a file must not reach the terminal.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { if c == '\t' { ' ' } else { '\u{FFFD}' } } else { c }).collect()
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

/// Why a scenario could not be read: at least one diagnostic, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The first [`DIAGNOSTICS_MAX`] of them.
    pub diagnostics: Vec<Diagnostic>,
    /// How many more there were.
    pub left_out: usize,
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

impl std::error::Error for Report {}

impl From<Diagnostic> for Report {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic], left_out: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Diagnostic {
        Diagnostic {
            code: Code::BareNumber,
            file: "a.toml".into(),
            line: 12,
            column: 10,
            length: 3,
            message: "`radius` is a length and needs a unit".into(),
            help: "write \"0.1 m\"".into(),
            source_line: "radius = 0.1".into(),
        }
    }

    #[test]
    fn a_diagnostic_reads_like_those_of_a_compiler() {
        let expect = "error[E0104]: `radius` is a length and needs a unit\n  --> a.toml:12:10\n   |\n\
                      12 | radius = 0.1\n   |          ^^^\n   = help: write \"0.1 m\"\n";
        assert_eq!(example().to_string(), expect);
        assert!(example().render(Colour::On).contains("\x1b[1;31merror[E0104]\x1b[0m"));
    }

    #[test]
    fn long_lines_are_cut_and_control_characters_do_not_reach_the_terminal() {
        let source_line = "\x1b[2J".to_owned() + &"x".repeat(5000);
        let far = Diagnostic { column: 3000, length: 900, source_line, ..example() };
        assert!(far.to_string().lines().all(|line| line.chars().count() < 200));
        let near = Diagnostic { column: 1, ..far };
        assert!(!near.to_string().contains('\x1b'));
    }

    #[test]
    fn a_report_shows_twenty_and_counts_the_rest() {
        let report = Report::new(vec![example(); 23]);
        assert_eq!((report.diagnostics.len(), report.left_out), (20, 3));
        assert!(report.to_string().ends_with("23 errors, the first 20 are shown\n"));
    }
}
