"""pliantd support-bundle: required contents, and secrets that must be missing."""

import glob
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import zipfile

from support import BUILD, Daemon, main, pliant, scene

PRIVATE = ["gretel", "hidden-name", "hidden-label", "hidden-meta", "hook-secret", "hidden-token",
           "hidden-group"]


class Bundle(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("--webhook-allow", "127.0.0.0/8")
        self.addCleanup(self.daemon.stop)
        self.folder = tempfile.mkdtemp(prefix="pliant-bundle-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def command(self, *words, expect=0):
        done = subprocess.run([os.path.join(BUILD, "pliantd"), *words], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, expect, done.stderr + done.stdout)
        return done.stdout

    def fill(self):
        """Makes secrets of every kind; returns the texts that must not appear."""
        state = ("--state", self.daemon.state)
        self.command("user", "create", "gretel", *state)
        self.command("group", "create", "hidden-group", *state)
        made = json.loads(self.command("token", "create", "--user", "gretel", "--name",
                                       "hidden-token", "--json", *state))
        private = scene(steps=1, labels={"hidden-label": "x"}, metadata={"hidden-meta": 1})
        private.update(name="hidden-name", webhook={"url": "http://127.0.0.1:9/hook-secret"})
        with pliant.Client(state=self.daemon.state) as client:
            with pliant.Client(client.url, token=made["token"]) as gretel:
                over = gretel.submit(private)
                over.wait()
                over.share()
            falls = scene(steps=3, pins=[{"body": "box", "select": {"side": "-x"}}])
            falls["solver"].update(iterations=1, tolerance=1e-14, on_not_converged="fail")
            failed = client.submit(falls)
            self.assertEqual(failed.wait(check=False).state, "failed")
        secrets = [made["token"], self.daemon.token]
        with open(os.path.join(self.daemon.state, "webhook-key"), "rb") as file:
            key = file.read()
        return failed, [
            *(text.encode() for text in secrets),
            *(hashlib.sha256(text.encode()).hexdigest().encode() for text in secrets),
            key, key.hex().encode(), *(text.encode() for text in PRIVATE),
        ]

    def test_what_a_report_needs_without_secrets(self):
        failed, hidden = self.fill()
        path = os.path.join(self.folder, "bundle.zip")
        log = os.path.join(self.folder, "log")
        with open(log, "wb") as file:
            file.write(b"began\ntoken " + hidden[0] + b"\n")
        self.command("support-bundle", path, "--log", log, "--state", self.daemon.state, "--gpus",
                     "none", "--cores", "2")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            parts = {name: archive.read(name) for name in archive.namelist()}
        for name, data in parts.items():
            for secret in hidden:
                self.assertNotIn(secret, data, name)
        self.assertTrue(json.loads(parts["doctor.json"])["running"])
        self.assertIn(b"cores = 2", parts["options.txt"])
        self.assertIn(b"pliant.db", parts["state.txt"])
        self.assertIn(b"2 rows of sessions", parts["database.txt"])
        self.assertIn(b"[64 hex digits]", parts["log.txt"])
        sessions = {s["id"]: s for s in json.loads(parts["sessions.json"])}
        self.assertEqual(sessions[failed.id]["failure"]["code"], "not_converged")
        report = json.loads(parts[f"failed/{failed.id}/exit.json"])
        self.assertEqual(report["state"], "failed")
        self.command("support-bundle", path, "--state", self.daemon.state, expect=1)  # it exists
        self.command("support-bundle", "--state", self.daemon.state, expect=2)
        self.assertEqual(glob.glob("/tmp/pliant-bundle-??????/pliant.db"), [])


if __name__ == "__main__":
    main()
