//! Models of the component & connector language without a scenario: over a table, by their streams, checked, exported.

pub mod checks;
pub mod files;
pub mod fmu;
mod pace;
pub mod run;
pub mod streams;
pub mod table;
pub mod told;

pub use files::{Given, is_model};
