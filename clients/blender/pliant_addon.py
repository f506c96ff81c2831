"""Pliant for Blender: sends the selected meshes to a daemon, shows the simulation while it runs,
and keeps it as an animation.

One file, only Blender's own Python. What needs no Blender stands first, as plain functions and
classes that any Python 3.9 can import; the classes that Blender registers stand at the end.
"""

import ast
import hashlib
import json
import os
import queue
import shutil
import struct
import subprocess
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from array import array
from typing import NamedTuple

try:
    import bpy
except ImportError:  # outside Blender
    bpy = None

bl_info = {
    "name": "Pliant",
    "description": "Simulate cloth, ropes and soft bodies on a Pliant daemon",
    "author": "Pliant",
    "version": (1, 0, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Pliant",
    "category": "Physics",
}

KINDS = ("cloth", "solid", "rope", "obstacle")
PREFIX = "pliant_"  # of custom properties
PIN = "pin"  # vertex groups whose names begin with it are held
LIVE = "Pliant live"  # the shape key that shows the newest frame


# ---- the daemon ---------------------------------------------------------------------------------


class PliantError(Exception):
    """A fault, with a message for the user."""


def _problem(error):
    """The text of an error reply (RFC 9457), with every fault of a scene."""
    text = error.read().decode("utf-8", "replace")
    try:
        problem = json.loads(text)
        lines = [problem.get("detail") or problem["title"]]
        for fault in problem.get("faults", []):
            parts = [f"{key} {fault[key]}" for key in ("got", "expected", "hint") if fault.get(key)]
            lines.append(f"{fault.get('pointer') or '/'}: {fault.get('code')}: {'; '.join(parts)}")
        return "\n".join(lines)
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"status {error.code}"


class Server:
    """A daemon at an address, with the token for it."""

    def __init__(self, url, token=""):
        self.url, self.token = url.rstrip("/"), token

    def request(self, method, path, value=None, accept="application/json", timeout=60.0):
        """The bytes of the reply; None if the path does not exist."""
        headers = {"Accept": accept}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        body = value
        if method == "PUT":
            headers["Content-Type"] = "application/octet-stream"
        elif method == "POST":
            headers["Content-Type"] = "application/json"
            body = b"" if value is None else json.dumps(value).encode()
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as reply:
                return reply.read()
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 404 and method == "GET":
                    return None
                raise PliantError(_problem(error)) from None
        except (OSError, ValueError) as error:
            raise PliantError(f"{self.url}: {getattr(error, 'reason', error)}") from None

    def submit(self, scene):
        """Submit a scene with inline meshes; they are uploaded, whatever their size."""
        scene = dict(scene)
        for parts in ("bodies", "obstacles"):
            scene[parts] = [{**part, "mesh": self.upload(part["mesh"])} for part in scene[parts]]
        return json.loads(self.request("POST", "/v1/sessions", scene))

    def upload(self, mesh):
        data, form = mesh_file(mesh)
        digest = hashlib.sha256(data).hexdigest()
        self.request("PUT", f"/v1/meshes/{digest}", data, timeout=600.0)
        return {"upload": f"sha256:{digest}", "format": form}

    def session(self, session_id, wait=0):
        """The session's document; with `wait` after a change, or after that many seconds."""
        path = f"/v1/sessions/{urllib.parse.quote(session_id)}?wait={wait:g}"
        reply = self.request("GET", path, timeout=60.0 + wait)
        if reply is None:
            raise PliantError(f"no session {session_id}")
        return json.loads(reply)

    def frame(self, session_id, number):
        """Positions (x, y, z, x, ...) of a frame, or None if it does not exist yet."""
        path = f"/v1/sessions/{urllib.parse.quote(session_id)}/frames/{number}"
        reply = self.request("GET", path, accept="application/x-npy")
        return None if reply is None else read_npy(reply)

    def cancel(self, session_id):
        self.request("POST", f"/v1/sessions/{urllib.parse.quote(session_id)}/cancel")


def local_server(state=""):
    """(address, token) of the daemon on this machine, read from its state directory."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    words = []
    for name in ("url", "token"):
        try:
            with open(os.path.join(state or os.path.join(base, "pliant"), name)) as file:
                words.append(file.read().strip())
        except OSError:
            words.append("")
    return words[0] or "http://127.0.0.1:8080", words[1]


def read_npy(data):
    """Numbers of a .npy file with three columns, as array('f') or array('d')."""
    if data[:6] != b"\x93NUMPY":
        raise PliantError("the daemon sent something other than a frame")
    wide = data[6] > 1
    (size,) = struct.unpack_from("<I" if wide else "<H", data, 8)
    begin = (12 if wide else 10) + size
    head = ast.literal_eval(data[begin - size:begin].decode("latin-1"))
    values = array({"<f4": "f", "<f8": "d"}[head["descr"]])
    values.frombytes(data[begin:])
    return values


# ---- meshes into a scene ------------------------------------------------------------------------


class Mesh(NamedTuple):
    """An object of Blender in world coordinates: z up, in metres."""

    name: str
    vertices: list  # of (x, y, z)
    triangles: list  # of (a, b, c)
    edges: list  # of (a, b)
    properties: dict  # custom properties, of its material and then its own
    groups: dict  # vertices by the name of the vertex group


def mesh_file(mesh):
    """(bytes, format) of an inline mesh as a file: Medit's for tetrahedra, else .obj."""
    if "tets" in mesh:
        lines = ["MeshVersionFormatted 2", "Dimension 3", "Vertices", str(len(mesh["vertices"]))]
        lines += [f"{x!r} {y!r} {z!r} 0" for x, y, z in mesh["vertices"]]
        lines += ["Tetrahedra", str(len(mesh["tets"]))]
        lines += [f"{a + 1} {b + 1} {c + 1} {d + 1} 0" for a, b, c, d in mesh["tets"]]
        return "\n".join(lines + ["End", ""]).encode(), "medit"
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh["vertices"]]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.get("triangles", ())]
    lines += [f"l {a + 1} {b + 1}" for a, b in mesh.get("edges", ())]
    return "\n".join(lines + [""]).encode(), "obj"


