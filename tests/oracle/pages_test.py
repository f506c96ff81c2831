"""The formulas of clients/docs/materials.md, implemented again from its text and compared with
the engine's energies, momenta and motions: splines A and B, points, curves, lumped masses. A row
of its table of recovery."""

from __future__ import annotations

import unittest
from typing import Any, Callable, Dict, List

import numpy as np
from reference import irregular_mesh
from runs import Run, main
from scipy.interpolate import CubicSpline

Function = Callable[[float], float]

YOUNG, POISSON = 1e5, 0.3
MU = YOUNG / (2 * (1 + POISSON))
LAMBDA = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
# In and beyond the knots, on both sides; one of them inverted.
STRETCHES = [
    (0.1, 0.5, 0.8), (0.9, 1.1, 1.3), (1.2, 1.6, 2.4), (0.6, 1, 1), (1, 1, 2.1), (-0.4, 1, 1)
]


def body(material: Dict[str, Any], **more: Any) -> Dict[str, Any]:
    return {
        "pliant": 1,
        "time": {"step": 1e-4, "steps": 1},
        "gravity": [0, 0, 0],
        "solver": {"method": "newton", "iterations": 1, "on_not_converged": "continue"},
        "materials": {"m": material},
        "bodies": [{"material": "m", "mesh": {"box": {"cells": [1, 1, 1]}}, **more}],
    }


def engine_energy(material: Dict[str, Any], s: Any) -> float:
    """The energy of a cube of 1 m^3 with stretches s."""
    run = Run(body(material, initial={"shape": {"stretched": list(s)}}))
    assert run.records, run.text
    return float(run.records[0]["energy"]["elastic"])


def integrated(x: List[float], m: List[float], slope: float) -> Function:
    """f with f(1) = 0, f'(1) = slope and f'' linear between (x, m), constant beyond them, by the
    trapezoidal rule on pieces so fine that its error is negligible."""

    def f(to: float) -> float:
        at = np.linspace(1, to, 200001)
        bend, step = np.interp(at, x, m), at[1] - at[0]
        first = slope + np.concatenate([[0], np.cumsum((bend[1:] + bend[:-1]) / 2 * step)])
        return float(((first[1:] + first[:-1]) / 2 * step).sum())

    return f


def energy(a: Function, b: Function, c: Function, s: Any) -> float:
    sides = s[0] * s[1], s[1] * s[2], s[2] * s[0]
    return sum(map(a, s)) + sum(map(b, sides)) + c(s[0] * s[1] * s[2])


def zero(x: float) -> float:
    return 0


def named(which: str) -> List[Function]:
    """The page's table."""
    if which == "A":
        a = integrated([0.25, 0.75, 1], [30 * MU, 4 * MU, MU], MU)
    else:
        a = integrated([1, 1.25, 1.75], [MU, 4 * MU, 30 * MU], MU)
    volumes = [0.25, 0.4, 0.6, 0.8, 1, 1.25, 1.6, 2, 3]
    bends = [max((MU + LAMBDA * (1 - np.log(j))) / j**2, MU / 10) for j in volumes]
    return [a, zero, integrated(volumes, bends, -MU)]


def through(points: Any) -> Function:
    """A natural cubic spline, straight beyond its ends, with f(1) = 0."""
    x, y = np.array(points, float).T
    inner = CubicSpline(x, y, bc_type="natural")

    def f(to: float) -> float:
        inside = min(max(to, x[0]), x[-1])
        return float(inner(inside) + (to - inside) * inner(inside, 1))

    return lambda to: f(to) - f(1)


def fitted(curve: Any) -> Function:
    """The page's least squares, for m at the knots."""
    stretch, stress = np.array(curve, float).T
    n = min(len(curve) + 1, 8)
    knots = np.linspace(min(stretch[0], 1), max(stretch[-1], 1), n)

    def slope(m: Any, to: float) -> float:
        at = np.linspace(1, to, 20001)
        bend = np.interp(at, knots, m)
        return float((bend[1:] + bend[:-1]).sum() / 2 * (at[1] - at[0]))

    phi = np.array([[slope(row, to) for row in np.eye(n)] for to in stretch])
    trace = (phi**2).sum()
    second = np.diff(np.eye(n), 2, axis=0)
    matrix = phi.T @ phi + 1e-7 * trace * second.T @ second + 1e-13 * trace * np.eye(n)
    m = np.linalg.solve(matrix, phi.T @ stress)
    return integrated(list(knots), list(m), 0)


