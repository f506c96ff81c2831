"""HTML shown by notebooks for sessions, frames, metrics, sweeps, comparisons: no scripts."""

from __future__ import annotations

import html
import math
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from .errors import PliantError

_COLOURS = ("#3b82c4", "#d9822b", "#3a9d5d", "#b3549d", "#8a8f98")
_STATES = {"succeeded": "#3a9d5d", "failed": "#d0453b", "rejected": "#d0453b", "paused": "#b7791f"}
_AMBER = "#b7791f"
_WIDTH, _HEIGHT, _LEFT, _POINTS = 328, 120, 60, 400
Numbers = Sequence[Optional[float]]


def text_of(value: Any) -> str:
    """A value in a table: four digits, empty for None."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    def cell(kind: str, value: Any) -> str:
        side = "right" if isinstance(value, (int, float)) else "left"
        return f'<{kind} style="text-align:{side}">{html.escape(text_of(value))}</{kind}>'

    head = "".join(cell("th", name) for name in heads)
    lines = ("<tr>" + "".join(cell("td", value) for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _coloured(colour: str, text: str) -> str:
    return f'<span style="color:{colour}">{html.escape(text)}</span>'


# ---- a session ----------------------------------------------------------------------------------


def _lines(info: Mapping[str, Any]) -> List[str]:
    """Notes on a session: why it waits or failed, and its warnings."""
    lines = []
    failure = info.get("failure") or {}
    queue = info.get("queue") or {}
    for text in (failure.get("message"), failure.get("advice")):
        if text:
            lines.append(_coloured(_STATES["failed"], str(text)))
    for text in (queue.get("reason"), info.get("message")):
        if text and not failure:
            lines.append(html.escape(str(text)))
    for warning in info.get("warnings") or []:
        lines.append(_coloured(_AMBER, f"{warning['code']}: {warning['detail']}"))
    return lines


def session(info: Mapping[str, Any]) -> str:
    progress = info.get("progress") or {}
    frame, frames = progress.get("frame"), progress.get("frames")
    share = f'<progress max="1" value="{(frame or 0) / frames:.4f}"></progress> ' if frames else ""
    done = "no frame yet"
    if frame is not None:
        done = f"frame {frame}" + (f" of {frames}" if frames else "")
    time = progress.get("time")
    if frame is not None and time is not None:
        done += f", {time:.4g} s simulated"
    state = str(info["state"])
    head = (
        f"<b>{html.escape(str(info.get('name') or 'session'))}</b> "
        f"<code>{html.escape(str(info['id'])[:8])}</code> "
        f"{_coloured(_STATES.get(state, _COLOURS[0]), state)}"
    )
    return "<div>" + "<br>".join([head, share + done] + _lines(info)) + "</div>"


# ---- a frame ------------------------------------------------------------------------------------


def frame(shown: Any) -> str:
    """A frame's numbers and, if its session is known, a view of it."""
    low, high = shown.box()[:3], shown.box()[3:]
    words = [f"{a:.4g} to {b:.4g}" for a, b in zip(low, high)]
    head = ("frame", "time, s", "vertices", "fields", "x, m", "y, m", "z, m")
    row = (shown.number, shown.time, shown.vertices, " ".join(shown.fields), *words)
    text = table(head, [row])
    if shown.session is None:
        return text
    try:
        return text + str(shown.session.view(shown.number, shown.number)._repr_html_())
    except PliantError as error:
        return text + f"<div>not drawn: {html.escape(str(error))}</div>"


# ---- curves -------------------------------------------------------------------------------------


def _scaled(values: Numbers, logarithmic: bool) -> List[Optional[float]]:
    def one(value: Optional[float]) -> Optional[float]:
        if value is None or not math.isfinite(value) or (logarithmic and value <= 0):
            return None
        return math.log10(value) if logarithmic else float(value)

    return [one(value) for value in values]


