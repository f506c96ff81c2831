"""A 3-D view of a session's frames as one self-contained notebook cell."""

from __future__ import annotations

import html
import json
import pkgutil
import struct
from array import array
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence

from .errors import PliantError
from .motion import pose
from .records import Frame

if TYPE_CHECKING:
    from .session import Session

#: Bytes of positions that a cell may hold, so that notebooks stay small.
ROOM = 4_000_000
_COLOURS = ("#5b8fd0", "#dd8a45", "#63a86f", "#b478c0", "#c9a93c", "#5aaeb0", "#c96a6a")
_OBSTACLE = "#9aa3ad"
_PAGE = """<!doctype html><meta charset="utf-8"><title>{title}</title><style>
:root {{ color-scheme: light dark; --ground: #e9edf1; --text: #16191d }}
@media (prefers-color-scheme: dark) {{ :root {{ --ground: #20252b; --text: #e6e9ec }} }}
body {{ margin: 0; height: 100vh; display: flex; flex-direction: column; color: var(--text);
  background: var(--ground); font: 13px system-ui, sans-serif }}
canvas {{ flex: 1; min-height: 0; width: 100%; background: var(--ground); touch-action: pan-y }}
div {{ display: flex; gap: 8px; align-items: center; padding: 4px 8px; min-height: 32px }}
button {{ font: inherit; min-width: 36px; min-height: 28px }} input {{ flex: 1 }}
</style><canvas tabindex="0" role="img" aria-label="{title}; drag or arrow keys turn it"></canvas>
<div><button aria-label="play">▶</button>
<input type="range" min="0" step="1" aria-label="frame"><output></output></div>
<script type="application/json" id="data">{data}</script><script>{viewer}</script>"""


def _text(values: array[Any]) -> str:
    return b64encode(values.tobytes()).decode()


