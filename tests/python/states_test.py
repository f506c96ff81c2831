"""State directories that daemons of earlier commits left (tests/states): today's daemon upgrades
the database, reads their frames, and continues paused and killed sessions."""

import glob
import os
import shutil
import sqlite3
import tarfile
import unittest

from support import ROOT, Daemon, main, pliant, until

ARCHIVES = sorted(glob.glob(os.path.join(ROOT, "tests", "states", "db*.tar.xz")))
MORE = 3
# The engine's model has changed since: on the same kind of machine sessions fail and keep frames.
OTHER_MODEL = {2}


class States(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("--gpus", "none")
        self.addCleanup(self.daemon.stop)

    def put(self, archive):
        """Unpacks the state in place of the daemon's; returns the format of its database."""
        self.daemon.end()
        shutil.rmtree(self.daemon.state)
        with tarfile.open(archive) as file:
            file.extractall(self.daemon.directory)
        os.chmod(self.daemon.state, 0o700)
        base = sqlite3.connect(os.path.join(self.daemon.state, "pliant.db"))
        version = base.execute("PRAGMA user_version").fetchone()[0]
        base.close()
        self.daemon.start()
        return version

    def kept(self, session):
        last = session.refresh().last_frame
        return [bytes(session.frame(k).positions) for k in range(min(last, 40) + 1)]

    def on_another_machine(self, session):
        """True if its earlier worker had another numerics class: no model is compared then, and
        the session is computed again. False once it is over."""
        path = os.path.join(self.daemon.state, "sessions", session.id[:2], session.id, "worker.log")

        def changed():
            if not os.path.exists(path):
                return False
            with open(path, encoding="utf-8") as file:
                return "numerics class changed from" in file.read()

        until(lambda: session.refresh().over or changed(), "the end or the worker's log")
        return changed()

    def goes_on(self, number, session, begin):
        last = session.refresh().last_frame
        before = self.kept(session)
        begin()
        if number in OTHER_MODEL and not self.on_another_machine(session):
            self.assertIn("the checkpoint belongs to another model", str(session.failure))
        else:
            until(lambda: session.over or session.refresh().last_frame > last + MORE, "more frames")
            self.assertFalse(session.over, session.failure)
            session.cancel()
            session.wait()
        self.assertEqual(self.kept(session)[: len(before)], before)

    def look(self, number):
        with pliant.Client(state=self.daemon.state, retry_for=60) as client:
            sessions = {s.name: s for s in client.sessions()}
            over = sessions["over"]
            self.assertEqual(over.state, "succeeded")
            self.assertEqual(len(self.kept(over)), 4)
            self.assertEqual(over.scene()["name"], "over")
            self.goes_on(number, sessions["ran"], lambda: None)
            if number > 1:  # the first version could not pause
                paused = sessions["paused"]
                self.assertEqual(paused.state, "paused")
                self.goes_on(number, paused, paused.resume)

    def test_each(self):
        self.assertEqual(len(ARCHIVES), 6)
        for number, archive in enumerate(ARCHIVES, 1):
            with self.subTest(os.path.basename(archive)):
                self.assertEqual(self.put(archive), number)
                self.look(number)


if __name__ == "__main__":
    main()
