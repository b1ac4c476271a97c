"""Does what a request asks, branch by branch, inside one process."""

from __future__ import annotations

import os
import random
import sys
import time
import traceback
from operator import attrgetter
from typing import Any, Collection, Optional

from . import rows, wire
from .begin import Begin
from .canonical import canonical
from .memory import GENERATORS, Constants, attributes, chance
from .states import States, begin_run
from .world import Error, Segment, World, modes_of, requirements_of

_TRACE_LINES = 3
seen_of = rows.seen_of


def short_trace(error: BaseException) -> str:
    """What happened, and where in the user's files: the last few places, without folders."""
    own = os.path.dirname(__file__)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if os.path.dirname(f.filename) != own]
    places = [f"{os.path.basename(f.filename)}:{f.lineno} in {f.name}" for f in frames[-_TRACE_LINES:]]
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return "\n  at ".join([text, *reversed(places)])[:4000]


class Session:
    """Branches and saved states of one driver or world."""

    def __init__(self, states: States, card: bytes) -> None:
        self.states = states
        self.card = card
        self.branches: dict[int, Any] = {}
        self.begins: dict[int, Begin] = {}
        self.saved: dict[int, Any] = {}
        self.ended = False
        thing = states.template
        self.key_of = _reader(getattr(thing, "key", None))
        self.chances: Optional[dict[int, Any]] = {} if thing.global_random else None
        self.saved_chances: dict[int, Any] = {}
        self.constants = Constants()
        if isinstance(thing, World):
            self.sites = [(name, modes_of(modes)[1]) for name, modes in thing.errors.items()]
            self.merge = list(thing.merge)
            must, should = requirements_of(thing)
            self.must, self.should = set(must), set(should) | set(must)

    def answer(self, body: bytes, blobs: Optional[list[bytes]] = None) -> bytes:
        """The reply to a request, whatever the request is."""
        start = time.perf_counter()
        try:
            seq, ops = wire.request(body, blobs)
        except wire.Malformed as error:
            return wire.reply(0, [wire.failed(f"malformed request: {error}")], time.perf_counter() - start)
        do = self.do
        answers = [do(op) for op in ops]
        return wire.reply(seq, answers, time.perf_counter() - start)

    def do(self, op: Any) -> bytes:
        """The answer to one operation."""
        try:
            step = op.get("step")
            if step is not None and self.chances is None:
                thing = self.branches[step["branch"]]
                command = thing.step(seen_of(step["seen"]))
                key_of = self.key_of
                return wire.decision(command, () if key_of is None else key_of(thing))
            return self.other(op)
        except (Exception, SystemExit) as error:
            return wire.failed(short_trace(_explained(error, op, self)))

    def other(self, op: dict[str, Any]) -> bytes:
        """Everything but an ordinary step."""
        ((verb, fields),) = op.items()
        if verb == "step":
            return self.step_with_chance(fields)
        if verb == "run":
            return self.run(fields)
        if verb == "load":
            return self.load(int(fields["token"]), int(fields["branch"]))
        if verb == "save":
            return self.save(int(fields["branch"]), int(fields["token"]))
        if verb == "reset":
            return self.reset(int(fields["branch"]), Begin(dict(fields.get("begin") or {})))
        if verb == "drop":
            for token in fields["tokens"]:
                self.saved.pop(token, None)
                self.saved_chances.pop(token, None)
            return wire.DONE
        if verb == "describe":
            return self.card
        if verb == "bye":
            self.ended = True
            return wire.DONE
        raise wire.Malformed(f"there is no operation `{verb}`")

    def reset(self, branch: int, begin: Begin) -> bytes:
        self.branches.pop(branch, None)
        thing = self.states.fresh()
        begin_run(thing, begin)
        self.constants.begun(thing, begin)
        self.branches[branch], self.begins[branch] = thing, begin
        self.keep_chance(branch)
        return wire.DONE

    def load(self, token: int, branch: int) -> bytes:
        thing, begin = self.states.load(self.saved[token])
        self.branches[branch], self.begins[branch] = thing, begin
        if self.chances is not None:
            self.chances[branch] = self.saved_chances[token]
        return wire.DONE

    def save(self, branch: int, token: int) -> bytes:
        thing, begin = self.branches[branch], self.begins[branch]
        body: dict[str, Any] = {}
        changed: dict[str, Optional[int]] = {}
        if self.key_of is not None or self.states.tells_bytes:
            changed = self.constants.changed(thing, begin)
        if self.key_of is not None:
            body["attributes"] = self.others(thing, branch, thing.key) | changed
        saved = self.states.save(thing, begin)
        del self.branches[branch], self.begins[branch]
        self.saved[token] = saved
        drawn = None
        if self.chances is not None:
            drawn = self.saved_chances[token] = self.chances.pop(branch)
        if self.states.tells_bytes and not changed:
            data = self.states.bytes_of(saved)
            # What cannot be told after all is left out: the host then merges such a state with no other.
            if data is not None:
                body["bytes"] = data if drawn is None else canonical((data, drawn))
        packed: bytes = wire.pack({"saved": body})
        return packed

    def step_with_chance(self, fields: dict[str, Any]) -> bytes:
        """A step of code that draws from the global generators: each branch has its own."""
        branch = fields["branch"]
        thing = self.branches[branch]
        self.put_chance(branch)
        command = thing.step(seen_of(fields["seen"]))
        self.keep_chance(branch)
        return wire.decision(command, () if self.key_of is None else self.key_of(thing))

    def run(self, fields: dict[str, Any]) -> bytes:
        branch, modes = fields["branch"], fields["modes"]
        world = self.branches[branch]
        if len(modes) != len(self.sites):
            raise ValueError(f"{len(modes)} modes for {len(self.sites)} error sites")
        error = Error({name: values[mode] for (name, values), mode in zip(self.sites, modes)})
        self.put_chance(branch)
        world.recording = bool(fields.get("record", False))
        try:
            segment = world.run(error)
        finally:
            frames = world.__dict__.pop("_frames", [])
            del world.recording
        self.keep_chance(branch)
        if not isinstance(segment, Segment):
            raise TypeError(f"`run` returned {type(segment).__name__}; return anabranch.Segment(…)")
        body = self.segment(segment, frames, bool(fields.get("record", False)))
        if self.merge:
            changed = self.constants.changed(world, self.begins[branch])
            body["attributes"] = self.others(world, branch, self.merge) | changed
        packed: bytes = wire.pack({"segment": body})
        return packed

    def others(self, thing: Any, branch: int, named: Collection[str]) -> dict[str, Optional[int]]:
        """What counts for merging by nothing that is named."""
        found = attributes(thing, named)
        if self.chances is not None:
            found[GENERATORS] = chance(self.chances[branch])
        return found

    def segment(self, segment: Segment, frames: list[list[float]], record: bool) -> dict[str, Any]:
        """A segment as the protocol wants it."""
        missing = [name for name in self.merge if name not in segment.values]
        if missing:
            raise ValueError(f"the segment has no value for `{missing[0]}`, which `merge` names")
        for name in [*segment.violated, *segment.notes]:
            if name not in self.should:
                raise ValueError(f"`{name}` is in neither `must` nor `should`; name it there")
        values = [float(segment.values[name]) for name in self.merge]
        if record and not frames:
            given = segment.frames
            frames = [values] if given is None else [[float(v) for v in frame] for frame in given]
        return {
            "values": values,
            "violated": list(segment.violated),
            "notes": list(segment.notes),
            "done": bool(segment.done),
            "danger": float(segment.danger),
            "margin": None if segment.margin is None else float(segment.margin),
            "frames": frames if record else [],
        }

    def keep_chance(self, branch: int) -> None:
        if self.chances is not None:
            numpy: Any = sys.modules.get("numpy")
            self.chances[branch] = (random.getstate(), None if numpy is None else numpy.random.get_state())

    def put_chance(self, branch: int) -> None:
        if self.chances is not None:
            chance, arrays = self.chances[branch]
            random.setstate(chance)
            if arrays is not None:
                sys.modules["numpy"].random.set_state(arrays)


