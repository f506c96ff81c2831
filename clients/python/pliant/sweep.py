"""Many sessions that differ in parameters, submitted as one."""

from __future__ import annotations

import time
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from . import notebook
from .errors import PliantError
from .metrics import pandas_frame
from .session import Session
from .transport import Transport, path_of


def _rows(table: Mapping[str, Any]) -> List[Dict[str, Any]]:
    return [
        {
            **{key: item[key] for key in ("row", "session", "state")},
            "warnings": " ".join(warning["code"] for warning in item["warnings"]),
            **dict(zip(table["parameters"], item["values"])),
            **dict(zip(table["results"], item["results"])),
        }
        for item in table["items"]
    ]


class Plot:
    """A picture of a sweep's rows, for notebooks. `lines` has its points (x, y): a list for each
    combination of the other parameters."""

    def __init__(self, result: str, against: str, lines: Dict[str, List[Tuple[Any, Any]]]) -> None:
        self.result, self.against, self.lines = result, against, lines

    def _repr_html_(self) -> str:
        return notebook.plot(self.result, self.against, self.lines)

    def __repr__(self) -> str:
        return f"<Plot {self.result} over {self.against}, {len(self.lines)} lines>"


def _known(kind: str, name: Optional[str], names: List[str]) -> str:
    if name is None and names:
        return names[0]
    if name not in names:
        raise PliantError(f"no {kind} {name!r}; the sweep has {', '.join(names) or 'none'}")
    return str(name)


def _numeric(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Sweep:
    """A sweep of a daemon; `info` is its latest known document."""

    info: Dict[str, Any]
    id: str

    def __init__(self, transport: Transport, info: Mapping[str, Any]) -> None:
        self._transport, self.info, self.id = transport, dict(info), info["id"]

    @property
    def state(self) -> str:
        """State: running, done, cancelling, cancelled or stopped, as of the last refresh."""
        return str(self.info["state"])

    @property
    def counts(self) -> Dict[str, int]:
        """Number of rows in each state, as of the last refresh."""
        return dict(self.info["counts"])

    @property
    def warned(self) -> int:
        """Number of rows that succeeded with warnings, as of the last refresh."""
        return int(self.info.get("warned", 0))

    @property
    def over(self) -> bool:
        return self.state not in ("running", "cancelling")

    def refresh(self) -> "Sweep":
        self.info = self._transport.json("GET", path_of("sweeps", self.id))
        return self

    def wait(self, timeout: Optional[float] = None, poll: float = 0.5) -> "Sweep":
        """Wait until no row waits or runs; TimeoutError after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self.refresh().over:
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"sweep {self.id} is still {self.state}")
            time.sleep(poll)
        return self

    def cancel(self) -> "Sweep":
        """Start no more rows, and cancel running ones."""
        return self._post("cancel")

    def retry(self) -> "Sweep":
        """Run the rows that did not succeed again, as new sessions."""
        return self._post("retry")

    def _post(self, verb: str) -> "Sweep":
        self.info = self._transport.json("POST", path_of("sweeps", self.id, verb), again=True)
        return self

    def delete(self, sessions: bool = False) -> None:
        """Remove it; with `sessions` also its sessions, which otherwise stay."""
        query = {"sessions": "true"} if sessions else {}
        self._transport.request("DELETE", path_of("sweeps", self.id), query)

    def table(self) -> Dict[str, Any]:
        """The daemon's table: "parameters", "results" (names) and "items", the rows."""
        table: Dict[str, Any] = self._transport.json("GET", path_of("sweeps", self.id, "results"))
        return table

    def rows(self) -> List[Dict[str, Any]]:
        """A dict for each row: row, session, state, warnings (codes), parameters and results."""
        return _rows(self.table())

    def frame(self) -> Any:
        """The table as a pandas DataFrame, indexed by row. Needs pandas."""
        table = self.table()
        columns = ["row", "session", "state", "warnings", *table["parameters"], *table["results"]]
        frame = pandas_frame(_rows(table), "rows() or csv()", columns)
        for name in table["results"]:
            frame[name] = frame[name].astype(float)
        return frame.set_index("row")

    def plot(self, result: Optional[str] = None, against: Optional[str] = None) -> Plot:
        """Draw a result over a parameter, by their names in the table (default: the first result
        over the first numeric parameter). Rows without the result are omitted."""
        table = self.table()
        rows, names = _rows(table), table["parameters"]
        numbers = [n for n in names if rows and all(_numeric(row[n]) for row in rows)]
        result = _known("result", result, table["results"])
        if against is not None and against not in numbers:
            against = against.removeprefix("/")  # the name of a column is its path without it
        against = _known("parameter of numbers", against, numbers)
        lines: Dict[str, List[Tuple[Any, Any]]] = {}
        for row in rows:
            if row[result] is not None:
                words = [f"{n}={notebook.text_of(row[n])}" for n in names if n != against]
                lines.setdefault(", ".join(words) or result, []).append((row[against], row[result]))
        return Plot(result, against, {name: sorted(line) for name, line in lines.items()})

    def csv(self) -> str:
        """The table as CSV."""
        return self._table("csv").decode()

    def npz(self) -> bytes:
        """The table as an NPZ file: an array for each column."""
        return self._table("npz")

    def _table(self, form: str) -> bytes:
        query = {"format": form}
        path = path_of("sweeps", self.id, "results")
        return bytes(self._transport.request("GET", path, query, headers={"Accept": "*/*"}).body)

    @property
    def best(self) -> Optional[Dict[str, Any]]:
        """Best run of a fit as last read: row, session, misfit, and the parameter values by name;
        None before a run has succeeded."""
        best = (self.info.get("fit") or {}).get("best")
        if best is None:
            return None
        names = [column["name"] for column in self.info["parameters"]]
        return {**best, "values": dict(zip(names, best["values"]))}

    def residuals(self) -> List[Dict[str, Any]]:
        """Residuals of a fit: a dict for each series with name, against and points, each with the
        measured x and y, the best run's value and their difference."""
        path = path_of("sweeps", self.id, "residuals")
        series: List[Dict[str, Any]] = self._transport.json("GET", path)["series"]
        return series

    def sessions(self) -> Iterator[Session]:
        """The newest session of each row that has one, by row."""
        for item in self.table()["items"]:
            if item["session"]:
                document = self._transport.json("GET", path_of("sessions", item["session"]))
                yield Session(self._transport, document)

    def _repr_html_(self) -> str:
        rows = self.rows()
        heads = list(rows[0]) if rows else []
        return notebook.table(heads, ([row[head] for head in heads] for row in rows))

    def __repr__(self) -> str:
        return f"<Sweep {self.id[:8]} {self.state}>"
