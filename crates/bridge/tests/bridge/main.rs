//! The bridge from outside: real processes, real sockets, and everything they can do wrong.
#![cfg(unix)]

mod fuzz;
mod links;
mod machine;
mod orphans;
mod rogues;
#[path = "../../rogue/toy.rs"]
mod toy;
mod twice;
mod worlds;

use anabranch_bridge::ProcessFactory;

/// The program that misbehaves as it is told.
fn rogue(mode: &str) -> ProcessFactory {
    ProcessFactory::new(env!("CARGO_BIN_EXE_anabranch-rogue"), [mode])
}
