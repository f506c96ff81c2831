"""The scenes of an independent audit, whose results were once silently wrong: each is right
today, or has a warning. `succeeded` without warnings is trusted here, as users do. The quick
form runs the first second of the flag and of the limited sheet, and one integrator for each
scene with limits; PLIANT_LONG=1 runs all."""

import os
import unittest

LONG = bool(os.environ.get("PLIANT_LONG"))  # before what clears PLIANT_* away

import runs  # noqa: E402

PUBLIC = os.path.join(runs.ROOT, "tests", "unit", "meshes", "public")

G = 9.81


def reaction(record, name="obstacle-0"):
    return record["reactions"]["obstacles"][name][1]


def middle(axis):
    """A probe of a body's position."""
    return {
        "name": axis,
        "quantity": "position",
        "body": "body-0",
        "select": "all",
        "component": axis,
    }


class Audit(unittest.TestCase):
    def run_of(self, name, state="succeeded", **more):
        run = runs.Run(runs.scene_of(name, **more))
        self.assertEqual(run.state, state, run.text[-300:])
        return run

    def assert_trusted(self, run, *told):
        self.assertEqual(sorted(run.warnings), sorted(told))

    def assert_no_gain(self, run):
        e = run.energies()
        self.assertLessEqual(max(e) - e[0], 1e-3 * (e[0] - min(e)) + 1e-9 * abs(e[0]))

    def test_limits_under_integrators_that_lose_nothing(self):
        for name, quick in (
            ("01_rope_midpoint_energy", "tr_bdf2"),
            ("01_rope_trapezoidal_energy", "bdf2"),
            ("01_strain_limit_midpoint", "sdirk2"),
        ):
            run = self.run_of(name, "refused")
            self.assertIn("gains energy", run.text)
            for integrator in ("tr_bdf2", "bdf2", "sdirk2") if LONG else (quick,):
                scene = runs.scene_of(name)
                scene["time"]["integrator"] = integrator
                if not LONG and "strain" in name:
                    scene["time"]["duration"] = 1
                self.assert_no_gain(self.run_of(name, time=scene["time"]))

    def test_reactions_carry_what_stands(self):
        for name in ("02_steel_on_floor_reaction", "02_stiff_on_floor_reaction"):
            for young in (1e3, 1e6, 1e8, 1e9, 1e10, 2e11):
                scene = runs.scene_of(name)
                for material in scene["materials"].values():
                    material["young"] = young
                run = self.run_of(name, materials=scene["materials"])
                self.assert_trusted(run)
                weight = self.mass_of(scene) * G
                late = run.records[-5:]
                mean = sum(reaction(r) for r in late) / len(late)
                if young > 1e4:  # what is softer still swings
                    words = f"{name}, {young:g} Pa"
                    self.assertAlmostEqual(mean / weight, 1, delta=0.01, msg=words)

    def mass_of(self, scene):
        size = scene["bodies"][0]["mesh"]["box"].get("size", [1, 1, 1])
        material = next(iter(scene["materials"].values()))
        return material.get("density", 1000) * size[0] * size[1] * size[2]

    def test_stiff_drops_land_without_gain(self):
        for name in ("02_stiff_drop_energy", "02_stiff_drop_frozen_quasi_newton"):
            for young in (1e7, 1e9, 2e11):
                scene = runs.scene_of(name, solver={})
                for material in scene["materials"].values():
                    material["young"] = young
                run = self.run_of(name, solver={}, materials=scene["materials"])
                self.assert_trusted(run)
                self.assert_no_gain(run)
                # It has come down: nearly all of the energy that it can lose is lost.
                e = run.energies()
                self.assertLess(e[-1], 0.5 * e[0])
            told = self.run_of(name)  # by the method that the audit had
            self.assertIn("unconverged", told.warnings)

    def test_nothing_creeps_on_a_slope(self):
        for name in ("03_creep_default", "03_creep_E1e9"):
            scene = runs.scene_of(name)
            scene["output"] = {
                "precision": "double",
                "probes": [middle(c) for c in "xyz"],
            }
            run = self.run_of(name, output=scene["output"])
            self.assert_trusted(run)
            last, before = run.records[-1], run.records[len(run.records) // 2]
            way = sum((last["probes"][c] - before["probes"][c]) ** 2 for c in "xyz") ** 0.5
            self.assertLess(way / (last["time"] - before["time"]), 1e-4, name)

    def with_mesh(self, name, folder):
        """The bodies of a scene, with the mesh file that they refer to in another folder."""
        bodies = runs.scene_of(name)["bodies"]
        file = os.path.join(folder, os.path.basename(bodies[0]["mesh"]["file"]))
        if not os.path.exists(file):
            self.skipTest(f"{file} is missing")
        bodies[0]["mesh"]["file"] = file
        return bodies

    def test_the_bunny_converges(self):
        bodies = self.with_mesh("04_readme_bunny", runs.SCANS)
        run = self.run_of("04_readme_bunny", bodies=bodies, solver={})
        self.assertEqual(len(run.records), 201)
        self.assertNotIn("unconverged", run.warnings)
        self.assertNotIn("inverted", run.warnings)

    def test_free_flight_keeps_momentum_or_is_told(self):
        bodies = self.with_mesh("13_momentum_cheb", PUBLIC)
        solvers = [runs.scene_of("13_momentum_cheb")["solver"], {}]
        for solver in solvers + [{"method": m} for m in ("lbfgs", "nonlinear_cg", "quasi_newton")]:
            run = self.run_of("13_momentum_cheb", bodies=bodies, solver=solver)
            before = run.records[0]["momentum"]["linear"]
            size = sum(c * c for c in before) ** 0.5
            for record in run.records[1:]:
                after = record["momentum"]["linear"]
                off = sum((a - b) ** 2 for a, b in zip(after, before)) ** 0.5
                if record["unconverged"]:
                    break
                self.assertLess(off, 0.01 * size, (solver, record["frame"]))

    def test_the_flag_converges(self):
        time = runs.scene_of("04_flag_default")["time"]
        run = self.run_of("04_flag_default", solver={}, time=time if LONG else {"duration": 1})
        self.assertNotIn("unconverged", run.warnings)

    def test_a_slide_stops_where_it_must(self):
        scene = runs.scene_of("05_energy_friction_stop")
        probe = middle("x")
        v = max(abs(c) for c in scene["bodies"][0]["initial"]["velocity"])
        mu = scene["obstacles"][0]["friction"]
        h = scene["time"].get("step", 1 / 30)
        for integrator in ("backward_euler", "tr_bdf2", "bdf2", "sdirk2"):
            scene["time"]["integrator"] = integrator
            run = self.run_of(
                "05_energy_friction_stop",
                time=scene["time"],
                output={"precision": "double", "probes": [probe]},
            )
            way = abs(run.records[-1]["probes"]["x"] - run.records[0]["probes"]["x"])
            exact = v * v / (2 * mu * G)
            own = exact - v * h / 2 if integrator == "backward_euler" else exact
            self.assertAlmostEqual(way / own, 1, delta=0.02, msg=integrator)

    def test_starts_are_told(self):
        for name, code, words in (
            ("06_start_inside", "start_inside", "0.2 m"),
            ("08_default_nu_bending", "few_elements", "3.4 times as stiffly"),
            ("10_tunnel_100", "thin_obstacle", "0.002 m thick"),
        ):
            run = self.run_of(name)
            self.assertIn(code, run.warnings, name)
            self.assertIn(words, run.warnings[code]["detail"])

    def test_bodies_without_contact_are_told(self):
        run = self.run_of("07_two_bodies", contact={"enabled": False})
        self.assertIn("pass through each other", run.warnings["overlap"]["detail"])

    def test_a_plate_stops_what_is_fast(self):
        probe = middle("y")
        for speed in (30, 100, 300):
            scene = runs.scene_of("10_tunnel_100", output={"probes": [probe]})
            scene["bodies"][0]["initial"]["velocity"] = [0, -speed, 0]
            run = self.run_of("10_tunnel_100", bodies=scene["bodies"], output=scene["output"])
            self.assertGreater(min(r["probes"]["y"] for r in run.records), -0.1, f"{speed} m/s")

    def test_bounces_gain_nothing(self):
        for name in ("12_restitution", "15_restitution_gain", "15_restitution_gain_bdf2"):
            for e in (0, 0.3, 0.7, 1):
                scene = runs.scene_of(name)
                scene["obstacles"][0]["restitution"] = e
                run = self.run_of(name, obstacles=scene["obstacles"])
                self.assert_trusted(run)
                self.assert_no_gain(run)

    def test_a_small_ball_ends_no_session(self):
        for method in ("newton", "quasi_newton", "lbfgs", "auto", "admm"):
            run = self.run_of("14_line_search_stop", solver={"method": method})
            self.assertEqual(len(run.records), 13)
            flagged = any(r["unconverged"] > 0 for r in run.records)
            self.assertEqual(flagged, "unconverged" in run.warnings)

    def test_what_does_not_come_back_is_told(self):
        for name in ("rb_corotated_inverted_admm", "rb_neo_hookean_random_newton"):
            self.assertIn("inverted", self.run_of(name).warnings)


if __name__ == "__main__":
    runs.main()
