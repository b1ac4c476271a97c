//! WASM modules as drivers: they answer as the built-in law does, can be saved and loaded, and whatever they do wrong is
//! told by its kind.

mod echo;
mod fleet;
mod fuzz;
mod law;
#[path = "../road/mod.rs"]
mod road;
mod rogue;
mod states;
mod support;
