"""tests/run-tests counts passed, failed and skipped tests."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

from support import ROOT, main


def checks(run, failures=0, errors=0):
    return f"echo '90%: Checks: {run}, Failures: {failures}, Errors: {errors}'\n"


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


class RunTestsTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def program(self, name, text, kind="unit"):
        path = os.path.join(self.root, "tests", kind, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def run_tests(self, *programs):
        """The exit status, the last line, and the whole output."""
        command = [os.path.join(ROOT, "tests", "run-tests"), *programs]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()[-1], done.stdout

    def test_passes_and_failures_are_summed(self):
        good = self.program("good_test", checks(3) + checks(2))
        self.assertEqual(self.run_tests(good)[:2], (0, "5 passed, 0 failed"))
        bad = self.program("bad_test", "echo why it failed\n" + checks(4, 1, 1) + "exit 1\n")
        code, last, said = self.run_tests(good, bad)
        self.assertEqual((code, last), (1, "7 passed, 2 failed"))
        self.assertIn("why it failed", said)

    def test_a_skipped_test_is_not_passed(self):
        some = self.program("some_test", "echo SKIP some: no data\n" + checks(3))
        code, last, said = self.run_tests(some)
        self.assertEqual((code, last), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertIn("SKIP some: no data\n", said)

    def test_a_skipped_class_is_one_skipped_test(self):
        text = f"""exec python3 - <<'end'
import sys, unittest
sys.path.insert(0, "{os.path.dirname(os.path.abspath(__file__))}")
from support import main
class Some(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("no cluster")
    def test_it(self):
        pass
class Other(unittest.TestCase):
    def test_it(self):
        pass
main()
end
"""
        code, last, said = self.run_tests(self.program("some_test", text))
        self.assertEqual((code, last), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("Some): no cluster\n", said)

    def test_failures_are_not_taken_for_skips(self):
        skips = "echo SKIP one: why\necho SKIP two: why\n"
        some = self.program("some_test", skips + checks(2, 1) + "exit 1\n")
        self.assertEqual(self.run_tests(some)[:2], (1, "0 passed, 1 failed, 1 skipped"))

    def test_nothing_passed_is_no_success(self):
        all_skipped = self.program("all_skipped_test", "echo SKIP it: no data\n" + checks(1))
        self.assertEqual(self.run_tests(all_skipped)[:2], (1, "0 passed, 0 failed, 1 skipped"))
        empty = self.program("empty_test", checks(0))
        self.assertEqual(self.run_tests(empty)[:2], (1, "0 passed, 1 failed"))

    def test_processor_time_is_told_apart_from_waiting(self):
        busy = self.program("busy_test", "python3 -c 'import time\nwhile time.process_time() < 1: "
                            "pass'\n" + checks(1))
        waits = self.program("waits_test", "sleep 1.5\n" + checks(1), kind="http")
        said = self.run_tests(waits, busy)[2]
        self.assertRegex(said, r"(?m)^Time .*\bunit \d+ s \([12]\)")
        self.assertRegex(said, r"(?m)^Time .*\bhttp \d+ s \(0\)")
        self.assertRegex(said, r"most of it:\n +[12]\.\d s  unit/busy_test\n +0\.\d s  http/waits")

    def test_a_crash_is_a_failure(self):
        crash = self.program("crash_test", "kill -SEGV $$\n")
        self.assertEqual(self.run_tests(crash)[:2], (1, "0 passed, 1 failed"))
        late = self.program("late_test", checks(2) + "exit 7\n")
        self.assertEqual(self.run_tests(late)[:2], (1, "1 passed, 1 failed"))

    def test_what_hangs_is_ended(self):
        hang = self.program("hang_test", "sleep 60\n")
        os.environ["TEST_TIMEOUT"] = "0.3"
        self.addCleanup(os.environ.pop, "TEST_TIMEOUT")
        code, last, said = self.run_tests(hang)
        self.assertEqual((code, last), (1, "0 passed, 1 failed"))
        self.assertIn("it ran out of time", said)

    def passes_at_second(self, name, kind):
        """A program that fails at its first run and passes at its second."""
        mark = os.path.join(self.root, name + ".ran")
        text = f"[ -e {mark} ] && {{ {checks(4)[:-1]}; exit 0; }}\ntouch {mark}\n"
        return self.program(name, text + "echo too late\n" + checks(4, 1) + "exit 1\n", kind)

    def test_a_signal_ends_the_programs_too(self):
        started = os.path.join(self.root, "started")
        text = f"echo $$ >> {started}\nsleep 60\n"
        programs = [self.program(f"{n}_test", text, k) for n in "abc" for k in ("unit", "http")]
        command = [os.path.join(ROOT, "tests", "run-tests"), *programs]
        runner = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        while not os.path.exists(started) or len(open(started).read().split()) < 5:
            self.assertIsNone(runner.poll())
            time.sleep(0.02)
        runner.terminate()
        said = runner.communicate(timeout=30)[0]
        self.assertEqual((runner.returncode, said), (128 + 15, "stopped by a signal\n"))
        pids = open(started).read().split()
        self.assertEqual(len(pids), 5)  # the sixth did not start
        for pid in pids:
            self.assertFalse(is_running(pid), pid)

    def test_a_test_may_pass_at_its_second_run(self):
        for kind in ("http", "unit"):
            again = self.passes_at_second(f"{kind}_again_test", kind)
            code, last, said = self.run_tests(again)
            self.assertEqual((code, last), (0, "4 passed, 0 failed"))
            self.assertIn(f"UNSTEADY {kind}/{kind}_again_test", said)
            self.assertIn("too late", said)

    def test_failures_are_at_the_end(self):
        bad = self.program("bad_test", "echo why it failed\n" + checks(2, 1) + "exit 1\n")
        skips = self.program("skips_test", "echo SKIP it: no data\n" + checks(2))
        said = self.run_tests(bad, skips)[2]
        ends = "\nwhy it failed\nFailed: unit/bad_test\n2 passed, 1 failed, 1 skipped\n"
        self.assertTrue(said.endswith(ends), said)

    def test_what_fails_twice_has_failed(self):
        bad = self.program("bad_test", checks(2, 1) + "exit 1\n", "http")
        code, last, said = self.run_tests(bad)
        self.assertEqual((code, last), (1, "1 passed, 1 failed"))
        self.assertNotIn("UNSTEADY", said)

    def test_many_failures_are_not_run_again(self):
        bad = [self.passes_at_second(f"{n}_test", "http") for n in range(4)]
        self.assertEqual(self.run_tests(*bad)[:2], (1, "12 passed, 4 failed"))

    def test_a_fuzz_target_that_was_not_built(self):
        absent = os.path.join(self.root, "fuzz", "absent")
        self.assertEqual(self.run_tests(absent)[:2], (1, "0 passed, 0 failed, 1 skipped"))


if __name__ == "__main__":
    main()
