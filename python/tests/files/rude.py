"""A driver that does what it is told by the tick, most of it bad."""

import os
import sys
import time

import anabranch


class Rude(anabranch.Driver):
    key = {"count": None}
    count = 0

    def step(self, seen):
        self.count += 1
        return getattr(self, f"tick_{seen.tick}", self.fine)()

    def fine(self):
        return anabranch.Command(steer=float(self.count))

    def tick_100(self):
        return [1, 2, 3][7]

    def tick_101(self):
        return anabranch.Command(steer=float("nan"), accel=float("inf"))

    def tick_102(self):
        return None

    def tick_103(self):
        return anabranch.Command(steer="left")

    def tick_104(self):
        return anabranch.Command(gear=3)

    def tick_105(self):
        self.count = "many"
        return anabranch.Command()

    def tick_106(self):
        os._exit(3)

    def tick_107(self):
        os.kill(os.getpid(), 11)

    def tick_108(self):
        time.sleep(3600)

    def tick_109(self):
        print("x" * 1000)
        print("to the other one", file=sys.stderr)
        return (0.1, 0.2)

    def tick_110(self):
        return {"steer": 0.3, "completed": True}

    def tick_111(self):
        points = [anabranch.Point(time_s=1.0, x_m=2.0, y_m=3.0, heading_rad=0.1, speed_mps=1.0)]
        return anabranch.Command(trajectory=points)

    def tick_112(self):
        sys.exit("enough")

    def tick_113(self):
        raise ValueError("half a character: \ud800")
