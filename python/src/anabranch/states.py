"""Ways to keep saved states inside one process: the code's own, deep copies, or none."""

from __future__ import annotations

import copy
import random
import sys
from typing import Any, Callable, Optional

from .begin import Begin
from .canonical import canonical_or_none
from .driver import Driver
from .memory import held
from .world import World


def seed_globals(seed: int) -> None:
    """Code that draws from the global generators draws the same in every run of this seed."""
    random.seed(seed)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


def begin_run(thing: Any, begin: Begin) -> None:
    """Seeds and resets."""
    seed_globals(begin.seed)
    if isinstance(thing, World):
        arguments = thing.reset.__code__.co_argcount if hasattr(thing.reset, "__code__") else 2
        if arguments > 2:
            thing.reset(begin.seed, begin.params)  # type: ignore[call-arg]
        else:
            thing.reset(begin.seed)
    else:
        thing.reset(begin)


class States:
    """How a thing is multiplied. The base can only begin again: support *replay*."""

    snapshot = "none"
    support = "replay"

    def __init__(self, template: Any, make: Optional[Callable[[], Any]]) -> None:
        self.template = template
        self.make = make
        self.tells_bytes = False

    def fresh(self) -> Any:
        """One more thing, as it was before any run."""
        if self.make is not None:
            return self.make()
        try:
            return copy.deepcopy(self.template)
        except Exception:
            return type(self.template)()

    def save(self, thing: Any, begin: Begin) -> Any:
        """What stays when a branch becomes a saved state."""
        raise NotImplementedError("this driver or world cannot be saved: it was told to use `replay`")

    def load(self, saved: Any) -> tuple[Any, Begin]:
        """A new branch from a saved state."""
        raise NotImplementedError("this driver or world cannot be loaded: it was told to use `replay`")

    def bytes_of(self, saved: Any) -> Optional[bytes]:
        """Canonical bytes of a saved state, where they can be told."""
        return None


class CopyStates(States):
    """A saved state is the object itself; loading makes a deep copy of it."""

    snapshot = "copy"
    support = "save"

    def save(self, thing: Any, begin: Begin) -> Any:
        return thing, begin

    def load(self, saved: Any) -> tuple[Any, Begin]:
        thing, begin = saved
        shared = [getattr(thing, name) for name in thing.constants if hasattr(thing, name)]
        return copy.deepcopy(thing, {id(value): value for value in shared}), begin

    def bytes_of(self, saved: Any) -> Optional[bytes]:
        thing = saved[0]
        return canonical_or_none({name: value for name, value in held(thing) if name not in thing.constants})


class OwnStates(States):
    """The code's own `save` and `load`. What `reset` prepares need not be in there: a loaded branch is reset first."""

    snapshot = "own"
    support = "save"

    def save(self, thing: Any, begin: Begin) -> Any:
        return thing.save(), begin

    def load(self, saved: Any) -> tuple[Any, Begin]:
        data, begin = saved
        thing = self.fresh()
        begin_run(thing, begin)
        # The code may change what it is given; the saved state must stay as it is.
        thing.load(data if isinstance(data, bytes) else copy.deepcopy(data))
        return thing, begin

    def bytes_of(self, saved: Any) -> Optional[bytes]:
        return saved[0] if isinstance(saved[0], bytes) else canonical_or_none(saved[0])


def asks_bytes(thing: Any) -> bool:
    """Merging asks for the bytes only where a driver names no variables, and never for a world."""
    return isinstance(thing, Driver) and thing.key is None and not thing.memoryless


def has_own(thing: Any) -> bool:
    """Whether the code brings `save` and `load`."""
    return callable(getattr(thing, "save", None)) and callable(getattr(thing, "load", None))
