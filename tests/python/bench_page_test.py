"""tests/bench/page: the benchmarks' printed tables are read, floors and changes are those computed
by hand, and the page of recorded numbers is whole, without scripts or anything from elsewhere."""

import html.parser
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, main

PRINTED = """date       2026-11-21 22:47 UTC
processor  A processor, 2 cores, load 0.68 at the start
compiler   gcc 12

The most that this machine does
  reads, GB/s    1 thread     10.0    2 threads     20.0
  instructions    1e9 operations a second
  x86-64-v2                          12.5
  x86-64-v3                          25.0

Frames of the twisted box: 2107 vertices, 9072 neo-Hookean tetrahedra, ADMM, 20 iterations
  threads    ms a frame    local    global    ns a tetrahedron and iteration, local
        1          30.8     22.2       4.7           123    none
        2          17.3     11.2       3.8           123    none
The same by quasi-Newton with L-BFGS: energy and gradient are local, solve and history global
  threads    ms a frame    local    global    iterations
        1          22.6     12.8       8.5          36.1    to tolerance 1e-3
  kernels on x86-64-v4

Growth of an iteration's cost, ms, one thread, neo-Hookean cubes
  vertices                         1000     2197    64000    exponent
  newton                           29.6      108 1.26e+03        0.76
  projective_dynamics (ARAP)      0.639     1.77     97.7        1.20

One solve with three right-hand sides, boxes of Kuhn tetrahedra, ms
    rows    numbers of L    CHOLMOD    1 thread    2 threads    GB/s    GB/s    relative difference
   12167        1459239      7.135        3.182        1.505      7.3     15.5       1e-15

Nanoseconds an element, one core, double precision
  instructions    neo-Hookean    corotated    ARAP    svd alone    neo-Hookean stretches
  x86-64-v3               120           88      88           84                       40


neo_hookean
  iterations to an error of                 1e-2  1e-3  1e-6  |     ms to them           ms each
  admm                                        20    24    37  |    47.2    56.6    81.0    1.71
  gradient_descent                             -     -     -  |       -       -       -    0.26

spline A
  iterations to an error of                 1e-2  1e-3  1e-6  |     ms to them           ms each
  admm                                        20    24    37  |     7.2     6.6     1.0    1.75
"""

RESULTS = {
    "frame/none/1 thread": 30.8, "frame/none/1 thread, local": 22.2,
    "frame/none/1 thread, global": 4.7, "frame/none/2 threads": 17.3,
    "frame/none/2 threads, local": 11.2, "frame/none/2 threads, global": 3.8,
    "frame/quasi_newton, to tolerance 1e-3/1 thread": 22.6,
    "frame/quasi_newton, to tolerance 1e-3/1 thread, local": 12.8,
    "frame/quasi_newton, to tolerance 1e-3/1 thread, global": 8.5,
    "growth/newton/1000 vertices": 29.6, "growth/newton/2197 vertices": 108,
    "growth/newton/64000 vertices": 1260,
    "growth/projective_dynamics (ARAP)/1000 vertices": 0.639,
    "growth/projective_dynamics (ARAP)/2197 vertices": 1.77,
    "growth/projective_dynamics (ARAP)/64000 vertices": 97.7,
    "solve/12167 rows/CHOLMOD": 7.135, "solve/12167 rows/1 thread": 3.182,
    "solve/12167 rows/2 threads": 1.505,
    "prox/neo-Hookean/x86-64-v3": 120, "prox/corotated/x86-64-v3": 88, "prox/ARAP/x86-64-v3": 88,
    "prox/svd alone/x86-64-v3": 84, "prox/neo-Hookean stretches/x86-64-v3": 40,
    "case a/neo_hookean/admm, to 1e-3": 56.6, "case a/neo_hookean/admm, an iteration": 1.71,
    "case a/neo_hookean/gradient_descent, an iteration": 0.26,
    "case a/spline A/admm, to 1e-3": 6.6, "case a/spline A/admm, an iteration": 1.75,
}


