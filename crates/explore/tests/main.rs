//! The explorer on small systems whose truth is known.

mod common;
mod explaining;
mod graph;
mod looking_closer;
mod objecting;
mod probability;
mod remembering;
mod resuming;
