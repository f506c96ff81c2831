"""Metrics of a session as a list, as columns, or as a DataFrame of pandas."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from . import notebook
from .errors import PliantError


def pandas_frame(rows: Any, instead: str, columns: Optional[List[str]] = None) -> Any:
    """A DataFrame; PliantError if pandas is missing."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise PliantError(f"pandas is not installed: use {instead}") from None
    return pandas.DataFrame(rows, columns=columns)


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[Tuple[str, Any]]:
    """Numbers by path, such as "energy/kinetic" or "momentum/linear/1", named as in sweeps. Lists
    whose length varies between frames are omitted."""
    for key, value in record.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, path + "/")
        elif not isinstance(value, list):
            yield path, value
        elif len(value) == 3 and not any(isinstance(part, (dict, list)) for part in value):
            yield from ((f"{path}/{i}", part) for i, part in enumerate(value))


class Metrics(List[Dict[str, Any]]):
    """Metrics records, a dict for each frame; notebooks show curves and a table."""

    def columns(self) -> Dict[str, List[Any]]:
        """A list for each number, by paths such as "energy/kinetic"; None where a value is missing.
        """
        columns: Dict[str, List[Any]] = {}
        for i, record in enumerate(self):
            for path, value in _flat(record):
                columns.setdefault(path, [None] * i).append(value)
            for values in columns.values():
                values.extend([None] * (i + 1 - len(values)))
        return columns

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each frame, indexed by frame. Needs pandas."""
        frame = pandas_frame(self.columns(), "columns()")
        return frame.set_index("frame") if len(self) else frame

    def _repr_html_(self) -> str:
        return notebook.metrics(self.columns())

    def __repr__(self) -> str:
        numbers = f": frames {self[0]['frame']} to {self[-1]['frame']}" if self else ""
        return f"<Metrics of {len(self)} frames{numbers}>"
