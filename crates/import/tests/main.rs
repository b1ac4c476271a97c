//! What comes in from other tools.

mod disk;
mod picture;
mod rndf;