def _range(lists: Iterable[Numbers]) -> Optional[Tuple[float, float]]:
    known = [value for values in lists for value in values if value is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _path(x: Numbers, y: Numbers, across: Tuple[float, float], along: Tuple[float, float]) -> str:
    """Curves with gaps at missing values."""
    words, pen = [], "M"
    stride = max(1, math.ceil(len(x) / _POINTS))
    for a, b in list(zip(x, y))[::stride]:
        if a is None or b is None:
            pen = "M"
            continue
        left = _LEFT + (_WIDTH - _LEFT - 4) * (a - across[0]) / (across[1] - across[0])
        top = 4 + (_HEIGHT - 24) * (along[1] - b) / (along[1] - along[0])
        words.append(f"{pen}{left:.1f} {top:.1f}")
        pen = "L"
    return "".join(words)


def _wide(values: Numbers) -> bool:
    """True if all are positive and span more than a factor of 30."""
    known = [value for value in values if value is not None]
    return bool(known) and min(known) > 0 and max(known) > 30 * min(known)


def plot(title: str, across: str, lines: Mapping[str, Sequence[Tuple[Any, Any]]]) -> str:
    """Points (x, y) of each line, joined in the order of x; wide ranges get labelled logarithmic
    axes."""
    points = [point for line in lines.values() for point in line]
    if not points:
        return "<div>no values yet</div>"
    x = sorted({point[0] for point in points})
    series = {name: [dict(line).get(value) for value in x] for name, line in lines.items()}
    wide = _wide(x), _wide([point[1] for point in points])
    ways = [name for name, is_wide in zip((across, title), wide) if is_wide]
    note = f" over {across}" + (f" (logarithmic: {', '.join(ways)})" if ways else "")
    return curves(title + note, x, series, wide[1], wide[0], unit="", joined=True)


def curves(title: str, x: Numbers, series: Mapping[str, Numbers], logarithmic: bool = False,
           logarithmic_x: bool = False, unit: str = " s", joined: bool = False) -> str:
    """Curves over time, or over another quantity, as SVG; empty without values. `joined`: connect
    across missing values, with a mark at each existing one."""
    x = _scaled(x, logarithmic_x)
    drawn = {name: _scaled(values, logarithmic) for name, values in series.items()}
    drawn = {name: values for name, values in drawn.items() if any(v is not None for v in values)}
    across, along = _range([x]), _range(drawn.values())
    if across is None or along is None:
        return ""
    paths, names = [], []
    for i, (name, values) in enumerate(drawn.items()):
        colour = _COLOURS[i % len(_COLOURS)]
        at = [k for k in range(len(x)) if not joined or values[k] is not None]
        way = _path([x[k] for k in at], [values[k] for k in at], across, along)
        marks = way.replace("M", "L").split("L")[1:] if joined else []
        paths.append(f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        for left, top in (mark.split() for mark in marks):
            paths.append(f'<circle cx="{left}" cy="{top}" r="2.5" fill="{colour}"/>')
        names.append(_coloured(colour, name))
    ends = [10**value if logarithmic else value for value in along]
    sides = [10**value if logarithmic_x else value for value in across]
    label = '<text x="{x}" y="{y}" text-anchor="{side}">{text}</text>'
    below = _HEIGHT - 4
    texts = [
        label.format(x=_LEFT - 4, y=14, side="end", text=f"{ends[1]:.3g}"),
        label.format(x=_LEFT - 4, y=_HEIGHT - 18, side="end", text=f"{ends[0]:.3g}"),
        label.format(x=_LEFT, y=below, side="start", text=f"{sides[0]:.3g}{unit}"),
        label.format(x=_WIDTH - 4, y=below, side="end", text=f"{sides[1]:.3g}{unit}"),
    ]
    return (
        f'<figure style="display:inline-block;margin:0 16px 8px 0"><figcaption>'
        f"{html.escape(title)}: {', '.join(names)}</figcaption>"
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{html.escape(title)}"'
        f' fill="currentColor" font-size="11"><rect x="{_LEFT}" y="4" width="{_WIDTH - _LEFT - 4}"'
        f' height="{_HEIGHT - 24}" fill="none" stroke="currentColor" stroke-opacity="0.3"/>'
        f"{''.join(paths)}{''.join(texts)}</svg></figure>"
    )


# ---- metrics ------------------------------------------------------------------------------------

_ROWS = 8
_COLUMNS = {
    "frame": "frame",
    "time": "time, s",
    "iterations": "iterations",
    "unconverged": "unconverged",
    "gradient_norm": "gradient norm",
    "energy/kinetic": "kinetic, J",
    "energy/elastic": "elastic, J",
    "max_stretch": "max stretch",
    "ms/step": "step, ms",
}


def _sampled(count: int) -> List[int]:
    """At most _ROWS rows, including the first and last."""
    if count <= _ROWS:
        return list(range(count))
    return [round(i * (count - 1) / (_ROWS - 1)) for i in range(_ROWS)]


def metrics(columns: Mapping[str, List[Any]]) -> str:
    count = len(columns.get("frame", []))
    if count == 0:
        return "<div>no metrics yet</div>"
    known: Dict[str, List[Any]] = {
        head: columns[name]
        for name, head in _COLUMNS.items()
        if any(value is not None for value in columns.get(name, []))
    }
    energies = {n: columns.get(f"energy/{n}", []) for n in ("kinetic", "elastic", "gravity")}
    residuals = {n: columns.get(n, []) for n in ("gradient_norm", "primal_residual")}
    time = columns["time"]
    rows = ([values[i] for values in known.values()] for i in _sampled(count))
    left_out = "" if count <= _ROWS else f"<div>{_ROWS} of {count} frames</div>"
    return (
        curves("energies, J", time, energies)
        + curves("residuals", time, residuals, logarithmic=True)
        + table(list(known), rows)
        + left_out
    )
