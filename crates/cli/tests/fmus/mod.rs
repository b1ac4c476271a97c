//! FMUs behind a process of their own: whatever they do there is told by kind here, and as parts of the car they repeat the
//! built-in ones bit for bit.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod exported;
#[path = "../../../bridge/tests/fmu/make.rs"]
mod make;
mod parts;
mod served;
#[path = "../../../bridge/tests/table/mod.rs"]
mod table;
