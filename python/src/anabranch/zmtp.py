"""The REP side of ZeroMQ's wire protocol (ZMTP 3, mechanism NULL) over one plain socket.

libzmq hands every message to a thread of its own and back, which costs more than a whole step of a driver. The host that
started us is one peer, and blocking reads and writes are all that is needed. Where many may connect, pyzmq is used.
"""

from __future__ import annotations

import socket
import time
from typing import Optional

from .wire import BODY_BYTES_MAX

_GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
_PROPERTIES = b"\x0bSocket-Type\x00\x00\x00\x03REP\x08Identity\x00\x00\x00\x00"
_READY = b"\x05READY" + _PROPERTIES
_DELIMITER = b"\x01\x00"
_MORE, _LONG, _COMMAND = 1, 2, 4
_CHUNK = 1 << 18
_PIECE = 4096
_CONNECT_S = 10.0
FRAMES_MAX = 1024


class Closed(Exception):
    """The host is gone, or what it says is not this protocol."""


class Link:
    """One connection to the host."""

    def __init__(self, endpoint: str) -> None:
        self.socket = _connected(endpoint)
        self.rest = b""
        self.blobs: Optional[list[bytes]] = None
        self.socket.sendall(_GREETING)
        greeting = self._exactly(64)
        if greeting[0] != 0xFF or greeting[9] != 0x7F or greeting[10] < 3 or greeting[12:17] != b"NULL\0":
            raise Closed("the host does not speak ZMTP 3 with the mechanism NULL")
        self.socket.sendall(bytes([_COMMAND, len(_READY)]) + _READY)
        flags, body = self._frame()
        if not flags & _COMMAND or not body.startswith(b"\x05READY"):
            raise Closed("the host did not say READY")

    def receive(self) -> bytes:
        """The body of the next request; further frames are in `blobs`."""
        if not self.rest:
            data = self.socket.recv(_CHUNK)
            # A request comes as one piece nearly always: delimiter, then one frame.
            if data[:3] == b"\x01\x00\x00" and len(data) > 3 and data[3] == len(data) - 4:
                self.blobs = None
                return data[4:]
            if data[:3] == b"\x01\x00\x02" and int.from_bytes(data[3:11], "big") == len(data) - 11:
                self.blobs = None
                return data[11:]
            if not data:
                raise Closed("the host has closed the link")
            self.rest = data
        return self._message()

    def send(self, body: bytes) -> None:
        """The reply."""
        if len(body) < 256:
            self.socket.sendall(b"\x01\x00\x00" + bytes((len(body),)) + body)
        else:
            self.socket.sendall(b"\x01\x00\x02" + len(body).to_bytes(8, "big") + body)

    def close(self) -> None:
        self.socket.close()

    def _message(self) -> bytes:
        """A request from any pieces. What precedes the empty delimiter is the envelope, of which a REQ has none."""
        flags, frame = self._data()
        if frame or not flags & _MORE:
            raise Closed("a request begins with an empty frame")
        frames: list[bytes] = []
        while flags & _MORE:
            if len(frames) == FRAMES_MAX:
                raise Closed(f"a request of more than {FRAMES_MAX} frames")
            flags, frame = self._data()
            frames.append(frame)
        self.blobs = frames[1:] or None
        return frames[0]

    def _data(self) -> tuple[int, bytes]:
        """The next frame that is no command; a PING is answered."""
        while True:
            flags, frame = self._frame()
            if not flags & _COMMAND:
                return flags, frame
            if frame.startswith(b"\x04PING"):
                pong = b"\x04PONG" + frame[7:23]
                self.socket.sendall(bytes([_COMMAND, len(pong)]) + pong)

    def _frame(self) -> tuple[int, bytes]:
        flags, length = self._exactly(2)
        if flags & _LONG:
            length = int.from_bytes(bytes([length]) + self._exactly(7), "big")
        if length > BODY_BYTES_MAX:
            raise Closed(f"a frame of {length} bytes")
        return flags, self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        parts, have = [self.rest], len(self.rest)
        while have < count:
            # A large message arrives in pieces of 8 KiB; waiting for the whole of it in one call wakes us once.
            missing = count - have
            flags = socket.MSG_WAITALL if missing > _PIECE else 0
            part = self.socket.recv(min(_CHUNK, max(missing, _PIECE)), flags)
            if not part:
                raise Closed("the host has closed the link")
            parts.append(part)
            have += len(part)
        data = b"".join(parts) if len(parts) > 1 else parts[0]
        self.rest = data[count:]
        return data[:count]


def _connected(endpoint: str) -> socket.socket:
    """A socket to the endpoint; the host may take a moment to listen."""
    scheme, _, place = endpoint.partition("://")
    until = time.monotonic() + _CONNECT_S
    while True:
        try:
            if scheme == "ipc":
                link = socket.socket(socket.AF_UNIX)
                link.connect("\0" + place[1:] if place.startswith("@") else place)
                return link
            if scheme == "tcp":
                host, _, port = place.rpartition(":")
                link = socket.create_connection((host.strip("[]"), int(port)))
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return link
        except (ConnectionRefusedError, FileNotFoundError) as error:
            if time.monotonic() > until:
                raise Closed(f"nobody listens at {endpoint}: {error}") from None
            time.sleep(0.02)
            continue
        raise Closed(f"{endpoint} is neither ipc:// nor tcp://")
