"""A complete simulator: a marble on a tray that may be tilted by mistake.

    anabranch explore examples/toy_world.py
"""

import anabranch


class Marble(anabranch.World):
    errors = {"tilt": {"level": 0.0, "left": -0.3, "right": 0.3}}  # the first choice means no error
    merge = {"x": (0.05, "m"), "v": (0.05, "m/s")}  # states that differ by less count as alike
    signals = ["x", "v"]
    must = ["on the tray"]
    segments = 12
    tick = 0.1

    def reset(self, seed):
        self.x, self.v = 0.0, 0.0

    def run(self, error):
        """One second in ten steps. A spring in the middle of the tray pulls the marble back."""
        for _ in range(10):
            self.v += 0.1 * (error.tilt - 0.5 * self.x)
            self.x += 0.1 * self.v
            self.record(x=self.x, v=self.v)
        margin = 1.5 - abs(self.x)
        fell = ["on the tray"] if margin < 0 else []
        return anabranch.Segment(x=self.x, v=self.v, danger=-margin, margin=margin, violated=fell)


if __name__ == "__main__":
    anabranch.serve(Marble())