def loose(mesh):
    """Number of vertices without a face or, for ropes, without an edge."""
    used = {v for part in mesh.triangles or mesh.edges for v in part}
    return len(mesh.vertices) - len(used)


def own_properties(properties):
    """Properties for Pliant, without the prefix. Text that is JSON is parsed."""
    found = {}
    for key, value in properties.items():
        if not key.startswith(PREFIX):
            continue
        if isinstance(value, str) and value[:1] in "[{":
            value = json.loads(value)
        found[key[len(PREFIX):]] = value
    return found


def is_closed(triangles):
    """True if every edge is between two triangles with consistent orientation."""
    sides = {(t[i], t[(i + 1) % 3]) for t in triangles for i in range(3)}
    return (bool(triangles) and len(sides) == 3 * len(triangles)
            and all((b, a) in sides for a, b in sides))


def kind_of(mesh):
    """Kind of body: the property pliant_kind, else derived from the shape."""
    given = own_properties(mesh.properties).get("kind")
    if given is not None and given not in KINDS:
        raise PliantError(f"{mesh.name}: pliant_kind is {given!r}, expected one of "
                          + ", ".join(KINDS))
    if given:
        return given
    if not mesh.triangles:
        return "rope"
    return "solid" if is_closed(mesh.triangles) else "cloth"


