"""A driver that misbehaves from its tick 10 on, in the way that the environment variable ROGUE names."""

import ctypes
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import time

import anabranch

WAY = os.environ["ROGUE"]
BAD_TICK = 10


class Ways:
    """What can go wrong in a step. What is returned is the answer; most never return."""

    def exit_now(self):
        os._exit(3)

    def exit_politely(self):
        sys.exit("enough")

    def segfault(self):
        ctypes.string_at(0)

    def abort(self):
        os.abort()

    def kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def become_another(self):
        os.execv("/bin/true", ["true"])

    def grandchild(self):
        subprocess.Popen(["sleep", "3600"])
        os._exit(0)

    def close_all(self):
        os.closerange(3, 256)

    def stop(self):
        os.kill(os.getpid(), signal.SIGSTOP)

    def hang(self):
        time.sleep(3600)

    def spin(self):
        while True:
            pass

    def ignore_term(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)

    def deadlock(self):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()

    def slow(self):
        time.sleep(0.5)
        return anabranch.Command()

    def flood_stdout(self):
        while True:
            print("x" * 1000)

    def flood_stderr(self):
        while True:
            print("x" * 1000, file=sys.stderr)

    def memory(self):
        self.hoard = []
        while True:
            self.hoard.append(b"x" * (1 << 20))

    def no_files_left(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        return anabranch.Command(steer=open(__file__).fileno())

    def exception(self):
        return [1, 2, 3][7]

    def hostile_text(self):
        raise ValueError("\x1b[2J\ud800" + "x" * 10_000_000)

    def exception_without_text(self):
        class Mute(Exception):
            def __str__(self):
                raise self

        raise Mute

    def base_exception(self):
        raise BaseException("not even an Exception")

    def interrupt(self):
        raise KeyboardInterrupt

    def endless_recursion(self):
        return self.endless_recursion()

    def no_answer(self):
        return None

    def text_for_number(self):
        return anabranch.Command(steer="left")

    def nan(self):
        return anabranch.Command(steer=float("nan"))

    def nan_key(self):
        self.count = float("nan")
        return anabranch.Command()

    def infinite(self):
        return anabranch.Command(accel=float("inf"))

    def steer_range(self):
        return anabranch.Command(steer=4.0)

    def accel_range(self):
        return anabranch.Command(accel=-1e6)

    def gear(self):
        return anabranch.Command(gear=3)

    def lost_trajectory(self):
        return anabranch.Command(trajectory=[anabranch.Point(1.0, 1e12, 0.0, 0.0, 1.0)])

    def endless_trajectory(self):
        return anabranch.Command(trajectory=[anabranch.Point(float(t), 0.0, 0.0, 0.0, 1.0) for t in range(40_000)])

    def text_as_key(self):
        self.count = "many"
        return anabranch.Command()

    def forgotten_key(self):
        del self.count
        return anabranch.Command()

    def garbage_on_the_line(self):
        for number in range(3, 64):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    os.write(number, b"\xff" * 64)
            except OSError:
                pass
        return anabranch.Command()

    def none(self):
        return anabranch.Command()


class Rogue(anabranch.Driver, Ways):
    key = {"count": None}

    def reset(self, begin):
        self.count = 0
        if WAY == "fail_reset":
            raise RuntimeError("I cannot begin")

    def step(self, seen):
        self.count += 1
        return getattr(self, WAY, self.none)() if seen.tick >= BAD_TICK else anabranch.Command()

    if WAY.startswith("own_"):

        def save(self):
            if WAY == "own_save_fails":
                raise RuntimeError("I keep nothing")
            return b"kept"

        def load(self, saved):
            if WAY == "own_load_fails":
                raise RuntimeError("I forgot")


if WAY == "crash_at_start":
    os.abort()
if WAY == "exit_at_start":
    sys.exit(7)
if WAY == "import_error":
    import no_such_module_anywhere  # noqa: F401
if WAY == "hang_at_start":
    time.sleep(3600)
if WAY == "two_classes":

    class Another(anabranch.Driver):
        pass
