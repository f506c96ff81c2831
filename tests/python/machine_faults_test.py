"""Faults of the machine: no open files are left, the state's disk cannot be written, the clock
jumps, workers are stopped or write garbage. Sessions wait or pause and then continue, requests are
rejected with the reason, other sessions are unaffected."""

from __future__ import annotations

import errno
import http.client
import json
import mmap
import os
import resource
import signal
import struct
import sys
import tempfile
import textwrap
import unittest
from typing import Any, Dict, List, Tuple

from support import BUILD, Daemon, endless, main, scene, until

MEMORY = "/dev/shm"  # a separate file system, if it exists


class Kept:
    """A persistent connection: its requests need no new one."""

    def __init__(self, daemon: Daemon) -> None:
        self._token = daemon.token
        self._connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)

    def ask(self, method: str, path: str, body: Any = None) -> Tuple[int, Dict[str, Any]]:
        headers = {"Authorization": "Bearer " + self._token}
        text = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            text = json.dumps(body)
        self._connection.request(method, path, text, headers)
        reply = self._connection.getresponse()
        data = reply.read()
        is_json = (reply.getheader("Content-Type") or "").split("+")[0] in (
            "application/json", "application/problem")
        return reply.status, json.loads(data) if is_json and data else {}

    def session(self, id: str) -> Dict[str, Any]:
        status, session = self.ask("GET", "/v1/sessions/" + id)
        assert status == 200, (status, session)
        return session

    def post(self, scene: Dict[str, Any]) -> str:
        status, session = self.ask("POST", "/v1/sessions", scene)
        assert status == 201, (status, session)
        return str(session["id"])

    def state(self, id: str) -> str:
        return str(self.session(id)["state"])

    def frame(self, id: str) -> int:
        frame = self.session(id)["progress"]["frame"]
        return -1 if frame is None else int(frame)

    def close(self) -> None:
        self._connection.close()


