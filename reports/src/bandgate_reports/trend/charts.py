# SPDX-License-Identifier: Apache-2.0
"""Geometry of one history: from values to coordinates. The template draws; nothing here knows HTML.

Matplotlib chooses the ticks (the part that is easy to get wrong).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from matplotlib.dates import AutoDateLocator, num2date
from matplotlib.ticker import MaxNLocator

WIDTH, HEIGHT = 400, 165
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 16, 22
FLOOR = HEIGHT - BOTTOM  # y of the time axis

# How far below the band the axis follows single values, in heights of the band.
_REACH = 3.0
# The share of values that may lie off the scale; more, and the scale takes them in.
_OFF_SCALE = 0.1


@dataclass(frozen=True)
class Point:
    """One result, in shown units and seconds since the epoch."""

    at: float
    value: float | None  # none: nothing was measured
    status: str
    text: str
    unstable: bool = False
    final: bool = True
    reference: float | None = None
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class Mark:
    """A point as drawn."""

    x: float
    y: float
    status: str
    text: str
    unstable: bool
    off_scale: bool


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True)
class Flag:
    """Numbered vertical line: the environment changed here."""

    x: float
    number: int
    labelled: bool


@dataclass(frozen=True)
class Gap:
    x: float
    width: float
    text: str


@dataclass(frozen=True)
class Chart:
    """What is drawn for one series."""

    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    bands: tuple[tuple[float, float, float, float], ...]  # x, y, width, height
    bound_path: str
    reference_path: str
    lines: tuple[str, ...]  # SVG paths, one between two gaps
    dots: dict[str, str]  # status: one SVG path of round dots
    marks: tuple[Mark, ...]  # points with a shape of their own
    retries: tuple[Mark, ...]  # attempts that a later one replaced
    flags: tuple[Flag, ...]
    gaps: tuple[Gap, ...]
    readings: list[list[Any]]  # x, y, text of every point in time, for the pointer and the keys
    drawn: int
    points: int


@dataclass(frozen=True)
class Span:
    """The time axis, shared by all charts of a page."""

    start: float
    end: float

    def x(self, at: float) -> float:
        inner = WIDTH - LEFT - RIGHT
        return round(LEFT + inner * (at - self.start) / (self.end - self.start), 1)


@dataclass(frozen=True)
class Scale:
    """The value axis, between the y of its upper and its lower end."""

    low: float
    high: float
    top: int = TOP
    floor: int = FLOOR

    def y(self, value: float) -> float:
        clipped = min(max(value, self.low), self.high)
        share = (clipped - self.low) / (self.high - self.low)
        return round(self.floor - (self.floor - self.top) * share, 1)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def span_of(times: Sequence[float]) -> Span:
    """Around all times, never empty."""
    if not times:
        return Span(0.0, 86400.0)
    start, end = min(times), max(times)
    room = max((end - start) * 0.025, 1800.0)
    return Span(start - room, end + room)


@cache
def time_ticks(span: Span) -> tuple[Tick, ...]:
    """Days, months or hours in UTC, as the span asks for."""
    locator = AutoDateLocator(minticks=3, maxticks=6)
    day = 86400.0
    start, end = (num2date(t / day) for t in (span.start, span.end))
    found = [num2date(t) for t in locator.tick_values(start, end)]
    ticks = [t for t in found if span.start <= t.timestamp() <= span.end]
    length = span.end - span.start
    if length > 300 * day:
        form = "{:%b} {:%Y}"
    elif length > 2.5 * day:
        form = "{0.day} {0:%b}"
    else:
        form = "{:%H:%M}"
    return tuple(Tick(span.x(t.timestamp()), form.format(t, t)) for t in ticks)


def _value_scale(points: Sequence[Point]) -> Scale:
    values = [p.value for p in points if p.value is not None]
    lowers = [p.lower for p in points if p.lower is not None]
    uppers = [p.upper for p in points if p.upper is not None]
    references = [p.reference for p in points if p.reference is not None]
    everything = [*values, *lowers, *uppers, *references]
    if not everything:
        return Scale(0.0, 1.0)
    low, high = min(everything), max(everything)
    if values and (lowers or uppers) and references:
        foot, top = min([*lowers, *references]), max([*uppers, *references])
        reach = _REACH * (top - foot)
        low, high = _within(values, low, high, (foot - reach, top + reach))
    room = (high - low) * 0.08 or abs(high) * 0.01 or 1.0
    return Scale(low - room, high + room)


def _within(
    values: list[float], low: float, high: float, limits: tuple[float, float]
) -> tuple[float, float]:
    """Cuts the scale at the limits if few values, and not the newest, lie beyond: else one bad
    night makes the band, and every other night, one flat line."""
    off = [v for v in values if not limits[0] <= v <= limits[1]]
    if not off or values[-1] in off or len(off) > _OFF_SCALE * len(values):
        return low, high
    return max(low, limits[0]), min(high, limits[1])


def value_ticks(scale: Scale, most: int = 4) -> tuple[Tick, ...]:
    found = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(scale.low, scale.high)
    inside = [float(v) for v in found if scale.holds(float(v))]
    # As many decimals as tell every tick apart from its neighbours exactly.
    tolerance = (scale.high - scale.low) * 1e-6
    decimals = next(
        (d for d in range(12) if all(abs(round(v, d) - v) <= tolerance for v in inside)), 12
    )
    return tuple(Tick(scale.y(v), f"{v:.{decimals}f}") for v in inside)


def _segments(points: Sequence[Point], span: Span) -> list[tuple[float, float, Point]]:
    """Where each point's baseline applies: from half-way after the last to half-way before the
    next. Points that carry none leave no hole: the baseline is still there."""
    stated = [p for p in points if p.reference is not None]
    edge = WIDTH - RIGHT
    out: list[tuple[float, float, Point]] = []
    for i, point in enumerate(stated):
        x = span.x(point.at)
        start = (span.x(stated[i - 1].at) + x) / 2 if i else max(LEFT, x - 10)
        last = i + 1 == len(stated)
        newest = max(x, span.x(points[-1].at))
        end = min(edge, newest + 10) if last else (x + span.x(stated[i + 1].at)) / 2
        same = (point.reference, point.lower, point.upper)
        if out and (out[-1][2].reference, out[-1][2].lower, out[-1][2].upper) == same:
            out[-1] = (out[-1][0], end, point)
        else:
            out.append((start, end, point))
    return [(round(a, 1), round(b, 1), p) for a, b, p in out]


def _thinned(points: list[Point], budget: int) -> list[Point]:
    """At most about `budget` points: everything out of the ordinary first, then every k-th."""
    if len(points) <= budget:
        return points
    special = [p.status not in ("pass", "measured", "no-baseline") or p.unstable for p in points]
    if sum(special) > budget // 2:
        special = [False] * len(points)
    step = math.ceil((len(points) - sum(special)) / max(1, budget - sum(special)))
    return [p for i, p in enumerate(points) if special[i] or i % step == 0 or i == len(points) - 1]


DOTS = ("pass", "no-baseline", "measured")


def chart(
    points: list[Point],
    line: Sequence[tuple[float, float]],
    breaks: Sequence[tuple[float, float, str]],
    changes: Sequence[tuple[float, int]],
    span: Span,
    budget: int,
) -> Chart:
    """Lays out one series. `points`, `line` (night, value) and `changes` are in time order."""
    scale = _value_scale(points)
    drawn = _thinned(points, budget)
    dots: dict[str, list[str]] = {}
    marks, retries, readings = [], [], []
    for point in drawn:
        mark = _mark(point, span, scale)
        readings.append([mark.x, mark.y, point.text])
        if not point.final:
            retries.append(mark)
        elif point.status in DOTS and not mark.off_scale and not point.unstable:
            dots.setdefault(point.status, []).append(f"M{mark.x:g} {mark.y:g}h0")
        else:
            marks.append(mark)
    segments = _segments(points, span)
    return Chart(
        x_ticks=time_ticks(span),
        y_ticks=value_ticks(scale),
        bands=_bands(segments, scale),
        bound_path=_bound_path(segments, scale),
        reference_path="".join(
            f"M{a:g} {scale.y(p.reference):g}H{b:g}" for a, b, p in segments if p.reference
        ),
        lines=_lines(line, breaks, span, scale, budget),
        dots={status: "".join(path) for status, path in dots.items()},
        marks=tuple(marks),
        retries=tuple(retries),
        flags=_flags(changes, span),
        gaps=tuple(Gap(span.x(a), round(span.x(b) - span.x(a), 1), text) for a, b, text in breaks),
        readings=readings,
        drawn=len(drawn),
        points=len(points),
    )


def _mark(point: Point, span: Span, scale: Scale) -> Mark:
    x = span.x(point.at)
    if point.value is None:  # along the foot: there is no value to place it by
        return Mark(x, FLOOR - 7, point.status, point.text, point.unstable, False)
    off = not scale.holds(point.value)
    return Mark(x, scale.y(point.value), point.status, point.text, point.unstable, off)


def _bands(
    segments: list[tuple[float, float, Point]], scale: Scale
) -> tuple[tuple[float, float, float, float], ...]:
    found = []
    for start, end, p in segments:
        top = scale.y(p.upper) if p.upper is not None else float(TOP)
        foot = scale.y(p.lower) if p.lower is not None else float(FLOOR)
        found.append((start, top, round(end - start, 1), round(foot - top, 1)))
    return tuple(found)


def _bound_path(segments: list[tuple[float, float, Point]], scale: Scale) -> str:
    parts = []
    for start, end, p in segments:
        for bound in (p.lower, p.upper):
            if bound is not None and scale.holds(bound):
                parts.append(f"M{start:g} {scale.y(bound):g}H{end:g}")
    return "".join(parts)


def _lines(
    line: Sequence[tuple[float, float]],
    breaks: Sequence[tuple[float, float, str]],
    span: Span,
    scale: Scale,
    budget: int,
) -> tuple[str, ...]:
    starts = {b for _, b, _ in breaks}
    step = max(1, math.ceil(len(line) / budget))
    paths: list[list[str]] = [[]]
    for i, (at, value) in enumerate(line):
        if at in starts:
            paths.append([])
        elif i % step and i + 1 != len(line):
            continue
        paths[-1].append(f"{span.x(at):g} {scale.y(value):g}")
    return tuple("M" + "L".join(path) for path in paths if len(path) > 1)


def _flags(changes: Sequence[tuple[float, int]], span: Span) -> tuple[Flag, ...]:
    found: list[Flag] = []
    last = -math.inf
    for at, number in changes:
        x = max(float(LEFT), span.x(at))
        labelled = x - last >= 13  # numbers would run into each other
        if labelled:
            last = x
        found.append(Flag(x, number, labelled))
    return tuple(found)
