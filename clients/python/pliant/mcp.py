"""A server of the Model Context Protocol (revision 2025-06-18) on standard input and output: agents
submit scenes to a Pliant daemon, follow them, look at them and compare them.

    python3 -m pliant.mcp [--server URL] [--folder DIR] [--program PATH]

Messages are JSON-RPC 2.0, one a line. Each call of a tool has a thread of its own, so a call that
waits holds up no other. A line that is no request gets no reply, because a reply needs its ID; a
note on standard error says why. `mcp_tools.py` has the tools.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import traceback
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, Mapping, Optional, Union

from .mcp_tools import INSTRUCTIONS, Call, Tools

VERSION = "2025-06-18"
LINE_MOST = 32 << 20  # bytes; a scene with an inline mesh of a million vertices
CALLS_MOST = 32
_PATIENCE = 10.0  # s for calls in flight when the input ends
_PARSE, _REQUEST, _METHOD, _PARAMS, _INTERNAL = -32700, -32600, -32601, -32602, -32603
Id = Union[str, int]


class Fault(Exception):
    """A request with a protocol error as its reply."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _read(line: bytes) -> Any:
    return json.loads(line.decode("utf-8"), parse_constant=_no_constant)


class Server:
    """Answers requests from `source` on `sink` until `source` ends."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, tools: Tools) -> None:
        self._source, self._sink, self._tools = source, sink, tools
        self._writing = threading.Lock()
        self._calls: Dict[Id, Call] = {}
        self._threads: List[threading.Thread] = []
        self._changing = threading.Lock()
        self._methods: Dict[str, Callable[[Mapping[str, Any]], Dict[str, Any]]] = {
            "initialize": self._initialize,
            "ping": lambda params: {},
            "tools/list": lambda params: {"tools": self._tools.describe()},
        }

    def run(self) -> None:
        for line in self._lines():
            self._take(line)
        with self._changing:
            calls, threads = list(self._calls.values()), list(self._threads)
        for call in calls:
            call.stop.set()
        for thread in threads:
            thread.join(_PATIENCE)
        with self._writing:
            self._sink.close()

    # ---- lines ----------------------------------------------------------------------------------

    def _lines(self) -> Iterator[bytes]:
        while True:
            line = self._source.readline(LINE_MOST)
            if not line:
                return
            if line.endswith(b"\n") or len(line) < LINE_MOST:
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = self._source.readline(LINE_MOST)
            self._note(f"a line of more than {LINE_MOST} bytes is ignored")

    def _note(self, text: str) -> None:
        print(f"pliant.mcp: {text}", file=sys.stderr, flush=True)

    def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        with self._writing:
            try:
                self._sink.write(line)
                self._sink.flush()
            except (OSError, ValueError):
                pass  # the client is gone; the end of the input follows

    # ---- messages -------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = _read(line)
        except (ValueError, RecursionError) as error:
            self._note(f"a line that is not JSON is ignored: {error}")
            return
        if not isinstance(message, dict):
            self._note("a message that is not JSON object is ignored")
        elif "id" not in message:
            self._notified(message)
        elif isinstance(message["id"], bool) or not isinstance(message["id"], (str, int)):
            self._note("a request whose ID is neither a string nor an integer is ignored")
        elif "method" in message or not ("result" in message or "error" in message):
            self._answer(message["id"], message)

    def _answer(self, number: Id, message: Mapping[str, Any]) -> None:
        try:
            result = self._request(number, message)
        except Fault as fault:
            self._send({"id": number, "error": {"code": fault.code, "message": str(fault)}})
            return
        if result is not None:
            self._send({"id": number, "result": result})

    def _request(self, number: Id, message: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        """The result; None if it follows later."""
        name, params = message.get("method"), message.get("params", {})
        if message.get("jsonrpc") != "2.0" or not isinstance(name, str):
            raise Fault(_REQUEST, 'a request has "jsonrpc": "2.0" and a "method"')
        if not isinstance(params, dict):
            raise Fault(_PARAMS, '"params" is not an object')
        if name == "tools/call":
            self._call(number, params)
            return None
        if name not in self._methods:
            raise Fault(_METHOD, f"no method {name!r}")
        return self._methods[name](params)

    def _initialize(self, params: Mapping[str, Any]) -> Dict[str, Any]:
        if not isinstance(params.get("protocolVersion"), str):
            raise Fault(_PARAMS, '"protocolVersion" is missing')
        from . import __version__

        return {
            "protocolVersion": VERSION,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "pliant", "title": "Pliant", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    def _notified(self, message: Mapping[str, Any]) -> None:
        params = message.get("params")
        if message.get("method") != "notifications/cancelled" or not isinstance(params, dict):
            return
        number = params.get("requestId")
        with self._changing:
            call = self._calls.get(number) if isinstance(number, (str, int)) else None
        if call is not None:
            call.cancelled = True
            call.stop.set()

    # ---- calls of tools -------------------------------------------------------------------------

    def _call(self, number: Id, params: Mapping[str, Any]) -> None:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or name not in self._tools.names:
            raise Fault(_PARAMS, f"no tool {name!r}; there are {', '.join(self._tools.names)}")
        if not isinstance(arguments, dict):
            raise Fault(_PARAMS, '"arguments" is not an object')
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        call = Call(lambda done, total: self._progress(token, done, total))
        with self._changing:
            if number in self._calls:
                raise Fault(_REQUEST, f"request {number!r} is still in flight")
            if len(self._calls) >= CALLS_MOST:
                raise Fault(_INTERNAL, f"{CALLS_MOST} calls are in flight: try again later")
            self._calls[number] = call
            thread = threading.Thread(
                target=self._work, args=(number, call, name, arguments), daemon=True
            )
            self._threads = [t for t in self._threads if t.is_alive()] + [thread]
            thread.start()

    def _work(self, number: Id, call: Call, name: str, arguments: Dict[str, Any]) -> None:
        try:
            result = self._tools.call(name, arguments, call)
            answer = {"id": number, "result": result}
        except Exception as error:  # a mistake of ours: the server goes on
            self._note(traceback.format_exc())
            text = f"{type(error).__name__}: {error}"
            answer = {"id": number, "error": {"code": _INTERNAL, "message": text}}
        with self._changing:
            del self._calls[number]
        if not call.cancelled:
            self._send(answer)

    def _progress(self, token: Any, done: float, total: Optional[float]) -> None:
        if isinstance(token, bool) or not isinstance(token, (str, int)):
            return  # the client did not ask for it
        params = {"progressToken": token, "progress": done}
        if total is not None:
            params["total"] = total
        self._send({"method": "notifications/progress", "params": params})


def main(words: Optional[List[str]] = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python3 -m pliant.mcp",
        description="Serves the Model Context Protocol on standard input and output, for agents.",
    )
    parser.add_argument("--server", help="URL or name of the daemon (found as by `pliant`)")
    parser.add_argument("--state", help="state directory of the daemon, for its URL and token")
    parser.add_argument(
        "--folder",
        default=".",
        help="only folder whose scenes and meshes are read (the current one)",
    )
    parser.add_argument("--program", help="path of `pliant`, which draws pictures (from PATH)")
    given = parser.parse_args(words)
    # Anything else that writes to standard output would break the protocol.
    sink = open(os.dup(1), "wb")
    os.dup2(2, 1)
    tools = Tools(given.server, given.state, given.folder, given.program)
    try:
        Server(sys.stdin.buffer, sink, tools).run()
    except KeyboardInterrupt:
        pass
    finally:
        tools.close()


if __name__ == "__main__":
    main()
