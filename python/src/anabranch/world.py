"""A world: a simulator with everything inside, run segment by segment."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union

from .driver import Cell

Modes = Union[Sequence[Any], Mapping[str, Any]]
"""The choices of one error site, the first meaning no error: a list of values, or names with values."""


class Error(Mapping[str, Any]):
    """The errors of one segment: `error.push` or `error["push"]` is the chosen value of the site `push`."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "_values")[name]
        except KeyError:
            raise AttributeError(f"there is no error site `{name}`") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Error({self._values!r})"


class Segment:
    """What came of one segment: the values of `merge` by name, and how it went.

    `danger` grows as things get worse, `margin` is the smallest distance to a violation on the way, `violated` names the
    *must* requirements that were violated (the run ends), `notes` the *should* ones, `done` says that the run ended well.
    """

    __slots__ = ("values", "danger", "margin", "violated", "notes", "done", "frames")

    def __init__(
        self,
        *,
        danger: float = 0.0,
        margin: Optional[float] = None,
        violated: Iterable[str] = (),
        notes: Iterable[str] = (),
        done: bool = False,
        frames: Optional[Sequence[Sequence[float]]] = None,
        **values: float,
    ) -> None:
        self.values = values
        self.danger = danger
        self.margin = margin
        # Once: an iterator would be empty when it is read again.
        self.violated = _names(violated)
        self.notes = _names(notes)
        self.done = done
        self.frames = frames


def _names(given: Iterable[str]) -> tuple[str, ...]:
    """The names in a list, of an iterator, or the only one."""
    return (given,) if isinstance(given, str) else tuple(given)


class World:
    """Derive from it, name `errors` and `merge`, write `reset` and `run`. The rest is optional."""

    name: Optional[str] = None
    version: str = ""
    errors: Mapping[str, Modes] = {}
    """The error sites with their choices; the first choice means no error."""
    merge: Mapping[str, Cell] = {}
    """The variables by which two states count as alike, with their cell sizes."""
    at_once: Optional[int] = None
    """Most sites in error at the same time; None for all."""
    must: Sequence[str] = ()
    """Names that `violated` may have. If you name none, those written in `violated=[…]` are taken."""
    should: Sequence[str] = ()
    """Names that `notes` may have; likewise."""
    signals: Sequence[str] = ()
    """What `record` is given for every tick; without it the values of `merge` at the end of each segment."""
    segment: float = 1.0
    """Simulated seconds of one segment."""
    tick: Optional[float] = None
    """Simulated seconds between two frames."""
    segments: int = 20
    """Segments until a run is over."""
    time_matters: bool = False
    """Whether equal states at different times may have different futures."""
    snapshot: Optional[str] = None
    constants: Sequence[str] = ()
    """Attributes that do not change after `reset` (a map, a table): copies share them, and saved bytes leave them out."""
    global_random: bool = False
    recording: bool = False
    """Whether the frames of this segment are wanted."""

    def reset(self, seed: int) -> None:
        """A run begins; a second argument `params` is given the start parameters if you write one."""
        raise NotImplementedError(f"{type(self).__name__} has no method `reset`")

    def run(self, error: Error) -> Segment:
        """Runs one segment under these errors."""
        raise NotImplementedError(f"{type(self).__name__} has no method `run`")

    def record(self, **values: float) -> None:
        """Keeps one frame of the signals, if they are wanted."""
        if self.recording:
            frames = self.__dict__.setdefault("_frames", [])
            frames.append([float(values[name]) for name in self.signals])


def modes_of(modes: Modes) -> tuple[list[str], list[Any]]:
    """Names and values of the choices of one site."""
    if isinstance(modes, Mapping):
        names, values = [str(name) for name in modes], list(modes.values())
    else:
        values = list(modes)
        names = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    if not values:
        raise ValueError("an error site needs at least the choice that means no error")
    names[0] = "none"
    return names, values


def requirements_of(world: World) -> tuple[list[str], list[str]]:
    """The names of `must` and `should`: those declared, else those that are written out in the class."""
    must, should = list(world.must), list(world.should)
    if must and should:
        return must, should
    written = _written(type(world))
    return must or written["violated"], should or written["notes"]


def _written(kind: type) -> dict[str, list[str]]:
    """The texts inside of `violated=` and `notes=` in the source of a class, in order."""
    found: dict[str, list[str]] = {"violated": [], "notes": []}
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError, SyntaxError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in found:
            texts = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            found[node.arg] += [text for text in texts if isinstance(text, str) and text not in found[node.arg]]
    return found
