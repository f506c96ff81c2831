"""The client for asyncio: requests are coroutines, streams are async iterators.

    async with pliant.aio.Client() as client:
        session = await client.submit("scene.json")
        async for frame in session.frames():
            ...

Each call, and each stream while its next item is awaited, has a thread of the client's own pool
(`threads`, 32), so that a slow daemon blocks nothing else. Streams read ahead at most `AHEAD`
items. """

from __future__ import annotations

import asyncio
import functools
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import (
    Any,
    AsyncIterator,
    Callable,
    Deque,
    Dict,
    Generic,
    Iterable,
    List,
    Optional,
    Tuple,
    TypeVar,
)

from . import client as _client
from . import compare as _compare
from . import session as _session
from . import sweep as _sweep
from .records import Frame
from .view import View

T = TypeVar("T")
AHEAD = 4


class _Threads:
    def __init__(self, threads: int) -> None:
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="pliant")

    async def call(self, function: Callable[..., T], *args: Any, **named: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.pool, functools.partial(function, *args, **named))


class Stream(AsyncIterator[T], Generic[T]):
    """One of `pliant`'s streams. Close it (or use `async with`) to stop before its end. `reason`,
    `gaps` and `reconnects` are those of the underlying stream."""

    def __init__(self, threads: _Threads, make: Callable[[], Any]) -> None:
        self._threads, self._make = threads, make
        self._source: Any = None
        self._ahead: Deque[Tuple[bool, Any]] = deque()  # (True, item) or (False, error or None)
        self._changed = threading.Condition()
        self._pump: Optional["asyncio.Future[None]"] = None
        self._arrived: Optional[asyncio.Event] = None
        self._closed = False

    def __getattr__(self, name: str) -> Any:
        if name in ("reason", "gaps", "reconnects", "hello", "missed"):
            return getattr(self._source, name, None)
        raise AttributeError(name)

    async def __aenter__(self) -> "Stream[T]":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()

    def _read(self, loop: asyncio.AbstractEventLoop, arrived: asyncio.Event) -> None:
        last: Tuple[bool, Any] = (False, None)
        try:
            self._source = self._make()
            for item in self._source:
                with self._changed:
                    self._changed.wait_for(lambda: len(self._ahead) < AHEAD or self._closed)
                    if self._closed:
                        break
                    self._ahead.append((True, item))
                loop.call_soon_threadsafe(arrived.set)
        except BaseException as error:
            last = (False, error)
        finally:
            if hasattr(self._source, "close"):
                self._source.close()
            with self._changed:
                self._ahead.append(last)
            loop.call_soon_threadsafe(arrived.set)

    async def __anext__(self) -> T:
        if self._pump is None and not self._closed:
            loop = asyncio.get_running_loop()
            self._arrived = asyncio.Event()
            self._pump = loop.run_in_executor(self._threads.pool, self._read, loop, self._arrived)
        while not self._closed and self._arrived is not None:
            with self._changed:
                if self._ahead:
                    good, value = self._ahead.popleft()
                    self._changed.notify()
                    break
                self._arrived.clear()
            await self._arrived.wait()
        else:
            raise StopAsyncIteration
        if good:
            item: T = value
            return item
        self._closed = True
        if value is not None:
            raise value
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the stream; the session continues."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._arrived is not None:
            self._arrived.set()
        if hasattr(self._source, "close"):
            self._source.close()
        if self._pump is not None:
            await asyncio.wait({self._pump})


