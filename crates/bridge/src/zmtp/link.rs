//! One connection: greeting, then messages there and back, each with an end to waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use super::wire::{self, BadGreeting, Follows, Frame};
use crate::clock::{Cutoff, Deadline, NEVER, Passed};

/// Bytes asked for in one read while little is expected.
const READ_BYTES: usize = 16 << 10;
/// Bytes asked for in one read of a large message. Memory grows with what came, never with what was announced.
const READ_BYTES_MAX: usize = 1 << 20;
/// Longest command; real ones have some dozen bytes.
const COMMAND_BYTES_MAX: u64 = 4 << 10;
/// Most frames of one message; real ones have two, and one more for each blob.
const FRAMES_MAX: usize = 1 << 10;

/// A connection that can stop waiting.
pub trait Stream: Read + Write + Send {
    /// From now on reading ends after this time with an error.
    ///
    /// # Errors
    /// When the system refuses.
    fn limit_reading(&self, limit: Option<Duration>) -> io::Result<()>;
    /// From now on writing ends after this time with an error.
    ///
    /// # Errors
    /// When the system refuses.
    fn limit_writing(&self, limit: Option<Duration>) -> io::Result<()>;
}

impl Stream for std::net::TcpStream {
    fn limit_reading(&self, limit: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(limit)
    }
    fn limit_writing(&self, limit: Option<Duration>) -> io::Result<()> {
        self.set_write_timeout(limit)
    }
}

#[cfg(unix)]
impl Stream for std::os::unix::net::UnixStream {
    fn limit_reading(&self, limit: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(limit)
    }
    fn limit_writing(&self, limit: Option<Duration>) -> io::Result<()> {
        self.set_write_timeout(limit)
    }
}

/// Who asks and who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Asks.
    Req,
    /// Answers.
    Rep,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Req => "REQ",
            Self::Rep => "REP",
        }
    }
    /// Whom ZMTP lets it talk with.
    fn suits(self, other: &[u8]) -> bool {
        match self {
            Self::Req => matches!(other, b"REP" | b"ROUTER"),
            Self::Rep => matches!(other, b"REQ" | b"DEALER"),
        }
    }
}

/// What went wrong on a connection.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The other side closed it between two messages.
    #[error("the other side closed the link")]
    Closed,
    /// The other side closed it in the middle of a message.
    #[error("the link was closed after {0} bytes of an unfinished message")]
    Cut(usize),
    /// Nothing came in time.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Deadline(Duration),
    /// Nobody waits any more, however long it takes.
    #[error("nobody waits any more")]
    CutOff,
    /// A message beyond the limit.
    #[error("a message of {announced} bytes was announced; the limit is {limit}")]
    Oversized {
        /// What the length field says.
        announced: u64,
        /// What is allowed.
        limit: usize,
    },
    /// Another version of ZeroMQ.
    #[error("the other side speaks version {0} of ZeroMQ's protocol; 3 is needed (libzmq 4)")]
    Version(u8),
    /// Bytes that are not ZeroMQ.
    #[error("{0}")]
    Malformed(String),
    /// The system failed.
    #[error("the link failed: {0}")]
    Io(#[from] io::Error),
}

impl From<Passed> for LinkError {
    fn from(passed: Passed) -> Self {
        match passed {
            Passed::Limit(limit) => Self::Deadline(limit),
            Passed::CutOff => Self::CutOff,
        }
    }
}

impl From<BadGreeting> for LinkError {
    fn from(bad: BadGreeting) -> Self {
        match bad {
            BadGreeting::Version(version) => Self::Version(version),
            BadGreeting::NoGreeting(at) => Self::Malformed(format!(
                "byte {at} of the greeting is not that of ZeroMQ: is the other side a ZeroMQ socket?"
            )),
            BadGreeting::Mechanism(name) => Self::Malformed(format!(
                "the other side asks for the security mechanism {name:?}; only NULL is spoken here"
            )),
        }
    }
}