def fill(mesh, program="tetgen"):
    """(vertices, tetrahedra) of the inside of a closed surface. Its vertices come first, in their
    order. By TetGen, a package of Debian."""
    if not is_closed(mesh.triangles):
        raise PliantError(f"{mesh.name}: the surface is not closed, so it cannot be solid. "
                          "Close it, or set pliant_kind to cloth")
    if shutil.which(program) is None:
        raise PliantError(f"{mesh.name}: a solid needs the program {program} (apt install tetgen). "
                          "Without it set pliant_kind to cloth")
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        with open(os.path.join(folder, "in.poly"), "w") as file:
            file.write(f"{len(mesh.vertices)} 3 0 0\n")
            for i, (x, y, z) in enumerate(mesh.vertices):
                file.write(f"{i} {x:.17g} {y:.17g} {z:.17g}\n")
            file.write(f"{len(mesh.triangles)} 0\n")
            for a, b, c in mesh.triangles:
                file.write(f"1\n3 {a} {b} {c}\n")
            file.write("0\n0\n")
        done = subprocess.run([program, "-pqYQ", "in.poly"], cwd=folder, capture_output=True,
                              text=True, timeout=300)
        try:
            nodes = _rows(os.path.join(folder, "in.1.node"))
            elements = _rows(os.path.join(folder, "in.1.ele"))
        except OSError:
            said = (done.stdout + done.stderr).strip().splitlines()
            raise PliantError(f"{mesh.name}: {program} could not fill the surface"
                              + (f": {said[-1]}" if said else "")) from None
    vertices = [tuple(map(float, row[1:4])) for row in nodes]
    if vertices[:len(mesh.vertices)] != [tuple(map(float, v)) for v in mesh.vertices]:
        raise PliantError(f"{mesh.name}: {program} moved vertices of the surface")
    return vertices, [tuple(map(int, row[1:5])) for row in elements]


def _rows(path):
    with open(path) as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return rows[1:]


def material_of(mesh, kind):
    """The scene's material: every property that does not concern the object itself."""
    material = {"density": 1000.0, "young": 1e5 if kind == "solid" else 1e6}
    if kind == "cloth":
        material.update(model="stvk", thickness=0.001, density=300.0)
    elif kind == "rope":
        material["area"] = 1e-4
    properties = own_properties(mesh.properties)
    properties.pop("kind", None)
    return {**material, **properties}


def pins_of(mesh):
    """A pin for each vertex group whose name begins with "pin"."""
    return [
        {"name": f"{mesh.name} {group}", "body": mesh.name, "select": {"indices": sorted(vertices)}}
        for group, vertices in mesh.groups.items()
        if group.lower().startswith(PIN) and vertices
    ]


def scene_of(meshes, name="Blender", frames=100, fps=24.0, substeps=2, gravity=(0, 0, -9.81)):
    """The scene that simulates the meshes. A frame of Blender is a frame of the session."""
    scene = {
        "pliant": 1,
        "name": name,
        "gravity": list(gravity),
        "time": {"step": 1.0 / fps / substeps, "steps": frames * substeps},
        "output": {"every": substeps},
        "materials": {},
        "bodies": [],
        "pins": [],
        "obstacles": [],
    }
    for mesh in meshes:
        kind = kind_of(mesh)
        if loose(mesh):
            raise PliantError(f"{mesh.name}: {loose(mesh)} vertices are loose; delete them "
                              "(Mesh > Clean Up > Delete Loose)")
        shape = {"vertices": [list(map(float, v)) for v in mesh.vertices]}
        if kind == "obstacle":
            shape["triangles"] = [list(t) for t in mesh.triangles]
            properties = own_properties(mesh.properties)
            properties.pop("kind")
            scene["obstacles"].append({"name": mesh.name, "mesh": shape, **properties})
            continue
        if kind == "solid":
            vertices, tets = fill(mesh)
            shape = {"vertices": [list(v) for v in vertices], "tets": [list(t) for t in tets]}
        elif kind == "cloth":
            shape["triangles"] = [list(t) for t in mesh.triangles]
        else:
            shape["edges"] = [list(e) for e in mesh.edges]
        scene["materials"][mesh.name] = material_of(mesh, kind)
        scene["bodies"].append({"name": mesh.name, "mesh": shape, "material": mesh.name})
        scene["pins"] += pins_of(mesh)
    if not scene["bodies"]:
        raise PliantError("nothing to simulate: select a mesh that is not an obstacle")
    return scene


# ---- frames back --------------------------------------------------------------------------------


def transformed(positions, matrix):
    """Points (x, y, z, x, ...) by the first three rows of a 4 x 4 matrix."""
    (a, b, c, d), (e, f, g, h), (i, j, k, m) = (tuple(row) for row in tuple(matrix)[:3])
    x, y, z = positions[0::3], positions[1::3], positions[2::3]
    moved = array("f", bytes(4 * len(positions)))
    moved[0::3] = array("f", [a * p + b * q + c * r + d for p, q, r in zip(x, y, z)])
    moved[1::3] = array("f", [e * p + f * q + g * r + h for p, q, r in zip(x, y, z)])
    moved[2::3] = array("f", [i * p + j * q + k * r + m for p, q, r in zip(x, y, z)])
    return moved


