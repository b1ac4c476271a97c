//! Recorded data: reading them, and saying what they say.

pub mod csv;
pub mod fit_report;
pub mod log_file;
mod mcap_file;
