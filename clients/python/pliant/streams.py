"""Streams that resume by themselves: after a lost connection they continue with the next frame."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
import warnings
from typing import (
    Any,
    Callable,
    Dict,
    Generic,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Tuple,
    TypeVar,
)

from . import records
from .errors import BrokenStream, Gone, Problem, Unreachable
from .metrics import Metrics
from .records import Frame, Record
from .transport import Opened, Transport

T = TypeVar("T")


class Gap(NamedTuple):
    """Frames first .. last are unavailable; `reason` is a word, such as "corrupt" or "pruned"."""

    first: int
    last: int
    reason: str


class FramesMissing(UserWarning):
    """A stream skipped frames."""


_EVENTS = {records.HELLO: "hello", records.GAP: "gap", records.END: "end"}


class _Cut(Exception):
    pass


class Stream(Generic[T]):
    """An iterator of a session's frames, metrics or both. It ends when the session has ended or
    everything requested has arrived; `reason` then says why. Close it, or use it in a `with`, to
    stop earlier. `patience`: seconds without a connection before it gives up (Unreachable)."""

    _accept = "application/vnd.pliant.frames"

    def __init__(
        self,
        transport: Transport,
        path: str,
        query: Dict[str, Any],
        start: Optional[int] = 0,
        patience: float = 120.0,
        on_gap: Optional[Callable[[Gap], None]] = None,
        skip_pruned: bool = False,
    ) -> None:
        self.hello: Dict[str, Any] = {}
        #: The first frame that is still to come; None: the newest, of a stream not yet begun.
        self.next: Optional[int] = start
        self.gaps: List[Gap] = []
        #: Why it ended: the session's last state, "limit", or "deleted".
        self.reason: Optional[str] = None
        #: How often it was cut and asked for again.
        self.reconnects = 0
        #: The session that it belongs to; its frames get a reference.
        self.session: Any = None
        self._transport, self._path, self._query = transport, path, dict(query)
        self._on_gap, self._skip_pruned = on_gap, skip_pruned
        self._left: Optional[int] = self._query.get("limit")
        self._patience, self._heard, self._pause = patience, time.monotonic(), 0.05
        self._broken = 0
        self._opened: Optional[Opened] = None
        self._closed = threading.Event()

    # ---- as an iterator -------------------------------------------------------------------------

    def __iter__(self) -> "Stream[T]":
        return self

    def __enter__(self) -> "Stream[T]":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_opened", None) is not None:
            self._dispose()

    def close(self) -> None:
        """End the stream; the session continues. Another thread that waits in it gets
        StopIteration."""
        self._closed.set()
        opened = self._opened
        if opened is not None:
            opened.close()

    def __next__(self) -> T:
        while self.reason is None and not self._closed.is_set():
            try:
                if self._opened is None:
                    self._open()
                opened = self._opened
                found, value = (False, None) if opened is None else self._take(opened)
            except (OSError, http.client.HTTPException, _Cut) as error:
                self._cut(error)
                continue
            except BrokenStream:
                # Damaged on its way, perhaps; twice at the same frame is no accident.
                self._broken += 1
                if self._broken > 1:
                    self._dispose()
                    raise
                self._cut(None)
                continue
            except BaseException:
                self._dispose()
                raise
            self._heard, self._pause = time.monotonic(), 0.05
            if found:
                self._broken = 0
                item: T = value
                return item
        self._dispose()
        raise StopIteration

    # ---- opening and losing it ------------------------------------------------------------------

    def _open(self) -> None:
        query = dict(self._query, limit=self._left)
        query["from"] = self.next
        try:
            opened = self._opened = self._transport.open(self._path, query, self._accept)
            if self._closed.is_set():
                opened.close()
            self._transport.begin(opened)
        except Gone as gone:
            first = gone.first_available
            begun = bool(self.hello) or self._skip_pruned
            if first is None or not begun or first <= (self.next or 0):
                raise
            self._gap(Gap(self.next or 0, first - 1, "pruned"))
            raise _Cut() from None
        except Problem as problem:
            if problem.status not in (429, 503):
                raise
            raise _Cut() from problem

    def _dispose(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.dispose()

    def _cut(self, error: Optional[BaseException]) -> None:
        self._dispose()
        if self._closed.is_set():
            return
        refused = not self.hello and not self._transport._met
        hopeless = refused or isinstance(error, ssl.SSLCertVerificationError)
        if hopeless or time.monotonic() - self._heard > self._patience:
            cut = Unreachable("the stream was cut")
            raise self._transport.unreachable(error or cut) from error
        if self.hello:
            self.reconnects += 1
        self._closed.wait(self._pause)
        self._pause = min(self._pause * 2, 8.0)
        self._transport.find_again()

    # ---- what comes -----------------------------------------------------------------------------

    def _take(self, opened: Opened) -> Tuple[bool, Any]:
        """Read the next item: (True, a value), or (False, _) for records the caller does not need.
        """
        record = records.read_record(opened.body)
        if record is None:
            raise _Cut()
        return self._take_record(record)

    def _take_record(self, record: Record) -> Tuple[bool, Any]:
        if record.type == records.FRAME:
            return self._frame(record.frame, lambda: self._frame_of(record))
        self._take_event(_EVENTS.get(record.type, ""), record.json)
        return False, None

    def _frame_of(self, record: Record) -> Frame:
        return Frame(record.frame, record.payload, self.session)

    def _frame(self, number: int, make: Callable[[], Any]) -> Tuple[bool, Any]:
        if self.next is not None and number < self.next:
            return False, None  # never twice, whatever is sent
        value = make()
        self.next = number + 1
        if self._left is not None:
            self._left -= 1
        return True, value

    def _take_event(self, name: str, document: Callable[[], Dict[str, Any]]) -> None:
        if name == "hello":
            self.hello = document()
            if self.next is None:
                self.next = self.hello.get("from")
        elif name == "gap":
            gap = document()
            self._gap(Gap(int(gap["from"]), int(gap["to"]), str(gap.get("reason") or "")))
        elif name == "end":
            reason = str(document().get("reason") or "")
            if reason in ("shutdown", "revoked"):  # another daemon, or another token, may go on
                raise _Cut()
            self.reason = reason

    def _gap(self, gap: Gap) -> None:
        if self.next is not None and gap.last < self.next:
            return
        self.gaps.append(gap)
        self.next = gap.last + 1
        if self._on_gap is not None:
            self._on_gap(gap)
        else:
            warnings.warn(
                f"frames {gap.first} to {gap.last} are missing: {gap.reason}", FramesMissing, 4
            )


class FrameStream(Stream[Frame]):
    """Frames of a session."""


class MetricsStream(Stream[Dict[str, Any]]):
    """Metrics records of a session, as dicts; `read` returns all remaining ones at once."""

    _accept = "application/x-ndjson"

    def read(self) -> Metrics:
        """All remaining records, as a list. Waits for the end of a running session, unless the
        stream was created with follow=False."""
        with self:
            return Metrics(self)

    def to_pandas(self) -> Any:
        """`read()` as a DataFrame, indexed by frame. Needs pandas."""
        return self.read().to_pandas()

    def _take(self, opened: Opened) -> Tuple[bool, Any]:
        line = opened.body.readline()
        if not line.endswith(b"\n"):
            raise _Cut()
        try:
            value: Dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise BrokenStream(f"a line of metrics is not JSON: {error}") from None
        event = value.get("event")
        if event:
            self._take_event(event, lambda: value)
            return False, None
        return self._frame(int(value["frame"]), lambda: value)


class MixedStream(Stream[Tuple[str, Any]]):
    """Pairs ("state", session as a dict), ("frame", Frame) or ("metrics", dict): the newest frames,
    the metrics of all, and each new state. Resumes with the first metrics not yet seen."""

    def _take_record(self, record: Record) -> Tuple[bool, Any]:
        if record.type == records.FRAME:
            return True, ("frame", self._frame_of(record))
        if record.type == records.STATE:
            return True, ("state", record.json())
        if record.type == records.METRICS:
            found, value = self._frame(record.frame, record.json)
            return found, ("metrics", value)
        return super()._take_record(record)


class Events(Iterator[Dict[str, Any]]):
    """Events of sessions, as dicts {"seq", "time", "event", "session"}, by long polls. `missed` is
    set if the daemon dropped some: read the sessions again."""

    def __init__(self, transport: Transport, path: str, since: Optional[int]) -> None:
        self.missed = False
        self._transport, self._path = transport, path
        self._closed = False
        self._opened: Optional[Opened] = None
        self._waiting: List[Dict[str, Any]] = []
        #: The last event that was seen; give it as `since` to go on from there.
        self.next = since if since is not None else self._poll(None, 0)

    def close(self) -> None:
        """End the iteration after events already received; can be called from another thread."""
        self._closed = True
        opened = self._opened
        if opened is not None:
            opened.close()

    def _ask(self, since: Optional[int], wait: int) -> Any:
        if wait:
            # On a connection of its own, that close() can cut.
            try:
                query = {"since": since, "wait": wait}
                opened = self._transport.open(self._path, query, "application/json", wait)
                self._opened = opened
                try:
                    if not self._closed:
                        self._transport.begin(opened)
                        page: Any = json.loads(opened.body.read())
                        return page
                finally:
                    self._opened = None
                    opened.dispose()
            except Problem as problem:
                if problem.status not in (429, 503):
                    raise
            except (OSError, http.client.HTTPException, ValueError):
                pass  # asked for again as every request is
        if self._closed:
            return {"items": [], "next": since}
        return self._transport.request("GET", self._path, {"since": since}).json()

    def _poll(self, since: Optional[int], wait: int) -> int:
        page = self._ask(since, wait)
        self._waiting.extend(page["items"])
        self.missed = self.missed or bool(page.get("missed"))
        return int(page["next"])

    def poll(self, wait: int = 0) -> List[Dict[str, Any]]:
        """New events since the last call, at once or within `wait` seconds (at most 60)."""
        if not self._waiting:
            self.next = self._poll(self.next, wait)
        events, self._waiting = self._waiting, []
        return events

    def __next__(self) -> Dict[str, Any]:
        while not self._waiting:
            if self._closed:
                raise StopIteration
            self.next = self._poll(self.next, 60)
        event: Dict[str, Any] = self._waiting.pop(0)
        return event
