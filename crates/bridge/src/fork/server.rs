//! The host's side of a sentinel and its zygote.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};

use super::link::Link;
use crate::driver::FORKS_ARGUMENT;
use crate::restore::{CallError, Limits, Program};

/// How often the host looks whether the sentinel has ended, and how long it lets it tidy up.
const LOOK_EVERY: Duration = Duration::from_millis(2);
const LOOKS_MAX: u32 = 1000;

/// A running sentinel. Dropping it ends every process below it, snapshots included.
#[derive(Debug)]
pub(super) struct Server {
    sentinel: Mutex<Child>,
    control: Option<UnixStream>,
    zygote: Mutex<Link>,
}

impl Server {
    pub(super) fn spawn(program: &Program, limits: &Limits) -> Result<Self, CallError> {
        let (control, theirs) = UnixStream::pair().map_err(CallError::Lost)?;
        let mut command = program.command(FORKS_ARGUMENT);
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
        let mut sentinel = command.spawn().map_err(|error| program.cannot_start(&error))?;
        // The command holds their end of the control; while it is open here, the sentinel's death would not show.
        drop(command);
        match Link::branched(&control, limits) {
            Ok(zygote) => {
                Ok(Self { sentinel: Mutex::new(sentinel), control: Some(control), zygote: Mutex::new(zygote) })
            }
            Err(error) => {
                drop(control);
                end(&mut sentinel);
                Err(error)
            }
        }
    }
    /// A fork of the driver as it was before any start.
    pub(super) fn branch(&self, limits: &Limits) -> Result<Link, CallError> {
        self.zygote().branch(limits)
    }
    /// Whether the sentinel still looks after its processes.
    pub(super) fn is_alive(&self) -> bool {
        matches!(self.sentinel().try_wait(), Ok(None))
    }
    pub(super) fn processes(&self) -> [u32; 2] {
        [self.sentinel().id(), self.zygote().pid().as_raw().unsigned_abs()]
    }
    fn sentinel(&self) -> MutexGuard<'_, Child> {
        self.sentinel.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn zygote(&self) -> MutexGuard<'_, Link> {
        self.zygote.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let was_killed = matches!(self.sentinel().try_wait(), Ok(Some(status)) if !status.success());
        if was_killed {
            // Then nobody else ends a fork that hangs. A sentinel that ended in order left no group behind.
            let _ = killpg(self.zygote().pid(), Signal::SIGKILL);
        }
        drop(self.control.take());
        end(&mut self.sentinel());
    }
}

/// Waits for a sentinel that was told to end, and kills it if it does not.
fn end(sentinel: &mut Child) {
    for _ in 0..LOOKS_MAX {
        if !matches!(sentinel.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let _ = sentinel.kill();
    let _ = sentinel.wait();
}
