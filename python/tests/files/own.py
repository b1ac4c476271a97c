"""The same memory with its own save and load."""

import struct

import anabranch


class Own(anabranch.Driver):
    def reset(self, begin):
        self.sum, self.count = 0.0, 0

    def save(self):
        return struct.pack(">di", self.sum, self.count)

    def load(self, saved):
        self.sum, self.count = struct.unpack(">di", saved)

    def step(self, seen):
        self.sum += seen.path.lateral
        self.count += 1
        return anabranch.Command(steer=self.sum, accel=float(self.count), completed=self.sum > 1.0)
