//! Restoring by replay: every segment drives a child from the start through the path. Works everywhere.

use std::convert::Infallible;
use std::io;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anabranch_kernel::{Choice, Fault};

use crate::driver::PIPES_ARGUMENT;
use crate::protocol::{Description, Observation, Path, Reply, Request, Segment, decode, encode, read_body};
use crate::restore::{Ask, CallError, Limits, Program, Restore, Saved, same_as_saved, twice};

/// Keeps nothing with a state, and as many idle children as there were calls at the same time.
#[derive(Debug)]
pub struct Replay {
    program: Program,
    limits: Limits,
    description: Description,
    idle: Mutex<Vec<PipeChild>>,
}

impl Replay {
    /// Starts the program once and asks what it is.
    ///
    /// # Errors
    /// When it cannot be started or does not answer.
    pub fn new(program: Program, limits: Limits) -> Result<Self, Fault> {
        let mut child = PipeChild::spawn(&program)?;
        let description = child.describe(&limits)?;
        Ok(Self { program, limits, description, idle: Mutex::new(vec![child]) })
    }
    fn idle(&self) -> MutexGuard<'_, Vec<PipeChild>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Calls an idle or new child; only one that answered is kept.
    fn with_child<T>(&self, call: impl Fn(&mut PipeChild) -> Result<T, CallError>) -> Result<T, CallError> {
        let idle = self.idle().pop();
        let mut first = idle.map_or_else(|| PipeChild::spawn(&self.program), Ok).map(Some)?;
        twice(|| {
            let mut child = first.take().map_or_else(|| PipeChild::spawn(&self.program), Ok)?;
            let result = call(&mut child)?;
            self.idle().push(child);
            Ok(result)
        })
    }
}

impl Restore for Replay {
    type Handle = Infallible;

    fn description(&self) -> &Description {
        &self.description
    }
    fn start(&self, path: &Path) -> Result<(Observation, Option<Infallible>), Fault> {
        let observation = self.with_child(|child| child.replay(path, &self.limits))?;
        Ok((observation, None))
    }
    fn run(&self, saved: Saved<'_, Infallible>, choice: Choice) -> Result<(Segment, Option<Infallible>), Fault> {
        let segment = self.with_child(|child| {
            let replayed = child.replay(saved.path, &self.limits)?;
            same_as_saved(saved.observation, &replayed)?;
            child.run(choice, &self.limits)
        })?;
        Ok((segment, None))
    }
    fn processes(&self) -> Vec<u32> {
        self.idle().iter().map(|child| child.process.id()).collect()
    }
}

/// A child behind its two pipes. Pipes have no deadlines, so a thread of its own writes and reads.
#[derive(Debug)]
struct PipeChild {
    process: Child,
    frames: Sender<Vec<u8>>,
    bodies: Receiver<io::Result<Vec<u8>>>,
}

impl PipeChild {
    fn spawn(program: &Program) -> Result<Self, CallError> {
        let mut command = program.command(PIPES_ARGUMENT);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = spawned.map_err(|error| program.cannot_start(&error))?;
        let (frames, frames_out) = channel();
        let (bodies_in, bodies) = channel();
        let pipes = process.stdin.take().zip(process.stdout.take()).expect("both pipes were asked for");
        std::thread::spawn(move || carry(pipes, &frames_out, &bodies_in));
        Ok(Self { process, frames, bodies })
    }
}

/// Ends when the child or the host's side of the channel is gone.
fn carry(
    (mut stdin, mut stdout): (ChildStdin, ChildStdout),
    frames: &Receiver<Vec<u8>>,
    bodies: &Sender<io::Result<Vec<u8>>>,
) {
    for frame in frames {
        let body = io::Write::write_all(&mut stdin, &frame).and_then(|()| read_body(&mut stdout));
        let ended = body.is_err();
        if bodies.send(body).is_err() || ended {
            return;
        }
    }
}

impl Ask for PipeChild {
    fn ask(&mut self, request: &Request, within: Duration) -> Result<Reply, CallError> {
        let gone = || CallError::Lost(io::ErrorKind::BrokenPipe.into());
        self.frames.send(encode(request).map_err(CallError::Lost)?).map_err(|_| gone())?;
        match self.bodies.recv_timeout(within) {
            Ok(body) => body.and_then(|body| decode(&body)).map_err(CallError::Lost),
            Err(RecvTimeoutError::Timeout) => Err(CallError::Late(within)),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }
}

impl Drop for PipeChild {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill, and only the waiting matters.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
