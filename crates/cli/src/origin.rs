//! Flags become overrides of the scenario; what is wrong with one is told at the flag that a person wrote.

use anabranch_scenario::file::Diagnostic;

use crate::failure::Failure;
use crate::load::Override;

/// How overrides are called that nobody gave another name.
const SET: &str = "--set";

/// An override that a flag stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The override as the scenario knows it.
    text: String,
    /// The flag, as in `--budget`.
    flag: String,
    /// What was written behind the flag.
    written: String,
    /// Characters of the override before what was written; none if the override says it in other words.
    hidden: Option<usize>,
}

impl Origin {
    /// Of a flag that says how to explore; none if the override is of no flag.
    pub fn of_setting((key, value): &Override) -> Option<Self> {
        let text = format!("{key}={value}");
        let inner = key.strip_prefix("explore.")?;
        let (flag, hidden) = match inner.split_once('.') {
            Some((table, _)) => (table, "explore.".len() + table.len() + 1),
            None => (inner, key.len() + 1),
        };
        Some(Self {
            flag: format!("--{flag}"),
            written: text.chars().skip(hidden).collect(),
            hidden: Some(hidden),
            text,
        })
    }
    /// Of a flag whose value was put into other words.
    pub fn in_other_words(flag: &str, written: &str, (key, value): &Override) -> Self {
        let text = format!("{key}={value}");
        Self { text, flag: flag.to_owned(), written: written.to_owned(), hidden: None }
    }
    /// Of something that a flag adds as it is.
    pub fn as_it_is(flag: String, (key, value): &Override) -> Self {
        let text = format!("{key}={value}");
        Self { flag, written: text.clone(), text, hidden: Some(0) }
    }

    fn relocate(&self, diagnostic: &mut Diagnostic) {
        diagnostic.file.clone_from(&self.flag);
        diagnostic.source_line = self.written.lines().next().unwrap_or_default().to_owned();
        let wide = diagnostic.source_line.chars().count();
        (diagnostic.column, diagnostic.length) = match self.hidden {
            // A part that nobody wrote is in front of all that was.
            Some(hidden) if diagnostic.column > hidden => {
                let column = diagnostic.column - hidden;
                (column, diagnostic.length.min((wide + 1).saturating_sub(column)).max(1))
            }
            _ => (1, wide.max(1)),
        };
    }
}

/// The failure with each mistake of an override at the flag that stands for it.
pub fn relocated(failure: Failure, origins: &[Origin]) -> Failure {
    let Failure::Located(mut report) = failure else { return failure };
    for diagnostic in report.diagnostics.iter_mut().filter(|diagnostic| diagnostic.file == SET) {
        let line = |origin: &&Origin| origin.text.lines().next() == Some(diagnostic.source_line.as_str());
        if let Some(origin) = origins.iter().find(line) {
            origin.relocate(diagnostic);
        }
    }
    Failure::Located(report)
}
