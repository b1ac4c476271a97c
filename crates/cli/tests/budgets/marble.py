"""A marble on a tray. It takes as long for a step as the environment or a file `slow` says, and hangs while there is a file `block`."""

import os
import time

import anabranch

STEP_S = float(os.environ.get("STEP_S", "0"))
SEGMENTS = int(os.environ.get("SEGMENTS", "10"))
CELL = float(os.environ.get("CELL", "0.2"))
LIMIT = float(os.environ.get("LIMIT", "1.0"))

os.makedirs("pids", exist_ok=True)
open(f"pids/{os.getpid()}", "w").close()


def wait():
    pause = STEP_S
    if os.path.exists("slow"):
        with open("slow") as file:
            pause = float(file.read())
    if pause > 0:
        time.sleep(pause)
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
