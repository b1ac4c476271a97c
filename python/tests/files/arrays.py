"""A function on arrays as a driver."""

import numpy

from anabranch import numpy as arrays


def law(x, memory):
    return numpy.dot([-0.5, -1.0], x[:2]) + memory[0], 1.0 - x[2], memory + x[:1]


driver = arrays.driver(law, inputs=["path.lateral", "path.heading", "speed"], memory=[0.0])
