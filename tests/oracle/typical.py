"""Forty scenes as users write them, half of them from the gallery, half invented: from jelly to
steel, from 1 ms to 100 ms a step. Each leaves `solver` out, so that everything is at its default.

    python3 tests/oracle/typical.py [NAME...]    the table of clients/docs/typical-scenes.md
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
from typing import Any, Callable, Dict, List, Tuple

from runs import Run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GALLERY = os.path.join(ROOT, "clients", "scenes")

Scene = Dict[str, Any]

FLOOR = {"name": "floor", "plane": {"normal": [0, 1, 0]}, "friction": 0.4}


def _scene(step: float, steps: int, bodies: List[Scene], **more: Any) -> Scene:
    materials = {body["name"]: body["material"] for body in bodies}
    named = [dict(body, material=body["name"]) for body in bodies]
    out: Scene = {"pliant": 1, "time": {"step": step, "steps": steps}, "bodies": named}
    out["materials"] = materials
    out.update(more)
    return out


def _body(mesh: Scene, material: Scene, **more: Any) -> Scene:
    return dict({"name": "body", "mesh": mesh, "material": material}, **more)


def _solid(young: float, poisson: float = 0.4, density: float = 1000, **more: Any) -> Scene:
    return dict({"young": young, "poisson": poisson, "density": density}, **more)


def _sheet(young: float, thickness: float = 5e-4, density: float = 500, **more: Any) -> Scene:
    out = {"model": "stvk", "young": young, "poisson": 0.3, "thickness": thickness}
    return dict(out, density=density, **more)


def _at(*translate: float) -> Scene:
    return {"translate": list(translate)}


def _tube(radius: float, length: float, around: int, along: int) -> Tuple[List, List]:
    """An open tube of triangles about the y axis, from y = 0 down."""
    vertices, triangles = [], []
    for j in range(along + 1):
        for i in range(around):
            a = 2 * math.pi * i / around
            vertices.append([radius * math.cos(a), -length * j / along, radius * math.sin(a)])
    for j in range(along):
        for i in range(around):
            a, b = j * around + i, j * around + (i + 1) % around
            c, d = a + around, b + around
            triangles += [[a, b, c], [b, d, c]]
    return vertices, triangles


def _ball_surface(radius: float, around: int, along: int) -> Scene:
    vertices, triangles = [[0.0, radius, 0.0]], []
    for j in range(1, along):
        t = math.pi * j / along
        for i in range(around):
            a = 2 * math.pi * i / around
            ring = radius * math.sin(t)
            vertices.append([ring * math.cos(a), radius * math.cos(t), ring * math.sin(a)])
    last = len(vertices)
    vertices.append([0.0, -radius, 0.0])
    for i in range(around):
        k = (i + 1) % around
        triangles.append([0, 1 + k, 1 + i])
        triangles.append([last, last - around + i, last - around + k])
        for j in range(along - 2):
            a, b = 1 + j * around + i, 1 + j * around + k
            c, d = a + around, b + around
            triangles += [[a, b, c], [b, d, c]]
    return {"vertices": vertices, "triangles": triangles}


def gelatine() -> Scene:
    jelly = _body(
        {"box": {"size": [0.1, 0.08, 0.1], "cells": [8, 6, 8]}},
        _solid(1e3, 0.45),
        transform=_at(0, 0.08, 0),
    )
    return _scene(0.01, 100, [jelly], obstacles=[FLOOR])


def rubber_ball() -> Scene:
    ball = _body(
        {"sphere": {"radius": 0.1, "cells": 8}},
        _solid(1e6, 0.45, 1100),
        transform=_at(0, 0.6, 0),
        initial={"velocity": [1, 0, 0]},
    )
    return _scene(0.005, 160, [ball], obstacles=[FLOOR])


def ball_on_a_slope() -> Scene:
    t = math.radians(20)
    normal = [math.sin(t), math.cos(t), 0]
    ball = _body(
        {"sphere": {"radius": 0.1, "cells": 7}},
        _solid(3e5, 0.4),
        transform=_at(0.102 * normal[0], 0.102 * normal[1], 0),
    )
    return _scene(0.01, 100, [ball], obstacles=[{"plane": {"normal": normal}, "friction": 0.6}])


def cantilever(young: float, poisson: float, density: float, size: List[float]) -> Scene:
    beam = _body({"box": {"size": size, "cells": [24, 4, 4]}}, _solid(young, poisson, density))
    return _scene(
        0.01, 80, [beam], pins=[{"name": "wall", "body": "body", "select": {"side": "-x"}}]
    )


def steel_bar_drop() -> Scene:
    bar = _body(
        {"box": {"size": [0.3, 0.04, 0.04], "cells": [12, 2, 2]}},
        _solid(2e11, 0.3, 7850),
        transform={"rotate": {"axis": [0, 0, 1], "degrees": 30}, "translate": [0, 0.25, 0]},
    )
    return _scene(0.001, 300, [bar], obstacles=[FLOOR])


def steel_plate() -> Scene:
    plate = _body(
        {"box": {"size": [0.5, 0.01, 0.3], "cells": [20, 2, 12]}},
        _solid(2e11, 0.3, 7850),
        transform=_at(0, 0.02, 0),
    )
    return _scene(0.01, 60, [plate], obstacles=[FLOOR])


def sheet_metal() -> Scene:
    """Held at one side, it swings."""
    metal = _sheet(7e10, 1e-3, 2700, bending={"stiffness": 6.4})
    mesh = {"cloth": {"size": [0.4, 0.2], "cells": [16, 8]}}
    body = _body(mesh, metal, transform={"rotate": {"axis": [1, 0, 0], "degrees": -90}})
    return _scene(0.005, 100, [body], pins=[{"body": "body", "select": {"side": "-x"}}])


def gripper() -> Scene:
    """Two jaws close on a cube of rubber and lift it."""

    def jaw(sign: int) -> Scene:
        x = 0.085 * sign
        close = -0.0185 * sign
        return {
            "name": "left" if sign < 0 else "right",
            "box": {"center": [x, 0.05, 0], "size": [0.06, 0.06, 0.08], "rounding": 0.005},
            "friction": 0.9,
            "motion": {
                "interpolation": "smooth",
                "keyframes": [
                    {"time": 0.3, "translate": [close, 0, 0]},
                    {"time": 0.5, "translate": [close, 0, 0]},
                    {"time": 1.0, "translate": [close, 0.15, 0]},
                ],
            },
        }

    cube = _body(
        {"box": {"size": [0.1, 0.1, 0.1], "cells": [6, 6, 6]}},
        _solid(2e5, 0.4),
        transform=_at(0, 0.05, 0),
    )
    return _scene(0.01, 110, [cube], obstacles=[FLOOR, jaw(-1), jaw(1)])


def press() -> Scene:
    """A plate presses a cylinder of rubber, nearly incompressible, to two thirds."""
    plate = {
        "name": "plate",
        "box": {"center": [0, 0.28, 0], "size": [0.5, 0.04, 0.5]},
        "friction": 0.3,
        "motion": {"keyframes": [{"time": 1, "translate": [0, -0.09, 0]}]},
    }
    body = _body(
        {"cylinder": {"radius": 0.1, "length": 0.24, "cells": [6, 8]}},
        _solid(1e6, 0.47),
        transform={"rotate": {"axis": [0, 0, 1], "degrees": 90}, "translate": [0, 0.125, 0]},
    )
    return _scene(0.02, 60, [body], obstacles=[FLOOR, plate])


def balloon() -> Scene:
    rubber = _sheet(1e6, 3e-4, 950, poisson=0.45)
    body = _body(_ball_surface(0.1, 24, 14), rubber, transform=_at(0, 0.3, 0))
    blow = {"name": "blow", "pressure": {"body": "body", "pressure": 200}}
    return _scene(0.01, 100, [body], obstacles=[FLOOR], forces=[blow])


def gown() -> Scene:
    """A tube of cloth hangs over a mannequin that turns."""
    vertices, triangles = _tube(0.2, 0.8, 32, 26)
    cotton = _sheet(5e4, 5e-4, 400, bending={"stiffness": 1e-5})
    body = _body({"vertices": vertices, "triangles": triangles}, cotton)
    turn = {"axis": [0, 1, 0], "origin": [0, 0, 0], "degrees_per_second": 180}
    hips = {"sphere": {"center": [0, -0.35, 0], "radius": 0.19}, "friction": 0.3}
    rim = {"plane": {"normal": [0, -1, 0], "offset": 0.01}}
    collar = {"name": "collar", "body": "body", "select": rim, "motion": turn}
    return _scene(0.01, 80, [body], pins=[collar], obstacles=[dict(hips, motion=turn)])


def towel() -> Scene:
    """A square of cloth falls over a rod."""
    cotton = _sheet(2e4, 8e-4, 400, bending={"stiffness": 1e-5})
    body = _body(
        {"cloth": {"size": [0.6, 0.6], "cells": [24, 24]}},
        cotton,
        transform={"rotate": {"axis": [1, 0, 0], "degrees": 90}, "translate": [0.1, 0.1, 0]},
    )
    rod = {"capsule": {"center": [0, 0, 0], "axis": [0, 0, 1], "radius": 0.05, "height": 1}}
    return _scene(0.01, 80, [body], obstacles=[dict(rod, friction=0.5)])


def trampoline() -> Scene:
    """A net of springs, held all round, is pressed in the middle."""
    net = {"young": 1e6, "area": 1e-5, "density": 1000}
    body = _body(
        {"cloth": {"size": [2, 2], "cells": [20, 20], "springs": True}},
        net,
        transform={"rotate": {"axis": [1, 0, 0], "degrees": 90}},
    )
    middle = {"sphere": {"center": [0, 0, 0], "radius": 0.25}}
    push = {"body": "body", "select": middle, "force": [0, -100, 0]}
    size = 21
    rim = [i for i in range(size**2) if {i % size, i // size} & {0, size - 1}]
    frame = {"name": "frame", "body": "body", "select": {"indices": rim}}
    return _scene(0.01, 100, [body], pins=[frame], forces=[{"point": push, "until": 0.5}])


def rope_bridge() -> Scene:
    """Two ropes that sag carry a row of planks."""
    bodies: List[Scene] = []
    ties: List[Scene] = []
    pins = []
    count = 30
    rope = {"young": 1e9, "area": 1e-4, "density": 1000, "inextensible": "rope"}
    for side, z in (("left", -0.3), ("right", 0.3)):
        along = [-1.5 + 3 * i / count for i in range(count + 1)]
        curve = [[x, 0.3 * ((x / 1.5) ** 2 - 1), z] for x in along]
        mesh = {"vertices": curve, "edges": [[i, i + 1] for i in range(count)]}
        bodies.append({"name": side, "mesh": mesh, "material": rope})
        pins.append({"name": side, "body": side, "select": {"indices": [0, count]}})
    wood = _solid(1e7, 0.3, 600)
    for i in range(5):
        name = "plank-%d" % i
        x = -1 + 0.5 * i
        mesh = {"box": {"size": [0.3, 0.03, 0.7], "cells": [2, 1, 4]}}
        where = _at(x, 0.3 * ((x / 1.5) ** 2 - 1) - 0.05, 0)
        bodies.append({"name": name, "mesh": mesh, "material": wood, "transform": where})
        for side, face in (("left", "-z"), ("right", "+z")):
            tie = {"body": name, "select": {"side": face}, "to": side, "stiffness": 5e3}
            ties.append(dict(tie, name="%s-%s" % (name, side)))
    return _scene(0.01, 100, bodies, pins=pins, attachments=ties)


def chain_and_weight() -> Scene:
    """A heavy ball on a rope swings as a pendulum."""
    rope = {"young": 1e9, "area": 1e-4, "density": 1000, "inextensible": "rope"}
    bodies = [
        {"name": "rope", "mesh": {"rope": {"length": 1, "segments": 25}}, "material": rope},
        {
            "name": "ball",
            "mesh": {"sphere": {"radius": 0.08, "cells": 4}},
            "material": _solid(1e7, 0.3, 2000),
            "transform": _at(0.58, 0, 0),
        },
    ]
    tie = {"body": "ball", "to": "rope", "stiffness": 1e4}
    tie["select"] = {"box": {"min": [0.4, -0.03, -0.03], "max": [0.53, 0.03, 0.03]}}
    return _scene(
        0.005,
        200,
        bodies,
        pins=[{"body": "rope", "select": {"side": "-x"}}],
        attachments=[tie],
    )


def torus_of_muscle() -> Scene:
    """Fibres along z; it lands on rough ground."""
    material = _solid(5e4, 0.4, fibers={"stiffness": 5e5, "direction": [0, 0, 1]})
    body = _body(
        {"torus": {"radius": 0.15, "tube": 0.05, "cells": [6, 28]}},
        material,
        transform={"rotate": {"axis": [1, 0, 0], "degrees": 70}, "translate": [0, 0.4, 0]},
    )
    return _scene(0.01, 80, [body], obstacles=[dict(FLOOR, friction=0.8)])


def wobble(integrator: str) -> Scene:
    """A block of gel held below is plucked; damped."""
    gel = _solid(2e4, 0.45, damping={"model": "rayleigh", "beta": 0.002})
    body = _body(
        {"box": {"size": [0.1, 0.3, 0.1], "cells": [4, 12, 4]}},
        gel,
        initial={"velocity": [0.5, 0, 0]},
    )
    scene = _scene(0.01, 100, [body], pins=[{"body": "body", "select": {"side": "-y"}}])
    scene["time"]["integrator"] = integrator
    return scene


def slow_motion() -> Scene:
    """100 ms a step: a soft cube settles."""
    cube = _body(
        {"box": {"size": [1, 1, 1], "cells": [6, 6, 6]}}, _solid(1e5), transform=_at(0, 1, 0)
    )
    return _scene(0.1, 60, [cube], obstacles=[FLOOR])


def ball_in_a_bowl() -> Scene:
    ball = _body(
        {"sphere": {"radius": 0.15, "cells": 6}},
        _solid(1e5, 0.35),
        transform=_at(0.5, 0.1, 0),
        initial={"angular_velocity": [0, 0, 10]},
    )
    bowl = {"sphere": {"radius": 1, "inside": True}, "friction": 0.3}
    return _scene(0.01, 120, [ball], obstacles=[bowl])


def quasi_static_pull() -> Scene:
    bar = _body({"box": {"size": [1, 0.2, 0.2], "cells": [15, 3, 3]}}, _solid(1e6, 0.45))
    pull = {"keyframes": [{"time": 1, "translate": [1, 0, 0]}]}
    pins = [
        {"name": "held", "body": "body", "select": {"side": "-x"}},
        {"name": "pulled", "body": "body", "select": {"side": "+x"}, "motion": pull},
    ]
    scene = _scene(0.05, 20, [bar], pins=pins)
    scene["time"]["integrator"] = "quasi_static"
    return scene


INVENTED: Dict[str, Callable[[], Scene]] = {
    "gelatine": gelatine,
    "rubber_ball": rubber_ball,
    "ball_on_a_slope": ball_on_a_slope,
    "rubber_beam": lambda: cantilever(1e7, 0.49, 1100, [1, 0.1, 0.1]),
    "foam_beam": lambda: cantilever(1e5, 0.0, 50, [1, 0.1, 0.1]),
    "steel_beam": lambda: cantilever(2e11, 0.3, 7850, [1, 0.05, 0.05]),
    "steel_bar_drop": steel_bar_drop,
    "steel_plate": steel_plate,
    "sheet_metal": sheet_metal,
    "gripper": gripper,
    "press": press,
    "balloon": balloon,
    "gown": gown,
    "towel": towel,
    "trampoline": trampoline,
    "rope_bridge": rope_bridge,
    "chain_and_weight": chain_and_weight,
    "torus_of_muscle": torus_of_muscle,
    "wobble_tr_bdf2": lambda: wobble("tr_bdf2"),
    "wobble_bdf2": lambda: wobble("bdf2"),
    "slow_motion": slow_motion,
    "ball_in_a_bowl": ball_in_a_bowl,
    "pulled_bar": quasi_static_pull,
}


GALLERY_NAMES = (
    "anisotropic_cube cloth_of_6561 cloth_on_a_ball draped_cloth dropped_through_cylinders "
    "falling_box flag jiggling_head leaning_blocks_04 power_law_bodies rope shaking_bar "
    "sliding_block sphere_on_sphere spinning_ball spline_spheres terrain_slide through_a_torus "
    "twisted_box twisting_bar"
).split()
NAMES = list(INVENTED) + GALLERY_NAMES


def load(name: str) -> Scene:
    """A scene at its defaults."""
    if name in INVENTED:
        return INVENTED[name]()
    with open(os.path.join(GALLERY, name + ".json")) as file:
        scene: Scene = json.load(file)
    for key in ("expect", "solver", "metadata"):
        scene.pop(key, None)
    return scene


def has_limits(scene: Scene) -> bool:
    """Only admm has them."""
    return any("strain_limit" in m for m in scene.get("materials", {}).values())


def has_ropes(scene: Scene) -> bool:
    """Both newton and admm have them, in ways of their own."""
    materials = scene.get("materials", {}).values()
    return any(m.get("inextensible", "no") != "no" for m in materials)


def takes_admm(scene: Scene) -> bool:
    """Whether auto is admm for a scene."""
    first_order = ("backward_euler", "quasi_static")
    second = scene["time"].get("integrator", "backward_euler") not in first_order
    return has_limits(scene) or (second and "obstacles" in scene)


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cell(scene: Scene, method: str, limit: float) -> str:
    """Unconverged frames and seconds of one core."""
    begin = _seconds()
    try:
        run = Run(dict(scene, solver=_solver(scene, method)), timeout=limit)
    except subprocess.TimeoutExpired:
        return "over %g s" % limit
    if run.state == "refused":
        return ""
    bad = sum(r["unconverged"] > 0 for r in run.records[1:])
    text = "%d; %.2f s" % (bad, _seconds() - begin)
    return text if run.state == "succeeded" else "%s after %d" % (run.state, len(run.records) - 1)


def _solver(scene: Scene, method: str) -> Scene:
    if method == "auto":
        return {}
    rough = any(o.get("friction", 0) > 0 for o in scene.get("obstacles", []))
    descent = 3e-6 if rough else 1e-4
    splits = 3e-4 if rough and not has_limits(scene) else 1e-3
    tolerance = splits if takes_admm(scene) else descent
    return {"method": method, "iterations": 1000, "tolerance": tolerance}


def table(names: List[str], limit: float = 60) -> None:
    methods = ("auto", "quasi_newton", "newton", "admm")
    print("| scene | frames | %s |" % " | ".join(methods))
    print("| --- | --- |%s" % (" --- |" * len(methods)))
    for name in names:
        scene = load(name)
        time = scene["time"]
        count = time.get("steps") or math.ceil(time["duration"] / time["step"] - 1e-9)
        cells = [_cell(scene, method, limit) for method in methods]
        frames = count // scene.get("output", {}).get("every", 1)
        print("| %s | %d | %s |" % (name, frames, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    table(sys.argv[1:] or NAMES)
