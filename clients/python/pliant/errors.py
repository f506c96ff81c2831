"""What can go wrong, as exceptions: everything raised on purpose is a PliantError."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional


class PliantError(Exception):
    """The base of all of them."""


class Unreachable(PliantError):
    """No daemon answers there, or it went away and stayed away."""


class BrokenStream(PliantError):
    """What came is no record or no JSON: not this protocol, or damaged on its way."""


@dataclass(frozen=True)
class Fault:
    """One mistake in what was sent. `pointer` is a JSON pointer into it."""

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
    """The daemon refused: a problem report (RFC 9457), with every fault that it found."""

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
    """No token or not a good one (401), or it does not allow this (403)."""


class NotFound(Problem):
    """There is no such thing for whoever asks (404)."""


class Gone(Problem):
    """It was there and is not kept (410)."""

    @property
    def first_available(self) -> Optional[int]:
        """The first frame that can still be had, where the daemon said so."""
        value = self.document.get("first_available")
        return value if isinstance(value, int) else None


class SceneRefused(Problem):
    """The scene, or what else was sent, has faults (422); `faults` lists them all."""


class SceneFilesUnreadable(PliantError):
    """Mesh files that a scene names cannot be read here; nothing was sent."""

    def __init__(self, faults: List[Fault]) -> None:
        self.faults = faults
        super().__init__("\n  ".join(["mesh files of the scene"] + [str(f) for f in faults]))


class SessionFailed(PliantError):
    """A session that was waited for did not succeed, or, where that was asked for, has warnings;
    `session` says why."""

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
    """The exception for an answer that is no success."""
    try:
        document = json.loads(body)
    except ValueError:
        document = {"detail": body[:200].decode("utf-8", "replace")}
    if not isinstance(document, dict):
        document = {"detail": str(document)}
    return _KINDS.get(status, Problem)(status, document)
