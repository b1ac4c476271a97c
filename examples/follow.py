"""A driver in 20 lines: steers back to its path and slows down before its end.

    anabranch explore examples/follow.toml
"""

import anabranch


class Follow(anabranch.Driver):
    memoryless = True  # each command depends on what is seen now, and on nothing before

    def step(self, seen):
        path = seen.path
        steer = -0.6 * path.lateral - 1.2 * path.direction * path.heading
        wanted = min(1.0, 0.8 * path.remaining)
        arrived = path.sections_left == 0 and path.to_end < 0.05 and abs(seen.speed) < 0.05
        return anabranch.Command(steer=steer, accel=2.0 * (wanted - abs(seen.speed)), completed=arrived)


if __name__ == "__main__":
    anabranch.serve(Follow())
