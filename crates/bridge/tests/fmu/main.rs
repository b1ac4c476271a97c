//! FMUs made with the system's C compiler, good and bad.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod broken;
mod law;
mod make;
