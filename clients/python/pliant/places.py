"""Where the daemon is and which token to show: found as the command line finds them."""

from __future__ import annotations

import os
from typing import Optional

from .errors import PliantError

DEFAULT_SERVER = "http://127.0.0.1:8080"


def state_directory(state: Optional[str]) -> Optional[str]:
    if state:
        return os.fspath(state)
    base = os.environ.get("XDG_STATE_HOME")
    if base:
        return os.path.join(base, "pliant")
    home = os.environ.get("HOME")
    return os.path.join(home, ".local", "state", "pliant") if home else None


def _word(path: str) -> Optional[str]:
    try:
        with open(path, encoding="utf-8") as file:
            words = file.read(4096).split()
    except OSError:
        return None
    return words[0] if words else None


def _state_word(state: Optional[str], name: str) -> Optional[str]:
    directory = state_directory(state)
    return _word(os.path.join(directory, name)) if directory else None


def given_server(server: Optional[str], state: Optional[str]) -> Optional[str]:
    """What was said, or the environment says; who names a state means that one."""
    return server or (None if state else os.environ.get("PLIANT_SERVER")) or None


def find_server(server: Optional[str], state: Optional[str]) -> str:
    return given_server(server, state) or _state_word(state, "url") or DEFAULT_SERVER


def find_token(token: Optional[str], state: Optional[str]) -> Optional[str]:
    """None: none found, which a daemon without tokens does not mind."""
    if token:
        return token
    if not state:
        if os.environ.get("PLIANT_TOKEN"):
            return os.environ["PLIANT_TOKEN"]
        path = os.environ.get("PLIANT_TOKEN_FILE")
        if path:
            word = _word(path)
            if not word:
                raise PliantError(f"no token in PLIANT_TOKEN_FILE={path}")
            return word
    return _state_word(state, "token")
