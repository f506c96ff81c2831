"""pliantd backup beside running sessions, and pliantd restore onto another state."""

import glob
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from support import BUILD, Daemon, endless, main, pliant, scene, until


def frames_of(session, count):
    """The bytes of the first frames."""
    return [bytes(session.frame(k).positions) for k in range(count)]


class Backup(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("--cores", "1", "--checkpoint-every", "1")
        self.addCleanup(self.daemon.stop)
        self.folder = tempfile.mkdtemp(prefix="pliant-backup-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def command(self, *words, expect=0):
        done = subprocess.run([os.path.join(BUILD, "pliantd"), *words], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, expect, done.stderr + done.stdout)
        return done.stdout + done.stderr

    def back_up(self, *options):
        text = self.command("backup", self.folder, "--state", self.daemon.state, "--json", *options)
        return os.path.join(self.folder, json.loads(text)["name"])

    def restore(self, backup, *options):
        """A daemon on the restored state."""
        other = Daemon(*options)
        self.addCleanup(other.stop)
        other.end()
        shutil.rmtree(other.state)
        self.command("restore", backup, "--state", other.state)
        other.start()
        return other

    def client(self, daemon, **more):
        client = pliant.Client(state=daemon.state, retry_for=60, **more)
        self.addCleanup(client.close)
        return client

    def test_sessions_that_ran_go_on_with_the_same_bits(self):
        client = self.client(self.daemon)
        self.command("user", "create", "anna", "--state", self.daemon.state)
        token = json.loads(self.command("token", "create", "--user", "anna", "--json",
                                        "--state", self.daemon.state))["token"]
        over = client.submit(scene(steps=5))
        over.wait()
        runs = client.submit(endless())
        waits = client.submit(scene(steps=7))
        until(lambda: (runs.refresh().last_frame or 0) >= 5, "the first frames")
        deleted = client.submit(scene(steps=1))
        deleted.delete()
        backup = self.back_up()

        other = self.client(self.restore(backup, "--cores", "1"))
        listed = {s.id for s in other.sessions()}
        self.assertLessEqual({over.id, runs.id, waits.id}, listed)
        again = other.session(runs.id)
        known = runs.refresh().last_frame
        until(lambda: (again.refresh().last_frame or 0) >= known + 5, "more frames of the copy")
        until(lambda: runs.refresh().last_frame >= known + 5, "more frames of the original")
        self.assertEqual(again.state, "running")
        self.assertEqual(frames_of(again, known + 5), frames_of(runs, known + 5))
        again.cancel()
        runs.cancel()
        for session in (waits, other.session(waits.id)):
            self.assertEqual(session.wait().state, "succeeded")
        self.assertEqual(frames_of(other.session(waits.id), 8), frames_of(waits, 8))
        self.assertEqual(frames_of(other.session(over.id), 6), frames_of(over, 6))
        anna = pliant.Client(other.url, token=token)
        self.addCleanup(anna.close)
        self.assertEqual(anna.me()["user"], "anna")

    def test_later_backups_share_what_has_not_changed(self):
        client = self.client(self.daemon)
        session = client.submit(scene(steps=3))
        session.wait()
        first = self.back_up()
        second = self.back_up("--keep", "1", "--with-secrets")
        self.assertFalse(os.path.exists(first))
        for text in ("scene.json", "log/0001-0000.seg"):
            path = os.path.join("sessions", session.id[:2], session.id, text)
            with open(os.path.join(second, path), "rb") as a:
                with open(os.path.join(self.daemon.state, path), "rb") as b:
                    self.assertEqual(a.read(), b.read())
        third = self.back_up()
        with open(os.path.join(third, "backup.json")) as file:
            self.assertGreater(json.load(file)["shared_bytes"], 0)
        kept = os.stat(os.path.join(second, path))
        self.assertEqual(os.stat(os.path.join(third, path)).st_ino, kept.st_ino)
        self.assertFalse(os.path.exists(os.path.join(third, "token")))
        other = self.restore(second)
        self.assertEqual(other.token, self.daemon.token)
        self.assertEqual(self.client(other).session(session.id).state, "succeeded")

    def rows(self, folder):
        """id -> (state, attempt) from a database that no process has open."""
        base = sqlite3.connect(os.path.join(folder, "pliant.db"))
        self.addCleanup(base.close)
        return {r[0]: r[1:] for r in base.execute("SELECT id, state, attempt FROM sessions")}

    def test_rows_follow_their_directories(self):
        client = self.client(self.daemon)
        gone = client.submit(scene(steps=1))
        gone.wait()
        ahead = client.submit(endless())
        until(lambda: (ahead.refresh().last_frame or 0) >= 2, "frames")
        ahead.pause()
        until(lambda: ahead.refresh().state == "paused", "the pause")
        self.daemon.end()
        old = os.path.join(self.folder, "old.db")
        shutil.copy(os.path.join(self.daemon.state, "pliant.db"), old)
        self.daemon.start()
        ahead = self.client(self.daemon).session(ahead.id)
        ahead.resume()
        until(lambda: ahead.refresh().state == "running", "the next attempt")
        ahead.cancel()
        ahead.wait()
        self.daemon.end()
        newest = self.rows(self.daemon.state)
        # The database is older than the directories, and one directory is missing.
        shutil.copy(old, os.path.join(self.daemon.state, "pliant.db"))
        self.assertEqual(self.rows(self.daemon.state)[ahead.id], ("paused", 1))
        shutil.rmtree(os.path.join(self.daemon.state, "sessions", gone.id[:2], gone.id))
        self.assertEqual(self.rows(self.back_up()), {ahead.id: newest[ahead.id]})
        self.assertEqual(newest[ahead.id], ("cancelled", 2))
        with sqlite3.connect(os.path.join(self.daemon.state, "pliant.db")) as base:
            base.execute("UPDATE sessions SET owner = 'somebody'")
        base.close()
        said = self.command("backup", self.folder, "--state", self.daemon.state, expect=1)
        self.assertIn("a row of a session is damaged", said)
        self.assertEqual(glob.glob(os.path.join(self.folder, "*.partial")), [])

    def test_damage_is_found(self):
        session = self.client(self.daemon).submit(scene(steps=3))
        session.wait()
        backup = self.back_up()
        target = os.path.join(self.folder, "target")
        path = glob.glob(os.path.join(backup, "sessions", "*", "*", "topology.json"))[0]
        with open(path, "r+b") as file:
            first = file.read(1)
            file.seek(0)
            file.write(bytes([first[0] ^ 1]))
        said = self.command("restore", backup, "--state", target, expect=1)
        self.assertIn("topology.json: is damaged in the backup", said)
        self.assertFalse(os.path.exists(os.path.join(target, "pliant.db")))
        # The next backup must not inherit the damage.
        said = self.command("backup", self.folder, "--state", self.daemon.state)
        self.assertIn("topology.json: was damaged in the previous backup", said)
        newest = max(glob.glob(os.path.join(self.folder, "2*")), key=os.path.getmtime)
        self.command("restore", newest, "--state", os.path.join(self.folder, "good"))

    def test_restore_is_careful(self):
        backup = self.back_up()
        said = self.command("restore", backup, "--state", self.daemon.state, expect=1)
        self.assertIn("is not empty", said)
        os.remove(os.path.join(backup, "backup.json"))
        target = os.path.join(self.folder, "target")
        said = self.command("restore", backup, "--state", target, expect=1)
        self.assertIn("is not a complete backup", said)
        self.command("backup", self.folder, expect=2)
        self.command("backup", self.folder, "--state", target, expect=1)


if __name__ == "__main__":
    main()
