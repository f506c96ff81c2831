"""Sessions as jobs of a real Slurm, on a private cluster (slurm_cluster.py). The quick form has one
node and five sessions; PLIANT_LONG=1 (make check-slurm) has two nodes, fifty sessions and failures.
SKIP without Slurm."""

import json
import os
import signal
import sys
import time
import unittest

LONG = bool(os.environ.get("PLIANT_LONG"))  # before support takes it out of the environment

from slurm_cluster import Cluster, why_not  # noqa: E402
from support import Daemon, endless, main, pliant, scene, until  # noqa: E402


def long_only(test):
    """Skipped in the quick form."""
    return test if LONG else None


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(2 if LONG else 1)
        cls.addClassCleanup(cls.cluster.stop)
        settings = os.path.join(cls.cluster.folder, "batch.conf")
        with open(settings, "w") as file:
            file.write("use = slurm\ninterval = 1\nlead = 15\ngroup short partition = low\n"
                       "minutes = 1\npilot_seconds = 0\n")
        cls.daemon = Daemon("--batch", settings, "--executor", "batch", "--checkpoint-every", "1",
                            "--restart-delays", "0.1,0.1,0.1")
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
        runs = self.submit(endless())
        self.wait(runs, "running")
        self.cluster.kill("ctld")
        waits = self.submit(scene())
        until(lambda: "no answer since" in waits.refresh().info["queue"]["reason"]
              or "not accepted" in waits.info["queue"]["reason"], "the silence to be told", 180)
        frame = runs.refresh().info["progress"]["frame"]
        until(lambda: runs.refresh().info["progress"]["frame"] > frame, "more frames")
        runs.cancel()  # needs no controller
        self.wait(runs, "cancelled")
        self.cluster.start_controller()
        self.wait(waits, "succeeded")
        self.assertEqual(waits.info["attempt"], 1)

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
            for child in os.popen(f"ps -o pid= --ppid {pid}").read().split():
                os.kill(int(child), signal.SIGKILL)
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
        """The daemon is killed as soon as the job's id is printed, or the job is known."""
        for _ in range(10):
            session = self.submit(scene())
            until(lambda: any(session.id in j[1] for j in self.cluster.jobs()), "the job")
            self.daemon.end(signal.SIGKILL)
            os.remove(os.path.join(self.daemon.state, "url"))
            self.daemon.start()
            self.client = pliant.Client(state=self.daemon.state, retry_for=60)
            session = self.client.session(session.id)
            self.wait(session, "succeeded")
            self.assertEqual(session.info["attempt"], 1)
            self.assertEqual(sum(session.id in j[1] for j in self.cluster.jobs()), 1)

    @long_only
    def test_a_thousand_sessions_in_few_jobs(self):
        """Of a second each: in at most 20 pilots, which are busy for 80 % of what they hold."""
        settings = os.path.join(self.cluster.folder, "pilots.conf")
        with open(settings, "w") as file:
            file.write("use = slurm\ninterval = 1\n")
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
        """Of a job with one core."""
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


if __name__ == "__main__":
    reason = why_not()
    if reason:
        print(f"SKIP slurm_test: {reason}")
        sys.exit(0)
    main()
