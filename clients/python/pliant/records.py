"""Records and frames: the binary form of what a daemon stores and streams (see record.h)."""

from __future__ import annotations

import json
import struct
from array import array
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import notebook
from .errors import BrokenStream

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

HELLO, FRAME, METRICS, EPOCH, HEARTBEAT, GAP, END, CONTROL, STATE = range(1, 10)
HEADER_BYTES = 48
_HEADER = struct.Struct("<4sHHIIQQQII")
_FRAME = struct.Struct("<IIIIdQ")
_MAX_PAYLOAD = 1 << 32
_F32, _F64, _U16 = 1, 2, 3
_VALUE_BYTES = {_F32: 4, _F64: 8, _U16: 2}
_FIELDS = {1: "position", 2: "velocity", 4: "stress"}
_CONTACTS = 16


def _crc_tables() -> List[int]:
    table = []
    for i in range(256):
        for _ in range(8):
            i = (i >> 1) ^ 0x82F63B78 if i & 1 else i >> 1
        table.append(i)
    return table


_CRC = _crc_tables()


def crc32c(data: Any) -> int:
    """CRC-32C (Castagnoli). In Python: for headers, not for megabytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


class Record(NamedTuple):
    type: int
    attempt: int
    frame: int
    payload: memoryview

    def json(self) -> Dict[str, Any]:
        try:
            value = json.loads(bytes(self.payload)) if self.payload else {}
        except ValueError as error:
            raise BrokenStream(f"a record of type {self.type} is not JSON: {error}") from None
        return value if isinstance(value, dict) else {}


def _new_buffer(size: int) -> Tuple[Any, memoryview]:
    # numpy's is not cleared first, and is aligned for vectors.
    if numpy is not None:
        buffer: Any = numpy.empty(size, numpy.uint8)
    else:
        buffer = bytearray(size)
    return buffer, memoryview(buffer)


def read_record(source: Any) -> Optional[Record]:
    """The next record, with its payload in a buffer of its own; None at the end of the bytes, even
    inside a record (a cut stream). `source` has read() and readinto(), which fill their buffers
    except at the end."""
    header = source.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    magic, version, kind, _flags, attempt, _seq, frame, length, crc, _ = _HEADER.unpack(header)
    if magic != b"PLR1" or crc32c(header[:40]) != crc or length > _MAX_PAYLOAD:
        raise BrokenStream("these bytes are not a record of a Pliant stream")
    if version != 1:
        raise BrokenStream(f"records of version {version}; this client reads version 1")
    # The padding is read with the payload, which saves a call a frame.
    _buffer, view = _new_buffer((length + 7) & ~7)
    if (source.readinto(view) or 0) < len(view):
        return None
    return Record(kind, attempt, frame, view[:length])


class Contact(NamedTuple):
    """A contact between two bodies, or a body and itself: the two bodies, the position in m, the
    force of the first on the second in N, and the gap between them in m."""

    bodies: Tuple[int, int]
    position: Tuple[float, float, float]
    force: Tuple[float, float, float]
    gap: float


class Frame:
    """One frame. `positions` and `velocities` are float arrays of shape (vertices, 3): numpy arrays
    that are views of the received bytes, or memoryviews without numpy. Quantised frames (dtype u16)
    are converted to float32 on first use. Notebooks show a 3-D view of it; `session` is its
    session, None if unknown."""

    __slots__ = (
        "number",
        "time",
        "step",
        "vertices",
        "dtype",
        "session",
        "_payload",
        "_begin",
        "_places",
        "_points",
        "_made",
    )

    def __init__(self, number: int, payload: memoryview, session: Any = None) -> None:
        self.session = session
        if len(payload) < _FRAME.size:
            raise BrokenStream("a frame shorter than its header")
        dtype, fields, count, points, self.time, self.step = _FRAME.unpack_from(payload)
        if dtype not in _VALUE_BYTES or fields & ~(7 | _CONTACTS):
            raise BrokenStream(f"a frame of unknown format: dtype {dtype}, fields {fields}")
        self.number: int = number
        self.vertices: int = count
        self.dtype: str = ("f32", "f64", "u16")[dtype - 1]
        self._payload = payload
        names = [name for bit, name in _FIELDS.items() if fields & bit]
        size = count * 3 * _VALUE_BYTES[dtype]
        begin = _FRAME.size + (48 * len(names) if dtype == _U16 else 0)
        end = begin + size * len(names)
        if end + points * (64 if dtype == _F64 else 36) != len(payload):
            raise BrokenStream("a frame whose length does not fit its vertices")
        self._begin = begin
        self._places = {name: (i, begin + i * size) for i, name in enumerate(names)}
        self._points = end if fields & _CONTACTS else None
        self._made: Dict[str, Any] = {}

    @property
    def fields(self) -> Tuple[str, ...]:
        return tuple(self._places) + (("contacts",) if self._points is not None else ())

    @property
    def data(self) -> memoryview:
        """The raw values, field after field, little-endian, without header and box."""
        return self._payload[self._begin :]

    @property
    def positions(self) -> Any:
        """Position of each vertex, m."""
        return self.field("position")

    @property
    def velocities(self) -> Any:
        """Velocity of each vertex, m/s; only if the session stores it."""
        return self.field("velocity")

    @property
    def stress(self) -> Any:
        """Von Mises, greatest principal and mean Cauchy stress at each vertex, Pa; only if the
        session stores it."""
        return self.field("stress")

    @property
    def contacts(self) -> Any:
        """Contacts between bodies or of a body with itself; only if the session stores them. A
        numpy array with the fields "bodies", "position", "force" and "gap", or without numpy a list
        of Contact: indices of the two bodies, m, the force of the first on the second in N, m."""
        if self._points is None:
            raise KeyError(f"this frame has no contacts; it has {', '.join(self.fields)}")
        if "contacts" not in self._made:
            self._made["contacts"] = self._contacts(self._payload[self._points :])
        return self._made["contacts"]

    def _contacts(self, part: memoryview) -> Any:
        wide = self.dtype == "f64"
        if numpy is not None:
            real = "<f8" if wide else "<f4"
            parts = [("bodies", "<i4", (2,)), ("position", real, (3,)), ("force", real, (3,))]
            return numpy.frombuffer(part, numpy.dtype(parts + [("gap", real)]))
        rows = struct.iter_unpack("<2i7d" if wide else "<2i7f", part)
        return [Contact(row[0:2], row[2:5], row[5:8], row[8]) for row in rows]

    def field(self, name: str) -> Any:
        if name == "contacts":
            return self.contacts
        if name not in self._made:
            if name not in self._places:
                raise KeyError(f"this frame has no {name}; it has {', '.join(self.fields)}")
            self._made[name] = self._array(*self._places[name])
        return self._made[name]

    def _array(self, place: int, begin: int) -> Any:
        size = self.vertices * 3 * {"f32": 4, "f64": 8, "u16": 2}[self.dtype]
        part = self._payload[begin : begin + size]
        if self.dtype == "u16":
            return _from_box(part, self._box(place), self.vertices)
        if numpy is not None:
            kind = "<f4" if self.dtype == "f32" else "<f8"
            return numpy.frombuffer(part, kind).reshape(self.vertices, 3)
        return _shaped(part, "f" if self.dtype == "f32" else "d", self.vertices)

    def _box(self, place: int) -> Tuple[float, ...]:
        return struct.unpack_from("<6d", self._payload, _FRAME.size + 48 * place)

    def box(self) -> Tuple[float, ...]:
        """Bounding box of the vertices, m: smallest x, y, z, largest x, y, z."""
        if self.dtype == "u16":
            return self._box(self._places["position"][0])
        if self.vertices == 0:
            return (0.0,) * 6
        if numpy is not None:
            return (*self.positions.min(0).tolist(), *self.positions.max(0).tolist())
        axes = list(zip(*self.positions.tolist()))
        return (*map(min, axes), *map(max, axes))

    def _repr_html_(self) -> str:
        return notebook.frame(self)

    def __repr__(self) -> str:
        return (
            f"<Frame {self.number} at {self.time:g} s: "
            f"{self.vertices} vertices, {self.dtype}, {'+'.join(self.fields)}>"
        )


def _shaped(part: memoryview, kind: Any, rows: int) -> memoryview:
    return part.cast(kind, (rows, 3)) if rows else part.cast(kind)


def _from_box(part: memoryview, box: Tuple[float, ...], rows: int) -> Any:
    least, most = box[:3], box[3:]
    steps = [(b - a) / 65535 for a, b in zip(least, most)]
    if numpy is not None:
        q = numpy.frombuffer(part, "<u2").reshape(rows, 3)
        values32 = numpy.multiply(q, numpy.array(steps, "f4"), dtype=numpy.float32)
        values32 += numpy.array(least, "f4")
        return values32
    values = array("f", bytes(4 * 3 * rows))
    q = part.cast("H")
    for axis in range(3):
        values[axis::3] = array("f", [least[axis] + v * steps[axis] for v in q[axis::3].tolist()])
    return _shaped(memoryview(values).cast("B"), "f", rows)
