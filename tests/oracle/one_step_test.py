"""Every model with every method: a step of backward Euler on an irregular mesh, and an
equilibrium, compared with reference.py. A method that reports `unconverged` or `halved` may be
off; any other may not."""

import unittest

import numpy as np

import reference
import runs

YOUNG, POISSON, DENSITY, H = 3e4, 0.3, 900.0, 0.02
MU, LAM = reference.lame(YOUNG, POISSON)
A = [[0.5, 900.0], [0.8, 150.0], [1.0, 0.0], [1.3, 400.0], [2.0, 5000.0]]
B = [[0.3, 200.0], [1.0, 0.0], [2.0, 300.0]]
C = [[0.3, 3000.0], [1.0, 0.0], [2.0, 4000.0]]

# name -> (the material's keys, dPsi/ds)
MODELS = {
    name: (
        {"model": name, "young": YOUNG, "poisson": POISSON},
        reference.by_complex_steps(psi(MU, LAM)),
    )
    for name, psi in {
        "neo_hookean": reference.neo_hookean,
        "corotated": reference.corotated,
        "stvk": reference.stvk,
        "stable_neo_hookean": reference.stable_neo_hookean,
        "hencky": reference.hencky,
        "arap": reference.arap,
        "polynomial": reference.polynomial,
    }.items()
}
for name, constants in {
    "neo_hookean_wang": {"s0": 6e3, "s1": 2e4},
    "mooney_rivlin": {"s0": 6e3, "s1": 2e4, "s2": 2e3},
    "fung": {"s0": 5e3, "s1": 2e4, "s2": 3e3, "s3": 0.4},
}.items():
    MODELS[name] = (
        {"model": name, "constants": constants},
        reference.by_complex_steps(reference.wang(**constants)),
    )
MODELS["spline"] = (
    {"model": "spline", "splines": {"a": A, "b": B, "c": C}},
    reference.spline_slopes(A, B, C),
)

METHODS = {
    "auto": 400,
    "newton": 100,
    "quasi_newton": 2000,
    "admm": 4000,
    "lbfgs": 5000,
    "nonlinear_cg": 8000,
    "barzilai_borwein": 5000,
    "vertex_block_descent": 5000,
    "chebyshev_descent": 5000,
    "chebyshev_semi_iterative": 5000,
    "gradient_descent": 5000,
    "projective_dynamics": 5000,
}
# Methods that must reach the minimum; the others report where they do not.
SURE = ("auto", "newton", "quasi_newton", "admm", "lbfgs")


def the_mesh():
    mesh = reference.irregular_mesh(7, (0.5, 0.2, 0.2), (4, 2, 2))
    held = np.flatnonzero(mesh["vertices"][:, 0] < mesh["vertices"][:, 0].min() + 0.08)
    return mesh, held


def the_scene(mesh, held, material, method, step, velocity):
    return {
        "pliant": 1,
        "time": step,
        "solver": {"method": method, "iterations": METHODS[method], "tolerance": 1e-9},
        "materials": {"m": {"density": DENSITY, **material}},
        "bodies": [
            {
                "mesh": {"vertices": mesh["vertices"].tolist(), "tets": mesh["tets"].tolist()},
                "initial": {"velocity": velocity},
            }
        ],
        "pins": [{"select": {"indices": held.tolist()}}],
        "output": {"precision": "double"},
    }


class OneStep(unittest.TestCase):
    """A bar held at one end and moving at 3 m/s: a step strains it by a tenth or more."""

    def check(self, name, step, h, velocity, methods):
        material, slopes = MODELS[name]
        mesh, held = the_mesh()
        problem = reference.Step(mesh["vertices"], mesh["tets"], slopes, DENSITY, held, h)
        v = np.zeros_like(mesh["vertices"])
        v[problem.free] = velocity
        right = problem.solve(problem.x0, v)
        size, ran = np.ptp(mesh["vertices"]), 0
        self.assertGreater(np.abs(right - problem.x0).max(), 0.002 * size)
        for method in methods:
            scene = the_scene(mesh, held, material, method, step, velocity)
            run = runs.Run(scene)
            if run.state == "refused":
                self.assertNotIn(method, SURE, f"{name}: {method} is refused: {run.text[:300]}")
                continue
            ran += 1
            self.assertEqual(run.state, "succeeded", f"{name}, {method}: {run.text[-300:]}")
            off = np.abs(np.asarray(run.positions).reshape(-1, 3) - right).max() / size
            flagged = run.records[-1]["unconverged"] > 0
            self.assertEqual(flagged, "unconverged" in run.warnings)
            flagged = flagged or run.records[-1]["halved"] > 0  # two steps are not one
            if flagged:
                words = f"{name}: {method} did not converge, off by {off:.2g}"
                self.assertNotIn(method, SURE, words)
            else:
                words = f"{name}: {method} says converged and is off by {off:.2g}"
                self.assertLess(off, 3e-7, words)
        self.assertGreaterEqual(ran, min(8, len(methods)))


def step_of(name):
    def test(self):
        self.check(name, {"step": H, "steps": 1}, H, [0.6, -2.0, 2.2], tuple(METHODS))

    return test


def rest_of(name):
    def test(self):
        equilibrium = {"step": 1, "steps": 1, "integrator": "quasi_static"}
        self.check(name, equilibrium, None, [0, 0, 0], SURE)

    return test


for model in MODELS:
    setattr(OneStep, f"test_{model}", step_of(model))
for model in ("neo_hookean", "corotated", "stable_neo_hookean", "hencky", "fung"):
    setattr(OneStep, f"test_{model}_at_rest", rest_of(model))

if __name__ == "__main__":
    runs.main()
