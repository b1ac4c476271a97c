"""A driver with memory of several kinds, plain to copy."""

import anabranch


class Memory(anabranch.Driver):
    def reset(self, begin):
        self.sum = 0.0
        self.history = []

    def step(self, seen):
        self.sum += seen.path.lateral
        self.history.append(seen.tick)
        return anabranch.Command(steer=self.sum, accel=float(len(self.history)), completed=self.sum > 1.0)
