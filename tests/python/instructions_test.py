"""tests/bench/instructions: the counts of the workloads are those of the committed table; a dump of
callgrind is read, and losses and gains are reported by phase and function."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from support import BUILD, ROOT, main

DUMP = """# callgrind format
events: Ir
summary: 151

fl=(1) workloads.c
fn=workload_measured
0 4
cfn=frame
calls=1 0
0 147

fn=frame
0 2
cfn=pl_cpu_trial
calls=2 0
0 120
cfn=pl_cpu_trial
calls=1 0
0 20
cfn=helper
calls=1 0
0 5

fn=pl_cpu_trial
0 100
cfn=pl_cpu_trial.part.0
calls=1 0
0 40

fn=pl_cpu_trial.part.0
0 40

fn=helper'2
+3 5
"""


def script():
    path = os.path.join(ROOT, "tests/bench/instructions")
    loader = importlib.machinery.SourceFileLoader("instructions", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


COUNT = script()


def rows(total, **phases):
    """A workload whose phases have a function each, which does all of their work."""
    made = {COUNT.TOTAL: total}
    for name, n in phases.items():
        made["phase", name] = n
        made["function", name + "_loop"] = n
    return made


class CompareTest(unittest.TestCase):
    def test_a_dump_is_read(self):
        found = COUNT.rows_of(*COUNT.parse(DUMP))
        self.assertEqual(found, {
            COUNT.TOTAL: 151, ("phase", "pl_cpu_trial"): 140, ("phase", "helper"): 5,
            ("function", "workload_measured"): 4, ("function", "pl_cpu_trial"): 140,
            ("function", "helper"): 5})

    def test_the_table_is_read_as_it_was_written(self):
        counts = {"a": rows(1000, solve=800), "b": rows(5, one=5)}
        self.assertEqual(COUNT.decode(COUNT.encode("GCC 1, glibc 2", counts)),
                         ("GCC 1, glibc 2", counts))

    def test_a_tenth_is_allowed(self):
        table = {"w": rows(1000, solve=800, sums=150)}
        self.assertEqual(COUNT.compare({"w": rows(1099, solve=879, sums=164)}, table), [])
        self.assertEqual(COUNT.compare({"w": rows(901, solve=721, sums=136)}, table), [])

    def test_a_loss_names_phase_and_function(self):
        table = {"w": rows(1000, solve=800, sums=150)}
        said, = COUNT.compare({"w": rows(1150, solve=840, sums=260)}, table)
        self.assertIn("w: the whole needs 15.0 % more instructions, 1,000 before and 1,150", said)
        self.assertIn("phase that grew most: sums (+110 to 260)", said)
        self.assertIn("function that grew most: sums_loop (+110 to 260)", said)

    def test_a_phase_that_loses_is_seen_in_a_whole_that_does_not(self):
        table = {"w": rows(1000, solve=800, sums=150, few=30)}
        said, = COUNT.compare({"w": rows(1030, solve=800, sums=180, few=60)}, table)
        self.assertIn("w: sums needs 20.0 % more", said)
        # a phase below 4 % of the whole is too small to be compared
        self.assertEqual(COUNT.compare({"w": rows(1040, solve=800, sums=150, few=70)}, table), [])

    def test_the_inner_phase_is_named(self):
        table = {"w": {COUNT.TOTAL: 1000, ("phase", "outer"): 900, ("phase", "inner"): 300}}
        said, = COUNT.compare({"w": {COUNT.TOTAL: 1200, ("phase", "outer"): 1100,
                                     ("phase", "inner"): 498}}, table)
        self.assertIn("phase that grew most: inner (+198 to 498)", said)

    def test_a_gain_asks_for_a_new_table(self):
        table = {"w": rows(1000, solve=800)}
        said, = COUNT.compare({"w": rows(800, solve=600)}, table)
        self.assertIn("w: the whole needs 20.0 % fewer", said)
        self.assertIn("make instructions", said)

    def test_workloads_of_one_side_alone(self):
        said = COUNT.compare({"new": rows(1)}, {"old": rows(1)})
        self.assertEqual([line.split(":")[0] for line in said], ["new", "old"])

    def test_where_nothing_can_be_counted(self):
        with mock.patch.object(COUNT.shutil, "which", return_value=None), \
                self.assertRaisesRegex(COUNT.Unable, "valgrind is not installed|AVX2|x86-64"):
            COUNT.require_machine()
        with self.assertRaisesRegex(COUNT.Unable, "not built"):
            COUNT.tools_of("/nonexistent")

    def test_a_table_of_another_compiler_is_not_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "table.tsv")
            with open(table, "w") as file:
                file.write(COUNT.encode("GCC 1, glibc 2", {}))
            with mock.patch.object(COUNT, "TABLE", table), \
                    mock.patch.object(COUNT, "require_machine"), \
                    mock.patch.object(COUNT, "tools_of", return_value="GCC 3, glibc 2"), \
                    mock.patch.object(sys, "argv", ["instructions"]), \
                    mock.patch("builtins.print") as said:
                self.assertEqual(COUNT.main(), COUNT.SKIPPED)
        self.assertIn("the table is of GCC 1", str(said.call_args))


class CountTest(unittest.TestCase):
    def test_the_workloads_need_what_the_table_says(self):
        run = subprocess.run([sys.executable, COUNT.__file__, "--build", BUILD],
                             capture_output=True, text=True)
        if run.returncode == COUNT.SKIPPED:
            self.skipTest(run.stdout.strip())
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    main()
