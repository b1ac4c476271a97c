"""Canonical bytes of plain data: equal bytes, equal future.

Walks over numbers, texts, containers, NumPy arrays and generators, and objects of ordinary Python classes. Containers that
are shared are written once and referred to afterwards, since a change through one name is seen through the other. Whatever
cannot be told completely (a C object, an open file, a lambda) raises `NotPlain`.
"""

from __future__ import annotations

import collections
import enum
import hashlib
import random
import struct
import sys
import types
from typing import Any, Callable, Iterator, Optional

from .seen import View

BYTES_MAX = 1024
"""Longer forms are sent as their hash: 256 bits are as good for comparing, and cheaper to carry."""
_DEPTH_MAX = 200


class NotPlain(Exception):
    """The value has parts whose content cannot be told."""


def canonical(value: Any) -> bytes:
    """The canonical bytes of a value, or `NotPlain`."""
    out = bytearray()
    _Walker(out).walk(value, 0)
    return bytes(out) if len(out) <= BYTES_MAX else hashlib.blake2b(out, digest_size=32).digest()


def canonical_or_none(value: Any) -> Optional[bytes]:
    """The canonical bytes, or nothing where they cannot be told."""
    try:
        return canonical(value)
    except NotPlain:
        return None


class _Walker:
    def __init__(self, out: bytearray) -> None:
        self.out = out
        self.numbers: dict[int, int] = {}
        # What was visited stays alive, or another object could get its address.
        self.visited: list[Any] = []

    def walk(self, value: Any, depth: int) -> None:
        if depth > _DEPTH_MAX:
            raise NotPlain("nested too deeply")
        write = _LEAVES.get(type(value))
        if write is not None:
            self.out += write(value)
            return
        number = self.numbers.get(id(value))
        if number is not None:
            self.out += b"@" + number.to_bytes(4, "big")
            return
        self.numbers[id(value)] = len(self.numbers)
        self.visited.append(value)
        self.container(value, depth + 1)

    def sized(self, tag: bytes, count: int) -> None:
        self.out += tag + count.to_bytes(8, "big")

    def container(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind in (list, tuple, collections.deque):
            self.sized(b"l" if kind is list else b"t" if kind is tuple else b"q", len(value))
            if kind is collections.deque:
                self.walk(value.maxlen, depth)
            for entry in value:
                self.walk(entry, depth)
        elif kind in (dict, collections.OrderedDict):
            # In its order, which code can see.
            self.sized(b"d", len(value))
            for name, entry in value.items():
                self.walk(name, depth)
                self.walk(entry, depth)
        elif kind in (set, frozenset):
            self.sized(b"s", len(value))
            for form in sorted(canonical(entry) for entry in value):
                self.sized(b"e", len(form))
                self.out += form
        elif isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type, types.ModuleType)):
            self.named(value)
        elif isinstance(value, enum.Enum):
            self.out += _text(f"{kind.__module__}.{kind.__qualname__}.{value.name}")
        elif isinstance(value, random.Random) and kind is random.Random:
            self.walk(value.getstate(), depth)
        elif not self.array(value, depth):
            self.instance(value, depth)

    def named(self, value: Any) -> None:
        """A function, class or module is its name, if the name leads back to it."""
        if isinstance(value, types.ModuleType):
            self.out += _text(value.__name__)
            return
        module, name = value.__module__, value.__qualname__
        found: Any = sys.modules.get(module or "")
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not value:
            raise NotPlain(f"the function `{name}` has no name of its own")
        self.out += _text(f"{module}.{name}")

    def array(self, value: Any, depth: int) -> bool:
        """NumPy's arrays, scalars and generators; False if it is something else."""
        numpy: Any = sys.modules.get("numpy")
        if numpy is None:
            return False
        if isinstance(value, (numpy.ndarray, numpy.generic)):
            if value.dtype.hasobject or type(value).__module__ != "numpy":
                raise NotPlain(f"an array of {value.dtype}")
            self.out += _text(value.dtype.str + str(value.shape))
            self.out += value.tobytes()
            return True
        if isinstance(value, numpy.random.Generator):
            self.walk(value.bit_generator.state, depth)
            return True
        if isinstance(value, numpy.random.RandomState):
            self.walk(value.get_state(legacy=False), depth)
            return True
        if isinstance(value, numpy.dtype):
            self.out += _text(str(value))
            return True
        return False

    def instance(self, value: Any, depth: int) -> None:
        """An object of an ordinary class: its attributes, slots too."""
        kind = type(value)
        for base in kind.__mro__[:-1]:
            if not base.__flags__ & 1 << 9 or base.__module__ == "builtins":
                raise NotPlain(f"an object of {base.__module__}.{base.__qualname__}")
        self.out += _text(f"{kind.__module__}.{kind.__qualname__}")
        if isinstance(value, View):
            self.walk(value.as_dict(), depth)
            return
        self.walk({**getattr(value, "__dict__", {}), **dict(slots_of(value))}, depth)


def slots_of(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object that are in slots, of all of its classes."""
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            # A private one has the name of its class in front.
            private = slot.startswith("__") and not slot.endswith("__")
            name = f"_{base.__name__.lstrip('_')}{slot}" if private else slot
            if slot not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, getattr(value, name)


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return b"u" + len(data).to_bytes(8, "big") + data


def _whole(value: int) -> bytes:
    data = value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)
    return b"i" + len(data).to_bytes(4, "big") + data


def _bytes(value: bytes) -> bytes:
    return b"b" + len(value).to_bytes(8, "big") + value


_LEAVES: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"n",
    bool: lambda value: b"T" if value else b"F",
    int: _whole,
    float: lambda value: b"f" + struct.pack(">d", value),
    complex: lambda value: b"c" + struct.pack(">dd", value.real, value.imag),
    str: _text,
    bytes: _bytes,
}
