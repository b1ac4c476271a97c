//! The room from outside.

mod driver;
mod functions;
mod junction;
mod optimisers;
mod resuming;
mod spaces;
mod trees;
mod variety;
