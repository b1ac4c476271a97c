//! The explorer on small systems whose truth is known.

mod causes;
mod common;
mod distances;
mod explaining;
mod families;
mod graph;
mod limits;
mod looking_closer;
mod objecting;
mod probability;
mod remembering;
mod resuming;
mod unmeasured;
