//! Published benchmark systems with their requirements, so that methods of search can be compared with the literature.
//!
//! *Chasing cars* and *automatic transmission* are those of the ARCH-COMP falsification category (G. Ernst et al.,
//! "ARCH-COMP 2020 category report: falsification").

mod cars_plant;
mod error;
mod input;
mod plant;
mod problem;
mod transmission_plant;
mod transmission_tables;

pub use error::ProblemError;
pub use input::{Row, parse_rows};
pub use plant::Plant;
pub use problem::{Problem, Progress};
