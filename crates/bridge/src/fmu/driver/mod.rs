//! An FMU in the role of a driver, or of a part of the car.

mod canonical;
mod instance;
mod keeper;
mod mapping;
mod plan;
mod road;
mod signals;

pub use instance::FmuInstance;
pub use mapping::{FmuMapping, FmuRole, InputSource, KeyCell};
pub use plan::check_mapping;
pub use signals::{Signal, Told, folded};
