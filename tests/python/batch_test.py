"""Sessions in a batch system, here a shell script (tests/support/fake_batch.sh), that rejects jobs,
does not answer, loses jobs, or outlives the daemon."""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest

LONG = bool(os.environ.get("PLIANT_LONG"))  # before support takes it out of the environment
KILLS = 50 if LONG else 2

from support import BUILD, ROOT, Daemon, endless, main, pliant, scene, until  # noqa: E402

FAKE = os.path.join(ROOT, "tests", "support", "fake_batch.sh")
BATCH = {"executor": "batch"}


class System:
    """The fake batch system, in a daemon's folder."""

    def __init__(self, folder, settings="pilot_seconds = 0\n"):
        self.folder = folder
        os.makedirs(os.path.join(folder, "jobs"))
        self.file = os.path.join(folder, "fake.conf")
        command = f"/bin/sh {FAKE} {folder}"
        with open(self.file, "w") as file:
            file.write("use = slurm\nname = fake\ninterval = 1\ngrace = 0\ntimeout = 20\n"
                       f"submit = {command} submit {{name}} {{script}}\n"
                       f"query = {command} query\ncancel = {command} cancel {{job}}\n"
                       f"signal = {command} signal {{job}}\n{settings}")

    def set(self, name, text=""):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(str(text))

    def clear(self, *names):
        for name in names:
            if os.path.exists(os.path.join(self.folder, name)):
                os.remove(os.path.join(self.folder, name))

    def call(self, *words):
        subprocess.run(["/bin/sh", FAKE, self.folder, *words], check=True)

    def read(self, job, name):
        try:
            with open(os.path.join(self.folder, "jobs", job, name)) as file:
                return file.read().strip()
        except FileNotFoundError:
            return ""

    def asked_in_vain(self):
        with open(os.path.join(self.folder, "silent")) as file:
            return len(file.read().split())

    def named(self, begin):
        """Numbers of the jobs whose names begin so, in order."""
        jobs = os.listdir(os.path.join(self.folder, "jobs"))
        return sorted((j for j in jobs if self.read(j, "name").startswith(begin)), key=int)

    def jobs(self, session):
        return self.named(f"pliant-{session.id}-")

    def pilots(self):
        return self.named("pliant-pilot-")


class Sessions(unittest.TestCase):
    """A daemon with the fake."""

    settings = "pilot_seconds = 0\n"

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="pliant-batch-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.system = System(folder, cls.settings)
        cls.daemon = Daemon("--restart-delays", "0.1,0.1,0.1", "--checkpoint-every", "1",
                            "--batch", cls.system.file)
        cls.addClassCleanup(cls.daemon.stop)
        cls.connect()

    @classmethod
    def connect(cls):
        cls.client = pliant.Client(state=cls.daemon.state, retry_for=60)

    def setUp(self):
        self.system.clear("refuse", "hold", "die", "mute", "kill", "late", "silent")

    def submit(self, made=None, **resources):
        made = made or scene()
        return self.client.submit({**made, "resources": {**BATCH, **resources}})

    def wait(self, session, state):
        until(lambda: session.refresh().state == state, f"{session.id} to be {state}")

    def reason(self, session):
        return session.refresh().info["queue"]["reason"]

    def frames(self, session):
        return [bytes(memoryview(f.positions).cast("B")) for f in session.frames()]

    def kill_daemon(self):
        """It is killed, now or already by this test, and another one starts."""
        if self.daemon.process.poll() is None:
            self.daemon.process.kill()
        self.daemon.process.wait(60)
        self.daemon.process = None
        os.remove(os.path.join(self.daemon.state, "url"))  # of the one that was killed
        self.daemon.start()
        self.connect()


