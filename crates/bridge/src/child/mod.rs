//! A process of ours: in its own group, with limits, and never alive after us.
//!
//! Between us and the command stands a *sentinel*: a fork of ours that runs no foreign code, adopts every orphan below
//! it and holds a line to us. When the command ends, when we ask for it, or when we are gone (even by `kill -9`), it
//! ends everything below it, then itself. So forked snapshots, helpers of helpers and daemons end too.

mod memory;
mod output;
mod sentinel;
mod watch;

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::misbehaviour::{Kind, Misbehaviour};
use crate::process::{ProcessLimits, ProcessSpec};

/// Longest wait for a killed group to be gone.
const GONE: Duration = Duration::from_secs(5);
/// Longest wait for the last words of a process whose link broke.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Longest wait for a process that was told goodbye.
const GOODBYE: Duration = Duration::from_millis(200);

/// How the command ended, as its sentinel tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ended {
    status: i32,
    memory_peak_bytes: u64,
}

/// A running process with its sentinel.
#[derive(Debug)]
pub(crate) struct Child {
    sentinel: std::process::Child,
    command: i32,
    lifeline: Arc<UnixStream>,
    watch: watch::Watch,
    limits: ProcessLimits,
}

impl Child {
    /// Starts the command. `socket` is removed together with its folder should we be gone before it was used.
    pub(crate) fn start(
        spec: &ProcessSpec,
        limits: ProcessLimits,
        endpoint: &str,
        socket: &Path,
    ) -> Result<Self, Misbehaviour> {
        Self::spawn(spec, limits, endpoint, socket).map_err(|error| {
            let command = spec.command.to_string_lossy();
            Misbehaviour::new(Kind::NoStart, format!("`{command}` cannot be started: {error}"))
        })
    }

    fn spawn(spec: &ProcessSpec, limits: ProcessLimits, endpoint: &str, socket: &Path) -> io::Result<Self> {
        let (lifeline, theirs) = UnixStream::pair()?;
        let plan = sentinel::Plan::new(theirs.as_raw_fd(), limits.memory_bytes, socket)?;
        let mut command = Command::new(&spec.command);
        command.args(&spec.args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A crash must not swallow what was printed, and a restart must not reorder sets.
        command.env("PYTHONUNBUFFERED", "1").env("PYTHONHASHSEED", "0");
        command.envs(spec.env.iter().map(|(name, value)| (name, value))).env(crate::serve::ENDPOINT_VARIABLE, endpoint);
        if let Some(folder) = &spec.working_dir {
            command.current_dir(folder);
        }
        // SAFETY: `split` makes only calls that are allowed between fork and exec: system calls, no allocation, no locks.
        unsafe { command.pre_exec(move || sentinel::split(&plan)) };
        let mut sentinel = command.spawn()?;
        drop(theirs);
        let lifeline = Arc::new(lifeline);
        lifeline.set_read_timeout(Some(GONE))?;
        let mut pid = [0; 4];
        (&*lifeline).read_exact(&mut pid)?;
        let (Some(stdout), Some(stderr)) = (sentinel.stdout.take(), sentinel.stderr.take()) else {
            return Err(io::Error::other("no pipes for its output"));
        };
        let watch = watch::Watch::start(stdout, stderr, sentinel.id(), limits, lifeline.clone())?;
        Ok(Self { sentinel, command: i32::from_ne_bytes(pid), lifeline, watch, limits })
    }

    /// The line to the sentinel: readable when the command has ended.
    pub(crate) fn lifeline(&self) -> &UnixStream {
        &self.lifeline
    }
    /// A message begins: output is counted anew.
    pub(crate) fn new_message(&self) {
        self.watch.new_message();
    }

    /// Says what really happened, then ends everything: the link sees only that it broke.
    pub(crate) fn explain(mut self, seen: Misbehaviour) -> Misbehaviour {
        let broke = matches!(seen.kind, Kind::Crash | Kind::Truncated | Kind::NoStart);
        let ended = if broke { self.ended_within(LAST_WORDS) } else { None };
        let reason = self.watch.reason();
        self.end();
        let mut told = match (reason, ended) {
            (Some(reason), _) => reason,
            (None, Some(ended)) if ended.memory_peak_bytes > self.limits.memory_bytes => {
                memory::over(ended.memory_peak_bytes, self.limits)
            }
            (None, Some(ended)) if seen.kind == Kind::Truncated && ended.status == 0 => seen,
            (None, Some(ended)) => {
                let kind = if seen.kind == Kind::NoStart { Kind::NoStart } else { Kind::Crash };
                Misbehaviour::new(kind, format!("the process {}", describe(ended.status)))
            }
            (None, None) if seen.kind == Kind::Crash => Misbehaviour::new(
                Kind::Crash,
                "the process closed the link while it was still running (a heartbeat with a short timeout does that, too)",
            ),
            (None, None) => seen,
        };
        told.output = self.watch.output();
        told
    }
    /// Waits a little for a process that was told goodbye, then ends what is left.
    pub(crate) fn leave(mut self) {
        self.ended_within(GOODBYE);
        self.end();
    }

    fn ended_within(&self, limit: Duration) -> Option<Ended> {
        self.lifeline.set_read_timeout(Some(limit)).ok()?;
        let mut told = [0; 12];
        (&*self.lifeline).read_exact(&mut told).ok()?;
        let status = i32::from_ne_bytes(told[..4].try_into().expect("four bytes"));
        let kilobytes = i64::from_ne_bytes(told[4..].try_into().expect("eight bytes"));
        Some(Ended { status, memory_peak_bytes: u64::try_from(kilobytes).unwrap_or(0) * 1024 })
    }

    /// Ends the group and all that came of it, and waits until it is gone.
    fn end(&mut self) {
        // What fails here was gone already.
        let _ = self.lifeline.shutdown(Shutdown::Write);
        let _ = self.lifeline.set_read_timeout(Some(GONE));
        let mut rest = [0; 16];
        while matches!((&*self.lifeline).read(&mut rest), Ok(count) if count > 0) {}
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(self.command), nix::sys::signal::Signal::SIGKILL);
        if !matches!(self.sentinel.try_wait(), Ok(Some(_))) {
            let _ = self.sentinel.wait();
        }
        self.watch.join();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.watch.is_over() {
            self.end();
        }
    }
}

/// An exit status in words.
fn describe(status: i32) -> String {
    use nix::sys::wait::WaitStatus;
    match WaitStatus::from_raw(nix::unistd::Pid::from_raw(1), status) {
        Ok(WaitStatus::Exited(_, code)) => format!("ended with exit status {code}"),
        Ok(WaitStatus::Signaled(_, signal, _)) => format!("was ended by {signal}"),
        _ => format!("ended with status {status:#x}"),
    }
}
