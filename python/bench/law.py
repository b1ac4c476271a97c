"""A driver as people write them, with NumPy in its process; and bare forks of that process to compare with."""

import os
import time

import numpy

import anabranch

FORKS = 20


class Law(anabranch.Driver):
    def reset(self, begin):
        self.bare = begin.scenario == "bare-forks"
        self.table = numpy.linspace(0.0, 1.0, 200)
        self.sum = 0.0

    def step(self, seen):
        if self.bare:
            return anabranch.Command(steer=bare_fork_s())
        path = seen.path
        self.sum += path.lateral
        return anabranch.Command(steer=-0.5 * path.lateral - path.heading, accel=1.0 - abs(seen.speed))


def bare_fork_s():
    """Seconds from `os.fork` until the child has said a byte, on average. Each child ends after that."""
    spent, children = 0.0, []
    for _ in range(FORKS):
        hold_read, hold_write = os.pipe()
        read, write = os.pipe()
        start = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            os.write(write, b"x")
            os.close(hold_write)
            os.read(hold_read, 1)
            os._exit(0)
        os.read(read, 1)
        spent += time.perf_counter() - start
        os.close(hold_read), os.close(read), os.close(write)
        children.append(pid)
        # As in the kit, the branch before ends while the next one is made.
        os.close(hold_write)
    for pid in children:
        os.waitpid(pid, 0)
    return spent / FORKS
