"""Messages as bytes. The answer to a step is put together from pieces that are encoded once: it is the hot path."""

from __future__ import annotations

import struct
import time
from typing import Any, Optional, Sequence

import msgpack

from .driver import Command, as_command

PROTOCOL = 1
BODY_BYTES_MAX = 64 << 20

_HEAD = b"\x84\xa9anabranch\x01\xa3seq\xcf"
_ANSWERS = b"\xa7answers"
_SECONDS = b"\xa7seconds\xcb"
_STEER = b"\x81\xa8decision\x84\xa5steer\xcb"
_STEER_AND_MORE = {count: _STEER[:10] + bytes([0x84 + count]) + _STEER[11:] for count in (1, 2)}
_ACCEL = b"\xa5accel\xcb"
_GEAR = b"\xa4gear"
_COMPLETED = b"\xa9completed"
_decision = struct.Struct(f">{len(_STEER)}sd{len(_ACCEL)}sd{len(_GEAR)}sB{len(_COMPLETED)}sB").pack
_head = struct.Struct(f">{len(_HEAD)}sQ{len(_ANSWERS)}s").pack
_tail = struct.Struct(f">{len(_SECONDS)}sd").pack
_STEP, _BRANCH = b"\x81\xa4step", b"\xa6branch"
_BRANCH_AT = len(_STEP) + 1
_UNSIGNED = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
_GEARS = {None: 0xC0, 1: 0x01, -1: 0xFF}

now = time.perf_counter
DONE = b"\x81\xa4done\x80"
_packer = msgpack.Packer(autoreset=True)
pack = _packer.pack


class Malformed(Exception):
    """A request that is no request; the text says where."""


def _array(count: int) -> bytes:
    if count < 16:
        return bytes([0x90 | count])
    if count < 1 << 16:
        return b"\xdc" + count.to_bytes(2, "big")
    return b"\xdd" + count.to_bytes(4, "big")


def reply(seq: int, answers: Sequence[bytes], seconds: float) -> bytes:
    """A whole reply around answers that are encoded already."""
    return b"".join((_head(_HEAD, seq, _ANSWERS), _array(len(answers)), *answers, _tail(_SECONDS, seconds)))


def request(body: bytes, blobs: Optional[list[bytes]] = None) -> tuple[int, list[Any]]:
    """Sequence number and operations of a request, with the large pieces that came beside it in their places."""
    if len(body) > BODY_BYTES_MAX:
        raise Malformed(f"oversized: {len(body)} bytes")
    try:
        message = msgpack.unpackb(body)
    except Exception as error:
        raise Malformed(f"not MessagePack: {type(error).__name__}: {error}") from None
    if type(message) is not dict:
        raise Malformed(f"a request is a map, not {type(message).__name__}")
    seq, ops = _checked(message), message["ops"]
    if blobs:
        _attach(ops, blobs)
    return seq, ops


def _checked(message: dict[Any, Any]) -> int:
    """The sequence number of a request whose fields are as they should be."""
    version, seq, ops = message.get("anabranch"), message.get("seq"), message.get("ops")
    if version != PROTOCOL:
        raise Malformed(f"`anabranch`: this kit speaks version {PROTOCOL}, not {version!r}")
    if type(seq) is not int or not 0 <= seq < 1 << 64:
        raise Malformed(f"`seq`: a whole number, not {seq!r}")
    if type(ops) is not list:
        raise Malformed(f"`ops`: a list, not {type(ops).__name__}")
    return seq


def request_in_parts(body: bytes, blobs: Optional[list[bytes]] = None) -> tuple[int, list[bytes]]:
    """Sequence number and operations of a request, each as it was encoded: to be passed on without a look inside."""
    if blobs:
        return _loose(body, blobs)
    ops: list[bytes] = []
    fields: dict[Any, Any] = {}
    try:
        unpacker = msgpack.Unpacker(max_buffer_size=BODY_BYTES_MAX)
        unpacker.feed(body)
        for _ in range(unpacker.read_map_header()):
            name = unpacker.unpack()
            if name != "ops":
                fields[name] = unpacker.unpack()
                continue
            for _ in range(unpacker.read_array_header()):
                start = unpacker.tell()
                unpacker.skip()
                ops.append(body[start : unpacker.tell()])
            fields[name] = []
        whole = unpacker.tell() == len(body)
    except Exception:
        whole = False
    if not whole:
        # The usual way knows what to say about it.
        return _loose(body)
    return _checked(fields), ops


def _loose(body: bytes, blobs: Optional[list[bytes]] = None) -> tuple[int, list[bytes]]:
    """The same, each operation encoded anew."""
    seq, ops = request(body, blobs)
    return seq, [pack(op) for op in ops]


def branch_of_step(op: bytes) -> Optional[int]:
    """The branch of a step that is encoded as the host does it; None for everything else."""
    if not (op.startswith(_STEP) and op.startswith(_BRANCH, _BRANCH_AT)):
        return None
    at = _BRANCH_AT + len(_BRANCH)
    if op[at] < 0x80:
        return op[at]
    width = _UNSIGNED.get(op[at])
    return None if width is None else int.from_bytes(op[at + 1 : at + 1 + width], "big")


def _attach(ops: list[Any], blobs: list[bytes]) -> None:
    """A grid whose cells are in a frame gets them; all frames are handed to every step besides, as they came."""
    for op in ops:
        step = op.get("step") if isinstance(op, dict) else None
        seen = step.get("seen") if isinstance(step, dict) else None
        if not isinstance(seen, dict):
            continue
        grid = seen.get("occupancy")
        number = grid.get("blob") if isinstance(grid, dict) else None
        if grid is None or number is None:
            seen["blobs"] = blobs
        elif isinstance(number, int) and 0 <= number < len(blobs):
            grid["cells"] = blobs[number]
        else:
            raise Malformed(f"`occupancy` is in frame {number!r} beside the message, which has {len(blobs)}")


def decision(answer: Any, key: Sequence[float]) -> bytes:
    """The answer to a step."""
    command = answer if type(answer) is Command else as_command(answer)
    gear, done = _GEARS.get(command.gear), 0xC3 if command.completed else 0xC2
    if gear is None:
        raise ValueError(f"gear is {command.gear!r}; it is +1, -1 or None")
    points = command.trajectory
    if len(points) == 0 and not key:
        return _decision(_STEER, command.steer, _ACCEL, command.accel, _GEAR, gear, _COMPLETED, done)
    head = _STEER_AND_MORE[(len(points) > 0) + bool(key)]
    parts = [_decision(head, command.steer, _ACCEL, command.accel, _GEAR, gear, _COMPLETED, done)]
    if key:
        count = len(key)
        parts += (b"\xa3key", _array(count), struct.pack(">" + "Bd" * count, *(v for k in key for v in (0xCB, k))))
    if len(points) > 0:
        names = ("time_s", "x_m", "y_m", "heading_rad", "speed_mps")
        parts += (b"\xaatrajectory", pack([{name: float(getattr(p, name)) for name in names} for p in points]))
    return b"".join(parts)


def failed(text: str) -> bytes:
    """The code under test failed. Its text may hold what is no Unicode."""
    body: bytes = pack({"failed": {"text": text.encode("utf-8", "backslashreplace").decode()}})
    return body


def unpack(body: bytes) -> Any:
    """A message between processes of this kit."""
    return msgpack.unpackb(body)
