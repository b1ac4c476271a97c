"""The host's side of the protocol page in plain pyzmq: what the tests speak to the kit with."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Optional

import msgpack
import zmq

ANSWER_MS = 20_000
FILES = Path(__file__).parent / "files"
SEEN: dict[str, Any] = {
    "time": 0.02,
    "tick": 2,
    "pose": {"x": 1.0, "y": 2.0, "heading": 0.1, "covariance": [0.0] * 9},
    "speed": -0.5,
    "steer": 0.01,
    "gear": -1,
    "path": {
        "station": 1.0,
        "lateral": 0.1,
        "heading": 0.02,
        "curvature": 0.0,
        "remaining": 10.0,
        "speed_max": 4.0,
        "direction": -1,
        "section": 0,
        "sections_left": 0,
        "to_end": 10.0,
    },
    "goal": {"ahead": -10.0, "left": 0.1, "heading": 0.0},
    "objects": [],
}


def seen(lateral: float = 0.1, tick: int = 2) -> dict[str, Any]:
    """What a step is told, with the car this far off its path."""
    return {**SEEN, "tick": tick, "time": tick * 0.01, "path": {**SEEN["path"], "lateral": lateral}}


def as_row(told: dict[str, Any]) -> dict[str, Any]:
    """The same as the host sends it to those who want rows."""
    pose, path, goal = told["pose"], told["path"], told["goal"]
    car = [told["speed"], told["steer"], told["gear"]]
    along = [path["station"], path["lateral"], path["heading"], path["curvature"], path["remaining"], path["speed_max"]]
    rest = [path["direction"], path["section"], path["sections_left"], path["to_end"]]
    where = [told["time"], told["tick"], pose["x"], pose["y"], pose["heading"], *pose["covariance"]]
    numbers = [*where, *car, *along, *rest, goal["ahead"], goal["left"], goal["heading"]]
    beside = {name: told[name] for name in ("objects", "occupancy", "road") if told.get(name)}
    return {"row": struct.pack(f"<{len(numbers)}d", *numbers), **beside}


def on_road(**changes: Any) -> dict[str, Any]:
    """What a step is told on a straight road to the east; the car drives 10 m/s in the middle of its lane."""
    road = {
        "lane": "main.1",
        "station": 50.0,
        "lateral": 0.0,
        "heading": 0.0,
        "width": 3.5,
        "speed_limit": 20.0,
        "left": {"lane": "main.2", "apart": 3.5, "may_change": True},
        "then": "straight on",
        "then_in": 400.0,
        "route_left": 400.0,
        "ahead": [[50.0 + 5.0 * n, 0.0, 0.0, 0.0, 3.5, 20.0] for n in range(21)],
        "step": 5.0,
        "lines": [],
    }
    pose = {"x": 50.0, "y": 0.0, "heading": 0.0, "covariance": [0.0] * 9}
    told = {**SEEN, "pose": pose, "speed": 10.0, "gear": 1, "objects": changes.pop("objects", [])}
    return {**told, "speed": changes.pop("speed", 10.0), "road": {**road, **changes}}


class Host:
    """Starts a file as Anabranch does and asks it things."""

    def __init__(self, file: str, *arguments: str, folder: Path = FILES, **environment: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        endpoint = f"ipc://{self.folder.name}/link"
        self.context = zmq.Context()
        self.link = self.context.socket(zmq.REQ)
        self.link.setsockopt(zmq.RCVTIMEO, ANSWER_MS)
        self.link.setsockopt(zmq.LINGER, 0)
        self.link.bind(endpoint)
        command = [sys.executable, "-m", "anabranch", str(folder / file), *arguments]
        self.process = subprocess.Popen(
            command,
            env={**os.environ, "ANABRANCH_ENDPOINT": endpoint, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        self.seq = 0

    def raw(self, *frames: bytes) -> Any:
        """Sends anything, decodes the reply."""
        self.link.send_multipart(frames)
        return msgpack.unpackb(self.link.recv())

    def exchange(self, *ops: Any) -> list[Any]:
        """One request; its answers."""
        self.seq += 1
        reply = self.raw(msgpack.packb({"anabranch": 1, "seq": self.seq, "ops": list(ops)}))
        assert reply["anabranch"] == 1 and reply["seq"] == self.seq
        assert len(reply["answers"]) == len(ops)
        return list(reply["answers"])

    def ask(self, verb: str, **fields: Any) -> Any:
        """One operation; its answer without the word around it, unless it failed."""
        (answer,) = self.exchange({verb: fields})
        ((word, body),) = answer.items()
        return answer if word == "failed" else body

    def card(self) -> Any:
        return self.ask("describe")

    def step(self, branch: int, lateral: float = 0.1, tick: int = 2) -> Any:
        return self.ask("step", branch=branch, seen=seen(lateral, tick))

    def end(self) -> str:
        """Says bye and waits; what the process wrote."""
        self.ask("bye")
        output, _ = self.process.communicate(timeout=20)
        self.close()
        return str(output.decode())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate(timeout=20)
        self.link.close()
        self.context.term()
        self.folder.cleanup()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def family(pid: int) -> list[int]:
    """Every process below this one, as long as none of them has lost its parent."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit() and parent_of(int(name)) == pid:
            found += [int(name), *family(int(name))]
    return found


def parent_of(pid: int) -> Optional[int]:
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()[1])
    except (OSError, IndexError):
        return None


def alive(pid: int) -> bool:
    """Whether a process still runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()[0] != b"Z"
    except OSError:
        return False


def memory_kib(pid: int) -> int:
    """Resident memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")
