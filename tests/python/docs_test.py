"""The pages in clients/docs: scenes are valid; no material, method or integrator is missing."""

import json
import os
import re
import unittest

from support import ROOT, Daemon, main, pliant

DOCS = os.path.join(ROOT, "clients", "docs")
PAGES = sorted(name for name in os.listdir(DOCS) if name.endswith(".md"))


def page(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


def scenes():
    """(page, scene) of each indented block that is a scene."""
    for name in PAGES:
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


if __name__ == "__main__":
    main()
