//! Mistakes of models as all other mistakes are shown.

use anabranch_language::{Diagnostic, Library};
use anabranch_scenario::file::{self, Report};
use serde_json::{Value, json};

use super::files::shown;
use crate::escape::escape;
use crate::screen::Paint;

/// Most warnings that people are shown.
pub const WARNINGS_MAX: usize = 20;

/// The errors among them, with the lines they are about.
pub fn report(library: &Library, told: &[Diagnostic]) -> Report {
    Report::new(told.iter().filter(|d| d.is_error()).map(|d| one(library, d)).collect())
}

fn one(library: &Library, d: &Diagnostic) -> file::Diagnostic {
    let text = library.file_at(&d.file).map_or("", |id| library.file(id).text.as_str());
    let source_line = text.lines().nth(d.line - 1).unwrap_or("").to_owned();
    file::Diagnostic {
        code: d.code.text(),
        file: shown(&d.file),
        line: d.line,
        column: d.column,
        length: length(text, d),
        message: d.message.clone(),
        help: d.help.clone().unwrap_or_default(),
        source_line,
    }
}

fn length(text: &str, d: &Diagnostic) -> usize {
    let marked = text.get(d.span.range()).unwrap_or("");
    marked.lines().next().unwrap_or("").chars().count().max(1)
}

/// For machines.
pub fn to_json(library: &Library, told: &[Diagnostic]) -> Value {
    let one = |d: &Diagnostic| {
        let text = library.file_at(&d.file).map_or("", |id| library.file(id).text.as_str());
        json!({
            "code": d.code.text(),
            "severity": if d.is_error() { "error" } else { "warning" },
            "file": shown(&d.file),
            "line": d.line,
            "column": d.column,
            "length": length(text, d),
            "message": d.message,
            "help": d.help.as_deref().unwrap_or_default(),
        })
    };
    told.iter().map(one).collect()
}

/// Warnings, a line each.
pub fn warnings(told: &[Diagnostic], paint: Paint) -> String {
    let all: Vec<&Diagnostic> = told.iter().filter(|d| !d.is_error()).collect();
    let mut out = String::new();
    for d in all.iter().take(WARNINGS_MAX) {
        let place = format!("{}:{}:{}", shown(&d.file), d.line, d.column);
        let word = paint.yellow(&format!("warning[{}]", d.code));
        out += &format!("{word} {}: {}\n", escape(&place), escape(&d.message));
    }
    if all.len() > WARNINGS_MAX {
        out += &format!("{} warnings, the first {WARNINGS_MAX} are shown\n", all.len());
    }
    out
}
