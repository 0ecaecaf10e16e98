# SPDX-License-Identifier: Apache-2.0
"""Sparklines: a history of half a year in the height of a line of text.

Drawn here and not by script, so that they are there without one and on paper. Two coordinates make
one pixel, so whole numbers are exact enough, and a path of steps between them stays short.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bandgate_reports.analysis.verdicts import STATUSES
from bandgate_reports.trend.model import DAY_S, Band, History

WIDTH, HEIGHT = 240, 56
_SIDE, _TOP, _FLOOR = 6, 7, 49
NIGHTS = 180  # that a sparkline reaches back

Ints = npt.NDArray[np.int64]

_BAD = ("regression", "error", "inconclusive")


@dataclass(frozen=True)
class Window:
    """The time axis, shared by all sparklines of a page. Days since 1970."""

    start: float
    end: float

    def x(self, days: npt.NDArray[np.float64]) -> Ints:
        share = (days - self.start) / max(self.end - self.start, 1e-9)
        return np.rint(_SIDE + (WIDTH - 2 * _SIDE) * share).astype(np.int64)


def window(first: float, last: float) -> Window:
    """Up to the newest night of the page, no more than NIGHTS back."""
    return Window(max(first, last - NIGHTS + 1) if last > first else first - 1, last)


def _y(history: History, values: npt.NDArray[np.float64]) -> Ints:
    share = (np.clip(values, history.low, history.high) - history.low) / (
        history.high - history.low
    )
    return np.rint(_FLOOR - (_FLOOR - _TOP) * share).astype(np.int64)


def _line(x: Ints, y: Ints, broken: npt.NDArray[np.bool_]) -> str:
    """A path of relative steps; `broken`: no line leads to this point."""
    if not len(x):
        return ""
    steps = zip(np.diff(x).tolist(), np.diff(y).tolist(), broken[1:].tolist(), strict=True)
    parts = [f"M{x[0]} {y[0]}"]
    drawing = False
    for dx, dy, gap in steps:
        if gap and not drawing:
            parts.append("h0")  # a point alone, or none would see it
        parts.append("m" if gap else " " if drawing else "l")
        parts.append(f"{dx} {dy}" if dy >= 0 else f"{dx}{dy}")
        drawing = not gap
    return "".join(parts if drawing else [*parts, "h0"])


def _dots(x: Ints, y: Ints) -> str:
    return "".join(f"M{a} {b}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _seen(y: Ints, broken: npt.NDArray[np.bool_]) -> Ints:
    """The points of a line that an eye can tell from it: what moves by half a pixel is noise."""
    kept = [0]
    heights, breaks = y.tolist(), broken.tolist()
    last = len(heights) - 1
    for i in range(1, len(heights)):
        moved = breaks[i] or abs(heights[i] - heights[kept[-1]]) > 1
        if moved and kept[-1] != i - 1:
            kept.append(i - 1)
        if moved or i == last:
            kept.append(i)
    return np.array(kept, dtype=np.int64)


def _path(x: Ints, y: Ints, broken: npt.NDArray[np.bool_]) -> str:
    if not len(x):
        return ""
    seen = _seen(y, broken)
    return _line(x[seen], y[seen], broken[seen])


def _marked(x: Ints, y: Ints, hit: npt.NDArray[np.bool_]) -> str:
    """Those nights as dots; those one after the other as a line as thick as the dots."""
    at = np.flatnonzero(hit)
    first = np.concatenate([np.ones(1, dtype=bool), np.diff(at) > 1])
    last = np.concatenate([first[1:], np.ones(1, dtype=bool)])
    alone = at[first & last]
    rest = ~(first & last)
    return _dots(x[alone], y[alone]) + _path(x[at[rest]], y[at[rest]], first[rest])


def gaps(at: Ints) -> npt.NDArray[np.bool_]:
    """Before which points a pause lies, longer than a series' own habit."""
    apart = at[1:] - at[:-1]
    if not len(apart) or apart.max() < 2:  # as of most series
        return np.zeros(len(at), dtype=bool)
    habit = max(1.0, float(np.median(apart)))
    longer = (apart > 1.5 * habit) & (np.rint(apart / habit) >= 2)
    return np.concatenate([np.zeros(1, dtype=bool), longer])


def _band(history: History, band: Band, x: Ints) -> str:
    """From its first point to half-way before the next one's."""
    ends = [b.index for b in history.bands if b.index > band.index]
    right = (int(x[ends[0] - 1]) + int(x[ends[0]])) // 2 if ends else WIDTH
    left = (int(x[band.index - 1]) + int(x[band.index])) // 2 if band.index else int(x[0]) - 4
    right, left = min(right, WIDTH), max(0, left)
    if right <= left or not (np.isfinite(band.lower) or np.isfinite(band.upper)):
        return ""
    bounds = np.array([band.upper, band.lower])
    top, foot = (
        int(v) if np.isfinite(b) else end
        for v, b, end in zip(_y(history, np.nan_to_num(bounds)), bounds, (0, HEIGHT), strict=True)
    )
    return f"M{left} {top}H{right}V{foot}H{left}z"


def draw(history: History, over: Window) -> str:
    """The SVG without a name: the cell around it has one. "" where there is no point."""
    if not len(history.at):
        return ""
    days = np.floor(history.at * (history.step_s / DAY_S))
    x = over.x(days)
    shown = days >= over.start
    known = shown & np.isfinite(history.value)
    y = np.full(len(known), _FLOOR + 3)
    y[known] = _y(history, history.value[known])
    at = np.flatnonzero(known)
    broken = gaps(history.at[known])
    parts = [f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">']
    if band := "".join(_band(history, b, x) for b in history.bands):
        parts.append(f'<path class="band" d="{band}"/>')
    for step in history.steps:
        if shown[step.index]:
            kind = "worse" if step.worse else "better"
            parts.append(f'<path class="step {kind}" d="M{x[step.index] - 1} 0V{HEIGHT}"/>')
    if len(at):
        parts.append(f'<path class="trace" d="{_path(x[at], y[at], broken)}"/>')
    for status in _BAD:
        hit = history.codes == STATUSES.index(status)
        if hit.any() and (hit := hit & shown).any():
            parts.append(f'<path class="dots {status}" d="{_marked(x, y, hit)}"/>')
    bad = [i for i in history.bad_nights if shown[i]]
    if bad:
        parts.append(f'<path class="odd" d="{_dots(x[bad], y[bad])}"/>')
    status = STATUSES[history.codes[-1]]
    parts.append(f'<path class="dots newest {status}" d="{_dots(x[-1:], y[-1:])}"/></svg>')
    return "".join(parts)
