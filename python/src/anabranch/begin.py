"""What a run begins with."""

from __future__ import annotations

from .seen import View, _list, _part, _value


class Start(View):
    """Where the car stands at time zero."""

    __slots__ = ()
    x: float = _value("x", 0.0)
    y: float = _value("y", 0.0)
    heading: float = _value("heading", 0.0)
    speed: float = _value("speed", 0.0)


class GoalPlace(View):
    """Where the car shall stop."""

    __slots__ = ()
    x: float = _value("x", 0.0)
    y: float = _value("y", 0.0)
    heading: float = _value("heading", 0.0)
    tolerance_m: float = _value("tolerance_m", 0.0)


class Car(View):
    """What a driver may know about its car."""

    __slots__ = ()
    wheelbase_m: float = _value("wheelbase_m", 0.0)
    length_m: float = _value("length_m", 0.0)
    width_m: float = _value("width_m", 0.0)
    rear_overhang_m: float = _value("rear_overhang_m", 0.0)
    steering_max_rad: float = _value("steering_max_rad", 0.0)
    steering_rate_max_radps: float = _value("steering_rate_max_radps", 0.0)


class Section(View):
    """A part of the path driven in one direction."""

    __slots__ = ()
    start_m: float = _value("start_m", 0.0)
    end_m: float = _value("end_m", 0.0)
    direction: int = _value("direction", 1)


class PlannedPath(View):
    """The planned path; `samples` are [x, y, heading, curvature, station], for drivers that want `samples`."""

    __slots__ = ()
    length_m: float = _value("length_m", 0.0)
    sections: list[Section] = _list("sections", Section)
    samples: list[list[float]] = _value("samples", [])


class Periods(View):
    """Seconds between two samples of each channel; a step between two of them sees the older one again."""

    __slots__ = ()
    pose_s: float = _value("pose_s", 0.0)
    """Of the pose, and of the path and the goal as seen from it."""
    speed_s: float = _value("speed_s", 0.0)
    """Of speed, steering and gear."""
    objects_s: float = _value("objects_s", 0.0)
    occupancy_s: float = _value("occupancy_s", 0.0)


class Leg(View):
    """A stretch of the route on one lane."""

    __slots__ = ()
    lane: str = _value("lane", "")
    """Road and lane, such as "main.1"."""
    from_m: float = _value("from_m", 0.0)
    """Station at which it is entered."""
    to_m: float = _value("to_m", 0.0)
    """Station at which it is left at the latest."""
    then: str = _value("then", "")
    """How it is left: "straight on", "left", "right", "arrive"."""


class Begin(View):
    """Everything that does not change during a run."""

    __slots__ = ()
    seed: int = _value("seed", 0)
    scenario: str = _value("scenario", "")
    params: list[float] = _value("params", [])
    cycle_s: float = _value("cycle_s", 0.0)
    until_s: float = _value("until_s", 0.0)
    start: Start = _part("start", Start)
    goal: GoalPlace = _part("goal", GoalPlace)
    car: Car = _part("car", Car)
    path: PlannedPath = _part("path", PlannedPath)
    route: list[Leg] = _list("route", Leg)
    """Lanes to follow, where there are roads."""
    periods: Periods = _part("periods", Periods)
    walls: list[list[float]] = _value("walls", [])
    """x1, y1, x2, y2 of each, for drivers that want `walls`."""
