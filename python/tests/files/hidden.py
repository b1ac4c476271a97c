"""The same memory where no copy reaches it: in C memory and behind a lock."""

import ctypes
import threading

import anabranch

SUM = (ctypes.c_double * 1)()


class Hidden(anabranch.Driver):
    key = {"count": None}

    def reset(self, begin):
        self.lock = threading.Lock()
        SUM[0] = 0.0
        self.count = 0

    def step(self, seen):
        with self.lock:
            SUM[0] += seen.path.lateral
            self.count += 1
            return anabranch.Command(steer=SUM[0], accel=float(self.count), completed=SUM[0] > 1.0)
