"""What a driver or world says of itself."""

from __future__ import annotations

from typing import Any, Mapping, Union

from . import rows, sources
from .driver import Cell, Driver
from .wire import PROTOCOL
from .world import World, modes_of, requirements_of

Thing = Union[Driver, World]


def variables(cells: Mapping[str, Cell]) -> list[dict[str, Any]]:
    """Names, units and cell sizes as the protocol wants them."""
    found = []
    for name, given in cells.items():
        cell, unit = given if isinstance(given, tuple) else (given, "")
        found.append({"name": name, "unit": unit, "cell": None if cell is None else float(cell)})
    return found


def card(thing: Thing, support: str, snapshot: str, saves_bytes: bool) -> dict[str, Any]:
    """The card of a thing whose states are kept like this."""
    is_world = isinstance(thing, World)
    body: dict[str, Any] = {
        "protocol": PROTOCOL,
        "role": "world" if is_world else "driver",
        "name": thing.name or type(thing).__name__,
        "version": thing.version,
        "support": support,
        "snapshot": snapshot,
        "saves_bytes": saves_bytes,
        "code": sources.digest(),
    }
    if isinstance(thing, World):
        body["world"] = _world(thing)
    else:
        body["cycle_s"] = None if thing.cycle is None else float(thing.cycle)
        body["key"] = variables(thing.key or {})
        body["memoryless"] = bool(thing.memoryless)
        # Large pieces come as frames of their own; the kit puts them where they belong.
        large = [] if "occupancy" not in thing.wants or "blobs" in thing.wants else ["blobs"]
        body["wants"] = [*thing.wants, *large, rows.WORD]
    return body


def _world(world: World) -> dict[str, Any]:
    must, should = requirements_of(world)
    signals = [{"name": name, "unit": ""} for name in world.signals]
    tick = world.tick if world.tick is not None else world.segment
    requirements = must + [name for name in should if name not in must]
    # All are musts where nothing else is said.
    musts = {} if len(must) == len(requirements) else {"musts": len(must)}
    return {
        "sites": [{"name": name, "modes": modes_of(modes)[0]} for name, modes in world.errors.items()],
        "at_once": world.at_once,
        "merge": variables(world.merge),
        "requirements": requirements,
        **musts,
        "signals": signals or [dict(variable, cell=None) for variable in variables(world.merge)],
        "time_matters": bool(world.time_matters),
        "segment_s": float(world.segment),
        "tick_s": float(tick),
        "segments_max": int(world.segments),
    }
