"""The body of a long reply, read from the socket into its destination: chunks are decoded in one
buffer that fits the processor's cache, so that each byte of a frame is copied once."""

from __future__ import annotations

import http.client
import io
import socket
from typing import Any, Dict, List, Optional

_STAGING = 1 << 18
_UNTIL_CLOSE = 1 << 62


class Body:
    """Reads an HTTP/1.1 reply from a socket. A read returns less than requested, or nothing, at the
    end of the body or connection."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._bytes = bytearray(_STAGING)
        self._view = memoryview(self._bytes)
        self._at = self._end = 0  # what was received and not yet taken
        self._left = 0  # bytes of the chunk, or of the whole where there are no chunks
        self._chunked = False
        self._begun = self._over = False

    def begin(self) -> "tuple[int, Dict[str, str]]":
        """Read the head: status and headers."""
        head = self._line()
        parts = head.split(None, 2)
        if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or not parts[1].isdigit():
            raise http.client.BadStatusLine(repr(head[:80]))
        lines: List[bytes] = []
        while not lines or lines[-1] not in (b"\r\n", b"\n"):
            lines.append(self._line())
        headers = dict(http.client.parse_headers(io.BytesIO(b"".join(lines))))
        self._chunked = headers.get("Transfer-Encoding", "").lower() == "chunked"
        length = headers.get("Content-Length")
        self._left = 0 if self._chunked else int(length) if length else _UNTIL_CLOSE
        return int(parts[1]), headers

    @property
    def whole(self) -> bool:
        """True after the last read if the body is complete."""
        return self._over if self._chunked else self._left in (0, _UNTIL_CLOSE)

    def _receive(self) -> bool:
        """Read more bytes into the buffer; False at the end."""
        if self._at == self._end:
            self._at = self._end = 0
        elif self._end == _STAGING:
            rest = bytes(self._view[self._at : self._end])
            self._at, self._end = 0, len(rest)
            self._view[: self._end] = rest
        n = self._sock.recv_into(self._view[self._end :])
        self._end += n
        return n > 0

    def _line(self) -> bytes:
        """A line of the head, or a chunk's size line."""
        looked = 0
        while True:
            found = self._bytes.find(b"\n", self._at + looked, self._end)
            if found >= 0:
                line = bytes(self._view[self._at : found + 1])
                self._at = found + 1
                return line
            looked = self._end - self._at
            if looked > 1 << 16:
                raise http.client.LineTooLong("header")
            if not self._receive():
                raise http.client.RemoteDisconnected("the connection was closed")

    def _more(self) -> bool:
        """Advance to the next chunk; False at the end of the body."""
        if not self._chunked or self._over:
            return False
        if self._begun:
            self._line()
        self._begun = True
        line = self._line()
        try:
            self._left = int(line.split(b";", 1)[0], 16)
        except ValueError:
            raise http.client.HTTPException(f"not a chunk size: {line[:40]!r}") from None
        self._over = self._left == 0
        return not self._over

    def _ready(self) -> int:
        """Number of body bytes in the buffer, at least one; 0 at the end."""
        if self._left == 0 and not self._more():
            return 0
        if self._at == self._end and not self._receive():
            return 0
        return min(self._left, self._end - self._at)

    def _took(self, n: int) -> None:
        self._at += n
        self._left -= n

    def readinto(self, view: Any) -> int:
        got, size = 0, len(view)
        while got < size:
            try:
                n = min(self._ready(), size - got)
            except OSError:
                if got == 0:
                    raise
                n = 0  # what came before it is good
            if n == 0:
                break
            view[got : got + n] = self._view[self._at : self._at + n]
            self._took(n)
            got += n
        return got

    def read(self, size: Optional[int] = None) -> bytes:
        if size is not None and size <= min(self._left, self._end - self._at):
            data = bytes(self._view[self._at : self._at + size])
            self._took(size)
            return data
        parts = []
        while size is None or size > 0:
            n = self._ready()
            n = n if size is None else min(n, size)
            if n == 0:
                break
            parts.append(bytes(self._view[self._at : self._at + n]))
            self._took(n)
            size = None if size is None else size - n
        return b"".join(parts)

    def readline(self) -> bytes:
        parts = []
        while True:
            n = self._ready()
            if n == 0:
                break
            found = self._bytes.find(b"\n", self._at, self._at + n)
            n = n if found < 0 else found + 1 - self._at
            parts.append(bytes(self._view[self._at : self._at + n]))
            self._took(n)
            if found >= 0:
                break
        return b"".join(parts)