class BatchTest(Sessions):
    def test_same_bits_as_on_this_machine(self):
        here = self.client.submit(scene())
        there = self.submit()
        self.wait(here, "succeeded")
        self.wait(there, "succeeded")
        self.assertEqual(self.frames(here), self.frames(there))
        self.assertEqual(here.info["resources"]["executor"], "local")
        self.assertEqual(there.info["resources"]["executor"], "fake")
        self.assertIsNone(there.info["resources"]["job"])
        self.assertEqual(self.system.read(self.system.jobs(there)[0], "state"), "COMPLETED")
        with self.assertRaises(pliant.PliantError):
            self.client.submit({**scene(), "resources": {"executor": "slurm"}})

    def test_refused_submissions_are_repeated(self):
        self.system.set("refuse", 2)
        session = self.submit()
        until(lambda: "violates accounting" in self.reason(session), "the refusal to be told")
        self.wait(session, "succeeded")
        self.assertEqual(len(self.system.jobs(session)), 1)
        self.assertEqual(session.info["attempt"], 1)

    def test_a_silent_system_says_nothing(self):
        self.system.set("hold")
        waits, runs = self.submit(), None
        until(lambda: "Resources" in self.reason(waits), "the place in the queue")
        self.assertEqual(waits.info["queue"]["code"], "batch")
        self.assertGreater(waits.info["queue"]["position"], 0)
        self.system.clear("hold")
        runs = self.submit(endless())
        self.wait(runs, "running")
        self.system.set("silent")
        until(lambda: "no answer since" in self.reason(waits), "the silence to be told")
        until(lambda: self.system.asked_in_vain() > 3, "more failed queries than prove an end")
        self.assertEqual(runs.refresh().state, "running")
        runs.cancel()  # through control.log: exit.json has the end
        self.wait(runs, "cancelled")
        self.assertEqual(self.reason(waits)[:5], "fake:")
        self.system.clear("silent")
        self.system.call("release")
        self.wait(waits, "succeeded")
        self.assertEqual(len(self.system.jobs(waits)), 1)

    def test_jobs_that_die_before_the_first_word(self):
        """Ends according to the batch system's state: a crash, out of memory, or not the
        session's fault."""
        words = [("FAILED", "worker_crashed", 4), ("OUT_OF_MEMORY", "out_of_memory", 2)]
        for word, code, count in words + LONG * [("TIMEOUT", "worker_crashed", 4)]:
            self.system.set("die", word)
            session = self.submit()
            self.wait(session, "failed")
            self.assertEqual(session.info["failure"]["code"], code)
            self.assertIn(f"ended as {word}", session.info["failure"]["message"])
            self.assertEqual(len(self.system.jobs(session)), count)
        self.system.set("die", "NODE_FAIL")
        session = self.submit()
        until(lambda: len(self.system.jobs(session)) > 5, "more jobs than a crash may have")
        self.system.clear("die")
        self.wait(session, "succeeded")

    def test_a_submission_of_unknown_outcome_is_found(self):
        self.system.set("mute")
        session = self.submit()
        until(lambda: self.system.jobs(session), "the job")
        self.system.clear("mute")
        self.wait(session, "succeeded")
        self.assertEqual(len(self.system.jobs(session)), 1)

    def test_a_daemon_killed_between_submitting_and_writing_down(self):
        for i in range(KILLS):
            self.system.set("hold")
            self.system.set(("kill", "late")[i % 2], self.daemon.process.pid)
            session = self.submit()
            self.daemon.process.wait(60)
            self.kill_daemon()
            session = self.client.session(session.id)
            until(lambda s=session: "Resources" in self.reason(s), "the place in the queue")
            self.system.clear("hold")
            self.system.call("release")
            self.wait(session, "succeeded")
            self.assertEqual(len(self.system.jobs(session)), 1)
            self.assertEqual(session.info["attempt"], 1)

    def test_cancel_and_pause_while_it_waits(self):
        self.system.set("hold")
        cancelled, paused = self.submit(), self.submit()
        for session in (cancelled, paused):
            until(lambda s=session: "Resources" in self.reason(s), "the place in the queue")
        cancelled.cancel()
        paused.pause()
        self.assertEqual(cancelled.refresh().state, "cancelled")
        self.assertEqual(paused.refresh().state, "paused")
        for session in (cancelled, paused):
            job = self.system.jobs(session)[0]
            until(lambda j=job: self.system.read(j, "state") == "CANCELLED", "its job's cancel")
        self.system.clear("hold")
        paused.resume()
        self.wait(paused, "succeeded")
        self.assertEqual(len(self.system.jobs(paused)), 2)

    def test_workers_stop_at_the_daemons_end(self):
        session = self.submit(endless())
        self.wait(session, "running")
        self.daemon._options += ["--on-exit", "stop"]
        self.daemon.end()
        self.daemon.start()  # this daemon ends normally
        self.connect()
        session = self.client.session(session.id)
        self.assertEqual(session.state, "running")
        self.daemon.end()
        self.assertEqual(self.system.read(self.system.jobs(session)[0], "state"), "FAILED")
        del self.daemon._options[-2:]
        self.daemon.start()
        self.connect()
        session = self.client.session(session.id)
        until(lambda: session.refresh().info["attempt"] == 2, "another job")
        self.wait(session, "running")
        self.assertEqual(len(self.system.jobs(session)), 2)
        session.cancel()
        self.wait(session, "cancelled")

    def test_reindex_keeps_the_executor(self):
        session = self.submit()
        self.wait(session, "succeeded")
        self.daemon.end()
        subprocess.run([os.path.join(BUILD, "pliantd"), "--state", self.daemon.state,
                        "--reindex"], check=True, capture_output=True)
        self.daemon.start()
        self.connect()
        session = self.client.session(session.id)
        self.assertEqual(session.info["resources"]["executor"], "fake")
        self.assertEqual(session.state, "succeeded")

    def test_a_lost_job_goes_on_with_the_same_bits(self):
        lost = self.submit(endless())
        until(lambda: (lost.refresh().info["progress"]["frame"] or 0) > 120, "a checkpoint")
        job = self.system.jobs(lost)[0]
        with open(os.path.join(self.system.folder, "jobs", job, "word"), "w") as file:
            file.write("NODE_FAIL")
        os.kill(int(self.system.read(job, "pid")), signal.SIGKILL)
        until(lambda: lost.refresh().info["attempt"] == 2 and lost.state == "running", "a new job")
        before = lost.info["progress"]["frame"]
        until(lambda: lost.refresh().info["progress"]["frame"] > before + 20, "more frames")
        lost.cancel()
        self.wait(lost, "cancelled")
        frames = self.frames(lost)
        here = self.client.submit(scene(steps=len(frames) - 1))
        self.wait(here, "succeeded")
        self.assertEqual(self.frames(here), frames)
        self.assertEqual(len(self.system.jobs(lost)), 2)

    def test_pause_and_somebody_elses_cancel(self):
        paused, taken = self.submit(endless()), self.submit(endless())
        self.wait(paused, "running")
        paused.pause()
        self.wait(paused, "paused")
        paused.resume()
        self.wait(paused, "running")
        paused.cancel()
        self.wait(paused, "cancelled")
        self.wait(taken, "running")
        self.system.call("cancel", self.system.jobs(taken)[0])
        self.wait(taken, "paused")
        self.assertIn("CANCELLED", taken.info["message"])
        taken.resume()
        self.wait(taken, "running")
        taken.cancel()
        self.wait(taken, "cancelled")