/// A connection after the greeting.
pub struct Link {
    stream: Box<dyn Stream>,
    side: Side,
    message_bytes_max: usize,
    /// Bytes that came and were not used; `input[used..filled]`.
    input: Vec<u8>,
    used: usize,
    filled: usize,
    output: Vec<u8>,
    /// Frames before the delimiter of the last request (side `REP`), to be sent back.
    envelope: Vec<Vec<u8>>,
    /// What the socket was told last, so that it is told only what changed.
    reading_limit: Option<Option<Duration>>,
    writing_limit: Option<Option<Duration>>,
    cutoff: &'static Cutoff,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("side", &self.side).field("waiting_bytes", &(self.filled - self.used)).finish()
    }
}

impl Link {
    /// Greets the other side and learns what it is.
    ///
    /// # Errors
    /// When it is not a ZeroMQ socket of the fitting kind, or does not greet in time.
    pub fn open(
        stream: Box<dyn Stream>,
        side: Side,
        message_bytes_max: usize,
        limit: Option<Duration>,
    ) -> Result<Self, LinkError> {
        Self::open_until(stream, side, message_bytes_max, (limit, &NEVER))
    }

    /// The same, and nobody waits beyond the cutoff, now or later.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn open_until(
        stream: Box<dyn Stream>,
        side: Side,
        message_bytes_max: usize,
        (limit, cutoff): (Option<Duration>, &'static Cutoff),
    ) -> Result<Self, LinkError> {
        let mut link = Self {
            stream,
            side,
            message_bytes_max,
            input: vec![0; READ_BYTES],
            used: 0,
            filled: 0,
            output: Vec::new(),
            envelope: Vec::new(),
            reading_limit: None,
            writing_limit: None,
            cutoff,
        };
        let mut deadline = Deadline::from_now(limit, cutoff);
        link.output.extend_from_slice(&wire::greeting());
        match link.flush(&mut deadline) {
            // Somebody who talks nonsense and hangs up at once has still said what tells us so.
            Ok(()) | Err(LinkError::Closed) => {}
            Err(error) => return Err(error),
        }
        while link.waiting().len() < wire::GREETING_BYTES {
            wire::check_greeting(link.waiting())?;
            link.fill(&mut deadline, READ_BYTES)?;
        }
        wire::check_greeting(&link.waiting()[..wire::GREETING_BYTES])?;
        link.used += wire::GREETING_BYTES;
        let mut properties = Vec::new();
        wire::push_property(&mut properties, "Socket-Type", side.name().as_bytes());
        if side == Side::Req {
            wire::push_property(&mut properties, "Identity", b"");
        }
        wire::push_command(&mut link.output, "READY", &properties);
        link.flush(&mut deadline)?;
        link.await_ready(&mut deadline)?;
        Ok(link)
    }

    /// Sends a message: the body and its blobs. The answering side sends it to whom it last heard.
    ///
    /// # Errors
    /// When the other side is gone or does not take it in time.
    pub fn send(&mut self, body: &[u8], blobs: &[&[u8]], limit: Option<Duration>) -> Result<(), LinkError> {
        for frame in &self.envelope {
            wire::push_frame(&mut self.output, frame, Follows::More);
        }
        wire::push_frame(&mut self.output, &[], Follows::More);
        let follows = |last: bool| if last { Follows::Nothing } else { Follows::More };
        wire::push_frame(&mut self.output, body, follows(blobs.is_empty()));
        for (n, blob) in blobs.iter().enumerate() {
            wire::push_frame(&mut self.output, blob, follows(n + 1 == blobs.len()));
        }
        self.flush(&mut Deadline::after(limit, self.cutoff))
    }