def script():
    path = os.path.join(ROOT, "tests/bench/page")
    loader = importlib.machinery.SourceFileLoader("page", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("page", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


PAGE = script()


class Elements(html.parser.HTMLParser):
    """Elements that are open at the end, and every attribute."""

    VOID = {"meta", "path", "circle"}

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.names = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        assert self.open and self.open[-1] == tag, (self.open, tag)
        self.open.pop()


def entry(date, results, **more):
    return {"date": date, "commit": "0123abcd", "processor": "P", "cores": 2, "load": 0.1,
            "kernel": "Linux", "compiler": "gcc 12", "results": results, "peers": {}, **more}


class ReadTest(unittest.TestCase):
    def test_printed_tables(self):
        results, facts = PAGE.parse(PRINTED)
        self.assertEqual(results, RESULTS)
        self.assertEqual(facts, {"read_gb_s": [10, 20], "gops": {"x86-64-v2": 12.5,
                                 "x86-64-v3": 25}, "isa": "x86-64-v4",
                                 "numbers": {"12167": 1459239}})

    def test_a_table_is_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            table, history = os.path.join(folder, "a.txt"), os.path.join(folder, "h.jsonl")
            with open(table, "w") as file:
                file.write(PRINTED)
            for _ in range(2):
                subprocess.run([sys.executable, PAGE.__file__, "import", table, "--history",
                                history], check=True)
            first, second = PAGE.load(history)
            self.assertEqual(first, second)
            self.assertEqual((first["date"], first["processor"], first["cores"], first["compiler"]),
                             ("2026-11-21 22:47", "A processor", 2, "gcc 12"))
            with open(table, "w") as file:
                file.write("nothing\n")
            failed = subprocess.run([sys.executable, PAGE.__file__, "import", table, "--history",
                                     history], capture_output=True, text=True)
            self.assertEqual(failed.returncode, 1)
            self.assertIn("no table of a known program", failed.stderr)

    def test_programs_are_run(self):
        """Programs that print what is recorded here, and a peer; one that fails ends it."""
        with tempfile.TemporaryDirectory() as folder:
            def program(name, text):
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(f"#!/bin/sh\ncat <<'END'\n{text}END\n" if text else "#!/bin/false\n")
                os.chmod(path, 0o755)
            program("tests/bench/one_bench", PRINTED)
            program("peers/library.sh", "hello\n149 frame/none/2 threads\n1e-1 other\n")
            program("peers/broken.sh", "")
            history = os.path.join(folder, "h.jsonl")
            command = [sys.executable, PAGE.__file__, "measure", "--build", folder, "--peers",
                       os.path.join(folder, "peers"), "--history", history, "one_bench"]
            said = subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertIn("broken.sh failed (exit 1): left out", said.stderr)
            measured, = PAGE.load(history)
            self.assertEqual(measured["results"], RESULTS)
            self.assertEqual(measured["peers"], {"library": {"frame/none/2 threads": 149,
                                                             "other": 0.1}, "broken": {}})
            self.assertGreater(measured["operations"], 100)
            program("tests/bench/one_bench", "")
            failed = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(failed.returncode, 1)
            self.assertEqual(len(PAGE.load(history)), 1)


class PageTest(unittest.TestCase):
    def test_floors_by_hand(self):
        now = entry("2026-11-22", RESULTS, read_gb_s=[10, 20], gops={"x86-64-v3": 25},
                    numbers={"12167": 1459239}, operations=2000)
        for key, value in (("solve/12167 rows/1 thread", 2 * 8 * 1459239 / 10e9 * 1e3),
                           ("solve/12167 rows/2 threads", 2 * 8 * 1459239 / 20e9 * 1e3),
                           ("frame/none/1 thread, local", 496 * 9072 * 20 / 10e9 * 1e3),
                           ("prox/neo-Hookean stretches/x86-64-v3", 2000 / 25)):
            self.assertAlmostEqual(PAGE.floor_of(key, now)[0], value, 9)
        for key in ("solve/12167 rows/CHOLMOD", "solve/5 rows/1 thread", "frame/none/1 thread",
                    "prox/ARAP/x86-64-v3"):
            self.assertIsNone(PAGE.floor_of(key, now))
        self.assertIsNone(PAGE.floor_of("solve/12167 rows/1 thread", entry("2026", RESULTS)))

    def test_the_page_of_a_history(self):
        """Changes against the last run on the same machine; ratios to a peer; one curve, one point
        of another machine."""
        key, other = "frame/anderson/1 thread", "solve/39304 rows/1 thread"
        text = PAGE.page([entry("2026-11-20", {key: 40, other: 5}),
                          entry("2026-11-21", {key: 1}, processor="<Q>"),
                          entry("2026-11-22", {key: 30, other: 6}, load=9,
                                peers={"lib": {key: 149}})])
        elements = Elements(text)
        self.assertEqual(elements.open, [])
        self.assertFalse({"script", "link", "img", "iframe"} & set(elements.names))
        self.assertFalse(re.search(r"https?://(?!www\.w3\.org/2000/svg)", text))
        self.assertIn(f"<td>{key[6:]}</td><td>30</td><td>-</td><td>-</td><td>40</td>"
                      "<td>-25 %</td><td>149</td><td>4.97</td>", text)
        self.assertIn("<td>+20 %</td>", text)
        self.assertIn("&lt;Q&gt;, 2 cores", text)
        self.assertEqual(text.count("<svg"), 2)
        drawn = text[text.index("<svg"):text.index("</svg>")]
        # 0 to 50 over 150 px from y = 40; three dates over 380 px from x = 52
        self.assertIn('d="M52.0 70.0L432.0 100.0"', drawn)
        self.assertIn('cx="242.0" cy="187.0"', drawn)
        self.assertIn("of a busy machine", text)
        self.assertNotIn("of a busy machine", PAGE.page([entry("2026-11-20", {key: 40})]))
        self.assertIn("prefers-color-scheme: dark", text)

    def test_the_committed_history(self):
        entries = PAGE.load(PAGE.HISTORY)
        self.assertGreaterEqual(len(entries), 3)
        self.assertEqual(Elements(PAGE.page(entries)).open, [])
        for table in ("2026-11-21-xeon-2.5GHz-2-cores.txt",):
            with open(os.path.join(ROOT, "tests/bench/results", table)) as file:
                results, _ = PAGE.parse(file.read())
            self.assertIn(results, [e["results"] for e in entries])


if __name__ == "__main__":
    main()
