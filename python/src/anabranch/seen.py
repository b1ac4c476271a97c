"""What a driver is told: views on the decoded message that look like objects and cost nothing until they are read."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional


def _value(name: str, default: Any) -> Any:
    """An attribute that reads one entry of the message; a missing one takes its default (protocol, "A message")."""

    def read(view: View) -> Any:
        try:
            return view._data[name]
        except KeyError:
            return default

    return property(read)


def _part(name: str, kind: Any) -> Any:
    """An attribute that wraps a map inside of the message."""

    def read(view: View) -> Any:
        try:
            return kind(view._data[name])
        except KeyError:
            return kind({})

    return property(read)


def _list(name: str, kind: Any) -> Any:
    """An attribute that wraps each map of a list."""

    def read(view: View) -> Any:
        return [kind(entry) for entry in view._data.get(name) or ()]

    return property(read)


def _maybe(name: str, kind: Any) -> Any:
    """An attribute that wraps a map that need not be there."""

    def read(view: View) -> Any:
        data = view._data.get(name)
        return None if data is None else kind(data)

    return property(read)


class View:
    """A map of the message, read by attribute."""

    __slots__ = ("_data",)
    _data: dict[str, Any]

    def __init__(self, data: Optional[dict[str, Any]] = None) -> None:
        self._data = data if data is not None else {}

    def as_dict(self) -> dict[str, Any]:
        """The map as it came."""
        return self._data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, View) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(repr(self.as_dict()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.as_dict()!r})"


class Pose(View):
    """Where the car believes to be: its rear axle, and its heading counter-clockwise from east."""

    __slots__ = ()
    x: float = _value("x", 0.0)
    y: float = _value("y", 0.0)
    heading: float = _value("heading", 0.0)
    covariance: list[float] = _value("covariance", [0.0] * 9)
    """Of x, y and heading, row by row."""


class Path(View):
    """The car relative to its planned path."""

    __slots__ = ()
    station: float = _value("station", 0.0)
    """Driven metres since the start of the path."""
    lateral: float = _value("lateral", 0.0)
    """Metres left of the path, as seen along the path's heading."""
    heading: float = _value("heading", 0.0)
    """Heading relative to the path's."""
    curvature: float = _value("curvature", 0.0)
    """Curvature to drive here, per metre driven forwards."""
    remaining: float = _value("remaining", 0.0)
    """Metres to the end of the section, or to where an obstacle asks to stand."""
    speed_max: float = _value("speed_max", 0.0)
    """Speed at which the steering can follow the path here."""
    direction: int = _value("direction", 1)
    """+1 forwards, -1 backwards."""
    section: int = _value("section", 0)
    sections_left: int = _value("sections_left", 0)
    to_end: float = _value("to_end", 0.0)
    """Metres to the end of the section, whatever stands before it: who stands there has arrived."""


class Goal(View):
    """Where to go, from where the car believes to be."""

    __slots__ = ()
    ahead: float = _value("ahead", 0.0)
    left: float = _value("left", 0.0)
    heading: float = _value("heading", 0.0)


class Object(View):
    """Something perceived; x and y are its centre."""

    __slots__ = ()
    id: int = _value("id", 0)
    x: float = _value("x", 0.0)
    y: float = _value("y", 0.0)
    heading: float = _value("heading", 0.0)
    speed: float = _value("speed", 0.0)
    length: float = _value("length", 0.0)
    width: float = _value("width", 0.0)
    vx: float = _value("vx", 0.0)
    """Velocity eastwards; on roads `speed` is its part along the heading."""
    vy: float = _value("vy", 0.0)
    """Velocity northwards."""


class Beside(View):
    """A lane beside that of the car."""

    __slots__ = ()
    lane: str = _value("lane", "")
    apart: float = _value("apart", 0.0)
    """Metres from middle to middle."""
    may_change: bool = _value("may_change", False)
    """The line between may be crossed."""


class Line(View):
    """A line ahead at which one may have to stop."""

    __slots__ = ()
    ahead: float = _value("ahead", 0.0)
    """Metres from the rear axle."""
    sign: str = _value("sign", "none")
    """"stop", "yield", "priority" or "none"."""
    light: Optional[str] = _value("light", None)
    """"red", "red-amber", "amber", "green" or "dark"; None where there is no light."""


class Ahead(NamedTuple):
    """One place on the middle of the lanes ahead, along the route."""

    x: float
    y: float
    heading: float
    curvature: float
    width: float
    speed_limit: float


