//! Code from outside as part of the loop: a driver or a whole simulator in another process, another language, a box.
//!
//! Everything that comes from outside is an [`Instance`]: it takes a list of [`Op`]s (reset a branch, load a saved
//! one, step it, save it, drop it) and gives one [`Answer`] for each. A process behind ZeroMQ, a WASM module and an
//! FMU differ only in how they do that. A [`Fleet`] keeps several instances of one kind, starts them again when they
//! die, and knows which saved states still live where.
//!
//! Three rules hold for all of them:
//!
//! 1. **A state is its path; what lives outside is a cache.** A [`Token`] may be gone (the process died, the limit was
//!    reached, the run was resumed on another day). Whoever holds a state rebuilds it by running its path again.
//! 2. **Misbehaviour is a result.** A crash, a hang, a number that is none: each is a [`Misbehaviour`] with its kind and
//!    evidence, never a panic and never the end of the exploration.
//! 3. **The key sees only what is reported.** What a driver remembers and does not report is hidden; merging over
//!    it is refused unless somebody asked for it, and the verdict then names it.

pub mod attributes;
mod blobs;
pub mod body;
pub mod checks;
#[cfg(unix)]
mod child;
pub mod claims;
mod clock;
pub mod connect;
mod conversation;
mod differs;
pub mod doubling;
pub mod fleet;
pub mod fmu;
pub mod instance;
pub mod misbehaviour;
pub mod process;
pub mod protocol;
mod rows;
pub mod serve;
pub mod tape;
#[cfg(feature = "wasm")]
pub mod wasm;
pub mod world;
pub mod zmtp;

pub use claims::{Claim, Probe, check_claims, check_claims_while};
pub use clock::Cutoff;
pub use connect::{ConnectFactory, Reach};
pub use conversation::Deadlines;
pub use fleet::{Fleet, FleetLimits, Latency, Pace, Seat, Times, Token};
pub use instance::{Factory, Instance};
pub use misbehaviour::{Kind, Misbehaviour};
pub use process::{ProcessFactory, ProcessLimits, ProcessSpec};
pub use protocol::{
    Answer, Begin, Card, Decision, Op, PROTOCOL, Role, Seen, Snapshot, Support, TrajectoryPoint, WorldCard,
    WorldSegment,
};
pub use serve::{ENDPOINT_VARIABLE, Endpoint, ServeError, serve};
pub use tape::{RecordingFactory, ReplayFactory};
pub use world::{Difference, MergeRule, Straight, WorldError, WorldState, WorldSystem};
