"""The files in `examples` do what their comments say, as far as a raw client can tell."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest

from hosts import Host

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
BEGIN = {"seed": 1, "car": {"wheelbase_m": 3.5, "steering_max_rad": 0.6}}


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
