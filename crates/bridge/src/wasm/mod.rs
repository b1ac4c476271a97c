//! WASM modules as drivers, in this process: `docs/wasm-drivers.md` tells people how to write one.
//!
//! A module sees nothing but what it is told and can do nothing but answer. That is what makes it the kindest of all
//! drivers: the same question always has the same answer, a deadline is counted in instructions and not in seconds, and
//! a saved state is a list of the pages of memory that differ from a fresh one
//! ([decision 14](../../../../docs/adr/0014-wasm-states-share-pages.md)).
//!
//! * `inspect.rs` refuses what could not be saved; `rewrite.rs` makes the module show its globals and mark what it writes.
//! * `blueprint.rs` is a compiled module with the memory it begins with; instances are cheap after that.
//! * `slot.rs` is one live copy with its memory, `image.rs` what is kept of it, `written.rs` how the pages that matter are
//!   found without looking at all of them.
//! * `layout.rs` is how `seen` and `decision` lie in memory.

mod blueprint;
mod card;
mod entry;
mod factory;
mod faults;
mod image;
mod inspect;
mod instance;
mod layout;
mod limits;
mod outside;
mod rewrite;
mod road;
mod slot;
mod written;

pub use factory::{WasmFactory, factory};
pub use instance::WasmInstance;
pub use limits::WasmLimits;
