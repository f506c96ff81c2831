"""Tools of the MCP server: what an agent can ask of a daemon."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .client import Client
from .compare import Comparison
from .errors import (
    Fault,
    NotFound,
    PliantError,
    Problem,
    SceneFilesUnreadable,
    Unauthorised,
    Unreachable,
)
from .session import Session

INSTRUCTIONS = """\
Pliant simulates deformable bodies: soft solids, cloth, ropes. A scene is a JSON object, in SI
units, y up by default:
{"pliant": 1, "name": "falling box", "time": {"step": 0.01, "steps": 100},
 "materials": {"rubber": {"model": "neo_hookean", "young": 1e5, "poisson": 0.4, "density": 1000}},
 "bodies": [{"name": "box", "mesh": {"box": {"size": [0.4, 0.4, 0.4], "cells": [4, 4, 4]}},
             "material": "rubber", "transform": {"translate": [0, 0.6, 0]}}],
 "obstacles": [{"name": "floor", "plane": {"normal": [0, 1, 0], "offset": 0}, "friction": 0.4}]}
`capabilities` describes every key. `validate` checks a scene and estimates its cost; `submit` runs
it; `wait`, `describe` and `picture` show the result. A rejected scene lists every fault with a
pointer and a hint: correct all of them and submit again. Read `warnings` before you trust a run."""

_PICTURE_SECONDS = 120.0
_POLL = 0.25
_SESSION = {
    "type": "string",
    "minLength": 1,
    "description": "ID of a session, the beginning of one, its name, or 'last' for the newest",
}
_SCENE = {"type": "object", "description": "a scene; give this or `file`"}
_FILE = {"type": "string", "description": "path of a scene's JSON file in the server's folder"}
_SECONDS = {
    "type": "number",
    "minimum": 0,
    "maximum": 600,
    "description": "longest time to wait (45); the sessions continue afterwards",
}


class Call:
    """A call in flight: `stop` ends its waiting, `cancelled`: the client no longer wants the reply,
    `progress` reports progress."""

    def __init__(self, progress: Callable[[float, Optional[float]], None]) -> None:
        self.stop = threading.Event()
        self.cancelled = False
        self.progress = progress


class ToolFault(Exception):
    """A call that cannot be carried out, as an error for the agent."""

    def __init__(self, code: str, message: str, hint: str = "", **more: Any) -> None:
        super().__init__(message)
        self.document: Dict[str, Any] = {"code": code, "message": message, **more}
        if hint:
            self.document["hint"] = hint


class Tool(NamedTuple):
    run: Callable[["Tools", Mapping[str, Any], Call], Tuple[Dict[str, Any], List[Dict[str, Any]]]]
    title: str
    description: str
    properties: Dict[str, Dict[str, Any]]
    required: Sequence[str] = ()
    changes: bool = False


# ---- arguments ----------------------------------------------------------------------------------

_TYPES: Dict[str, Any] = {
    "string": str,
    "object": dict,
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


def _wrong(value: Any, schema: Mapping[str, Any]) -> Optional[str]:
    """The expected value, by the keys of JSON Schema that the tools use; None if it fits."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    fits = [isinstance(value, _TYPES[kind]) for kind in kinds]
    if not any(fits) or (isinstance(value, bool) and "boolean" not in kinds):
        return "a value of type " + " or ".join(kinds)
    if "enum" in schema and value not in schema["enum"]:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if isinstance(value, (str, list)):
        least = schema.get("minLength", schema.get("minItems", 0))
        return f"at least {least}" if len(value) < least else None
    if isinstance(value, (int, float)):
        low, high = schema.get("minimum"), schema.get("maximum")
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            return f"a number from {low} to {high}"
    return None


def _check(tool: Tool, arguments: Mapping[str, Any]) -> None:
    faults = [
        {"pointer": f"/{name}", "code": "missing", "expected": tool.properties[name]["description"]}
        for name in tool.required
        if name not in arguments
    ]
    for name, value in arguments.items():
        if name not in tool.properties:
            known = ", ".join(tool.properties) or "no arguments"
            faults.append({"pointer": f"/{name}", "code": "unknown", "expected": known})
            continue
        schema = tool.properties[name]
        expected = _wrong(value, schema)
        if expected is None and isinstance(value, list):
            wrong = (_wrong(item, schema["items"]) for item in value)
            expected = next((f"items: {w}" for w in wrong if w is not None), None)
        if expected is not None:
            got = json.dumps(value)[:80]
            fault = {"pointer": f"/{name}", "code": "invalid", "got": got, "expected": expected}
            faults.append(fault)
    if faults:
        raise ToolFault("invalid_arguments", "the arguments do not fit", faults=faults)


