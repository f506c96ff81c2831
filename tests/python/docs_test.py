"""The pages in clients/docs: scenes are valid and run; no material, method or integrator lacks its
row; commands and options that the pages name exist."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest

from support import BUILD, LONG, ROOT, Daemon, main, pliant

DOCS = os.path.join(ROOT, "clients", "docs")
PAGES = sorted(name for name in os.listdir(DOCS) if name.endswith(".md"))


def page(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


def scenes(pages=PAGES):
    """(page, scene) of each indented block that is a scene."""
    for name in pages:
        for block in re.findall(r'^    \{\n(?:      .*\n)*    \}$', page(name), re.M):
            if '"pliant": 1' in block:
                yield name, json.loads(block)


class DocsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        cls.client = pliant.Client(state=cls.daemon.state)
        cls.addClassCleanup(cls.client.close)

    def test_scenes_are_valid(self):
        checked = 0
        for name, scene in scenes():
            if any("file" in body["mesh"] for body in scene["bodies"]):
                continue  # of the reader's own
            with self.subTest(name):
                self.client.validate(scene)
                checked += 1
        self.assertGreaterEqual(checked, 2)

    def test_front_page(self):
        """Its lines of curl, as they are printed there but for the daemon's place."""
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            block = re.search(r"^    S=.*\n(?:    .*\n)+", file.read(), re.M).group()
        lines = textwrap.dedent(block).splitlines()
        self.assertEqual(lines[0], "S=~/.local/state/pliant P=127.0.0.1:8080")
        self.assertEqual(lines[1], "build/pliantd --listen $P --state $S &")
        self.assertEqual([line for line in lines if len(line) > 40], [], "a phone cuts them")
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        place = f"S={self.daemon.state} P={self.client.url.split('//')[1]}"
        script = "\n".join([place, *lines[2:]]).replace("-o bar.zip", f"-o {folder}/bar.zip")
        made = "@clients/scenes/twisting_bar.json"
        self.assertEqual(script.count(made), 1)
        script = script.replace(made, f"{made} >{folder}/made\nID=$(cut -d\\\" -f4 {folder}/made)")
        script = "set -e\n" + script.replace("/ID/", "/$ID/")
        done = subprocess.run(["bash", "-c", script], cwd=ROOT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        last = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((last["event"], last["state"]), ("end", "succeeded"))
        with open(os.path.join(folder, "bar.zip"), "rb") as file:
            self.assertEqual(file.read(4), b"PK\3\4")

    def test_every_kind_has_a_row(self):
        capabilities = self.client.capabilities()
        for name, kinds in (("materials", "materials"), ("methods", "methods"),
                            ("methods", "integrators"), ("scene", "obstacles")):
            words = re.findall(r"[a-z0-9_]+", page(name + ".md"))
            self.assertEqual([k for k in capabilities[kinds] if k not in words], [], name)
        words = re.findall(r"\w+", page("exports.md"))
        names = [export["name"] for export in capabilities["exports"]]
        self.assertEqual([name for name in names if name not in words], [])

    def test_every_command_is_there(self):
        """A line of a page that starts with `pliant` names a command that exists."""
        known = []
        for source in ("commands.c", "help.c"):
            with open(os.path.join(ROOT, "clients", "cli", "commands", source)) as file:
                known += re.findall(r'(?:\.(?:name|alias) = |^    \{)"([a-z-]+)"',
                                    file.read(), re.M)
        self.assertGreater(len(known), 40)
        for name in PAGES:
            for command in re.findall(r"^    (?:build/)?pliant ([a-z-]+)", page(name), re.M):
                self.assertTrue(command in known, f"{name}: pliant {command}")


def said(*words):
    """What a program of the build prints."""
    program = os.path.join(BUILD, words[0])
    done = subprocess.run([program, *words[1:]], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def calls(text):
    """(program, words after it) of each command in the indented lines and the code of a page. What
    follows a command in its line, such as "--frame 40 for another frame", is the command's, too."""
    lines = re.findall(r"^    (.*)$", text, re.M) + re.findall(r"`([^`]+)`", text)
    for line in lines:
        program, words = None, []
        for part in re.split(r"[;|(]", line):
            match = re.match(r"\s*(?:build/)?(pliantd?)((?: .*)?)$", part)
            if match:
                program, words = match[1], match[2].split()
            elif program:
                words = words[:1] + part.split()
            if program:
                yield program, words


class ProgramsTest(unittest.TestCase):
    """Without a daemon."""

    def test_written_scenes_run(self):
        """Their first frames converge, without a warning; in the long form all, as expected."""
        written = [scene for _, scene in scenes(["writing-a-scene.md"])]
        self.assertEqual(len(written), 7)
        for scene in written:
            check = ["--check"] if LONG and "expect" in scene else []
            if not LONG:
                scene["time"] = {"step": scene["time"]["step"], "steps": 4}
                scene.pop("expect", None)
            with self.subTest(scene["name"]), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "scene.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(scene, file)
                status, text = said("pliant", "run", path, *check, "--strict",
                                    "--out", os.path.join(folder, "run"))
                self.assertEqual(status, 0, text)

    def test_options_exist(self):
        helps, checked = {}, 0
        pages = {name: page(name) for name in PAGES}
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            pages["the front page"] = file.read()
        for name, text in pages.items():
            for program, words in calls(text):
                options = [o for o in re.findall(r"--[a-z][a-z-]+", " ".join(words))]
                takes = words and program == "pliant" and re.fullmatch("[a-z-]+", words[0])
                key = (program, words[0]) if takes and words[0][0] != "-" else (program,)
                if key not in helps:
                    status, helps[key] = said(*key, "--help")
                    self.assertEqual(status, 0, f"{name}: {' '.join(key)}: {helps[key]}")
                for option in options:
                    known = re.search(re.escape(option) + r"(?![a-z-])", helps[key])
                    self.assertTrue(known, f"{name}: {' '.join(key)} has no {option}")
                    checked += 1
        self.assertGreater(checked, 60)


if __name__ == "__main__":
    main()
