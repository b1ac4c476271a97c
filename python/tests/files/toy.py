"""The toy world of the documentation, with two error sites."""

import anabranch


class Toy(anabranch.World):
    errors = {"push": [0.0, -0.1, 0.1], "wind": {"calm": 0.0, "gust": 0.3}}
    merge = {"x": (0.1, "m"), "v": 0.05}
    segments = 5

    def reset(self, seed):
        self.x, self.v = 0.0, 1.0

    def run(self, error):
        self.v += error.push
        self.x += self.v + error["wind"]
        violated = ["wall"] if abs(self.x) > 3 else []
        return anabranch.Segment(
            x=self.x,
            v=self.v,
            danger=abs(self.x),
            margin=3 - abs(self.x),
            violated=violated if violated else [],
            notes=["near"] if abs(self.x) > 2 else [],
        )

    must = ["wall"]
