"""What saved states gain when the driver is Python: `python bench/gain.py PATH/TO/anabranch`.

Explores the narrow passage by deep copy, by fork, and by running every path again from its start (`replay`). The gain is the
ratio of the CPU times of everything that takes part; at best it is the mean depth of a segment. A fork costs milliseconds
whatever the code does, so it is measured twice: with `examples/follow_law.py`, whose step takes some hundredths of a
millisecond, for orientation, and with `planner.py`, whose step takes some tenths. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
SCENARIO = EXAMPLES / "follow-law.toml"
LAW, PLANNER = EXAMPLES / "follow_law.py", HERE / "planner.py"
Goals = list[tuple[str, Optional[float]]]
GOALS: list[tuple[Path, str, Goals]] = [
    (LAW, "5 s", [("copy", 0.7), ("fork", None)]),
    (PLANNER, "4 s", [("copy", None), ("fork", 0.3)]),
]


def explored(program: str, driver: Path, until: str, way: str) -> tuple[Any, float]:
    """The machine output of one exploration, and the CPU seconds of all processes that took part."""
    path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    environment = {**os.environ, "ANABRANCH_SNAPSHOT": way, "PATH": path}
    words = [program, "explore", str(SCENARIO), "--driver", str(driver), "--until", until]
    words += ["--format", "json", "--rollouts", "0", "--no-pictures"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        told = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, timeout=1800)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if told.returncode not in (0, 1):
        sys.exit(f"`{' '.join(words)}` ended with {told.returncode}: {told.stderr[-2000:]}")
    return json.loads(told.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def gains(program: str, driver: Path, until: str, ways: Goals) -> bool:
    """Prints the gains of one driver; true if a goal is missed."""
    again, again_s = explored(program, driver, until, "replay")
    depth = again["seconds_without_saved_states"] / again["seconds_simulated"]
    step_us = 1e6 * again["driver"]["mean_s"]
    print(f"  {driver.name}: a step takes {step_us:.0f} us; mean depth of a segment {depth:.2f}", flush=True)
    missed = False
    for way, goal in ways:
        result, spent_s = explored(program, driver, until, way)
        if result["digest"] != again["digest"]:
            sys.exit(f"{way} explored another graph than replay")
        ratio = again_s / spent_s / depth
        fails = goal is not None and ratio < goal
        missed |= fails
        name = f"gain by {way} over running again, in mean depths"
        words = "" if goal is None else f"goal >= {goal}{'  MISSED' if fails else ''}"
        print(f"  {name:<72} {ratio:>11.3f}  {words}", flush=True)
    return missed


def main() -> None:
    program = os.path.abspath(sys.argv[1])
    sys.exit(1 if any([gains(program, *goal) for goal in GOALS]) else 0)


if __name__ == "__main__":
    main()
