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
mod models;
mod outside;
mod outside_law;
mod replaying;
mod reporting;
mod resuming;
mod searching;
mod since;
mod suites;
mod surface;
mod testing;
mod tiles;
mod tutorial;
mod worlds;
