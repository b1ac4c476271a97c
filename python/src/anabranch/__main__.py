"""`python -m anabranch av.py [ClassName]` serves the driver, world or optimiser of a file."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from typing import Any, Optional

from .driver import Driver
from .optimiser import Optimiser
from .server import serve
from .world import World

USAGE = 2
KINDS = (Driver, World, Optimiser)


def load(file: str) -> dict[str, Any]:
    """The names of a file, run as a module: a `serve` at its end is for those who start it directly."""
    spec = importlib.util.spec_from_file_location("anabranch_file", file)
    if spec is None or spec.loader is None or not os.path.isfile(file):
        raise FileNotFoundError(f"there is no Python file {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return vars(module)


def find(names: dict[str, Any], wanted: Optional[str], file: str) -> Any:
    """The one driver or world that the file defines, or the one that is named."""
    found = {
        name: value
        for name, value in names.items()
        if isinstance(value, type) and issubclass(value, KINDS) and value.__module__ == names["__name__"]
    }
    # An instance or a factory's result at the top of the file counts too: `world = anabranch.gym.world(...)`.
    made = {name: value for name, value in names.items() if isinstance(value, KINDS)}
    choice = {**found, **made} if wanted is not None else (made or found)
    if wanted is not None:
        if wanted not in choice:
            raise LookupError(f"{file} has no driver or world `{wanted}`; it has {', '.join(choice) or 'none'}")
        return choice[wanted]
    # A base class of another one in the file is not meant.
    leaves = {n: v for n, v in choice.items() if not _has_heir(v, choice)}
    if len(leaves) != 1:
        said = "no class that derives from anabranch.Driver, anabranch.World or anabranch.Optimiser"
        if leaves:
            said = f"several drivers or worlds ({', '.join(leaves)}); name one after the file"
        raise LookupError(f"{file} has {said}")
    return next(iter(leaves.values()))


def _has_heir(value: Any, others: dict[str, Any]) -> bool:
    return isinstance(value, type) and any(
        isinstance(other, type) and other is not value and issubclass(other, value) for other in others.values()
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m anabranch", description=__doc__)
    parser.add_argument("file", help="a Python file with a driver or a world")
    parser.add_argument("name", nargs="?", help="which one, if there are several")
    parser.add_argument("--bind", metavar="ENDPOINT", help="wait here, such as tcp://127.0.0.1:5555")
    parser.add_argument("--snapshot", choices=("own", "copy", "fork", "replay"), help="how states are kept")
    parser.add_argument("--allow-remote", action="store_true", help="let other machines connect")
    given = parser.parse_args()
    folder = os.path.dirname(os.path.abspath(given.file))
    sys.path.insert(0, folder)
    sys.argv = [given.file]
    try:
        thing = find(load(given.file), given.name, os.path.basename(given.file))
    except (LookupError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        sys.exit(USAGE)
    try:
        serve(thing, given.bind, snapshot=given.snapshot, allow_remote=given.allow_remote)
    except ValueError as error:
        print(error, file=sys.stderr)
        sys.exit(USAGE)


if __name__ == "__main__":
    main()
