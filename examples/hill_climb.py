"""Your own optimiser in twenty lines: anabranch search scenario.toml --method hill_climb.py"""

import random

import anabranch


class HillClimb(anabranch.Optimiser):
    """Steps around the best point so far, shorter after every failure; restarts elsewhere when steps have become tiny."""

    def begin(self, search):
        self.chance = random.Random(search.seed)
        self.restart()

    def restart(self):
        self.best, self.value, self.step = None, float("inf"), 0.3

    def ask(self, at_most):
        size = len(self.search.dimensions)
        if self.best is None:
            return [[self.chance.random() for _ in range(size)] for _ in range(at_most)]
        near = lambda place: min(1.0, max(0.0, place + self.chance.gauss(0.0, self.step)))
        return [[near(place) for place in self.best] for _ in range(at_most)]

    def tell(self, points, values):
        value, point = min(zip(values, points))
        if value < self.value:
            self.best, self.value = point, value
        else:
            self.step *= 0.7
        if self.step < 0.01:
            self.restart()


if __name__ == "__main__":
    anabranch.serve(HillClimb)