def worker_of(id: str) -> int:
    """The process that runs a session; 0: none."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read()
            except OSError:
                continue
            if b"--attempt" in words and id.encode() in words:
                return int(entry)
    return 0


def await_worker(id: str) -> int:
    until(lambda: worker_of(id) > 0, "a worker")
    return worker_of(id)


class Faults(unittest.TestCase):
    def start(self, *options: str, **environment: str) -> Daemon:
        kept = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        try:
            daemon = Daemon(*options)
        finally:
            for name, value in kept.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
        self.addCleanup(daemon.stop)
        self.kept = Kept(daemon)
        self.addCleanup(self.kept.close)
        return daemon

    def programs(self, worker: str) -> str:
        """A folder of programs whose worker is this script; {REAL} is the real worker."""
        folder = tempfile.mkdtemp(prefix="pliant-programs-")
        self.addCleanup(lambda: [os.unlink(os.path.join(folder, n)) for n in os.listdir(folder)]
                        and os.rmdir(folder))
        for name in ("pliant-preflight", "pliant"):
            os.symlink(os.path.join(BUILD, name), os.path.join(folder, name))
        path = os.path.join(folder, "pliant-worker")
        with open(path, "w") as file:
            file.write(worker.replace("{REAL}", os.path.join(BUILD, "pliant-worker")))
        os.chmod(path, 0o700)
        return folder

    def expect(self, id: str, state: str) -> None:
        until(lambda: self.kept.state(id) == state, f"{state}: {self.kept.session(id)}")

    # ---- open files ----

    def test_no_open_files(self) -> None:
        daemon = self.start()
        runs = self.kept.post(endless())
        until(lambda: self.kept.frame(runs) > 1, "frames")
        self.assertEqual(self.kept.ask("POST", "/v1/devices/cpu/drain")[0] // 100, 2)
        waits = self.kept.post(scene(steps=2))
        assert daemon.process is not None
        pid = daemon.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        used = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
        least = next(n for n in range(len(used) + 1) if n not in used)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (least, before[1]))
        try:
            status, problem = self.kept.ask("POST", "/v1/sessions", scene(steps=2))
            self.assertEqual((status, problem.get("type")), (503, "/problems/busy"), problem)
            self.assertEqual(self.kept.ask("POST", "/v1/devices/cpu/resume")[0] // 100, 2)
            until(lambda: "open files" in str(self.kept.session(waits)["message"]), "a try")
            self.assertEqual(self.kept.state(waits), "queued")
            os.kill(await_worker(runs), signal.SIGKILL)  # its end cannot be read now
            until(lambda: worker_of(runs) == 0, "its end")
            self.assertEqual(self.kept.state(runs), "running")
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        self.expect(waits, "succeeded")
        frame = self.kept.frame(runs)
        until(lambda: self.kept.frame(runs) > frame + 1, "it to go on")
        self.assertEqual(self.kept.ask("GET", f"/v1/sessions/{runs}/frames/{frame}")[0], 200)
        self.expect(self.kept.post(scene(steps=2)), "succeeded")

    # ---- a disk that cannot be written ----

    def break_disk(self, error: int) -> None:
        numbers = list(struct.unpack("3q", self.numbers[:]))
        self.numbers[:] = struct.pack("3q", error, *numbers[1:])

    def ready(self) -> Tuple[int, str]:
        status, problem = self.kept.ask("GET", "/readyz")
        return status, str(problem.get("detail", ""))

    @unittest.skipUnless(os.path.isdir(MEMORY), "no file system in memory")
    def test_broken_disk(self) -> None:
        library = os.path.join(BUILD, "tests", "libbroken_disk.so")
        with tempfile.NamedTemporaryFile(prefix="pliant-broken-") as file:
            file.write(struct.pack("3q", 0, 0, os.stat(MEMORY).st_dev))
            file.flush()
            self.numbers = mmap.mmap(file.fileno(), 24)
            kept, tempfile.tempdir = tempfile.tempdir, MEMORY
            try:
                daemon = self.start(
                    "--prepared", "0", LD_PRELOAD=library, PLIANT_BROKEN_DISK=file.name,
                    PLIANT_BINDIR=self.programs(
                        f'#!/bin/sh\nLD_PRELOAD={library} exec {{REAL}} "$@"\n'))
            finally:
                tempfile.tempdir = kept
            self.addCleanup(self.break_disk, 0)
            for error in (errno.EIO, errno.EROFS):
                self.check_broken(error)
            daemon.stop()

    def check_broken(self, error: int) -> None:
        why = os.strerror(error)
        ended = self.kept.post(scene(steps=2))
        self.expect(ended, "succeeded")
        runs = self.kept.post(endless())
        until(lambda: self.kept.frame(runs) > 1, "frames")
        self.break_disk(error)
        self.expect(runs, "paused")
        session = self.kept.session(runs)
        self.assertEqual(session["paused"], {"by": "disk"})
        self.assertEqual(session["reason"], "disk_error")
        self.assertIn(why, session["message"])
        status, detail = self.ready()
        self.assertEqual(status, 503)
        self.assertIn(why, detail)
        status, problem = self.kept.ask("POST", "/v1/sessions", scene(steps=2))
        self.assertEqual((status, problem["type"]), (503, "/problems/disk_error"), problem)
        self.assertIn(why, problem["detail"])
        status, problem = self.kept.ask("DELETE", "/v1/sessions/" + ended)
        self.assertEqual((status, problem["type"]), (503, "/problems/disk_error"), problem)
        frame = self.kept.frame(runs)
        self.assertEqual(self.kept.ask("GET", f"/v1/sessions/{runs}/frames/{frame}")[0], 200)
        self.break_disk(0)
        until(lambda: self.ready()[0] == 200, "the disk")
        until(lambda: self.kept.frame(runs) > frame + 1, "it to go on")
        self.expect(self.kept.post(scene(steps=2)), "succeeded")
        for id in (runs, ended):
            self.assertEqual(self.kept.ask("DELETE", "/v1/sessions/" + id)[0] // 100, 2)
            until(lambda: self.kept.ask("GET", "/v1/sessions/" + id)[0] == 404, "its removal")

    # ---- the clock ----

    def test_clock(self) -> None:
        """The clock is a year ahead, then correct again, while a session runs and another
        restarts."""
        with tempfile.TemporaryDirectory(prefix="pliant-clock-") as folder:
            ahead = os.path.join(folder, "ahead")
            daemon = self.start(
                "--restart-delays", "1,1,1", PLIANT_CLOCK_AHEAD=ahead,
                LD_PRELOAD=os.path.join(BUILD, "tests", "libclock_ahead.so"))
            runs = self.kept.post(endless())
            ids: List[str] = [runs]
            for jump in (lambda: open(ahead, "w").close(), lambda: os.unlink(ahead)):
                until(lambda: self.kept.frame(runs) > 1, "frames")
                os.kill(await_worker(runs), signal.SIGKILL)
                until(lambda: self.kept.state(runs) == "queued", "a restart to be due")
                jump()
                frame = self.kept.frame(runs)
                until(lambda: self.kept.frame(runs) > frame + 1, "it to go on")
                ids.append(self.kept.post(scene(steps=2)))
                self.expect(ids[-1], "succeeded")
            status, page = self.kept.ask("GET", "/v1/sessions")
            self.assertEqual(sorted(s["id"] for s in page["items"]), sorted(ids))
            daemon.stop()

    # ---- workers ----

    def test_stopped_worker(self) -> None:
        """A stopped worker is killed when it should pause, or after a time without progress; other
        sessions are unaffected."""
        self.start("--cores", "3", "--patience", "1", "--stalled-after", "1,3",
                   "--restart-delays", "1,1,1")
        ids = [self.kept.post(endless()) for _ in range(3)]
        for id in ids:
            until(lambda: self.kept.frame(id) > 1, "frames")
        for id in ids[:2]:
            os.kill(await_worker(id), signal.SIGSTOP)
        self.assertEqual(self.kept.ask("POST", f"/v1/sessions/{ids[0]}/pause")[0], 202)
        self.expect(ids[0], "paused")
        frame = self.kept.frame(ids[1])
        until(lambda: self.kept.session(ids[1])["stalled"], "it to be said")
        until(lambda: self.kept.frame(ids[1]) > frame + 1, "another attempt")
        frame = self.kept.frame(ids[2])
        until(lambda: self.kept.frame(ids[2]) > frame + 1, "the other")

    GARBAGE = """\
        #!{PYTHON}
        import os, sys
        words = sys.argv[1:]
        directory = words[words.index("--session") + 1]
        with open(os.path.join(directory, "scene.json")) as file:
            name = file.read()
        real = "{REAL}"
        if '"name": "good"' not in name and '"name":"good"' not in name:
            junk = os.urandom(5000)
            def put(path, data):
                with open(os.path.join(directory, path), "wb") as file:
                    file.write(data)
            if '"late"' in name:  # frames first
                os.spawnv(os.P_WAIT, real, [real] + words)
            if '"hangs"' in name:
                import signal, time
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(600)
            for path in ("head.json", "exit.json", "warnings.json", "threads.json", "lock",
                         "checkpoint-0.bin", "log/0001-0000.seg", "log/0001-0000.idx",
                         "log/0009-0000.seg", "worker.log"):
                put(path, junk)
            sys.stdout.buffer.write(junk)
            sys.exit(junk[0] % 4)
        os.execv(real, [real] + words)
        """

    def test_garbage(self) -> None:
        """Garbage from a worker is not a result: its session fails or is cancelled, with the
        reason; all others run."""
        script = textwrap.dedent(self.GARBAGE).replace("{PYTHON}", sys.executable)
        daemon = self.start("--prepared", "0", "--restart-delays", "1,1,1", "--patience", "1",
                            "--cores", "4", PLIANT_BINDIR=self.programs(script))
        good = self.kept.post({**endless(), "name": "good"})
        bad = [self.kept.post({**scene(steps=3), "name": name}) for name in ("wild", "late")]
        hangs = self.kept.post({**scene(steps=3), "name": "hangs"})
        await_worker(hangs)
        self.assertEqual(self.kept.ask("POST", f"/v1/sessions/{hangs}/cancel")[0], 202)
        self.expect(hangs, "cancelled")
        for id in bad:
            self.expect(id, "failed")
            failure = self.kept.session(id)["failure"]
            self.assertEqual(failure["code"], "worker_crashed")
            self.assertTrue(failure["message"])
            for path in ("", "/frames/0", "/metrics", "/log", "/topology", "/export?format=npz"):
                self.kept.ask("GET", f"/v1/sessions/{id}{path}")  # any reply is allowed
        frame = self.kept.frame(good)
        until(lambda: self.kept.frame(good) > frame + 1, "the other")
        assert daemon.process is not None
        self.assertIsNone(daemon.process.poll())
        self.assertEqual(self.ready()[0], 200)


if __name__ == "__main__":
    main()
