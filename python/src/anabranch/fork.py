"""Saved states as processes: a branch that is saved simply waits, and forks when it is loaded.

    broker ── speaks ZeroMQ, runs no user code from here on
       └─ guard ── adopts every process below and ends them all when the broker is gone
            └─ root ── the code before any run; forks for every reset
                 └─ branches and saved states, each with its own channel to the broker

A process whose channel is closed ends. So a saved state is dropped by closing a socket.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import random
import select
import signal
import socket
import struct
import sys
import warnings
from typing import Any, Callable, Optional

from . import wire
from .session import Session

_DO, _FORK, _FORK_AND_SAY = 1, 2, 3
_ONLY = 0
"""Number of the branch inside its process; the broker alone knows the numbers that the host uses."""
_CRASH = "crash: "
"""Begins what is said of a branch whose process is gone: Anabranch tells it from a failure of the code by this."""
_header = struct.Struct(">BI")
_HEADER = _header.size
_SAID = _header.pack(_DO, len(wire.DONE)) + wire.DONE
_READ_BYTES = 1 << 16
_FORKED_MAX = 16
"""Ended forks are taken leave of when there are so many: looking at each costs a system call."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ANCILLARY = socket.CMSG_LEN(struct.calcsize("i")) if hasattr(socket, "CMSG_LEN") else 0


class Gone(Exception):
    """The process at the other end of a channel has ended."""


class Inbox:
    """What a process is asked, in order. File descriptors come beside the bytes, so both are kept until they are used."""

    __slots__ = ("link", "bytes", "descriptors")

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.bytes = b""
        self.descriptors: list[int] = []

    def next(self) -> tuple[int, bytes]:
        """One message: kind and body. A message usually comes whole, with one system call."""
        data = self.bytes
        while True:
            if len(data) >= _HEADER:
                kind, length = _header.unpack_from(data)
                end = _HEADER + length
                if len(data) >= end:
                    self.bytes = data[end:]
                    return kind, data[_HEADER:end]
            more, ancillary, _, _ = self.link.recvmsg(_READ_BYTES, _ANCILLARY)
            if not more:
                raise Gone
            for _level, _kind, payload in ancillary:
                self.descriptors.append(int(struct.unpack("i", payload[:4])[0]))
            data = data + more if data else more


def _answer(descriptor: int) -> bytes:
    """The body of the one answer that is outstanding."""
    data = os.read(descriptor, _READ_BYTES)
    while data and (len(data) < _HEADER or len(data) < _HEADER + _header.unpack_from(data)[1]):
        more = os.read(descriptor, _READ_BYTES)
        if not more:
            raise Gone
        data += more
    if not data:
        raise Gone
    return data[_HEADER:]


def _tell(link: socket.socket, body: bytes) -> None:
    """One message with work to do, or its answer; usually with one system call."""
    message = _header.pack(_DO, len(body)) + body
    sent = os.write(link.fileno(), message)
    if sent < len(message):
        link.sendall(message[sent:])


def _control(option: int, value: int) -> None:
    """prctl, where there is one."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _allow_forks() -> None:
    """Forks beside threads are warned about; who forks here knows."""
    warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)


def live(link: socket.socket, session: Session) -> None:
    """A branch, a saved state or the root: does what its channel asks until that is closed."""
    forked: list[int] = []
    inbox = Inbox(link)
    while True:
        try:
            kind, body = inbox.next()
            if kind == _DO:
                _tell(link, _done(session, body))
                continue
        except (Gone, OSError):
            return
        descriptor = inbox.descriptors.pop(0)
        if len(forked) >= _FORKED_MAX:
            forked = [pid for pid in forked if os.waitpid(pid, os.WNOHANG)[0] == 0]
        # A fork seeds `random` anew; a branch must go on where its saved state stood.
        chance = random.getstate()
        try:
            pid = os.fork()
        except OSError as error:
            text = wire.failed(f"no further process can be started: {error}")
            os.write(descriptor, _header.pack(_DO, len(text)) + text)
            os.close(descriptor)
            continue
        if pid:
            forked.append(pid)
            os.close(descriptor)
            continue
        if kind == _FORK_AND_SAY:
            # First of all: every page that is touched after a fork is copied, and the host need not wait for that.
            os.write(descriptor, _SAID)
        random.setstate(chance)
        forked = []
        link.close()
        for other in inbox.descriptors:
            os.close(other)
        link = socket.socket(fileno=descriptor)
        inbox = Inbox(link)


def _done(session: Session, body: bytes) -> bytes:
    """Does an operation as the one branch of this process knows it."""
    try:
        op = wire.unpack(body)
        for fields in op.values():
            fields["branch"] = _ONLY
    except Exception as error:
        return wire.failed(f"malformed operation: {type(error).__name__}: {error}")
    return session.do(op)


def _descendants(of: int) -> list[int]:
    """The children of a process, as the system knows them."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rsplit(b")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            if parent == of:
                found.append(int(name))
    return found


def guard(broker_alive: int) -> None:
    """Waits for the broker's end, then ends everything below. Runs no user code."""
    while not select.select([broker_alive], [], [], 1.0)[0]:
        _reap()
    while True:
        children = _descendants(os.getpid()) if os.path.isdir("/proc") else []
        if not children:
            return
        for pid in children:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for _ in children:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


class Channel:
    """The broker's end of the way to one process."""

    __slots__ = ("link", "waiting")

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.waiting: Optional[int] = None
        """Place of the answer that is outstanding. Never more than one, so that neither side blocks the other."""

    def ask(self, op: bytes) -> None:
        """Passes an operation on as it came."""
        _tell(self.link, op)

    def fork(self, kind: int) -> Channel:
        """A new process from this one, with a channel of its own."""
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self.link, [_header.pack(kind, 0)], [theirs.fileno()])
        finally:
            theirs.close()
        return Channel(ours)


