# SPDX-License-Identifier: Apache-2.0
"""Histories as PNG files: the same points, band, change points and lines as on the page."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

from bandgate_reports.analysis.curves import file_names
from bandgate_reports.analysis.verdicts import STATUSES
from bandgate_reports.figures.paper import (
    BAD,
    FAINT,
    GOOD_BAND,
    GROUND,
    SOFT,
    halo,
    head,
    plain,
    png,
    sheet,
    style,
)
from bandgate_reports.trend.model import History, Row, Trend
from bandgate_reports.trend.spark import gaps

_FLAG = "#4a57b8"
_MARKS: dict[str, dict[str, Any]] = {
    "pass": {"marker": "o", "color": "#1a7f4b", "s": 11},
    "improved": {"marker": "^", "color": "#0969a8", "s": 26},
    "regression": {"marker": "v", "color": BAD, "s": 26},
    "error": {"marker": "x", "color": "#8a2bb0", "s": 26},
    "inconclusive": {"marker": "D", "facecolors": GROUND, "edgecolors": "#93610a", "s": 18},
    "no-baseline": {"marker": "o", "facecolors": GROUND, "edgecolors": SOFT, "s": 14},
    "measured": {"marker": "o", "color": SOFT, "s": 8},
    "skipped": {"marker": "_", "color": FAINT, "s": 20},
}
# Verdicts of a newest night that nobody needs a file of.
_ORDINARY = ("pass", "measured", "no-baseline", "skipped")
_RECENT = 14  # nights in which a bad one is news
_MOST_FLAGS = 6  # changes of the environment that are told below, the newest
_LINE = 0.19  # inches


def out_of_the_ordinary(row: Row, history: History) -> bool:
    """A verdict that is not as it should be, a change point, or a bad night of late."""
    newest = len(history.at) - _RECENT
    told = row.status not in _ORDINARY or row.unstable or bool(history.steps)
    return not row.ended and (told or any(i >= newest for i in history.bad_nights))


def files(trend: Trend, *, every: bool) -> Iterator[tuple[str, bytes]]:
    """Name and content of one PNG for each series; without `every`, of those out of the ordinary.
    One at a time: thousands of them would not fit in memory."""
    drawn = [
        (row, history)
        for row, history in zip(trend.rows, trend.histories, strict=True)
        if history is not None and (every or out_of_the_ordinary(row, history))
    ]
    said: dict[str, str] = {}  # by key of the history; no two are the same
    for row, history in drawn:
        text = " ".join(t for t in (*_who(row), row.ended) if t)
        said[history.key] = text if text not in said.values() else f"{text} {history.key}"
    names = file_names(list(said.values()))
    for row, history in drawn:
        yield f"{names[said[history.key]]}.png", draw(row, history, trend.demo)


def _who(row: Row) -> tuple[str, ...]:
    return (row.device.node, row.device.place, row.probe, row.parameters)


def draw(row: Row, history: History, demo: str = "") -> bytes:
    told = history.flags[-_MOST_FLAGS:]
    height = 4.0 + _LINE * len(told)
    with style():
        figure = sheet(height)
        foot = 0.42 + _LINE * len(told)
        axes = figure.add_axes((0.085, foot / height, 0.89, (4.0 - 0.42 - 1.04) / height))
        _lay_out(axes, history)
        _bands(axes, history)
        _values(axes, history)
        _changes(axes, history)
        for n, flag in enumerate(reversed(told)):
            text = plain(f"{flag.number}  {flag.when}  {flag.text}", 105)
            at = (0.1 + _LINE * n) / height
            figure.text(0.085, at, text, fontsize=9, color=_FLAG, va="bottom", parse_math=False)
        title = " ".join(t for t in (history.probe, history.parameters) if t)
        where = " · ".join(t for t in (row.device.node, row.device.place) if t)
        first, last = (str(d)[:10] for d in _days(history)[[0, -1]])
        under = [row.device.model, f"{first} to {last}", row.status, *history.remarks]
        head(figure, f"{title} on {where}", ["Synthetic data"] * bool(demo) + under)
        return png(figure)


def _days(history: History) -> Any:
    return (history.at * history.step_s).astype("datetime64[s]")


def _shown(history: History, value: float) -> float:
    return float(value) / history.units.base


def _lay_out(axes: Axes, history: History) -> None:
    axes.set_ylim(_shown(history, history.low), _shown(history, history.high))
    days = _days(history)
    room = np.timedelta64(max(1800, int((days[-1] - days[0]).astype(int) * 0.02)), "s")
    axes.set_xlim(days[0] - room, days[-1] + room)
    locator = AutoDateLocator(minticks=3, maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=False))
    better = ", lower is better" if history.lower_is_better else ""
    axes.set_title(plain(history.units.label + better), loc="left", fontsize=10, color=SOFT)


def _bands(axes: Axes, history: History) -> None:
    days = _days(history)
    left, right = axes.get_xlim()
    foot, top = axes.get_ylim()
    for n, band in enumerate(history.bands):
        more = history.bands[n + 1 :]
        start = axes.convert_xunits(days[band.index]) if n else left
        end = axes.convert_xunits(days[more[0].index]) if more else right
        lower = _shown(history, band.lower) if np.isfinite(band.lower) else foot
        upper = _shown(history, band.upper) if np.isfinite(band.upper) else top
        axes.fill_between([start, end], lower, upper, color=GOOD_BAND, lw=0, zorder=0.5)
        reference = _shown(history, band.reference)
        axes.plot([start, end], [reference] * 2, color="#86b298", lw=1, zorder=0.6)


def _values(axes: Axes, history: History) -> None:
    days, values = _days(history), history.value / history.units.base
    known = np.flatnonzero(np.isfinite(values))
    for part in np.split(known, np.flatnonzero(gaps(history.at[known]))):
        axes.plot(days[part], values[part], color="#9aa4af", lw=1, zorder=1)
    foot, top = axes.get_ylim()
    room = (top - foot) * 0.02
    placed = np.clip(np.where(np.isfinite(values), values, foot), foot + room, top - room)
    smaller = 0.45 if len(days) > 90 else 1.0
    for code in np.unique(history.codes):
        hit = history.codes == code
        look = _MARKS[STATUSES[code]]
        look = look | {"s": look["s"] * smaller}
        axes.scatter(days[hit], placed[hit], zorder=3, linewidths=1.2 * smaller, **look)
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": "#93610a", "zorder": 3.5}
    if history.unstable.any():
        axes.scatter(days[history.unstable], placed[history.unstable], s=60, **ring)
    if odd := list(history.bad_nights):
        axes.scatter(days[odd], placed[odd], s=80, linestyles="--", **ring)


def _changes(axes: Axes, history: History) -> None:
    days = _days(history)
    for flag in history.flags:
        line: Any = np.datetime64(int(flag.at * history.step_s), "s")
        axes.axvline(line, color=_FLAG, lw=0.9, ls=(0, (2, 3)), zorder=0.8)
        axes.annotate(
            str(flag.number), (line, 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
            textcoords="offset points", ha="center", color=_FLAG, fontsize=9, annotation_clip=True,
        )  # fmt: skip
    for n, step in enumerate(history.steps):
        at: Any = days[step.index]
        colour = BAD if step.worse else "#0969a8"
        axes.axvline(at, color=colour, lw=1.4, zorder=2)
        right = step.index > 0.7 * len(days)
        axes.annotate(
            plain(step.text.split(":")[0]), (at, 0.95 - 0.09 * (n % 3)),
            xycoords=("data", "axes fraction"), xytext=(-5 if right else 5, 0),
            textcoords="offset points", ha="right" if right else "left", va="center",
            color=colour, fontsize=10, path_effects=halo(), parse_math=False,
        )  # fmt: skip
