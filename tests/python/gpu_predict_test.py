"""tests/gpu/predict: the table and the header follow from the inputs; the times of a step are those
computed by hand; kernels are counted in an object made here."""

import importlib.machinery
import importlib.util
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, main

FILES = [f"tests/gpu/{name}" for name in ("predict", "predict.json", "predict.tsv", "predicted.h")]
README = "engine/backends/README.md"


def script():
    path = os.path.join(ROOT, "tests/gpu/predict")
    loader = importlib.machinery.SourceFileLoader("predict", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("predict", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def cubin(architecture, functions):
    """Machine code as ELF: {name: [opcodes]} in sections .text.NAME."""
    names, text, heads = b"\0", b"", [struct.pack("<IIQQQQIIQQ", *[0] * 10)]
    for name, ops in functions.items():
        code = b"".join(struct.pack("<QQ", 0xABC000 | 0x200 | op, 0) for op in ops)
        heads.append(struct.pack("<IIQQQQIIQQ", len(names), 1, 6, 0, 64 + len(text), len(code),
                                 0, 0, 128, 0))
        names += b".text." + name.encode() + b"\0"
        text += code
    heads.append(struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64 + len(text), len(names), 0, 0, 1, 0))
    head = b"\x7fELF\2\1\1\x41\x08" + bytes(7) + struct.pack(
        "<HHIQQQIHHHHHH", 1, 190, 1, 0, 0, 64 + len(text) + len(names), 0x6000004 |
        architecture << 8, 64, 56, 0, 64, len(heads), len(heads) - 1)
    return head + text + names + b"".join(heads)


class PredictTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def check(self):
        path = os.path.join(self.root, "tests/gpu/predict")
        return subprocess.run([sys.executable, path, "--check"], capture_output=True).returncode

    def copy(self):
        for name in (*FILES, README):
            os.makedirs(os.path.join(self.root, os.path.dirname(name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(self.root, name))

    def change(self, name, old, new):
        path = os.path.join(self.root, name)
        with open(path) as file:
            text = file.read()
        self.assertIn(old, text)
        with open(path, "w") as file:
            file.write(text.replace(old, new, 1))

    def test_what_is_committed_follows_from_its_inputs(self):
        self.copy()
        self.assertEqual(self.check(), 0)
        row = "| box, 5 M | double | "
        for name, old, new in (("tests/gpu/predict.json", "3.35", "3.9"),
                               ("tests/gpu/predict.json", '"wait_us": 10.0', '"wait_us": 30.0'),
                               ("tests/gpu/predict.tsv", "chebyshev\tf32\t", "chebyshev\tf32\t2"),
                               ("tests/gpu/predicted.h", "box, 5 M", "box, 6 M"),
                               (README, row, row + "9")):
            self.copy()
            self.change(name, old, new)
            self.assertEqual(self.check(), 1, (name, new))

    def test_a_step_by_hand(self):
        p = script()
        inputs, kernels = p.load()
        card, given = inputs["machines"]["H100"], inputs["assumed"]
        tets, vertices = 4983504, 857375  # 94^3 cells of six, 95^3 corners
        body = {"tets": tets, "vertices": vertices}
        gradient, step = p.phases(body, 8, False)["step"]
        # corners, B^-1, volume, constants, contributions; positions
        self.assertEqual(gradient.memory, tets * (16 + 8 * 12 + 8 * 16) + vertices * 24)
        # slots and contributions; mass, 18 coordinates, three small ones
        self.assertEqual(step.memory, tets * 4 * (4 + 32) + vertices * (8 * 19 + 9))
        times = p.time_of(step, kernels["chebyshev", "f64"], card, given, False)
        self.assertAlmostEqual(times["memory"], step.memory / (0.9 * 3.35e6), 6)
        # 128 registers: 4 blocks of 128 threads on each of 132 processors
        self.assertEqual(p.resident(card, 128), 132 * 4 * 128)
        self.assertEqual(p.resident(card, 16), 132 * 64 * 32)
        # 2 sectors where 24 bytes begin in the latter half of one
        self.assertEqual(p.sectors(24, 8), 48)
        self.assertEqual(p.sectors(12, 4), 40)
        self.assertEqual(p.sectors(16, 16), 32)

    def test_sums_by_hand(self):
        p = script()
        body = {"tets": 4983504, "vertices": 857375}
        *_, sums, last, _ = p.phases(body, 8, False)["look"]
        # four columns of a part each, and energies of five; 2^20 / 8192 numbers of a thread
        self.assertEqual(sums.threads, 9 * 8192)
        self.assertEqual(sums.reads, 128 / 8)
        self.assertEqual(sums.memory, 8 * (4 * 857375 + 4983504))
        self.assertEqual(last.threads, 9 * 32)
        sessions = p.phases({"tets": 5376, "vertices": 1215, "sessions": 64}, 4, True)
        # as many as the longest sum has numbers, in rounds of 512: 11 of energies, 3 of vertices
        self.assertEqual(sessions["look"][2].threads, 64 * 5 * 11 * 512)
        self.assertEqual(sessions["refresh"][2].threads, 64 * 2 * 3 * 512)
        self.assertEqual(sessions["look"][2].reads, 1)

    def test_nothing_is_double_in_single(self):
        _, kernels = script().load()
        for (name, precision), counts in kernels.items():
            if name.startswith("tets"):
                self.assertEqual(counts["fp64"] > 0, precision == "f64", name)

    def test_twice_the_bandwidth_is_less_time_in_memory_alone(self):
        p = script()
        inputs, kernels = p.load()
        card = dict(inputs["machines"]["H100"])
        body = {"tets": 4983504, "vertices": 857375}
        before = p.predict(inputs, kernels, body, card, "f64")
        card["memory_tb_s"] *= 2
        after = p.predict(inputs, kernels, body, card, "f64")
        self.assertLess(after["memory"], before["memory"])
        self.assertEqual(after["launches"], before["launches"])

    def test_kernels_are_counted(self):
        p = script()
        folder = os.path.join(self.root, "obj/engine/backends/cuda")
        os.makedirs(folder)
        p.KERNELS = os.path.join(self.root, "out.tsv")
        ops = [0x23] * 3 + [0x2B] * 2 + [0x181, 0x186, 0x14D, 0x118, 0x118]
        for kind, verbs in p.OBJECTS.items():
            for precision in ("f32", "f64"):
                names = [(verb if kind == "row" else f"{kind}_{verb}") + many
                         for verb in verbs for many in ("", "_many")]
                mangled = [f"_Z{len(name) + 8}{name}_threads1al" for name in names]
                path = os.path.join(folder, f"{kind}_kernels.{precision}.o")
                with open(path, "wb") as file:
                    file.write(b"\x7fELF" + bytes(60))  # the host's own
                    file.write(cubin(0x50, {name: ops * 2 for name in mangled}))
                    file.write(cubin(0x5A, {name: ops for name in mangled}))
                with open(path + ".ptxas", "w") as file:
                    for architecture, registers in (("sm_80", 99), ("sm_90", 41)):
                        for name in mangled:
                            file.write(f"ptxas info : Compiling entry function '{name}' for "
                                       f"'{architecture}'\n 0 bytes stack frame\n"
                                       f"ptxas info : Used {registers} registers, used 0\n")
        p.count(self.root)
        with open(p.KERNELS) as file, open(os.path.join(ROOT, "tests/gpu/predict.tsv")) as own:
            rows, committed = file.read().splitlines(), own.read().splitlines()
        self.assertEqual([row.split("\t")[:2] for row in rows],
                         [row.split("\t")[:2] for row in committed])
        self.assertEqual(rows[0], committed[0])
        for row in rows[1:]:
            self.assertEqual(row.split("\t")[2:], ["41", "8", "3", "2", "0", "1", "1"])

    def test_inputs_name_the_bench_s_bodies(self):
        with open(os.path.join(ROOT, "tests/gpu/gpu_bench.c")) as file:
            bench = file.read()
        with open(os.path.join(ROOT, "tests/gpu/predict.json")) as file:
            for body in json.load(file)["bodies"]:
                self.assertIn(f'"{body["name"]}"', bench)


if __name__ == "__main__":
    main()