class Broker:
    """Answers requests by asking processes. Takes the place of a `Session`."""

    def __init__(self, make_session: Callable[[], Session], card: bytes) -> None:
        self.card = card
        self.ended = False
        self.branches: dict[int, Channel] = {}
        self.saved: dict[int, Channel] = {}
        self.answers: list[bytes] = []
        self.root = self._start(make_session)

    def _start(self, make_session: Callable[[], Session]) -> Channel:
        _raise_file_limit()
        broker_alive, self.alive = os.pipe()
        ours, theirs = socket.socketpair()
        _allow_forks()
        self.guard = os.fork()
        if self.guard:
            os.close(broker_alive)
            theirs.close()
            return Channel(ours)
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.close(self.alive)
            ours.close()
            _control(_PR_SET_CHILD_SUBREAPER, 1)
            if os.fork() == 0:
                os.close(broker_alive)
                _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
                if not faulthandler.is_enabled():
                    faulthandler.enable()
                session = make_session()
                gc.collect()
                gc.freeze()
                live(theirs, session)
            else:
                theirs.close()
                guard(broker_alive)
        finally:
            # Never back into the caller's code: this is not its process.
            os._exit(0)

    def close(self) -> None:
        """Ends every process."""
        for channel in [self.root, *self.branches.values(), *self.saved.values()]:
            channel.link.close()
        os.close(self.alive)
        os.waitpid(self.guard, 0)

    def answer(self, body: bytes, blobs: Optional[list[bytes]] = None) -> bytes:
        """The reply to a request, whatever the request is."""
        start = wire.now()
        try:
            seq, ops = wire.request_in_parts(body, blobs)
        except wire.Malformed as error:
            return wire.reply(0, [wire.failed(f"malformed request: {error}")], wire.now() - start)
        self.answers = []
        pending: list[Channel] = []
        for op in ops:
            place = len(self.answers)
            self.answers.append(b"")
            try:
                channel = self.do(op, place)
            except (OSError, Gone):
                self.answers[place] = wire.failed(f"{_CRASH}the process of this branch has ended")
            except Exception as error:
                self.answers[place] = wire.failed(f"malformed operation: {type(error).__name__}: {error}")
            else:
                if channel is not None:
                    pending.append(channel)
        for channel in pending:
            self.settle(channel)
        return wire.reply(seq, self.answers, wire.now() - start)

    def settle(self, channel: Channel) -> None:
        """Takes the outstanding answer of a channel, if there is one."""
        if channel.waiting is None:
            return
        try:
            body = _answer(channel.link.fileno())
        except (Gone, OSError):
            body = wire.failed(f"{_CRASH}the process of this branch ended while it worked: a crash, or an exit")
            self.forget(channel)
        self.answers[channel.waiting] = body
        channel.waiting = None

    def forget(self, channel: Channel) -> None:
        channel.link.close()
        for branch in [branch for branch, known in self.branches.items() if known is channel]:
            del self.branches[branch]

    def do(self, op: bytes, place: int) -> Optional[Channel]:
        """Begins one operation; the channel whose answer is then outstanding, or None if it is answered."""
        branch = wire.branch_of_step(op)
        if branch is None:
            return self.do_other(op, place)
        channel = self.known(self.branches, "branch", branch)
        if channel.waiting is not None:
            self.settle(channel)
        channel.ask(op)
        channel.waiting = place
        return channel

    def do_other(self, op: bytes, place: int) -> Optional[Channel]:
        """Everything but an ordinary step."""
        ((verb, fields),) = wire.unpack(op).items()
        if verb in ("step", "run"):
            channel = self.known(self.branches, "branch", fields["branch"])
            self.settle(channel)
            channel.ask(op)
        elif verb == "reset":
            channel = self.root.fork(_FORK)
            channel.ask(op)
            self.replace(int(fields["branch"]), channel)
        elif verb == "load":
            channel = self.known(self.saved, "token", fields["token"]).fork(_FORK_AND_SAY)
            self.replace(int(fields["branch"]), channel)
        else:
            self.answers[place] = self.at_once(verb, fields)
            return None
        channel.waiting = place
        return channel

    def at_once(self, verb: str, fields: dict[str, Any]) -> bytes:
        """What the broker answers by itself."""
        if verb == "save":
            channel = self.known(self.branches, "branch", fields["branch"])
            self.settle(channel)
            token = int(fields["token"])
            if token in self.saved:
                self.saved.pop(token).link.close()
            self.saved[token] = self.branches.pop(fields["branch"])
            return b"\x81\xa5saved\x80"
        if verb == "drop":
            for token in fields["tokens"]:
                channel_or_none = self.saved.pop(token, None)
                if channel_or_none is not None:
                    channel_or_none.link.close()
            return wire.DONE
        if verb == "describe":
            return self.card
        if verb == "bye":
            self.ended = True
            return wire.DONE
        raise wire.Malformed(f"there is no operation `{verb}`")

    def known(self, channels: dict[int, Channel], what: str, number: int) -> Channel:
        channel = channels.get(number)
        if channel is None:
            raise wire.Malformed(f"there is no {what} {number!r}")
        return channel

    def replace(self, branch: int, channel: Channel) -> None:
        older = self.branches.get(branch)
        if older is not None:
            self.settle(older)
            older.link.close()
        self.branches[branch] = channel


def _raise_file_limit() -> None:
    """One file for every branch and saved state: as many as the system lets us have."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def tokens_max() -> int:
    """How many saved states this system can keep as processes; the host is told."""
    import resource

    limits = [resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE)]
    known = [limit for limit in limits if limit != resource.RLIM_INFINITY]
    return max(16, min([1000, *(limit // 4 for limit in known)]))
