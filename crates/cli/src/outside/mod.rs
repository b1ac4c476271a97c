//! Drivers from outside: how they are started, what is said about them, and what they did wrong.

mod claims;
mod faults;
mod program;
mod said;

pub use claims::Tried;
pub use faults::{Evidence, Unstable, write_evidence, write_faults};
pub use program::{
    DRIVER_FLAG, Patience, Unusable, allow_remote, driver_override, file_of, fleet_of, is_program, optimiser, outside,
    part,
};
pub use said::{card_json, card_line, faults_line, health, health_json, world_health, world_json, world_line};