# ---- errors -------------------------------------------------------------------------------------


def _fault(fault: Fault) -> Dict[str, str]:
    return {key: value for key, value in vars(fault).items() if value}


def _error(error: BaseException) -> Dict[str, Any]:
    """An error for the agent: code, message and details from the daemon."""
    if isinstance(error, ToolFault):
        return error.document
    if isinstance(error, Problem):
        code = error.code or "refused"
        document = {"code": code, "status": error.status, "message": error.title}
        if error.detail:
            document["detail"] = error.detail
        if error.faults:
            document["faults"] = [_fault(fault) for fault in error.faults]
        if isinstance(error, Unauthorised):
            document["hint"] = "set PLIANT_TOKEN or PLIANT_TOKEN_FILE for this server"
        if isinstance(error, NotFound):
            document["hint"] = "`list` shows the sessions"
        return document
    if isinstance(error, SceneFilesUnreadable):
        faults = [_fault(fault) for fault in error.faults]
        text = "mesh files of the scene cannot be read"
        return {"code": "files_unreadable", "message": text, "faults": faults}
    document = {"code": "failed", "message": str(error)}
    if isinstance(error, Unreachable):
        document["code"] = "unreachable"
        document["hint"] = "start pliantd, or name its address with --server or PLIANT_SERVER"
    return document


def _text(value: Mapping[str, Any]) -> Dict[str, Any]:
    return {"type": "text", "text": json.dumps(value, indent=1)}


# ---- what is said of a session ------------------------------------------------------------------


def _summary(session: Session) -> Dict[str, Any]:
    info = session.info
    progress = info["progress"]
    summary: Dict[str, Any] = {
        "session": session.id,
        "name": session.name,
        "state": session.state,
        "over": session.over,
        "frame": progress["frame"],
        "frames": progress["frames"],
        "simulated_seconds": progress["time"],
        "created": info["created"],
    }
    queue = info.get("queue") or {}
    more = {
        "message": info.get("message"),
        "waits_for": queue.get("reason"),
        "labels": session.labels,
        "failure": session.failure,
        "warnings": session.warnings,
    }
    return {**summary, **{key: value for key, value in more.items() if value}}


