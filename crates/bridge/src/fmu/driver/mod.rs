//! An FMU in the role of a driver.

mod canonical;
mod instance;
mod keeper;
mod mapping;
mod plan;
mod signals;

pub use instance::FmuInstance;
pub use mapping::{FmuMapping, InputSource, KeyCell};
pub use plan::check_mapping;