    /// Waits for a message and appends its body to `body`, emptied first, and its blobs to the list it returns.
    ///
    /// # Errors
    /// When nothing whole and acceptable came in time.
    pub fn receive(&mut self, body: &mut Vec<u8>, limit: Option<Duration>) -> Result<Vec<Vec<u8>>, LinkError> {
        let mut deadline = Deadline::after(limit, self.cutoff);
        let mut left_bytes = self.message_bytes_max;
        body.clear();
        self.read_envelope(&mut deadline, &mut left_bytes)?;
        let cut = |error| if matches!(error, LinkError::Closed) { LinkError::Cut(0) } else { error };
        let mut more = self.read_frame(&mut deadline, &mut left_bytes, body).map_err(cut)?;
        let mut blobs = Vec::new();
        while more {
            let mut blob = Vec::new();
            more = self.read_frame(&mut deadline, &mut left_bytes, &mut blob).map_err(cut)?;
            blobs.push(blob);
            if blobs.len() > FRAMES_MAX {
                return Err(LinkError::Malformed(format!("a message of more than {FRAMES_MAX} frames")));
            }
        }
        Ok(blobs)
    }

    /// Frames up to the empty one. Towards `REQ` there is none before it; `REP` keeps them for the way back.
    fn read_envelope(&mut self, deadline: &mut Deadline, left_bytes: &mut usize) -> Result<(), LinkError> {
        self.envelope.clear();
        let mut frame = Vec::new();
        for _ in 0..FRAMES_MAX {
            frame.clear();
            if !self.read_frame(deadline, left_bytes, &mut frame)? {
                return Err(LinkError::Malformed("a message without the empty frame of REQ and REP".to_owned()));
            }
            if frame.is_empty() {
                return Ok(());
            }
            if self.side == Side::Req {
                let text = format!("an answer begins with a frame of {} bytes instead of an empty one", frame.len());
                return Err(LinkError::Malformed(text));
            }
            self.envelope.push(std::mem::take(&mut frame));
        }
        Err(LinkError::Malformed(format!("an envelope of more than {FRAMES_MAX} frames")))
    }

    /// Appends the next frame of a message; commands between messages and frames are dealt with. True if more follows.
    fn read_frame(
        &mut self,
        deadline: &mut Deadline,
        left_bytes: &mut usize,
        into: &mut Vec<u8>,
    ) -> Result<bool, LinkError> {
        loop {
            let frame = self.read_head(deadline)?;
            if frame.command {
                let command = self.read_command(deadline, frame)?;
                self.obey(&command, deadline)?;
                continue;
            }
            if frame.body_bytes > *left_bytes as u64 {
                return Err(LinkError::Oversized { announced: frame.body_bytes, limit: self.message_bytes_max });
            }
            let body_bytes = frame.body_bytes as usize;
            *left_bytes -= body_bytes;
            self.read_body(deadline, body_bytes, into)?;
            return Ok(frame.more);
        }
    }

    fn read_head(&mut self, deadline: &mut Deadline) -> Result<Frame, LinkError> {
        loop {
            let head = Frame::read(self.waiting()).map_err(|flags| {
                LinkError::Malformed(format!("a frame begins with the flags {flags:#04x}, which mean nothing"))
            })?;
            if let Some(frame) = head {
                self.used += frame.head_bytes;
                return Ok(frame);
            }
            self.fill(deadline, READ_BYTES)?;
        }
    }

    fn read_body(&mut self, deadline: &mut Deadline, body_bytes: usize, into: &mut Vec<u8>) -> Result<(), LinkError> {
        let mut missing = body_bytes;
        loop {
            let take = missing.min(self.filled - self.used);
            into.extend_from_slice(&self.input[self.used..self.used + take]);
            self.used += take;
            missing -= take;
            if missing == 0 {
                return Ok(());
            }
            self.fill(deadline, missing.clamp(READ_BYTES, READ_BYTES_MAX)).map_err(|error| match error {
                LinkError::Closed | LinkError::Cut(_) => LinkError::Cut(body_bytes - missing),
                other => other,
            })?;
        }
    }

    fn read_command(&mut self, deadline: &mut Deadline, frame: Frame) -> Result<Vec<u8>, LinkError> {
        if frame.body_bytes > COMMAND_BYTES_MAX {
            return Err(LinkError::Oversized { announced: frame.body_bytes, limit: COMMAND_BYTES_MAX as usize });
        }
        let mut command = Vec::new();
        self.read_body(deadline, frame.body_bytes as usize, &mut command)?;
        Ok(command)
    }

