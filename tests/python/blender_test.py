"""The Blender add-on: its parts that need no Blender, against a real daemon, and in the long form
the whole in Blender, in background mode."""

import importlib.util
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from array import array

from support import LONG, ROOT, Daemon, main

ADDON = os.path.join(ROOT, "clients", "blender", "pliant_addon.py")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "blender_script.py")
_spec = importlib.util.spec_from_file_location("pliant_addon", ADDON)
addon = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(addon)

LARGEST_BODY = 65536  # bytes of a scene
CUBE = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
CUBE_TRIANGLES = [(0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4),
                  (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5)]


def sheet(cells=4, z=1.0, **more):
    """A square of cloth in the plane z, 1 m wide; its corner 0 is pinned."""
    n = cells + 1
    vertices = [(i / cells, j / cells, z) for j in range(n) for i in range(n)]
    triangles = [t for j in range(cells) for i in range(cells)
                 for a in [j * n + i] for t in ((a, a + 1, a + n), (a + 1, a + n + 1, a + n))]
    return addon.Mesh("sheet", vertices, triangles, [], more, {"pinned": [0, 4], "other": [3]})


def cube(**more):
    return addon.Mesh("cube", CUBE, CUBE_TRIANGLES, [], more, {})


class SceneTest(unittest.TestCase):
    def test_kinds(self):
        rope = addon.Mesh("rope", CUBE[:2], [], [(0, 1)], {}, {})
        kinds = [addon.kind_of(m) for m in (cube(), sheet(), rope, cube(pliant_kind="obstacle"))]
        self.assertEqual(kinds, ["solid", "cloth", "rope", "obstacle"])
        with self.assertRaisesRegex(addon.PliantError, "expected one of cloth, solid"):
            addon.kind_of(cube(pliant_kind="jelly"))
        self.assertFalse(addon.is_closed(CUBE_TRIANGLES[1:]))
        turned = [CUBE_TRIANGLES[0][::-1]] + CUBE_TRIANGLES[1:]
        self.assertFalse(addon.is_closed(turned))

    def test_materials_and_pins(self):
        mesh = sheet(pliant_young=2e4, pliant_damping='{"model": "rayleigh", "beta": 0.1}', other=1)
        scene = addon.scene_of([mesh], frames=10, fps=25, substeps=4)
        material = scene["materials"]["sheet"]
        self.assertEqual(material["young"], 2e4)
        self.assertEqual(material["damping"]["beta"], 0.1)
        self.assertNotIn("other", material)
        self.assertEqual(scene["pins"], [{"name": "sheet pinned", "body": "sheet",
                                          "select": {"indices": [0, 4]}}])
        self.assertEqual((scene["time"], scene["output"]),
                         ({"step": 0.01, "steps": 40}, {"every": 4}))
        torn = mesh._replace(vertices=mesh.vertices + [(9, 9, 9)])
        with self.assertRaisesRegex(addon.PliantError, "sheet: 1 vertices are loose"):
            addon.scene_of([torn])
        with self.assertRaisesRegex(addon.PliantError, "nothing to simulate"):
            addon.scene_of([cube(pliant_kind="obstacle")])

    @unittest.skipUnless(shutil.which("tetgen"), "SKIP: tetgen is not installed")
    def test_a_solid_keeps_its_surface(self):
        beam = cube()._replace(vertices=[(9 * x, y, z) for x, y, z in CUBE])
        vertices, tets = addon.fill(beam)
        self.assertEqual(vertices[:8], [tuple(map(float, v)) for v in beam.vertices])
        faces = [tuple(sorted(tet[:k] + tet[k + 1:])) for tet in tets for k in range(4)]
        self.assertEqual(sum(faces.count(face) == 1 for face in faces), len(CUBE_TRIANGLES))
        volume = 0.0
        for a, b, c, d in ([vertices[i] for i in tet] for tet in tets):
            u, v, w = ([p[k] - a[k] for k in range(3)] for p in (b, c, d))
            volume += abs(u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0])
                          + u[2] * (v[0] * w[1] - v[1] * w[0])) / 6
        self.assertAlmostEqual(volume, 9, 9)

    def test_a_solid_that_cannot_be(self):
        with self.assertRaisesRegex(addon.PliantError, "not closed"):
            addon.fill(sheet())
        with self.assertRaisesRegex(addon.PliantError, "needs the program no-such-tetgen"):
            addon.fill(cube(), "no-such-tetgen")

    def test_points_are_transformed(self):
        matrix = [[0, -1, 0, 10], [1, 0, 0, 20], [0, 0, 2, 30], [0, 0, 0, 1]]
        moved = addon.transformed(array("d", [1, 2, 3, 0, 0, 0]), matrix)
        self.assertEqual(list(moved), [8, 21, 36, 10, 20, 30])

    def test_a_cache_is_a_pc2_file(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = addon.PointCache(os.path.join(folder, "a.pc2"), 2)
            for k in range(3):
                cache.append([k, 0, 0, 0, k, 0])
            with self.assertRaisesRegex(addon.PliantError, "a frame of 1 points, not 2"):
                cache.append([0, 0, 0])
            with open(cache.path, "rb") as file:
                raw = file.read()
            self.assertEqual(struct.unpack("<12siiffi", raw[:32]),
                             (b"POINTCACHE2\0", 1, 2, 0.0, 1.0, 3))
            self.assertEqual(len(raw), 32 + 3 * 24)
            self.assertEqual(list(cache.read(2)), [2, 0, 0, 0, 2, 0])


class DaemonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--max-body", str(LARGEST_BODY))
        cls.addClassCleanup(cls.daemon.stop)
        cls.server = addon.Server(*addon.local_server(cls.daemon.state))

    def follow(self, scene):
        session = self.server.submit(scene)
        follower = addon.Follower(self.server, session["id"])
        frames = []
        while not follower.over:
            item = follower.take(0.2)
            if item is not None:
                frames.append(item)
        self.assertIsNone(follower.error)
        return follower, frames

    def test_a_sheet_is_followed(self):
        follower, frames = self.follow(addon.scene_of([sheet(z=3.0), cube(pliant_kind="obstacle")],
                                                      frames=8))
        self.assertEqual(follower.state, "succeeded")
        self.assertEqual([number for number, _ in frames], list(range(9)))
        first, count = addon.ranges(follower.session)["sheet"]
        self.assertEqual((first, count), (0, 25))
        start, end = frames[0][1], frames[8][1]
        self.assertEqual(list(start[:6]), [0.0, 0.0, 3.0, 0.25, 0.0, 3.0])
        self.assertEqual(list(end[:3]), [0.0, 0.0, 3.0])  # pinned
        self.assertLess(end[3 * 24 + 2], 2.7)  # the free corner, which falls along -z

    @unittest.skipUnless(shutil.which("tetgen"), "SKIP: tetgen is not installed")
    def test_a_solid_falls(self):
        _, frames = self.follow(addon.scene_of([cube()], frames=6, fps=24))
        fall = frames[6][1][2] - frames[0][1][2]
        # Steps of 1/48 s: the discrete fall of 12 steps is g h^2 n (n + 1) / 2.
        self.assertAlmostEqual(fall, -9.81 / 48**2 * 12 * 13 / 2, 3)

    def test_a_rope_hangs(self):
        points = [(0.1 * k, 0.0, 0.0) for k in range(11)]
        rope = addon.Mesh("rope", points, [], [(k, k + 1) for k in range(10)], {}, {"pin": [0, 10]})
        _, frames = self.follow(addon.scene_of([rope], frames=4))
        self.assertEqual(list(frames[4][1][30:33]), [1.0, 0.0, 0.0])
        self.assertLess(frames[4][1][3 * 5 + 2], -0.01)

    def test_a_mesh_is_larger_than_a_request(self):
        scene = addon.scene_of([sheet(cells=40)], frames=1)
        self.assertGreater(len(addon.json.dumps(scene)), LARGEST_BODY)
        follower, _ = self.follow(scene)
        self.assertEqual(addon.ranges(follower.session), {"sheet": (0, 41 * 41)})

    def test_faults_are_in_words(self):
        scene = addon.scene_of([sheet(pliant_young=-1)])
        with self.assertRaisesRegex(addon.PliantError, "/materials/sheet/young: out_of_range"):
            self.server.submit(scene)
        wrong = addon.Server(self.server.url, "wrong")
        with self.assertRaises(addon.PliantError):
            wrong.submit(addon.scene_of([sheet()]))
        nobody = addon.Server("http://127.0.0.1:9", "")
        with self.assertRaisesRegex(addon.PliantError, "127.0.0.1:9"):
            nobody.session("x")

    @unittest.skipUnless(LONG, "PLIANT_LONG=1 runs it in Blender")
    def test_in_blender(self):
        if shutil.which("blender") is None:
            self.skipTest("blender is not installed")
        own = os.path.join(self.daemon.directory, "own")  # what the user has, in place of ours
        os.makedirs(own)
        os.symlink(self.daemon.state, os.path.join(own, "pliant"))
        done = subprocess.run(
            ["blender", "--background", "--factory-startup", "--python-exit-code", "1",
             "--python", SCRIPT],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
            cwd=os.path.dirname(ADDON),
            env={**os.environ, "XDG_STATE_HOME": own, "BLENDER_USER_SCRIPTS": own, "TMPDIR": own})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("blender_script: all is well", done.stdout)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
