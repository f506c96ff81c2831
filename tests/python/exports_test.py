"""What `pliant export` writes, read by programs of others: VTK's readers and numpy, where they are
installed (python3-vtk9, python3-numpy), and by the formats' own rules."""

import ast
import csv
import errno
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import unittest
import zipfile

from support import BUILD, ROOT, Daemon, Relay, endless, main, pliant, scene

try:
    import numpy
except ImportError:
    numpy = None
try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOGeometry import vtkGLTFReader, vtkOBJReader
    from vtkmodules.vtkIOPLY import vtkPLYReader
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
except ImportError:
    vtk_to_numpy = None

PLIANT = os.path.join(BUILD, "pliant")
NEEDS_NUMPY = unittest.skipIf(numpy is None, "SKIP: python3-numpy is not installed")
NEEDS_VTK = unittest.skipIf(
    numpy is None or vtk_to_numpy is None, "SKIP: python3-vtk9 is not installed"
)


def mixed():
    """A box that is hung up, a cloth and a rope, with velocities."""
    value = scene(steps=6, output={"fields": ["position", "velocity"]})
    value["materials"]["cotton"] = {
        "model": "arap", "young": 1e4, "poisson": 0.3, "density": 500, "thickness": 0.001
    }
    value["materials"]["hemp"] = {"young": 1e5, "density": 500, "area": 1e-4}
    value["bodies"] += [
        {"name": "cloth", "mesh": {"cloth": {"cells": [3, 2]}}, "material": "cotton"},
        {"name": "rope", "mesh": {"rope": {"segments": 4}}, "material": "hemp"},
    ]
    return value


