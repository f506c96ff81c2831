"""Sessions with output.precision "double": .npz and .npy files hold float64, the bits of the stored
frames; the formats that are float32 by definition hold the same frames rounded once."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
import warnings

from support import BUILD, Daemon, main, pliant, scene

try:
    import numpy
except ImportError:
    numpy = None

PLIANT = os.path.join(BUILD, "pliant")
STEPS = 60


def mixed(precision):
    """A box, a cloth that is pulled and a rope, with every field; of old frames each tenth."""
    fields = ["position", "velocity", "stress", "element_stress"]
    value = scene(steps=STEPS)
    value["output"] = {
        "fields": fields, "precision": precision, "retention": {"last": 10, "every": 10}
    }
    value["materials"]["cotton"] = {
        "model": "arap", "young": 1e4, "poisson": 0.3, "density": 500, "thickness": 0.001
    }
    value["materials"]["hemp"] = {"young": 1e5, "density": 500, "area": 1e-4}
    value["bodies"] += [
        {"name": "cloth", "mesh": {"cloth": {"cells": [3, 2]}}, "material": "cotton",
         "initial": {"shape": {"stretched": [1.2, 0.94, 0.94]}}},
        {"name": "rope", "mesh": {"rope": {"segments": 4}}, "material": "hemp"},
    ]
    return value


@unittest.skipIf(numpy is None, "SKIP: python3-numpy is not installed")
class DoubleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="pliant-double-")
        cls.daemon = Daemon()
        cls.client = pliant.Client(state=cls.daemon.state)
        cls.double, cls.single = (cls.client.submit(mixed(p)) for p in ("double", "single"))
        for session in (cls.double, cls.single):
            session.wait(60, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.daemon.stop()
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def load(self, session, name, **which):
        session.export(self.path(name), **which)
        return numpy.load(self.path(name))

    def frames(self, session):
        """The stored frames by number, over HTTP; what is not kept is passed over."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pliant.FramesMissing)
            return {f.number: f for f in session.frames(follow=False)}

    def check_same(self, data, frames, kind, pick=slice(None)):
        numbers = data["frame"].tolist()
        self.assertEqual(numbers, sorted(frames))
        self.assertLess(len(numbers), STEPS)  # retention left out some
        for name, field in (("positions", "position"), ("velocities", "velocity"),
                            ("stress", "stress")):
            self.assertEqual(data[name].dtype, kind, name)
            for row, number in zip(data[name], numbers):
                stored = frames[number].field(field)[pick]
                self.assertEqual(row.tobytes(), stored.astype(kind).tobytes(), (name, number))

    def test_npz(self):
        """The same bits; and there is more in them than float32 has."""
        frames = self.frames(self.double)
        data = self.load(self.double, "d.npz")
        self.check_same(data, frames, numpy.float64)
        self.assertEqual(data["element_stress"].dtype, numpy.float64)
        last = data["positions"][-1]
        self.assertFalse(numpy.array_equal(last, last.astype("f4")))
        single = self.load(self.single, "s.npz")
        self.check_same(single, self.frames(self.single), numpy.float32)
        self.assertEqual(single["element_stress"].dtype, numpy.float32)
        # Both sessions computed the same: the frames differ by the rounding alone.
        for name in ("positions", "velocities", "stress", "element_stress"):
            for number in (0, STEPS):
                wide = data[name][data["frame"].tolist().index(number)]
                narrow = single[name][single["frame"].tolist().index(number)]
                self.assertEqual(wide.astype("f4").tobytes(), narrow.tobytes(), name)

    def test_parts(self):
        """The rows of the whole that one body or the surface has."""
        for session, kind in ((self.double, numpy.float64), (self.single, numpy.float32)):
            frames, whole = self.frames(session), self.load(session, "w.npz")
            surface = self.load(session, "p.npz", vertices="surface")
            self.check_same(surface, frames, kind, surface["vertex"])
            self.assertNotIn("element_stress", surface)
            for body, first, count in (("box", 0, 48), ("cloth", 48, 12)):
                part = self.load(session, f"{body}.npz", body=body)
                self.check_same(part, frames, kind, part["vertex"])
                rows = whole["element_stress"][:, first : first + count]
                self.assertEqual(part["element_stress"].dtype, kind)
                self.assertEqual(part["element_stress"].tobytes(), rows.tobytes(), body)
                self.assertTrue(rows.any())

    def test_float_formats(self):
        """A .pc2 is of float32: the doubles, rounded."""
        data = self.load(self.double, "f.npz", start=STEPS - 5)
        for which in ({}, {"vertices": "surface"}):
            self.double.export(self.path("f.pc2"), start=STEPS - 5, **which)
            with open(self.path("f.pc2"), "rb") as file:
                raw = file.read()
            rows = slice(None)
            if which:
                rows = self.load(self.double, "g.npz", **which)["vertex"]
            self.assertEqual(raw[32:], data["positions"][:, rows].astype("<f4").tobytes())

    def test_npy(self):
        """`pliant frames`, of a daemon's session and of a directory, and Session.save."""
        here = self.path("here")
        with open(self.path("scene.json"), "w") as file:
            json.dump(mixed("double"), file)
        subprocess.run([PLIANT, "run", self.path("scene.json"), "--out", here], check=True,
                       capture_output=True)
        for session, kind in ((self.double, numpy.float64), (self.single, numpy.float32)):
            frames = self.frames(session)
            sources = [[session.id, "--state", self.daemon.state]]
            sources += [[here]] if session is self.double else []
            for number, source in enumerate(sources):
                out = self.path(f"npy-{session.id}-{number}")
                subprocess.run([PLIANT, "frames", *source, "--out", out, "--from", str(STEPS - 4)],
                               check=True, capture_output=True)
                self.assertEqual(len(os.listdir(out)), 5)
                for k in range(STEPS - 4, STEPS + 1):
                    array = numpy.load(os.path.join(out, f"frame_{k:06}.npy"))
                    self.assertEqual(array.dtype, kind)
                    self.assertEqual(array.tobytes(), frames[k].positions.tobytes())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pliant.FramesMissing)
                session.save(self.path("s.npy"))
                session.save(self.path("n.npy"), dtype="f32")
            saved = numpy.load(self.path("s.npy"))
            self.assertEqual(saved.dtype, kind)
            stored = numpy.stack([frames[k].positions for k in sorted(frames)])
            self.assertEqual(saved.tobytes(), stored.tobytes())
            self.assertEqual(numpy.load(self.path("n.npy")).dtype, numpy.float32)


if __name__ == "__main__":
    main()
