"""Forty typical scenes with default settings: every frame converges, and agrees with Newton's
method solved to rounding. The quick form runs some of them, for some frames; PLIANT_LONG=1 runs
all."""

import os
import unittest

LONG = bool(os.environ.get("PLIANT_LONG"))  # before what clears PLIANT_* away

import numpy  # noqa: E402
import runs  # noqa: E402
import typical  # noqa: E402

# Frames of the quick form: of scenes that must converge, and of scenes compared with a reference.
QUICK = {
    "gelatine": 40,
    "rubber_ball": 60,
    "steel_bar_drop": 200,
    "steel_plate": 14,
    "gripper": 50,
    "towel": 30,
    "cloth_on_a_ball": 20,
    "falling_box": 60,
}
COMPARED = {
    "gelatine": 11,
    "rubber_beam": 12,
    "foam_beam": 12,
    "sheet_metal": 60,
    "balloon": 40,
    "gown": 8,
    "slow_motion": 25,
    "pulled_bar": 20,
    "rope": 100,
    "rope_bridge": 15,
    "chain_and_weight": 30,
    "wobble_bdf2": 3,
}
# Relative to a body's size; 0.001 by default. Larger for sheets with differing discrete events:
# which steps are repeated by backward Euler, and the order in which folds form.
FARTHEST = {"draped_cloth": 0.01, "flag": 0.005, "cloth_on_a_ball": 0.002, "cloth_of_6561": 0.002}
# Motion is not chaotic while references of different tolerances agree to this fraction of a body's
# size.
CALM = {"newton": 1e-5, "admm": 3e-4}
REFERENCES = {
    "newton": ({"iterations": 300, "tolerance": 1e-9}, {"iterations": 300, "tolerance": 1e-6}),
    "admm": ({"iterations": 10000, "tolerance": 1e-6}, {"iterations": 10000, "tolerance": 1e-5}),
}


class Typical(unittest.TestCase):
    def scene(self, name, frames=None):
        scene = typical.load(name)
        scene["output"] = dict(scene.get("output", {}), precision="double")
        if frames:
            scene["time"].pop("duration", None)
            scene["time"]["steps"] = frames
        return scene

    def run_of(self, scene, frames=False):
        run = runs.Run(scene, timeout=1800 if LONG else 600, frames=frames)
        self.assertEqual(run.state, "succeeded", run.text[-300:])
        return run

    def assert_converges(self, run, name):
        bad = [r["frame"] for r in run.records if r["unconverged"]]
        self.assertEqual(bad, [], name)
        self.assertNotIn("unconverged", run.warnings)

    def compare(self, name, frames=None):
        scene = self.scene(name, frames)
        run = self.run_of(scene, frames=True)
        self.assert_converges(run, name)
        ropes = typical.has_ropes(scene) and len(scene["bodies"]) == 1
        splits = typical.takes_admm(scene) or ropes
        method = "admm" if splits else "newton"
        exact, loose = [
            self.run_of(dict(scene, solver=dict(settings, method=method)), frames=True).frames
            for settings in REFERENCES[method]
        ]
        size = numpy.ptp(run.frames[0], axis=0).max()
        compared = 0
        for got, due, other in zip(run.frames, exact, loose):
            if numpy.abs(due - other).max() > CALM[method] * size:
                break
            most = FARTHEST.get(name, 1e-3) * size
            self.assertLessEqual(numpy.abs(got - due).max(), most, (name, compared))
            compared += 1
        self.assertGreater(compared, 1, name)


def scan(file, scale, height, frames):
    """A scan of a solid of 1e6 Pa falls on a rough floor; everything else is at its default."""
    path = os.path.join(runs.SCANS, file)
    where = {"scale": scale, "translate": [0, height, 0]}
    body = {"name": "body", "mesh": {"file": path}, "material": "rubber", "transform": where}
    return {
        "pliant": 1,
        "time": {"step": 0.01, "steps": frames},
        "materials": {"rubber": {"young": 1e6, "poisson": 0.4}},
        "bodies": [body],
        "obstacles": [{"plane": {}, "friction": 0.5}],
    }


SCANS = {
    "bunny": scan("bunny_19k.msh", 1, 0.5, 80),
    "armadillo": scan("armadillo_55k.msh", 0.02, 1.2, 50),
}


def scan_converges(name):
    def test(self):
        file = SCANS[name]["bodies"][0]["mesh"]["file"]
        if not os.path.exists(file):
            self.skipTest(f"{file} is missing")
        run = self.run_of(SCANS[name])
        self.assert_converges(run, name)
        # It has landed.
        self.assertGreater(run.records[-1]["obstacle_contacts"]["obstacle-0"], 0)

    return test


def converges(name, frames):
    def test(self):
        self.assert_converges(self.run_of(self.scene(name, frames)), name)

    return test


def lies_right(name, frames):
    def test(self):
        self.compare(name, frames)

    return test


for scene in typical.NAMES if LONG else []:
    setattr(Typical, "test_" + scene, lies_right(scene, None))
for scene, count in {} if LONG else QUICK.items():
    setattr(Typical, "test_%s_converges" % scene, converges(scene, count))
for scene, count in {} if LONG else COMPARED.items():
    setattr(Typical, "test_" + scene, lies_right(scene, count))

for scene in SCANS if LONG else []:
    setattr(Typical, "test_%s_converges" % scene, scan_converges(scene))

if __name__ == "__main__":
    runs.main()
