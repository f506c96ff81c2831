"""A progress bar in the terminal or a notebook's cell."""

from __future__ import annotations

import html
import shutil
import sys
import time
from typing import Any, Iterable, Iterator, Mapping, Optional, TextIO, TypeVar, Union

_EVERY = 0.1  # s between two pictures
T = TypeVar("T")


class Progress:
    """Shows the progress of a session: frame, residual, ms per frame, time left. Redraws one line
    in a terminal, one output in a notebook; elsewhere writes only the last line."""

    def __init__(self, name: str = "", frames: Optional[int] = None, file: Optional[TextIO] = None):
        self.name, self.frames = name, frames
        self._file = file if file is not None else sys.stderr
        self._terminal = bool(getattr(self._file, "isatty", lambda: False)())
        self._display = _notebook_display() if file is None else None
        self._begun = time.monotonic()
        self._drawn = 0.0
        self._first: Optional[int] = None
        self._record: Mapping[str, Any] = {}

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def show(self, record: Mapping[str, Any]) -> None:
        """A metrics record, or a dict with "frame"."""
        self._record = record
        if self._first is None:
            self._first = int(record["frame"])
        now = time.monotonic()
        if now - self._drawn >= _EVERY:
            self._drawn = now
            self._draw(last=False)

    def close(self) -> None:
        if self._record:
            self._draw(last=True)
        self._record = {}

    # ---- the line -------------------------------------------------------------------------------

    @property
    def share(self) -> Optional[float]:
        """Progress from 0 to 1; None for a session without an end."""
        if not self.frames:
            return None
        return min(1.0, int(self._record.get("frame", 0)) / self.frames)

    def line(self) -> str:
        frame = int(self._record.get("frame", 0))
        parts = [f"frame {frame}" + (f"/{self.frames}" if self.frames else "")]
        residual = self._record.get("primal_residual")
        if residual is None:
            residual = self._record.get("gradient_norm")
        if residual is not None:
            parts.append(f"residual {residual:.1e}")
        made = frame - (self._first or 0)
        if made > 0:
            each = (time.monotonic() - self._begun) / made
            parts.append(f"{each * 1e3:.1f} ms a frame")
            if self.frames and frame < self.frames:
                parts.append(f"{_span(each * (self.frames - frame))} left")
        return "  ".join(([self.name] if self.name else []) + parts)

    def _draw(self, last: bool) -> None:
        if self._display is not None:
            self._display.update(_Html(self._html()))
        elif self._terminal:
            width = shutil.get_terminal_size().columns - 1
            text = self.line()
            room = width - len(text) - 3
            if self.share is not None and room >= 8:
                full = round(min(room, 30) * self.share)
                text = f"[{'#' * full}{'.' * (min(room, 30) - full)}] {text}"
            self._file.write("\r\033[K" + text[:width] + ("\n" if last else ""))
            self._file.flush()
        elif last:
            self._file.write(self.line() + "\n")

    def _html(self) -> str:
        share = "" if self.share is None else f' value="{self.share:.4f}"'
        return f"<progress{share} max=1></progress> {html.escape(self.line())}"


class _Html:
    """An object shown as HTML by notebooks and as text elsewhere."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_html_(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return html.unescape(self._text.split("</progress> ")[-1])


def _notebook_display() -> Any:
    """A notebook's updatable display; None outside of notebooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from importlib import import_module

    return import_module("IPython.display").display(_Html(""), display_id=True)


def _span(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"


def progress_of(given: Union[bool, Progress], info: Mapping[str, Any]) -> Progress:
    if isinstance(given, Progress):
        return given
    return Progress(str(info.get("name") or ""), (info.get("progress") or {}).get("frames"))


def progress(items: Iterable[T], frames: Optional[int] = None, name: str = "") -> Iterator[T]:
    """Frames or metrics of a stream, with a progress bar."""
    with Progress(name, frames) as bar:
        for item in items:
            number = getattr(item, "number", None)
            bar.show(item if number is None else {"frame": number})  # type: ignore[arg-type]
            yield item
