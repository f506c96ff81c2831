"""The daemon's address and token, found like those of the command line."""

from __future__ import annotations

import os
import re
from typing import Dict, NamedTuple, Optional
from urllib.parse import urlsplit

from .errors import PliantError

DEFAULT_SERVER = "http://127.0.0.1:8080"


class Place(NamedTuple):
    """A daemon's address, its token, and whether a restarted daemon may have another address."""

    url: str
    token: Optional[str]
    moves: bool


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


# ---- named servers ------------------------------------------------------------------------------


def configuration() -> Optional[str]:
    """The file of named servers, which `pliant server` writes."""
    given = os.environ.get("PLIANT_CONFIG")
    if given:
        return given
    base, home = os.environ.get("XDG_CONFIG_HOME"), os.environ.get("HOME")
    if base:
        return os.path.join(base, "pliant", "config")
    return os.path.join(home, ".config", "pliant", "config") if home else None


def _sections() -> Dict[str, Dict[str, str]]:
    """The settings of each named server; under "" those before the first name."""
    path = configuration()
    found: Dict[str, Dict[str, str]] = {"": {}}
    try:
        with open(path or "", encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return found
    except OSError as error:
        raise PliantError(f"{path}: {error.strerror}") from None
    now = found[""]
    for number, line in enumerate(map(str.strip, lines), 1):
        section = re.fullmatch(r"\[\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*\]", line)
        key, equals, value = line.partition("=")
        if section:
            now = found.setdefault(section[1], {})
        elif equals and value.strip():
            now[key.strip()] = value.strip()
        elif line and not line.startswith("#"):
            known = "[NAME], url = ..., token-file = ..."
            raise PliantError(f"{path}: line {number} is none of {known}")
    return found


def _token_of(path: str) -> str:
    try:
        others = os.stat(path).st_mode & 0o077
    except OSError as error:
        raise PliantError(f"{path}: {error.strerror}") from None
    if others:
        raise PliantError(f"{path}: other users can read this token: chmod 600")
    word = _word(path)
    if not word:
        raise PliantError(f"{path}: no token in it")
    return word


# ---- the one that is meant ----------------------------------------------------------------------


def _is_here(url: str) -> bool:
    if url.startswith("unix:"):
        return True
    parts = urlsplit(url)
    host = parts.hostname or ""
    local = host in ("localhost", "::1") or re.fullmatch(r"127\.[0-9.]+", host) is not None
    return local and "@" not in parts.netloc


def _find_token(given: Optional[str], state: Optional[str], own: bool) -> Optional[str]:
    """The token, or None if none is found (enough for daemons without tokens). `own`: allow the
    state directory's token, for a daemon on this machine."""
    if given:
        return given
    if not state:
        if os.environ.get("PLIANT_TOKEN"):
            return os.environ["PLIANT_TOKEN"]
        path = os.environ.get("PLIANT_TOKEN_FILE")
        if path:
            word = _word(path)
            if not word:
                raise PliantError(f"no token in PLIANT_TOKEN_FILE={path}")
            return word
    return _state_word(state, "token") if own else None


def find(server: Optional[str], token: Optional[str], state: Optional[str]) -> Place:
    """The daemon to use: an address or name, the environment's, the default of the named servers,
    or that of the state directory; an explicit state directory takes precedence."""
    given = server or (None if state else os.environ.get("PLIANT_SERVER")) or None
    named = _sections()
    name = given or (None if state else named[""].get("default"))
    if name and not re.search("[:/]", name):
        if "url" not in named.get(name, {}):
            raise PliantError(f"no server {name!r} in {configuration()}")
        said = named[name]
        if said.get("token-file") and not token:
            return Place(said["url"], _token_of(said["token-file"]), False)
        return Place(said["url"], _find_token(token, state, False), False)
    if given:
        return Place(given, _find_token(token, state, bool(state) or _is_here(given)), False)
    url = _state_word(state, "url") or DEFAULT_SERVER
    return Place(url, _find_token(token, state, True), True)
