//! What comes in from other tools.

mod disk;
mod long_drive;
mod mcap_log;
mod picture;
mod rndf;
