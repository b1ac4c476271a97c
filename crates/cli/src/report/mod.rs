//! What a run leaves for people and viewers: its page and its traces.

pub mod trace_mcap;

use anabranch_record::RunFolder;
use anabranch_record::report::run_report;

use crate::failure::Failure;

/// File of the page in the folder of a run.
pub const PAGE: &str = "report.html";

/// Writes the page of a run into its folder.
pub fn write(folder: &RunFolder) -> Result<(), Failure> {
    Ok(folder.publish(PAGE, run_report(folder)?.as_bytes())?)
}
