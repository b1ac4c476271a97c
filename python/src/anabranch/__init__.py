"""Your driving code or your simulator, explored by Anabranch.

>>> import anabranch
>>> class Follow(anabranch.Driver):
...     def step(self, seen):
...         return anabranch.Command(steer=-0.5 * seen.path.lateral, accel=0.0)
"""

from .begin import Begin
from .driver import Command, Driver, Point
from .seen import Goal, Object, Occupancy, Path, Pose, Seen
from .server import serve
from .world import Error, Segment, World

__version__ = "0.1.0"
__all__ = [
    "Begin",
    "Command",
    "Driver",
    "Error",
    "Goal",
    "Object",
    "Occupancy",
    "Path",
    "Point",
    "Pose",
    "Seen",
    "Segment",
    "World",
    "serve",
]
