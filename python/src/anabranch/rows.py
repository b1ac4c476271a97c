"""What a driver is told, as the host sends it to this kit: the numbers of a step as one row of doubles, unpacked at once.

A map of forty names costs more than most drivers; a row costs next to nothing (protocol, `rows`). Drivers see no difference.
"""

from __future__ import annotations

import struct
from typing import Any, Optional

from .seen import Goal, Path, Pose, Seen, View

WORD = "rows"
"""What the card says in `wants`."""
NAMES: dict[str, tuple[str, ...]] = {
    "": ("time", "tick"),
    "pose": ("x", "y", "heading", *(f"covariance {n}" for n in range(9))),
    "car": ("speed", "steer", "gear"),
    "path": (
        *("station", "lateral", "heading", "curvature", "remaining", "speed_max"),
        *("direction", "section", "sections_left", "to_end"),
    ),
    "goal": ("ahead", "left", "heading"),
}
"""The numbers of a row in their order."""
_COUNT = sum(map(len, NAMES.values()))
_WHOLE = {"tick", "gear", "direction", "section", "sections_left"}
_unpack = struct.Struct(f"<{_COUNT}d").unpack
_FIRST = {part: sum(len(NAMES[before]) for before in list(NAMES)[:at]) for at, part in enumerate(NAMES)}


def _at(part: str, name: str) -> Any:
    """An attribute that reads one number of the row."""
    index = _FIRST[part] + NAMES[part].index(name)
    if name in _WHOLE:
        return property(lambda view: int(view._row[index]))
    return property(lambda view: view._row[index])


def _part(view: View, names: tuple[str, ...]) -> dict[str, Any]:
    """The map that a part of a row stands for."""
    return {name: getattr(view, name) for name in names}


class RowPose(Pose):
    __slots__ = ("_row",)

    def __init__(self, row: tuple[float, ...]) -> None:
        self._row = row

    def as_dict(self) -> dict[str, Any]:
        return _part(self, ("x", "y", "heading", "covariance"))

    x, y, heading = (_at("pose", name) for name in ("x", "y", "heading"))
    covariance = property(lambda view: list(view._row[_FIRST["pose"] + 3 : _FIRST["pose"] + 12]))


class RowPath(Path):
    __slots__ = ("_row",)

    def __init__(self, row: tuple[float, ...]) -> None:
        self._row = row

    def as_dict(self) -> dict[str, Any]:
        return _part(self, NAMES["path"])

    station, lateral, heading = (_at("path", name) for name in ("station", "lateral", "heading"))
    curvature, remaining, speed_max = (_at("path", name) for name in ("curvature", "remaining", "speed_max"))
    direction, section = _at("path", "direction"), _at("path", "section")
    sections_left, to_end = _at("path", "sections_left"), _at("path", "to_end")


class RowGoal(Goal):
    __slots__ = ("_row",)

    def __init__(self, row: tuple[float, ...]) -> None:
        self._row = row

    def as_dict(self) -> dict[str, Any]:
        return _part(self, NAMES["goal"])

    ahead, left, heading = (_at("goal", name) for name in ("ahead", "left", "heading"))


class RowSeen(Seen):
    """Everything a driver is told in one step; what is no number of the row is read from the map as ever."""

    __slots__ = ("_row",)

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self._row = _unpack(data["row"])

    time, tick = _at("", "time"), _at("", "tick")
    speed, steer, gear = (_at("car", name) for name in ("speed", "steer", "gear"))
    pose = property(lambda view: RowPose(view._row))
    path = property(lambda view: RowPath(view._row))
    goal = property(lambda view: RowGoal(view._row))

    def as_dict(self) -> dict[str, Any]:
        """The map that the row stands for, with everything that came beside it."""
        numbers = {name: getattr(self, name) for name in ("time", "tick", "speed", "steer", "gear")}
        parts = {name: getattr(self, name).as_dict() for name in ("pose", "path", "goal")}
        return {**numbers, **parts, **{name: value for name, value in self._data.items() if name != "row"}}


def seen_of(data: Optional[dict[str, Any]]) -> Seen:
    """What a step carries, whichever way it came."""
    return RowSeen(data) if data is not None and "row" in data else Seen(data)
