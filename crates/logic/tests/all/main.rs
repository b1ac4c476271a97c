//! Tests of the room, in one program.

mod common;
mod dense;
mod language;
mod semantics;