def read_usda(path):
    """The layer's metadata, and {name: prim} of what is below /World. A prim is its type, its
    attributes, and its time samples by time code."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head, _, rest = text.partition('def Xform "World" (')
    if not text.startswith("#usda 1.0\n(\n") or not rest.endswith("\n}\n"):
        raise AssertionError("this is no USD text")
    layer = dict(re.findall(r"^    (\w+) = (.+)$", head, re.M))
    prims = {}
    pattern = r'^    def (\w+) "(\w+)" \(\n.*?^    \)\n    \{\n(.*?)^    \}$'
    for kind, name, body in re.findall(pattern, rest, re.M | re.S):
        samples = {}
        sampled = r"^        \w+\[\] (\w+)\.timeSamples = \{\n(.*?)^        \}$"
        for attribute, lines in re.findall(sampled, body, re.M | re.S):
            rows = re.findall(r"^            ([\d.e+-]+): (\[.*\]),$", lines, re.M)
            samples[attribute] = {float(code): ast.literal_eval(row) for code, row in rows}
        single = r"^        (?:uniform )?\w+(?:\[\])? ([\w:]+) = (.+?)(?: \()?$"
        attributes = dict(re.findall(single, body, re.M))
        prims[name] = kind, attributes, samples
    return layer, prims


class ExportsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="pliant-exports-")
        cls.session = os.path.join(cls.folder, "session")
        path = os.path.join(cls.folder, "scene.json")
        with open(path, "w") as file:
            json.dump(mixed(), file)
        done = subprocess.run(
            [PLIANT, "run", path, "--out", cls.session], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def export(self, name, *options, status=0, source=None):
        path = os.path.join(self.folder, name)
        done = subprocess.run(
            [PLIANT, "export", source or self.session, "--out", path, *options],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return path if status == 0 else done.stderr

    def arrays(self):
        return numpy.load(self.export("all.npz"))

    @NEEDS_NUMPY
    def test_npz(self):
        data = self.arrays()
        self.assertEqual(data["positions"].shape, (7, 27 + 12 + 5, 3))
        self.assertEqual(data["velocities"].shape, data["positions"].shape)
        self.assertEqual(data["tets"].shape, (48, 4))
        self.assertEqual(data["edges"].shape, (4, 2))
        # In free fall velocity is the difference of positions over the step.
        fall = (data["positions"][3, :27, 1] - data["positions"][2, :27, 1]) / 0.01
        self.assertTrue(numpy.allclose(fall, data["velocities"][3, :27, 1], atol=2e-3))

    @NEEDS_NUMPY
    def test_pc2_and_mdd(self):
        data = self.arrays()
        with open(self.export("a.pc2", "--from", "2", "--every", "2"), "rb") as file:
            raw = file.read()
        head = struct.unpack("<12siiffi", raw[:32])
        self.assertEqual(head, (b"POINTCACHE2\0", 1, 44, 2.0, 2.0, 3))
        frames = numpy.frombuffer(raw[32:], "<f4").reshape(3, 44, 3)
        self.assertTrue(numpy.array_equal(frames, data["positions"][2::2]))
        with open(self.export("b.mdd"), "rb") as file:
            raw = file.read()
        self.assertEqual(struct.unpack(">ii", raw[:8]), (7, 44))
        times = numpy.frombuffer(raw[8 : 8 + 28], ">f4")
        self.assertTrue(numpy.allclose(times, data["time"]))
        frames = numpy.frombuffer(raw[36:], ">f4").reshape(7, 44, 3)
        self.assertTrue(numpy.array_equal(frames, data["positions"]))
        with open(os.path.join(self.folder, "b.obj")) as file:
            lines = [line.split() for line in file]
        vertices = numpy.array([line[1:] for line in lines if line[0] == "v"], "f4")
        self.assertTrue(numpy.array_equal(vertices, data["positions"][0]))
        self.assertEqual(sum(line[0] == "l" for line in lines), 4)

    def grid(self, name):
        reader = vtkXMLUnstructuredGridReader()
        reader.SetFileName(name)
        reader.Update()
        return reader.GetOutput()

    @NEEDS_VTK
    def test_vtu(self):
        data = self.arrays()
        path = self.export("series.pvd")
        with open(path) as file:
            self.assertEqual(file.read().count("<DataSet "), 7)
        grid = self.grid(os.path.join(self.folder, "series_000005.vtu"))
        self.assertEqual(grid.GetNumberOfPoints(), 44)
        self.assertEqual(grid.GetNumberOfCells(), 48 + 12 + 4)
        self.assertEqual(
            [grid.GetCellType(i) for i in (0, 47, 48, 59, 60, 63)], [10, 10, 5, 5, 3, 3]
        )
        points = vtk_to_numpy(grid.GetPoints().GetData())
        self.assertTrue(numpy.array_equal(points, data["positions"][5]))
        of_points, of_cells = grid.GetPointData(), grid.GetCellData()
        velocity = vtk_to_numpy(of_points.GetArray("velocity"))
        self.assertTrue(numpy.array_equal(velocity, data["velocities"][5]))
        moved = vtk_to_numpy(of_points.GetArray("displacement"))
        self.assertTrue(numpy.array_equal(moved, data["positions"][5] - data["positions"][0]))
        # Against numpy's singular values.
        fields = grid.GetFieldData()
        with open(self.export("energies.csv"), newline="") as file:
            row = list(csv.DictReader(file))[5]
        for name in ("kinetic", "elastic", "gravity"):
            energy = vtk_to_numpy(fields.GetArray("energy_" + name))
            self.assertEqual(list(energy), [float(row["energy." + name])])
        ratio = vtk_to_numpy(of_cells.GetArray("volume_ratio"))
        stretch = vtk_to_numpy(of_cells.GetArray("stretch"))
        for cell, corners in enumerate(data["tets"]):
            now, then = (
                (x[corners[1:]] - x[corners[0]]).T.astype("f8")
                for x in (data["positions"][5], data["positions"][0])
            )
            gradient = now @ numpy.linalg.inv(then)
            self.assertAlmostEqual(ratio[cell], numpy.linalg.det(gradient), 5)
            self.assertAlmostEqual(stretch[cell], numpy.linalg.svd(gradient)[1][0], 5)
        for cell, (a, b) in enumerate(data["edges"]):
            now, then = (
                numpy.linalg.norm(x[a] - x[b])
                for x in (data["positions"][5], data["positions"][0])
            )
            self.assertAlmostEqual(stretch[60 + cell], now / then, 5)
        first = self.grid(os.path.join(self.folder, "series_000000.vtu")).GetCellData()
        first = vtk_to_numpy(first.GetArray("stretch"))
        self.assertTrue(numpy.allclose(first, 1, atol=1e-6))

    @NEEDS_VTK
    def test_obj(self):
        data = self.arrays()
        self.export("frames.obj", "--every", "3")
        names = sorted(n for n in os.listdir(self.folder) if n.startswith("frames_"))
        self.assertEqual(names, [f"frames_00000{k}.obj" for k in (0, 3, 6)])
        reader = vtkOBJReader()
        reader.SetFileName(os.path.join(self.folder, names[2]))
        reader.Update()
        points = vtk_to_numpy(reader.GetOutput().GetPoints().GetData())
        self.assertTrue(numpy.array_equal(points, data["positions"][6]))
        self.assertEqual(reader.GetOutput().GetNumberOfPolys(), 48 + 12)

    def chunks(self, path):
        with open(path, "rb") as file:
            raw = file.read()
        magic, version, length = struct.unpack("<4sII", raw[:12])
        self.assertEqual((magic, version, length), (b"glTF", 2, len(raw)))
        size, kind = struct.unpack("<I4s", raw[12:20])
        self.assertEqual(kind, b"JSON")
        rest = struct.unpack("<I4s", raw[20 + size : 28 + size])
        self.assertEqual(rest, (len(raw) - size - 28, b"BIN\0"))
        return json.loads(raw[20 : 20 + size]), raw[28 + size :]

    @NEEDS_NUMPY
    def test_glb(self):
        data = self.arrays()
        described, binary = self.chunks(self.export("a.glb"))
        self.assertEqual(described["buffers"][0]["byteLength"], len(binary))

        def accessor(k):
            a = described["accessors"][k]
            at = described["bufferViews"][a["bufferView"]]["byteOffset"] + a["byteOffset"]
            width = {"SCALAR": 1, "VEC3": 3}[a["type"]]
            kind = {5125: "<u4", 5126: "<f4"}[a["componentType"]]
            values = numpy.frombuffer(binary, kind, a["count"] * width, at).reshape(-1, width)
            if "min" in a:
                self.assertTrue(numpy.array_equal(values.min(axis=0), numpy.array(a["min"], "f4")))
                self.assertTrue(numpy.array_equal(values.max(axis=0), numpy.array(a["max"], "f4")))
            return values

        triangles, lines = described["meshes"][0]["primitives"]
        self.assertEqual((triangles["mode"], lines["mode"]), (4, 1))
        used = numpy.unique(numpy.concatenate([data["triangles"].ravel(), data["edges"].ravel()]))
        base = accessor(triangles["attributes"]["POSITION"])
        self.assertTrue(numpy.array_equal(base, data["positions"][0][used]))
        self.assertEqual(len(triangles["targets"]), 6)
        for k, target in enumerate(triangles["targets"], 1):
            moved = accessor(target["POSITION"])
            self.assertTrue(numpy.allclose(base + moved, data["positions"][k][used], atol=1e-6))
        corners = used[accessor(triangles["indices"])].reshape(-1, 3)
        self.assertTrue(numpy.array_equal(corners, data["triangles"]))
        ends = used[accessor(lines["indices"])].reshape(-1, 2)
        self.assertTrue(numpy.array_equal(ends, data["edges"]))
        sampler = described["animations"][0]["samplers"][0]
        self.assertTrue(numpy.allclose(accessor(sampler["input"])[:, 0], data["time"]))
        weights = accessor(sampler["output"]).reshape(7, 6)
        self.assertTrue(numpy.array_equal(weights, numpy.eye(7, 6, -1)))

    @NEEDS_NUMPY
    def test_usda(self):
        data = self.arrays()
        layer, prims = read_usda(self.export("a.usda"))
        self.assertEqual(layer, {
            "defaultPrim": '"World"', "startTimeCode": "0", "endTimeCode": "6",
            "framesPerSecond": "100", "timeCodesPerSecond": "100", "metersPerUnit": "1",
            "upAxis": '"Y"', "customLayerData": "{",
        })
        self.assertEqual([(name, prims[name][0]) for name in prims],
                         [("box", "Mesh"), ("cloth", "Mesh"), ("rope", "BasisCurves")])
        triangles = {"box": data["triangles"][:48], "cloth": data["triangles"][48:]}
        for name, (_, attributes, samples) in prims.items():
            if name == "rope":
                used = numpy.append(data["edges"][:, 0], data["edges"][-1, 1])
                self.assertEqual(attributes["curveVertexCounts"], "[5]")
                self.assertEqual(attributes["type"], '"linear"')
            else:
                used = numpy.unique(triangles[name])
                faces = ast.literal_eval(attributes["faceVertexIndices"])
                self.assertTrue(numpy.array_equal(used[faces].reshape(-1, 3), triangles[name]))
                counts = ast.literal_eval(attributes["faceVertexCounts"])
                self.assertEqual(counts, [3] * len(triangles[name]))
                self.assertEqual(attributes["subdivisionScheme"], '"none"')
            for attribute, array in (("points", "positions"), ("velocities", "velocities")):
                self.assertEqual(list(samples[attribute]), list(range(7)))
                values = numpy.array(list(samples[attribute].values()), "f4")
                self.assertTrue(numpy.array_equal(values, data[array][:, used]), name)
            low, high = numpy.array(ast.literal_eval(attributes["extent"]), "f4")
            moved = data["positions"][:, used].reshape(-1, 3)
            self.assertTrue(numpy.array_equal([low, high], [moved.min(axis=0), moved.max(axis=0)]))
        part = read_usda(self.export("b.usda", "--body", "cloth", "--every", "3"))
        self.assertEqual(list(part[1]), ["cloth"])
        self.assertEqual(part[1]["cloth"][2]["points"][1.0], prims["cloth"][2]["points"][3.0])
        self.assertEqual((part[0]["endTimeCode"], part[0]["timeCodesPerSecond"]),
                         ("2", "33.3333333"))

    def test_usda_of_one_attribute(self):
        """It is written as it is read; the scene's gravity says which axis is up."""
        value = scene(steps=3, gravity=[0, 0, -9.81])
        names = ('1 "box"', "a b", "a_b_3", "a_b")
        value["bodies"] = [{**value["bodies"][0], "name": name} for name in names]
        value["contact"] = {"enabled": False}
        path = os.path.join(self.folder, "up.json")
        with open(path, "w") as file:
            json.dump(value, file)
        session = os.path.join(self.folder, "up")
        subprocess.run([PLIANT, "run", path, "--out", session], capture_output=True, check=True)
        _, prims = read_usda(self.export("four.usda", source=session))
        self.assertEqual(list(prims), ["_1__box_", "a_b", "a_b_3", "a_b_4"])
        layer, prims = read_usda(self.export("up.usda", "--body", '1 "box"', source=session))
        self.assertEqual(layer["upAxis"], '"Z"')
        _, attributes, samples = prims["_1__box_"]
        self.assertEqual(list(samples), ["points"])
        heights = [min(z for _, _, z in samples["points"][code]) for code in range(4)]
        self.assertEqual(heights, sorted(heights, reverse=True))
        self.assertEqual(ast.literal_eval(attributes["extent"])[0][2], heights[3])

    @NEEDS_NUMPY
    def test_ply(self):
        data = self.arrays()
        self.export("flock.ply", "--from", "4", "--every", "2")
        with open(os.path.join(self.folder, "flock_000006.ply"), "rb") as file:
            head, body = file.read().split(b"end_header\n", 1)
        self.assertIn(b"element vertex 44\n", head)
        self.assertIn(b"element edge 4\n", head)
        values = numpy.frombuffer(body[: 44 * 24], "<f4").reshape(44, 6)
        self.assertTrue(numpy.array_equal(values[:, :3], data["positions"][6]))
        self.assertTrue(numpy.array_equal(values[:, 3:], data["velocities"][6]))
        faces = numpy.frombuffer(
            body[44 * 24 : 44 * 24 + 13 * len(data["triangles"])],
            [("n", "u1"), ("v", "<i4", 3)],
        )
        self.assertTrue((faces["n"] == 3).all())
        self.assertTrue(numpy.array_equal(faces["v"], data["triangles"]))
        edges = numpy.frombuffer(body[44 * 24 + 13 * len(faces) :], "<i4").reshape(-1, 2)
        self.assertTrue(numpy.array_equal(edges, data["edges"]))

    @NEEDS_VTK
    def test_ply_in_vtk(self):
        data = self.arrays()
        self.export("vtk.ply", "--to", "0")
        reader = vtkPLYReader()
        reader.SetFileName(os.path.join(self.folder, "vtk_000000.ply"))
        reader.Update()
        mesh = reader.GetOutput()
        points = vtk_to_numpy(mesh.GetPoints().GetData())
        self.assertTrue(numpy.array_equal(points, data["positions"][0]))
        self.assertEqual(mesh.GetNumberOfPolys(), len(data["triangles"]))

    @NEEDS_VTK
    def test_glb_in_vtk(self):
        reader = vtkGLTFReader()
        reader.SetFileName(self.export("b.glb", "--to", "3"))
        reader.Update()
        self.assertEqual(reader.GetNumberOfAnimations(), 1)
        self.assertAlmostEqual(reader.GetAnimationDuration(0), 0.03, 6)
        self.assertGreater(reader.GetOutput().GetNumberOfPoints(), 0)

    def test_csv(self):
        with open(self.export("m.csv", "--from", "1"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(r["frame"]) for r in rows], list(range(1, 7)))
        self.assertTrue(all(math.isfinite(float(r["energy.kinetic"])) for r in rows))

    def test_what_can_not_be(self):
        self.assertIn("expected npz, vtu, pc2", self.export("a.xyz", status=2))
        self.assertIn("no frame to export", self.export("a.pc2", "--from", "9", status=1))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "nowhere")))
        self.export("nowhere/a.glb", status=7)

    def mesh(self, *words, status=0):
        done = subprocess.run([PLIANT, "mesh", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_mesh_files(self):
        two = os.path.join(ROOT, "tests", "unit", "meshes", "two_inline_zlib.vtu")
        before = json.loads(self.mesh("info", two, "--json"))
        self.assertEqual((before["tets"], before["vertices"]), (2, 5))
        self.assertIn("fibre", self.mesh("info", two))
        for ending, tets, triangles in (
            ("msh", 2, 0), ("mesh", 2, 0), ("vtk", 2, 0), ("obj", 0, 6), ("stl", 0, 6)
        ):
            out = os.path.join(self.folder, "two." + ending)
            self.mesh("convert", two, "--out", out)
            after = json.loads(self.mesh("info", out, "--json"))
            self.assertEqual((after["tets"], after["triangles"]), (tets, triangles), ending)
            self.assertEqual(after["box"], before["box"])
            if tets:
                self.assertEqual(after["volume"], before["volume"])
                tags = {(t["tag"], t["dimension"]) for t in after["tags"]}
                self.assertEqual(tags, {(7, 3), (8, 3), (3, 2)}, ending)
            if ending == "vtk":
                self.assertEqual(after["fields"], before["fields"])

    def test_mesh_faults(self):
        folder = os.path.join(ROOT, "tests", "unit", "meshes")
        bad = os.path.join(folder, "hexahedron.vtu")
        self.assertIn("1 hexahedra", self.mesh("info", bad, status=1))
        out = os.path.join(self.folder, "bad.msh")
        self.mesh("convert", bad, "--out", out, status=1)
        self.assertFalse(os.path.exists(out))
        self.mesh("info", os.path.join(folder, "none.vtu"), status=7)
        self.mesh("melt", bad, status=2)
        ball = os.path.join(folder, "ball_big.ply")
        self.mesh("convert", ball, "--out", os.path.join(self.folder, "x.xyz"), status=2)
        self.mesh("tetrahedralise", ball, "--out", os.path.join(self.folder, "y.xyz"), status=2)
        out = os.path.join(self.folder, "ball.node")
        if shutil.which("tetgen"):
            self.mesh("tetrahedralise", ball, "--out", out)
            self.assertTrue(os.path.exists(out[:-5] + ".ele"))
        else:
            said = self.mesh("tetrahedralise", ball, "--out", out, status=7)
            self.assertIn("tetgen is not installed", said)

    def test_of_a_daemon(self):
        daemon = Daemon()
        try:
            self.of_a_daemon(daemon)
        finally:
            daemon.stop()

    def of_a_daemon(self, daemon):
        path = os.path.join(self.folder, "scene.json")
        state = ["--state", daemon.state]
        done = subprocess.run(
            [PLIANT, *state, "submit", path, "--follow", "--json"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = subprocess.run([PLIANT, *state, "list", "--json"], capture_output=True, text=True)
        session = json.loads(listed.stdout)["items"][0]["id"]
        for name in ("x.npz", "x.pc2", "x.mdd", "x.glb", "x.usda", "x.csv"):
            here = self.export("here-" + name)
            there = self.export("there-" + name, *state, source=session)
            if name != "x.csv":  # which has how long each step took
                self.assertEqual(self.bytes_of(here), self.bytes_of(there), name)
        for name in ("series.pvd", "frames.obj", "frames.ply"):
            self.export("one/" + name, "--every", "2")
            self.export("two/" + name, "--every", "2", *state, source=session)
        one, two = (os.path.join(self.folder, name) for name in ("one", "two"))
        self.assertEqual(sorted(os.listdir(one)), sorted(os.listdir(two)))
        self.assertEqual(len(os.listdir(one)), 5 + 4 + 4)
        for name in os.listdir(one):
            self.assertEqual(
                self.bytes_of(os.path.join(one, name)), self.bytes_of(os.path.join(two, name)), name
            )

    def bytes_of(self, path):
        with open(path, "rb") as file:
            return file.read()

    @NEEDS_NUMPY
    def test_a_part_of_it(self):
        """One body, and the surface alone: the rows of the whole that it has."""
        whole = self.arrays()
        box = numpy.unique(whole["tets"])
        path = self.export("box.npz", "--body", "box")
        part = numpy.load(path)
        self.assertTrue(numpy.array_equal(part["vertex"], box))
        self.assertTrue(numpy.array_equal(part["positions"], whole["positions"][:, box]))
        self.assertTrue(numpy.array_equal(part["velocities"], whole["velocities"][:, box]))
        self.assertTrue(numpy.array_equal(box[part["tets"]], whole["tets"]))
        self.assertEqual((len(part["triangles"]), len(part["edges"])), (48, 0))
        part = numpy.load(self.export("rope.npz", "--body", "rope"))
        self.assertTrue(numpy.array_equal(part["vertex"], numpy.unique(whole["edges"])))
        self.assertTrue(
            numpy.array_equal(part["positions"], whole["positions"][:, part["vertex"]])
        )
        self.assertEqual(set(part["body"]), {2})
        corners = [whole["triangles"].ravel(), whole["edges"].ravel()]
        drawn = numpy.unique(numpy.concatenate(corners))
        self.assertEqual(len(drawn), 43)  # the box has one inside
        part = numpy.load(self.export("surface.npz", "--surface"))
        self.assertTrue(numpy.array_equal(part["vertex"], drawn))
        self.assertTrue(numpy.array_equal(drawn[part["triangles"]], whole["triangles"]))
        self.assertTrue(numpy.array_equal(drawn[part["edges"]], whole["edges"]))
        self.assertEqual(part["tets"].shape, (0, 4))
        skin = numpy.load(self.export("skin.npz", "--surface", "--body", "box"))
        self.assertEqual(len(skin["vertex"]), 26)
        with open(self.export("skin.pc2", "--surface", "--body", "box"), "rb") as file:
            raw = file.read()
        cache = numpy.frombuffer(raw[32:], "<f4").reshape(7, 26, 3)
        self.assertTrue(numpy.array_equal(cache, whole["positions"][:, skin["vertex"]]))
        with open(os.path.join(self.folder, "skin.obj")) as file:
            lines = [line.split() for line in file]
        vertices = numpy.array([line[1:] for line in lines if line[0] == "v"], "f4")
        self.assertTrue(numpy.array_equal(vertices, cache[0]))
        self.assertEqual(sum(line[0] == "f" for line in lines), 48)
        self.assertIn('there is "box", ', self.export("x.npz", "--body", "bx", status=1))

    @NEEDS_VTK
    def test_a_part_in_vtk(self):
        data = self.arrays()
        self.export("skin.pvd", "--surface", "--body", "box")
        grid = self.grid(os.path.join(self.folder, "skin_000005.vtu"))
        self.assertEqual((grid.GetNumberOfPoints(), grid.GetNumberOfCells()), (26, 48))
        self.assertEqual({grid.GetCellType(i) for i in range(48)}, {5})
        skin = numpy.unique(data["triangles"][:48])
        points = vtk_to_numpy(grid.GetPoints().GetData())
        self.assertTrue(numpy.array_equal(points, data["positions"][5][skin]))
        moved = vtk_to_numpy(grid.GetPointData().GetArray("displacement"))
        self.assertTrue(
            numpy.array_equal(moved, (data["positions"][5] - data["positions"][0])[skin])
        )

    def test_a_cut_export(self):
        """An export that breaks off repeatedly continues after its last byte, to the same file."""
        daemon = Daemon()
        try:
            with pliant.Client(state=daemon.state) as client:
                session = client.submit(scene(steps=10, cells=6))
                session.wait()
                token = client._transport.token
                for name, format in (("a.npz", None), ("a.zip", "vtu")):
                    right = self.bytes_of(self.fetch(session, name, format)[0])
                    most = len(right) // 3
                    relay = Relay(daemon.port, cut=lambda number, sent: sent > most)
                    cut = pliant.Client(relay.url, token=token).session(session.id)
                    waits = self.waits_of(cut)
                    path, count = self.fetch(cut, "b" + name[1:], format)
                    relay.close()
                    # The daemon passes over what is here at 20 MB a second or faster.
                    self.assertEqual((waits[0], waits), (0, sorted(waits)))
                    self.assertTrue(most / 20e6 < waits[-1] < len(right) / 20e6, waits)
                    self.assertEqual(count, 11)
                    self.assertEqual(self.bytes_of(path), right)
                    asked = [r for r in relay.requests if b"offset=" in r and b"If-Match: " in r]
                    self.assertGreaterEqual(len(asked), 3)
                    self.cut_in_the_command(daemon, session.id, token, name, right)
                with self.assertRaises(pliant.Problem) as caught:
                    client._transport.request(
                        "GET",
                        f"/v1/sessions/{session.id}/export?format=pc2&offset=9",
                        headers={"If-Match": '"other"'},
                    )
                self.assertEqual(caught.exception.code, "changed_meanwhile")
        finally:
            daemon.stop()

    def waits_of(self, session):
        """The seconds beyond the usual that each of its downloads may be silent."""
        waits, transport = [], session._transport
        usual = transport.open

        def open_noting(path, query, accept, wait=0.0, headers=None):
            waits.append(wait)
            return usual(path, query, accept, wait, headers)

        transport.open = open_noting
        return waits

    def test_a_disk_that_is_full(self):
        """Nobody asks the daemon again for what cannot be written."""
        daemon = Daemon()
        try:
            with pliant.Client(state=daemon.state) as client:
                session = client.submit(scene(steps=2))
                session.wait()
                relay = Relay(daemon.port)
                there = pliant.Client(relay.url, token=client._transport.token).session(session.id)
                path, before = there._path("export"), relay.connections
                full = pliant.exports._Download(there._transport, path, {"format": "npz"})
                with open("/dev/full", "wb", buffering=0) as file:
                    with self.assertRaises(OSError) as caught:
                        full.run(file, 60)
                self.assertEqual(caught.exception.errno, errno.ENOSPC)
                self.assertEqual(relay.connections, before + 1)
                relay.close()
                nobody = pliant.Client("http://127.0.0.1:1", token="t")._transport
                with self.assertRaisesRegex(pliant.Unreachable, "cannot reach .*running there"):
                    pliant.exports.download(nobody, path, {}, os.path.join(self.folder, "no.npz"))
        finally:
            daemon.stop()

    def cut_in_the_command(self, daemon, session, token, name, right):
        most = len(right) // 3
        relay = Relay(daemon.port, cut=lambda number, sent: sent > most)
        where = ["--server", relay.url, "--token", token]
        out = "cut/" + ("falls.pvd" if name == "a.zip" else name)
        os.makedirs(os.path.join(self.folder, "cut"), exist_ok=True)
        path = self.export(out, *where, source=session)
        relay.close()
        self.assertTrue(any(b"offset=" in r for r in relay.requests))
        if name != "a.zip":
            self.assertEqual(self.bytes_of(path), right)
            return
        with zipfile.ZipFile(os.path.join(self.folder, "http-" + name)) as archive:
            names = archive.namelist()
            self.assertEqual(len(names), 12)
            for member in names:
                one = self.bytes_of(os.path.join(self.folder, "cut", member))
                self.assertEqual(one, archive.read(member), member)

    def test_records_that_are_cut_in_the_command(self):
        """`pliant frames --raw` continues after the last record, to the bytes of one connection."""
        daemon = Daemon()
        try:
            with pliant.Client(state=daemon.state) as client:
                session = client.submit(scene(steps=24, cells=6))
                session.wait()
                token = client._transport.token
                forms = ([], ["--follow"], ["--from", "1", "--to", "22", "--every", "2"])
                for words in (*forms, ["--dtype", "f64"]):
                    url = f"http://127.0.0.1:{daemon.port}"
                    right, _ = self.records(session, url, token, words)
                    for most in (len(right) // 3, len(right) // 2, len(right) - 60):
                        relay = Relay(daemon.port, cut=lambda number, sent: sent > most)
                        got, asked = self.records(session, relay.url, token, words, relay)
                        self.assertEqual(got, right, (words, most))
                        self.assertGreaterEqual(asked, 2)
        finally:
            daemon.stop()

    def records(self, session, url, token, words, relay=None):
        """What the command wrote, and how often it asked for frames."""
        path = os.path.join(self.folder, "records.bin")
        command = [PLIANT, "frames", session.id, "--raw", path, "--server", url, "--token", token]
        done = subprocess.run(command + words, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        if relay:
            relay.close()
        asked = sum(b"/frames?" in request for request in relay.requests) if relay else 1
        return self.bytes_of(path), asked

    def test_what_can_not_be_asked_for(self):
        """Said before anybody looks for the session."""
        wrong = {"status": 2, "source": "nobody"}
        self.assertIn("metrics", self.export("x.csv", "--surface", **wrong))
        self.assertIn("all bodies", self.export("x.png", "--body", "box", **wrong))
        self.assertIn("--every", self.export("x.npz", "--every", "0", **wrong))

    def test_an_interrupted_command(self):
        """Ctrl-C while it waits to go on after a cut ends it as Ctrl-C does."""
        daemon = Daemon()
        try:
            with pliant.Client(state=daemon.state) as client:
                session = client.submit(scene(steps=10, cells=6))
                session.wait()
                gone = threading.Event()

                def cut(number, sent):
                    if sent > 20000:
                        gone.set()
                    return gone.is_set()

                relay = Relay(daemon.port, cut=cut)
                path = os.path.join(self.folder, "never.npz")
                command = [PLIANT, "export", session.id, "--out", path, "--server", relay.url]
                command += ["--token", client._transport.token]
                with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
                    for line in process.stderr:
                        if "cut after" in line and "continuing from there in 1 s" in line:
                            process.send_signal(signal.SIGINT)
                            break
                    said = process.stderr.read()
                self.assertEqual(process.returncode, 130, said)
                relay.close()
                self.assertFalse(os.path.exists(path))
        finally:
            daemon.stop()

    def test_before_the_first_frame(self):
        """One that waits for its turn is refused by what is missing, not by what was asked."""
        daemon = Daemon()
        try:
            with pliant.Client(state=daemon.state) as client:
                client.submit(endless(resources={"cores": 2}))
                waits = client.submit(scene(resources={"cores": 2}))
                token = client._transport.token
                where = ["--server", client._transport.url, "--token", token]
                said = self.export("none.npz", *where, source=waits.id, status=1)
                self.assertIn("No frames", said)
        finally:
            daemon.stop()

    def test_over_http(self):
        daemon = Daemon()
        try:
            with pliant.Client(state=daemon.state) as client:
                session = client.submit(mixed())
                session.wait()
                self.over_http(session)
        finally:
            daemon.stop()

    def test_stress(self):
        """A bar stretched along x alone: sigma = s dPsi/ds / J (tests/physics/stress_test)."""
        value = scene(steps=1, gravity=[0, 0, 0])
        value["output"] = {"fields": ["position", "stress"], "precision": "double"}
        value["materials"]["rubber"]["model"] = "corotated"
        value["bodies"][0]["initial"] = {"shape": {"stretched": [1.2, 1, 1]}}
        shear, lame = 1e4 / 2.6, 1e4 * 0.3 / (1.3 * 0.4)
        along, across = (2 * shear + lame) * 0.2, lame * 0.2 / 1.2
        expected = (along - across, along, (along + 2 * across) / 3)
        daemon = Daemon()
        try:
            with pliant.Client(state=daemon.state) as client:
                session = client.submit(value)
                session.wait()
                for row in session.frame(0).stress.tolist():
                    for got, right in zip(row, expected):
                        self.assertAlmostEqual(got, right, 6)
                small = next(session.frames(fields="stress", dtype="u16", vertices="surface"))
                self.assertEqual((small.fields, small.vertices), (("stress",), 26))
                path, _ = self.fetch(session, "s.npz")
                if numpy is not None:
                    data = numpy.load(path)
                    self.assertNotIn("velocities", data)
                    self.assertTrue(numpy.allclose(data["stress"][0], expected, rtol=1e-6))
                if vtk_to_numpy is not None:
                    grid = self.grid(self.fetch(session, "s.vtu", frame=0)[0]).GetPointData()
                    names = ("von_mises", "principal_stress", "mean_stress")
                    for name, right in zip(names, expected):
                        values = vtk_to_numpy(grid.GetArray(name))
                        self.assertTrue(numpy.allclose(values, right, rtol=1e-6), name)
        finally:
            daemon.stop()

    def test_stress_of_elements(self):
        """Of two bars and two cloths one each is pulled: every cell has its own."""
        pulled = {"shape": {"stretched": [1.2, 1, 1]}}
        value = scene(steps=1, gravity=[0, 0, 0])
        value["output"] = {"fields": ["position", "element_stress"], "precision": "double"}
        value["materials"]["rubber"]["model"] = "corotated"
        bar = value["bodies"][0]
        value["materials"]["cotton"] = {**value["materials"]["rubber"], "thickness": 0.001}
        value["materials"]["other"] = {**value["materials"]["rubber"], "model": "stvk"}
        value["bodies"] = [
            {**bar, "name": "still", "material": "other"},
            {"name": "flat", "mesh": {"cloth": {"cells": [2, 1]}}, "material": "cotton"},
            {"name": "cloth", "mesh": {"cloth": {"cells": [2, 2]}}, "material": "cotton",
             "initial": {"shape": {"stretched": [1.2, 0.94, 0.94]}}},
            {**bar, "name": "pulled", "initial": pulled},
        ]
        shear, lame = 1e4 / 2.6, 1e4 * 0.3 / (1.3 * 0.4)
        along, across = (2 * shear + lame) * 0.2, lame * 0.2 / 1.2
        expected = (along - across, along, (along + 2 * across) / 3)
        tense = 1e4 * 0.2 / 0.94  # a sheet with free sides, over its thickness at rest
        daemon = Daemon()
        try:
            with pliant.Client(state=daemon.state) as client:
                session = client.submit(value)
                session.wait()
                # Frames are sent without it, whichever form is asked for.
                for form in ({}, {"vertices": "surface"}, {"dtype": "f32"}):
                    frame = next(session.frames(**form))
                    self.assertEqual(frame.fields, ("position",), form)
                path, _ = self.fetch(session, "es.npz")
                skin, _ = self.fetch(session, "es2.npz", body="pulled")
                if numpy is not None:
                    data, part = numpy.load(path), numpy.load(skin)
                    self.assertEqual(data["element_stress"].shape, (2, 48 + 48 + 4 + 8, 3))
                    self.assertEqual(data["sheets"].shape, (12, 3))
                    first = data["element_stress"][0]
                    self.assertTrue(numpy.allclose(first[:48], 0, atol=1e-6))
                    self.assertTrue(numpy.allclose(first[48:96], expected, rtol=1e-6))
                    sheet = (tense, tense, tense / 3)
                    self.assertTrue(numpy.allclose(first[96:100], 0, atol=1e-6))
                    self.assertTrue(numpy.allclose(first[100:], sheet, rtol=1e-6))
                    self.assertTrue(
                        numpy.array_equal(part["element_stress"], data["element_stress"][:, 48:96])
                    )
                    cloth = numpy.load(self.fetch(session, "es3.npz", body="cloth")[0])
                    self.assertTrue(
                        numpy.array_equal(cloth["element_stress"], data["element_stress"][:, 100:])
                    )
                if vtk_to_numpy is not None:
                    grid = self.grid(self.fetch(session, "es.vtu", frame=0)[0])
                    self.assertIsNone(grid.GetPointData().GetArray("von_mises"))
                    names = ("von_mises", "principal_stress", "mean_stress")
                    for k, name in enumerate(names):
                        values = vtk_to_numpy(grid.GetCellData().GetArray(name))
                        expected = first[:, k].astype("f4")  # a .vtu is of float32
                        self.assertTrue(numpy.array_equal(values, expected), name)
                    skin = self.grid(
                        self.fetch(session, "es4.vtu", frame=0, vertices="surface")[0]
                    )
                    self.assertIsNone(skin.GetCellData().GetArray("von_mises"))
        finally:
            daemon.stop()

    def fetch(self, session, name, *which, **more):
        path = os.path.join(self.folder, "http-" + name)
        return path, session.export(path, *which, **more)

    def over_http(self, session):
        path, count = self.fetch(session, "a.zip", "vtu", every=3)
        self.assertEqual(count, 3)
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual(
                archive.namelist(),
                ["falls_000000.vtu", "falls_000003.vtu", "falls_000006.vtu", "falls.pvd"],
            )
            self.assertEqual(archive.read("falls.pvd").count(b"<DataSet "), 3)
            archive.extractall(self.folder)
        one, count = self.fetch(session, "b.vtu", frame=3)
        self.assertEqual(count, 1)
        packed = self.bytes_of(os.path.join(self.folder, "falls_000003.vtu"))
        self.assertEqual(self.bytes_of(one), packed)
        path, count = self.fetch(session, "c.zip", "obj", start=1, to=2)
        with zipfile.ZipFile(path) as archive:
            self.assertEqual(archive.namelist(), ["falls_000001.obj", "falls_000002.obj"])
        path, count = self.fetch(session, "d.npz", start=1)
        self.assertEqual(count, 6)
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
        if numpy is not None:
            positions = numpy.load(path)["positions"]
            self.assertTrue(numpy.array_equal(positions[4], session.frame(5).positions))
        if vtk_to_numpy is not None:
            grid = self.grid(os.path.join(self.folder, "falls_000003.vtu"))
            points = vtk_to_numpy(grid.GetPoints().GetData())
            self.assertTrue(numpy.array_equal(points, session.frame(3).positions))
            reader = vtkGLTFReader()
            reader.SetFileName(self.fetch(session, "e.glb")[0])
            reader.Update()
            self.assertEqual(reader.GetNumberOfAnimations(), 1)
        with self.assertRaises(pliant.Problem):
            self.fetch(session, "f.stl")
        with self.assertRaises(pliant.Problem):
            list(session.frames(fields="stress"))
        self.assertEqual([n for n in os.listdir(self.folder) if n.endswith(".part")], [])


if __name__ == "__main__":
    main()
