"""Motions of obstacles and pins as poses over time (`engine/scene/motion.h` has the formulas)."""

from __future__ import annotations

import math
from typing import Any, List, Mapping, NamedTuple, Sequence, Tuple

Quaternion = Tuple[float, float, float, float]  # w, x, y, z
_STILL: Quaternion = (1.0, 0.0, 0.0, 0.0)


class _Key(NamedTuple):
    time: float
    shift: Sequence[float]
    axis: Tuple[float, ...]
    degrees: float


def _unit(axis: Any) -> Tuple[float, ...]:
    given = [float(x) for x in axis or (0, 0, 1)]
    length = math.hypot(*given) or 1.0
    return tuple(x / length for x in given)


def _turn(axis: Sequence[float], degrees: float) -> Quaternion:
    half = math.radians(degrees) / 2
    x, y, z = (math.sin(half) * a for a in axis)
    return (math.cos(half), x, y, z)


def _between(a: _Key, b: _Key, s: float) -> Quaternion:
    """Interpolates the angle about a common axis, else along the shortest way (Shoemake 1985)."""
    if a.degrees == 0 or b.degrees == 0 or math.dist(a.axis, b.axis) <= 1e-12:
        axis = a.axis if a.degrees else b.axis
        return _turn(axis, a.degrees + s * (b.degrees - a.degrees))
    p, q = _turn(a.axis, a.degrees), _turn(b.axis, b.degrees)
    cosine = sum(x * y for x, y in zip(p, q))
    if cosine < 0:
        q, cosine = (-q[0], -q[1], -q[2], -q[3]), -cosine
    angle = math.acos(min(1.0, cosine))
    if angle < 1e-9:
        return p
    u, v = (math.sin(k * angle) / math.sin(angle) for k in (1 - s, s))
    w, x, y, z = (u * m + v * n for m, n in zip(p, q))
    return (w, x, y, z)


def _keyed(motion: Mapping[str, Any], time: float) -> Tuple[Sequence[float], Quaternion]:
    keys = []
    for key in motion["keyframes"]:
        rotate = key.get("rotate") or {}
        shift = [float(x) for x in key.get("translate") or (0, 0, 0)]
        degrees = float(rotate.get("degrees") or 0)
        keys.append(_Key(float(key["time"]), shift, _unit(rotate.get("axis")), degrees))
    if keys[0].time > 0:
        keys.insert(0, _Key(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.0))
    after = next((i for i, key in enumerate(keys) if key.time > time), len(keys) - 1)
    a, b = keys[max(0, after - 1)], keys[after]
    s = min(1.0, max(0.0, (time - a.time) / (b.time - a.time))) if b.time > a.time else 0.0
    if motion.get("interpolation") == "smooth":
        s = s * s * (3 - 2 * s)
    return [x + s * (y - x) for x, y in zip(a.shift, b.shift)], _between(a, b, s)


def _rows(turn: Quaternion) -> List[List[float]]:
    w, x, y, z = turn
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


def pose(motion: Mapping[str, Any], time: float, centre: Sequence[float]) -> List[List[float]]:
    """Three rows [R | d] that map x to R x + d at `time`. `centre`: centre of rotation of a motion
    without `origin`."""
    if motion.get("keyframes"):
        shift, turn = _keyed(motion, time)
    else:
        shift = [float(x) * time for x in motion.get("velocity") or (0, 0, 0)]
        rate = float(motion.get("degrees_per_second") or 0)
        turn = _turn(_unit(motion.get("axis")), rate * time) if rate else _STILL
    origin = [float(x) for x in motion.get("origin") or centre]
    return [
        [*row, o + d - sum(r * x for r, x in zip(row, origin))]
        for row, o, d in zip(_rows(turn), origin, shift)
    ]
