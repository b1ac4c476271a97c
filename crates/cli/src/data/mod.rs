//! Recorded data: reading them, and saying what they say.

mod csv;
pub mod fit_report;
pub mod log_file;
mod mcap_file;
