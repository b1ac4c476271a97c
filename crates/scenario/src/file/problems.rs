//! Collects what is wrong with a document, to be shown in the order of the file.

use super::codes::Code;
use super::span::Span;
use super::tree::Document;
use super::{DIAGNOSTICS_MAX, Diagnostic, Report};

/// Problems that are remembered; a hostile file has millions, and they would only be counted.
const REMEMBERED_MAX: usize = 1000;
/// Characters of a user's text that a message repeats.
const EXCERPT_MAX: usize = 60;

/// A problem that does not know its place yet.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub code: Code,
    pub message: String,
    pub help: String,
}

impl Problem {
    pub fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into() }
    }
}

/// All problems found so far.
#[derive(Debug)]
pub(super) struct Problems<'d> {
    pub document: &'d Document,
    found: Vec<(Span, Problem)>,
    more: usize,
    /// What is wrong in files that this one names.
    elsewhere: Vec<Diagnostic>,
}

impl<'d> Problems<'d> {
    pub fn new(document: &'d Document) -> Self {
        Self { document, found: Vec::new(), more: 0, elsewhere: Vec::new() }
    }
    pub fn report(&mut self, span: Span, problem: Problem) {
        if self.found.len() < REMEMBERED_MAX {
            self.found.push((span, problem));
        } else {
            self.more += 1;
        }
    }
    pub fn add(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.report(span, Problem::new(code, message, help));
    }
    /// Adds what is wrong in a file that this one names, with its places there.
    pub fn add_elsewhere(&mut self, report: Report) {
        self.more += report.left_out;
        self.elsewhere.extend(report.diagnostics);
    }
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.elsewhere.is_empty()
    }
    /// All of them in the order of the file, overrides last, and then those of other files.
    pub fn into_report(mut self) -> Report {
        self.found.sort_by_key(|(span, problem)| (*span, problem.code));
        let elsewhere = std::mem::take(&mut self.elsewhere);
        let shown = self.found.iter().take(DIAGNOSTICS_MAX);
        let locate = |(span, p): &(Span, Problem)| self.document.diagnostic(p.code, *span, p.message.clone(), &p.help);
        let located: Vec<_> = shown.map(locate).collect();
        let hidden = self.found.len() - located.len() + self.more;
        let mut report = Report::new(located.into_iter().chain(elsewhere).collect());
        report.left_out += hidden;
        report
    }
}

/// A user's text, short enough for a message.
pub(super) fn excerpt(text: &str) -> String {
    if text.chars().count() <= EXCERPT_MAX {
        return text.to_owned();
    }
    text.chars().take(EXCERPT_MAX).chain(['…']).collect()
}

/// The candidate a person most likely meant.
pub(super) fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Longer than every word we know; comparing would only cost time.
    if written.len() > EXCERPT_MAX {
        return None;
    }
    let normal = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let written = normal(written);
    let distance = |candidate: &str| strsim::damerau_levenshtein(&written, &normal(candidate));
    let allowed = (written.chars().count() / 3).max(1);
    let best = candidates.into_iter().map(|c| (distance(c), c)).min_by_key(|(d, _)| *d);
    best.filter(|(d, _)| *d <= allowed).map(|(_, candidate)| candidate)
}

/// Words as a list for people: `a`, `b` or `c`.
pub(super) fn listed<'c>(words: impl IntoIterator<Item = &'c str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}