class PilotsTest(Sessions):
    """Short sessions share jobs."""

    settings = "pilot_seconds = 170\npilot_idle = 1\npilot_jobs = 2\n"

    def setUp(self):
        super().setUp()
        self.before = self.system.pilots()

    def tearDown(self):
        """An idle pilot ends by itself."""
        for job in self.system.pilots():
            until(lambda j=job: self.system.read(j, "state") not in ("PENDING", "RUNNING"),
                  "the end of the pilots")

    def pilots(self):
        return [j for j in self.system.pilots() if j not in self.before]

    def endless(self):
        return self.submit(endless(), time_limit=170)

    def files(self, session, ending):
        """The names of its assignment files."""
        top = os.path.join(self.daemon.state, "pilots")
        found = [f for folder in os.listdir(top) for f in os.listdir(os.path.join(top, folder))]
        return [f for f in found if f.startswith(session.id) and f.endswith(ending)]

    def again(self, session):
        """As the present client sees it."""
        return self.client.session(session.id)

    def children(self, job):
        pid = self.system.read(job, "pid")
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]

    def test_thirty_sessions_in_few_jobs(self):
        here = self.client.submit(scene())
        self.system.set("hold")
        first = self.submit()
        until(lambda: "Resources" in self.reason(first), "the place in the queue")
        self.assertEqual(first.info["resources"]["job"], self.pilots()[0])
        there = [first] + [self.submit() for _ in range(29)]
        until(lambda: all(self.files(s, ".todo") for s in there), "the assignments")
        self.system.clear("hold")
        self.system.call("release")
        for session in there + [here]:
            self.wait(session, "succeeded")
        expected = self.frames(here)
        for session in there:
            self.assertEqual(self.frames(session), expected)
            self.assertEqual(session.info["attempt"], 1)
            self.assertEqual(self.system.jobs(session), [])
        self.assertEqual(len(self.pilots()), 1)
        folder = os.path.join(self.daemon.state, "pilots")
        until(lambda: not os.listdir(folder), "nothing to be left of the pilots")

    def test_the_number_of_pilots(self):
        """It grows with the work, up to the maximum; pilots that are no longer needed are
        cancelled. One whose submission seemed to fail is found by its name."""
        self.system.set("hold")
        self.system.set("mute")
        sessions = [self.endless()]
        until(lambda: self.pilots(), "the first one")
        self.system.clear("mute")
        sessions += [self.endless() for _ in range(5)]
        for session in sessions:
            until(lambda s=session: "Resources" in self.reason(s), "the place in the queue")
        self.assertEqual(len(self.pilots()), 2)
        for session in sessions:
            session.cancel()
        until(lambda: all(self.system.read(j, "state") == "CANCELLED" for j in self.pilots()),
              "the cancel of the pilots")

    def test_cancel_of_one_that_waits_and_one_that_runs(self):
        runs = self.endless()
        self.wait(runs, "running")
        cancelled, paused, last = self.submit(), self.submit(), self.submit()
        for session in (cancelled, paused, last):
            until(lambda s=session: self.files(s, ".todo"), "the assignments")
        cancelled.cancel()
        paused.pause()
        for session in (cancelled, paused):
            until(lambda s=session: not self.files(s, ""), "the files to be taken away")
        runs.cancel()
        self.wait(runs, "cancelled")
        self.wait(last, "succeeded")
        self.assertEqual(cancelled.refresh().state, "cancelled")
        self.assertEqual(paused.refresh().state, "paused")
        paused.resume()
        self.wait(paused, "succeeded")
        self.assertIsNone(cancelled.info["progress"]["frame"])

    def kill_pilot(self, session, word, and_worker):
        """The pilot of a running session; returns the batch system's word for it."""
        until(lambda: self.files(session, ".run"), "its worker")
        job = session.refresh().info["resources"]["job"]
        with open(os.path.join(self.system.folder, "jobs", job, "word"), "w") as file:
            file.write(word)
        workers = self.children(job)
        for pid in [int(self.system.read(job, "pid"))] + workers * and_worker:
            os.kill(pid, signal.SIGKILL)
        until(lambda: session.refresh().info["attempt"] == 2, "another attempt")
        self.wait(session, "running")

    def test_a_pilot_is_killed_with_its_worker(self):
        """Assignments that it had not taken go elsewhere as the same attempt. A worker that dies
        alone is a crash, and its session continues in its own job."""
        runs = self.endless()
        waiting = [self.submit() for _ in range(3)]
        self.wait(runs, "running")
        self.kill_pilot(runs, "FAILED", True)
        until(lambda: self.files(runs, ".run"), "its worker")
        self.assertEqual(self.system.jobs(runs), [])
        os.kill(self.children(runs.refresh().info["resources"]["job"])[0], signal.SIGKILL)
        until(lambda: self.system.jobs(runs), "a job of its own")
        self.wait(runs, "running")
        for session in waiting:
            self.wait(session, "succeeded")
            self.assertEqual(session.info["attempt"], 1)
        runs.cancel()
        self.wait(runs, "cancelled")

    def test_a_pilot_is_killed_alone(self):
        """Its worker stops at a checkpoint."""
        runs = self.endless()
        self.wait(runs, "running")
        self.kill_pilot(runs, "NODE_FAIL", False)
        runs.cancel()
        self.wait(runs, "cancelled")
        expected = runs.info["progress"]["frame"] + 1
        self.assertEqual(len(self.frames(runs)), expected)

    def test_workers_stop_at_the_daemons_end(self):
        session = self.endless()
        self.wait(session, "running")
        self.daemon._options += ["--on-exit", "stop"]
        self.daemon.end()
        self.daemon.start()  # this one ends so
        self.connect()
        self.wait(session := self.again(session), "running")
        self.daemon.end()
        self.assertEqual(self.system.read(self.pilots()[0], "state"), "COMPLETED")
        del self.daemon._options[-2:]
        self.daemon.start()
        self.connect()
        session = self.again(session)
        until(lambda: session.refresh().info["attempt"] == 2, "another attempt")
        self.wait(session, "running")
        session.cancel()
        self.wait(session, "cancelled")

    def test_the_daemon_is_killed(self):
        """As soon as a pilot is submitted, and while it runs sessions."""
        self.system.set("kill", self.daemon.process.pid)
        runs = self.endless()
        self.daemon.process.wait(60)
        self.kill_daemon()
        self.wait(runs := self.again(runs), "running")
        waiting = [self.submit() for _ in range(4)]
        until(lambda: self.files(waiting[-1], ".todo"), "the assignments")
        self.kill_daemon()
        waiting = [self.again(s) for s in waiting]
        runs = self.again(runs)
        self.assertEqual(runs.state, "running")
        runs.cancel()
        self.wait(runs, "cancelled")
        for session in waiting:
            self.wait(session, "succeeded")
            self.assertEqual(session.info["attempt"], 1)
        self.assertEqual(len(self.pilots()), 1)


if __name__ == "__main__":
    main()
