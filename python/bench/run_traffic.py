"""Vehicle updates per CPU second of `anabranch run`, as its JSON tells them, beside SUMO and highway-env.

    python bench/run_traffic.py [--anabranch PROGRAM] [--scenarios FOLDER] [--cars 1000 10000 50000] [--peers 1000]

Runs from the folder `python`. Ours are the shipped scenarios `city-traffic` and `motorway-traffic` with `--set traffic.cars=N`, blocks,
lanes and density set as in `traffic.py`; one car in them is the car under test, with its sensors and its driver, and its cost is in
`cpu_s`. Peers need `pip install eclipse-sumo libsumo highway-env`; without `--peers` only ours are run. Each figure is a process of its
own, ours and theirs in turns, so that a machine with neighbours slows all of them alike.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

STEP_S = 0.1
REPEATS = 3
PEERS = Path(__file__).with_name("traffic.py")
LIKE_PEERS = {
    # Streets of about 180 m with two lanes each way and ten cars per junction; three lanes with 25 cars per kilometre of each.
    "city": ["--set", 'road.block="200 m"', "--set", "road.lanes=2", "--set", "traffic.per_km=6.9"],
    "motorway": [],
}


def ours(arguments: argparse.Namespace, kind: str, cars: int) -> tuple[float, float]:
    """Median of the rates and of the seconds of CPU time, of a few runs."""
    command = [
        arguments.anabranch, "run", str(arguments.scenarios / f"{kind}-traffic.toml"), "--format", "json",
        "--set", f"traffic.cars={cars}", *LIKE_PEERS[kind],
    ]  # fmt: skip
    rates, spent = [], []
    for _ in range(REPEATS):
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode > 1:
            raise SystemExit(f"`{' '.join(command)}` ended with {done.returncode}")
        told = json.loads(done.stdout)
        assert told["vehicle_updates"] > 0.8 * cars * told["simulated_s"] / STEP_S, told
        rates.append(told["vehicle_updates"] / told["cpu_s"])
        spent.append(told["cpu_s"])
    return statistics.median(rates), statistics.median(spent)


def peer(kind: str, cars: int) -> float:
    command = [sys.executable, str(PEERS), kind, str(cars), str(STEP_S)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(done.stdout.split()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anabranch", default="anabranch", help="the program")
    parser.add_argument("--scenarios", type=Path, default=Path("../scenarios"), help="folder of the shipped scenarios")
    parser.add_argument("--cars", type=int, nargs="+", default=[1_000, 10_000, 50_000])
    parser.add_argument("--peers", type=int, nargs="*", default=[], help="sizes at which SUMO is run as well")
    arguments = parser.parse_args()
    missed = False
    slowest = float("inf")
    for kind in LIKE_PEERS:
        rates = []
        for cars in arguments.cars:
            rate, spent_s = ours(arguments, kind, cars)
            rates.append(rate)
            line = f"{kind:<9} {cars:>6} cars: {rate:>10.0f} updates per CPU s ({spent_s:.2f} s)"
            if cars in arguments.peers:
                theirs = peer(kind, cars)
                missed |= rate < 10 * theirs
                line += f"; SUMO {theirs:.0f}: {rate / theirs:.1f} × (goal 10)"
            print(line, flush=True)
        slowest = min(slowest, *rates)
        flat = max(rates) / min(rates)
        missed |= flat > 2
        print(f"{kind:<9} cost per car, dearest over cheapest: {flat:.2f} (goal 2)", flush=True)
    if arguments.peers:
        theirs = peer("highway-env", 50)
        missed |= slowest < 100 * theirs
        print(f"highway-env, 50 cars: {theirs:.0f}; ours at its slowest {slowest / theirs:.0f} × (goal 100)")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
