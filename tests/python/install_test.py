"""`make install` puts everything where it belongs, what is installed runs as a service manager
starts it, and `make uninstall` leaves nothing behind."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import support

ROOT = support.ROOT
PROGRAM = os.path.join(ROOT, "deploy", "install")


def files_below(folder):
    return sorted(
        os.path.relpath(os.path.join(at, name), folder)
        for at, _, names in os.walk(folder)
        for name in names
    )


class Install(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="pliant-install-")
        self.addCleanup(shutil.rmtree, self.root)

    def call(self, goal, good=True, **more):
        given = dict(os.environ, DESTDIR=self.root, PREFIX="/usr", SYSCONFDIR="/etc")
        given.update({"BUILD": os.path.abspath(support.BUILD), "PYTHON": sys.executable, **more})
        given.pop("UNITDIR", None)
        given.pop("PYTHONDIR", None)
        ran = subprocess.run([PROGRAM, goal], env=given, capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.returncode == 0, good, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def test_uninstall_leaves_nothing(self):
        self.call("install")
        self.assertGreater(len(files_below(self.root)), 80)
        with open(self.path("usr/share/bash-completion/completions/pliant")) as file:
            self.assertIn("submit", file.read())
        self.call("install")  # over itself, as an upgrade is
        self.call("uninstall")
        self.assertEqual(files_below(self.root), [])
        left = [at for at, _, _ in os.walk(self.root) if "pliant" in os.path.relpath(at, self.root)]
        self.assertEqual(left, [])

    def test_a_changed_configuration_stays(self):
        self.call("install")
        config = self.path("etc/pliant/pliantd.conf")
        with open(config, "a") as file:
            file.write("cores = 3\n")
        self.assertIn("stays", self.call("install"))
        self.assertIn("stays", self.call("uninstall"))
        self.assertEqual(files_below(self.root), ["etc/pliant/pliantd.conf"])
        with open(config) as file:
            self.assertTrue(file.read().endswith("cores = 3\n"))

    def test_refusals(self):
        self.assertIn("run make first", self.call("install", good=False, BUILD=self.root))
        self.assertIn("say install or uninstall", self.call("instal", good=False))
        self.assertEqual(files_below(self.root), [])

    def test_other_prefix(self):
        self.call("install", PREFIX="/opt/pliant", SYSCONFDIR="/opt/pliant/etc")
        unit = self.path("opt/pliant/lib/systemd/system/pliantd.service")
        with open(unit) as file:
            text = file.read()
        self.assertIn("ExecStart=/opt/pliant/bin/pliantd --config /opt/pliant/etc/pliant", text)
        self.assertNotIn("@BINDIR@", text)
        self.assertEqual([n for n in files_below(self.root) if not n.startswith("opt/")], [])

    def test_python(self):
        self.call("install")
        folder = self.path("usr/lib/python3/dist-packages")
        code = "import pliant; print(pliant.__file__); pliant.Client"
        ran = subprocess.run(
            [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {folder!r}); {code}"],
            capture_output=True,
            text=True,
        )
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue(ran.stdout.startswith(folder), ran.stdout)

    def test_unit(self):
        self.call("install")
        analyze = shutil.which("systemd-analyze")
        if not analyze:
            self.skipTest("systemd-analyze is missing")
        unit = self.path("usr/lib/systemd/system/pliantd.service")
        backup = self.path("usr/lib/systemd/system/pliant-backup.service")
        others = [self.path("usr/lib/systemd/system/" + name)
                  for name in ("pliantd.socket", "pliant-backup.timer")]
        command = [analyze, "verify", unit, backup, *others]
        ran = subprocess.run(command, capture_output=True, text=True)
        said = (ran.stdout + ran.stderr).splitlines()
        # What it names is not installed here, but below DESTDIR.
        wrong = [s for s in said if "not executable" not in s and "man " not in s]
        self.assertEqual(wrong, [])
        for service in (unit, backup):
            command = [analyze, "security", "--offline=true", "--threshold=20", service]
            ran = subprocess.run(command, capture_output=True, text=True)
            if "unrecognized option" in ran.stderr:
                self.skipTest("this systemd-analyze looks at running units only")
            self.assertEqual(ran.returncode, 0, ran.stdout[-300:] + ran.stderr)

    def test_backup(self):
        """The line of the unit, with folders of the test."""
        self.call("install")
        with open(self.path("usr/lib/systemd/system/pliant-backup.service")) as file:
            words = re.search(r"^ExecStart=(.+)$", file.read(), re.M).group(1).split()
        daemon = support.Daemon()
        self.addCleanup(daemon.stop)
        places = {"/usr/bin/pliantd": self.path("usr/bin/pliantd"),
                  "/var/backups/pliant": self.path("backups"), "/var/lib/pliant": daemon.state}
        self.assertLessEqual(set(places), set(words))
        ran = subprocess.run([places.get(w, w) for w in words], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(len(os.listdir(self.path("backups"))), 1)

    def test_service(self):
        self.call("install")
        state, heard = self.path("state"), self.path("notify")
        config = self.path("etc/pliant/pliantd.conf")
        with open(config) as file:
            text = file.read()
        text = text.replace("listen = 127.0.0.1:8080", "listen = 127.0.0.1:0")
        text = text.replace("state = /var/lib/pliant", f"state = {state}")
        with open(config, "w") as file:
            file.write(text)
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(heard)
        manager.settimeout(30)
        given = {k: v for k, v in os.environ.items() if not k.startswith("PLIANT_")}
        given.update(NOTIFY_SOCKET=heard, WATCHDOG_USEC="400000")
        program = self.path("usr/bin/pliantd")
        with open(self.path("log"), "w") as log:
            command = [program, "--config", config]
            daemon = subprocess.Popen(command, env=given, stdout=log, stderr=log)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        first = manager.recv(1000)
        while first == b"WATCHDOG=1":
            first = manager.recv(1000)
        self.assertTrue(first.startswith(b"READY=1\nSTATUS=listening on http://127"), first)
        alive = [manager.recv(1000) for _ in range(4)]
        self.assertEqual(set(alive), {b"WATCHDOG=1"})
        self.run_scene(state)
        manager.setblocking(False)
        os.kill(daemon.pid, signal.SIGTERM)
        self.assertEqual(daemon.wait(30), 0)
        last = b""
        try:
            while True:
                last = manager.recv(1000)
        except BlockingIOError:
            pass
        self.assertEqual(last, b"STOPPING=1")

    def run_scene(self, state):
        """Submitted by the installed command line; the installed worker runs it."""
        scene = self.path("usr/share/pliant/scenes/stretched_box.json")
        with open(scene) as file:
            document = json.load(file)
        document["time"] = {"step": 0.01, "steps": 3}
        document.pop("expect", None)
        short = self.path("short.json")
        with open(short, "w") as file:
            json.dump(document, file)
        with open(os.path.join(state, "url")) as file:
            url = file.read().strip()
        program = self.path("usr/bin/pliant")
        given = {k: v for k, v in os.environ.items() if not k.startswith("PLIANT_")}
        given.update(PLIANT_SERVER=url, PLIANT_TOKEN_FILE=os.path.join(state, "token"))
        ran = subprocess.run(
            [program, "--json", "submit", short, "--follow"],
            env=given,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("succeeded", ran.stdout)


if __name__ == "__main__":
    support.main()
