"""A worker crashes: the session's failure shows its owner the signal and the place."""

import os
import signal
import unittest

from support import Daemon, endless, main, pliant, until


def worker_of(session_id):
    """The process that runs a session, or 0."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"pliant-worker") and any(session_id.encode() in w for w in words):
            return int(name)
    return 0


class Crash(unittest.TestCase):
    def test_the_owner_reads_the_report(self):
        daemon = Daemon("--restart-delays", "0.01,0.01,0.01", "--checkpoint-every", "3600")
        self.addCleanup(daemon.stop)
        with pliant.Client(state=daemon.state, retry_for=60) as client:
            session = client.submit(endless())
            until(lambda: (session.refresh().last_frame or 0) > 2, "frames")
            killed = set()

            def kill():
                pid = worker_of(session.id)
                begun = session.log().count(", attempt ")
                if pid and pid not in killed and begun > len(killed):
                    killed.add(pid)
                    os.kill(pid, signal.SIGSEGV)
                return session.refresh().over

            until(kill, "the failure")
            failure = session.failure
        self.assertEqual(failure["code"], "worker_crashed")
        self.assertEqual(failure["signal"], signal.SIGSEGV)
        self.assertIn("crashed: segmentation fault", failure["advice"])
        self.assertRegex(failure["log"], r"\npliant-worker \+0x[0-9a-f]+\n")
        self.assertNotIn("/pliant-worker", failure["log"])
        self.assertNotRegex(failure["log"], "0x[0-9a-f]{10}")  # nothing about the memory layout


if __name__ == "__main__":
    main()
