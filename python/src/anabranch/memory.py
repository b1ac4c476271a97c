"""What an object remembers apart from the variables it names: its other attributes, each as a digest.

The host compares digests of different states. An attribute that takes different values is then named with the verdict,
because states that differ only there count as alike. The digest of a number is its bits as a float, so that the host sees
which attributes are reported variables under another name.
"""

from __future__ import annotations

import hashlib
import marshal
import struct
import time
import types
from typing import Any, Collection, Iterator, Optional

from .begin import Begin
from .canonical import NotPlain, _text, _Walker, slots_of

ATTRIBUTES_MAX = 64
"""The names of more attributes than these would make messages long: the others share one digest."""
CHANGED = "declared constant"
"""Begins the name under which a constant that has changed is sent."""
GENERATORS = "the state of the global generators"
_ALWAYS = 32
"""After so many looks at constants, one in _SELDOM is enough."""
_SELDOM = 64
_LARGE_S = 0.005
"""Constants that take longer to look at than this are looked at seldom from the start."""
_KNOWN_MAX = 64
"""Starts of which the constants are known; of others nothing is compared."""


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


def held(thing: Any) -> Iterator[tuple[str, Any]]:
    """Everything that the object itself holds: its attributes, slots too."""
    yield from vars(thing).items()
    yield from slots_of(thing)


def attributes(thing: Any, named: Collection[str]) -> dict[str, Optional[int]]:
    """Digests of all attributes but those that are `named` or declared constant.

    None is for an attribute whose content is not known.
    """
    others = [(name, value) for name, value in held(thing) if name not in named and name not in thing.constants]
    found = {name: _digest(value) for name, value in others[:ATTRIBUTES_MAX]}
    if len(others) > ATTRIBUTES_MAX:
        rest = [_digest([name, value]) for name, value in others[ATTRIBUTES_MAX:]]
        found[f"… and {len(rest)} more"] = None if None in rest else _digest(rest)
    return found


def chance(state: tuple[Any, Any]) -> int:
    """A digest of the states of the global generators of `random` and NumPy."""
    plain, arrays = state
    out = marshal.dumps(plain, 2)
    if arrays is not None:
        name, numbers, *rest = arrays
        out += marshal.dumps([name, numbers.tobytes(), *rest], 2)
    return _short(out)


class Constants:
    """Looks now and then whether attributes that were declared constant are what they were after `reset`."""

    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], dict[str, Optional[int]]] = {}
        self.looks = 0
        self.always = _ALWAYS

    def begun(self, thing: Any, begin: Begin) -> None:
        """A run begins: what `reset` has made is what stays."""
        start = _start(begin)
        if thing.constants and start not in self.known and len(self.known) < _KNOWN_MAX:
            began = time.perf_counter()
            self.known[start] = _constants(thing)
            if time.perf_counter() - began > _LARGE_S:
                self.always = 1

    def changed(self, thing: Any, begin: Begin) -> dict[str, Optional[int]]:
        """Constants that have changed, as attributes for the host."""
        if not thing.constants:
            return {}
        self.looks += 1
        before = self.known.get(_start(begin))
        if before is None or self.looks > self.always and self.looks % _SELDOM:
            return {}
        now = _constants(thing)
        names = [name for name in before | now if before.get(name) != now.get(name)]
        return {f"{CHANGED} `{name}`": None for name in names}


def _start(begin: Begin) -> tuple[Any, ...]:
    return (begin.seed, *begin.params)


def _constants(thing: Any) -> dict[str, Optional[int]]:
    return {name: _digest(getattr(thing, name)) for name in thing.constants if hasattr(thing, name)}


def _digest(value: Any) -> Optional[int]:
    if isinstance(value, (int, float)):
        number = _bits(value)
        if number is not None:
            return number
    out = bytearray()
    try:
        _Loose(out).walk(value, 0)
    except (NotPlain, RecursionError):
        return None
    return _short(out)


def _bits(value: float) -> Optional[int]:
    """The bits of a number as a float, or nothing where a float cannot hold it. Zero has one sign."""
    try:
        number = float(value) + 0.0
    except OverflowError:
        return None
    if isinstance(value, int) and int(number) != value:
        return None
    return int.from_bytes(struct.pack(">d", number), "big")


def _short(out: Any) -> int:
    return int.from_bytes(hashlib.blake2b(out, digest_size=8).digest(), "big")