def _samples(session: Session, most: int) -> List[Dict[str, Any]]:
    """Metrics of at most `most` frames, evenly spaced, including the last."""
    last = session.last_frame
    if last is None:
        return []
    every = max(1, -(-(last + 1) // most))
    metrics = session.metrics(
        to=last, every=every, follow=False, on_gap=lambda gap: None, skip_pruned=True
    ).read()
    if last % every:
        metrics += session.metrics(last, to=last, follow=False, on_gap=lambda gap: None).read()
    keys = ("frame", "time", "iterations", "unconverged", "gradient_norm", "energy", "inverted")
    extra = ("max_stretch", "penetration", "reactions", "probes")
    return [{k: m[k] for k in keys + extra if m.get(k) not in (None, {}, [])} for m in metrics]


def _boxes(session: Session) -> List[Dict[str, Any]]:
    """Position of each body in the newest frame."""
    positions = session.frame("latest").positions.tolist()
    boxes = []
    for body in session.topology().document["bodies"]:
        first = body["first_vertex"]
        axes = list(zip(*positions[first : first + body["vertices"]]))
        box = {"min": [min(axis) for axis in axes], "max": [max(axis) for axis in axes]}
        boxes.append({"body": body["name"], "vertices": body["vertices"], **box})
    return boxes


class Tools:
    """The tools. Each call looks for the daemon until it is found, so that it can start later."""

    def __init__(
        self,
        server: Optional[str] = None,
        state: Optional[str] = None,
        folder: str = ".",
        program: Optional[str] = None,
    ) -> None:
        self._server, self._state, self._program = server, state, program
        self._folder = os.path.realpath(folder)
        self._made: Optional[Client] = None
        self._making = threading.Lock()
        self.names = tuple(_TOOLS)

    @property
    def _client(self) -> Client:
        with self._making:
            if self._made is None:
                self._made = Client(self._server, state=self._state, retry_for=5)
            return self._made

    def close(self) -> None:
        """Close kept-alive connections."""
        with self._making:
            if self._made is not None:
                self._made.close()

    def describe(self) -> List[Dict[str, Any]]:
        """The tools for tools/list."""
        return [
            {
                "name": name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": {
                    "type": "object",
                    "properties": tool.properties,
                    "required": list(tool.required),
                    "additionalProperties": False,
                },
                "annotations": {
                    "readOnlyHint": not tool.changes,
                    "destructiveHint": False,
                    "openWorldHint": False,
                },
            }
            for name, tool in _TOOLS.items()
        ]

    def call(self, name: str, arguments: Mapping[str, Any], call: Call) -> Dict[str, Any]:
        """The result of a call; errors become a result with isError."""
        tool = _TOOLS[name]
        try:
            _check(tool, arguments)
            value, content = tool.run(self, arguments, call)
            failed = False
        except (PliantError, ToolFault, OSError, ValueError) as error:
            value, content, failed = {"error": _error(error)}, [], True
        return {
            "content": [_text(value), *content],
            "structuredContent": value,
            "isError": failed,
        }

    # ---- scenes and sessions --------------------------------------------------------------------

    def _inside(self, path: str, base: str) -> str:
        """A path inside the folder, after resolving links and dots."""
        real = os.path.realpath(os.path.join(base, path))
        if os.path.commonpath([real, self._folder]) != self._folder:
            raise ToolFault(
                "outside_folder",
                f"{path} is outside of {self._folder}",
                "start the server with --folder to let it read another one",
            )
        return real

    def _scene(self, arguments: Mapping[str, Any]) -> Tuple[Dict[str, Any], str]:
        """The scene and the folder its paths are relative to."""
        if ("scene" in arguments) == ("file" in arguments):
            raise ToolFault("invalid_arguments", "give either `scene` or `file`")
        base = self._folder
        scene = arguments.get("scene")
        if scene is None:
            path = self._inside(arguments["file"], base)
            base = os.path.dirname(path)
            with open(path, encoding="utf-8") as file:
                scene = json.load(file)
        if not isinstance(scene, dict):
            raise ToolFault("invalid_arguments", "a scene is a JSON object")
        for kind in ("bodies", "obstacles"):
            members = scene.get(kind)
            for member in members if isinstance(members, list) else []:
                mesh = member.get("mesh") if isinstance(member, dict) else None
                for key in ("file", "ele"):
                    if isinstance(mesh, dict) and isinstance(mesh.get(key), str):
                        self._inside(mesh[key], base)
        return scene, base

    def _session(self, word: str) -> Session:
        if word == "last":
            newest = next(self._client.sessions(limit=1), None)
            if newest is None:
                raise ToolFault("no_session", "no session exists yet", "`submit` creates one")
            return newest
        try:
            return self._client.session(word)
        except NotFound:
            named = [s for s in self._client.sessions(name=word) if s.name == word]
            if len(named) != 1:
                raise
            return named[0].refresh()

    # ---- the tools ------------------------------------------------------------------------------

    def _submit(self, arguments: Mapping[str, Any], call: Call) -> Any:
        scene, base = self._scene(arguments)
        if "name" in arguments:
            scene = {**scene, "name": arguments["name"]}
        session = self._client.submit(scene, base, checked=10)
        return _summary(session), []

    def _validate(self, arguments: Mapping[str, Any], call: Call) -> Any:
        scene, base = self._scene(arguments)
        return self._client.validate(scene, base), []

    def _until(self, sessions: List[Session], seconds: float, call: Call) -> None:
        """Wait until all have ended, the call is cancelled or the time is up."""
        end = time.monotonic() + seconds
        told = -1.0
        while True:
            for session in sessions:
                if not session.over:
                    session.refresh()
            done = float(sum(session.last_frame or 0 for session in sessions))
            frames = [session.info["progress"]["frames"] for session in sessions]
            if done > told:
                told = done
                call.progress(done, None if None in frames else float(sum(frames)))
            if all(session.over for session in sessions) or time.monotonic() >= end:
                return
            if call.stop.wait(min(_POLL, max(0.0, end - time.monotonic()))):
                return

    def _wait(self, arguments: Mapping[str, Any], call: Call) -> Any:
        session = self._session(arguments["session"])
        self._until([session], arguments.get("seconds", 45), call)
        return _summary(session), []

    def _describe(self, arguments: Mapping[str, Any], call: Call) -> Any:
        session = self._session(arguments["session"])
        described = _summary(session)
        if session.last_frame is not None:
            described["metrics"] = _samples(session, arguments.get("samples", 6))
            described["bodies"] = _boxes(session)
        if arguments.get("scene"):
            described["scene"] = session.scene()
        return described, []

    def _picture(self, arguments: Mapping[str, Any], call: Call) -> Any:
        session = self._session(arguments["session"])
        program = self._program or shutil.which("pliant")
        if program is None:
            hint = "install Pliant's command line, or name it with --program"
            raise ToolFault("no_program", "`pliant`, which draws pictures, is not found", hint)
        size = f"{arguments.get('width', 800)}x{arguments.get('height', 600)}"
        words = [program, "export", session.id, "--format", "png", "--size", size]
        for option in ("frame", "azimuth", "elevation"):
            if option in arguments:
                words += [f"--{option}", str(arguments[option])]
        with tempfile.TemporaryDirectory(prefix="pliant-mcp-") as folder:
            path = os.path.join(folder, "picture.png")
            self._export(words + ["--out", path], call)
            with open(path, "rb") as file:
                data = file.read()
        frame = arguments.get("frame", session.last_frame)
        image = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(data).decode()}
        return {"session": session.id, "frame": frame, "size": size, "bytes": len(data)}, [image]

    def _export(self, words: List[str], call: Call) -> None:
        """Run `pliant export` against the same daemon as the other tools, until `call` is stopped.
        """
        place = {"PLIANT_SERVER": self._client.url, "PLIANT_TOKEN": self._client.token or ""}
        environment = {**os.environ, **{key: text for key, text in place.items() if text}}
        end = time.monotonic() + _PICTURE_SECONDS
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                words, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
            while process.poll() is None:
                if call.stop.wait(0.02) or time.monotonic() > end:
                    process.kill()
                    process.wait()
            said.seek(0)
            text = said.read(2000).decode("utf-8", "replace").strip()
        if process.returncode != 0:
            raise ToolFault("no_picture", text or f"pliant ended with {process.returncode}")

    def _compare(self, arguments: Mapping[str, Any], call: Call) -> Any:
        if "sessions" in arguments:
            found = [self._session(word) for word in arguments["sessions"]]
            comparison = Comparison({f"{s.name} {s.id[:8]}": s for s in found}, {})
        else:
            scene, base = self._scene(arguments)
            if not arguments.get("methods"):
                raise ToolFault("invalid_arguments", "give `methods` or `sessions`")
            comparison = self._client.compare(scene, arguments["methods"], base)
        self._until(list(comparison), arguments.get("seconds", 45), call)
        compared = {"over": comparison.over, "rows": comparison.rows()}
        if comparison.rejected:
            compared["rejected"] = {n: _error(e) for n, e in comparison.rejected.items()}
        return compared, []

    def _list(self, arguments: Mapping[str, Any], call: Call) -> Any:
        found = self._client.sessions(
            arguments.get("state"), name=arguments.get("name"), limit=arguments.get("limit", 20)
        )
        return {"sessions": [_summary(session) for session in found]}, []

    def _cancel(self, arguments: Mapping[str, Any], call: Call) -> Any:
        session = self._session(arguments["session"])
        if not session.over:
            session.cancel()
        return _summary(session.refresh()), []

    def _capabilities(self, arguments: Mapping[str, Any], call: Call) -> Any:
        document: Any = self._client.capabilities()
        path = [part for part in arguments.get("path", "").split("/") if part]
        for name in path:
            known = document if isinstance(document, dict) else {}
            if isinstance(document, list):
                known = {str(e.get("name", i)): e for i, e in enumerate(document) if e}
            if name not in known:
                raise ToolFault("no_such_path", f"no {name!r}", "there is: " + ", ".join(known))
            document = known[name]
        return {"capabilities": _outlined(document, path)}, []


