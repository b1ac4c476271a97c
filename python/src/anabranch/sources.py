"""One digest over the user's own files that this process has imported."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig

# Folders of installed packages, wherever an environment keeps them.
_INSTALLED = ("site-packages", "dist-packages")


def digest() -> str:
    """A digest over every imported file that belongs to neither Python, an installed package, nor this kit.

    It covers names of modules and bytes of files, and no folder: a project that was moved has the same digest.
    """
    total = hashlib.sha256()
    for name, file in sorted(_own_files().items()):
        try:
            with open(file, "rb") as source:
                content = source.read()
        except OSError:
            # It was imported from an archive, or it is gone: only its name counts.
            content = b""
        total.update(f"{name}\0{len(content)}\0".encode(errors="surrogatepass"))
        total.update(content)
    return total.hexdigest()[:32]


def _own_files() -> dict[str, str]:
    """The files of the user's modules, by the names of the modules."""
    foreign = _foreign_folders()
    found = {}
    for name, module in list(sys.modules.items()):
        try:
            file = module.__file__
        except Exception:
            # Some modules compute their attributes, or are not modules.
            continue
        if isinstance(file, str) and not _is_foreign(os.path.realpath(file), foreign):
            found[name] = file
    return found


def _foreign_folders() -> tuple[str, ...]:
    named = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    folders = [os.path.dirname(__file__), *(folder for folder in named if folder)]
    return tuple(os.path.realpath(folder) + os.sep for folder in folders)


def _is_foreign(file: str, folders: tuple[str, ...]) -> bool:
    return file.startswith(folders) or any(part in _INSTALLED for part in file.split(os.sep))
