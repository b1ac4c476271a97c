//! The closed loop, from the scenario file to the verdict.

mod broken_files;
mod cars;
mod demand;
mod explaining;
mod golden;
mod incremental;
mod law;
mod likely;
mod limited;
mod models;
mod outside;
mod reference;
mod scripted;
mod senses;
mod shipped;
mod soundness;
mod stories;
mod streets;
mod temporal;
mod truth;
mod valid_files;
mod verdicts;
mod watched;
mod worlds;
