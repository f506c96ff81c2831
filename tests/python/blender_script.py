"""Run in Blender by blender_test.py, in the add-on's folder: an artist's workflow from meshes to
an animation, with the code lines printed on the add-on's page."""

import json
import os
import sys

import bpy

with open("README.md", encoding="utf-8") as page:
    part = page.read().partition("## From a script\n")[2]
lines = [line[4:] for line in part.splitlines() if line.startswith("    ")]
assert len(lines) == 5, lines

bpy.ops.object.select_all(action="SELECT")
bpy.ops.object.delete()
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, 13

# A sheet, turned and away from the origin, pinned along one side.
bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=1, location=(1, 2, 3),
                                rotation=(0, 0, 0.5))
sheet = bpy.context.object
sheet.name = "sheet"
group = sheet.vertex_groups.new(name="pins")
held = [v.index for v in sheet.data.vertices if v.co.x < -0.499]
assert 5 < len(held) < 15, held
group.add(held, 1.0, "REPLACE")
sheet["pliant_young"] = 5e4
bpy.ops.mesh.primitive_cube_add(size=0.5, location=(5, 0, 2))
cube = bpy.context.object
cube.name = "cube"
cube["pliant_kind"] = "solid"


def shape(thing, frame):
    """The world coordinates of the object's vertices at a frame, as Blender draws them."""
    scene.frame_set(frame)
    drawn = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [drawn.matrix_world @ vertex.co for vertex in drawn.data.vertices]


def check():
    for thing in (sheet, cube):
        rest = [thing.matrix_world @ v.co for v in thing.data.vertices]
        begin = shape(thing, 1)
        assert max((a - b).length for a, b in zip(begin, rest)) < 1e-5, thing.name
        frames = [shape(thing, k) for k in range(1, 14)]
        low = [min(p.z for p in frame) for frame in frames]
        assert all(b <= a + 1e-6 for a, b in zip(low[:8], low[1:9])), (thing.name, low)
        assert low[12] < low[0] - 0.1, (thing.name, low)
    begin, end = shape(sheet, 1), shape(sheet, 13)
    assert max((begin[i] - end[i]).length for i in held) < 1e-5
    # Blender draws the frames that the daemon has.
    server = addon.server_of(bpy.context)
    session = server.session(newest(server))
    number = session["progress"]["frame"]
    assert number == 12, session["progress"]
    stored = server.frame(session["id"], number)
    first, _ = addon.ranges(session)["cube"]
    for k, point in enumerate(shape(cube, 13)):
        there = stored[3 * (first + k):3 * (first + k) + 3]
        assert max(abs(a - b) for a, b in zip(point, there)) < 1e-4, (point, there)


def newest(server):
    return json.loads(server.request("GET", "/v1/sessions?limit=1"))["items"][0]["id"]


def simulate(keep):
    scene.frame_set(1)
    sheet.select_set(True)
    cube.select_set(True)
    scene.pliant.keep = keep
    assert bpy.ops.pliant.simulate(wait=True) == {"FINISHED"}, scene.pliant.status
    assert scene.pliant.status == "succeeded, 13 frames", scene.pliant.status


sheet.select_set(True)
exec("\n".join(lines))
addon = sys.modules["pliant_addon"]
assert scene.pliant.status == "succeeded, 13 frames", scene.pliant.status
assert [m.type for m in sheet.modifiers] == ["MESH_CACHE"]
assert os.path.getsize(sheet.modifiers[0].filepath) == 32 + 13 * 12 * len(sheet.data.vertices)
check()

simulate("SHAPES")  # replaces the first
assert not sheet.modifiers
assert len([k for k in sheet.data.shape_keys.key_blocks if k.name.startswith("Pliant 0")]) == 13
assert addon.LIVE not in sheet.data.shape_keys.key_blocks
check()

simulate("CACHE")
assert len(sheet.data.shape_keys.key_blocks) <= 1
check()

# Without waiting, a timer shows frame after frame. Background mode has no timers, so a loop
# replaces it. Cancelling keeps the frames so far.
scene.frame_end = 100001
sheet.select_set(True)
cube.select_set(True)
assert bpy.ops.pliant.simulate() == {"FINISHED"}
shown, seen = addon.Run.now.bodies[0], []
while addon.tick() is not None:
    if shown.cache.frames > len(seen):
        live = shown.thing.data.shape_keys.key_blocks[addon.LIVE]
        newest_frame = shown.cache.read(shown.cache.frames - 1)
        assert max(abs(a - b) for v, k in zip(live.data, range(0, len(newest_frame), 3))
                   for a, b in zip(v.co, newest_frame[k:k + 3])) < 1e-6
        seen.append(shown.cache.frames)
        if len(seen) == 5:
            bpy.ops.pliant.cancel()
assert len(seen) >= 5, seen
assert scene.pliant.status.startswith("cancelled, "), scene.pliant.status
assert addon.LIVE not in sheet.data.shape_keys.key_blocks
scene.frame_end = 13

# The panel shows a fault, and nothing keeps running.
cube["pliant_young"] = -1.0
try:
    bpy.ops.pliant.simulate(wait=True)
    raise AssertionError("a negative stiffness was accepted")
except RuntimeError as error:
    assert "/materials/cube/young" in str(error), error
assert addon.Run.now is None
bpy.ops.preferences.addon_disable(module="pliant_addon")
print("blender_script: all is well")
