"""A driver: gets what the sensors say, returns commands."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

from .begin import Begin
from .seen import Seen

Cell = Union[None, float, tuple[Optional[float], str]]
"""How much a variable may differ and still count as alike: a size, a size with its unit, or None for exactly."""


class Point:
    """One point of a trajectory: the rear axle at a time of the run."""

    __slots__ = ("time_s", "x_m", "y_m", "heading_rad", "speed_mps")

    def __init__(self, time_s: float, x_m: float, y_m: float, heading_rad: float, speed_mps: float) -> None:
        self.time_s, self.x_m, self.y_m = time_s, x_m, y_m
        self.heading_rad, self.speed_mps = heading_rad, speed_mps


class Command:
    """What a driver wants its car to do.

    `steer` is the angle of the front wheels (rad, left positive), `accel` the acceleration along the gear (m/s²: positive
    drives, negative brakes), `gear` +1 or -1 (None takes the direction of the path), `completed` "manoeuvre completed".
    A `trajectory` is tracked by Anabranch instead of `steer` and `accel`.
    """

    __slots__ = ("steer", "accel", "gear", "completed", "trajectory")

    def __init__(
        self,
        steer: float = 0.0,
        accel: float = 0.0,
        gear: Optional[int] = None,
        completed: bool = False,
        trajectory: Sequence[Point] = (),
    ) -> None:
        self.steer = steer
        self.accel = accel
        self.gear = gear
        self.completed = completed
        self.trajectory = trajectory

    def __repr__(self) -> str:
        return f"Command(steer={self.steer!r}, accel={self.accel!r}, gear={self.gear!r}, completed={self.completed!r})"


class Driver:
    """Derive from it and write `step`. The rest is optional.

    What the driver remembers from step to step are its attributes: Anabranch saves them, and tries every error from there
    on. A driver with memory outside of its attributes (globals, a C library, threads) says `snapshot = "fork"`.
    """

    name: Optional[str] = None
    """Name for people; the name of the class if there is none."""
    version: str = ""
    cycle: Optional[float] = None
    """Seconds between two steps; None takes the scenario's."""
    key: Optional[Mapping[str, Cell]] = None
    """Which attributes count for merging, with their cell sizes; None: all of the memory, exactly."""
    wants: Sequence[str] = ()
    """Any of "walls", "samples", "occupancy"."""
    memoryless: bool = False
    """Say True if the command depends on `seen` alone."""
    snapshot: Optional[str] = None
    """"own", "copy", "fork" or "replay"; None takes the first of these that works."""
    constants: Sequence[str] = ()
    """Attributes that do not change after `reset` (a map, a table): copies share them, and saved bytes leave them out."""
    global_random: bool = False
    """Say True if the code draws from the global generators of `random` or NumPy: each branch then has its own."""

    def reset(self, begin: Begin) -> None:
        """A run begins. `random` and NumPy's global generator have been seeded from `begin.seed`."""

    def step(self, seen: Seen) -> Command:
        """Decide once."""
        raise NotImplementedError(f"{type(self).__name__} has no method `step`")

    # A driver may also define `save(self)` and `load(self, saved)`: bytes or plain data with everything it remembers.
    # They are not declared here, so that having them says something.


def as_command(answer: Any) -> Command:
    """What people return besides a Command: a pair (steer, accel), or a dict."""
    if isinstance(answer, Command):
        return answer
    if isinstance(answer, tuple) and len(answer) == 2:
        return Command(steer=answer[0], accel=answer[1])
    if isinstance(answer, dict):
        return Command(**answer)
    raise TypeError(f"`step` returned {type(answer).__name__}; return anabranch.Command(steer=…, accel=…)")
