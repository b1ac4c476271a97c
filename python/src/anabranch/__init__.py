"""Your driving code or your simulator, explored by Anabranch.

>>> import anabranch
>>> class Follow(anabranch.Driver):
...     def step(self, seen):
...         return anabranch.Command(steer=-0.5 * seen.path.lateral, accel=0.0)
"""

from .begin import Begin, Leg
from .driver import Command, Driver, Point
from .optimiser import Dimension, Optimiser, Search
from .seen import Ahead, Beside, Goal, Line, Object, Occupancy, Path, Pose, Road, Seen
from .server import serve
from .world import Error, Segment, World

__version__ = "0.1.0"
__all__ = [
    "Ahead",
    "Begin",
    "Beside",
    "Command",
    "Dimension",
    "Driver",
    "Error",
    "Goal",
    "Leg",
    "Line",
    "Object",
    "Occupancy",
    "Optimiser",
    "Path",
    "Point",
    "Pose",
    "Road",
    "Search",
    "Seen",
    "Segment",
    "World",
    "serve",
]
