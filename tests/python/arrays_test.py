"""The compiler distinguishes a backend's arrays from the host's numbers."""

import os
import subprocess
import unittest

from support import ROOT, main

# The body of `void f(pl_backend *b, pl_array *a, double *numbers)`.
GOOD = [
    "b->ops->memory->upload(b, a, numbers, 3); b->ops->memory->download(b, numbers, a, 3);",
    "b->ops->memory->copy(b, a, a, 3);",
    "const pl_backend_stage stage = {.x_start = a}; b->ops->objective->freeze(b, &stage);",
    "pl_trial t = {.x = a}; b->ops->descent->trial(b, NULL, &t);",
]
BAD = [
    "a[0] = 1;",
    "numbers[0] = *a;",
    "numbers = a;",
    "a = numbers;",
    "b->ops->memory->copy(b, a, numbers, 3);",
    "b->ops->memory->upload(b, a, a, 3);",
    "b->ops->memory->download(b, a, a, 3);",
    "b->ops->kinematics->velocity(b, 1, a, numbers, a);",
    "b->ops->splitting->reduce(b, a, &numbers);",
    "const pl_backend_stage stage = {.x_start = numbers};",
    "const pl_stage stage = {.x_start = a};",
    "const pl_stage stage = {0}; b->ops->objective->freeze(b, &stage);",
    "pl_trial t = {.x = numbers};",
    "pl_local_step s = {.u = &numbers};",
]


def compiles(body):
    head = "void f(pl_backend *b, pl_array *a, double *numbers)"
    code = f'#include "engine/backends/backend.h"\n{head};\n{head}\n{{\n{body}\n}}\n'
    compiler = os.environ.get("CC", "cc").split()[-1]
    done = subprocess.run(
        [compiler, "-std=c11", "-fsyntax-only", "-Werror", "-I", ROOT, "-x", "c", "-"],
        input=code, text=True, capture_output=True, check=False)
    return done.returncode == 0, done.stderr


class ArraysTest(unittest.TestCase):
    def test_right_code_compiles(self):
        for body in GOOD:
            with self.subTest(body):
                good, said = compiles(body)
                self.assertTrue(good, said)

    def test_confusion_does_not(self):
        for body in BAD:
            with self.subTest(body):
                good, said = compiles(body)
                self.assertFalse(good)
                self.assertRegex(said, "incompatible|incomplete|undefined type")


if __name__ == "__main__":
    main()
