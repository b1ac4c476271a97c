//! Code from outside as part of the loop: a closed loop whose state lives in another process.
//!
//! [`ChildSystem`] is a [`System`](anabranch_kernel::System) whose [`Driver`] runs elsewhere. Its state is
//! its path (seed, start parameters, choices so far) and what was observed there; where the driver's memory
//! is kept is a cache behind `#[serde(skip)]`. How a driver is put back into a saved state is a [`Restore`]:
//!
//! | | platforms | a segment costs | kept between segments |
//! |---|---|---|---|
//! | [`InProcess`] | all | a clone of the driver | a copy of the driver |
//! | [`Replay`] | all | the whole path again | nothing |
//! | [`Fork`] | Unix | a fork | a paused process, up to a limit |
//!
//! # What this taught, for the bridges to come (ZeroMQ, Python, WASM, FMU)
//!
//! 1. **Replay is the ground, all else is a cache.** A lost, evicted or never-kept snapshot is rebuilt from the
//!    path. So a new bridge needs only `describe`, `reset`, `run`; save and load are an optimisation
//!    (WASM: copy of the linear memory; FMU: `fmi2GetFMUstate`; Python and native code: fork).
//! 2. **Compare after every replay.** The replayed observation must equal the saved one bit for bit. That one
//!    comparison finds a driver that uses a clock, an unseeded generator or threads; it is a
//!    [`Fault::Contract`](anabranch_kernel::Fault::Contract), never a silent wrong verdict.
//! 3. **The process that ran a segment is the snapshot.** It pauses where it ended; loading forks it. A state with a
//!    single owner is not forked at all but goes on in place.
//! 4. **The host makes every link.** It creates both ends and passes one along with the request to fork. Nobody
//!    listens, nothing has a name in the file system, and the end of a link means the end of the process.
//! 5. **A sentinel that runs no foreign code** adopts all forks and ends them when the host is gone, even if one of them
//!    hangs in a segment. Parent-death signals do not work here: a fork outlives the snapshot it came from.
//! 6. **Losing a process is repaired once; a missed deadline is a fault.** A process that was killed is rebuilt by replay.
//!    If it dies again in the same segment, or does not answer in time, the segment cannot be computed.
//! 7. **Fork copies memory of one thread only.** Open files share their offset, sockets and GPU contexts are shared, other
//!    threads are gone. A driver with threads (most of ROS, NumPy with OpenBLAS) must fork before it starts them or use replay.
//! 8. **The key sees only what the driver reports.** A hidden variable of the driver is merged over; whoever writes a
//!    driver must report all of its memory among the variables or accept that the verdict is about what is reported.

pub mod driver;
#[cfg(unix)]
pub mod fork;
pub mod in_process;
pub mod protocol;
pub mod replay;
pub mod restore;
pub mod state;
pub mod system;
pub mod toy;

pub use driver::{Driver, serve};
#[cfg(unix)]
pub use fork::Fork;
pub use in_process::InProcess;
pub use protocol::{Description, Observation, Path, Segment};
pub use replay::Replay;
pub use restore::{CallError, Limits, Program, Restore, Saved};
pub use state::ChildState;
pub use system::ChildSystem;
