"""Files written from a session's frames, in constant memory and without numpy."""

from __future__ import annotations

import contextlib
import http.client
import os
import time
from typing import IO, TYPE_CHECKING, Any, Dict, Iterator, Optional

from . import npy
from .errors import Problem, Unreachable
from .transport import Transport

if TYPE_CHECKING:
    from .session import Session

_PIECE = 1 << 20
#: The least speed at which a daemon makes an export again to skip its first part, bytes a second.
_PASSED = 20e6


class _Cut(Exception):
    """A network failure; its cause is the error."""


class _Download:
    """An export that is downloaded into a file. After a lost connection it resumes at the last
    byte, as long as the session's frames are unchanged."""

    def __init__(self, transport: Transport, path: str, query: Dict[str, Any]) -> None:
        self._transport, self._path, self._query = transport, path, query
        self._piece = memoryview(bytearray(_PIECE))
        self._tag: Optional[str] = None
        self.done = self.frames = 0

    def run(self, file: IO[bytes], patience: float) -> None:
        heard, pause, barren = time.monotonic(), 0.25, 0
        while True:
            before = self.done
            try:
                for size in self._once():
                    barren += size == 0
                    file.write(self._piece[:size])
                    self.done += size
                return
            except Problem as problem:
                if self._tag is None or problem.status not in (429, 503):
                    raise
                error: BaseException = problem
            except _Cut as cut:
                error = cut.__cause__ or cut
            if self._tag is None:
                raise self._transport.unreachable(error) from error
            if self.done > before:
                heard, pause, barren = time.monotonic(), 0.25, 0
            # A daemon that answers and sends nothing more cannot: a damaged frame.
            late = time.monotonic() + pause - heard > patience + self._passing()
            if barren > 1 or late:
                raise Unreachable(f"the export was cut after {self.done} bytes: {error}") from error
            time.sleep(pause)
            pause = min(2 * pause, 8.0)
            self._transport.find_again()

    def _passing(self) -> float:
        """Seconds allowed for the daemon to regenerate the bytes that are already here."""
        return self.done / _PASSED

    def _once(self) -> Iterator[int]:
        """Bytes still missing: sizes of the data in each piece, after a first 0 once the reply has
        begun."""
        try:
            yield from self._pieces()
        except (OSError, http.client.HTTPException) as error:
            raise _Cut from error

    def _pieces(self) -> Iterator[int]:
        headers = {} if self._tag is None else {"If-Match": self._tag}
        query = {**self._query, "offset": self.done or None}
        opened = self._transport.open(self._path, query, "*/*", self._passing(), headers)
        try:
            answer = self._transport.begin(opened)
            if self._tag is None:
                self._tag = answer.get("ETag")
                self.frames = int(answer.get("Pliant-Frames", 0))
                # A session that goes on has more frames when it is asked for again.
                last = "to" if self._query.get("frame") is None else "frame"
                self._query[last] = answer.get("Pliant-Last-Frame")
            yield 0
            got = opened.body.readinto(self._piece)
            while got > 0:
                yield got
                got = opened.body.readinto(self._piece)
            if not opened.body.whole:
                raise http.client.HTTPException("its end is missing")
        finally:
            opened.dispose()


@contextlib.contextmanager
def _whole(path: str) -> Iterator[IO[bytes]]:
    """A file that appears complete or not at all."""
    beside = f"{path}.{os.getpid()}.part"
    try:
        with open(beside, "wb") as file:
            yield file
        os.replace(beside, path)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def download(transport: Transport, path: str, query: Dict[str, Any], to: str) -> int:
    """Download an export into a file; returns its number of frames."""
    one = _Download(transport, path, query)
    with _whole(to) as file:
        one.run(file, transport.retry_for)
    return one.frames


def save(session: "Session", path: str, **which: Any) -> int:
    ending = os.path.splitext(path)[1].lower()
    if ending not in (".csv", ".npy", ".obj", ".pc2"):
        raise ValueError(f"{path}: a file name must end in .csv, .npy, .obj, .pc2")
    dtype = which.pop("dtype", None)
    if dtype not in (None, "f32") or which.pop("fields", "position") != "position":
        raise ValueError("files hold positions as stored or in f32; use frames() for more")
    if ending == ".npy":
        which["dtype"] = dtype
        with _whole(path) as file:
            return _npy(session, file, which)
    if which.pop("follow", False):
        session.wait()
    if ending == ".obj":
        frame = which.pop("frame", "latest")
        which["frame"] = "last" if frame == "latest" else frame
    limit, to = which.pop("limit", None), which.get("to")
    if limit is not None:
        if limit < 1:
            raise ValueError(f"limit={limit}: a file has a frame at least")
        last = (which.get("start") or 0) + (limit - 1) * (which.get("every") or 1)
        which["to"] = last if to is None else min(last, to)
    return session.export(path, ending[1:], **which)


def _npy(session: "Session", file: IO[bytes], which: Dict[str, Any]) -> int:
    """Positions, frame after frame, in float64 if stored so; the number of frames is known at the
    end."""
    count = vertices = 0
    kind = "<f4"
    file.write(npy.header((0, 0, 3)))
    which = {"follow": False, "fields": "position", **which}
    with session.frames(**which) as stream:
        for frame in stream:
            file.write(frame.data)
            count, vertices = count + 1, frame.vertices
            kind = "<f8" if frame.dtype == "f64" else "<f4"
    file.seek(0)
    file.write(npy.header((count, vertices, 3), kind))
    return count