def _outlined(document: Any, path: List[str]) -> Any:
    """The whole text if it is short; else the names of its parts, to be requested by path."""
    if len(json.dumps(document)) <= 16000 or not isinstance(document, dict):
        return document
    return {
        name: part if len(json.dumps(part)) <= 400 else "long: path " + "/".join([*path, name])
        for name, part in document.items()
    }


_STATES = "queued, running, paused, succeeded, failed, rejected or cancelled"
_TOOLS: Dict[str, Tool] = {
    "submit": Tool(
        Tools._submit,
        "Submit a scene",
        "Run a scene as a session of the daemon. Returns its ID at once; then use `wait`. A scene "
        "with faults is rejected with a pointer and a hint for each.",
        {
            "scene": _SCENE,
            "file": _FILE,
            "name": {"type": "string", "description": "name of the session (the scene's)"},
        },
        changes=True,
    ),
    "validate": Tool(
        Tools._validate,
        "Check a scene",
        "Check a scene without running it: estimates of time and memory, bodies, warnings; or all "
        "its faults.",
        {"scene": _SCENE, "file": _FILE},
    ),
    "wait": Tool(
        Tools._wait,
        "Wait for a session",
        "Wait until a session has ended, or for some seconds. Returns its state, warnings, and why "
        "it failed. If `over` is false, call it again.",
        {"session": _SESSION, "seconds": _SECONDS},
        ("session",),
    ),
    "describe": Tool(
        Tools._describe,
        "Describe a session",
        "State, sampled metrics (residuals, energies, probes, contact forces) and the box of each "
        "body in the newest frame.",
        {
            "session": _SESSION,
            "samples": {
                "type": "integer",
                "minimum": 1,
                "maximum": 100,
                "description": "frames whose metrics are returned (6)",
            },
            "scene": {"type": "boolean", "description": "also return the scene as submitted"},
        },
        ("session",),
    ),
    "picture": Tool(
        Tools._picture,
        "Picture of a frame",
        "A PNG picture of one frame of a session.",
        {
            "session": _SESSION,
            "frame": {"type": "integer", "minimum": 0, "description": "frame to draw (the last)"},
            "width": {
                "type": "integer",
                "minimum": 16,
                "maximum": 2048,
                "description": "pixels (800)",
            },
            "height": {
                "type": "integer",
                "minimum": 16,
                "maximum": 2048,
                "description": "pixels (600)",
            },
            "azimuth": {
                "type": "number",
                "minimum": -3600,
                "maximum": 3600,
                "description": "camera angle about the vertical, degrees (32)",
            },
            "elevation": {
                "type": "number",
                "minimum": -89,
                "maximum": 89,
                "description": "camera angle above the horizon, degrees (20)",
            },
        },
        ("session",),
    ),
    "compare": Tool(
        Tools._compare,
        "Compare methods or sessions",
        "A table of frames, unconverged frames, residuals, times and differences: either run a "
        "scene once by each of `methods`, or compare `sessions` of one scene that exist. If `over` "
        "is false, call it again with `sessions` set to the rows' session IDs.",
        {
            "scene": _SCENE,
            "file": _FILE,
            "methods": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "description": "methods of the solver, such as auto, newton, quasi_newton, admm",
            },
            "sessions": {
                "type": "array",
                "items": _SESSION,
                "minItems": 1,
                "description": "sessions to compare instead",
            },
            "seconds": _SECONDS,
        },
        changes=True,
    ),
    "list": Tool(
        Tools._list,
        "List sessions",
        "Sessions you can see, newest first.",
        {
            "state": {"type": "string", "description": _STATES},
            "name": {"type": "string", "description": "substring of the name"},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 200,
                "description": "maximum number (20)",
            },
        },
    ),
    "cancel": Tool(
        Tools._cancel,
        "Cancel a session",
        "End a session; its frames are kept.",
        {"session": _SESSION},
        ("session",),
        changes=True,
    ),
    "capabilities": Tool(
        Tools._capabilities,
        "Look up keys of a scene",
        "Materials, methods, obstacles, limits, and every parameter of a scene with unit, default "
        "and range. Long parts are named only: ask for them by `path`.",
        {"path": {"type": "string", "description": "part to return, such as materials or a/b"}},
    ),
}
