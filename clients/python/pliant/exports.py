"""Files that a session's frames are written to, with constant memory and without numpy."""

from __future__ import annotations

import csv
import http.client
import os
import struct
from typing import IO, TYPE_CHECKING, Any, Dict, Tuple

from . import npy
from .errors import Unreachable
from .transport import Query, Transport

if TYPE_CHECKING:
    from .session import Session

_PIECE = 1 << 20


def download(transport: Transport, path: str, query: Query, to: str) -> int:
    """An export into a file: its frames."""
    beside = f"{to}.{os.getpid()}.part"
    opened = transport.open(path, query, "*/*")
    try:
        headers = transport.begin(opened)
        piece = memoryview(bytearray(_PIECE))
        with open(beside, "wb") as file:
            got = opened.body.readinto(piece)
            while got > 0:
                file.write(piece[:got])
                got = opened.body.readinto(piece)
        if not opened.body.whole:
            raise Unreachable(f"the export {to} was cut")
        os.replace(beside, to)
        return int(headers.get("Pliant-Frames", 0))
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(f"the export {to} was cut: {error}") from error
    finally:
        opened.dispose()
        if os.path.exists(beside):
            os.unlink(beside)


def save(session: "Session", path: str, **which: Any) -> int:
    ending = os.path.splitext(path)[1].lower()
    writers = {".npy": _npy, ".pc2": _pc2, ".obj": _obj, ".csv": _csv}
    if ending not in writers:
        raise ValueError(f"{path}: a file's name ends in {', '.join(sorted(writers))}")
    beside = f"{path}.{os.getpid()}.part"
    try:
        with open(beside, "wb") as file:
            count = writers[ending](session, file, which)
        os.replace(beside, path)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)
    return count


def _write_frames(session: "Session", file: IO[bytes], which: Dict[str, Any]) -> Tuple[int, int]:
    """Positions as float32, one frame after the other: how many frames, of how many vertices."""
    which = {"follow": False, "dtype": "f32", "fields": "position", **which}
    if which["dtype"] != "f32" or which["fields"] != "position":
        raise ValueError("files are of positions in f32; use frames() for anything else")
    count = vertices = 0
    with session.frames(**which) as stream:
        for frame in stream:
            file.write(frame.data)
            count, vertices = count + 1, frame.vertices
    return count, vertices


def _npy(session: "Session", file: IO[bytes], which: Dict[str, Any]) -> int:
    file.write(npy.header((0, 0, 3)))
    count, vertices = _write_frames(session, file, which)
    file.seek(0)
    file.write(npy.header((count, vertices, 3)))
    return count


def _pc2(session: "Session", file: IO[bytes], which: Dict[str, Any]) -> int:
    # name, version, points, first frame, frames a sample, samples
    head = struct.Struct("<12siiffi")
    file.write(head.pack(b"POINTCACHE2\0", 1, 0, 0, 1, 0))
    count, vertices = _write_frames(session, file, which)
    file.seek(0)
    file.write(head.pack(b"POINTCACHE2\0", 1, vertices, 0, 1, count))
    return count


def _obj(session: "Session", file: IO[bytes], which: Dict[str, Any]) -> int:
    frame = session.frame(which.pop("frame", "latest"))
    if which:
        raise TypeError(f"an .obj takes frame=, not {', '.join(which)}")
    rows = frame.positions.tolist()
    file.write("".join(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in rows).encode())
    corners = session.topology().triangles.tolist()
    file.write("".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in corners).encode())
    return 1


def _csv(session: "Session", file: IO[bytes], which: Dict[str, Any]) -> int:
    """One column a number of the metrics, named by its path; those of the first record."""
    columns = None
    count = 0
    which = {"follow": False, **which}
    with session.metrics(**which) as stream:
        for record in stream:
            flat = dict(_flat(record, ""))
            if columns is None:
                columns = list(flat)
                file.write(_line(columns))
            file.write(_line([flat.get(c) for c in columns]))
            count += 1
    return count


def _flat(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from _flat(part, f"{name}.{'xyz'[i] if len(value) == 3 else i}")
    else:
        yield name, value


class _Line:
    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)


def _line(values: Any) -> bytes:
    line = _Line()
    csv.writer(line, lineterminator="\n").writerow(["" if v is None else v for v in values])
    return line.text.encode()
