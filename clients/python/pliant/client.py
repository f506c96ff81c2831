"""A client of a daemon."""

from __future__ import annotations

import os
import ssl
import uuid
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from .compare import Comparison, merged
from .errors import NotFound, SceneRefused
from .scene_files import Scene, SceneFiles
from .session import Session
from .streams import Events
from .sweep import Sweep
from .transport import Transport, path_of


class Client:
    """A client of a daemon. Server and token are found like those of the command line: from the
    arguments, PLIANT_SERVER and PLIANT_TOKEN (or PLIANT_TOKEN_FILE), the files url and token of the
    state directory (`state`, else $XDG_STATE_HOME/pliant or ~/.local/state/pliant), or
    http://127.0.0.1:8080.

    server: http://..., https://... or unix:PATH. timeout: seconds to wait for a reply. retry_for:
    seconds for which a request is retried if the daemon is busy (429, 503; Retry-After is honoured)
    or the connection is lost. context: TLS settings, instead of the system's certificates.
    Thread-safe."""

    def __init__(
        self,
        server: Optional[str] = None,
        token: Optional[str] = None,
        state: "Union[str, os.PathLike[str], None]" = None,
        timeout: float = 60.0,
        retry_for: float = 60.0,
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        directory = None if state is None else os.fspath(state)
        self._transport = Transport(server, token, directory, timeout, retry_for, context)

    @property
    def url(self) -> str:
        return self._transport.url

    @property
    def token(self) -> Optional[str]:
        """The token sent with requests; None without one."""
        return self._transport.token

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Close kept-alive connections; the client can still be used."""
        self._transport.close()

    # ---- sessions -------------------------------------------------------------------------------

    def submit(
        self,
        scene: Scene,
        folder: Optional[str] = None,
        group: Optional[str] = None,
        key: Optional[str] = None,
        checked: float = 0,
    ) -> Session:
        """Submit a scene: a dict, or the path of a JSON file. Mesh files that it names are uploaded
        if the daemon lacks them; paths are relative to `folder` (default: the scene file's).

        key: an Idempotency-Key, which prevents a second submission. Each call generates one by
        default, so that an interrupted request is retried safely. checked: seconds to wait for the
        check of a large scene. SceneRefused lists every fault."""
        ready = self._ready(scene, folder, group)
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        if checked:
            headers["Prefer"] = f"wait={int(checked)}"
        info = self._transport.json(
            "POST",
            path_of("sessions"),
            ready,
            query={"group": group},
            headers=headers,
            again=True,
            wait=checked,
        )
        return Session(self._transport, info)

    def validate(self, scene: Scene, folder: Optional[str] = None) -> Dict[str, Any]:
        """Check a scene without running it: "estimate", "bodies", "warnings", "remarks".
        SceneRefused lists its faults. Mesh files are uploaded; nothing else is stored."""
        ready = self._ready(scene, folder)
        validation: Dict[str, Any] = self._transport.json(
            "POST", path_of("validate"), ready, again=True
        )
        return validation

    def session(self, session_id: str) -> Session:
        """A session by its id, or by a unique prefix of it."""
        if len(session_id) >= 32:
            document = self._transport.json("GET", path_of("sessions", session_id))
            return Session(self._transport, document)
        found = [s for s in self.sessions() if session_id and s.id.startswith(session_id)]
        if len(found) != 1:
            what = "no session begins" if not found else "more than one session begins"
            title = f"{what} with {session_id!r}"
            raise NotFound(404, {"type": "not_found", "title": title})
        return found[0].refresh()

    def sessions(
        self,
        state: Optional[str] = None,
        owner: Optional[str] = None,
        name: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Session]:
        """Sessions, newest first, at most `limit`. name: a substring; labels: all must match."""
        label = ",".join(f"{k}={v}" for k, v in labels.items()) if labels else None
        query = {"state": state, "owner": owner, "name": name, "label": label}
        for info in self._pages("sessions", query, limit):
            yield Session(self._transport, info)

    def events(self, since: Optional[int] = None) -> Events:
        """Events of all sessions you can see, from now on (or after event `since`)."""
        return Events(self._transport, path_of("events"), since)

    def _pages(
        self, what: str, query: Mapping[str, Any], limit: Optional[int] = None
    ) -> Iterator[Dict[str, Any]]:
        cursor = None
        left = limit
        while left is None or left > 0:
            size = 200 if left is None else min(left, 200)
            asked = {**query, "limit": size, "cursor": cursor}
            page = self._transport.json("GET", path_of(what), query=asked)
            yield from page["items"]
            cursor = page["next"]
            if left is not None:
                left -= len(page["items"])
            if not cursor:
                return

    # ---- sweeps ---------------------------------------------------------------------------------

    def sweep(
        self,
        scene: Scene,
        parameters: Union[Mapping[str, Any], Sequence[Mapping[str, Any]], None] = None,
        results: Sequence[Union[str, Mapping[str, Any]]] = (),
        folder: Optional[str] = None,
        group: Optional[str] = None,
        key: Optional[str] = None,
        **more: Any,
    ) -> Sweep:
        """Run a scene once for each row of parameters.

        parameters: {"/materials/m/young": [1e4, 1e5]}, each JSON pointer with a list of values or a
        dict such as {"range": [0, 1], "count": 5}; or a list as the daemon takes it. results: paths
        of metrics, or dicts with metric, probe or expect. key: as for submit. more: sampling,
        samples, seed, csv, running, stop, name. SceneRefused lists every fault, including those of
        single rows."""
        ready = self._ready(scene, folder, group)
        document: Dict[str, Any] = {"scene": ready, **more}
        if isinstance(parameters, Mapping):
            document["parameters"] = [
                {"path": path, **(what if isinstance(what, Mapping) else {"values": list(what)})}
                for path, what in parameters.items()
            ]
        elif parameters is not None:
            document["parameters"] = list(parameters)
        document["results"] = [{"metric": r} if isinstance(r, str) else r for r in results]
        info = self._transport.json(
            "POST",
            path_of("sweeps"),
            document,
            query={"group": group},
            headers={"Idempotency-Key": key or uuid.uuid4().hex},
            again=True,
        )
        return Sweep(self._transport, info)

    def fit(
        self,
        scene: Scene,
        parameters: Union[Mapping[str, Any], Sequence[Mapping[str, Any]]],
        measured: Union[Mapping[str, Any], Sequence[Mapping[str, Any]]],
        method: Optional[str] = None,
        evaluations: Optional[int] = None,
        tolerance: Optional[float] = None,
        **more: Any,
    ) -> Sweep:
        """Search for the parameter values with which the scene matches measurements.

        parameters: {"/materials/m/young": (1e4, 1e6)}, each JSON pointer with its lower and upper
        bound, or a dict such as {"min": 1e4, "max": 1e6, "scale": "log"}. measured: {"tip":
        points}, each probe with its points (time, value), or a list of series as the daemon takes
        it. more: as for sweep. The daemon runs the search; `wait()` for it, then read `best` and
        `residuals()`."""
        if isinstance(measured, Mapping):
            measured = [{"probe": name, "points": points} for name, points in measured.items()]
        series = [
            {**s, "points": [[float(x), float(y)] for x, y in s["points"]]} if "points" in s else s
            for s in measured
        ]
        given = {"method": method, "evaluations": evaluations, "tolerance": tolerance}
        options: Dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        fit = {"measured": series, **options}
        if isinstance(parameters, Mapping):
            parameters = {
                path: what if isinstance(what, Mapping) else dict(zip(("min", "max"), what))
                for path, what in parameters.items()
            }
        return self.sweep(scene, parameters, fit=fit, **more)

    def find_sweep(self, sweep_id: str) -> Sweep:
        """A sweep by its id."""
        return Sweep(self._transport, self._transport.json("GET", path_of("sweeps", sweep_id)))

    def sweeps(self, limit: Optional[int] = None) -> Iterator[Sweep]:
        """Sweeps, newest first, at most `limit`."""
        for info in self._pages("sweeps", {}, limit):
            yield Sweep(self._transport, info)

    # ---- comparing ------------------------------------------------------------------------------

    def compare(
        self,
        scene: Scene,
        methods: Union[Sequence[str], Mapping[str, Mapping[str, Any]]],
        folder: Optional[str] = None,
        group: Optional[str] = None,
    ) -> Comparison:
        """Run a scene once with each method, each run as its own session, and compare frames,
        residuals and times.

        methods: names, such as ["auto", "newton"]; or named changes, as merge patches of the scene:
        {"fine": {"time": {"step": 0.001}}}. Methods that do not support the scene are in
        `rejected`; SceneRefused if all of them are. The sessions share a label, "comparison"."""
        ready = self._ready(scene, folder, group)
        if not isinstance(methods, Mapping):
            methods = {name: {"solver": {"method": name}} for name in methods}
        mark = uuid.uuid4().hex[:12]
        sessions: Dict[str, Session] = {}
        rejected: Dict[str, SceneRefused] = {}
        for name, patch in methods.items():
            changed = merged(merged(ready, patch), {"labels": {"comparison": mark}})
            changed["name"] = f"{ready.get('name') or 'scene'}, {name}"
            try:
                sessions[name] = self.submit(changed, group=group)
            except SceneRefused as refused:
                rejected[name] = refused
        if rejected and not sessions:
            raise next(iter(rejected.values()))
        return Comparison(sessions, rejected)

    # ---- meshes ---------------------------------------------------------------------------------

    def upload(
        self, path: "Union[str, os.PathLike[str]]", group: Optional[str] = None
    ) -> Dict[str, Any]:
        """Upload a mesh file: counts, box, quality, groups and fields. A scene names it by
        {"upload": "sha256:" + hash, "format": ...}."""
        from .scene_files import _hash

        mesh: Dict[str, Any] = self._put_mesh(_hash(os.fspath(path)), os.fspath(path), group)
        return mesh

    def _put_mesh(self, digest: str, path: str, group: Optional[str]) -> Any:
        with open(path, "rb") as file:
            headers = {
                "Content-Type": "application/octet-stream",
                "Content-Length": str(os.fstat(file.fileno()).st_size),
            }
            answer = self._transport.request(
                "PUT", path_of("meshes", digest), {"group": group}, file, headers
            )
        return answer.json()

    def _ready(
        self, scene: Scene, folder: Optional[str], group: Optional[str] = None
    ) -> Dict[str, Any]:
        """The scene as posted, after uploading the mesh files that it names."""
        ready = SceneFiles(scene, folder)
        for digest, path in ready.files.items():
            self._upload(digest, path, group)
        return ready.scene

    def _upload(self, digest: str, path: str, group: Optional[str]) -> None:
        try:
            self._transport.request("HEAD", path_of("meshes", digest))
        except NotFound:
            self._put_mesh(digest, path, group)

    def meshes(self) -> Iterator[Dict[str, Any]]:
        """Meshes you hold, directly or through a group."""
        return self._pages("meshes", {})

    def forget_mesh(self, digest: str) -> None:
        """Release a mesh; sessions that use it keep it."""
        self._transport.request("DELETE", path_of("meshes", digest))

    # ---- tokens ---------------------------------------------------------------------------------

    def tokens(self) -> Iterator[Dict[str, Any]]:
        """Your tokens, logins and links, without their secrets; administrators see everybody's."""
        return self._pages("tokens", {})

    def create_token(
        self,
        name: str = "",
        scopes: Optional[Iterable[str]] = None,
        lifetime: Optional[float] = 90 * 86400,
        user: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Create a token that allows no more than this client's: {"token", "id", "expires", ...}.
        The secret is returned only here. scopes: of "read", "submit", "admin", "metrics" (default:
        the first two); lifetime in seconds, None: never expires; user: owner of the token, for
        administrators."""
        body: Dict[str, Any] = {"name": name, "expires_in": int(lifetime or 0)}
        if scopes is not None:
            body["scopes"] = " ".join([scopes] if isinstance(scopes, str) else scopes)
        if user is not None:
            body["user"] = user
        made: Dict[str, Any] = self._transport.json("POST", path_of("tokens"), body)
        return made

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token by its id, and the tokens created with it."""
        self._transport.request("DELETE", path_of("tokens", token_id))

    def login_url(self) -> str:
        """A URL that logs a browser in, valid once and for five minutes."""
        return str(self._transport.json("POST", path_of("login", "codes"))["url"])

    # ---- the daemon -----------------------------------------------------------------------------

    def capabilities(self) -> Dict[str, Any]:
        """Materials, methods, devices, limits, and each parameter with unit, default and range."""
        return self._get("capabilities")

    def version(self) -> Dict[str, Any]:
        return self._get("version")

    def queue(self) -> Dict[str, Any]:
        """Running and waiting sessions; "items" has the waiting sessions you can see."""
        queue = self._get("queue")
        if queue.pop("next", None):
            # Where one of them begins meanwhile, those before it may come again.
            items = self._pages("queue", {})
            queue["items"] = list({session["id"]: session for session in items}.values())
        return queue

    def audit(
        self,
        user: Optional[str] = None,
        target: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[Dict[str, Any]]:
        """The audit log, newest first: your own changes, or everybody's for administrators."""
        return self._pages("audit", {"user": user, "target": target}, limit)

    def devices(self) -> List[Dict[str, Any]]:
        """Cores and GPUs, with their usage."""
        devices: List[Dict[str, Any]] = self._get("devices")["items"]
        return devices

    def usage(
        self,
        by: Optional[str] = None,
        first: Optional[str] = None,
        last: Optional[str] = None,
        user: Optional[str] = None,
        group: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Your usage and limits; with by="user", "group" or "day" also the usage of the machine.
        Days are strings such as "2026-01-31", both included; default: the last 30 days. "items" has
        a row for each user, group or day; "machine" is the total of all users."""
        query = {"by": by, "from": first, "to": last, "user": user, "group": group}
        usage: Dict[str, Any] = self._transport.json("GET", path_of("usage"), query=query)
        return usage

    def usage_csv(
        self,
        by: str = "user",
        first: Optional[str] = None,
        last: Optional[str] = None,
        user: Optional[str] = None,
        group: Optional[str] = None,
    ) -> str:
        """The rows of usage(by=...) as CSV, in seconds and bytes."""
        query = {"by": by, "from": first, "to": last, "user": user, "group": group}
        headers = {"Accept": "text/csv"}
        answer = self._transport.request("GET", path_of("usage"), query, headers=headers)
        return answer.body.decode()

    def usage_spans(
        self, start: Optional[str] = None, end: Optional[str] = None
    ) -> Dict[str, Any]:
        """Use of cores and devices from start to end; default: the last day. Times are strings such
        as "2026-01-31T12:00:00Z". "items" are runs of sessions you can see, "others" the total of
        all other sessions."""
        query = {"from": start, "to": end}
        spans: Dict[str, Any] = self._transport.json("GET", path_of("usage", "spans"), query=query)
        return spans

    def me(self) -> Dict[str, Any]:
        """The authenticated user: user, groups, scopes, limits."""
        return self._get("me")

    def _get(self, what: str) -> Dict[str, Any]:
        document: Dict[str, Any] = self._transport.json("GET", path_of(what))
        return document

    def __repr__(self) -> str:
        return f"<Client of {self.url}>"
