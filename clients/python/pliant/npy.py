"""The .npy format with and without numpy: reads replies of the daemon, writes exports."""

from __future__ import annotations

import ast
import struct
from typing import Any, Tuple

from .errors import BrokenStream

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

_KINDS = {"<f4": "f", "<f8": "d", "<i4": "i", "|u1": "B"}


def header(shape: Tuple[int, ...], kind: str = "<f4") -> bytes:
    """The header of a file of this shape, in C order. Its length does not depend on the shape, so
    that it can be rewritten when the number of rows is known."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 182) + text.ljust(181).encode("ascii") + b"\n"


def read(data: bytes) -> Any:
    """A numpy array or, without numpy, a memoryview of `data`."""
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        raise BrokenStream("this is not an .npy file")
    wide = data[6] > 1
    size = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    begin = (12 if wide else 10) + size
    try:
        head = ast.literal_eval(data[begin - size : begin].decode("latin-1"))
        kind, shape = head["descr"], tuple(head["shape"])
    except (ValueError, SyntaxError, KeyError, TypeError):
        raise BrokenStream("the header of this .npy file cannot be read") from None
    if kind not in _KINDS or head.get("fortran_order"):
        raise BrokenStream(f"an .npy file of {kind} is not supported")
    part = memoryview(data)[begin:]
    if numpy is not None:
        return numpy.frombuffer(part, kind).reshape(shape)
    code: Any = _KINDS[kind]
    return part.cast(code, shape) if len(part) and len(shape) > 1 else part.cast(code)
