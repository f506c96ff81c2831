"""Exceptions: everything raised on purpose is a PliantError."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional


class PliantError(Exception):
    """Base of all exceptions of this package."""


class Unreachable(PliantError):
    """The daemon cannot be reached, or was lost and did not return."""


class BrokenStream(PliantError):
    """The reply is not a valid record or JSON: another protocol, or damaged in transit."""


@dataclass(frozen=True)
class Fault:
    """One mistake in a request. `pointer` is a JSON pointer into the request's body."""

    pointer: str
    code: str
    got: str = ""
    expected: str = ""
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.pointer or '/'}: {self.code}"
        if self.expected:
            text += f": expected {self.expected}"
        if self.got:
            text += f", got {self.got}"
        return f"{text} ({self.hint})" if self.hint else text


class Problem(PliantError):
    """The daemon rejected the request: a problem report (RFC 9457), with every fault found."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.document: Dict[str, Any] = dict(document)
        self.title = str(document.get("title") or f"status {status}")
        self.detail = str(document.get("detail") or "")
        #: The last part of the problem's type: a word to compare with, such as "invalid_scene".
        self.code = str(document.get("type") or "").rsplit("/", 1)[-1]
        self.faults: List[Fault] = [
            Fault(*(str(f.get(k) or "") for k in ("pointer", "code", "got", "expected", "hint")))
            for f in document.get("faults") or []
            if isinstance(f, dict)
        ]
        lines = [f"{self.title} ({status})" + (f": {self.detail}" if self.detail else "")]
        super().__init__("\n  ".join(lines + [str(f) for f in self.faults]))


class Unauthorised(Problem):
    """The token is missing or invalid (401), or does not allow the request (403)."""


class NotFound(Problem):
    """The resource does not exist, or you cannot see it (404)."""


class Gone(Problem):
    """The resource existed but is no longer stored (410)."""

    @property
    def first_available(self) -> Optional[int]:
        """The first frame still available, if the daemon reported it."""
        value = self.document.get("first_available")
        return value if isinstance(value, int) else None


class SceneRefused(Problem):
    """The scene, or another request body, has faults (422); `faults` lists them all."""


class SceneFilesUnreadable(PliantError):
    """Mesh files of a scene cannot be read; nothing was sent."""

    def __init__(self, faults: List[Fault]) -> None:
        self.faults = faults
        super().__init__("\n  ".join(["mesh files of the scene"] + [str(f) for f in faults]))


class SessionFailed(PliantError):
    """A session did not succeed, or has warnings although none were allowed; `session` has the
    details."""

    def __init__(self, session: Mapping[str, Any]) -> None:
        self.session = dict(session)
        failure = session.get("failure") or {}
        words = [f"session {str(session.get('id'))[:8]} {session.get('state')}"]
        words += [str(failure[k]) for k in ("code", "message", "advice") if failure.get(k)]
        for warning in session.get("warnings") or []:
            words.append(f"{warning['code']}: {warning['detail']}")
        super().__init__(": ".join(words))


_KINDS = {401: Unauthorised, 403: Unauthorised, 404: NotFound, 410: Gone, 422: SceneRefused}


def problem_of(status: int, body: bytes) -> Problem:
    """The exception for an error reply."""
    try:
        document = json.loads(body)
    except ValueError:
        document = {"detail": body[:200].decode("utf-8", "replace")}
    if not isinstance(document, dict):
        document = {"detail": str(document)}
    return _KINDS.get(status, Problem)(status, document)
