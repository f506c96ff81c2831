"""deploy/operating.md: its commands and options exist and work in order on a clean state, and it
explains every failure code. package_in_root.py runs every command of it in a fresh Debian."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from support import BUILD, ROOT, Daemon, main

GUIDE = os.path.join(ROOT, "deploy", "operating.md")


def run(program, *words):
    done = subprocess.run([os.path.join(BUILD, program), *words], capture_output=True, text=True,
                          timeout=120)
    return done.returncode, done.stdout + done.stderr


class Guide(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(GUIDE) as file:
            cls.text = file.read()
        with open(os.path.join(ROOT, "deploy", "README.md")) as file:
            cls.both = cls.text + file.read()

    def commands(self):
        """The lines for pliantd, in order, without sudo."""
        lines = re.findall(r"^    sudo -u pliant (pliantd .*)$", self.text, re.M)
        self.assertGreater(len(lines), 5)
        return [shlex.split(line)[1:] for line in lines]

    def test_a_clean_state_takes_the_commands(self):
        daemon = Daemon("--gpus", "none")
        self.addCleanup(daemon.stop)
        folder = tempfile.mkdtemp(prefix="pliant-guide-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        backups, config = os.path.join(folder, "backups"), os.path.join(folder, "conf")
        with open(config, "w") as file:
            file.write(f"state = {daemon.state}\nlisten = 127.0.0.1:0\ngpus = none\n")
        os.chmod(config, 0o600)
        token = None
        for words in self.commands():
            words = [w.replace("/etc/pliant/pliantd.conf", config).replace(
                "/var/lib/pliant", daemon.state).replace("/var/backups/pliant", backups).replace(
                "/tmp/pliant.zip", os.path.join(folder, "pliant.zip"))
                     for w in words]
            if words[0] == "restore":
                made = os.listdir(backups)
                words[1:] = [os.path.join(backups, made[0]), "--state",
                             os.path.join(folder, "restored")]
            words = [token if w == "ID" else w for w in words]
            status, said = run("pliantd", *words)
            self.assertEqual(status, 0, f"{words}: {said}")
            if words[:2] == ["token", "list"]:
                token = re.search(r"^([0-9a-f]{8,})", said, re.M).group(1)

    def test_commands_of_pliant_exist(self):
        for name in set(re.findall(r"`pliant ([a-z]+)", self.both)):
            status, said = run("pliant", name, "--help")
            self.assertEqual(status, 0, f"{name}: {said}")

    def test_each_code_is_explained(self):
        with open(os.path.join(ROOT, "engine", "scene", "metrics.c")) as file:
            codes = set(re.findall(r'\[PL_FAILURE_[A-Z_]+\] = "([a-z_]+)"', file.read()))
        codes = codes - {"none"} | {"storage_lost"}
        self.assertGreater(len(codes), 8)
        for code in sorted(codes):
            self.assertIn(f"`{code}`", self.text)

    def test_options_that_it_names_exist(self):
        status, said = run("pliantd", "--help")
        self.assertEqual(status, 0)
        for name in ("cores", "limit", "log-level", "patience", "max-connections", "tls-cert",
                     "tls-key", "behind-proxy", "worker-uids", "webhook-allow"):
            self.assertIn(f"`{name}", self.text)
            self.assertIn(f"--{name}", said)


if __name__ == "__main__":
    main()
