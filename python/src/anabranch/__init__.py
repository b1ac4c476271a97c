"""Your driving code or your simulator, explored by Anabranch.

>>> import anabranch
>>> class Follow(anabranch.Driver):
...     def step(self, seen):
...         return anabranch.Command(steer=-0.5 * seen.path.lateral, accel=0.0)
"""

from .begin import Begin, Leg
from .driver import Command, Driver, Point
from .seen import Ahead, Beside, Goal, Line, Object, Occupancy, Path, Pose, Road, Seen
from .server import serve
from .world import Error, Segment, World

__version__ = "0.1.0"
__all__ = [
    "Ahead",
    "Begin",
    "Beside",
    "Command",
    "Driver",
    "Error",
    "Goal",
    "Leg",
    "Line",
    "Object",
    "Occupancy",
    "Path",
    "Point",
    "Pose",
    "Road",
    "Seen",
    "Segment",
    "World",
    "serve",
]
