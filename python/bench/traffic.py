"""Vehicle updates per CPU second of SUMO and highway-env, beside which `cargo xtask bench traffic` puts ours.

`python bench/traffic.py city|motorway|highway-env CARS STEP_S` prints one number. Needs `pip install eclipse-sumo libsumo
highway-env`. Networks have the shape and the density of those in the bench: blocks of 200 m with two lanes each way and lights,
ten cars per junction; three lanes with 25 cars per kilometre of lane. Only the steps of a warm simulation are timed.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path

INSERT_S = 30.0
WARM_S = 40.0
UPDATES = 200_000
HOPS = 40


def tool(name: str, *arguments: str) -> None:
    import sumo

    binary = Path(sumo.__file__).parent / "bin" / name
    subprocess.run([str(binary), *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def city(folder: Path, cars: int) -> tuple[Path, Path]:
    net, routes = folder / "net.xml", folder / "routes.xml"
    side = max(3, math.ceil(math.sqrt(cars / 10)))
    tool(
        "netgenerate", "--grid", "--grid.number", str(side), "--grid.length", "200", "-L", "2",
        "--default-junction-type", "traffic_light", "-o", str(net),
    )  # fmt: skip
    ends = {}
    for _, element in ET.iterparse(str(net)):
        if element.tag == "edge" and element.get("function") is None:
            ends[element.get("id")] = (element.get("from"), element.get("to"))
    out: dict[str, list[str]] = {}
    for name, (start, _) in ends.items():
        out.setdefault(start, []).append(name)
    draw, names = random.Random(1), list(ends)
    with routes.open("w") as file:
        file.write("<routes>\n")
        for number in range(cars):
            walk = [draw.choice(names)]
            while len(walk) < HOPS:
                start, end = ends[walk[-1]]
                walk.append(draw.choice([name for name in out[end] if ends[name][1] != start]))
            vehicle(file, number, cars, " ".join(walk))
        file.write("</routes>\n")
    return net, routes


def motorway(folder: Path, cars: int) -> tuple[Path, Path]:
    net, routes = folder / "net.xml", folder / "routes.xml"
    length = cars / 75 * 1000
    nodes = "".join(f'<node id="n{i}" x="{x}" y="0"/>' for i, x in enumerate((0, length, length + 20_000)))
    edges = "".join(
        f'<edge id="e{i}" from="n{i}" to="n{i + 1}" numLanes="3" speed="33"/>' for i in range(2)
    )
    (folder / "n.nod.xml").write_text(f"<nodes>{nodes}</nodes>")
    (folder / "e.edg.xml").write_text(f"<edges>{edges}</edges>")
    tool("netconvert", "-n", str(folder / "n.nod.xml"), "-e", str(folder / "e.edg.xml"), "-o", str(net))
    with routes.open("w") as file:
        file.write("<routes>\n")
        for number in range(cars):
            vehicle(file, number, cars, "e0 e1")
        file.write("</routes>\n")
    return net, routes


def vehicle(file, number: int, cars: int, edges: str) -> None:
    depart = number * INSERT_S / cars
    file.write(
        f'<vehicle id="{number}" depart="{depart:.2f}" departLane="best" departSpeed="max" departPos="random_free">'
        f'<route edges="{edges}"/></vehicle>\n'
    )


def sumo_rate(kind: str, cars: int, step_s: float) -> tuple[float, float]:
    import libsumo

    with tempfile.TemporaryDirectory() as folder:
        net, routes = (city if kind == "city" else motorway)(Path(folder), cars)
        libsumo.start(
            ["sumo", "-n", str(net), "-r", str(routes), "--no-step-log", "true", "--no-warnings", "true",
             "--time-to-teleport", "-1", "--step-length", str(step_s)]
        )  # fmt: skip
        while libsumo.simulation.getTime() < WARM_S:
            libsumo.simulationStep()
        updates, steps, start = 0, 0, time.process_time()
        while updates < UPDATES and steps < 400:
            libsumo.simulationStep()
            updates += libsumo.vehicle.getIDCount()
            steps += 1
        spent = time.process_time() - start
        libsumo.close()
    return updates / spent, updates / steps


def highway_env_rate(cars: int) -> tuple[float, float]:
    import gymnasium
    import highway_env  # noqa: F401

    env = gymnasium.make("highway-v0", config={"vehicles_count": cars, "duration": 10**6})
    env.reset(seed=1)
    config = env.unwrapped.config
    substeps = config["simulation_frequency"] // config["policy_frequency"]
    vehicles = len(env.unwrapped.road.vehicles)
    start, steps = time.process_time(), 0
    while time.process_time() - start < 3.0:
        env.step(1)
        env.unwrapped.vehicle.crashed = False
        steps += 1
    return steps * substeps * vehicles / (time.process_time() - start), vehicles


def main() -> None:
    kind, cars, step_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    rate, running = highway_env_rate(cars) if kind == "highway-env" else sumo_rate(kind, cars, step_s)
    print(f"{kind}: {running:.0f} vehicles on average", file=sys.stderr)
    print(rate)


if __name__ == "__main__":
    main()
