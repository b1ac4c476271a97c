"""NumPy code as a driver: what is told becomes arrays, and a function on arrays becomes a driver.

    import numpy
    from anabranch import numpy as arrays

    def law(x, memory):                      # x as named in `inputs`
        return numpy.array([-0.5, -1.0]) @ x[:2], 1.0 - x[2], memory

    driver = arrays.driver(law, inputs=["path.lateral", "path.heading", "speed"])
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy

from .begin import Begin
from .driver import Cell, Command, Driver
from .seen import Seen

_OBJECT = ("id", "x", "y", "heading", "speed", "length", "width", "vx", "vy")


def vector(seen: Seen, names: Sequence[str]) -> Any:
    """The named values, such as "path.lateral", as an array."""
    return numpy.array([attrgetter(name)(seen) for name in names], dtype=float)


def covariance(seen: Seen) -> Any:
    """Of x, y and heading: 3 × 3."""
    return numpy.array(seen.pose.covariance, dtype=float).reshape(3, 3)


def objects(seen: Seen) -> Any:
    """One row for each object: id, x, y, heading, speed, length, width, vx, vy."""
    rows = [[getattr(entry, name) for name in _OBJECT] for entry in seen.objects]
    return numpy.array(rows, dtype=float).reshape(-1, len(_OBJECT))


def ahead(seen: Seen) -> Any:
    """The lanes ahead: one row for each x, y, heading, curvature, width, speed limit; no rows where there are no roads."""
    road = seen.road
    return numpy.array([] if road is None else road.ahead, dtype=float).reshape(-1, 6)


def occupancy(seen: Seen) -> Any:
    """Rows × columns of 0 (free) to 255 (occupied); None where there is none."""
    grid = seen.occupancy
    return None if grid is None else numpy.frombuffer(grid.cells, dtype=numpy.uint8).reshape(grid.rows, grid.columns)


def samples(begin: Begin) -> Any:
    """The planned path for drivers that want `samples`: one row for each x, y, heading, curvature, station."""
    return numpy.array(begin.path.samples, dtype=float).reshape(-1, 5)


def walls(begin: Begin) -> Any:
    """The walls for drivers that want `walls`: one row for each x1, y1, x2, y2."""
    return numpy.array(begin.walls, dtype=float).reshape(-1, 4)


class ArrayDriver(Driver):
    """A driver around a function on arrays; made by `driver`."""

    def __init__(self, law: Callable[[Any, Any], Any], inputs: Sequence[str], start: Any) -> None:
        self.law, self.read, self.start = law, attrgetter(*inputs), numpy.array(start, dtype=float)
        self.memory = self.start.copy()

    def reset(self, begin: Begin) -> None:
        self.memory = self.start.copy()

    def step(self, seen: Seen) -> Command:
        values = self.read(seen)
        steer, accel, self.memory = self.law(numpy.array(values, dtype=float, ndmin=1), self.memory)
        return Command(steer=float(steer), accel=float(accel))


def driver(
    law: Callable[[Any, Any], Any],
    *,
    inputs: Sequence[str],
    memory: Any = (),
    key: Optional[Mapping[str, Cell]] = None,
    name: Optional[str] = None,
) -> ArrayDriver:
    """A driver whose step is `steer, accel, memory = law(x, memory)`, with `x` as named in `inputs`."""
    made = ArrayDriver(law, inputs, memory)
    made.name = name or getattr(law, "__name__", "law")
    made.key = key
    made.constants = ("law", "read", "start")
    return made