class Road(View):
    """The car on its road, from where it believes to be."""

    __slots__ = ()
    lane: str = _value("lane", "")
    """Road and lane, such as "main.1"."""
    station: float = _value("station", 0.0)
    """Metres along that lane."""
    lateral: float = _value("lateral", 0.0)
    """Metres left of its middle."""
    heading: float = _value("heading", 0.0)
    """Heading less that of the lane."""
    width: float = _value("width", 0.0)
    speed_limit: float = _value("speed_limit", 0.0)
    left: Optional[Beside] = _maybe("left", Beside)
    right: Optional[Beside] = _maybe("right", Beside)
    then: str = _value("then", "")
    """What the route does next: "straight on", "left" or "right" (change lanes), "arrive"."""
    then_in: float = _value("then_in", 0.0)
    """Metres until that must have happened."""
    route_left: float = _value("route_left", 0.0)
    """Metres of the route that are left."""
    step: float = _value("step", 0.0)
    """Metres between two rows of `ahead`."""
    lines: list[Line] = _list("lines", Line)
    """The nearest first."""

    @property
    def ahead(self) -> list[Ahead]:
        """The middle of the lanes ahead along the route; the first is beside the car."""
        return [Ahead(*row[:6]) for row in self._data.get("ahead") or ()]


class Plain(View):
    """What plain sensors tell, each with its own noise and period."""

    __slots__ = ()
    weather: float = _value("weather", 0.0)
    """Friction coefficient of the road below the car."""
    x: float = _value("x", 0.0)
    y: float = _value("y", 0.0)
    compass: float = _value("compass", 0.0)
    """Heading, counter-clockwise from east."""
    speed: float = _value("speed", 0.0)
    steer: float = _value("steer", 0.0)
    to_right: float = _value("to_right", 0.0)
    """Metres from the right side of the car to the right edge of the road."""
    front_left: float = _value("front_left", 0.0)
    """Metres from this corner to the marker of its side of the lane; negative is beyond it."""
    front_right: float = _value("front_right", 0.0)
    rear_left: float = _value("rear_left", 0.0)
    rear_right: float = _value("rear_right", 0.0)


class Heard(View):
    """A message of another car: what it told of itself when it sent it."""

    __slots__ = ()
    id: int = _value("id", 0)
    """The same all along a run; none of the numbers of `objects`."""
    x: float = _value("x", 0.0)
    y: float = _value("y", 0.0)
    heading: float = _value("heading", 0.0)
    speed: float = _value("speed", 0.0)
    accel: float = _value("accel", 0.0)
    """Negative brakes."""
    length: float = _value("length", 0.0)
    age: float = _value("age", 0.0)
    """Seconds since it was sent."""


class Tyres(View):
    """What the monitor of the tyres tells: shares of the nominal pressure."""

    __slots__ = ()
    fl: float = _value("fl", 1.0)
    fr: float = _value("fr", 1.0)
    rl: float = _value("rl", 1.0)
    rr: float = _value("rr", 1.0)
    warning: bool = _value("warning", False)
    """One of them is too low."""


class Occupancy(View):
    """What is free near the car: one byte for each cell, row by row, 0 free and 255 occupied."""

    __slots__ = ()
    cell_m: float = _value("cell_m", 0.0)
    columns: int = _value("columns", 0)
    rows: int = _value("rows", 0)
    cells: bytes = _value("cells", b"")


class Seen(View):
    """Everything a driver is told in one step. Metres, seconds and radians; angles counter-clockwise."""

    __slots__ = ()
    time: float = _value("time", 0.0)
    tick: int = _value("tick", 0)
    pose: Pose = _part("pose", Pose)
    speed: float = _value("speed", 0.0)
    """Negative backwards."""
    steer: float = _value("steer", 0.0)
    """Angle of the front wheels."""
    gear: int = _value("gear", 1)
    path: Path = _part("path", Path)
    goal: Goal = _part("goal", Goal)
    objects: list[Object] = _list("objects", Object)
    road: Optional[Road] = _maybe("road", Road)
    """The car on its road; None where there are no roads."""
    plain: Optional[Plain] = _maybe("plain", Plain)
    """What plain sensors tell; None where the car has none (`ego.plain` of the scenario)."""
    radio: list[Heard] = _list("radio", Heard)
    """The newest message of each car that was heard (`helper.radio` of the scenario)."""
    tyres: Optional[Tyres] = _maybe("tyres", Tyres)
    """What the monitor of the tyres tells; None where the car has none (`helper.tyres` of the scenario)."""
    occupancy: Optional[Occupancy] = _maybe("occupancy", Occupancy)
    """What is free near the car, for drivers that want it."""

    @property
    def blobs(self) -> list[bytes]:
        """Large pieces that came beside the message (a camera frame), in their order."""
        blobs: list[bytes] = self._data.get("blobs", [])
        return blobs
