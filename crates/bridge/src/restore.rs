//! How a driver is put back into a saved state.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anabranch_kernel::{Choice, Fault, to_bytes};

use crate::protocol::{Description, Observation, Path, Reply, Request, Segment};

/// A way to go on from saved states.
pub trait Restore: Send + Sync {
    /// What is kept with a state so that it need not be replayed; a cache that may be missing or dead.
    type Handle: Clone + Send + Sync + 'static;

    /// What the driver said about itself.
    fn description(&self) -> &Description;
    /// Goes to the state at the end of a path.
    ///
    /// # Errors
    /// When the driver refuses, dies twice or misses its deadline.
    fn start(&self, path: &Path) -> Result<(Observation, Option<Self::Handle>), Fault>;
    /// Runs one segment from a saved state.
    ///
    /// # Errors
    /// When the driver refuses, dies twice, misses its deadline or replays to another state than the saved one.
    fn run(&self, saved: Saved<'_, Self::Handle>, choice: Choice) -> Result<(Segment, Option<Self::Handle>), Fault>;
    /// Ids of the processes held at the moment, for people who look after the machine.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// A state to go on from.
#[derive(Debug)]
pub struct Saved<'a, H> {
    /// Its address.
    pub path: &'a Path,
    /// What was observed when it was saved.
    pub observation: &'a Observation,
    /// Its cache, if there still is one.
    pub handle: Option<H>,
}

/// The program that holds the driver.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub executable: PathBuf,
    /// Its own arguments; the bridge adds one at the end that says how it talks.
    pub arguments: Vec<OsString>,
}

impl Program {
    /// A program without own arguments.
    pub fn new(executable: impl Into<PathBuf>) -> Self {
        Self { executable: executable.into(), arguments: Vec::new() }
    }
    /// The same program with one more argument.
    #[must_use]
    pub fn with(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }
    pub(crate) fn command(&self, way: &str) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(&self.arguments).arg(way);
        command
    }
    pub(crate) fn cannot_start(&self, error: &io::Error) -> CallError {
        CallError::Broken(Fault::External(format!("{} cannot be started: {error}", self.executable.display())))
    }
}

/// What the host grants a child.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Silence after which a child counts as hung, per segment.
    pub answer_within: Duration,
    /// Most paused processes; the least recently used one is given up and replayed when needed.
    pub snapshots_max: usize,
}

impl Default for Limits {
    /// Five seconds of silence; 256 processes, well below the usual limits per user and per container.
    fn default() -> Self {
        Self { answer_within: Duration::from_secs(5), snapshots_max: 256 }
    }
}

impl Limits {
    /// Time for the segments of a path and one more.
    pub(crate) fn for_path(&self, path: &Path) -> Duration {
        self.answer_within.saturating_mul(u32::try_from(path.choices.len()).unwrap_or(u32::MAX).saturating_add(1))
    }
}

/// A call to a child that gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The process is gone or wrote something that is no reply. Another process may do better.
    #[error("the child process is gone: {0}")]
    Lost(io::Error),
    /// It did not answer within the deadline.
    #[error("the child process did not answer within {0:?}")]
    Late(Duration),
    /// It answered that it cannot.
    #[error("the child process refused: {0}")]
    Refused(String),
    /// The call makes no sense any more.
    #[error(transparent)]
    Broken(#[from] Fault),
}

impl From<CallError> for Fault {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Broken(fault) => fault,
            other => Self::External(other.to_string()),
        }
    }
}

/// Repeats a call once if its process was lost.
pub(crate) fn twice<T>(mut call: impl FnMut() -> Result<T, CallError>) -> Result<T, CallError> {
    match call() {
        Err(CallError::Lost(_)) => call(),
        other => other,
    }
}

/// A replay must end where the saved state was, bit for bit.
pub(crate) fn same_as_saved(saved: &Observation, replayed: &Observation) -> Result<(), CallError> {
    if to_bytes(saved) == to_bytes(replayed) {
        return Ok(());
    }
    Err(CallError::Broken(Fault::Contract(format!(
        "replaying the same path led to {replayed:?}, not to {saved:?}; does the driver use a clock, a generator \
         without seed, several threads or another version than the one that saved the state?"
    ))))
}

pub(crate) fn unexpected(reply: &Reply) -> CallError {
    match reply {
        Reply::Refused(reason) => CallError::Refused(reason.clone()),
        other => CallError::Broken(Fault::Contract(format!("the child answered another question: {other:?}"))),
    }
}

/// The three questions, for anything that can carry them.
pub(crate) trait Ask {
    fn ask(&mut self, request: &Request, within: Duration) -> Result<Reply, CallError>;

    fn describe(&mut self, limits: &Limits) -> Result<Description, CallError> {
        match self.ask(&Request::Describe, limits.answer_within)? {
            Reply::Description(description) => Ok(description),
            other => Err(unexpected(&other)),
        }
    }
    fn replay(&mut self, path: &Path, limits: &Limits) -> Result<Observation, CallError> {
        match self.ask(&Request::Replay(path.clone()), limits.for_path(path))? {
            Reply::Observed(observation) => Ok(observation),
            other => Err(unexpected(&other)),
        }
    }
    fn run(&mut self, choice: Choice, limits: &Limits) -> Result<Segment, CallError> {
        match self.ask(&Request::Run(choice), limits.answer_within)? {
            Reply::Ran(segment) => Ok(segment),
            other => Err(unexpected(&other)),
        }
    }
}
