"""pliantd doctor reports each broken state with advice, and by its exit status."""

import json
import os
import resource
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest

from support import BUILD, Daemon, main, pliant, scene, until


class Doctor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        with pliant.Client(state=cls.daemon.state) as client:
            client.submit(scene(steps=1)).wait()
        cls.running = cls.look(cls.daemon.state)
        cls.daemon.end()

    @staticmethod
    def look(state, *options, **more):
        command = [os.path.join(BUILD, "pliantd"), "doctor", "--json", "--state", state, "--gpus",
                   "none", *(options or ["--listen", "127.0.0.1:0"])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
        report = json.loads(done.stdout)
        errors = [c for c in report["checks"] if c["level"] == "error"]
        assert done.returncode == (1 if errors else 0), done.stderr
        assert report["healthy"] == (not errors)
        assert all(c["advice"] for c in report["checks"] if c["level"] != "ok")
        return report

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pliant-doctor-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.state = os.path.join(self.folder, "state")
        shutil.copytree(self.daemon.state, self.state)

    def path(self, name):
        return os.path.join(self.state, name)

    def sees(self, check, level, words, *options, **more):
        report = self.look(self.state, *options, **more)
        found = [c for c in report["checks"] if c["check"] == check and c["level"] == level]
        self.assertIn(words, " ".join(c["message"] for c in found), report)
        if level == "error":
            others = [c for c in report["checks"] if c["level"] == level and c["check"] != check]
            self.assertEqual(others, [])

    def test_a_network_file_system(self):
        view = os.path.join(BUILD, "tests", "node_view")
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.W_OK) or not os.path.exists(view):
            self.skipTest("it takes root and FUSE")
        mount = os.path.join(self.folder, "mount")
        os.mkdir(mount)
        process = subprocess.Popen([view, self.folder, mount, "0", "0", "0"])

        def end():
            process.terminate()
            process.wait(60)
            subprocess.run(["umount", "--lazy", mount], capture_output=True)

        self.addCleanup(end)
        self.state = os.path.join(mount, "state")
        until(lambda: os.path.exists(self.state), "the mount")
        self.sees("disk", "error", "network file system")
        jobs = ["--batch", "slurm", "--listen", "127.0.0.1:0"]
        self.sees("disk", "warning", "as required by jobs on other machines", *jobs)

    def test_all_is_well(self):
        self.assertTrue(self.running["running"])
        self.assertTrue(self.running["healthy"], self.running)
        self.sees("daemon", "ok", "not running")
        self.sees("database", "ok", "intact; 1 session directories")
        report = self.look(os.path.join(self.folder, "missing"))
        self.assertTrue(report["healthy"])

    def test_state_directory(self):
        os.chmod(self.state, 0o755)
        self.sees("state", "error", "open to other users")
        os.chmod(self.state, 0o700)
        shutil.rmtree(self.path("incoming"))
        with open(self.path("incoming"), "w"):
            self.sees("state", "error", "incoming is not usable")

    def test_database(self):
        with open(self.path("pliant.db"), "r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * 4096)
        self.sees("database", "error", "damaged")
        os.remove(self.path("pliant.db"))
        self.sees("database", "error", "missing, although there are 1 sessions")

    def test_database_of_a_newer_version(self):
        with sqlite3.connect(self.path("pliant.db")) as database:
            database.execute("PRAGMA user_version = 99")
        database.close()
        self.sees("database", "error", "format 99 of a newer pliantd")
        done = subprocess.run([os.path.join(BUILD, "pliantd"), "--state", self.state, "--listen",
                               "127.0.0.1:0"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has format 99 of a newer pliantd", done.stderr)
        with sqlite3.connect(self.path("pliant.db")) as database:
            self.assertEqual(database.execute("PRAGMA user_version").fetchone(), (99,))
        database.close()

    def test_token(self):
        os.chmod(self.path("token"), 0o644)
        self.sees("token", "error", "accessible to others")
        os.chmod(self.path("token"), 0o600)
        with open(self.path("token"), "w") as file:
            file.write("none\n")
        self.sees("token", "error", "does not hold 64 hex digits")

    def test_address(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            self.sees("listen", "error", "Address already in use", "--listen", address)
        unix = "unix:" + os.path.join(self.folder, "missing", "socket")
        self.sees("listen", "error", "its folder is missing", "--listen", unix)

    def test_machine(self):
        self.sees("machine", "warning", "1000 of them for sessions", "--cores", "1000",
                  "--listen", "127.0.0.1:0")
        self.sees("limits", "warning", "400 open files",
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400)))
        later = time.time() + 86400
        os.utime(self.path("pliant.db"), (later, later))
        self.sees("clock", "error", "in the future")

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make a certificate")
    def test_certificate(self):
        cert, key = os.path.join(self.folder, "cert"), os.path.join(self.folder, "key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
                        "-days", "5", "-keyout", key, "-out", cert], check=True,
                       capture_output=True)
        options = ["--tls-cert", cert, "--tls-key", key, "--listen", "127.0.0.1:0"]
        self.sees("tls", "warning", "the certificate is valid for", *options)
        with open(key, "w") as file:
            file.write("none")
        self.sees("tls", "error", "cannot be used", *options)

    def test_wrong_options(self):
        done = subprocess.run([os.path.join(BUILD, "pliantd"), "doctor", "--corse", "3"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    main()
