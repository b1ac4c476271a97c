"""The kit as the host sees it: over the link, with a client that is written from the protocol page alone."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq

from anabranch import Segment, World
from anabranch.memory import ATTRIBUTES_MAX, attributes
from anabranch.rows import seen_of
from hosts import SEEN, Host, alive, as_row, family, memory_kib, seen

WAYS = ("copy", "fork", "replay")


def decision(answer: Any) -> tuple[float, float, bool]:
    return answer["steer"], answer["accel"], answer["completed"]


def test_the_card_tells_role_key_and_how_states_are_kept() -> None:
    with Host("memory.py") as host:
        card = host.card()
        assert (card["role"], card["support"], card["snapshot"], card["saves_bytes"]) == ("driver", "save", "copy", True)
        assert card["name"] == "Memory" and card["key"] == [] and card["cycle_s"] is None
    with Host("own.py") as host:
        assert (host.card()["snapshot"], host.card()["saves_bytes"]) == ("own", True)
    with Host("hidden.py") as host:
        card = host.card()
        assert (card["support"], card["snapshot"], card["saves_bytes"]) == ("save", "fork", False)
        assert card["key"] == [{"name": "count", "unit": "", "cell": None}]
    with Host("memory.py", ANABRANCH_SNAPSHOT="replay") as host:
        assert (host.card()["support"], host.card()["snapshot"]) == ("replay", "none")


def test_an_instance_that_anabranch_starts_loads_no_library_for_waiting() -> None:
    code = "import sys, anabranch; sys.exit('zmq' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def walk(host: Host, laterals: list[float], branch: int = 0) -> list[Any]:
    host.ask("reset", branch=branch, begin={"seed": 5})
    return [decision(host.step(branch, lateral, tick)) for tick, lateral in enumerate(laterals)]


def test_a_state_goes_on_alike_however_it_was_kept() -> None:
    random.seed(4)
    trunk = [random.uniform(-1, 1) for _ in range(4)]
    tails = [[random.uniform(-1, 1) for _ in range(4)] for _ in range(5)]
    with Host("memory.py", ANABRANCH_SNAPSHOT="replay") as host:
        truth = [walk(host, trunk + tail)[len(trunk) :] for tail in tails]
    cases = [("memory.py", way) for way in ("copy", "fork")]
    for file, way in [*cases, ("own.py", "own"), ("own.py", "copy"), ("hidden.py", "fork")]:
        with Host(str(file), ANABRANCH_SNAPSHOT=way) as host:
            assert host.card()["snapshot"] == way
            walk(host, trunk)
            host.ask("save", branch=0, token=3)
            loads = [{"load": {"token": 3, "branch": branch}} for branch in range(len(tails))]
            assert host.exchange(*loads) == [{"done": {}}] * len(tails)
            told: list[list[Any]] = [[] for _ in tails]
            for at in range(len(tails[0])):
                tick = len(trunk) + at
                ops = [{"step": {"branch": b, "seen": seen(tail[at], tick)}} for b, tail in enumerate(tails)]
                for branch, answer in enumerate(host.exchange(*ops)):
                    told[branch].append(decision(answer["decision"]))
            assert told == truth, (file, way)
            # The saved state is still what it was, and a dropped one is gone.
            host.ask("load", token=3, branch=9)
            assert decision(host.step(9, tails[0][0], len(trunk))) == truth[0][0]
            host.ask("drop", tokens=[3, 77])
            assert "no token 3" in host.ask("load", token=3, branch=9)["failed"]["text"]


def test_saved_bytes_are_equal_exactly_when_the_memory_is() -> None:
    for file in ("memory.py", "own.py"):
        with Host(file) as host:
            saved = []
            for token, laterals in enumerate([[0.25, 0.5], [0.5, 0.25], [0.25, 0.5, 0.0]]):
                walk(host, laterals)
                saved.append(host.ask("save", branch=0, token=token)["bytes"])
            assert saved[0] == saved[1] and saved[0] != saved[2], file


def test_a_memory_that_cannot_be_told_any_more_has_no_bytes() -> None:
    with Host("opaque.py") as host:
        assert host.ask("describe")["saves_bytes"]
        walk(host, [0.0])
        assert "bytes" in host.ask("save", branch=0, token=1)
        walk(host, [0.0, 0.0])
        assert "bytes" not in host.ask("save", branch=0, token=2)


@pytest.mark.parametrize("way", ("copy", "fork"))
def test_each_branch_draws_its_own_chances(way: str) -> None:
    with Host("chance.py", ANABRANCH_SNAPSHOT=way) as host:
        first = walk(host, [0.0] * 4)
        assert walk(host, [0.0] * 4) == first and len(set(first)) == 4
        walk(host, [0.0] * 2)
        host.ask("save", branch=0, token=1)
        host.ask("load", token=1, branch=1)
        walk(host, [0.0] * 3, branch=2)
        assert [decision(host.step(1)), decision(host.step(1))] == first[2:]


def test_what_the_driver_does_wrong_is_told_and_the_rest_is_done() -> None:
    with Host("rude.py") as host:
        host.ask("reset", branch=0, begin={})

        def tick(number: int) -> Any:
            return host.step(0, tick=number)

        text = tick(100)["failed"]["text"]
        assert text.startswith("IndexError: list index out of range\n  at rude.py:") and "in tick_100" in text
        assert math.isnan(tick(101)["steer"]) and tick(101)["accel"] == math.inf
        assert "`step` returned NoneType" in tick(102)["failed"]["text"]
        assert "failed" in tick(103) and "gear is 3" in tick(104)["failed"]["text"]
        assert tick(109)["steer"] == 0.1 and tick(110)["completed"] is True
        assert tick(111)["trajectory"][0] == {"time_s": 1, "x_m": 2, "y_m": 3, "heading_rad": 0.1, "speed_mps": 1}
        assert "enough" in tick(112)["failed"]["text"]
        assert "half a character: \\ud800" in tick(113)["failed"]["text"]
        assert "failed" in tick(105)
        host.ask("reset", branch=0, begin={})
        answers = host.exchange(*[{"step": {"branch": 0, "seen": seen(tick=t)}} for t in (1, 100, 1)])
        assert [list(answer)[0] for answer in answers] == ["decision", "failed", "decision"]
        assert host.end() == "x" * 1000 + "\nto the other one\n"


def test_a_crash_costs_a_forked_driver_one_branch() -> None:
    with Host("rude.py", ANABRANCH_SNAPSHOT="fork") as host:
        host.ask("reset", branch=0, begin={})
        host.ask("save", branch=0, token=1)
        for crash in (106, 107):
            host.exchange({"load": {"token": 1, "branch": 0}}, {"load": {"token": 1, "branch": 1}})
            ops = [{"step": {"branch": 0, "seen": seen(tick=crash)}}, {"step": {"branch": 1, "seen": seen()}}]
            first, second = host.exchange(*ops)
            assert first["failed"]["text"].startswith("crash: ") and "a crash, or an exit" in first["failed"]["text"]
            assert second["decision"]["key"] == [1.0]
            assert "no branch 0" in host.step(0)["failed"]["text"]


def test_a_world_runs_segments_under_errors() -> None:
    for way in WAYS:
        with Host("toy.py", ANABRANCH_SNAPSHOT=way) as host:
            card = host.card()["world"]
            assert card["sites"] == [
                {"name": "push", "modes": ["none", "-0.1", "0.1"]},
                {"name": "wind", "modes": ["none", "gust"]},
            ]
            assert card["merge"] == [{"name": "x", "unit": "m", "cell": 0.1}, {"name": "v", "unit": "", "cell": 0.05}]
            assert card["requirements"] == ["wall", "near"] and card["segments_max"] == 5
            host.ask("reset", branch=4, begin={"seed": 1})
            first = host.ask("run", branch=4, modes=[2, 1], record=True)
            assert first["values"] == [1.4000000000000001, 1.1] and first["frames"] == [first["values"]]
            last = host.ask("run", branch=4, modes=[2, 1], record=False)
            assert (last["violated"], last["notes"], last["frames"]) == ([], ["near"], [])
            assert "2 modes" not in str(last) and "error sites" in host.ask("run", branch=4, modes=[1])["failed"]["text"]
            assert host.ask("run", branch=4, modes=[0, 0])["violated"] == ["wall"]


def test_what_a_world_remembers_besides_is_reported_by_name(tmp_path: Path) -> None:
    file = tmp_path / "counting.py"
    file.write_text(
        "import anabranch\n"
        "class Counting(anabranch.World):\n"
        "    errors = {'push': [0.0, 1.0]}\n"
        "    merge = {'x': 0.1}\n"
        "    constants = ['table']\n"
        "    def reset(self, seed):\n"
        "        self.place, self.pushes, self.table, self.law = 0.5, 0, [1, 2], lambda x: x\n"
        "    def run(self, error):\n"
        "        self.place += error.push\n"
        "        self.pushes += error.push > 0\n"
        "        return anabranch.Segment(x=self.place)\n"
    )
    for way in WAYS:
        with Host(str(file), ANABRANCH_SNAPSHOT=way) as host:
            host.ask("reset", branch=0, begin={"seed": 1})
            runs = [host.ask("run", branch=0, modes=[mode])["attributes"] for mode in (0, 1, 0)]
            # `place` is the reported value under another name, which the host sees, and `table` is constant.
            assert all(set(run) == {"place", "pushes", "law"} for run in runs), runs
            assert runs[0]["law"] == runs[1]["law"] and runs[0]["pushes"] != runs[1]["pushes"] == runs[2]["pushes"]


def test_blobs_beside_a_message_reach_the_driver(tmp_path: Path) -> None:
    lines = ["import anabranch", "class Blob(anabranch.Driver):", "    def step(self, seen):"]
    (tmp_path / "blob.py").write_text("\n".join([*lines, "        return (float(len(seen.blobs[1])), 0.0)\n"]))
    with Host("blob.py", folder=tmp_path) as host:
        host.ask("reset", branch=0, begin={})
        body = msgpack.packb({"anabranch": 1, "seq": 9, "ops": [{"step": {"branch": 0, "seen": SEEN}}]})
        reply = host.raw(body, b"a", b"x" * 300_000)
        assert reply["answers"][0]["decision"]["steer"] == 300_000.0
        assert host.step(0)["failed"]["text"].startswith("IndexError")


@pytest.mark.parametrize("snapshot", ["copy", "fork"])
def test_the_cells_of_a_grid_come_in_a_frame_of_their_own(tmp_path: Path, snapshot: str) -> None:
    lines = ["import anabranch", "class Grid(anabranch.Driver):", '    wants = ["occupancy"]', "    def reset(self, begin):"]
    lines += ["        self.period = begin.periods.pose_s", "    def step(self, seen):"]
    (tmp_path / "grid.py").write_text("\n".join([*lines, "        return (float(seen.occupancy.cells[1]), self.period)\n"]))
    with Host("grid.py", folder=tmp_path, ANABRANCH_SNAPSHOT=snapshot) as host:
        assert host.ask("describe")["wants"] == ["occupancy", "blobs", "rows"]
        for branch in (0, 1):
            host.ask("reset", branch=branch, begin={"periods": {"pose_s": 1.0}})
        grid = {"cell_m": 0.25, "columns": 2, "rows": 1}
        ops = [{"step": {"branch": n, "seen": {**SEEN, "occupancy": {**grid, "blob": n}}}} for n in (0, 1)]
        reply = host.raw(msgpack.packb({"anabranch": 1, "seq": 9, "ops": ops}), b"\x00\x03", b"\x00\x07")
        decided = [answer["decision"] for answer in reply["answers"]]
        assert [(d["steer"], d["accel"]) for d in decided] == [(3.0, 1.0), (7.0, 1.0)]
        lost = host.raw(msgpack.packb({"anabranch": 1, "seq": 10, "ops": ops}), b"\x00\x03")
        assert "frame 1" in lost["answers"][0]["failed"]["text"]


def mutated(body: bytes, chance: random.Random) -> bytes:
    data = bytearray(body)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at : at + chance.randint(1, 8)]
        elif kind == 2:
            data[at:at] = chance.randbytes(chance.randint(1, 8))
        else:
            del data[at + 1 :]
        if not data:
            data = bytearray(b"\xc1")
    return bytes(data)


@pytest.mark.parametrize("file", ("memory.py", "toy.py"))
def test_ten_thousand_malformed_requests_of_each_kind_are_answered_and_cost_nothing(file: str) -> None:
    ops: list[Any] = [
        {"describe": {}},
        {"reset": {"branch": 0, "begin": {"seed": 1}}},
        {"load": {"token": 1, "branch": 0}},
        {"step": {"branch": 0, "seen": SEEN}},
        {"step": {"branch": 0, "seen": as_row(SEEN)}},
        {"run": {"branch": 0, "modes": [0, 0], "record": False}},
        {"save": {"branch": 0, "token": 1}},
        {"drop": {"tokens": [1]}},
    ]
    chance = random.Random(11)
    bodies = [msgpack.packb({"anabranch": 1, "seq": 1, "ops": [op]}) for op in ops]
    with Host(str(file), ANABRANCH_SNAPSHOT="copy") as host:
        start = 0
        for number in range(10_000 * len(bodies)):
            body = bodies[number % len(bodies)]
            body = mutated(body, chance) if number % 11 else chance.randbytes(chance.randrange(1, 200))
            if b"bye" in body:
                continue
            reply = host.raw(body)
            assert reply["anabranch"] == 1 and isinstance(reply["answers"], list)
            if number == 20_000:
                start = memory_kib(host.process.pid)
        assert memory_kib(host.process.pid) < start + 4_096
        assert host.card()["protocol"] == 1


def test_malformed_operations_to_the_broker_are_answered() -> None:
    chance = random.Random(12)
    ops: list[Any] = [{"step": {"branch": 0, "seen": SEEN}}, {"load": {"token": 1, "branch": 0}}, {"drop": {"tokens": [2]}}]
    with Host("memory.py", ANABRANCH_SNAPSHOT="fork") as host:
        host.ask("reset", branch=0, begin={})
        host.ask("save", branch=0, token=1)
        for number in range(1_000):
            reply = host.raw(mutated(msgpack.packb({"anabranch": 1, "seq": 1, "ops": [ops[number % 3]]}), chance))
            assert isinstance(reply["answers"], list)
        host.ask("reset", branch=0, begin={})
        assert host.step(0)["steer"] == 0.1


def test_other_versions_are_refused_by_name() -> None:
    with Host("memory.py") as host:
        reply = host.raw(msgpack.packb({"anabranch": 2, "seq": 1, "ops": []}))
        assert "version 1, not 2" in reply["answers"][0]["failed"]["text"]


def gone_soon(pids: list[int]) -> bool:
    until = time.monotonic() + 15
    while any(alive(pid) for pid in pids):
        if time.monotonic() > until:
            return False
    return True


@pytest.mark.parametrize("end", ("bye", "kill", "link"))
def test_no_process_outlives_the_broker(end: str) -> None:
    with Host("rude.py", ANABRANCH_SNAPSHOT="fork") as host:
        host.ask("reset", branch=0, begin={})
        host.ask("save", branch=0, token=1)
        host.exchange(*[{"load": {"token": 1, "branch": branch}} for branch in range(6)])
        host.ask("save", branch=5, token=2)
        # One branch hangs in user code and would never notice by itself.
        if end == "kill":
            body = msgpack.packb({"anabranch": 1, "seq": 1, "ops": [{"step": {"branch": 0, "seen": seen(tick=108)}}]})
            host.link.send(body)
        pids = family(host.process.pid)
        assert len(pids) >= 8
        if end == "bye":
            host.end()
        elif end == "kill":
            os.kill(host.process.pid, signal.SIGKILL)
            host.process.communicate(timeout=20)
        else:
            host.link.close()
            host.process.communicate(timeout=20)
        assert gone_soon(pids)


def test_replaced_branches_and_dropped_states_leave_no_process_and_no_memory() -> None:
    with Host("memory.py", ANABRANCH_SNAPSHOT="fork") as host:
        host.ask("reset", branch=0, begin={})
        host.ask("save", branch=0, token=0)
        for round_ in range(60):
            host.exchange({"load": {"token": 0, "branch": 1}}, {"load": {"token": 0, "branch": 2}})
            host.ask("save", branch=1, token=round_ + 1)
            host.ask("drop", tokens=[round_ + 1])
        host.ask("load", token=0, branch=2)
        until = time.monotonic() + 15
        while len([pid for pid in family(host.process.pid) if alive(pid)]) > 4 and time.monotonic() < until:
            pass
        # Guard, root, the saved state, and one branch.
        assert len([pid for pid in family(host.process.pid) if alive(pid)]) == 4


def test_memory_stays_flat_over_many_saved_states() -> None:
    with Host("memory.py") as host:
        host.ask("reset", branch=0, begin={})
        host.ask("save", branch=0, token=0)

        def rounds(count: int) -> int:
            for _ in range(count):
                loads = [{"load": {"token": 0, "branch": branch}} for branch in range(50)]
                saves = [{"save": {"branch": branch, "token": branch + 1}} for branch in range(50)]
                host.exchange(*loads, *saves, {"drop": {"tokens": list(range(1, 51))}})
            return memory_kib(host.process.pid)

        assert rounds(60) + 2_048 > rounds(120)


def test_a_file_is_served_without_a_word_about_serving(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text("from anabranch import Driver\nclass A(Driver): pass\nclass B(Driver): pass\n")
    (tmp_path / "none.py").write_text("import anabranch\n")
    run = lambda *words: subprocess.run(  # noqa: E731
        [sys.executable, "-m", "anabranch", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert "several drivers or worlds (A, B)" in run("two.py").stderr and run("two.py").returncode == 2
    assert "no class that derives" in run("none.py").stderr
    assert "no driver or world `C`; it has A, B" in run("two.py", "C").stderr
    assert "there is no Python file" in run("missing.py").stderr
    assert "--driver two.py" in run("two.py", "A").stderr
    assert "reached from outside" in run("two.py", "A", "--bind", "tcp://0.0.0.0:5555").stderr
    with Host("two.py", "B", folder=tmp_path) as host:
        assert host.card()["name"] == "B"
        host.ask("reset", branch=0, begin={})
        assert "B has no method `step`" in host.step(0)["failed"]["text"]


def test_a_program_that_is_already_running_can_be_bound_by_pyzmq(tmp_path: Path) -> None:
    endpoint = f"ipc://{tmp_path}/bound"
    file = Path(__file__).parent / "files" / "memory.py"
    process = subprocess.Popen([sys.executable, "-m", "anabranch", str(file), "--bind", endpoint])
    context = zmq.Context()
    link = context.socket(zmq.REQ)
    link.setsockopt(zmq.RCVTIMEO, 20_000)
    link.setsockopt(zmq.LINGER, 0)
    link.connect(endpoint)
    link.send(msgpack.packb({"anabranch": 1, "seq": 3, "ops": [{"describe": {}}, {"bye": {}}]}))
    assert list(msgpack.unpackb(link.recv())["answers"][1]) == ["done"]
    assert process.wait(timeout=20) == 0
    link.close()
    context.term()


def test_a_row_is_read_like_the_map_that_it_stands_for() -> None:
    told = {**seen(0.25), "objects": [{"id": 3, "x": 7.0}]}
    by_map, by_row = seen_of(told), seen_of(as_row(told))
    for part, name in [("pose", "x"), ("pose", "covariance"), ("path", "lateral"), ("path", "section"), ("goal", "left")]:
        assert getattr(getattr(by_row, part), name) == getattr(getattr(by_map, part), name), (part, name)
    assert (by_row.time, by_row.tick, by_row.gear) == (by_map.time, by_map.tick, by_map.gear)
    assert by_row.objects[0].id == 3 and by_row.occupancy is None
    assert by_row.path == by_map.path and by_row == by_map
    assert by_row.as_dict()["path"] == told["path"]


def test_a_row_that_is_too_short_is_refused_in_words() -> None:
    with Host("memory.py") as host:
        host.ask("reset", branch=0, begin={})
        (answer,) = host.exchange({"step": {"branch": 0, "seen": {"row": b"\0" * 239}}})
        assert "`row` is no row of numbers" in answer["failed"]["text"]


def test_the_names_of_a_segment_may_come_from_an_iterator() -> None:
    lazy = Segment(violated=(name for name in ["ok"]), notes=filter(None, ["near", None]))
    assert (list(lazy.violated), list(lazy.violated)) == (["ok"], ["ok"]), "reading it twice loses nothing"
    assert list(lazy.notes) == ["near"]
    assert list(Segment(violated="ok").violated) == ["ok"], "one name is not a row of letters"


def test_what_a_function_remembers_counts() -> None:
    class Remembers(World):
        def __init__(self) -> None:
            count = 0

            def counter() -> None:
                nonlocal count
                count += 1

            def listed(_: int, seen: Any = []) -> None:  # noqa: B006
                seen.append(1)

            self.counter, self.listed = counter, listed

    world = Remembers()
    before = attributes(world, ())
    world.counter()
    world.listed(1)
    after = attributes(world, ())
    assert None not in before.values() and before.keys() == {"counter", "listed"}
    assert all(before[name] != after[name] for name in before)


def test_no_name_and_no_number_hides_an_attribute() -> None:
    class Slotted(World):
        __slots__ = ("latch", "__gear")

        def __init__(self) -> None:
            self.x, self.tick, self.latch, self.__gear = 0.5, 0, 0, 1

    world = Slotted()
    found = attributes(world, ("x",))
    # A name that is also a setting, slots, private ones too, and numbers as the bits of a float.
    assert found == {"tick": 0, "latch": 0, "_Slotted__gear": 0x3FF0000000000000}
    world.latch = -0.0
    assert attributes(world, ("x",))["latch"] == 0
    world.latch = 2**53 + 1
    assert attributes(world, ("x",))["latch"] not in (None, 0x4340000000000000)


def test_attributes_beyond_the_limit_share_a_digest() -> None:
    world = World()
    for number in range(ATTRIBUTES_MAX + 16):
        setattr(world, f"p{number}", 0.5 + number)
    before = attributes(world, ())
    setattr(world, f"p{ATTRIBUTES_MAX + 15}", 0.25)
    after = attributes(world, ())
    assert len(before) == ATTRIBUTES_MAX + 1
    assert [name for name in before if before[name] != after[name]] == ["… and 16 more"]


@pytest.mark.parametrize("way", WAYS)
def test_constants_that_change_and_global_generators_are_reported(tmp_path: Path, way: str) -> None:
    file = tmp_path / "drawing.py"
    file.write_text(
        "import random, anabranch\n"
        "class Drawing(anabranch.World):\n"
        "    errors = {'push': [0, 1]}\n"
        "    merge = {'x': 0.1}\n"
        "    constants = ['table']\n"
        "    global_random = True\n"
        "    must, should = ['wall'], ['near']\n"
        "    def reset(self, seed):\n"
        "        self.x, self.table = 0.0, [0]\n"
        "    def run(self, error):\n"
        "        if error.push:\n"
        "            self.table[0] += 1\n"
        "            random.random()\n"
        "        return anabranch.Segment(x=self.x)\n"
    )
    with Host(str(file), ANABRANCH_SNAPSHOT=way) as host:
        card = host.card()["world"]
        assert (card["requirements"], card["musts"]) == (["wall", "near"], 1)
        host.ask("reset", branch=0, begin={"seed": 1})
        runs = [host.ask("run", branch=0, modes=[mode])["attributes"] for mode in (0, 0, 1)]
        assert runs[0] == runs[1] and set(runs[0]) == {"the state of the global generators"}
        assert set(runs[2]) == {"the state of the global generators", "declared constant `table`"}
        assert runs[2]["the state of the global generators"] != runs[0]["the state of the global generators"]