class PointCache:
    """A growing .pc2 file: one set of points after the other."""

    HEAD = struct.Struct("<12siiffi")

    def __init__(self, path, points):
        self.path, self.points, self.frames = path, points, 0
        with open(path, "wb") as file:
            file.write(self._head())

    def _head(self):
        return self.HEAD.pack(b"POINTCACHE2\0", 1, self.points, 0.0, 1.0, self.frames)

    def append(self, positions):
        if len(positions) != 3 * self.points:
            raise PliantError(f"{self.path}: a frame of {len(positions) // 3} points, "
                              f"not {self.points}")
        self.frames += 1
        with open(self.path, "r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(array("f", positions).tobytes())
            file.seek(0)
            file.write(self._head())

    def read(self, frame):
        values = array("f")
        with open(self.path, "rb") as file:
            file.seek(self.HEAD.size + 12 * self.points * frame)
            values.frombytes(file.read(12 * self.points))
        return values


class Follower:
    """Fetches the frames of a session in its own thread, so that Blender never blocks."""

    OVER = ("succeeded", "failed", "rejected", "cancelled")

    def __init__(self, server, session_id, wait=2.0):
        self.server, self.session_id, self.wait = server, session_id, wait
        self.session, self.error = None, None
        self._frames = queue.Queue(maxsize=64)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def over(self):
        """True when no more frames will come and all were taken."""
        return not self._thread.is_alive() and self._frames.empty()

    @property
    def state(self):
        return self.session["state"] if self.session else "queued"

    def take(self, timeout=0.0):
        """The next (number, positions), or None after `timeout` seconds."""
        try:
            return self._frames.get(timeout > 0, timeout or None)
        except queue.Empty:
            return None

    def stop(self):
        self._stop.set()

    def _run(self):
        try:
            self._follow()
        except PliantError as error:
            self.error = str(error)

    def _follow(self):
        number = 0
        self.session = self.server.session(self.session_id)
        while not self._stop.is_set():
            over = self.state in self.OVER  # asked before the frame, so that the last is not missed
            positions = self.server.frame(self.session_id, number)
            if positions is not None:
                self._put((number, positions))
                number += 1
            elif over:
                return
            else:
                self.session = self.server.session(self.session_id, wait=self.wait)

    def _put(self, item):
        while not self._stop.is_set():
            try:
                self._frames.put(item, timeout=0.5)
                return
            except queue.Full:
                pass


def ranges(session):
    """{name: (first vertex, vertices)} of the bodies."""
    return {body["name"]: (body["first_vertex"], body["vertices"]) for body in session["bodies"]}


# ---- Blender ------------------------------------------------------------------------------------

if bpy is not None:

    def mesh_of(thing):
        """An object as Pliant needs it: its own mesh, without modifiers, in world coordinates."""
        data, matrix = thing.data, thing.matrix_world
        data.calc_loop_triangles()
        properties = {}
        for owner in (thing.active_material, thing):
            for key in owner.keys() if owner else ():
                value = owner[key]
                properties[key] = value.to_list() if hasattr(value, "to_list") else value
        groups = {group.name: [] for group in thing.vertex_groups}
        names = {group.index: group.name for group in thing.vertex_groups}
        for vertex in data.vertices:
            for member in vertex.groups:
                if member.weight > 0.5 and member.group in names:
                    groups[names[member.group]].append(vertex.index)
        return Mesh(
            thing.name,
            [tuple(matrix @ vertex.co) for vertex in data.vertices],
            [tuple(triangle.vertices) for triangle in data.loop_triangles],
            [tuple(edge.vertices) for edge in data.edges],
            properties,
            groups,
        )

    def server_of(context):
        """The daemon of the preferences, else the one on this machine."""
        addon = context.preferences.addons.get(__name__)
        given = addon.preferences if addon else None
        settings = context.scene.pliant
        url, token = local_server(bpy.path.abspath(settings.state) if settings.state else "")
        if given and given.url and not settings.state:
            url, token = given.url, given.token
        return Server(url, token)

    class Body:
        """A simulated object: shows the newest frame, and keeps all of them in a cache."""

        def __init__(self, thing, folder):
            self.name = thing.name
            self.inverse = [list(row) for row in thing.matrix_world.inverted()]
            name = bpy.path.clean_name(thing.name)
            self.cache = PointCache(os.path.join(folder, f"{name}.pc2"), len(thing.data.vertices))

        @property
        def thing(self):
            return bpy.data.objects.get(self.name)

        def clear(self):
            """Remove the results of an earlier simulation."""
            for modifier in [m for m in self.thing.modifiers if m.name == "Pliant"]:
                self.thing.modifiers.remove(modifier)
            keys = self.thing.data.shape_keys
            for key in list(keys.key_blocks) if keys else ():
                if key.name.startswith("Pliant "):
                    self.thing.shape_key_remove(key)

        def show(self, positions):
            local = transformed(positions, self.inverse)
            self.cache.append(local)
            key = self._key(LIVE)
            key.data.foreach_set("co", local)
            key.value = 1.0
            self.thing.data.update()

        def _key(self, name):
            if self.thing.data.shape_keys is None:
                self.thing.shape_key_add(name="Basis", from_mix=False)
            keys = self.thing.data.shape_keys.key_blocks
            return keys.get(name) or self.thing.shape_key_add(name=name, from_mix=False)

        def keep(self, mode, start):
            """Replace the live shape with the animation."""
            keys = self.thing.data.shape_keys
            if keys and LIVE in keys.key_blocks:
                self.thing.shape_key_remove(keys.key_blocks[LIVE])
            if self.cache.frames == 0:
                return
            if mode == "CACHE":
                modifier = self.thing.modifiers.new("Pliant", "MESH_CACHE")
                modifier.cache_format = "PC2"
                modifier.filepath = self.cache.path
                modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
                modifier.frame_start = start
                while self.thing.modifiers[0] != modifier:
                    bpy.ops.object.modifier_move_up({"object": self.thing}, modifier="Pliant")
                return
            for frame in range(self.cache.frames):
                key = self._key(f"Pliant {frame:04d}")
                key.data.foreach_set("co", self.cache.read(frame))
                for at, value in ((-1, 0.0), (0, 1.0), (1, 0.0)):
                    if 0 <= frame + at < self.cache.frames:
                        key.value = value
                        key.keyframe_insert("value", frame=start + frame + at)

    class Run:
        """A followed session. At most one at a time."""

        now = None

        def __init__(self, context, server, session, things):
            settings = context.scene.pliant
            folder = bpy.path.abspath(settings.folder) if settings.folder else ""
            folder = folder or tempfile.mkdtemp(prefix="pliant-blender-")
            os.makedirs(folder, exist_ok=True)
            self.settings, self.mode = settings, settings.keep
            self.start = context.scene.frame_start
            self.id, self.server = session["id"], server
            self.bodies = [Body(thing, folder) for thing in things]
            for body in self.bodies:
                body.clear()
            self.ranges = None
            self.follower = Follower(server, self.id)

        def step(self, timeout=0.0):
            """Show newly arrived frames; True while more may come."""
            item = self.follower.take(timeout)
            for _ in range(16):
                if item is None:
                    break
                self.show(*item)
                item = self.follower.take()
            if item is not None:
                self.show(*item)
            if not self.follower.over:
                return True
            self.end()
            return False

        def show(self, number, positions):
            self.ranges = self.ranges or ranges(self.server.session(self.id))
            for body in self.bodies:
                first, _ = self.ranges[body.name]
                # A solid's own vertices come first; those inside have no place in Blender.
                body.show(positions[3 * first:3 * (first + body.cache.points)])
            self.settings.status = f"frame {number}"

        def end(self):
            for body in self.bodies:
                body.keep(self.mode, self.start)
            frames, follower = self.bodies[0].cache.frames, self.follower
            status = f"{follower.state}, {frames} frames"
            if follower.state in ("failed", "rejected"):
                status += f": {follower.session.get('message') or ''}"
            self.settings.status = follower.error or status
            Run.now = None

    def tick():
        return 0.1 if Run.now and Run.now.step() else None

    class PliantPreferences(bpy.types.AddonPreferences):
        bl_idname = __name__
        url: bpy.props.StringProperty(
            name="Server", description="Address of the daemon; empty: the one on this machine")
        token: bpy.props.StringProperty(name="Token", subtype="PASSWORD")

        def draw(self, context):
            self.layout.prop(self, "url")
            self.layout.prop(self, "token")

    class PliantSettings(bpy.types.PropertyGroup):
        state: bpy.props.StringProperty(
            name="State", subtype="DIR_PATH",
            description="State directory of a daemon on this machine, instead of the server of "
                        "the preferences")
        substeps: bpy.props.IntProperty(
            name="Steps per frame", default=2, min=1, max=100)
        keep: bpy.props.EnumProperty(name="Keep as", items=[
            ("SHAPES", "Shape keys", "One shape key per frame, within the .blend file"),
            ("CACHE", "Mesh cache", "A .pc2 file and a Mesh Cache modifier, for long runs")])
        folder: bpy.props.StringProperty(
            name="Cache folder", subtype="DIR_PATH", description="Folder for .pc2 files")
        status: bpy.props.StringProperty(name="Status", options={"SKIP_SAVE"})

    class PLIANT_OT_simulate(bpy.types.Operator):
        bl_idname = "pliant.simulate"
        bl_label = "Simulate"
        bl_description = "Send the selected meshes to the daemon and show the simulation as it runs"
        wait: bpy.props.BoolProperty(
            name="Wait", description="Return when the session has ended", options={"SKIP_SAVE"})

        @classmethod
        def poll(cls, context):
            return Run.now is None and context.mode == "OBJECT"

        def execute(self, context):
            scene, settings = context.scene, context.scene.pliant
            things = [thing for thing in context.selected_objects if thing.type == "MESH"]
            gravity = scene.gravity if scene.use_gravity else (0.0, 0.0, 0.0)
            try:
                meshes = [mesh_of(thing) for thing in things]
                value = scene_of(meshes, bpy.path.basename(bpy.data.filepath) or "Blender",
                                 max(1, scene.frame_end - scene.frame_start),
                                 scene.render.fps / scene.render.fps_base, settings.substeps,
                                 gravity)
                server = server_of(context)
                session = server.submit(value)
            except PliantError as error:
                settings.status = str(error).splitlines()[0]
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
            moving = [t for t, m in zip(things, meshes) if kind_of(m) != "obstacle"]
            Run.now = Run(context, server, session, moving)
            settings.status = "queued"
            if not self.wait:
                bpy.app.timers.register(tick)
                return {"FINISHED"}
            while Run.now.step(0.2):
                pass
            return {"FINISHED"}

    class PLIANT_OT_cancel(bpy.types.Operator):
        bl_idname = "pliant.cancel"
        bl_label = "Cancel"
        bl_description = "End the session; the frames so far are kept"

        @classmethod
        def poll(cls, context):
            return Run.now is not None

        def execute(self, context):
            try:
                Run.now.server.cancel(Run.now.id)
            except PliantError as error:
                self.report({"ERROR"}, str(error))
                Run.now.follower.stop()
            return {"FINISHED"}

    class PLIANT_PT_panel(bpy.types.Panel):
        bl_label = "Pliant"
        bl_space_type = "VIEW_3D"
        bl_region_type = "UI"
        bl_category = "Pliant"

        def draw(self, context):
            settings, column = context.scene.pliant, self.layout.column()
            for name in ("state", "substeps", "keep", "folder"):
                column.prop(settings, name)
            column.operator("pliant.simulate", icon="PLAY")
            column.operator("pliant.cancel", icon="CANCEL")
            if settings.status:
                column.label(text=settings.status)

    CLASSES = (PliantPreferences, PliantSettings, PLIANT_OT_simulate, PLIANT_OT_cancel,
               PLIANT_PT_panel)

    def register():
        for each in CLASSES:
            bpy.utils.register_class(each)
        bpy.types.Scene.pliant = bpy.props.PointerProperty(type=PliantSettings)

    def unregister():
        if Run.now:
            Run.now.follower.stop()
        del bpy.types.Scene.pliant
        for each in reversed(CLASSES):
            bpy.utils.unregister_class(each)
