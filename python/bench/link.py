"""How fast the kit is, as ratios within one run: `python bench/link.py`.

Bare pyzmq ping-pong of the same message sizes against the kit, one step at a time and batched; loading a forked state
against a bare `os.fork` of the same process; loading by deep copy and by own code, for orientation. The runs that are
compared take turns; of steps the fastest turn counts, of forks the median, since the machine may be shared. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Optional

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import msgpack  # noqa: E402
import zmq  # noqa: E402

from hosts import Host, as_row, seen  # noqa: E402

HERE = Path(__file__).parent
TURNS = 15
STEPS = 100
BATCH = 256
FORKS = 20


class Echo:
    """A bare REP socket in a process of its own that answers everything with the same bytes."""

    def __init__(self, answer: bytes) -> None:
        self.folder = tempfile.TemporaryDirectory()
        endpoint = f"ipc://{self.folder.name}/link"
        self.pid = os.fork()
        if self.pid == 0:
            link = zmq.Context().socket(zmq.REP)
            link.connect(endpoint)
            while True:
                if link.recv() == b"end":
                    os._exit(0)
                link.send(answer)
        self.context = zmq.Context()
        self.link = self.context.socket(zmq.REQ)
        self.link.setsockopt(zmq.LINGER, 0)
        self.link.bind(endpoint)

    def close(self) -> None:
        self.link.send(b"end")
        os.waitpid(self.pid, 0)
        self.link.close()
        self.context.term()
        self.folder.cleanup()


def steps_request(count: int) -> bytes:
    ops = [{"step": {"branch": branch, "seen": as_row(seen(0.001 * branch))}} for branch in range(count)]
    body: bytes = msgpack.packb({"anabranch": 1, "seq": 1, "ops": ops})
    return body


def timed(link: Any, request: bytes, count: int) -> float:
    send, receive = link.send, link.recv
    start = time.perf_counter()
    for _ in range(count):
        send(request)
        receive()
    return time.perf_counter() - start


def steps() -> list[tuple[str, float, Optional[Callable[[float], bool]], str]]:
    one, many = steps_request(1), steps_request(BATCH)
    with Host("law.py", folder=HERE) as host:
        for branch in range(BATCH):
            host.ask("reset", branch=branch, begin={"seed": 1})
        host.link.send(one)
        echo = Echo(host.link.recv())
        timed(echo.link, one, STEPS), timed(host.link, one, STEPS), timed(host.link, many, 2)
        bare, alone, batched = [], [], []
        for _ in range(TURNS):
            bare.append(timed(echo.link, one, STEPS) / STEPS)
            alone.append(timed(host.link, one, STEPS) / STEPS)
            batched.append(timed(host.link, many, 2) / 2 / BATCH)
        echo.close()
    return [
        ("bare pyzmq ping-pong (us)", min(bare) * 1e6, None, ""),
        ("steps one at a time, against bare ping-pong", min(bare) / min(alone), lambda r: r >= 0.9, ">= 0.9"),
        (f"steps {BATCH} in a message, against bare ping-pong", min(bare) / min(batched), lambda r: r >= 10, ">= 10"),
    ]


def load_s(host: Host, count: int) -> tuple[float, float]:
    """Seconds to load a saved state, one at a time: in the kit, which tells how long it took, and as the host sees it."""
    request = msgpack.packb({"anabranch": 1, "seq": 1, "ops": [{"load": {"token": 1, "branch": 1}}]})
    replies = []
    start = time.perf_counter()
    for _ in range(count):
        host.link.send(request)
        replies.append(host.link.recv())
    whole_s = (time.perf_counter() - start) / count
    return statistics.mean(msgpack.unpackb(reply)["seconds"] for reply in replies), whole_s


def prepared(snapshot: str) -> Host:
    host = Host("law.py", folder=HERE, ANABRANCH_SNAPSHOT=snapshot)
    host.ask("reset", branch=1, begin={"seed": 1})
    host.step(1)
    host.ask("save", branch=1, token=1)
    return host


def snapshots() -> list[tuple[str, float, Optional[Callable[[float], bool]], str]]:
    """Loads by fork against forks that the same file makes bare, when it is asked to."""
    with prepared("fork") as host, prepared("copy") as copies:
        host.ask("reset", branch=2, begin={"seed": 2, "scenario": "bare-forks"})
        ratios, whole, bare_us = [], [], []
        load_s(host, 10)
        for _ in range(TURNS):
            bare = sum(bare_fork_s(host) for _ in range(2)) / 2
            kit_s, whole_s = load_s(host, FORKS)
            ratios.append(kit_s / bare)
            whole.append(whole_s / bare)
            bare_us.append(bare * 1e6)
        copy_us = statistics.median(load_s(copies, FORKS)[1] for _ in range(TURNS)) * 1e6
    return [
        ("bare os.fork until the child answers (us)", statistics.median(bare_us), None, ""),
        ("load of a forked state in the kit, against bare os.fork", statistics.median(ratios), lambda r: r <= 1.3, "<= 1.3"),
        ("the same with the round trip of the message", statistics.median(whole), None, ""),
        ("load of a deep copy (us)", copy_us, None, ""),
    ]


def bare_fork_s(host: Host) -> float:
    """The driver of law.py measures forks of its own process when its scenario says so; steering carries the figure."""
    return float(host.step(2)["steer"])


def main() -> None:
    missed = False
    for measure in (steps, snapshots):
        for name, value, goal, words in measure():
            mark = "" if goal is None or goal(value) else "  MISSED"
            missed |= bool(mark)
            print(f"  {name:<72} {value:>11.3f}  {'goal ' + words if words else ''}{mark}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