class PagesTest(unittest.TestCase):
    def hold(self, material: Dict[str, Any], functions: List[Function], share: float) -> None:
        material = {"model": "spline", "young": YOUNG, "poisson": POISSON, **material}
        if material["splines" if "splines" in material else "curve"] not in ("A", "B"):
            del material["young"], material["poisson"]
        for s in STRETCHES:
            got, right = engine_energy(material, s), energy(*functions, s)
            self.assertLess(abs(got - right), share * abs(right) + 1e-6, (material, s, got, right))

    def test_splines_a_and_b(self) -> None:
        for which in "AB":
            self.hold({"splines": which}, named(which), 1e-7)

    def test_points(self) -> None:
        a = [[0.5, 9e4], [0.9, 2e3], [1.2, 5e3], [1.8, 7e4]]
        b = [[0.3, 3e4], [1.1, 1e3], [2.5, 4e4]]
        c = [[0.2, 8e4], [0.8, 4e3], [1, 0], [2, 3e4]]
        f = [through(a), through(b), through(c)]
        tilt = sum(k * (g(1 + 1e-7) - g(1 - 1e-7)) / 2e-7 for k, g in zip((1, 2, 1), f))
        straight = [lambda x: f[0](x) - tilt * (x - 1), f[1], f[2]]
        self.hold({"splines": {"a": a, "b": b, "c": c}}, straight, 1e-6)

    def test_curve(self) -> None:
        for count in (4, 12):
            x = np.linspace(0.6, 1.9, count)
            curve = np.column_stack([x, 3e4 * (x - x**-2.0)]).tolist()
            self.hold({"curve": curve}, [fitted(curve), zero, zero], 1e-6)

    def test_a_lumped_cube_turns_heavier(self) -> None:
        """Its moment of inertia is rho L^5 / 6 (1 + 2 / n^2)."""
        for n in (1, 2, 5):
            scene = body({"density": 600}, initial={"angular_velocity": [0, 0, 3]})
            scene["bodies"][0]["mesh"] = {"box": {"cells": [n, n, n]}}
            spin = Run(scene).records[0]["momentum"]["angular"][2]
            self.assertAlmostEqual(spin / (600 / 6 * 3), 1 + 2 / n**2, 6)

    def test_a_lumped_rope_swings_slower(self) -> None:
        """A stretched rope of n segments, held at one end, compared with the sum of the modes of
        n equal springs and masses; the lowest has (4 n / pi) sin(pi / 4 n) of the frequency of a
        bar."""
        young, density, area, stretch = 1e4, 1000.0, 1e-4, 1e-4
        for n in (1, 4):
            h = 1 / n
            masses = density * area * h * np.append(np.ones(n - 1), 0.5)
            spring = young * area / h
            matrix = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
            matrix[-1, -1] = 1
            root = np.sqrt(masses)
            squares, modes = np.linalg.eigh(spring * matrix / np.outer(root, root))
            first = np.sqrt(squares[0]) / (np.pi / 2 * np.sqrt(young / density))
            self.assertAlmostEqual(first, 4 * n / np.pi * np.sin(np.pi / (4 * n)), 9)
            end = 4.0 / np.sqrt(squares[0])
            start = stretch * h * np.arange(1, n + 1)
            parts = modes.T @ (root * start) * np.cos(np.sqrt(squares) * end)
            right = (modes @ parts) / root
            scene = body({"young": young, "density": density, "area": area})
            scene["time"] = {"step": end / 2000, "steps": 2000, "integrator": "trapezoidal"}
            scene["output"] = {"precision": "double", "every": 2000}
            scene["solver"] = {"method": "newton", "tolerance": 1e-9}
            scene["bodies"] = [{"material": "m", "mesh": {"rope": {"segments": n}},
                                "initial": {"shape": {"stretched": [1 + stretch, 1, 1]}}}]
            scene["pins"] = [{"select": {"indices": [0]}}]
            run = Run(scene)
            x = np.array(run.positions)[:, 0]
            moved = x - x[0] - h * np.arange(n + 1)
            self.assertLess(np.abs(moved[1:] - right).max(), 1e-3 * stretch, (n, run.text[-300:]))


class Recovery(unittest.TestCase):
    """The table of initial shapes: random vertices of the mesh that it was measured on."""

    def test_a_random_cube_of_mooney_rivlin(self):
        mesh = irregular_mesh(7, (1.0, 1.0, 1.0), (4, 4, 4))
        self.assertEqual(len(mesh["tets"]), 639)
        rubber = {"model": "mooney_rivlin", "invertible": True, "poisson": 0.4, "air_damping": 5}
        scene = body(rubber)
        scene["time"] = {"step": 0.04, "steps": 30}
        del scene["solver"]
        scene["bodies"][0].update(
            mesh={"vertices": mesh["vertices"].tolist(), "tets": mesh["tets"].tolist()},
            initial={"shape": {"random": {"seed": 1}}},
        )
        run = Run(scene)
        self.assertEqual(run.state, "succeeded", run.text[-300:])
        self.assertGreater(run.records[0]["inverted"], 100)
        last = run.records[-1]
        self.assertEqual((last["inverted"], last["unconverged"]), (0, 0))
        self.assertLess(abs(last["max_stretch"] - 1), 0.02)
        self.assertLess(last["energy"]["elastic"], 10)


if __name__ == "__main__":
    main()
