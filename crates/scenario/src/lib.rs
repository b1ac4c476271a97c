//! Scenario files become the closed loop: the only room that knows all parts.
//!
//! [`file`] reads and checks what people write; [`Drive`] is the [`System`](anabranch_kernel::System) it describes.

pub mod drive;
pub mod file;
pub mod models;
pub mod simulation;

pub use drive::{AssembleError, Cells, Drive, DriveState, SettingError, check_expression};
