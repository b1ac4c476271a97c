"""The kit is a package that pip installs from its folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path


def test_pip_installs_the_kit_from_its_folder(tmp_path: Path) -> None:
    source = Path(__file__).parent.parent
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "tests", "bench")
    shutil.copytree(source, tmp_path / "kit", ignore=skip)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(tmp_path / "there"), str(tmp_path / "kit")], check=True, timeout=120)
    assert (tmp_path / "there" / "anabranch" / "py.typed").exists()
    code = "import anabranch; print(anabranch.__file__)"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tmp_path / "there")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert str(tmp_path) in told.stdout
