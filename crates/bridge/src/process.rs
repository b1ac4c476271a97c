//! A program that we start: `driver = "av.py"`, `driver = { command = ["./av", "--fast"] }`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::conversation::Deadlines;
use crate::instance::{Factory, Instance};
use crate::misbehaviour::Misbehaviour;

/// So much of the end of the output is kept.
pub const OUTPUT_KEPT_BYTES: usize = 64 << 10;

/// What is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSpec {
    /// The program.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs; ours if absent.
    pub working_dir: Option<PathBuf>,
    /// Variables added to our environment.
    pub env: Vec<(OsString, OsString)>,
}

/// How much a process may use, all that it starts included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Resident memory: of each process alone, and of all together with shared pages counted once.
    pub memory_bytes: u64,
    /// Output during one message.
    pub output_bytes: u64,
}

impl Default for ProcessLimits {
    /// NumPy with its threads maps gigabytes and touches a few dozen megabytes of them, so what is mapped is not what counts.
    fn default() -> Self {
        Self { memory_bytes: 4 << 30, output_bytes: 8 << 20 }
    }
}

/// Starts a command, waits until it connects and has said what it is, and supervises it.
#[derive(Clone, Debug)]
pub struct ProcessFactory {
    /// What is started.
    pub spec: ProcessSpec,
    /// How much it may use.
    pub limits: ProcessLimits,
    /// How long is waited for it.
    pub deadlines: Deadlines,
}

impl ProcessFactory {
    /// A command with its arguments, with the usual limits.
    pub fn new<A: Into<OsString>>(command: impl Into<OsString>, args: impl IntoIterator<Item = A>) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        Self {
            spec: ProcessSpec { command: command.into(), args, working_dir: None, env: Vec::new() },
            limits: ProcessLimits::default(),
            deadlines: Deadlines::default(),
        }
    }
}

impl Factory for ProcessFactory {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        unix::start(self)
    }
}

#[cfg(unix)]
mod unix {
    use std::os::fd::AsFd;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::Path;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    use super::ProcessFactory;
    use crate::child::Child;
    use crate::clock::{Cutoff, Deadline, Passed};
    use crate::conversation::Conversation;
    use crate::instance::Instance;
    use crate::misbehaviour::{Kind, Misbehaviour};
    use crate::protocol::{Answer, Card, Op};

    /// Longest path of a socket in the file system, on the strictest of our systems.
    const SOCKET_PATH_BYTES_MAX: usize = 100;

    /// A process with whom we talk. `child` is absent only after it was ended.
    struct Process {
        conversation: Conversation,
        child: Option<Child>,
        cutoff: &'static Cutoff,
    }

    fn no_start(text: impl std::fmt::Display) -> Misbehaviour {
        Misbehaviour::new(Kind::NoStart, text.to_string())
    }

    pub(super) fn start(factory: &ProcessFactory) -> Result<Box<dyn Instance>, Misbehaviour> {
        // The folder can be entered by this user alone, so nobody else can pose as the child.
        let folder = private_folder().map_err(|error| no_start(format!("no private folder for the link: {error}")))?;
        let socket = folder.path().join("link");
        let listener = UnixListener::bind(&socket).map_err(no_start)?;
        let endpoint = format!("ipc://{}", socket.display());
        let cutoff = factory.deadlines.cutoff;
        let mut deadline = Deadline::from_now(factory.deadlines.start_up, cutoff);
        if cutoff.has_come() {
            return Err(Misbehaviour::cut_off());
        }
        let child = Child::start(&factory.spec, factory.limits, &endpoint, &socket)?;
        let stream = match accept(&listener, &child, &mut deadline) {
            Ok(stream) => stream,
            Err(wrong) => return Err(explain(child, wrong, cutoff)),
        };
        // The link stays when its name goes; nothing is left behind whatever happens to us from here on.
        drop((listener, folder));
        let left = match deadline.left() {
            Ok(left) => left,
            Err(passed) => return Err(explain(child, too_late(passed, "begin to talk"), cutoff)),
        };
        match Conversation::open(Box::new(stream), left, factory.deadlines) {
            Ok(conversation) => Ok(Box::new(Process { conversation, child: Some(child), cutoff })),
            Err(wrong) => Err(explain(child, wrong, cutoff)),
        }
    }

