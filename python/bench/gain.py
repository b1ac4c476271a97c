"""What saved states gain when the driver is Python: `python bench/gain.py PATH/TO/anabranch`.

Explores the narrow passage with `examples/follow_law.py` by deep copy, by fork, and by running every path again from its
start (`replay`). The gain is the ratio of the times; at best it is the mean depth of a segment. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SCENARIO = Path(__file__).parent.parent.parent / "examples" / "follow-law.toml"
UNTIL = "4 s"
GOALS = {"copy": 0.7, "fork": 0.3}


def explored(program: str, way: str) -> Any:
    """The machine output of one exploration."""
    path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    environment = {**os.environ, "ANABRANCH_SNAPSHOT": way, "PATH": path}
    words = [program, "explore", str(SCENARIO), "--until", UNTIL, "--format", "json", "--rollouts", "0"]
    with tempfile.TemporaryDirectory() as folder:
        told = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, timeout=1800)
    if told.returncode not in (0, 1):
        sys.exit(f"`{' '.join(words)}` ended with {told.returncode}: {told.stderr[-2000:]}")
    return json.loads(told.stdout)


def main() -> None:
    program = os.path.abspath(sys.argv[1])
    again = explored(program, "replay")
    depth = again["seconds_without_saved_states"] / again["seconds_simulated"]
    print(f"  mean depth of a segment: {depth:.2f}; every path from its start took {again['explored_wall_s']:.1f} s", flush=True)
    missed = False
    for way, goal in GOALS.items():
        result = explored(program, way)
        if result["digest"] != again["digest"]:
            sys.exit(f"{way} explored another graph than replay")
        ratio = again["explored_wall_s"] / result["explored_wall_s"] / depth
        mark = "" if ratio >= goal else "  MISSED"
        missed |= bool(mark)
        name = f"gain by {way} over running again, in mean depths"
        print(f"  {name:<72} {ratio:>11.3f}  goal >= {goal}{mark}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
