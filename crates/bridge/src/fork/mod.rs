//! Restoring by fork (Unix): the process that ran a segment pauses and is the snapshot; loading forks it.
//!
//! ```text
//! host ──control── sentinel        runs no foreign code, adopts and reaps every fork, ends all when the host is gone
//!   ├────link───── zygote          the driver before any start; leads the process group of all forks
//!   ├────link───── snapshot        paused after a segment; the end of its link is its end
//!   └────link───── runner          a fork of a snapshot (or of the zygote, after a replay) in its segment
//! ```

pub mod child;
mod link;
mod server;
mod snapshots;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anabranch_kernel::{Choice, Fault};

use self::link::Link;
use self::server::Server;
pub use self::snapshots::Snapshot;
use self::snapshots::Snapshots;
use crate::protocol::{Description, Observation, Path, Segment};
use crate::restore::{Ask, CallError, Limits, Program, Restore, Saved, same_as_saved, twice};

/// Keeps a paused process with a state, up to [`Limits::snapshots_max`]; replays where there is none.
#[derive(Debug)]
pub struct Fork {
    program: Program,
    limits: Limits,
    description: Description,
    server: Mutex<Option<Arc<Server>>>,
    snapshots: Arc<Snapshots>,
}

impl Fork {
    /// Starts the program and asks what it is.
    ///
    /// # Errors
    /// When it cannot be started or does not answer.
    pub fn new(program: Program, limits: Limits) -> Result<Self, Fault> {
        let server = Arc::new(Server::spawn(&program, &limits)?);
        let description = server.branch(&limits)?.describe(&limits)?;
        let snapshots = Arc::new(Snapshots::new(limits.snapshots_max));
        Ok(Self { program, limits, description, server: Mutex::new(Some(server)), snapshots })
    }
    /// How many states are kept as a paused process.
    pub fn snapshots_kept(&self) -> usize {
        self.snapshots.len()
    }
    fn slot(&self) -> MutexGuard<'_, Option<Arc<Server>>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The server, or a new one if it ended.
    fn server(&self) -> Result<Arc<Server>, CallError> {
        let mut slot = self.slot();
        if let Some(server) = slot.as_ref().filter(|server| server.is_alive()) {
            return Ok(Arc::clone(server));
        }
        // The old one first: its processes count against the same limits.
        *slot = None;
        Ok(Arc::clone(slot.insert(Arc::new(Server::spawn(&self.program, &self.limits)?))))
    }
    fn forget(&self, lost: &Arc<Server>) {
        let mut slot = self.slot();
        if slot.as_ref().is_some_and(|server| Arc::ptr_eq(server, lost)) {
            *slot = None;
        }
    }
    /// A fork of the zygote, driven through the path.
    fn replayed(&self, path: &Path) -> Result<(Link, Observation), CallError> {
        let server = self.server()?;
        let mut runner = server.branch(&self.limits).inspect_err(|_| self.forget(&server))?;
        let observation = runner.replay(path, &self.limits)?;
        Ok((runner, observation))
    }
    fn kept(&self, segment: Segment, runner: Link) -> (Segment, Option<Arc<Snapshot>>) {
        (segment, Some(self.snapshots.keep(runner)))
    }
}

impl Restore for Fork {
    type Handle = Arc<Snapshot>;

    fn description(&self) -> &Description {
        &self.description
    }
    fn start(&self, path: &Path) -> Result<(Observation, Option<Self::Handle>), Fault> {
        let (runner, observation) = twice(|| self.replayed(path))?;
        Ok((observation, Some(self.snapshots.keep(runner))))
    }
    fn run(&self, saved: Saved<'_, Self::Handle>, choice: Choice) -> Result<(Segment, Option<Self::Handle>), Fault> {
        if let Some(mut runner) = saved.handle.and_then(|handle| self.snapshots.load(handle, &self.limits)) {
            match runner.run(choice, &self.limits) {
                Ok(segment) => return Ok(self.kept(segment, runner)),
                Err(CallError::Lost(_)) => {}
                Err(other) => return Err(other.into()),
            }
        }
        let (segment, runner) = twice(|| {
            let (mut runner, replayed) = self.replayed(saved.path)?;
            same_as_saved(saved.observation, &replayed)?;
            Ok((runner.run(choice, &self.limits)?, runner))
        })?;
        Ok(self.kept(segment, runner))
    }
    fn processes(&self) -> Vec<u32> {
        let server = self.slot().clone();
        server.iter().flat_map(|server| server.processes()).chain(self.snapshots.processes()).collect()
    }
}
