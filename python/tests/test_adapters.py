"""Gymnasium and NumPy through the kit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hosts import Host

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def paths(host: Host, way: str) -> list[Any]:
    """Every world after the same errors, saved in the middle where that is possible."""
    sequence = [[0, 0], [1, 0], [0, 1], [1, 1]]
    found = []
    host.ask("reset", branch=0, begin={"seed": 3})
    for number, modes in enumerate(sequence):
        found.append(host.ask("run", branch=0, modes=modes, record=True))
        if way != "replay":
            host.ask("save", branch=0, token=number)
            host.ask("load", token=number, branch=7)
            host.ask("run", branch=7, modes=[1, 1], record=False)
            host.ask("load", token=number, branch=0)
    return found


def test_a_gymnasium_environment_goes_on_alike_however_it_was_kept() -> None:
    found = []
    for way in ("copy", "fork", "replay"):
        with Host("cartpole.py", ANABRANCH_SNAPSHOT=way) as host:
            card = host.card()
            assert card["role"] == "world" and card["world"]["requirements"] == ["falls"]
            assert card["world"]["sites"][0] == {"name": "observation", "modes": ["none", "tilted"]}
            found.append(paths(host, way))
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]["frames"]) == 5 and found[0][0]["values"] == found[0][0]["frames"][-1]


def test_a_function_on_arrays_is_a_driver_with_memory() -> None:
    with Host("arrays.py") as host:
        card = host.card()
        assert (card["name"], card["snapshot"], card["saves_bytes"]) == ("law", "copy", True)
        host.ask("reset", branch=0, begin={})
        assert host.step(0, 0.5)["steer"] == -0.25 - 0.02 + 0.0
        first = host.ask("save", branch=0, token=1)["bytes"]
        host.ask("load", token=1, branch=0)
        assert host.step(0, 0.5)["steer"] == -0.25 - 0.02 + 0.5
        host.ask("reset", branch=0, begin={})
        host.step(0, 0.5)
        assert host.ask("save", branch=0, token=2)["bytes"] == first
