"""Requests: persistent connections, TLS, unix sockets and retries."""

from __future__ import annotations

import http.client
import json
import random
import socket
import ssl
import threading
import time
from typing import Any, BinaryIO, Dict, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

from . import places
from .body import Body
from .errors import Problem, Unreachable, problem_of

Sent = Union[bytes, BinaryIO, None]
Query = Optional[Mapping[str, Any]]
#: Longer than a reader may be left without a heartbeat (15 s).
SILENCE = 40.0
_KEPT = 8


def path_of(*parts: str) -> str:
    return "/v1/" + "/".join(quote(p, safe="") for p in parts)


def with_query(path: str, query: Query) -> str:
    given = {k: _query_text(v) for k, v in (query or {}).items() if v is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Answer:
    """A complete reply."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None

    @property
    def etag(self) -> Optional[str]:
        return self.headers.get("ETag")


class Opened:
    """A request whose reply is read as it arrives, on its own connection."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._socket = connection.sock
        self.body = Body(connection.sock)

    def close(self) -> None:
        """Close the connection, even from another thread; the reader then sees the end."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def dispose(self) -> None:
        self.close()
        self._connection.close()


class Transport:
    """Thread-safe. `retry_for`: seconds for which rejected (429, 503) and interrupted requests are
    retried."""

    def __init__(
        self,
        server: Optional[str],
        token: Optional[str],
        state: Optional[str],
        timeout: float,
        retry_for: float,
        context: Optional[ssl.SSLContext],
    ) -> None:
        self._token_given, self._state = token, state
        self.url, self.token, self._moves = places.find(server, token, state)
        self.timeout, self.retry_for = timeout, retry_for
        self._context = context
        self._lock = threading.Lock()
        self._kept: List[http.client.HTTPConnection] = []
        self._met = False  # whether a daemon has ever answered here

    # ---- connections ----------------------------------------------------------------------------

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self.url.startswith("unix:"):
            path = self.url[len("unix:") :]
            return _UnixConnection(path[2:] if path.startswith("///") else path, timeout)
        parts = urlsplit(self.url)
        if parts.scheme == "https":
            if self._context is None:
                self._context = ssl.create_default_context()
            return http.client.HTTPSConnection(parts.netloc, timeout=timeout, context=self._context)
        if parts.scheme != "http" or not parts.netloc:
            raise ValueError(f"{self.url!r} is not an address: http://, https:// or unix:PATH")
        return http.client.HTTPConnection(parts.netloc, timeout=timeout)

    def _take(self) -> Tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            if self._kept:
                return self._kept.pop(), True
        return self._connection(self.timeout), False

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._kept) < _KEPT and connection.sock is not None:
                self._kept.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, []
        for connection in kept:
            connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_kept"):
            self.close()

    def find_again(self) -> None:
        """Look up the address in the state directory again: a restarted daemon may have another
        one."""
        if self._moves:
            found = places.find(None, self._token_given, self._state)
            if found.url != self.url:
                self.close()
                self.url, self.token, self._moves = found

    # ---- requests -------------------------------------------------------------------------------

    def _headers(self, extra: Optional[Mapping[str, str]]) -> Dict[str, str]:
        headers = {"User-Agent": "pliant-python/0.1"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        headers.update(extra or {})
        return headers

    def _once(
        self, method: str, target: str, headers: Dict[str, str], body: Sent, wait: float
    ) -> Answer:
        while True:
            connection, reused = self._take()
            try:
                if connection.sock is not None:
                    connection.sock.settimeout(self.timeout + wait)
                else:
                    connection.timeout = self.timeout + wait
                if body is not None and not isinstance(body, bytes):
                    body.seek(0)
                connection.request(method, target, body, headers)
                response = connection.getresponse()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                connection.close()
                # A kept connection that the daemon closed meanwhile says nothing about the request.
                if reused and (method in ("GET", "PUT", "DELETE", "HEAD")):
                    continue
                raise
            except BaseException:
                connection.close()
                raise
            try:
                data = response.read()
            except BaseException:
                connection.close()
                raise
            self._met = True
            if response.will_close:
                connection.close()
            else:
                self._keep(connection)
            return Answer(response.status, dict(response.headers), data)

    def request(
        self,
        method: str,
        path: str,
        query: Query = None,
        body: Sent = None,
        headers: Optional[Mapping[str, str]] = None,
        wait: float = 0.0,
        again: Optional[bool] = None,
    ) -> Answer:
        """Send a request and read its reply. Retries for `retry_for` seconds if the daemon is busy
        and, with `again` (default: for requests that are safe to repeat), if the connection is
        lost."""
        target = with_query(path, query)
        if again is None:
            again = method in ("GET", "PUT", "DELETE", "HEAD")
        given_up = time.monotonic() + self.retry_for + wait
        pause = 0.25
        while True:
            try:
                answer = self._once(method, target, self._headers(headers), body, wait)
            except (OSError, http.client.HTTPException) as error:
                refused = isinstance(error, (ConnectionRefusedError, FileNotFoundError))
                last = not self._met or not (again or refused)
                last = last or time.monotonic() + pause > given_up
                if last or isinstance(error, ssl.SSLCertVerificationError):
                    raise self.unreachable(error) from error
                self.find_again()
                delay = pause
            else:
                if answer.status < 300 or answer.status == 304:
                    return answer
                problem = problem_of(answer.status, answer.body)
                delay = _retry_after(answer, pause)
                if not _passes(answer, problem) or time.monotonic() + delay > given_up:
                    raise problem
            time.sleep(delay * random.uniform(0.8, 1.0) if delay == pause else delay)
            pause = min(pause * 2, 8.0)

    def unreachable(self, error: BaseException) -> Unreachable:
        hint = "" if self._met else "; is pliantd running there?"
        return Unreachable(f"cannot reach {self.url}: {error}{hint}")

    def json(self, method: str, path: str, value: Any = None, **more: Any) -> Any:
        headers = dict(more.pop("headers", None) or {})
        body = None
        if value is not None:
            headers.setdefault("Content-Type", "application/json")
            body = json.dumps(value, allow_nan=False).encode()
        return self.request(method, path, body=body, headers=headers, **more).json()

    def open(
        self,
        path: str,
        query: Query,
        accept: str,
        wait: float = 0.0,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Opened:
        """Prepare a request whose reply is read as it arrives; call `begin` next."""
        connection = self._connection(SILENCE + wait)
        sent = self._headers({"Accept": accept, "Connection": "close", **(headers or {})})
        try:
            connection.connect()
            connection.putrequest("GET", with_query(path, query), skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders()
        except BaseException:
            connection.close()
            raise
        return Opened(connection)

    def begin(self, opened: Opened) -> Dict[str, str]:
        """Wait for the headers of the reply; an error reply raises Problem."""
        status, headers = opened.body.begin()
        self._met = True
        if status >= 300:
            raise problem_of(status, opened.body.read())
        return headers


def _passes(answer: Answer, problem: Problem) -> bool:
    """True if a later attempt may succeed."""
    return answer.status in (429, 503) or (answer.status == 409 and problem.code == "in_progress")


def _retry_after(answer: Answer, default: float) -> float:
    try:
        return max(float(answer.headers.get("Retry-After") or default), 0.05)
    except ValueError:
        return default
