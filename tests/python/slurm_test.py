"""Sessions as jobs of a real Slurm, on a private cluster (slurm_cluster.py). The quick form has one
node and five sessions; PLIANT_LONG=1 (make check-slurm) has two nodes, fifty sessions and failures.
Skipped without Slurm."""

import json
import os
import shutil
import signal
import struct
import tempfile
import threading
import time
import unittest

LONG = bool(os.environ.get("PLIANT_LONG"))  # before support takes it out of the environment

from slurm_cluster import Cluster, in_view_of, why_not, why_no_views  # noqa: E402
from support import BUILD, Daemon, endless, main, pliant, scene, until  # noqa: E402

AWAY_SECONDS = 600
KILLS = 50


def long_only(test):
    """Skipped in the quick form."""
    return test if LONG else None


def settings_in(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("use = slurm\ninterval = 1\n" + text)
    return path


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if why_not():
            raise unittest.SkipTest(why_not())
        cls.cluster = Cluster(2 if LONG else 1)
        cls.addClassCleanup(cls.cluster.stop)
        text = "lead = 15\ngroup short partition = low\nminutes = 1\npilot_seconds = 0\n"
        settings = settings_in(cls.cluster.folder, "batch.conf", text)
        cls.daemon = Daemon("--batch", settings, "--executor", "batch", "--checkpoint-every", "1",
                            "--restart-delays", "0.1,0.1,0.1", "--gpus", "none", "--gpu-plugin",
                            os.path.join(BUILD, "tests", "libpliant_emulated.so"))
        cls.addClassCleanup(cls.daemon.stop)
        cls.client = pliant.Client(state=cls.daemon.state, retry_for=60)
        cls.addClassCleanup(cls.client.close)

    def submit(self, made, **resources):
        return self.client.submit({**made, "resources": {"memory": 2e8, **resources}})

    def wait(self, session, state, seconds=180.0):
        until(lambda: session.refresh().state == state, f"{session.id} to be {state}", seconds)

    def node(self, session):
        return next(j[3] for j in self.cluster.jobs() if f"-{session.id}-" in j[1])

    def frames(self, session):
        return [bytes(memoryview(f.positions).cast("B")) for f in session.frames()]

    def numbers(self, frame):
        return memoryview(frame.positions).cast("B").cast("f")

    def test_sessions_have_the_bits_of_this_machine(self):
        made = [scene(steps=10 + i % 5) for i in range(50 if LONG else 5)]
        here = [self.submit(made[i], executor="local") for i in range(5)]
        there = [self.submit(m, executor="slurm") for m in made]
        for session in here + there:
            self.wait(session, "succeeded")
        expected = [self.frames(s) for s in here]
        for i, session in enumerate(there):
            self.assertEqual(self.frames(session), expected[i % 5])
            self.assertEqual(session.info["resources"]["executor"], "slurm")
            self.assertEqual(session.info["attempt"], 1)
        nodes = {self.node(s) for s in there}
        self.assertEqual(nodes, set(self.cluster.nodes))

    def test_cancel_pause_and_resume(self):
        waits = self.submit(endless(), cores=8)
        self.wait(waits, "running")
        behind = [self.submit(endless(), cores=8) for _ in range(len(self.cluster.nodes))]
        last = behind[-1]
        until(lambda: "Resources" in last.refresh().info["queue"]["reason"], "the queue's reason")
        self.assertEqual(last.state, "queued")
        self.assertGreater(last.info["queue"]["position"], 0)
        for session in behind:
            session.cancel()
            self.wait(session, "cancelled")
        waits.pause()
        self.wait(waits, "paused")
        waits.resume()
        self.wait(waits, "running")
        waits.cancel()
        self.wait(waits, "cancelled")
        until(lambda: all(j[2] not in ("PENDING", "RUNNING") for j in self.cluster.jobs()),
              "the end of the jobs")

    @long_only
    def test_the_controller_is_away(self):
        """For ten minutes, in which sessions end, a session is submitted, and the daemon starts."""
        runs = self.submit(endless(), time_limit=3600)
        ends = self.submit(scene(time={"step": 0.25, "steps": 160, "pace": "realtime"}))
        for session in (runs, ends):
            self.wait(session, "running")
        # Killed, it would forget the last jobs and give their numbers away again.
        self.cluster.kill("ctld", signal.SIGTERM)
        back = time.monotonic() + AWAY_SECONDS
        waits = self.submit(scene())
        until(lambda: "no answer since" in waits.refresh().info["queue"]["reason"]
              or "not accepted" in waits.info["queue"]["reason"], "the silence to be told", 180)
        self.wait(ends, "succeeded")
        frame = runs.refresh().info["progress"]["frame"]
        until(lambda: runs.refresh().info["progress"]["frame"] > frame, "more frames")
        self.restart_daemon()
        runs, waits = (self.client.session(s.id) for s in (runs, waits))
        frame = runs.refresh().info["progress"]["frame"]
        until(lambda: runs.refresh().info["progress"]["frame"] > frame, "more frames")
        runs.cancel()  # needs no controller
        self.wait(runs, "cancelled")
        while time.monotonic() < back:
            self.assertEqual(waits.refresh().state, "queued")
            time.sleep(5)
        self.cluster.start_controller()
        self.wait(waits, "succeeded")
        for session in (runs, ends.refresh(), waits):
            self.assertEqual(session.info["attempt"], 1)
            self.assertLessEqual(self.jobs_of(session), 1)
        until(lambda: not any(j[2] in ("PENDING", "RUNNING") for j in self.cluster.jobs()),
              "the end of the jobs", 180)

    def restart_daemon(self):
        self.daemon.end(signal.SIGKILL)
        self.daemon.start()
        self.client = pliant.Client(state=self.daemon.state, retry_for=60)

    def jobs_of(self, session):
        return sum(session.id in j[1] for j in self.cluster.jobs())

    def test_gpus(self):
        """A job that asks for a GPU gets one of the node's. It is fake: the plug-in computes on
        the processor."""
        made = scene(steps=6)
        solver = {"method": "chebyshev_descent", "iterations": 10, "tolerance": 0,
                  "precision": "double"}
        here = self.submit({**made, "solver": {**solver, "device": "cpu"}}, executor="local")
        first = self.submit({**endless(), "solver": {**solver, "device": "gpu"}})
        self.wait(first, "running")
        job = next(j[0] for j in self.cluster.jobs() if first.id in j[1])
        self.assertRegex(self.cluster.call("scontrol", "show", "job", "-d", job), r"gpu.*IDX:0")
        others = [self.submit({**made, "solver": {**solver, "device": "gpu"}})
                  for _ in self.cluster.nodes]
        last = others[-1]
        if not LONG:  # the only GPU is taken
            until(lambda: "Resources" in last.refresh().info["queue"]["reason"], "the reason")
        first.cancel()
        self.wait(first, "cancelled")
        for session in (here, *others):
            self.wait(session, "succeeded")
        for session in others:
            self.assertEqual(session.info["resources"]["executor"], "slurm")
            for mine, other in zip(session.frames(), here.frames(), strict=True):
                pairs = zip(self.numbers(mine), self.numbers(other), strict=True)
                self.assertLess(max(abs(p - q) for p, q in pairs), 1e-6)

    @long_only
    def test_a_node_is_killed(self):
        made = scene(steps=40, cells=4)
        here = self.submit({**made, "time": {"step": 0.01, "steps": 40}}, executor="local")
        session = self.submit({**made, "time": {"step": 0.25, "steps": 40, "pace": "realtime"}})
        self.wait(session, "running")
        until(lambda: (session.refresh().info["progress"]["frame"] or 0) > 8, "a checkpoint")
        node = self.node(session)
        worker = [p for p in self.cluster._steps()]
        self.cluster.kill(node)
        for pid in worker:
            for child in self.cluster.children(pid):
                os.kill(child, signal.SIGKILL)
            os.kill(pid, signal.SIGKILL)
        self.wait(session, "succeeded", 300)
        self.assertGreater(session.info["attempt"], 1)
        self.assertEqual(session.info["progress"]["frame"], 40)
        self.wait(here, "succeeded")
        self.cluster.start_node(node)
        until(lambda: all(s in ("idle", "mix", "alloc") for s in self.cluster.states()),
              "the node", 120)

    @long_only
    def test_preemption(self):
        session = self.submit(endless(), cores=8)
        self.wait(session, "running")
        node = self.node(session)
        script = os.path.join(self.cluster.folder, "sleep.sh")
        with open(script, "w") as file:
            file.write("#!/bin/sh\nexec sleep 5\n")
        self.cluster.call("sbatch", "--partition=high", f"--nodelist={node}", "--exclusive",
                          "--output=/dev/null", script)
        until(lambda: session.refresh().info["attempt"] == 2, "another attempt", 180)
        self.wait(session, "running")
        session.cancel()
        self.wait(session, "cancelled")

    @long_only
    def test_jobs_are_chained_past_their_time(self):
        """A job has at most one minute (batch.conf) and gets a signal 15 s before its end."""
        session = self.submit(endless())
        self.wait(session, "running")
        until(lambda: session.refresh().info["attempt"] == 2, "the second job", 240)
        self.wait(session, "running")
        session.cancel()
        self.wait(session, "cancelled")

    @long_only
    def test_kills_between_submitting_and_writing_down(self):
        """The daemon is killed as soon as the job is known, at once or shortly after."""
        for number in range(KILLS):
            session = self.submit(scene())
            until(lambda s=session: self.jobs_of(s) > 0, "the job")
            time.sleep(number % 5 * 0.02)
            self.restart_daemon()
            session = self.client.session(session.id)
            self.wait(session, "succeeded")
            self.assertEqual(session.info["attempt"], 1)
            self.assertEqual(self.jobs_of(session), 1)

    @long_only
    def test_a_thousand_sessions_in_few_jobs(self):
        """One second each: in at most 20 pilots, which are busy for 80 % of their time."""
        settings = settings_in(self.cluster.folder, "pilots.conf", "")
        daemon = Daemon("--batch", settings, "--executor", "batch", "--max-sessions-queued", "2000")
        self.addCleanup(daemon.stop)
        client = pliant.Client(state=daemon.state, retry_for=60)
        self.addCleanup(client.close)
        made = {**scene(time={"step": 0.25, "steps": 4, "pace": "realtime"}),
                "resources": {"memory": 2e8, "time_limit": 20}}
        sessions = [client.submit(made) for _ in range(1000)]
        for session in sessions:
            until(lambda s=session: s.refresh().state == "succeeded", "its end", 900)
            self.assertEqual(session.info["attempt"], 1)
        pilots = [j for j in self.cluster.jobs() if "pilot" in j[1]]
        until(lambda: all(j[2] == "COMPLETED" for j in self.cluster.jobs() if "pilot" in j[1]),
              "the end of the pilots", 120)
        held = sum(self.held_seconds(j[0]) for j in pilots)
        busy = sum(self.run_seconds(daemon, s) for s in sessions)
        print(f"1,000 sessions of {busy / 1000:.2f} s in {len(pilots)} jobs: held {held:.0f} s, "
              f"{100 * busy / held:.0f} % of it busy", flush=True)
        self.assertLessEqual(len(pilots), 20)
        self.assertGreaterEqual(busy, 0.8 * held)

    def held_seconds(self, job):
        """For a job with one core."""
        words = dict(w.split("=", 1) for w in self.cluster.call("scontrol", "show", "job",
                                                               job).split() if "=" in w)
        self.assertEqual(words["NumCPUs"], "1")
        start, end = (time.mktime(time.strptime(words[n], "%Y-%m-%dT%H:%M:%S"))
                      for n in ("StartTime", "EndTime"))
        return end - start

    def run_seconds(self, daemon, session):
        path = os.path.join(daemon.state, "sessions", session.id[:2], session.id, "exit.json")
        with open(path) as file:
            return json.load(file)["seconds"]


class TwoViewsTest(unittest.TestCase):
    """The daemon and a node see the state as two machines see a network file system: neither is
    notified of the other's writes."""

    FRAMES = 120 if LONG else 30

    @classmethod
    def setUpClass(cls):
        reason = why_not() or why_no_views()
        if reason:
            raise unittest.SkipTest(reason)
        folder = tempfile.mkdtemp(prefix="pliant-views-")
        cls.addClassCleanup(shutil.rmtree, folder, True)
        cls.state = os.path.join(folder, "state")
        os.mkdir(cls.state, 0o700)
        cls.cluster = Cluster(1, shared=cls.state)
        cls.addClassCleanup(cls.cluster.stop)
        settings = settings_in(cls.cluster.folder, "batch.conf", "pilot_seconds = 0\n")
        cls.daemon = Daemon("--batch", settings, "--executor", "batch", directory=folder,
                            within=lambda command: in_view_of(cls.state, command))
        cls.addClassCleanup(cls.daemon.stop)
        cls.client = pliant.Client(state=cls.state, retry_for=60)
        cls.addClassCleanup(cls.client.close)

    def test_frames_and_controls_are_seen_soon(self):
        for rate in (4, 20, 100) if LONG else (20,):
            with self.subTest(rate=rate):
                self.follow(rate)

    def follow(self, rate):
        made = scene(time={"step": 1 / rate, "pace": "realtime"})
        session = self.client.submit({**made, "resources": {"memory": 2e8}})
        until(lambda: session.refresh().state == "running", "the worker", 120)
        folder = os.path.join(self.state, "sessions", session.id[:2], session.id,
                              "log")
        until(lambda: any(n.endswith(".seg") for n in os.listdir(folder)), "the log")
        log = next(n for n in os.listdir(folder) if n.endswith(".seg"))
        written = Growth(os.path.join(self.cluster.root_of("n1") + folder, log))
        arrived = {}
        newest = session.refresh().info["progress"]["frame"] or 0
        for frame in session.frames(start=newest + rate):
            arrived[frame.number] = time.monotonic()
            if len(arrived) == self.FRAMES:
                break
        asked = time.monotonic()
        session.cancel()
        until(lambda: session.refresh().state == "cancelled", "the end", 60)
        ended = time.monotonic() - asked
        moments = written.moments_of_frames()
        delays = sorted(1000 * (at - moments[k]) for k, at in arrived.items() if k in moments)
        self.assertGreater(len(delays), self.FRAMES // 2)
        print(f"{rate} frames a second: a frame is seen {delays[len(delays) // 2]:.0f} ms after it "
              f"was written (median), {delays[-1]:.0f} ms at most of {len(delays)}; "
              f"cancelled after {1000 * ended:.0f} ms", flush=True)


class Growth(threading.Thread):
    """Watches the size of a log as its writer sees it."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.sizes, self.over = path, [], threading.Event()
        self.start()

    def run(self):
        last = os.stat(self.path).st_size
        while not self.over.is_set():
            size = os.stat(self.path).st_size
            if size != last:
                last = size
                self.sizes.append((size, time.monotonic()))
            time.sleep(0.001)

    def moments_of_frames(self):
        """When each frame written meanwhile was written, by its number."""
        self.over.set()
        self.join()
        with open(self.path, "rb") as file:
            data = file.read()
        moments, at, k = {}, 0, 0
        while at + 48 <= len(data):
            kind, frame, length = struct.unpack_from("<6xH16xQQ", data, at)
            at += 48 + (length + 7) // 8 * 8
            while k < len(self.sizes) and self.sizes[k][0] < at:
                k += 1
            if kind == 2 and 0 < k < len(self.sizes):
                moments[frame] = self.sizes[k][1]
        return moments


if __name__ == "__main__":
    main()
