"""Stored contacts between bodies: in frames from a daemon, in .npz and .vtu read by other
programs, and as the command line prints them."""

import csv
import io
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
import zipfile

from support import BUILD, Daemon, main, pliant, with_and_without_numpy

try:
    import numpy
except ImportError:
    numpy = None
try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
except ImportError:
    vtk_to_numpy = None

PLIANT = os.path.join(BUILD, "pliant")
STEPS = 30
NEEDS_NUMPY = unittest.skipIf(numpy is None, "SKIP: python3-numpy is not installed")
NEEDS_VTK = unittest.skipIf(
    numpy is None or vtk_to_numpy is None, "SKIP: python3-vtk9 is not installed"
)


def cube(name, size, y):
    return {
        "name": name,
        "mesh": {"box": {"size": [size] * 3, "cells": [2, 2, 2]}},
        "transform": {"translate": [0.02 * y, y, 0.01]},
    }


def stack(fields, precision="single"):
    """Two cubes on a third one, with names that need quotes in CSV."""
    return {
        "pliant": 1,
        "name": "stack",
        "time": {"step": 0.01, "steps": STEPS},
        "contact": {"friction": 0.4},
        "bodies": [cube('the "top"', 0.2, 0.65), cube("middle", 0.3, 0.37), cube("base", 0.4, 0)],
        "pins": [{"body": "base", "select": {"side": "-y"}}],
        "output": {"fields": fields, "precision": precision},
    }


class ContactsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="pliant-contacts-")
        cls.daemon = Daemon()
        cls.client = pliant.Client(state=cls.daemon.state)
        stored, without = ["position", "contacts"], ["position"]
        cls.session = cls.client.submit(stack(stored))
        cls.double = cls.client.submit(stack(stored, "double"))
        cls.without = cls.client.submit(stack(without))
        for session in (cls.session, cls.double, cls.without):
            session.wait(60, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.daemon.stop()
        shutil.rmtree(cls.folder)

    def pliant(self, *arguments, status=0):
        done = subprocess.run(
            [PLIANT, *arguments, "--server", f"http://127.0.0.1:{self.daemon.port}"],
            capture_output=True,
            text=True,
            env={**os.environ, "PLIANT_TOKEN": self.daemon.token},
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def forces(self, session, frame):
        """The metrics' force of a body on a later one, by their names."""
        line = next(m for m in session.metrics(start=frame, limit=1))
        return {tuple(one["between"]): one["force"] for one in line["contact"]["forces"]}

    @with_and_without_numpy
    def test_frames(self):
        frame = self.session.frame(STEPS)
        self.assertEqual(frame.fields, ("position", "contacts"))
        names = [body["name"] for body in self.session.info["bodies"]]
        sums = {}
        for point in frame.contacts:
            bodies, _, force, gap = point
            between = tuple(names[k] for k in bodies)
            sums[between] = [a + float(f) for a, f in zip(sums.get(between, [0, 0, 0]), force)]
            self.assertGreater(gap, 0)
            self.assertLess(gap, 0.01)
        told = self.forces(self.session, STEPS)
        self.assertEqual(set(sums), set(told))
        self.assertEqual(len(told), 2)
        for between, force in told.items():
            for a, b in zip(sums[between], force):
                self.assertAlmostEqual(a, b, delta=2e-3)
        alone = self.session.frame(STEPS, fields="contacts")
        self.assertEqual(alone.fields, ("contacts",))
        self.assertEqual(bytes(alone.data), bytes(frame.data)[12 * frame.vertices :])
        self.assertEqual(len(alone.contacts), len(frame.contacts))
        self.assertEqual(len(self.session.frame(0).contacts), 0)
        with self.assertRaises(KeyError):
            self.without.frame(STEPS).contacts
        quantised = self.session.frame(STEPS, dtype="u16")
        self.assertEqual(
            [tuple(p[0]) for p in quantised.contacts], [tuple(p[0]) for p in frame.contacts]
        )

    def points(self):
        """The points of every frame, as the command line prints them."""
        lines = self.pliant("contacts", self.session.id, "--json").splitlines()
        return [json.loads(line) for line in lines]

    def test_command_line(self):
        lines = self.points()
        self.assertEqual([line["frame"] for line in lines], list(range(STEPS + 1)))
        rows = list(csv.DictReader(io.StringIO(self.pliant("contacts", self.session.id))))
        self.assertEqual(len(rows), sum(len(line["contacts"]) for line in lines))
        last = [row for row in rows if row["frame"] == str(STEPS)]
        for row, point in zip(last, lines[-1]["contacts"]):
            self.assertEqual([row["first"], row["second"]], point["bodies"])
            keys = ("x", "y", "z", "force_x", "force_y", "force_z", "gap")
            got = [float(row[key]) for key in keys]
            for a, b in zip(got, point["position"] + point["force"] + [point["gap"]]):
                self.assertAlmostEqual(a, b, delta=1e-6 * abs(b))
        self.assertEqual({row["first"] for row in last}, {'the "top"', "middle"})
        which = ("--from", "20", "--to", "26", "--every", "3")
        some = self.pliant("contacts", self.session.id, *which, "--json")
        self.assertEqual([json.loads(line)["frame"] for line in some.splitlines()], [20, 23, 26])
        said = self.pliant("contacts", self.without.id, status=1)
        self.assertIn('"output": {"fields": ["position", "contacts"]}', said)

    def export(self, session, name, *options):
        path = os.path.join(self.folder, name)
        self.pliant("export", session.id, "--out", path, *options)
        return path

    @NEEDS_NUMPY
    def test_npz(self):
        lines = self.points()
        for session, kind in ((self.session, "float32"), (self.double, "float64")):
            with numpy.load(self.export(session, f"{kind}.npz")) as data:
                offsets = data["contact_offsets"]
                self.assertEqual(offsets.shape, (STEPS + 2,))
                self.assertEqual(data["contact_forces"].dtype, kind)
                self.assertEqual(data["contact_gaps"].shape, (offsets[-1],))
                for k, line in enumerate(lines):
                    part = slice(offsets[k], offsets[k + 1])
                    points = line["contacts"]
                    self.assertEqual(offsets[k + 1] - offsets[k], len(points))
                    for name, key, tail in (
                        ("contact_positions", "position", (3,)),
                        ("contact_forces", "force", (3,)),
                        ("contact_gaps", "gap", ()),
                    ):
                        told = numpy.array([p[key] for p in points]).reshape(-1, *tail)
                        good = numpy.allclose(data[name][part], told, rtol=1e-5, atol=1e-6)
                        self.assertTrue(good, name)
                top = data["contact_bodies"][offsets[-2] :]
                self.assertEqual({tuple(pair) for pair in top}, {(0, 1), (1, 2)})
        with numpy.load(self.export(self.session, "top.npz", "--body", 'the "top"')) as data:
            self.assertEqual({tuple(pair) for pair in data["contact_bodies"]}, {(0, 1)})
            self.assertEqual(data["contact_offsets"][-1], len(data["contact_forces"]))
        with numpy.load(self.export(self.without, "none.npz")) as data:
            self.assertNotIn("contact_offsets", data)

    def test_vtu_is_xml(self):
        """The header of each file, the .pvd, and that all files listed are there."""
        self.export(self.session, "run.pvd")
        lines = self.points()
        listed = xml.etree.ElementTree.parse(os.path.join(self.folder, "run_contacts.pvd"))
        files = [one.get("file") for one in listed.iter("DataSet")]
        self.assertEqual(len(files), STEPS + 1)
        for file, line in zip(files, lines):
            with open(os.path.join(self.folder, file), "rb") as opened:
                head, _, raw = opened.read().partition(b'<AppendedData encoding="raw">')
            tree = xml.etree.ElementTree.fromstring(head + b"</VTKFile>")
            piece = tree.find("UnstructuredGrid/Piece")
            self.assertEqual(int(piece.get("NumberOfPoints")), len(line["contacts"]))
            self.assertEqual(piece.get("NumberOfCells"), piece.get("NumberOfPoints"))
            names = [one.get("Name") for one in piece.find("PointData")]
            self.assertEqual(names, ["force", "gap", "body"])
            self.assertIn(b"</VTKFile>", raw)
        path = os.path.join(self.folder, "daemon.zip")
        self.session.export(path, format="vtu")
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        self.assertEqual(sum("_contacts_0" in name for name in names), STEPS + 1)
        self.assertEqual(sum(name.endswith("_contacts.pvd") for name in names), 1)
        self.export(self.without, "plain.pvd")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "plain_contacts.pvd")))

    @NEEDS_VTK
    def test_vtu_in_vtk(self):
        self.export(self.session, "seen.pvd")
        for frame in (0, STEPS):
            reader = vtkXMLUnstructuredGridReader()
            reader.SetFileName(os.path.join(self.folder, f"seen_contacts_{frame:06}.vtu"))
            reader.Update()
            grid, points = reader.GetOutput(), self.points()[frame]["contacts"]
            self.assertEqual(grid.GetNumberOfPoints(), len(points))
            self.assertEqual(grid.GetNumberOfCells(), len(points))
            self.assertTrue(all(grid.GetCellType(i) == 1 for i in range(len(points))))
            if frame == 0:
                continue
            self.assertGreater(len(points), 5)
            arrays = grid.GetPointData()
            for name, told in (
                ("force", [p["force"] for p in points]),
                ("gap", [p["gap"] for p in points]),
            ):
                values = vtk_to_numpy(arrays.GetArray(name))
                self.assertTrue(numpy.allclose(values, told, rtol=1e-5), name)
            bodies = {tuple(pair) for pair in vtk_to_numpy(arrays.GetArray("body"))}
            self.assertEqual(bodies, {(0, 1), (1, 2)})
            place = vtk_to_numpy(grid.GetPoints().GetData())
            self.assertTrue(numpy.allclose(place, [p["position"] for p in points], atol=1e-6))


if __name__ == "__main__":
    main()
