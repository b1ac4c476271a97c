"""The host against libzmq itself: a driver that uses pyzmq and msgpack and nothing of the kit."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Counts its steps. Heartbeats come every 5 ms (answered while the host waits, so their timeout is long), and every saved
# state has a megabyte of canonical bytes.
DRIVER = """
import os, msgpack, zmq
socket = zmq.Context().socket(zmq.REP)
socket.setsockopt(zmq.HEARTBEAT_IVL, 5)
socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 60_000)
socket.connect(os.environ["ANABRANCH_ENDPOINT"])
branches, saved = {}, {}
CARD = dict(protocol=1, role="driver", name="raw", support="save", snapshot="copy", key=[dict(name="steps")], saves_bytes=True)

def answer(op):
    (verb, fields), = op.items()
    if verb == "describe":
        return {"card": CARD}
    if verb == "reset":
        branches[fields["branch"]] = 0
    if verb == "load":
        branches[fields["branch"]] = saved[fields["token"]]
    if verb == "step":
        branches[fields["branch"]] += SKIP
        return {"decision": {"steer": -0.5 * fields["seen"]["path"]["lateral"], "key": [branches[fields["branch"]]]}}
    if verb == "save":
        state = saved[fields["token"]] = branches.pop(fields["branch"])
        return {"saved": {"bytes": state.to_bytes(1 << 20, "little")}}
    return {"done": {}}

ended = False
while not ended:
    request = msgpack.unpackb(socket.recv())
    answers = [answer(op) for op in request["ops"]]
    # The second frame is a blob; the host takes it and goes on.
    socket.send_multipart([msgpack.packb({"anabranch": 1, "seq": request["seq"], "answers": answers}), b"blob" * 1000])
    ended = any("bye" in op for op in request["ops"])
"""


@pytest.fixture(scope="module")
def host():
    # With the features of the tests in Rust, after which there is nothing left to build.
    chosen = ["--workspace", "--exclude", "anabranch-bench", "--features", "anabranch-cli/wasm"]
    subprocess.run(["cargo", "build", "-q", *chosen, "--bin", "anabranch-rogue"], cwd=ROOT, check=True)
    return ROOT / "target" / "debug" / "anabranch-rogue"


def claims(host, folder, source):
    driver = folder / "driver.py"
    driver.write_text(source)
    command = [host, "claims", sys.executable, driver]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


def test_every_claim_of_a_raw_driver_is_kept_over_real_sockets(host, tmp_path):
    told = claims(host, tmp_path, DRIVER.replace("SKIP", "1"))
    lines = told.stdout.splitlines()
    assert told.returncode == 0, told.stderr
    assert len(lines) == 7 and all(line.startswith("kept ") for line in lines)


def test_a_raw_driver_with_one_memory_for_all_is_found_out(host, tmp_path):
    told = claims(host, tmp_path, DRIVER.replace("SKIP", "len(branches)"))
    broken = [line for line in told.stdout.splitlines() if line.startswith("BROKEN")]
    assert told.returncode == 1
    assert any("branches beside each other" in line and "`decision.key[0]`" in line for line in broken), told.stdout


def test_an_exception_before_the_first_answer_shows_its_last_words(host, tmp_path):
    told = claims(host, tmp_path, "raise RuntimeError('no map')")
    assert told.returncode == 1
    assert "no-start: the process ended with exit status 1" in told.stderr
    assert "RuntimeError: no map" in told.stderr
