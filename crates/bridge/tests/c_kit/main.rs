//! The C kit (`c/anabranch.h`): built with the system's compiler, asked over real sockets, among friends and among enemies.
#![cfg(unix)]

mod answers;
mod hostile;
mod kit;
#[path = "../road/mod.rs"]
mod road;
mod roads;
#[cfg(target_os = "linux")]
mod rogue;
#[cfg(target_os = "linux")]
#[path = "../table/rows.rs"]
mod rows;
#[cfg(target_os = "linux")]
#[path = "../table/mod.rs"]
mod table;
