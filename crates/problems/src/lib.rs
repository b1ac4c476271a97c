//! Published benchmark systems with their requirements, so that methods of search can be compared with the literature.
//!
//! *Chasing cars* and *automatic transmission* are those of the ARCH-COMP falsification category (G. Ernst et al.,
//! "ARCH-COMP 2020 category report: falsification"); the *crosswalk* is that of adaptive stress testing; the *junction* is
//! the accident of a right turn at a T-junction (S3-16, S3-17).

mod cars_plant;
mod crosswalk;
mod error;
mod input;
mod junction;
mod plant;
mod problem;
mod system;
mod transmission_plant;
mod transmission_tables;

pub use crosswalk::{CROSSWALK_ACTION, CROSSWALK_LIMITS, CROSSWALK_STEPS, Crosswalk, CrosswalkState};
pub use error::ProblemError;
pub use input::{Row, parse_rows};
pub use junction::{
    AtFault, BlindCornerNote, Cause, Instance, JUNCTION_AXES, JUNCTION_RANGES, Junction, JunctionCar, JunctionSight,
    JunctionState, Outcome, Phase, Triage, safe_distance_m,
};
pub use plant::Plant;
pub use problem::{Problem, Progress};
pub use system::{ProblemState, ProblemSystem};
