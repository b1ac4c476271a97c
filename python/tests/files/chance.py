"""A driver that draws from the global generators."""

import random

import numpy

import anabranch


class Chance(anabranch.Driver):
    global_random = True

    def step(self, seen):
        return anabranch.Command(steer=random.random(), accel=float(numpy.random.random()))
