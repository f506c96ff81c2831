"""A daemon's start whose n-th allocation fails: it starts or prints the reason; no session is lost,
and the next start finds all of them. `check` tries a few n, PLIANT_LONG=1 all."""

from __future__ import annotations

import mmap
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest
from typing import Dict, Optional

from support import BUILD, Daemon, main, pliant, scene

CHECKED = 16
MANY = 1 << 40


class StartMemory(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="pliant-start-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.state = os.path.join(self.folder, "state")
        self.numbers = os.path.join(self.folder, "numbers")
        with open(self.numbers, "wb") as file:
            file.write(bytes(24))
        with open(self.numbers, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 24)

    def arm(self, n: int, span: int) -> None:
        self.memory[:] = struct.pack("3q", n + span - 1 if n else 0, span, 0)

    def start(self, starved: bool) -> "subprocess.Popen[bytes]":
        """Returns when the daemon listens or has ended."""
        more = {"LD_PRELOAD": os.path.join(BUILD, "tests", "libfailing_memory.so"),
                "PLIANT_FAILING_MEMORY": self.numbers} if starved else {}
        url = os.path.join(self.state, "url")
        if os.path.exists(url):  # left by a daemon that could not remove it
            os.unlink(url)
        with open(os.path.join(self.folder, "log"), "wb") as log:
            process = subprocess.Popen(
                [os.path.join(BUILD, "pliantd"), "--listen", "127.0.0.1:0", "--cores", "2",
                 "--state", self.state, "--no-pin", "--memory-groups", "off"],
                stdout=log, stderr=log, env={**os.environ, **more})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + 60
        while process.poll() is None and not os.path.exists(url):
            self.assertLess(time.monotonic(), end, "it neither starts nor ends")
            time.sleep(0.005)
        return process

    def said(self) -> str:
        with open(os.path.join(self.folder, "log")) as file:
            return file.read()[-2000:]

    def states(self) -> Dict[str, str]:
        with pliant.Client(state=self.state, retry_for=30) as client:
            return {s.id: s.state for s in client.sessions()}

    def end(self, process: "subprocess.Popen[bytes]") -> None:
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0, self.said())

    def prepare(self) -> Dict[str, str]:
        """Makes ended sessions, and one that waits."""
        daemon = Daemon()
        try:
            with pliant.Client(state=daemon.state, retry_for=30) as client:
                for _ in range(2):
                    client.submit(scene(steps=2)).wait()
                client.submit(scene(steps=2, resources={"hold": True}))
            daemon.end()
            shutil.copytree(daemon.state, self.state)
        finally:
            daemon.stop()
        process = self.start(False)
        states = self.states()
        self.end(process)
        self.assertEqual(sorted(states.values()), ["paused", "succeeded", "succeeded"])
        return states

    def count(self) -> int:
        self.arm(MANY, 1)
        process = self.start(True)
        count = MANY - struct.unpack("3q", self.memory[:])[0]
        self.arm(0, 0)
        self.end(process)
        return int(count)

    def try_start(self, n: int, wanted: Dict[str, str]) -> Optional[int]:
        """The exit status if the daemon did not start."""
        self.arm(n, 5 if n % 4 == 3 else 1)
        process = self.start(True)
        self.arm(0, 0)
        if process.poll() is not None:
            return process.returncode
        self.assertEqual(self.states(), wanted, f"{n}: {self.said()}")
        self.end(process)
        return None

    def test_each(self) -> None:
        wanted = self.prepare()
        count = self.count()
        all_of_them = os.environ.get("PLIANT_LONG") == "1"
        step = 1 if all_of_them else count // CHECKED
        killed, starts, refusals = 0, 0, 0
        for n in range(1, count, step):
            status = self.try_start(n, wanted)
            starts += status is None
            refusals += status == 1
            killed += status is not None and status < 0
            self.assertIn(status, (None, 1, 127, -signal.SIGSEGV), f"{n}: {self.said()}")
            if status is not None:
                process = self.start(False)
                self.assertEqual(self.states(), wanted, f"after {n}")
                self.end(process)
        # libcrypto follows a null pointer if it had no memory for a lock.
        self.assertLessEqual(killed, 1 + (starts + refusals) // 100)
        self.assertGreater(starts, 0)
        self.assertGreater(refusals, 0)


if __name__ == "__main__":
    main()
