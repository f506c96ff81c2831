"""Every rule of tests/check-includes and tests/check-tree is seen to fail on a breach of it."""

import contextlib
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

from support import ROOT, main

CHECK_TREE = os.path.join(ROOT, "tests", "check-tree")


def load_check_includes():
    path = os.path.join(ROOT, "tests", "check-includes")
    loader = importlib.machinery.SourceFileLoader("check_includes", path)
    spec = importlib.util.spec_from_loader("check_includes", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class IncludesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.check = load_check_includes()
        cls.tree, cls.lengths = cls.check.read_tree(ROOT)

    def faults(self, file, *headers):
        """What is said of the tree with one file more."""
        tree = {**self.tree, file: [*self.tree.get(file, []), *headers]}
        return [*self.check.check_rooms(tree), *self.check.check_circles(tree)]

    def test_the_tree_is_clean(self):
        self.assertEqual([*self.check.check_rooms(self.tree)], [])
        self.assertEqual([*self.check.check_circles(self.tree)], [])
        self.assertEqual([*self.check.check_sizes(self.lengths)], [])

    def test_each_room_is_held(self):
        """A header of each other room is refused to each room, unless its row names it."""
        headers = {}
        for file in self.tree:
            if file.endswith(".h"):
                headers.setdefault(os.path.dirname(file), file)
        refused = 0
        for room, words in self.check.ROOMS.items():
            words = words.split()
            for other, header in headers.items():
                allowed = (
                    other == room
                    or header in self.check.LEAVES
                    or header in words
                    or other in words
                    or any(w.endswith("/") and header.startswith(w) for w in words)
                )
                said = f'{room}/mutation.c may not include "{header}"'
                tree = {header: [], room + "/mutation.c": [header]}
                faults = [f for f in self.check.check_rooms(tree) if f.startswith(room)]
                self.assertEqual(faults, [] if allowed else [said], room)
                refused += not allowed
        self.assertGreater(refused, 500)

    def test_rows_go_one_way(self):
        """No two rooms of the daemon, the command line or the protocol name each other."""
        for room, words in self.check.ROOMS.items():
            if room.startswith("tests"):
                continue
            for word in words.split():
                back = self.check.ROOMS.get(word, "").split()
                self.assertNotIn(room, back, f"{room} and {word} may include each other")

    def test_circles_are_found(self):
        tree = {
            **self.tree,
            "server/base/one.h": ["server/base/two.h"],
            "server/base/two.c": ["server/base/one.h"],
            "server/base/two.h": [],
        }
        faults = [*self.check.check_circles(tree)]
        self.assertEqual(faults, ["server/base: one two include each other in a circle"])

    def test_a_room_without_a_row(self):
        faults = self.faults("server/cellar/wine.c", "server/base/logger.h")
        self.assertEqual(len(faults), 1)
        self.assertIn("server/cellar has no row", faults[0])

    def test_a_header_that_is_not_there(self):
        faults = self.faults("server/base/mutation.c", "server/base/nowhere.h")
        self.assertIn("does not exist", faults[0])

    def test_reasons_that_are_no_longer_needed(self):
        exceptions, cycles = self.check.EXCEPTIONS, self.check.CYCLES
        self.check.EXCEPTIONS = {**exceptions, ("a.c", "b.h"): "once"}
        self.check.CYCLES = {**cycles, ("server/base", frozenset(["x", "y"])): "once"}
        try:
            self.assertIn("remove the exception", [*self.check.check_rooms(self.tree)][0])
            self.assertIn("are no circle now", [*self.check.check_circles(self.tree)][0])
        finally:
            self.check.EXCEPTIONS, self.check.CYCLES = exceptions, cycles

    def test_sizes(self):
        faults = [*self.check.check_sizes({**self.lengths, "server/base/long.c": 601})]
        self.assertEqual(len(faults), 1)
        self.assertIn("server/base/long.c has 601 lines", faults[0])
        self.assertEqual([*self.check.check_sizes({**self.lengths, "tests/unit/long.c": 601})], [])


SIX_LINES = "".join(f"    call({line});\n" for line in range(6))

# A rule of check-tree, what is put where, and what is said of it.
BREACHES = [
    ("includes", "server/base/up.c", '#include "server/api/x.h"\n', "server/base/up.c includes"),
    ("includes", "engine/mesh/up.c", '#include "engine/model/model.h"\n', "may not include"),
    ("includes", "server/base/large.c", "\n" * 601, "server/base/large.c has 601 lines"),
    ("confined_headers", "server/base/factor.c", "#include <cholmod.h>\n", "<cholmod.h>"),
    ("confined_headers", "server/run/listen.c", "#include <microhttpd.h>\n", "<microhttpd.h>"),
    ("confined_headers", "protocol/log/table.c", "#include <sqlite3.h>\n", "<sqlite3.h>"),
    ("confined_headers", "server/http/cert.c", "#include <gnutls/gnutls.h>\n", "<gnutls/>"),
    ("confined_headers", "engine/step/load.c", "#include <dlfcn.h>\n", "<dlfcn.h>"),
    ("confined_headers", "server/base/ask.c", "#include <curl/curl.h>\n", "<curl.h>"),
    ("confined_headers", "clients/cli/base/pack.c", "#include <zlib.h>\n", "<zlib.h>"),
    ("confined_headers", "server/base/hash.c", "#include <openssl/evp.h>\n", "<openssl/>"),
    ("whole_daemon", "server/run/all.h", '#include "server/base/daemon.h"\n', "may not include"),
    ("whole_daemon", "server/http/all.c", '#include "server/base/daemon.h"\n', "may not include"),
    ("whole_daemon", "server/run/whole.c", "static void f(pl_daemon *d);\n", "the whole daemon on"),
    (
        "backend_numbers",
        "engine/solvers/peek.c",
        '#include "engine/backends/numbers.h"\n',
        "the backend's phases",
    ),
    ("jansson", "server/base/json.c", "#include <jansson.h>\n", "may not include <jansson.h>"),
    ("jansson", "clients/cli/base/json.c", "#include <jansson.h>\n", "may not include <jansson.h>"),
    ("jansson", "protocol/text/parse.c", "#define F json_loads(0)\n", "parses with jansson itself"),
    ("fast_math", "engine/step/Makefile", "CFLAGS += -ffast-math\n", "-ffast-math breaks"),
    ("python_columns", "clients/a.py", "#" * 101 + "\n", "lines of more than 100 columns"),
    ("dashboard", "clients/web/src/wide.js", "x".ljust(121, "y") + "\n", "than 120 columns"),
    ("dashboard", "clients/web/src/long.js", "x\n" * 901, "has more than 900 lines"),
    ("dashboard", "clients/web/src/tabs.js", "\tx\n", "has tabs"),
    ("dashboard", "clients/web/src/markup.js", "e.innerHTML = x\n", "makes markup or code of"),
    ("dashboard", "clients/web/src/far.js", "fetch('https://example.org')\n", "address elsewhere"),
    (
        "lock_files",
        "tests/web/package-lock.json",
        '"resolved": "https://example.org/x"\n',
        "another registry",
    ),
    (
        "isa_headers",
        "engine/kernels/x_isa.c",
        '#include "engine/scene/scene.h"\n',
        "each new key compiles",
    ),
    ("isa_headers", "engine/kernels/y_isa.c", '#include "engine/nowhere.h"\n', "cannot be told"),
    ("formatting", "server/base/braces.c", "int  f( void ){return 0;}\n", "is not formatted"),
    (
        "repeats",
        "server/base/twice.c",
        "".join(f"void f{f}(void) {{\n{SIX_LINES}}}\n" for f in range(2)),
        "server/base/twice.c:10 repeats server/base/twice.c:2",
    ),
    ("phrases", "server/base/again.c", "/* It is made anew. */\n", 'again.c:1 says "anew"'),
    ("phrases", "clients/a.py", 'x = "it can "\ny = "can " "not"\n', 'a.py:2 says "can not"'),
    ("phrases", "deploy/b.md", "Of these\nthere is\nnone.\n", 'b.md:2 says "there is none"'),
    ("paths", "deploy/a.md", "See `engine/step/nowhere.c`.\n", "names engine/step/nowhere.c"),
    ("paths", "server/README.md", "`nowhere.h` is there.\n", "README.md:1 names nowhere.h"),
    ("paths", "engine/step/b.c", "/* as in step/nowhere.h */\n", "names step/nowhere.h"),
    ("paths", "engine/step/c.c", "/* step.c - elsewhere. */\n", "engine/step/c.c:1 calls the file"),
]


class TreeTest(unittest.TestCase):
    """Each rule is silent of a copy of the tree, and speaks of each breach that is put into it."""

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.root)
        listed = subprocess.run(
            ["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True
        )
        for name in listed.stdout.split("\0"):
            source = os.path.join(ROOT, name)
            if os.path.isfile(source) and not name.startswith("tests/fuzz/corpus"):
                path = os.path.join(cls.root, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                shutil.copy(source, path)

    @contextlib.contextmanager
    def put(self, name, text):
        """The file with this text, and afterwards as it was."""
        path = os.path.join(self.root, name)
        before = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                before = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            yield
        finally:
            os.remove(path)
            if before is not None:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(before)

    def said(self, *rules):
        environment = {**os.environ, "PLIANT_BUILD": "build"}
        done = subprocess.run(
            [CHECK_TREE, "--root", self.root, *rules],
            capture_output=True,
            text=True,
            env=environment,
        )
        return done.returncode, done.stdout + done.stderr

    def test_the_copy_is_clean(self):
        """But for its formatting, which takes as long as all else; a check looks at it."""
        rules = self.said("--rules")[1].split()
        rules.remove("formatting")
        self.assertEqual(self.said(*rules), (0, ""))

    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_formatting(self):
        small = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, small)
        for room in ("engine", "protocol", "server", "clients", "tests"):
            os.makedirs(os.path.join(small, room))
        for name in (".clang-format", "engine/clock.h"):
            shutil.copy(os.path.join(ROOT, name), os.path.join(small, name))
        with mock.patch.object(self, "root", small):
            self.assertEqual(self.said("formatting"), (0, ""))
            _, name, text, wanted = next(b for b in BREACHES if b[0] == "formatting")
            os.makedirs(os.path.dirname(os.path.join(small, name)), exist_ok=True)
            with self.put(name, text):
                code, said = self.said("formatting")
            self.assertEqual(code, 1)
            self.assertIn(wanted, said)

    def test_each_breach_is_said(self):
        """All of a rule at once: a run looks at the whole tree."""
        for rule in sorted({rule for rule, *_ in BREACHES} - {"formatting"}):
            breaches = [breach for breach in BREACHES if breach[0] == rule]
            with contextlib.ExitStack() as files:
                for _, name, text, _ in breaches:
                    files.enter_context(self.put(name, text))
                code, said = self.said(rule)
            self.assertEqual(code, 1, said)
            for _, name, _, wanted in breaches:
                with self.subTest(rule, file=name):
                    lines = [line for line in said.splitlines() if wanted in line]
                    self.assertTrue(lines, said)
                    if "may not include" in wanted or rule == "confined_headers":
                        self.assertTrue(any(name in line for line in lines), lines)

    def test_the_engine_prints_nothing(self):
        build = os.path.join(self.root, "build")
        self.addCleanup(shutil.rmtree, build)
        os.makedirs(build)
        source = os.path.join(build, "print.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write('#include <stdio.h>\nvoid f(void);\nvoid f(void) { puts("f"); }\n')
        subprocess.run(["gcc", "-c", source, "-o", source + ".o"], check=True)
        library = os.path.join(build, "libengine.a")
        subprocess.run(["ar", "rcs", library, source + ".o"], check=True)
        code, said = self.said("engine_calls")
        self.assertEqual(code, 1)
        self.assertIn("the engine calls puts()", said)

    def test_each_rule_has_a_breach(self):
        rules = self.said("--rules")[1].split()
        tried = {rule for rule, *_ in BREACHES} | {"engine_calls"}
        self.assertEqual(sorted(rules), sorted(tried))

    def test_a_rule_that_is_not_there(self):
        self.assertEqual(self.said("nonsense"), (2, "check-tree: there is no rule nonsense\n"))


class PapersTest(unittest.TestCase):
    def test_links_between_pages(self):
        docs = os.path.join(ROOT, "clients", "docs")
        pages = sorted(name for name in os.listdir(docs) if name.endswith(".md"))
        linked = set()
        for page in pages:
            with open(os.path.join(docs, page), encoding="utf-8") as file:
                for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read()):
                    target = os.path.join(docs, link)
                    self.assertTrue(os.path.isfile(target), f"{page} links to {link}")
                    linked.add((page, link))
        for page in pages:
            if page != "README.md":
                self.assertIn(("README.md", page), linked, "the index does not name " + page)


class InstallDepsTest(unittest.TestCase):
    """`make` alone installs nothing: it says what to install."""

    def test_what_is_missing_is_said(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for name, text in (("dpkg-query", "exit 1"), ("apt-get", f"touch '{folder}/installed'")):
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write(f"#!/bin/sh\n{text}\n")
            os.chmod(path, 0o755)
        done = subprocess.run(
            [os.path.join(ROOT, "deploy", "install-deps"), "--require"],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]},
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt-get install -y --no-install-recommends gcc make", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(folder, "installed")))


if __name__ == "__main__":
    main()
