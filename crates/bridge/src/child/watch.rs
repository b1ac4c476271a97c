//! The thread that reads what a process prints and looks at its memory.

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::{ChildStderr, ChildStdout};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::memory::Gauge;
use super::output::Tail;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::process::ProcessLimits;

/// Milliseconds between two looks at the memory. In this time a process can fill some hundred megabytes.
const LOOK_MS: u16 = 50;

#[derive(Debug)]
struct Shared {
    tail: Mutex<Tail>,
    /// Why the watch ended the process, if it did.
    reason: Mutex<Option<Misbehaviour>>,
    bytes_of_message: AtomicU64,
    over: AtomicBool,
    limits: ProcessLimits,
    lifeline: Arc<UnixStream>,
}

/// Reads output and looks at memory until told to stop.
#[derive(Debug)]
pub(super) struct Watch {
    shared: Arc<Shared>,
    /// Closed when it is over, so that nobody waits for the next look.
    wake: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn start(
        stdout: ChildStdout,
        stderr: ChildStderr,
        sentinel: u32,
        limits: ProcessLimits,
        lifeline: Arc<UnixStream>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            tail: Mutex::default(),
            reason: Mutex::default(),
            bytes_of_message: AtomicU64::new(0),
            over: AtomicBool::new(false),
            limits,
            lifeline,
        });
        let theirs = shared.clone();
        let (wake, woken) = UnixStream::pair()?;
        let thread = std::thread::Builder::new()
            .name("anabranch-watch".to_owned())
            .stack_size(256 << 10)
            .spawn(move || theirs.run(stdout, stderr, &woken, Gauge::new(sentinel)))?;
        Ok(Self { shared, wake: Some(wake), thread: Some(thread) })
    }
    pub(super) fn new_message(&self) {
        self.shared.bytes_of_message.store(0, Ordering::Relaxed);
    }
    /// Why the watch ended the process, if it did.
    pub(super) fn reason(&self) -> Option<Misbehaviour> {
        lock(&self.shared.reason).clone()
    }
    /// The end of what was printed.
    pub(super) fn output(&self) -> Option<Arc<str>> {
        lock(&self.shared.tail).text().map(Arc::from)
    }
    pub(super) fn is_over(&self) -> bool {
        self.thread.is_none()
    }
    /// To be called when the process is gone: its pipes are closed then, and all it printed is read.
    pub(super) fn join(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // A panic there leaves less output; it was printed already.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pipe until it is closed.
struct Pipe<R>(Option<R>);

impl<R: Read + AsFd> Pipe<R> {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.0.as_ref().map(AsFd::as_fd)
    }
    /// Reads what is there.
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        let Some(reader) = &mut self.0 else { return 0 };
        match reader.read(buffer) {
            Ok(count) if count > 0 => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Ok(_) | Err(_) => {
                self.0 = None;
                0
            }
        }
    }
}

impl Shared {
    fn run(&self, stdout: ChildStdout, stderr: ChildStderr, woken: &UnixStream, mut gauge: Gauge) {
        let (mut stdout, mut stderr) = (Pipe(Some(stdout)), Pipe(Some(stderr)));
        let mut buffer = vec![0; 64 << 10];
        loop {
            let [first, second] = ready(stdout.fd(), stderr.fd(), woken.as_fd());
            if first {
                let count = stdout.read(&mut buffer);
                self.take(&buffer[..count]);
            }
            if second {
                let count = stderr.read(&mut buffer);
                self.take(&buffer[..count]);
            }
            // The group is gone when this is set, so closed pipes follow at once; a pipe that was given away is not waited for.
            if self.over.load(Ordering::Acquire) && !first && !second {
                return;
            }
            if let Some(bytes) = gauge.over(self.limits) {
                self.end(super::memory::over(bytes, self.limits));
            }
        }
    }
    fn take(&self, bytes: &[u8]) {
        lock(&self.tail).push(bytes);
        let sum = self.bytes_of_message.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        if sum > self.limits.output_bytes {
            let text = format!("more than {} bytes of output during one message", self.limits.output_bytes);
            self.end(Misbehaviour::new(Kind::Flood, text));
        }
    }
    /// Lets the sentinel end the process; the first reason counts.
    fn end(&self, reason: Misbehaviour) {
        lock(&self.reason).get_or_insert(reason);
        // It may be gone already.
        let _ = self.lifeline.shutdown(Shutdown::Write);
    }
}

/// Waits a moment for something to read, or until it is over; closed pipes count as readable once.
fn ready(stdout: Option<BorrowedFd<'_>>, stderr: Option<BorrowedFd<'_>>, woken: BorrowedFd<'_>) -> [bool; 2] {
    let open = [stdout, stderr];
    let polled = open.into_iter().flatten().chain([woken]);
    let mut fds: Vec<PollFd<'_>> = polled.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    // An interrupted wait is a short one.
    let _ = poll(&mut fds, PollTimeout::from(LOOK_MS));
    let mut readable = fds.iter().map(|fd| fd.any().unwrap_or(false));
    open.map(|fd| fd.is_some() && readable.next().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;
    use crate::clock::now;

    /// How long it takes to end the watch over a process that has ended.
    fn ending() -> Duration {
        let mut child = Command::new("true").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.wait().unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (lifeline, _theirs) = UnixStream::pair().unwrap();
        let limits = ProcessLimits::default();
        let mut watch = Watch::start(stdout, stderr, child.id(), limits, Arc::new(lifeline)).unwrap();
        let began = now();
        watch.join();
        began.elapsed()
    }

    #[test]
    fn nobody_waits_for_the_next_look_at_a_process_that_has_ended() {
        let mut times: Vec<Duration> = (0..9).map(|_| ending()).collect();
        times.sort();
        assert!(times[4] < Duration::from_millis(u64::from(LOOK_MS)) / 2, "{times:?}");
    }
}
