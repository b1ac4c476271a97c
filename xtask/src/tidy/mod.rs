//! The house rules that no compiler checks, as an ordinary test.

mod links;
mod manifest;
mod papers;
mod rust;
mod text;

use std::fmt;
use std::fs;
use std::path::Path;

use crate::metadata;

/// Names of what is no source.
const SKIPPED: [&str; 10] = [
    ".git",
    "target",
    "runs",
    "node_modules",
    "__pycache__",
    ".venv",
    ".pytest_cache",
    ".mypy_cache",
    "dist",
    "proptest-regressions",
];

/// A file of the project.
#[derive(Debug)]
pub struct Source {
    /// Relative to the folder of the workspace, with `/`.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl Source {
    fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }
}

/// A broken rule and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// As in [`Source`].
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong and what to do instead.
    pub message: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Collects the complaints about one file.
struct Notes<'s> {
    source: &'s Source,
    complaints: Vec<Complaint>,
}

impl Notes<'_> {
    /// `line` counts from 0, as the lines of a text do when they are enumerated.
    fn add(&mut self, line: usize, message: impl Into<String>) {
        self.complaints.push(Complaint { path: self.source.path.clone(), line: line + 1, message: message.into() });
    }
}

/// Checks the workspace; the answer is a closing line, or every complaint.
pub fn check_workspace() -> Result<String, String> {
    let root = metadata::root();
    let mut sources = Vec::new();
    collect(&root, &root, &mut sources).map_err(|error| format!("tidy: the tree cannot be read: {error}"))?;
    let reasons = sources.iter().find(|source| source.path == manifest::REASONS).map_or("", |source| &source.text);
    let exists = |path: &str| root.join(path).exists();
    let mut complaints: Vec<Complaint> = sources.iter().flat_map(|source| check(source, reasons, &exists)).collect();
    if let Some(source) = sources.iter().find(|source| source.path == papers::PAPERS) {
        let mut notes = Notes { source, complaints: Vec::new() };
        papers::check(&mut notes, &sources, &exists);
        complaints.extend(notes.complaints);
    }
    if let Some(source) = sources.iter().find(|source| source.path == papers::FRAMEWORKS) {
        let mut notes = Notes { source, complaints: Vec::new() };
        papers::check_frameworks(&mut notes);
        complaints.extend(notes.complaints);
    }
    if complaints.is_empty() {
        Ok(format!("tidy: {} files", sources.len()))
    } else {
        let lines: Vec<String> = complaints.iter().map(ToString::to_string).collect();
        Err(format!("{}\ntidy: {} complaints", lines.join("\n"), lines.len()))
    }
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) -> std::io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (name, path) = (entry.file_name(), entry.path());
        let kind = entry.file_type()?;
        // In a linked work tree `.git` is a file.
        if SKIPPED.iter().any(|skipped| name == *skipped) {
            continue;
        }
        if kind.is_dir() {
            collect(root, &path, sources)?;
        } else if kind.is_file() && name != "Cargo.lock" {
            // What is not text (a font, a picture) has no lines to complain about.
            if let Ok(text) = String::from_utf8(fs::read(&path)?) {
                let relative = path.strip_prefix(root).unwrap_or(&path);
                let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
                sources.push(Source { path: parts.join("/"), text });
            }
        }
    }
    Ok(())
}

/// Everything wrong with one file. `reasons` is the page about dependencies; `exists` answers for paths relative to the folder of the workspace.
fn check(source: &Source, reasons: &str, exists: &dyn Fn(&str) -> bool) -> Vec<Complaint> {
    let mut notes = Notes { source, complaints: Vec::new() };
    let rust = source.has_extension("rs");
    let prose = source.has_extension("md");
    // Files that a test reads may be broken on purpose.
    if !source.path.contains("/tests/") || rust {
        text::check_endings(&mut notes);
    }
    text::check_paths(&mut notes);
    if prose || source.has_extension("toml") {
        text::check_hosts(&mut notes);
    }
    if source.path == "Cargo.toml" || source.path.ends_with("/Cargo.toml") {
        manifest::check_lints(&mut notes);
        manifest::check_reasons(&mut notes, reasons);
    }
    if prose {
        links::check_markdown(&mut notes, exists);
    }
    if rust {
        links::check_mentions(&mut notes, exists);
        rust::check(&mut notes);
    }
    notes.complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Complaints as `line: message`, each of which must begin like the expected one.
    #[track_caller]
    pub(super) fn check_text(path: &str, text: &str, expect: &[&str]) {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        let exists = |path: &str| matches!(path, "docs/ARCHITECTURE.md" | "README.md" | "docs/adr");
        let found: Vec<String> =
            check(&source, "| `serde` | why |", &exists).iter().map(|c| format!("{}: {}", c.line, c.message)).collect();
        let alike =
            found.len() == expect.len() && found.iter().zip(expect).all(|(found, begin)| found.starts_with(begin));
        assert!(alike, "found {found:#?}\nexpected {expect:#?}");
    }

    #[test]
    fn the_tree_is_tidy() {
        if let Err(message) = check_workspace() {
            panic!("{message}");
        }
    }
}
