"""Shared by the tests of the Python client: a daemon on loopback with a temporary state, a proxy
that breaks connections, and the last line that tests/run-tests reads."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any, Callable, Dict, List, Optional

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PLIANT_BUILD") or os.path.join(ROOT, "build")
LONG = bool(os.environ.get("PLIANT_LONG"))  # tests at full length
sys.path.insert(0, os.path.join(ROOT, "clients", "python"))
LONG = os.environ.get("PLIANT_LONG") == "1"
for _name in [n for n in os.environ if n.startswith("PLIANT_") and n != "PLIANT_BUILD"]:
    del os.environ[_name]

import pliant  # noqa: E402
from pliant import npy, records  # noqa: E402


def scene(steps: int = 20, cells: int = 2, **more: Any) -> Dict[str, Any]:
    """A box that falls."""
    return {
        "pliant": 1,
        "name": "falls",
        "time": {"step": 0.01, "steps": steps},
        "solver": {"method": "gradient_descent", "iterations": 2},
        "materials": {"rubber": {"young": 1e4, "poisson": 0.3, "density": 1000}},
        "bodies": [
            {
                "name": "box",
                "mesh": {"box": {"size": [1, 1, 1], "cells": [cells] * 3}},
                "material": "rubber",
            }
        ],
        **more,
    }


def endless(**more: Any) -> Dict[str, Any]:
    """One that runs in real time until it is stopped."""
    return scene(time={"step": 0.01, "pace": "realtime"}, **more)


class Daemon:
    """A daemon of the build. Ends with its sessions even if the test fails. In a given `directory`,
    which may already have a state, the test must end it."""

    def __init__(self, *options: str, listen: str = "127.0.0.1:0",
                 directory: Optional[str] = None,
                 within: Callable[[List[str]], List[str]] = lambda command: command) -> None:
        self._within = within  # the command that starts the daemon's command elsewhere
        self.directory = directory or tempfile.mkdtemp(prefix="pliant-python-")
        self.state = os.path.join(self.directory, "state")
        self._options = ["--listen", listen, "--cores", "2", *options]
        self.process: Optional["subprocess.Popen[bytes]"] = None
        if directory is None:
            atexit.register(self.stop)  # for a test that stops before its own call
        self.start()

    def start(self) -> None:
        url = os.path.join(self.state, "url")
        if os.path.exists(url):  # left by a killed daemon
            os.unlink(url)
        program = os.path.join(BUILD, "pliantd")
        with open(os.path.join(self.directory, "log"), "ab") as log:
            command = [program, "--state", self.state, "--no-pin", "--memory-groups", "off",
                       *self._options]
            process = self.process = subprocess.Popen(self._within(command), stdout=log, stderr=log)
        until(lambda: os.path.exists(url) or process.poll() is not None, "the daemon's start")
        if process.poll() is not None:
            with open(os.path.join(self.directory, "log")) as log_text:
                raise AssertionError(f"the daemon did not start: {log_text.read()}")

    def end(self, number: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            self.process = None

    def stop(self) -> None:
        """Cancel running sessions, end the daemon, remove everything. A second call does
        nothing."""
        if not os.path.exists(self.directory):
            return
        try:
            if self.process is None:
                self.start()
            self.cancel_all()
        finally:
            self.end()
            shutil.rmtree(self.directory, ignore_errors=True)

    def cancel_all(self) -> None:
        """Deletes running sessions and waits until they have ended."""
        with pliant.Client(state=self.state, retry_for=30) as client:
            for session in client.sessions():
                if not session.over:
                    session.delete()
            until(lambda: all(s.over for s in client.sessions()), "the end of its sessions")

    @property
    def port(self) -> int:
        with open(os.path.join(self.state, "url")) as file:
            return int(file.read().strip().rsplit(":", 1)[1])

    @property
    def token(self) -> str:
        with open(os.path.join(self.state, "token")) as file:
            return file.read().strip()


def until(condition: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:g} s for {what}")
        time.sleep(0.01)


class Relay:
    """A proxy between a client and a daemon. `cut(number, sent)` is called after each piece that
    the daemon sent on connection `number` (from 0), `sent` bytes in total: True ends that
    connection without sending the rest. `answer(number)` may return bytes to answer a connection
    with instead of asking the daemon."""

    def __init__(
        self,
        port: int,
        cut: Callable[[int, int], bool] = lambda number, sent: False,
        answer: Callable[[int], Optional[bytes]] = lambda number: None,
    ) -> None:
        self.requests: List[bytes] = []
        self.connections = 0
        self._port, self._cut, self._answer = port, cut, answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        self._host = self.url[7:].encode()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            number, self.connections = self.connections, self.connections + 1
            threading.Thread(target=self._serve, args=(peer, number), daemon=True).start()

    def _serve(self, peer: socket.socket, number: int) -> None:
        given = self._answer(number)
        with peer:
            if given is not None:
                self.requests.append(peer.recv(65536))
                peer.sendall(given)
                return
            with socket.create_connection(("127.0.0.1", self._port)) as daemon:
                up = threading.Thread(target=self._upwards, args=(peer, daemon), daemon=True)
                up.start()
                sent = 0
                while True:
                    data = daemon.recv(4096)
                    sent += len(data)
                    if not data or self._cut(number, sent):
                        break
                    try:
                        peer.sendall(data)
                    except OSError:
                        break
                for s in (peer, daemon):
                    try:
                        s.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
                up.join()

    def _upwards(self, peer: socket.socket, daemon: socket.socket) -> None:
        try:
            while True:
                data = peer.recv(65536)
                if not data:
                    daemon.shutdown(socket.SHUT_WR)
                    return
                self.requests.append(data)
                # The daemon only accepts its own name.
                daemon.sendall(data.replace(self._host, b"127.0.0.1:%d" % self._port))
        except OSError:
            pass


def with_and_without_numpy(test: Callable[[Any], None]) -> Callable[[Any], None]:
    """A test that runs twice, or once without numpy."""

    def both(self: unittest.TestCase) -> None:
        numpy = records.numpy
        if numpy is not None:
            test(self)
        records.numpy = npy.numpy = None
        try:
            test(self)
        finally:
            records.numpy = npy.numpy = numpy

    both.__name__ = test.__name__
    return both


def main() -> None:
    """Run the program's tests; the last line is like libcheck's."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(sys.stdout, verbosity=1).run(suite)
    bad = len(result.failures) + len(result.unexpectedSuccesses)
    for test, reason in result.skipped:
        print(f"SKIP {test.id()}: {reason}")
    outcomes = [test for test, _ in result.skipped + result.errors]
    classes = sum(not isinstance(test, unittest.TestCase) for test in outcomes)  # in setUpClass
    checks = max(result.testsRun + classes, bad + len(result.errors))
    good = 100 * (checks - bad - len(result.errors)) // max(checks, 1)
    print(f"{good}%: Checks: {checks}, Failures: {bad}, Errors: {len(result.errors)}")
    sys.exit(0 if result.wasSuccessful() else 1)