def _reader(key: Any) -> Any:
    """A function that reads the attributes that count for merging; None where there are none."""
    if not key:
        return None
    get: Any = attrgetter(*key)
    if len(key) == 1:
        return lambda thing: (float(get(thing)),)
    return lambda thing: tuple(map(float, get(thing)))


def _explained(error: BaseException, op: Any, session: Session) -> BaseException:
    """A failure of the request itself in better words than those of a dict; one of the user's code as it is."""
    if error.__traceback__ is not None and _deepest_file(error) == __file__:
        if not isinstance(op, dict) or len(op) != 1:
            return wire.Malformed("an operation is a map with one entry: {verb: {…}}")
        verb, fields = next(iter(op.items()))
        for name, known in (("branch", session.branches), ("token", session.saved)):
            asked = fields.get(name) if isinstance(fields, dict) else None
            creates = (verb, name) in (("reset", "branch"), ("load", "branch"), ("save", "token"))
            if asked is not None and not creates and (not isinstance(asked, int) or asked not in known):
                return wire.Malformed(f"`{verb}`: there is no {name} {asked!r}")
        if isinstance(error, KeyError):
            return wire.Malformed(f"`{verb}`: the field {error} is missing")
    if _deepest_file(error) == rows.__file__:
        return wire.Malformed(f"`step`: `row` is no row of numbers: {error}")
    return error


def _deepest_file(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else trace.tb_frame.f_code.co_filename
