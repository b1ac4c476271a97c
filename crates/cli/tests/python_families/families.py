"""Families of small systems, each a world with parameters drawn from the number of the world.

    python families.py FAMILY NUMBER LONGER    the largest excursion of any error sequence of this world
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from typing import Any, Iterator

import anabranch


class Bench(anabranch.World):
    """Ten steps per segment; going farther astray than the limit on the way is a violation."""

    must = ["stays within its limit"]
    steps = 10

    def __init__(self, number: int, longer: int, limit: float = 0.0) -> None:
        self.segments = type(self).segments + longer
        self.limit = limit
        self.draw(random.Random(f"{type(self).__name__} {number}"))
        # Everything drawn is a constant of the world; what evolves is set by `reset`.
        self.constants = ["constants", *vars(self)]

    def draw(self, chance: random.Random) -> None:
        raise NotImplementedError

    def step(self, error: anabranch.Error) -> None:
        raise NotImplementedError

    def astray(self) -> float:
        raise NotImplementedError

    def run(self, error: anabranch.Error) -> anabranch.Segment:
        worst = 0.0
        for _ in range(self.steps):
            self.step(error)
            worst = max(worst, self.astray())
        margin = self.limit - worst
        values = {name: getattr(self, name) for name in self.merge}
        violated = self.must if margin < 0 else []
        return anabranch.Segment(danger=self.astray(), margin=margin, violated=violated, **values)


def clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


class Thermostat(Bench):
    """A heater that may not switch again for a while; its sensor reads wrong, or a window is open. Minutes and kelvin."""

    merge = {"room": (0.1, "K"), "wall": (0.1, "K"), "on": None, "wait": None}
    segments = 6

    def draw(self, chance: random.Random) -> None:
        self.power, self.outside = chance.uniform(12.0, 20.0), -chance.uniform(12.0, 20.0)
        self.to_wall, self.to_outside = chance.uniform(1.0, 2.0), chance.uniform(0.3, 0.6)
        self.wall_gain, self.band = chance.uniform(0.2, 0.5), chance.uniform(0.2, 0.8)
        self.pause = chance.randint(1, 6)
        off = chance.uniform(0.5, 2.0)
        modes = {"none": (0.0, 0.0), "reads low": (-off, 0.0), "reads high": (off * chance.uniform(0.7, 1.3), 0.0)}
        self.errors = {"fault": {**modes, "window open": (0.0, chance.uniform(0.3, 1.0))}}

    def reset(self, seed: int) -> None:
        self.room, self.wall, self.on, self.wait = 0.0, 0.0, 0, 0

    def step(self, error: anabranch.Error) -> None:
        offset, window = error.fault
        seen = self.room + offset
        if self.wait > 0:
            self.wait -= 1
        elif (self.on and seen > self.band) or (not self.on and seen < -self.band):
            self.on, self.wait = 1 - self.on, self.pause
        into_wall = self.room - self.wall
        lost = (self.to_outside + window) * (self.room - self.outside)
        self.room += 0.05 * (self.power * self.on - self.to_wall * into_wall - lost)
        self.wall += 0.05 * self.wall_gain * into_wall

    def astray(self) -> float:
        return abs(self.room)


class StickSlip(Bench):
    """A block that is pulled by a spring over a rough floor, too slowly or too fast; how far the spring is stretched."""

    merge = {"stretch": (0.05, "m"), "speed": (0.05, "m/s"), "stuck": None}
    segments = 8

    def draw(self, chance: random.Random) -> None:
        self.stiffness, self.damping = chance.uniform(0.8, 4.0), chance.uniform(0.1, 0.6)
        self.sticks = chance.uniform(0.5, 1.2)
        self.slides = self.sticks * chance.uniform(0.4, 0.9)
        pull = chance.uniform(0.1, 0.5)
        slow, fast = pull * chance.uniform(-0.5, 0.5), pull * chance.uniform(1.5, 3.0)
        self.errors = {"pull": {"none": pull, "slow": slow, "fast": fast}}

    def reset(self, seed: int) -> None:
        self.stretch, self.speed, self.stuck = 0.0, 0.0, 1

    def step(self, error: anabranch.Error) -> None:
        force = self.stiffness * self.stretch - self.damping * self.speed
        if self.stuck and abs(force) > self.sticks:
            self.stuck = 0
        if not self.stuck:
            direction = self.speed if self.speed != 0.0 else force
            faster = self.speed + 0.1 * (force - (self.slides if direction > 0 else -self.slides))
            if faster * self.speed < 0.0 and abs(force) <= self.sticks:
                faster, self.stuck = 0.0, 1
            self.speed = faster
        self.stretch += 0.1 * (error.pull - self.speed)

    def astray(self) -> float:
        return abs(self.stretch)


class Platoon(Bench):
    """Two cars follow a third one that may brake, and the radar of the first reads wrong; how much a gap has shrunk."""

    merge = {
        "gap1": (0.25, "m"),
        "gap2": (0.25, "m"),
        "v0": (0.25, "m/s"),
        "v1": (0.25, "m/s"),
        "v2": (0.25, "m/s"),
    }
    at_once = 1
    segments = 6
    segment = 2.0

    def draw(self, chance: random.Random) -> None:
        self.cruise, self.standing = chance.uniform(10.0, 25.0), chance.uniform(2.0, 4.0)
        self.headway = chance.uniform(0.8, 1.8)
        self.by_gap, self.by_speed = chance.uniform(0.1, 0.5), chance.uniform(0.3, 1.2)
        self.brake = chance.uniform(3.0, 6.0)
        wrong = chance.uniform(2.0, 8.0)
        self.errors = {
            "leader": {"none": 0.0, "brakes": -chance.uniform(1.5, 4.0)},
            "radar": {"none": 0.0, "reads long": wrong, "reads short": -wrong * chance.uniform(0.7, 1.3)},
        }

    def wanted(self, speed: float) -> float:
        return self.standing + self.headway * speed

    def reset(self, seed: int) -> None:
        self.v0 = self.v1 = self.v2 = self.cruise
        self.gap1 = self.gap2 = self.wanted(self.cruise)

    def follow(self, gap: float, ahead: float, own: float) -> float:
        asked = self.by_gap * (gap - self.wanted(own)) + self.by_speed * (ahead - own)
        return max(0.0, own + 0.2 * clip(asked, -self.brake, 2.0))

    def step(self, error: anabranch.Error) -> None:
        v0, v1, v2 = self.v0, self.v1, self.v2
        self.v0 = max(0.0, v0 + 0.2 * (clip(0.5 * (self.cruise - v0), -2.0, 1.5) + error.leader))
        self.v1 = self.follow(self.gap1 + error.radar, v0, v1)
        self.v2 = self.follow(self.gap2, v1, v2)
        self.gap1 += 0.2 * (self.v0 - self.v1)
        self.gap2 += 0.2 * (self.v1 - self.v2)

    def astray(self) -> float:
        return max(0.0, self.wanted(self.cruise) - min(self.gap1, self.gap2))


class Gearbox(Bench):
    """An automatic gearbox with hysteresis that reads the speed wrong, on a road that may fall; how fast the engine turns."""

    merge = {"v": (0.2, "m/s"), "force": (0.1, "m/s²"), "gear": None, "wait": None}
    segments = 6
    ratios = (3.2, 2.0, 1.35, 1.0)

    def draw(self, chance: random.Random) -> None:
        self.target, self.gain = chance.uniform(12.0, 30.0), chance.uniform(0.2, 0.8)
        self.up = chance.uniform(3.0, 4.0)
        self.down = self.up * chance.uniform(0.35, 0.55)
        self.lag, self.drag = chance.uniform(0.3, 1.0), chance.uniform(0.03, 0.1)
        self.pause = chance.randint(1, 5)
        wrong = chance.uniform(0.1, 0.3)
        modes = {"none": (1.0, 0.0), "reads low": (1.0 - wrong, 0.0), "reads high": (1.0 + wrong, 0.0)}
        self.errors = {"fault": {**modes, "downhill": (1.0, chance.uniform(0.5, 2.0))}}

    def reset(self, seed: int) -> None:
        self.v, self.force, self.gear, self.wait = 0.5 * self.target, 0.0, 1, 0

    def turns(self, speed: float) -> float:
        """Engine speed in 1000 per minute."""
        return 0.1 * speed * self.ratios[self.gear]

    def step(self, error: anabranch.Error) -> None:
        factor, slope = error.fault
        seen = self.turns(self.v * factor)
        if self.wait > 0:
            self.wait -= 1
        elif seen > self.up and self.gear < 3:
            self.gear, self.wait = self.gear + 1, self.pause
        elif seen < self.down and self.gear > 0:
            self.gear, self.wait = self.gear - 1, self.pause
        asked = clip(self.gain * (self.target - self.v * factor), -2.0, self.ratios[self.gear])
        self.force += 0.2 / (0.2 + self.lag) * (asked - self.force)
        self.v = max(0.0, self.v + 0.2 * (self.force + slope - self.drag * self.v))

    def astray(self) -> float:
        return self.turns(self.v)


class Tracking(Bench):
    """A loop with an actuator of limited rate and an integrator that stops at the limit follows a wave; how far it is off."""

    merge = {"y": (0.05, "m"), "u": (0.05, "m/s"), "total": (0.05, "m s"), "tick": None}
    segments = 8
    time_matters = True

    def draw(self, chance: random.Random) -> None:
        self.gain, self.integral = chance.uniform(0.8, 2.5), chance.uniform(0.1, 0.8)
        self.most, self.rate = chance.uniform(0.6, 1.5), chance.uniform(0.5, 2.0)
        self.half, self.slope = chance.randint(15, 40), chance.uniform(0.2, 0.8)
        off = chance.uniform(0.1, 0.5)
        self.errors = {"sensor": {"none": 0.0, "low": -off, "high": off * chance.uniform(0.7, 1.3)}}

    def reset(self, seed: int) -> None:
        self.y, self.u, self.total, self.tick = 0.0, 0.0, 0.0, 0

    def wave(self) -> float:
        """Up and down at a constant slope."""
        at = self.tick % (2 * self.half)
        return 0.1 * self.slope * min(at, 2 * self.half - at)

    def step(self, error: anabranch.Error) -> None:
        off = self.wave() - (self.y + error.sensor)
        asked = self.gain * off + self.integral * self.total
        if abs(asked) < self.most or asked * off < 0.0:
            self.total += 0.1 * off
        self.u += clip(clip(asked, -self.most, self.most) - self.u, -0.1 * self.rate, 0.1 * self.rate)
        self.y += 0.1 * self.u
        self.tick += 1

    def astray(self) -> float:
        return abs(self.wave() - self.y)


FAMILIES = {kind.__name__: kind for kind in (Thermostat, StickSlip, Platoon, Gearbox, Tracking)}


def choices(world: Bench) -> Iterator[anabranch.Error]:
    """Every choice of errors for one segment."""
    names = list(world.errors)
    for modes in itertools.product(*(enumerate(world.errors[name].values()) for name in names)):
        if world.at_once is None or sum(at > 0 for at, _ in modes) <= world.at_once:
            yield anabranch.Error({name: value for name, (_, value) in zip(names, modes)})


def truth(world: Bench) -> dict[str, Any]:
    """Runs every error sequence, shared beginnings once. It knows nothing of cells, merging or Anabranch's search."""
    world.reset(0)
    errors, worst, count = list(choices(world)), 0.0, 0
    todo = [(dict(vars(world)), 0)]
    while todo:
        state, depth = todo.pop()
        for error in errors:
            world.__dict__.clear()
            world.__dict__.update(state)
            segment = world.run(error)
            count += 1
            worst = max(worst, world.limit - segment.margin)
            if depth + 1 < world.segments:
                todo.append((dict(vars(world)), depth + 1))
    return {"worst": worst, "segments": count}


if __name__ == "__main__":
    family, number, longer = FAMILIES[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
    print(json.dumps(truth(family(number, longer))))
