//! The room from outside.

mod driver;
mod functions;
mod optimisers;
mod resuming;
mod spaces;
mod trees;
mod variety;
