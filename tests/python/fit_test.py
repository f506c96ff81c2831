"""Fits against a real daemon: finding a bar's hidden numbers from its swing, continuing after a
killed daemon, force against stretch, a stop by the misfit, and problem texts."""

import os
import random
import signal
import unittest

LONG = bool(os.environ.get("PLIANT_LONG"))  # before PLIANT_* is cleared

from support import Daemon, main, pliant, scene, until  # noqa: E402

YOUNG, VISCOSITY = "/materials/rubber/young", "/materials/rubber/damping/viscosity"
HIDDEN = {YOUNG: 2.3e5, VISCOSITY: 740.0}
BOUNDS = {
    YOUNG: {"min": 2e4, "max": 2e6, "scale": "log", "name": "young"},
    VISCOSITY: {"min": 10, "max": 1e4, "scale": "log", "name": "viscosity"},
}


def bar(young=1e5, viscosity=100.0, steps=40):
    """A bar that is held at one end and swings."""
    return {
        "pliant": 1,
        "time": {"step": 0.025, "steps": steps, "integrator": "trapezoidal"},
        "solver": {"method": "newton", "iterations": 20, "tolerance": 1e-7},
        "materials": {
            "rubber": {
                "young": young,
                "poisson": 0.3,
                "density": 1000,
                "damping": {"model": "strain_rate", "viscosity": viscosity},
            }
        },
        "bodies": [
            {
                "name": "bar",
                "mesh": {"box": {"size": [1, 0.2, 0.2], "cells": [4, 1, 1]}},
                "material": "rubber",
            }
        ],
        "pins": [{"select": {"side": "-x"}}],
        "output": {
            "probes": [
                {"name": "tip", "quantity": "position", "component": "y", "body": "bar"},
            ]
        },
    }


def pulled(young, speed):
    """A bar that is pulled slowly, to twice its length at 0.5 m/s."""
    return {
        "pliant": 1,
        "time": {"step": 0.1, "steps": 20, "integrator": "quasi_static"},
        "solver": {"method": "newton", "iterations": 50, "tolerance": 1e-8},
        "gravity": [0, 0, 0],
        "materials": {"m": {"young": young, "poisson": 0.3, "density": 1000}},
        "bodies": [
            {
                "name": "bar",
                "mesh": {"box": {"size": [1, 0.2, 0.2], "cells": [3, 1, 1]}},
                "material": "m",
            }
        ],
        "pins": [
            {"select": {"side": "-x"}},
            {"name": "end", "select": {"side": "+x"}, "motion": {"velocity": [speed, 0, 0]}},
        ],
        "output": {
            "probes": [
                {"name": "force", "quantity": "reaction", "pin": "end", "component": "x"},
                {"name": "length", "quantity": "position", "component": "x", "statistic": "range"},
            ]
        },
    }


class FitTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        cls.client = pliant.Client(state=cls.daemon.state, retry_for=60)
        cls.addClassCleanup(cls.client.close)

    def swing(self, noise=0.0):
        """The tip of the bar with the hidden numbers: (time, height), after the first frame."""
        session = self.client.submit(bar(HIDDEN[YOUNG], HIDDEN[VISCOSITY])).wait(60)
        points = [(r["time"], r["probes"]["tip"]) for r in session.metrics()][1:]
        heights = [y for _, y in points]
        mean = sum(heights) / len(heights)
        spread = (sum((y - mean) ** 2 for y in heights) / len(heights)) ** 0.5
        draw = random.Random(7).gauss
        return [(t, y + noise * spread * draw(0, 1)) for t, y in points]

    def check(self, fit, young, viscosity):
        values = fit.best["values"]
        self.assertLess(abs(values["young"] / HIDDEN[YOUNG] - 1), young, values)
        self.assertLess(abs(values["viscosity"] / HIDDEN[VISCOSITY] - 1), viscosity, values)

    def test_hidden_numbers_are_found_though_the_daemon_is_killed(self):
        points = self.swing()
        fit = self.client.fit(bar(), BOUNDS, {"tip": points}, results=["frame"], running=2)
        self.assertEqual(fit.info["fit"]["phase"], "sampling")
        self.assertIsNone(fit.best)
        for ended in (5, 20):  # among the samples, and in the search
            until(lambda: fit.refresh().info["fit"]["ended"] >= ended, "runs")
            self.daemon.end(signal.SIGKILL)
            self.daemon.start()
        before = fit.refresh().rows()
        fit.wait(120)
        self.assertEqual((fit.state, fit.info["fit"]["phase"]), ("done", "converged"))
        self.check(fit, young=0.01, viscosity=0.05)
        rows = fit.rows()
        self.assertEqual([r["young"] for r in rows[: len(before)]], [r["young"] for r in before])
        tries = [item["tries"] for item in fit.table()["items"]]
        self.assertEqual(tries, [1] * len(rows))  # no run was lost or repeated
        self.assertEqual(len({(r["young"], r["viscosity"]) for r in rows}), len(rows))
        best = fit.best
        self.assertEqual(best["misfit"], min(r["misfit"] for r in rows))
        self.assertEqual(best["session"], rows[best["row"]]["session"])
        self.assertEqual(rows[0]["frame"], 40)
        self.assertEqual(fit.csv().splitlines()[0],
                         "row,session,state,warnings,young,viscosity,misfit,frame")
        self.check_residuals(fit, points)
        ended = fit.info["fit"]["ended"]  # the fit has also ended for the next daemon
        self.daemon.end(signal.SIGTERM)
        self.daemon.start()
        self.assertEqual(fit.wait(60).info["fit"]["ended"], ended)
        self.assertEqual(fit.best, best)
        self.client.session(best["session"]).delete()
        until(lambda: self.refused(fit.residuals) == "no_residuals", "the end of its session")
        before = fit.table()
        self.daemon.end(signal.SIGKILL)  # a stored row needs no session
        self.daemon.start()
        self.assertEqual(fit.wait(60).best, best)
        self.assertEqual(fit.table(), before)

    def check_residuals(self, fit, points):
        (series,) = fit.residuals()
        self.assertEqual((series["name"], series["against"]), ("tip", "time"))
        session = self.client.session(fit.best["session"])
        tips = {r["time"]: r["probes"]["tip"] for r in session.metrics()}
        for (t, y), (x, measured, value, residual) in zip(points, series["points"]):
            self.assertEqual((x, measured), (t, y))
            self.assertAlmostEqual(value, tips[t], delta=1e-12)
            self.assertEqual(residual, value - measured)

    def refused(self, call):
        try:
            call()
        except pliant.Problem as problem:
            return problem.code
        return None

    @unittest.skipUnless(LONG, "PLIANT_LONG is not set")
    def test_noise_of_one_per_cent(self):
        fit = self.client.fit(bar(), BOUNDS, {"tip": self.swing(0.01)}).wait(120)
        self.check(fit, young=0.01, viscosity=0.05)
        self.assertLess(abs(fit.best["misfit"] / 0.01 - 1), 0.3)

    def test_force_against_stretch(self):
        """A bar pulled to twice its length, not at the measured speed; one parameter, stopped by
        the misfit."""
        done = self.client.submit(pulled(4e5, 0.5)).wait(60)
        lines = ["%.17g,%.17g" % (r["probes"]["length"], r["probes"]["force"])
                 for r in list(done.metrics())[1:]]
        measured = {
            "probe": "force",
            "against": {"probe": "length"},
            "csv": "length,force\n" + "\n".join(lines) + "\n",
        }
        fit = self.client.fit(
            pulled(1e5, 0.6),
            {"/materials/m/young": (1e4, 1e6)},
            [measured],
            evaluations=60,
            stop={"result": "misfit", "below": 0.02},
        ).wait(60)
        self.assertEqual((fit.state, fit.info["fit"]["method"]), ("stopped", "cobyla"))
        self.assertLess(fit.best["misfit"], 0.02)
        self.assertLess(abs(fit.best["values"]["materials/m/young"] / 4e5 - 1), 0.05)
        self.assertEqual(fit.residuals()[0]["against"], "length")

    def test_cancelled_and_gone_on_with(self):
        slow = bar(steps=400)
        fit = self.client.fit(slow, BOUNDS, {"tip": [(0.1, 0), (0.2, 0), (0.3, 1)]}, running=1)
        until(lambda: fit.refresh().counts["running"] == 1, "a run")
        fit.cancel().wait(60)
        self.assertEqual(fit.state, "cancelled")
        self.assertEqual(fit.retry().state, "running")
        until(lambda: fit.refresh().counts["running"] == 1, "a run")
        fit.cancel().wait(60)
        fit.delete(sessions=True)

    def test_what_is_wrong_is_located(self):
        cases = [
            ({"/materials/rubber/yuong": (1, 2)}, {"tip": [(0, 1), (1, 2)]},
             "/parameters/0/path"),
            ({YOUNG: (2e5, 1e5)}, {"tip": [(0, 1), (1, 2)]}, "/parameters/0"),
            ({YOUNG: (1e4, 1e5)}, {"tip": [(0, 1)]}, "/fit/measured/0/points"),
            ({YOUNG: (1e4, 1e5)}, {"tap": [(0, 1), (1, 2)]}, "/fit/measured/0/probe"),
            ({YOUNG: (-1e4, 1e5)}, {"tip": [(0, 1), (1, 2)]}, "/parameters/0"),
        ]
        for parameters, measured, pointer in cases:
            with self.assertRaises(pliant.SceneRefused) as caught:
                self.client.fit(bar(), parameters, measured)
            self.assertIn(pointer, [f.pointer for f in caught.exception.faults])
        sweep = self.client.sweep(scene(steps=2), {"/time/step": [0.01]})
        self.assertIsNone(sweep.best)
        self.assertEqual(self.refused(sweep.residuals), "no_residuals")


if __name__ == "__main__":
    main()
