"""Runs of one scene with several methods, side by side."""

from __future__ import annotations

import math
import time
from typing import Any, Dict, Iterator, List, Mapping, Optional

from . import notebook
from .errors import SceneRefused
from .metrics import Metrics, pandas_frame
from .session import Session

_HEADS = {
    "method": "method",
    "state": "state",
    "frames": "frames",
    "unconverged": "unconverged",
    "iterations": "iterations a frame",
    "residual": "worst residual",
    "seconds": "seconds",
    "ms_per_frame": "ms a frame",
    "difference": "difference, m",
    "warnings": "warnings",
}


def merged(value: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7396)."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(value) if isinstance(value, Mapping) else {}
    for key, part in patch.items():
        if part is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), part)
    return result


def _mean(values: List[Any]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _measured(metrics: Metrics) -> Dict[str, Any]:
    """Numbers of a run, without frame 0, the initial state."""
    columns = Metrics(record for record in metrics if record["frame"] > 0).columns()
    steps = columns.get("ms/step", [])
    residuals = [value for value in columns.get("gradient_norm", []) if value is not None]
    each = _mean(steps)
    return {
        "frames": len(columns.get("frame", [])),
        "unconverged": sum(1 for value in columns.get("unconverged", []) if value),
        "iterations": _mean(columns.get("iterations", [])),
        "residual": max(residuals) if residuals else None,
        "seconds": None if each is None else sum(v for v in steps if v is not None) / 1e3,
        "ms_per_frame": each,
    }


def _distance(a: Any, b: Any) -> float:
    """The largest distance between two frames' vertices, in m."""
    pairs = zip(a.positions.tolist(), b.positions.tolist())
    return max((math.dist(place, other) for place, other in pairs), default=0.0)


class Comparison:
    """Sessions of one scene, by method or name of the change (`Client.compare`); notebooks show a
    table. `rejected`: methods that do not support the scene, with the reason."""

    def __init__(
        self, sessions: Mapping[str, Session], rejected: Mapping[str, SceneRefused]
    ) -> None:
        self.sessions: Dict[str, Session] = dict(sessions)
        self.rejected: Dict[str, SceneRefused] = dict(rejected)

    def __iter__(self) -> Iterator[Session]:
        return iter(self.sessions.values())

    @property
    def over(self) -> bool:
        """True if all sessions had ended at the last refresh."""
        return all(session.over for session in self)

    def refresh(self) -> "Comparison":
        for session in self:
            session.refresh()
        return self

    def wait(self, timeout: Optional[float] = None) -> "Comparison":
        """Wait until all have ended; TimeoutError after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        for session in self:
            session.wait(None if end is None else max(0.0, end - time.monotonic()))
        return self

    def cancel(self) -> None:
        """Cancel the sessions that still run; their frames are kept."""
        for session in self:
            if not session.refresh().over:
                session.cancel()

    def delete(self) -> None:
        """Remove the sessions with their data."""
        for session in self:
            session.delete()

    def rows(self) -> List[Dict[str, Any]]:
        """A dict for each method: state, frames, unconverged (frames), iterations (per frame),
        residual (the largest gradient norm), seconds, ms_per_frame, difference (m, the largest
        distance from the first method's vertices at the last common frame), warnings (codes; for
        rejected methods the reasons in short), session (its id)."""
        self.refresh()
        apart = self._differences()
        rows = []
        for name, session in self.sessions.items():
            stream = session.metrics(follow=False, on_gap=lambda gap: None, skip_pruned=True)
            rows.append(
                {
                    "method": name,
                    "state": session.state,
                    **_measured(stream.read()),
                    "difference": apart.get(name),
                    "warnings": " ".join(warning["code"] for warning in session.warnings),
                    "session": session.id,
                }
            )
        for name, rejection in self.rejected.items():
            rows.append({**dict.fromkeys(rows[0]), "method": name, "state": "rejected"})
            got = (f"{fault.code}: {fault.got}" for fault in rejection.faults)
            rows[-1]["warnings"] = "; ".join(got) or rejection.title
        return rows

    def _differences(self) -> Dict[str, float]:
        lasts = [session.last_frame for session in self]
        if None in lasts or not lasts:
            return {}
        number = min(last for last in lasts if last is not None)
        frames = {name: session.frame(number) for name, session in self.sessions.items()}
        first = next(iter(frames.values()))
        return {name: _distance(frame, first) for name, frame in frames.items()}

    def to_pandas(self) -> Any:
        """The rows as a DataFrame, indexed by method. Needs pandas."""
        rows = self.rows()
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        return pandas_frame(columns, "rows()").set_index("method")

    def _repr_html_(self) -> str:
        rows = self.rows()
        return notebook.table(list(_HEADS.values()), ([row[k] for k in _HEADS] for row in rows))

    def __repr__(self) -> str:
        states = ", ".join(f"{name} {session.state}" for name, session in self.sessions.items())
        return f"<Comparison: {states}>"
