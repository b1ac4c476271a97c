//! One end of a Unix socket whose other end is one process; a frame may carry a further link.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use nix::unistd::Pid;

use crate::protocol::{Reply, Request, body_length, decode, encode, read_body, write_frame};
use crate::restore::{Ask, CallError, Limits, unexpected};

/// The host's end. Dropping it ends the process, unless that hangs; see [`Link::kill`].
#[derive(Debug)]
pub(super) struct Link {
    stream: UnixStream,
    pid: Pid,
}

impl Link {
    /// Asks the process at the other end of `through` for a fork with a link of its own.
    pub(super) fn branched(through: &UnixStream, limits: &Limits) -> Result<Self, CallError> {
        let (ours, theirs) = UnixStream::pair().map_err(CallError::Lost)?;
        send_with(through, &Request::Branch, theirs, limits.answer_within).map_err(CallError::Lost)?;
        let mut link = Self { stream: ours, pid: Pid::from_raw(0) };
        match link.hear(limits.answer_within)? {
            Reply::Branched(pid) if pid > 1 => {
                link.pid = Pid::from_raw(pid);
                Ok(link)
            }
            other => Err(unexpected(&other)),
        }
    }
    /// A copy of the process at the other end.
    pub(super) fn branch(&self, limits: &Limits) -> Result<Self, CallError> {
        Self::branched(&self.stream, limits)
    }
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }
    /// Ends a process that does not look at its link any more.
    fn kill(&self) {
        // It may just have ended by itself, which is as good.
        let _ = kill(self.pid, Signal::SIGKILL);
    }
    fn hear(&mut self, within: Duration) -> Result<Reply, CallError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => CallError::Late(within),
            _ => CallError::Lost(error),
        };
        self.stream.set_read_timeout(Some(within)).map_err(CallError::Lost)?;
        let body = read_body(&mut &self.stream).map_err(failed)?;
        decode(&body).map_err(CallError::Lost)
    }
}

impl Ask for Link {
    fn ask(&mut self, request: &Request, within: Duration) -> Result<Reply, CallError> {
        self.stream.set_write_timeout(Some(within)).map_err(CallError::Lost)?;
        write_frame(&mut &self.stream, request).map_err(CallError::Lost)?;
        self.hear(within).inspect_err(|error| {
            if matches!(error, CallError::Late(_)) {
                self.kill();
            }
        })
    }
}

/// Sends a frame and gives the other side the descriptor.
fn send_with(stream: &UnixStream, request: &Request, descriptor: UnixStream, within: Duration) -> io::Result<()> {
    stream.set_write_timeout(Some(within))?;
    let frame = encode(request)?;
    let descriptors = [descriptor.as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&descriptors)];
    let sent = sendmsg::<()>(stream.as_raw_fd(), &[IoSlice::new(&frame)], &rights, MsgFlags::empty(), None)?;
    // The descriptor went with the first byte; the rest, if any, is plain.
    io::Write::write_all(&mut &*stream, &frame[sent..])
}

/// The child's side: the next request, and the link that came with it.
///
/// # Errors
/// When the host closed the link or sent something else.
pub(super) fn receive(mut stream: &UnixStream) -> io::Result<(Request, Option<UnixStream>)> {
    let mut head = [0_u8; 4];
    let (got, link) = receive_some(stream, &mut head)?;
    if got == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    stream.read_exact(&mut head[got..])?;
    let mut body = vec![0_u8; body_length(head)?];
    stream.read_exact(&mut body)?;
    Ok((decode(&body)?, link))
}

fn receive_some(stream: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Option<UnixStream>)> {
    let mut space = nix::cmsg_space!([RawFd; 1]);
    let mut buffers = [IoSliceMut::new(bytes)];
    let message = recvmsg::<()>(stream.as_raw_fd(), &mut buffers, Some(&mut space), MsgFlags::empty())?;
    let mut link = None;
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(descriptors) = control {
            for descriptor in descriptors {
                // SAFETY: the kernel has just made this descriptor for us, and nobody else knows of it.
                link = Some(UnixStream::from(unsafe { OwnedFd::from_raw_fd(descriptor) }));
            }
        }
    }
    Ok((message.bytes, link))
}
