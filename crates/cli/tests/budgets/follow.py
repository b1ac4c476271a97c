"""Steers back to its path. It takes as long for a step as the environment or a file `slow` says, and hangs while there is a file `block`."""

import os
import time

import anabranch

STEP_S = float(os.environ.get("STEP_S", "0"))

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


class Follow(anabranch.Driver):
    memoryless = True

    def step(self, seen):
        wait()
        path = seen.path
        steer = -0.6 * path.lateral - 1.2 * path.direction * path.heading
        wanted = min(1.0, 0.8 * path.remaining)
        arrived = path.sections_left == 0 and path.to_end < 0.05 and abs(seen.speed) < 0.05
        return anabranch.Command(steer=steer, accel=2.0 * (wanted - abs(seen.speed)), completed=arrived)


if os.environ.get("AT_START"):
    wait()
