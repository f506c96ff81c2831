"""A session: one run of a scene, its frames, metrics and controls."""

from __future__ import annotations

import csv
import io
import json
import os
import time
import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import exports, notebook, npy, records
from .errors import BrokenStream, PliantError, SessionFailed
from .progress import Progress, progress_of
from .records import Frame
from .streams import Events, FrameStream, Gap, MetricsStream, MixedStream
from .transport import Transport, path_of
from .view import View

TERMINAL = frozenset({"succeeded", "failed", "rejected", "cancelled"})
OnGap = Optional[Callable[[Gap], None]]
Fields = Union[str, Sequence[str], None]


class Topology:
    """Geometry to draw. Arrays are int32: numpy arrays, or memoryviews without numpy."""

    def __init__(self, transport: Transport, path: str) -> None:
        self._transport, self._path = transport, path
        self._arrays: Dict[str, Any] = {}
        self._document: Optional[Dict[str, Any]] = None

    def _array(self, name: str) -> Any:
        if name not in self._arrays:
            headers = {"Accept": "application/x-npy"}
            answer = self._transport.request("GET", self._path, {"array": name}, headers=headers)
            self._arrays[name] = npy.read(answer.body)
        return self._arrays[name]

    @property
    def triangles(self) -> Any:
        """Vertices of each triangle of all bodies' surfaces, (m, 3), as indices into a frame."""
        return self._array("triangles")

    @property
    def tets(self) -> Any:
        """Vertices of each tetrahedron, (m, 4)."""
        return self._array("tets")

    @property
    def surface(self) -> Any:
        """Vertices in frames of vertices="surface", in order, (m, 1)."""
        return self._array("surface")

    @property
    def document(self) -> Dict[str, Any]:
        """The whole document of the daemon: bodies, obstacles, pins."""
        if self._document is None:
            self._document = self._transport.json("GET", self._path)
        return self._document


def _which(
    to: Optional[int],
    limit: Optional[int],
    follow: bool,
    every: Optional[int],
    mode: Optional[str],
    max_fps: Optional[float],
) -> Dict[str, Any]:
    """Query that selects the frames of a stream; None is not sent."""
    follows = True if follow else None
    return {
        "to": to,
        "limit": limit,
        "follow": follows,
        "every": every,
        "mode": mode,
        "max_fps": max_fps,
    }


