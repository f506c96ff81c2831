"""The command line takes names and --last for IDs, short names for commands, and names the expected
word after an error."""

import json
import os
import pty
import subprocess
import unittest

from support import BUILD, Daemon, main, pliant, scene


class CliWordsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.client = pliant.Client(state=cls.daemon.state)
        cls.ids = [cls.client.submit(scene(steps=2, name=name)).id
                   for name in ("first", "twin", "twin", "newest")]
        for session_id in cls.ids:
            cls.client.session(session_id).wait(120)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.daemon.stop()

    def pliant(self, *words, status=0, **more):
        command = [os.path.join(BUILD, "pliant"), "--state", self.daemon.state, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def shown(self, *words):
        return json.loads(self.pliant("--json", "show", *words))["id"]

    def on_terminal(self, *words):
        """The command's output on a terminal."""
        ours, theirs = pty.openpty()
        command = [os.path.join(BUILD, "pliant"), "--state", self.daemon.state, *words]
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                                   env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"})
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:
            pass  # the other end is closed
        os.close(ours)
        self.assertEqual(process.wait(120), 0, seen)
        return seen.decode()

    def test_a_name_stands_for_an_id(self):
        self.assertEqual(self.shown("first"), self.ids[0])
        self.assertIn('"frame":2', self.pliant("metrics", "first").replace(" ", ""))

    def test_last_is_the_newest(self):
        self.assertEqual(self.shown("--last"), self.ids[3])

    def test_a_name_of_several_is_refused(self):
        said = self.pliant("show", "twin", status=2)
        self.assertIn("2 sessions are named 'twin'", said)
        self.assertIn(self.ids[2], said)

    def test_an_unknown_name(self):
        self.assertIn("no session has the name 'nobody'", self.pliant("show", "nobody", status=5))
        self.assertIn("empty", self.pliant("show", "", status=2))

    def test_short_names_of_commands(self):
        self.assertEqual(self.pliant("ls"), self.pliant("list"))
        self.pliant("ps")
        gone = self.client.submit(scene(steps=2, name="gone"))
        gone.wait(120)
        self.pliant("rm", "gone")
        self.assertIn("no session", self.pliant("show", "gone", status=5))

    def test_help_of_a_command(self):
        self.assertEqual(self.pliant("help", "export"), self.pliant("export", "--help"))
        self.assertEqual(self.pliant("help"), self.pliant("--help"))
        self.assertIn("also: pliant ls", self.pliant("help", "ls"))
        self.assertIn("did you mean export", self.pliant("help", "exprt", status=2))

    def test_a_wrong_state_lists_those_there_are(self):
        said = self.pliant("list", "--state", "runing", status=2)
        self.assertIn("expected one of checking, queued, running", said)
        self.assertIn("twin", self.pliant("list", "--state", "succeeded"))

    def test_limits_are_said(self):
        said = self.pliant("compare", "none.json", "--threads", "0", status=2)
        self.assertIn("--threads: got '0', expected a whole number from 1 to 1024", said)
        said = self.pliant("metrics", "first", "--from", "-1", status=2)
        self.assertIn("expected a whole number of at least 0", said)

    def test_a_wrong_value_lists_those_there_are(self):
        said = self.pliant("export", "first", "--out", "x", "--format", "pvt", status=2)
        self.assertIn("--format: got 'pvt', expected one of npz, vtu, pc2", said)
        said = self.pliant("export", "first", "--out", "a.xyz", status=2)
        self.assertIn("a.xyz: its extension gives no format; expected npz, vtu", said)
        said = self.pliant("usage", "--by=groop", status=2)
        self.assertIn("expected one of user, group, day; did you mean group?", said)

    def test_a_plot_of_something_that_is_not_there(self):
        said = self.pliant("plot", "first", "--what", "energy/kinetik", status=2)
        self.assertIn("no frame has a number 'energy/kinetik'; did you mean energy/kinetic?", said)
        self.assertRegex(said, r"available: residuals, energies, .*energy/elastic")
        said = self.pliant("plot", "first", "--what", "energy/kinetic,contact/gap", status=2)
        self.assertIn("number 'contact/gap'", said)  # null: nothing is near
        self.assertIn("energy/kinetic", self.pliant("plot", "first", "--what", "energies"))

    def test_export_says_what_it_wrote(self):
        def wrote(*words):
            command = [os.path.abspath(os.path.join(BUILD, "pliant")), "--state",
                       self.daemon.state, "export",
                       "first", *words]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                                  cwd=self.daemon.directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done
        self.assertRegex(wrote("--out", "a.npz").stderr, r"^wrote a\.npz, [\d.]+ \w+\n$")
        self.assertRegex(wrote("--out", "s/a.pvd").stderr,
                         r"^wrote s/a\.pvd and 3 \.vtu files beside it, [\d.]+ \w+\n$")
        self.assertRegex(wrote("--out", "a.obj").stderr,
                         r"^wrote 3 files, a_000000\.obj and so on, [\d.]+ \w+\n$")
        self.assertRegex(wrote("--out", "a.pc2").stderr,
                         r"^wrote a\.pc2, .*\nwrote a\.obj, .*\n$")
        self.assertRegex(wrote("--out", "a.png", "--size", "64x48").stderr, r"^wrote a\.png, ")
        done = wrote("--out", "b.npz", "--json")
        size = os.path.getsize(os.path.join(self.daemon.directory, "b.npz"))
        self.assertEqual(json.loads(done.stdout), {"path": "b.npz", "files": 1, "bytes": size})
        self.assertEqual(done.stderr, "")

    def test_a_list_on_a_terminal_has_headings_and_ages(self):
        lines = self.on_terminal("list").splitlines()
        self.assertEqual(lines[0].split(), ["ID", "STATE", "FRAMES", "CREATED", "NAME"])
        self.assertRegex(lines[1], r"(now|\d+ (s|min|h) ago) +newest")
        self.assertRegex(self.pliant("list").splitlines()[0], r"\d{4}-\d\d-\d\dT")

    def test_submit_on_a_terminal_prints_the_link(self):
        path = os.path.join(self.daemon.directory, "scene.json")
        with open(path, "w") as file:
            json.dump(scene(steps=1, name="linked"), file)
        seen = self.on_terminal("submit", path).splitlines()
        self.assertRegex(seen[1], r"^http://127\.0\.0\.1:\d+/#/sessions/[0-9a-f]{32}$")
        self.assertTrue(seen[1].endswith(seen[0]))
        self.client.session(seen[0]).wait(120)
        self.client.session(seen[0]).delete()


if __name__ == "__main__":
    main()
