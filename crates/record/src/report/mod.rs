//! A run as one HTML file: no request to anywhere, no script, readable in light and dark and on paper.
//!
//! Everything comes from the folder of the run, so a report of an old run can be written at any time. Text of others
//! cannot become markup ([`html`]), pictures of others cannot bring code ([`inline`]), and a page stays below
//! [`PAGE_BYTES_MAX`]; what was left out is listed at its end.

mod compare;
mod diff_json;
mod diff_section;
mod driver;
mod findings;
mod hints;
mod html;
mod inline;
mod meaning;
mod page;
mod plots;
mod run_page;
mod search_page;
mod source;
mod test_page;
mod words;

use serde_json::Value;

pub use test_page::{CaseResult, TestRun, test_report};

use crate::error::RecordError;
use crate::run_folder::RunFolder;
use compare::Comparison;
use source::Run;

/// Largest page: what mail and code review still take, and what a browser opens at once.
pub const PAGE_BYTES_MAX: usize = 4_000_000;
/// Schema of the comparison of two runs for machines.
pub const DIFF_SCHEMA: &str = "anabranch.diff/1";

/// The page of one run.
///
/// # Errors
/// When the folder is not the folder of a run.
pub fn run_report(folder: &RunFolder) -> Result<String, RecordError> {
    let run = Run::read(folder)?;
    let is_search = run.result["schema"].as_str().is_some_and(|schema| schema.starts_with(search_page::SCHEMA));
    Ok(if is_search { search_page::page(&run) } else { run_page::page(&run) })
}

/// Several runs side by side; of two runs also what became of every failing cell.
#[derive(Debug)]
pub struct RunComparison(Comparison);

/// Whether a change may pass: what `report --gate` and tests ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No cell fails that did not fail before.
    Open,
    /// Some cell fails that did not fail before.
    NewFailures,
    /// One of the runs is incomplete, so nobody can say.
    Incomplete,
    /// One of the runs does not cover enough of all runs, so nobody can say.
    NotCovered,
    /// The runs cannot be compared cell by cell.
    Incomparable,
}

impl RunComparison {
    /// Reads and compares runs, the oldest first.
    ///
    /// # Errors
    /// When a folder is not the folder of a run, or a graph is damaged.
    pub fn read(folders: &[RunFolder]) -> Result<Self, RecordError> {
        Ok(Self(Comparison::read(folders)?))
    }

    /// The page.
    pub fn page(&self) -> String {
        self.0.page()
    }

    /// The object of `anabranch.diff/1`.
    pub fn to_json(&self) -> Value {
        diff_json::to_json(&self.0)
    }

    /// Whether a change may pass.
    pub fn gate(&self) -> Gate {
        self.0.gate()
    }

    /// One sentence for people.
    pub fn sentence(&self) -> String {
        self.0.sentence()
    }
}

#[cfg(test)]
mod tests;