class Session:
    """A session of a Client. `info` is its latest known document; `refresh()` reads it again."""

    def __init__(self, transport: Transport, info: Mapping[str, Any]) -> None:
        self._transport = transport
        self.info: Dict[str, Any] = dict(info)
        self.id: str = self.info["id"]

    # ---- what it is -----------------------------------------------------------------------------

    @property
    def state(self) -> str:
        return str(self.info["state"])

    @property
    def name(self) -> str:
        return str(self.info["name"])

    @property
    def labels(self) -> Dict[str, str]:
        return dict(self.info["labels"])

    @property
    def over(self) -> bool:
        """True if the session has ended, in any state."""
        return self.state in TERMINAL

    @property
    def last_frame(self) -> Optional[int]:
        """The last readable frame; None before the first."""
        number = self.info["progress"]["frame"]
        return None if number is None else int(number)

    @property
    def failure(self) -> Optional[Dict[str, Any]]:
        """The cause if it failed or was rejected: code, message, advice, step, frame, ..."""
        return self.info.get("failure")

    @property
    def warnings(self) -> List[Dict[str, Any]]:
        """Warnings about the results: code, detail, count, of; empty without warnings."""
        return list(self.info.get("warnings") or [])

    def _path(self, *parts: str) -> str:
        return path_of("sessions", self.id, *parts)

    def refresh(self) -> "Session":
        self.info = self._transport.json("GET", self._path())
        return self

    def scene(self, form: str = "posted") -> Dict[str, Any]:
        """Its scene, as "posted" or "effective" (with every default filled in)."""
        path = self._path("scene")
        scene: Dict[str, Any] = self._transport.json("GET", path, query={"form": form})
        return scene

    def log(self) -> str:
        """The log of its worker."""
        return self._transport.request("GET", self._path("log")).body.decode("utf-8", "replace")

    def topology(self) -> Topology:
        return Topology(self._transport, self._path("topology"))

    # ---- changing it ----------------------------------------------------------------------------

    def _post(self, action: str, query: Optional[Dict[str, Any]] = None, **more: Any) -> Any:
        return self._transport.json("POST", self._path(action), query=query, **more)

    def cancel(self) -> None:
        """Cancel it; its frames are kept."""
        self._post("cancel", again=True)

    def pause(self) -> None:
        """Pause it at a checkpoint; its cores are free until it is resumed."""
        self._post("pause", again=True)

    def resume(self) -> None:
        self._post("resume", again=True)

    def step(self, frames: int = 1) -> int:
        """Run for a number of frames, then pause. Returns the frame at which it pauses."""
        return int(self._post("step", {"frames": frames})["until"])

    def control(self, change: Optional[Mapping[str, Any]] = None, **parts: Any) -> Dict[str, Any]:
        """Change a running session from its next frame on: `gravity`, `pins`, `obstacles`,
        `forces`, `materials`, as a fragment of a scene. Returns {"control_id", "frame", ...};
        frames up to `frame` are not affected."""
        control: Dict[str, Any] = self._post("controls", value={**(change or {}), **parts})
        return control

    def branch(
        self,
        frame: Optional[int] = None,
        scene: Optional[Mapping[str, Any]] = None,
        key: Optional[str] = None,
        snapshot: Optional[str] = None,
    ) -> "Session":
        """Start a new session from a frame of this one (default: the newest) or a snapshot, with a
        merge patch of its scene."""
        body: Dict[str, Any] = {}
        if frame is not None:
            body["frame"] = frame
        if snapshot is not None:
            body["snapshot"] = snapshot
        if scene is not None:
            body["scene"] = scene
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        document = self._post("branch", value=body, headers=headers, again=True)
        return Session(self._transport, document)

    def snapshot(self, name: str, frame: Optional[int] = None) -> Dict[str, Any]:
        """Keep its state at a frame (default: the newest) under a name, so that it can be branched
        from even after retention has removed the frame."""
        value: Dict[str, Any] = {"name": name}
        if frame is not None:
            value["frame"] = frame
        kept: Dict[str, Any] = self._post("snapshots", value=value)
        return kept

    def snapshots(self) -> List[Dict[str, Any]]:
        """Its snapshots: name, frame, bytes, created, ..."""
        listed = self._transport.json("GET", self._path("snapshots"))
        items: List[Dict[str, Any]] = listed["items"]
        return items

    def delete_snapshot(self, name: str) -> None:
        self._transport.request("DELETE", self._path("snapshots", name))

    def patch(self, prune: bool = False, **changes: Any) -> "Session":
        """Change name, labels, metadata, group, priority or retention, by a merge patch: None
        removes a label. Rejected if another client has changed the session since `info` (412
        changed_meanwhile), or if the new retention would delete stored frames without `prune` (409
        would_prune)."""
        headers = {
            "Content-Type": "application/merge-patch+json",
            "If-Match": f'"{self.info["revision"]}"',
        }
        self.info = self._transport.json(
            "PATCH", self._path() + ("?prune=true" if prune else ""), changes, headers=headers
        )
        return self

    def delete(self) -> None:
        """Remove it with its data; a live session is cancelled first."""
        self._transport.request("DELETE", self._path())

    # ---- sharing it -----------------------------------------------------------------------------

    def share(self, name: str = "", lifetime: float = 7 * 86400) -> Dict[str, Any]:
        """Create a link that shows this session, and nothing else, without a token, for `lifetime`
        seconds: {"url", "id", "expires", ...}. The URL is returned only here."""
        body = {"name": name, "expires_in": int(lifetime)}
        link: Dict[str, Any] = self._post("links", value=body)
        return link

    def links(self) -> List[Dict[str, Any]]:
        """Its share links, without their secrets."""
        return self._all("links")

    def _all(self, what: str) -> List[Dict[str, Any]]:
        found: List[Dict[str, Any]] = []
        cursor = None
        while True:
            query = {"limit": 200, "cursor": cursor}
            page = self._transport.json("GET", self._path(what), query=query)
            found += page["items"]
            cursor = page["next"]
            if not cursor:
                return found

    def revoke_link(self, link_id: str) -> None:
        self._transport.request("DELETE", self._path("links", link_id))

    def controls(self) -> List[Dict[str, Any]]:
        """Its controls, oldest first, each with the first frame it affected."""
        return self._all("controls")

    # ---- waiting --------------------------------------------------------------------------------

    def wait(
        self,
        timeout: Optional[float] = None,
        progress: Union[bool, Progress] = False,
        check: bool = False,
        strict: bool = False,
    ) -> "Session":
        """Wait until it has ended. `progress`: show a bar meanwhile. `check`: raise SessionFailed
        if it did not succeed. `strict`: also raise if it has warnings. TimeoutError after `timeout`
        seconds; the session continues."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if progress:
            self._watch(progress_of(progress, self.info), deadline)
        events = Events(self._transport, self._path("events"), None)
        self.refresh()
        while not self.over:
            left = 20.0 if deadline is None else deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"session {self.id[:8]} is still {self.state}")
            for event in events.poll(max(1, min(20, int(left)))):
                self.info = event["session"]
                if event["event"] == "deleted":
                    raise PliantError(f"session {self.id[:8]} was deleted")
            if events.missed:
                events.missed = False
                self.refresh()
        self.refresh()
        if (check or strict) and self.state != "succeeded" or strict and self.warnings:
            raise SessionFailed(self.info)
        return self

    def _watch(self, bar: Progress, deadline: Optional[float]) -> None:
        with bar, self.metrics(start=self.last_frame or 0, on_gap=lambda gap: None) as stream:
            for metrics in stream:
                bar.show(metrics)
                if deadline is not None and time.monotonic() > deadline:
                    return

    # ---- frames and metrics ---------------------------------------------------------------------

    def frame(
        self,
        number: Union[int, str] = "latest",
        dtype: Optional[str] = None,
        vertices: Optional[str] = None,
        fields: Fields = None,
    ) -> Frame:
        """One frame, by its number or "latest"."""
        query = {"dtype": dtype, "vertices": vertices, "fields": fields}
        headers = {"Accept": "application/vnd.pliant.frames"}
        path = self._path("frames", str(number))
        answer = self._transport.request("GET", path, query, headers=headers)
        record = records.read_record(io.BytesIO(answer.body))
        if record is None or record.type != records.FRAME:
            raise BrokenStream("this reply is not a frame")
        return Frame(record.frame, record.payload, self)

    def view(
        self, start: int = 0, to: Optional[int] = None, most: int = 100, height: int = 420
    ) -> View:
        """A 3-D view of its frames from `start` to `to` (default: the newest) for a notebook: one
        self-contained cell, with at most `most` frames, evenly spaced, and about 5 MB of them.
        `height` in pixels."""
        return View(self, start, to, most, height)

    def frames(
        self,
        start: int = 0,
        to: Optional[int] = None,
        limit: Optional[int] = None,
        follow: bool = True,
        every: Optional[int] = None,
        mode: Optional[str] = None,
        max_fps: Optional[float] = None,
        dtype: Optional[str] = None,
        vertices: Optional[str] = None,
        fields: Fields = None,
        patience: float = 120.0,
        on_gap: OnGap = None,
        skip_pruned: bool = False,
    ) -> FrameStream:
        """Frames from `start` on, as an iterator: the existing ones and, with `follow`, new ones
        until the session has ended. Every frame comes once, even if the connection is lost.

        every: only frames divisible by it. mode="latest": skip to the newest. dtype: "f32", "f64"
        or "u16" (half the bytes, off by at most 1/131070 of the frame's box). vertices="surface":
        only those of `topology().surface`. fields: "position", "velocity", "stress", "contacts", if
        stored (`output.fields`). on_gap receives the frames that cannot be read (default: a
        FramesMissing warning). skip_pruned: start with the first stored frame instead of raising
        Gone."""
        query = _which(to, limit, follow, every, mode, max_fps)
        query.update(dtype=dtype, vertices=vertices, fields=fields)
        stream = FrameStream(
            self._transport, self._path("frames"), query, start, patience, on_gap, skip_pruned
        )
        stream.session = self
        return stream

    def metrics(
        self,
        start: int = 0,
        to: Optional[int] = None,
        limit: Optional[int] = None,
        follow: bool = True,
        every: Optional[int] = None,
        mode: Optional[str] = None,
        max_fps: Optional[float] = None,
        patience: float = 120.0,
        on_gap: OnGap = None,
        skip_pruned: bool = False,
    ) -> MetricsStream:
        """Metrics of each frame as dicts, with the arguments of `frames`. `.read()` returns a list
        of them, which notebooks show as curves, and `.to_pandas()` a DataFrame."""
        query = _which(to, limit, follow, every, mode, max_fps)
        return MetricsStream(
            self._transport, self._path("metrics"), query, start, patience, on_gap, skip_pruned
        )

    def metrics_buckets(self, buckets: int, start: int = 0) -> List[Dict[str, Any]]:
        """Metrics of a long run in `buckets` pieces: {"from", "to", "count", "min", "max"} of each,
        for curves."""
        headers = {"Accept": "application/x-ndjson"}
        query = {"buckets": buckets, "from": start}
        answer = self._transport.request("GET", self._path("metrics"), query, headers=headers)
        lines = [json.loads(line) for line in answer.body.splitlines()]
        return [line for line in lines if "event" not in line]

    def stream(
        self,
        start: Optional[int] = None,
        max_fps: Optional[float] = None,
        dtype: Optional[str] = None,
        vertices: Optional[str] = None,
        fields: Fields = None,
        patience: float = 120.0,
        on_gap: OnGap = None,
    ) -> MixedStream:
        """A stream for viewers: pairs ("state", dict), ("frame", Frame) and ("metrics", dict); the
        newest frames, and all metrics from `start` on (default: the newest)."""
        query = {"max_fps": max_fps, "dtype": dtype, "vertices": vertices, "fields": fields}
        path = self._path("stream")
        stream = MixedStream(self._transport, path, query, start, patience, on_gap)
        stream.session = self
        return stream

    def events(self, since: Optional[int] = None) -> Events:
        """Its events, from now on (or after event `since`)."""
        return Events(self._transport, self._path("events"), since)

    def probes(self, start: int = 0) -> Dict[str, List[Optional[float]]]:
        """Values of its scene's `output.probes` up to now: a list of numbers for each column; the
        first columns are "frame" and "time". None: no value."""
        columns: Dict[str, List[Optional[float]]] = {}
        headers = {"Accept": "text/csv"}
        while True:
            answer = self._transport.request(
                "GET", self._path("probes"), {"from": start}, headers=headers
            )
            rows = list(csv.reader(io.StringIO(answer.body.decode())))
            for i, name in enumerate(rows[0] if rows else []):
                kind = int if name == "frame" else float
                values = [kind(row[i]) if row[i] else None for row in rows[1:]]
                columns.setdefault(name, []).extend(values)
            after = int(answer.headers.get("Pliant-Next") or start)
            if after <= start or len(rows) < 2:
                return columns
            start = after

    # ---- files ----------------------------------------------------------------------------------

    def save(self, path: "Union[str, os.PathLike[str]]", **which: Any) -> int:
        """Write its frames to a file; its extension gives the format: .npy (frames, vertices, 3;
        float64 if the session stores double, unless dtype="f32"), .pc2 (Blender's Mesh Cache), .obj
        (the surface at one frame: `frame=`, default the newest) or .csv (metrics); the last three
        are `export`s. `which`: start, to, every, limit, vertices, body (not for .npy); follow=True
        waits for its end. Uses constant memory; the file appears complete. Returns the number of
        frames."""
        return exports.save(self, os.fspath(path), **which)

    def export(
        self,
        path: "Union[str, os.PathLike[str]]",
        format: Optional[str] = None,
        start: Optional[int] = None,
        to: Optional[int] = None,
        every: Optional[int] = None,
        frame: Union[int, str, None] = None,
        body: Optional[str] = None,
        vertices: Optional[str] = None,
    ) -> int:
        """Export the run for other tools; the daemon writes the file. Formats: "npz", "vtu" (a .zip
        with one .vtu per frame and the .pvd for ParaView), "pc2", "mdd", "glb", "usda", "obj",
        "ply" (each a .zip) or "csv"; the default follows the extension of `path`. Frames are start,
        start + every, .. up to `to`, as far as they are stored now. frame= (a number, "first" or
        "last") writes a single .vtu or .obj. body= selects one body, vertices="surface" only the
        drawn part. Uses constant memory; the file appears complete, even if the connection is lost.
        Returns the number of frames."""
        where = os.fspath(path)
        query = {
            "format": format or os.path.splitext(where)[1][1:].lower(),
            "from": start,
            "to": to,
            "every": every,
            "frame": frame,
            "body": body,
            "vertices": vertices,
        }
        return exports.download(self._transport, self._path("export"), query, where)

    def _repr_html_(self) -> str:
        return notebook.session(self.info)

    def __repr__(self) -> str:
        return f"<Session {self.id[:8]} {self.name!r} {self.state}>"


__all__ = ["Session", "Topology", "TERMINAL"]
