"""What an object remembers apart from the variables it names: its other attributes, each as a digest.

The host compares digests of different states. An attribute that takes different values is then named with the verdict,
because states that differ only there count as alike.
"""

from __future__ import annotations

import hashlib
import types
from typing import Any, Collection, Optional

from .canonical import NotPlain, _text, _Walker
from .driver import Driver
from .world import World

ATTRIBUTES_MAX = 64
"""More attributes than these are not looked at."""
_SETTINGS = {name for kind in (World, Driver) for name in vars(kind)} | {"_frames"}


class _Loose(_Walker):
    """Functions count by their name and by what they remember, lambdas too: their digest is for comparing only."""

    def named(self, value: Any) -> None:
        self.out += _text(f"{value.__name__}")
        if isinstance(value, types.FunctionType):
            cells = [cell for cell in value.__closure__ or () if not _is_empty(cell)]
            self.walk([cell.cell_contents for cell in cells], 1)
            self.walk([value.__defaults__, value.__kwdefaults__, vars(value)], 1)


def _is_empty(cell: types.CellType) -> bool:
    """Whether the variable of an enclosing function has no value yet."""
    try:
        cell.cell_contents
    except ValueError:
        return True
    return False


def attributes(thing: Any, named: Collection[str], reported: Collection[float]) -> dict[str, Optional[int]]:
    """Digests of all attributes but those that are `named`, constants, or equal to a reported number.

    None stands for an attribute whose content cannot be told.
    """
    found: dict[str, Optional[int]] = {}
    for name, value in vars(thing).items():
        if name in named or name in _SETTINGS or name in thing.constants or len(found) == ATTRIBUTES_MAX:
            continue
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value in reported:
            # A variable under another name.
            continue
        found[name] = _digest(value)
    return found


def _digest(value: Any) -> Optional[int]:
    out = bytearray()
    try:
        _Loose(out).walk(value, 0)
    except (NotPlain, RecursionError):
        return None
    return int.from_bytes(hashlib.blake2b(out, digest_size=8).digest(), "big")
