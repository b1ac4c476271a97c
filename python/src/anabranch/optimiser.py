"""An optimiser of your own for `anabranch search --method my_optimiser.py`: ask for points, tell what became of them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from . import wire
from .session import short_trace


@dataclass(frozen=True)
class Dimension:
    """One thing that varies. Points have a place between 0 and 1 for it."""

    name: str
    unit: str
    kind: str
    """"real", "whole" or "one-of": the last has no order."""
    low: float
    high: float


@dataclass(frozen=True)
class Search:
    """What is searched."""

    seed: int
    """Seed whatever you draw by lot with it: the same seed must give the same points."""
    budget: int
    """Simulations in all."""
    dimensions: Sequence[Dimension]


class Optimiser:
    """Derive from it and write `ask` and `tell`. The rest is optional."""

    name: Optional[str] = None
    version: str = ""
    search: Search
    """What is searched; set before `begin`."""

    def begin(self, search: Search) -> None:
        """A search begins."""

    def ask(self, at_most: int) -> Sequence[Sequence[float]]:
        """The next points of the unit cube: at least one, at most `at_most`."""
        raise NotImplementedError(f"{type(self).__name__} has no method `ask`")

    def tell(self, points: Sequence[Sequence[float]], values: Sequence[float]) -> None:
        """What became of all points of the last `ask`: smaller is more dangerous, below zero a requirement is violated.

        A value is infinite where the point is no instance of the scenario, or keeps not to its rules.
        """

    def restart(self) -> None:
        """Start somewhere else: what was found here is known by now."""


class OptimiserSession:
    """Answers the questions of one search after the other."""

    def __init__(self, thing: Optimiser) -> None:
        self.thing = thing
        self.ended = False

    def answer(self, body: bytes, blobs: Optional[list[bytes]] = None) -> bytes:
        """The reply to a request, whatever the request is."""
        start = time.perf_counter()
        try:
            seq, ops = wire.request(body, blobs)
        except wire.Malformed as error:
            return wire.reply(0, [wire.failed(f"malformed request: {error}")], time.perf_counter() - start)
        return wire.reply(seq, [self.do(op) for op in ops], time.perf_counter() - start)

    def do(self, op: Any) -> bytes:
        """The answer to one operation."""
        try:
            ((verb, fields),) = op.items()
            if verb == "describe":
                packed: bytes = wire.pack({"card": self.card()})
                return packed
            if verb == "ask":
                packed = wire.pack({"points": {"points": self.ask(fields)}})
                return packed
            if verb == "bye":
                self.ended = True
                return wire.DONE
            raise wire.Malformed(f"an optimiser knows no operation `{verb}`")
        except (Exception, SystemExit) as error:
            return wire.failed(short_trace(error))

    def card(self) -> dict[str, Any]:
        """What it says of itself."""
        return {
            "protocol": wire.PROTOCOL,
            "role": "optimiser",
            "name": self.thing.name or type(self.thing).__name__,
            "version": self.thing.version,
            "support": "replay",
            "snapshot": "none",
        }

    def ask(self, fields: dict[str, Any]) -> list[list[float]]:
        """Begins, tells, restarts and asks, in this order, as far as the question says so."""
        if fields.get("search") is not None:
            self.thing.search = _search(fields["search"])
            self.thing.begin(self.thing.search)
        told = fields.get("told") or []
        if told:
            self.thing.tell([one["point"] for one in told], [float(one["value"]) for one in told])
        if fields.get("restart"):
            self.thing.restart()
        at_most = int(fields.get("at_most", 0))
        if at_most == 0:
            return []
        points = [[float(place) for place in point] for point in self.thing.ask(at_most)]
        if not 1 <= len(points) <= at_most:
            raise ValueError(f"`ask` gave {len(points)} points; at least 1 and at most {at_most} are wanted")
        for point in points:
            if not all(map(math.isfinite, point)):
                raise ValueError(f"`ask` gave a point with a place that is no number: {point}")
        return points


def _search(body: dict[str, Any]) -> Search:
    dimensions = [
        Dimension(str(d["name"]), str(d["unit"]), str(d["kind"]), float(d["from"]), float(d["to"]))
        for d in body["dimensions"]
    ]
    return Search(int(body["seed"]), int(body["budget"]), dimensions)
