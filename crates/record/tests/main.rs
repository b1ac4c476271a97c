//! What is written, and what is read back.

mod finding;
mod pictures;
mod run_folder;
mod trail;
mod why;
