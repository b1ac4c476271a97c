//! Drivers from outside: how they are started, what is said about them, and what they did wrong.

mod faults;
mod program;
mod said;

pub use faults::{Unstable, write_faults};
pub use program::{DRIVER_FLAG, Patience, allow_remote, driver_override, file_of, outside};
pub use said::{card_line, health, health_json};
