"""Gymnasium environments as worlds: errors on what the policy sees and on what it does.

    import gymnasium
    from anabranch import gym

    world = gym.world(
        lambda: gymnasium.make("CartPole-v1"),
        policy=lambda observation: int(observation[2] + 0.3 * observation[3] > 0),
        errors={"observation": {"none": 0, "tilted": [0, 0, 0.05, 0]}, "action": {"none": None, "stuck": lambda _: 0}},
        merge={"x": (lambda env: env.state[0], 0.1), "angle": (lambda env: env.state[2], 0.02)},
        danger=lambda env: abs(env.state[2]),
        violated={"falls": lambda env: abs(env.state[2]) > 0.2},
    )
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence, Union

from .driver import Cell
from .world import Error, Modes, Segment, World

Reading = Callable[[Any], float]
"""Reads a number from the environment inside of all wrappers."""


class GymWorld(World):
    """A Gymnasium environment with the policy that acts in it; made by `world`."""

    env: Any = None

    def __init__(
        self,
        make: Callable[[], Any],
        policy: Callable[[Any], Any],
        readings: Mapping[str, Reading],
        danger: Reading,
        violated: Mapping[str, Callable[[Any], bool]],
    ) -> None:
        self.make, self.policy = make, policy
        self.readings, self.danger, self.violated = readings, danger, violated
        self.steps = 1

    def reset(self, seed: int) -> None:
        if self.env is not None:
            self.env.close()
        self.env = self.make()
        self.observation, _ = self.env.reset(seed=seed % (1 << 31))
        # A policy with memory may have a `reset` too.
        reset = getattr(self.policy, "reset", None)
        if callable(reset):
            reset(self.env)

    def run(self, error: Error) -> Segment:
        inside = self.env.unwrapped
        found: list[str] = []
        worst = float("-inf")
        ended = False
        for _ in range(self.steps):
            observation = _altered(self.observation, error, "observation")
            action = _altered(self.policy(observation), error, "action")
            self.observation, _, terminated, truncated, _ = self.env.step(action)
            self.record(**{name: read(inside) for name, read in self.readings.items()})
            worst = max(worst, float(self.danger(inside)))
            found = [name for name, holds in self.violated.items() if holds(inside)]
            ended = bool(terminated or truncated)
            if found or ended:
                break
        values = {name: float(read(inside)) for name, read in self.readings.items()}
        segment = Segment(danger=worst, violated=found, done=ended and not found)
        segment.values = values
        return segment


def _altered(value: Any, error: Error, site: str) -> Any:
    """What passes by, after the errors of the sites that are called `site` or begin with `site.`."""
    for name, mode in error.items():
        if name != site and not name.startswith(site + "."):
            continue
        if mode is None:
            continue
        if callable(mode):
            value = mode(value)
        else:
            import numpy

            shift = numpy.asarray(mode)
            if shift.any():
                value = (value + shift).astype(getattr(value, "dtype", shift.dtype))
    return value


def world(
    make: Callable[[], Any],
    *,
    policy: Callable[[Any], Any],
    errors: Mapping[str, Modes],
    merge: Mapping[str, Union[tuple[Reading, Optional[float]], tuple[Reading, Optional[float], str]]],
    danger: Reading,
    violated: Mapping[str, Callable[[Any], bool]],
    name: Optional[str] = None,
    steps: int = 1,
    segments: int = 20,
    segment: float = 1.0,
    snapshot: Optional[str] = None,
    time_matters: bool = False,
    constants: Sequence[str] = (),
) -> GymWorld:
    """A world around an environment.

    `errors` names the sites: "observation" or "observation.anything" alters what the policy gets, "action" what the
    environment gets. A choice is None or 0 (no error), a function of the value, or something to add. `merge` maps names
    to (function of the environment, cell size) or (function, cell size, unit). `danger` and the conditions in `violated`
    are functions of the environment too. One segment is `steps` steps and `segment` seconds.
    """
    for site in errors:
        if site.split(".")[0] not in ("observation", "action"):
            raise ValueError(f"the error site `{site}` must begin with `observation` or `action`")
    made = GymWorld(make, policy, {key: given[0] for key, given in merge.items()}, danger, violated)
    made.name = name or "gymnasium"
    made.errors = errors
    cells: dict[str, Cell] = {key: (given[1], given[2] if len(given) > 2 else "") for key, given in merge.items()}
    made.merge = cells
    made.signals = tuple(merge)
    made.must = tuple(violated)
    made.steps, made.segments, made.segment = steps, segments, segment
    made.tick = segment / steps
    made.snapshot, made.time_matters, made.constants = snapshot, time_matters, constants
    return made
