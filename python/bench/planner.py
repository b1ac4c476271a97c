"""The law of `examples/follow_law.py` as part of a small planner: every step it also drives forty arcs ahead and rates them.

For measurements: this is what a step of small real code costs that nobody can copy, some tenths of a millisecond.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "examples"))

import math  # noqa: E402

import anabranch  # noqa: E402
from follow_law import FollowLaw  # noqa: E402

CURVATURES_PER_M = [0.01 * n for n in range(-20, 20)]
AHEAD = 24


class Planner(FollowLaw):
    def step(self, seen: anabranch.Seen) -> anabranch.Command:
        self.best = min(CURVATURES_PER_M, key=lambda curvature: offset_m(seen.path.lateral, seen.path.heading, curvature))
        return super().step(seen)


def offset_m(lateral_m: float, heading: float, curvature_per_m: float) -> float:
    """Sum of the distances from the path along an arc."""
    sum_m = 0.0
    for _ in range(AHEAD):
        heading += 0.5 * curvature_per_m
        lateral_m += 0.5 * math.sin(heading)
        sum_m += abs(lateral_m)
    return sum_m
