//! The program as a user starts it.

mod common;
mod converting;
mod data;
mod disk_faults;
mod explaining;
mod exploring;
mod faults;
mod firing;
mod fmus;
mod interrupting;
mod links;
mod outside;
mod outside_law;
mod replaying;
mod reporting;
mod resuming;
mod since;
mod suites;
mod surface;
mod testing;
mod tutorial;
mod worlds;