    /// What really happened. Once nobody waits any more the process is ended at once, and did nothing wrong.
    fn explain(child: Child, wrong: Misbehaviour, cutoff: &Cutoff) -> Misbehaviour {
        if cutoff.has_come() {
            drop(child);
            return Misbehaviour::cut_off();
        }
        child.explain(wrong)
    }

    fn too_late(passed: Passed, what: &str) -> Misbehaviour {
        match passed {
            Passed::Limit(limit) => no_start(format!("it did not {what} within {} s", limit.as_secs_f64())),
            Passed::CutOff => Misbehaviour::cut_off(),
        }
    }

    fn private_folder() -> std::io::Result<tempfile::TempDir> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("anabranch-");
        let folder = builder.tempdir()?;
        if folder.path().as_os_str().len() + "/link".len() <= SOCKET_PATH_BYTES_MAX {
            return Ok(folder);
        }
        builder.tempdir_in(Path::new("/tmp"))
    }

    /// Waits for the child to connect, and no longer than it lives.
    fn accept(listener: &UnixListener, child: &Child, deadline: &mut Deadline) -> Result<UnixStream, Misbehaviour> {
        listener.set_nonblocking(true).map_err(no_start)?;
        loop {
            let wait =
                deadline.wait().map_err(|passed| too_late(passed, "connect to the address in ANABRANCH_ENDPOINT"))?;
            let wait = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
            let mut fds = [
                PollFd::new(listener.as_fd(), PollFlags::POLLIN),
                PollFd::new(child.lifeline().as_fd(), PollFlags::POLLIN),
            ];
            // An interrupted wait is a short one.
            let _ = poll(&mut fds, wait);
            if fds[0].any().unwrap_or(false)
                && let Ok((stream, _)) = listener.accept()
            {
                stream.set_nonblocking(false).map_err(no_start)?;
                return Ok(stream);
            }
            if fds[1].any().unwrap_or(false) {
                return Err(no_start("it ended before it connected to the address in ANABRANCH_ENDPOINT"));
            }
        }
    }

    impl Instance for Process {
        fn card(&self) -> &Card {
            self.conversation.card()
        }
        fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
            let Some(child) = &self.child else {
                return Err(Misbehaviour::new(Kind::Crash, "the process was ended after an earlier misbehaviour"));
            };
            child.new_message();
            let result = self.conversation.exchange(ops, answers);
            match (result, self.child.take()) {
                (Err(wrong), Some(child)) => Err(explain(child, wrong, self.cutoff)),
                (result, child) => {
                    self.child = child;
                    result
                }
            }
        }
        fn seconds(&self) -> f64 {
            self.conversation.seconds()
        }
        fn expect(&mut self, step_s: f64) {
            self.conversation.expect(step_s);
        }
    }

    impl Drop for Process {
        fn drop(&mut self) {
            let Some(child) = self.child.take() else { return };
            if !self.cutoff.has_come() {
                self.conversation.bye();
                child.leave();
            }
        }
    }
}

#[cfg(not(unix))]
mod unix {
    use super::ProcessFactory;
    use crate::instance::Instance;
    use crate::misbehaviour::{Kind, Misbehaviour};

    pub(super) fn start(factory: &ProcessFactory) -> Result<Box<dyn Instance>, Misbehaviour> {
        let text = "programs are started on Unix only so far; start it yourself and name its address: { zmq = \"tcp://127.0.0.1:5555\" }";
        let _ = factory;
        Err(Misbehaviour::new(Kind::NoStart, text))
    }
}