class Session:
    """`pliant.Session` with coroutines; `info`, `id`, `state`, ... are plain attributes."""

    def __init__(self, threads: _Threads, session: _session.Session) -> None:
        self._threads = threads
        #: The session that does it.
        self.sync = session

    def __getattr__(self, name: str) -> Any:
        if name in ("id", "info", "state", "name", "labels", "over", "last_frame", "failure"):
            return getattr(self.sync, name)
        raise AttributeError(name)

    async def refresh(self) -> "Session":
        await self._threads.call(self.sync.refresh)
        return self

    async def wait(self, timeout: Optional[float] = None, **more: Any) -> "Session":
        await self._threads.call(self.sync.wait, timeout, **more)
        return self

    async def cancel(self) -> None:
        await self._threads.call(self.sync.cancel)

    async def pause(self) -> None:
        await self._threads.call(self.sync.pause)

    async def resume(self) -> None:
        await self._threads.call(self.sync.resume)

    async def step(self, frames: int = 1) -> int:
        return await self._threads.call(self.sync.step, frames)

    async def control(self, change: Any = None, **parts: Any) -> Dict[str, Any]:
        return await self._threads.call(self.sync.control, change, **parts)

    async def branch(self, frame: Any = None, scene: Any = None, **more: Any) -> "Session":
        made = await self._threads.call(self.sync.branch, frame, scene, **more)
        return Session(self._threads, made)

    async def snapshot(self, name: str, frame: Any = None) -> Dict[str, Any]:
        return await self._threads.call(self.sync.snapshot, name, frame)

    async def snapshots(self) -> Any:
        return await self._threads.call(self.sync.snapshots)

    async def delete_snapshot(self, name: str) -> None:
        await self._threads.call(self.sync.delete_snapshot, name)

    async def patch(self, **changes: Any) -> "Session":
        await self._threads.call(self.sync.patch, **changes)
        return self

    async def delete(self) -> None:
        await self._threads.call(self.sync.delete)

    async def scene(self, form: str = "posted") -> Dict[str, Any]:
        return await self._threads.call(self.sync.scene, form)

    async def log(self) -> str:
        return await self._threads.call(self.sync.log)

    async def share(self, name: str = "", **more: Any) -> Dict[str, Any]:
        return await self._threads.call(self.sync.share, name, **more)

    async def links(self) -> List[Dict[str, Any]]:
        return await self._threads.call(self.sync.links)

    async def revoke_link(self, link_id: str) -> None:
        await self._threads.call(self.sync.revoke_link, link_id)

    async def controls(self) -> List[Dict[str, Any]]:
        return await self._threads.call(self.sync.controls)

    async def topology(self) -> _session.Topology:
        """The topology, with its arrays read."""
        topology = self.sync.topology()
        for name in ("document", "triangles", "tets", "surface"):
            await self._threads.call(getattr, topology, name)
        return topology

    async def probes(self, start: int = 0) -> Dict[str, List[Optional[float]]]:
        return await self._threads.call(self.sync.probes, start)

    async def save(self, path: Any, **which: Any) -> int:
        return await self._threads.call(self.sync.save, path, **which)

    async def export(self, path: Any, format: Optional[str] = None, **which: Any) -> int:
        return await self._threads.call(self.sync.export, path, format, **which)

    async def frame(self, number: Any = "latest", **form: Any) -> Frame:
        return await self._threads.call(self.sync.frame, number, **form)

    async def view(self, start: int = 0, **which: Any) -> View:
        return await self._threads.call(self.sync.view, start, **which)

    def frames(self, start: int = 0, **which: Any) -> Stream[Frame]:
        return Stream(self._threads, lambda: self.sync.frames(start, **which))

    def metrics(self, start: int = 0, **which: Any) -> Stream[Dict[str, Any]]:
        return Stream(self._threads, lambda: self.sync.metrics(start, **which))

    def stream(self, start: Optional[int] = None, **which: Any) -> Stream[Tuple[str, Any]]:
        return Stream(self._threads, lambda: self.sync.stream(start, **which))

    def events(self, since: Optional[int] = None) -> Stream[Dict[str, Any]]:
        return Stream(self._threads, lambda: self.sync.events(since))

    def _repr_html_(self) -> str:
        return self.sync._repr_html_()

    def __repr__(self) -> str:
        return repr(self.sync)


class Comparison:
    """`pliant.Comparison` with coroutines; `rejected` and `over` are plain attributes."""

    def __init__(self, threads: _Threads, comparison: _compare.Comparison) -> None:
        self._threads = threads
        #: The comparison that does it.
        self.sync = comparison
        self.sessions = {n: Session(threads, s) for n, s in comparison.sessions.items()}
        self.rejected = comparison.rejected

    @property
    def over(self) -> bool:
        return self.sync.over

    async def wait(self, timeout: Optional[float] = None) -> "Comparison":
        await self._threads.call(self.sync.wait, timeout)
        return self

    async def rows(self) -> List[Dict[str, Any]]:
        return await self._threads.call(self.sync.rows)

    async def to_pandas(self) -> Any:
        return await self._threads.call(self.sync.to_pandas)

    async def cancel(self) -> None:
        await self._threads.call(self.sync.cancel)

    async def delete(self) -> None:
        await self._threads.call(self.sync.delete)


class Sweep:
    """`pliant.Sweep` with coroutines; `info`, `id`, `state`, `counts`, `best`, ... are plain
    attributes."""

    def __init__(self, threads: _Threads, sweep: _sweep.Sweep) -> None:
        self._threads = threads
        #: The sweep that does it.
        self.sync = sweep

    def __getattr__(self, name: str) -> Any:
        if name in ("id", "info", "state", "counts", "warned", "over", "best"):
            return getattr(self.sync, name)
        raise AttributeError(name)

    async def refresh(self) -> "Sweep":
        await self._threads.call(self.sync.refresh)
        return self

    async def wait(self, timeout: Optional[float] = None, poll: float = 0.5) -> "Sweep":
        """Wait until no row waits or runs; TimeoutError after `timeout` seconds."""
        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + timeout
        while not (await self.refresh()).over:
            if end is not None and loop.time() >= end:
                raise TimeoutError(f"sweep {self.id} is still {self.state}")
            await asyncio.sleep(poll)
        return self

    async def cancel(self) -> "Sweep":
        await self._threads.call(self.sync.cancel)
        return self

    async def retry(self) -> "Sweep":
        await self._threads.call(self.sync.retry)
        return self

    async def delete(self, sessions: bool = False) -> None:
        await self._threads.call(self.sync.delete, sessions)

    async def table(self) -> Dict[str, Any]:
        return await self._threads.call(self.sync.table)

    async def rows(self) -> List[Dict[str, Any]]:
        return await self._threads.call(self.sync.rows)

    async def frame(self) -> Any:
        return await self._threads.call(self.sync.frame)

    async def plot(
        self, result: Optional[str] = None, against: Optional[str] = None
    ) -> _sweep.Plot:
        return await self._threads.call(self.sync.plot, result, against)

    async def csv(self) -> str:
        return await self._threads.call(self.sync.csv)

    async def npz(self) -> bytes:
        return await self._threads.call(self.sync.npz)

    async def residuals(self) -> List[Dict[str, Any]]:
        return await self._threads.call(self.sync.residuals)

    async def sessions(self) -> List[Session]:
        found: Iterable[_session.Session] = await self._threads.call(
            lambda: list(self.sync.sessions())
        )
        return [Session(self._threads, s) for s in found]

    def __repr__(self) -> str:
        return repr(self.sync)


