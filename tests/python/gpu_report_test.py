"""tests/gpu/report on stand-ins for the programs that it runs: one file whatever fails, hangs or is
missing, without names of the machine and its user; an exit status and a last line that say so."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from support import ROOT, main

REPORT = os.path.join(ROOT, "tests", "gpu", "report")
UUID = "GPU-01234567-89ab-cdef-0123-456789abcdef"
SERIAL = "1653922001234"
SMI = f"""case "$*" in
*uuid*) echo '{UUID}, {SERIAL}' ;;
*name*) printf 'name, driver\\nNVIDIA H100 80GB HBM3, 550.54.15\\n' ;;
*) echo 0 MiB ;;
esac
"""
PTXAS = """ptxas info    : Compiling entry function '_Z12move_threads4argsl' for 'sm_90'
ptxas info    : Function properties for _Z12move_threads4argsl
    16 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 360 bytes cmem[0]
"""
USAGE = """Fatbin elf code:
================
arch = sm_90
code version = [1,8]

Resource usage:
 Common:
  GLOBAL:0
 Function _Z12move_threads4argsl:
  REG:40 STACK:16 SHARED:512 LOCAL:0 CONSTANT[0]:360 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.build = os.path.join(self.root, "build")
        self.bin = os.path.join(self.root, "bin")
        self.home = os.path.join(self.root, "people", "jane")
        for name in ("make", "compute-sanitizer"):
            self.program(f"bin/{name}", f"echo {name} ran\n")
        self.program("bin/hostname", "echo turing.example.org\n")
        self.program("bin/id", "[ \"$1\" = -un ] && echo jane || exec /usr/bin/id \"$@\"\n")
        self.program("bin/nvidia-smi", SMI)
        self.program("bin/cuobjdump", f"cat <<'end'\n{USAGE}end\n")
        self.program("build/gpu/gpu-check", "echo '9 passed, 0 failed'\n")
        self.program("build/gpu/gpu-bench", "echo 3 us an iteration\n")
        self.write("build/libpliant_cuda.so", "")
        self.write("build/obj/engine/backends/cuda/rows_kernels.f32.o", "")
        self.write("build/obj/engine/backends/cuda/rows_kernels.f32.o.ptxas", PTXAS)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def program(self, name, text):
        path = self.write(name, "#!/bin/sh\n" + text)
        os.chmod(path, 0o755)

    def environment(self, **more):
        return {"PATH": f"{self.bin}:/usr/bin:/bin", "BUILD": self.build, "HOME": self.home,
                "USER": "jane", "TMPDIR": self.root, **more}

    def report(self, **more):
        """The exit status, the file's last line and the file."""
        done = subprocess.run([REPORT], env=self.environment(**more), stdout=subprocess.DEVNULL)
        return (done.returncode, *self.file())

    def file(self):
        with open(os.path.join(self.build, "gpu-report.txt")) as file:
            text = file.read()
        self.assertEqual([n for n in os.listdir(self.build) if "report" in n], ["gpu-report.txt"])
        self.assertEqual(sorted(os.listdir(self.root)), ["bin", "build"])
        return text.splitlines()[-1], text

    def test_all_passes(self):
        code, last, text = self.report()
        self.assertEqual((code, last), (0, "Result: all 6 parts passed"), text)
        for part in ("NVIDIA H100 80GB HBM3, 550.54.15", "9 passed", "3 us an iteration",
                     "make ran", "compute-sanitizer ran", "nvcc", "processor", "checkout"):
            self.assertIn(part, text)
        kernel = [line.split() for line in text.splitlines() if "move_threads" in line]
        self.assertEqual(kernel, ["rows f32 sm_90 40 16 24 28 512 move_threads".split()])

    def test_names_are_taken_out(self):
        said = [f"NVIDIA H100, {UUID}", f"board {SERIAL}", "Serial Number : 0042424242",
                "turing.example.org turing Turing:8080 (jane) jane@turing", "/home/someone/cuda",
                f"{self.home}/a.c -I{self.home}/include", f"{ROOT}/engine/x.c", "janes stays"]
        self.write("said", "\n".join(said) + "\n")
        self.program("build/gpu/gpu-bench", f"cat {self.root}/said; rm {self.root}/said\n")
        code, _, text = self.report()
        self.assertEqual(code, 0)
        for name in (UUID, SERIAL, "0042424242", "example.org", "someone", self.home, ROOT):
            self.assertNotIn(name, text)
        for name in (r"(?i)\bturing\b", r"\bjane\b"):
            self.assertNotRegex(text, name)
        for line in ("NVIDIA H100, <card>", "<host> <host> <host>:8080 (<user>) <user>@<host>",
                     "<home>/a.c -I<home>/include", "<checkout>/engine/x.c", "janes stays"):
            self.assertIn(line + "\n", text)

    def test_a_failing_part_stops_no_other(self):
        self.program("build/gpu/gpu-check", "echo FAILED arap; exit 1\n")
        self.program("build/gpu/gpu-bench",
                     f"sleep 60 &\necho $! >{self.bin}/pid; echo begins; wait\n")
        self.program("bin/nvidia-smi", "kill -SEGV $$\n")
        self.program("bin/make", "exit 2\n")
        code, last, text = self.report(COMPUTE_SANITIZER="/nowhere/it", REPORT_LIMIT="5")
        self.assertEqual((code, last), (
            1, "Result: FAILED: nvidia-smi (ended by signal 11), build (exit status 2), "
            "gpu-check (exit status 1), compute-sanitizer (exit status 2), "
            "gpu-bench (did not end within 5 s)"))
        for part in ("FAILED arap", "was not found at /nowhere/it", "begins", "move_threads"):
            self.assertIn(part, text)
        with open(os.path.join(self.bin, "pid")) as file:
            pid = int(file.read())
        while is_running(pid):
            time.sleep(0.01)

    def test_no_gpu(self):
        why = "no device, because the driver has none"
        self.program("build/gpu/gpu-check", f"echo {why}; exit 77\n")
        os.unlink(os.path.join(self.bin, "nvidia-smi"))
        code, last, text = self.report()
        self.assertEqual((code, last), (
            1, "Result: no GPU was found; nothing ran on a GPU. "
            "Passed without one: build, registers. FAILED: nvidia-smi (not found)"))
        self.assertIn(f"left out: {why}", text)
        self.assertIn("move_threads", text)
        for program in ("us an iteration", "sanitizer ran"):
            self.assertNotIn(program, text)

    def test_nothing_was_built(self):
        shutil.rmtree(self.build)
        code, last, text = self.report(MAKE="/nowhere/make")
        self.assertEqual((code, last), (
            1, "Result: gpu-check was not built; nothing ran on a GPU. "
            "Passed without one: nvidia-smi. FAILED: build (command not found), "
            "registers (exit status 1)"))
        self.assertIn("the plug-in was not built", text)

    def test_registers_without_cuobjdump(self):
        self.program("bin/cuobjdump", "echo cannot open; exit 1\n")
        code, last, text = self.report()
        self.assertEqual((code, last), (1, "Result: FAILED: registers (exit status 1)"))
        self.assertRegex(text, r"cannot read .*rows_kernels.f32.o: cannot open")
        self.assertRegex(text, r"rows +f32 sm_90 +32 +16 +24 +28 +0 +move_threads")

    def test_an_interrupted_report_is_written(self):
        begun = os.path.join(self.bin, "begun")
        self.program("build/gpu/gpu-check", f"echo so far; echo >{begun}; sleep 60\n")
        run = subprocess.Popen([REPORT], env=self.environment(), stdout=subprocess.DEVNULL)
        while not os.path.exists(begun):
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)
        run.wait()
        last, text = self.file()
        self.assertEqual((run.returncode, last), (1, "Result: the report was interrupted"))
        self.assertIn("\nso far\n", text)


if __name__ == "__main__":
    main()