def _colour(text: str) -> List[float]:
    return [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _part(
    name: str, colour: str, triangles: Iterable[int], edges: Iterable[int] = ()
) -> Dict[str, Any]:
    return {
        "name": name,
        "colour": _colour(colour),
        "triangles": _text(array("I", triangles)),
        "edges": _text(array("I", edges)),
    }


def _bodies(document: Mapping[str, Any], surface: Any) -> Iterator[Dict[str, Any]]:
    """Bodies by the vertices of vertices="surface"."""
    place = {row[0]: i for i, row in enumerate(surface.tolist())}
    for i, body in enumerate(document["bodies"]):
        drawn = ([place[v] for v in body[kind]] for kind in ("triangles", "edges"))
        yield _part(body["name"], _COLOURS[i % len(_COLOURS)], *drawn)


def _normal(plane: Mapping[str, Any]) -> List[float]:
    normal = [float(x) for x in plane.get("normal") or (0, 1, 0)]
    length = sum(x * x for x in normal) ** 0.5 or 1.0
    return [x / length for x in normal]


def _plane(plane: Mapping[str, Any], low: Sequence[float], high: Sequence[float]) -> List[float]:
    """Corners of a square of the plane, which is infinite, below the drawn bodies."""
    normal = _normal(plane)
    middle = [(a + b) / 2 for a, b in zip(low, high)]
    reach = 1.5 * max(max(b - a for a, b in zip(low, high)), 1e-6)
    off = sum(n * x for n, x in zip(normal, middle)) - float(plane.get("offset") or 0)
    first = min(range(3), key=lambda i: abs(normal[i]))
    along = [(i == first) - normal[first] * n for i, n in enumerate(normal)]
    size = sum(x * x for x in along) ** 0.5
    along = [x / size for x in along]
    across = [
        normal[(i + 1) % 3] * along[(i + 2) % 3] - normal[(i + 2) % 3] * along[(i + 1) % 3]
        for i in range(3)
    ]
    return [
        middle[i] - off * normal[i] + reach * (s * along[i] + t * across[i])
        for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        for i in range(3)
    ]


def _chosen(session: "Session", start: int, to: Optional[int], most: int) -> Iterator[Frame]:
    """At most `most` frames, evenly spaced, including the last; quantised, only the drawn vertices.
    """
    form: Dict[str, Any] = {"dtype": "u16", "vertices": "surface", "fields": "position"}
    last = session.refresh().last_frame
    if last is None:
        return
    last = last if to is None else min(last, to)
    newest = session.frame(last, **form)
    room = min(most, ROOM // max(1, len(newest.data))) - 1
    if room > 0 and start < last:
        every = -(-(last - start) // room)
        stream = session.frames(
            start, last - 1, every=every, follow=False, on_gap=lambda gap: None, skip_pruned=True,
            **form,
        )
        with stream:
            yield from stream
    yield newest


class View:
    """Frames of a session to turn, zoom and play in a notebook; `html()` is a standalone page.
    Self-contained: it loads nothing from a server. `notes`: what is not drawn."""

    def __init__(self, session: "Session", start: int, to: Optional[int], most: int, height: int):
        self.title = f"{session.name or 'session'} {session.id[:8]}"
        self.height = height
        self.notes: List[str] = []
        self.frames = list(_chosen(session, start, to, most))
        if not self.frames:
            raise PliantError(f"session {session.id[:8]} has no frame to show yet")
        topology = session.topology()
        self._bodies = list(_bodies(topology.document, topology.surface))
        self._boxes = [frame.box() for frame in self.frames]
        self._low = [min(box[i] for box in self._boxes) for i in range(3)]
        self._high = [max(box[i + 3] for box in self._boxes) for i in range(3)]
        taken_over = any("obstacles" in c["control"] for c in session.controls())
        self._obstacles = list(self._rigid(topology.document, taken_over))
        gravity = session.scene("effective").get("gravity") or [0, -1, 0]
        self._up = max(range(3), key=lambda i: abs(float(gravity[i])))
        if not any(gravity):
            self._up = 1

    def _rigid(self, document: Mapping[str, Any], taken_over: bool) -> Iterator[Dict[str, Any]]:
        surfaces = document.get("obstacle_surfaces") or []
        for i, obstacle in enumerate(document.get("obstacles") or []):
            surface = surfaces[i] if i < len(surfaces) else None
            plane, motion = obstacle.get("plane"), obstacle.get("motion")
            if plane:
                corners = _plane(plane, self._low, self._high)
                surface = {"vertices": corners, "triangles": [0, 1, 2, 0, 2, 3]}
                surface["center"] = [x * float(plane.get("offset") or 0) for x in _normal(plane)]
            if surface is None or surface.get("inside"):
                continue  # where bodies are kept inside, it would hide them
            part = _part(obstacle["name"], _OBSTACLE, surface["triangles"])
            part["vertices"] = _text(array("f", surface["vertices"]))
            part["plane"] = bool(plane)
            if motion and taken_over:
                self.notes.append(f"{obstacle['name']}: controls that moved it are not drawn")
            centre = surface.get("center") or (0, 0, 0)
            part["poses"] = [pose(motion, f.time, centre) for f in self.frames] if motion else None
            yield part

    def data(self) -> Dict[str, Any]:
        """The data for the viewer."""
        frames = [
            {
                "number": frame.number,
                "time": frame.time,
                "low": box[:3],
                "high": box[3:],
                "data": b64encode(frame.data).decode(),
            }
            for frame, box in zip(self.frames, self._boxes)
        ]
        return {
            "bodies": self._bodies,
            "obstacles": self._obstacles,
            "frames": frames,
            "low": self._low,
            "high": self._high,
            "up": self._up,
        }

    def html(self) -> str:
        """The view as a standalone page."""
        viewer = (pkgutil.get_data(__package__, "viewer.js") or b"").decode()
        data = json.dumps(self.data(), separators=(",", ":")).replace("<", "\\u003c")
        return _PAGE.format(title=html.escape(self.title), data=data, viewer=viewer)

    def _repr_html_(self) -> str:
        # In a frame of its own: its scripts and the notebook's do not see each other.
        notes = "".join(f"<div>{html.escape(note)}</div>" for note in self.notes)
        return (
            f'<iframe title="{html.escape(self.title)}" sandbox="allow-scripts"'
            f' style="width:100%;height:{self.height}px;border:0"'
            f' srcdoc="{html.escape(self.html())}"></iframe>{notes}'
        )

    def __repr__(self) -> str:
        numbers = f"{self.frames[0].number} to {self.frames[-1].number}"
        return f"<View of {self.title}: {len(self.frames)} frames, {numbers}>"