class Client:
    """`pliant.Client` with coroutines. Takes the same arguments, and `threads`: the number of calls
    and streams that can wait at once."""

    def __init__(self, *args: Any, threads: int = 32, **named: Any) -> None:
        #: The client that does it.
        self.sync = _client.Client(*args, **named)
        self._threads = _Threads(threads)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close connections and threads; close streams first."""
        self.sync.close()
        await asyncio.get_running_loop().run_in_executor(None, self._threads.pool.shutdown)

    async def submit(self, scene: Any, **more: Any) -> Session:
        return Session(self._threads, await self._threads.call(self.sync.submit, scene, **more))

    async def session(self, session_id: str) -> Session:
        return Session(self._threads, await self._threads.call(self.sync.session, session_id))

    async def sessions(self, **which: Any) -> List[Session]:
        found: Iterable[_session.Session] = await self._threads.call(
            lambda: list(self.sync.sessions(**which))
        )
        return [Session(self._threads, s) for s in found]

    async def sweep(self, scene: Any, *args: Any, **more: Any) -> Sweep:
        sweep = await self._threads.call(self.sync.sweep, scene, *args, **more)
        return Sweep(self._threads, sweep)

    async def fit(self, scene: Any, parameters: Any, measured: Any, **more: Any) -> Sweep:
        fit = await self._threads.call(self.sync.fit, scene, parameters, measured, **more)
        return Sweep(self._threads, fit)

    async def compare(self, scene: Any, methods: Any, **more: Any) -> Comparison:
        made = await self._threads.call(self.sync.compare, scene, methods, **more)
        return Comparison(self._threads, made)

    async def find_sweep(self, sweep_id: str) -> Sweep:
        return Sweep(self._threads, await self._threads.call(self.sync.find_sweep, sweep_id))

    async def sweeps(self, limit: Optional[int] = None) -> List[Sweep]:
        found: Iterable[_sweep.Sweep] = await self._threads.call(
            lambda: list(self.sync.sweeps(limit))
        )
        return [Sweep(self._threads, s) for s in found]

    async def validate(self, scene: Any, **more: Any) -> Dict[str, Any]:
        return await self._threads.call(self.sync.validate, scene, **more)

    async def upload(self, path: Any, **more: Any) -> Dict[str, Any]:
        return await self._threads.call(self.sync.upload, path, **more)

    async def capabilities(self) -> Dict[str, Any]:
        return await self._threads.call(self.sync.capabilities)

    async def version(self) -> Dict[str, Any]:
        return await self._threads.call(self.sync.version)

    async def queue(self) -> Dict[str, Any]:
        return await self._threads.call(self.sync.queue)

    async def tokens(self) -> List[Dict[str, Any]]:
        return await self._threads.call(lambda: list(self.sync.tokens()))

    async def create_token(self, name: str = "", **more: Any) -> Dict[str, Any]:
        return await self._threads.call(self.sync.create_token, name, **more)

    async def revoke_token(self, token_id: str) -> None:
        await self._threads.call(self.sync.revoke_token, token_id)

    async def login_url(self) -> str:
        return await self._threads.call(self.sync.login_url)

    async def audit(self, **which: Any) -> List[Dict[str, Any]]:
        return await self._threads.call(lambda: list(self.sync.audit(**which)))

    async def usage(self, **which: Any) -> Dict[str, Any]:
        return await self._threads.call(lambda: self.sync.usage(**which))

    async def usage_csv(self, **which: Any) -> str:
        return await self._threads.call(lambda: self.sync.usage_csv(**which))

    async def usage_spans(self, **which: Any) -> Dict[str, Any]:
        return await self._threads.call(lambda: self.sync.usage_spans(**which))

    async def devices(self) -> List[Dict[str, Any]]:
        return await self._threads.call(self.sync.devices)

    def events(self, since: Optional[int] = None) -> Stream[Dict[str, Any]]:
        return Stream(self._threads, lambda: self.sync.events(since))