    /// A heartbeat is answered, an error ends the link, and what later versions may add is no concern of ours.
    fn obey(&mut self, command: &[u8], deadline: &mut Deadline) -> Result<(), LinkError> {
        match wire::read_command(command) {
            Some((b"PING", data)) if data.len() >= 2 => {
                wire::push_command(&mut self.output, "PONG", &data[2..]);
                self.flush(deadline)
            }
            Some((b"ERROR", data)) => {
                let reason = String::from_utf8_lossy(data.get(1..).unwrap_or_default()).into_owned();
                Err(LinkError::Malformed(format!("the other side refused the link: {reason}")))
            }
            Some(_) => Ok(()),
            None => Err(LinkError::Malformed("a command whose name is longer than itself".to_owned())),
        }
    }

    fn await_ready(&mut self, deadline: &mut Deadline) -> Result<(), LinkError> {
        loop {
            let frame = self.read_head(deadline)?;
            if !frame.command {
                return Err(LinkError::Malformed("a message before the socket said READY".to_owned()));
            }
            let command = self.read_command(deadline, frame)?;
            let Some((b"READY", data)) = wire::read_command(&command) else {
                self.obey(&command, deadline)?;
                continue;
            };
            let kind = wire::property(data, "Socket-Type")
                .map_err(|at| LinkError::Malformed(format!("the properties of READY break off at byte {at}")))?
                .unwrap_or_default();
            if self.side.suits(kind) {
                return Ok(());
            }
            let kind = String::from_utf8_lossy(kind).into_owned();
            let side = self.side.name();
            return Err(LinkError::Malformed(format!(
                "the other side is a socket of type {kind:?}, which does not fit {side}"
            )));
        }
    }

    fn waiting(&self) -> &[u8] {
        &self.input[self.used..self.filled]
    }

    /// Reads once, at most so many bytes.
    fn fill(&mut self, deadline: &mut Deadline, bytes: usize) -> Result<(), LinkError> {
        self.input.copy_within(self.used..self.filled, 0);
        (self.used, self.filled) = (0, self.filled - self.used);
        if self.input.len() < self.filled + bytes {
            self.input.resize(self.filled + bytes, 0);
        }
        loop {
            let left = Some(deadline.wait()?);
            if self.reading_limit != Some(left) {
                self.stream.limit_reading(left)?;
                self.reading_limit = Some(left);
            }
            match self.stream.read(&mut self.input[self.filled..]) {
                Ok(0) if self.filled == 0 => return Err(LinkError::Closed),
                Ok(0) => return Err(LinkError::Cut(self.filled)),
                Ok(count) => {
                    self.filled += count;
                    return Ok(());
                }
                Err(error) => go_on_after(error)?,
            }
        }
    }

    fn flush(&mut self, deadline: &mut Deadline) -> Result<(), LinkError> {
        let output = std::mem::take(&mut self.output);
        let mut written = 0;
        while written < output.len() {
            let left = Some(deadline.wait()?);
            if self.writing_limit != Some(left) {
                self.stream.limit_writing(left)?;
                self.writing_limit = Some(left);
            }
            match self.stream.write(&output[written..]) {
                Ok(0) => return Err(LinkError::Closed),
                Ok(count) => written += count,
                Err(error) => go_on_after(error)?,
            }
        }
        // The buffer is kept for the next message, unless one was huge.
        self.output = if output.capacity() > READ_BYTES_MAX { Vec::new() } else { output };
        self.output.clear();
        Ok(())
    }
}

/// Interruptions and ended waits are looked at by the deadline; a reset connection is a closed one.
fn go_on_after(error: io::Error) -> Result<(), LinkError> {
    match error.kind() {
        ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(()),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => Err(LinkError::Closed),
        _ => Err(LinkError::Io(error)),
    }
}
