"""The files in `examples` do what their comments say, as far as a raw client can tell."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest

from hosts import Host, on_road

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
BEGIN = {
    "seed": 1,
    "car": {"wheelbase_m": 2.7, "length_m": 4.5, "rear_overhang_m": 1.0, "steering_max_rad": 0.6},
}


def loaded(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", ("follow.py", "follow_law.py"))
def test_drivers_steer_back_to_the_path(file: str) -> None:
    with Host(file, folder=EXAMPLES) as host:
        host.ask("reset", branch=0, begin=BEGIN)
        assert host.step(0, lateral=0.1)["steer"] < 0 < host.step(0, lateral=-0.2)["steer"]


def car_at(x: float, y: float, speed: float) -> dict[str, Any]:
    return {"id": 1, "x": x, "y": y, "heading": 0.0, "speed": speed, "length": 4.5, "width": 1.8, "vx": speed, "vy": 0.0}


@pytest.fixture
def keeper() -> Any:
    """What the lane keeper does on a road of which this is different."""
    with Host("lane_keeper.py", folder=EXAMPLES) as host:
        host.ask("reset", branch=0, begin=BEGIN)
        yield lambda **changes: host.ask("step", branch=0, seen=on_road(**changes))


def test_the_lane_keeper_steers_back_to_the_middle_of_its_lane(keeper: Any) -> None:
    assert keeper(lateral=0.5)["steer"] < 0 < keeper(lateral=-0.5)["steer"]
    assert keeper(heading=0.1)["steer"] < 0 == keeper()["steer"]


def test_the_lane_keeper_keeps_its_distance_to_who_is_in_its_lane(keeper: Any) -> None:
    free = keeper()["accel"]
    assert free > 1.0
    assert keeper(objects=[car_at(70.0, 0.3, 5.0)])["accel"] < -1.0
    assert keeper(objects=[car_at(70.0, 3.5, 5.0)])["accel"] == free, "in the lane beside"
    assert keeper(objects=[car_at(35.0, 0.0, 5.0)])["accel"] == free, "behind"


@pytest.mark.parametrize("light, stops", (("red", True), ("red-amber", True), ("green", False), ("amber", False)))
def test_the_lane_keeper_stops_at_red_lights(keeper: Any, light: str, stops: bool) -> None:
    lines = [{"ahead": 25.0, "sign": "none", "light": light}]
    assert (keeper(lines=lines)["accel"] < -1.0) == stops


def test_the_lane_keeper_goes_on_when_it_has_stood_at_the_stop_sign(keeper: Any) -> None:
    def at(ahead: float, speed: float) -> float:
        return float(keeper(lines=[{"ahead": ahead, "sign": "stop"}], speed=speed)["accel"])

    assert at(25.0, 10.0) < -1.0 and at(6.0, 1.0) < -0.5
    assert at(5.6, 0.05) > 1.0 and at(5.0, 1.0) > 1.0
    assert keeper(speed=5.0)["accel"] > 0.0
    assert at(25.0, 10.0) < -1.0, "the next stop sign is another one"


def test_the_arc_tangent_of_the_law_is_one() -> None:
    atan = loaded("follow_law").atan
    for number in range(-4000, 4001):
        x = number / 400
        assert abs(atan(x) - math.atan(x)) < 5e-16


@pytest.mark.parametrize("file, segments", (("toy_world.py", 12), ("highway_world.py", 10)))
def test_worlds_go_well_without_errors(file: str, segments: int) -> None:
    with Host(file, folder=EXAMPLES) as host:
        sites = len(host.card()["world"]["sites"])
        host.ask("reset", branch=0, begin=BEGIN)
        for _ in range(segments):
            assert host.ask("run", branch=0, modes=[0] * sites, record=False)["violated"] == []


def test_the_marble_falls_after_a_few_wrong_tilts() -> None:
    with Host("toy_world.py", folder=EXAMPLES) as host:
        host.ask("reset", branch=0, begin=BEGIN)
        told = [host.ask("run", branch=0, modes=[mode], record=False) for mode in (1, 1, 2, 2, 2, 2)]
        assert [segment["violated"] for segment in told] == [[]] * 5 + [["on the tray"]]
