//! Tests of the room, in one program.

mod crosswalk;
mod junction;
mod published;
mod systems;
