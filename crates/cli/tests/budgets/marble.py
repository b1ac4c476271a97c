"""A marble on a tray, as slow as it is told to be by the environment, and stuck while there is a file called `block`."""

import os
import time

import anabranch

STEP_S = float(os.environ.get("STEP_S", "0"))
SEGMENTS = int(os.environ.get("SEGMENTS", "10"))
CELL = float(os.environ.get("CELL", "0.2"))
LIMIT = float(os.environ.get("LIMIT", "1.0"))


def wait():
    if STEP_S > 0:
        time.sleep(STEP_S)
    if os.path.exists("block"):
        open("blocked", "w").close()
        time.sleep(5)


class Marble(anabranch.World):
    errors = {"tilt": {"level": 0.0, "left": -0.3, "right": 0.3}}
    merge = {"x": (CELL, "m"), "v": (CELL, "m/s")}
    must = ["on the tray"]
    segments = SEGMENTS
    tick = 0.1

    def reset(self, seed):
        self.x, self.v = 0.0, 0.0

    def run(self, error):
        for _ in range(10):
            wait()
            self.v += 0.1 * (error.tilt - 0.5 * self.x)
            self.x += 0.1 * self.v
        margin = LIMIT - abs(self.x)
        fell = ["on the tray"] if margin < 0 else []
        return anabranch.Segment(x=self.x, v=self.v, danger=-margin, margin=margin, violated=fell)


if os.environ.get("AT_START"):
    wait()
