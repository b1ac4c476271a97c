import anabranch


class Opaque(anabranch.Driver):
    """Begins with plain data, and puts something else into its memory in the second step."""

    def __init__(self) -> None:
        self.steps = 0
        self.thing: object = None

    def step(self, seen: anabranch.Seen) -> anabranch.Command:
        self.steps += 1
        if self.steps == 2:
            self.thing = iter([1, 2])
        return anabranch.Command()
