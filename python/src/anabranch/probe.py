"""Finds out how the states of a driver or world can be kept, before anything is promised."""

from __future__ import annotations

import copy
import os
import select
from dataclasses import dataclass
from typing import Any, Callable, Optional

from .begin import Begin
from .canonical import canonical_or_none
from .states import CopyStates, OwnStates, States, asks_bytes, begin_run, has_own

WAYS = ("own", "copy", "fork", "replay")
PROBE_S = 5.0
"""A reset that takes longer is not waited for; the copy of the object before any run then decides."""


@dataclass
class Choice:
    """How states are kept, and whether canonical bytes can be told."""

    way: str
    tells_bytes: bool


def choose(thing: Any, make: Optional[Callable[[], Any]], forced: Optional[str] = None) -> Choice:
    """The way that was asked for (argument, environment, class), else the first that works."""
    way = forced or os.environ.get("ANABRANCH_SNAPSHOT") or thing.snapshot
    if way is not None and way not in WAYS:
        raise ValueError(f"snapshot is {way!r}; it is one of {', '.join(WAYS)}")
    if way == "own" and not has_own(thing):
        raise ValueError(f"snapshot is 'own', but {type(thing).__name__} has no `save` and `load`")
    if way == "fork" and not hasattr(os, "fork"):
        raise ValueError("snapshot is 'fork', which this system does not have")
    if way in ("fork", "replay"):
        return Choice(way, tells_bytes=False)
    if way is None:
        way = "own" if has_own(thing) else "copy"
        works, tells = _tried(thing, make, way)
        if not works:
            return Choice("fork" if hasattr(os, "fork") else "replay", tells_bytes=False)
    else:
        _, tells = _tried(thing, make, way)
    return Choice(way, tells_bytes=tells and asks_bytes(thing))


def states_for(choice: Choice, thing: Any, make: Optional[Callable[[], Any]]) -> States:
    """The keeper of states for a choice; of a fork inside of its processes."""
    kinds: dict[str, type[States]] = {"own": OwnStates, "copy": CopyStates}
    states = kinds.get(choice.way, States)(thing, make)
    states.tells_bytes = choice.tells_bytes
    return states


def _tried(thing: Any, make: Optional[Callable[[], Any]], way: str) -> tuple[bool, bool]:
    """Whether a run can be begun, saved and loaded this way; and whether its bytes can be told.

    Tried in a process of its own, so that nothing of it stays in this one.
    """
    if not hasattr(os, "fork"):
        return _attempt(thing, make, way)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        verdict = b"xx"
        try:
            os.close(read)
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            verdict = b"".join(b"y" if yes else b"n" for yes in _attempt(thing, make, way))
        finally:
            os.write(write, verdict)
            os._exit(0)
    os.close(write)
    ready, _, _ = select.select([read], [], [], PROBE_S)
    verdict = os.read(read, 2) if ready else b""
    os.close(read)
    if not ready:
        os.kill(pid, 9)
    os.waitpid(pid, 0)
    if len(verdict) != 2 or verdict == b"xx":
        return _copies(thing), False
    return verdict[:1] == b"y", verdict[1:] == b"y"


def _attempt(thing: Any, make: Optional[Callable[[], Any]], way: str) -> tuple[bool, bool]:
    states = states_for(Choice(way, tells_bytes=False), thing, make)
    begin = Begin()
    try:
        trial = states.fresh()
    except Exception:
        return False, False
    try:
        begin_run(trial, begin)
    except Exception:
        # It wants a real beginning. What it is before any run is all that can be judged.
        return (True, has_own(thing)) if way == "own" else (_copies(thing), canonical_or_none(vars(thing)) is not None)
    try:
        saved = states.save(trial, begin)
        states.load(saved)
        return True, states.bytes_of(saved) is not None
    except Exception:
        return False, False


def _copies(thing: Any) -> bool:
    try:
        copy.deepcopy(thing)
    except Exception:
        return False
    return True
