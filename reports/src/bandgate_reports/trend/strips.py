# SPDX-License-Identifier: Apache-2.0
"""Geometry of a measurement that is a series: panels over one axis of addresses or time."""

import math
from typing import Any

import pandas as pd

from bandgate_reports.store.records import each
from bandgate_reports.trend.charts import (
    LEFT,
    RIGHT,
    WIDTH,
    Scale,
    Tick,
    round_numbers,
    value_ticks,
)
from bandgate_reports.trend.model import Panel, Parts, Strip
from bandgate_reports.trend.parts import TELEMETRY, gib, seconds

_MOST_POINTS = 240  # of one strip: more than there are pixels between two of them
_TALL, _SMALL, _GAP = 110, 34, 20
_LEAST = 0.04  # height of the value axis as a share of the value
_FOOT = 34  # ticks and the name of the axis


def _thinned(parts: Parts) -> pd.DataFrame:
    """Every k-th part, and all that are slow or the worst."""
    table = parts.points
    step = math.ceil(len(table) / _MOST_POINTS)
    keep = (table.index % step == 0) | (table["at"] == parts.worst_at) | table["slow"]
    return table[keep] if step > 1 else table


def strip(parts: Parts) -> Strip:
    table = _thinned(parts)
    by_address = parts.axis == "address"
    unit = 2.0**30 if by_address else 1.0
    start, end = float(table["at"].iloc[0]), float(parts.points["at"].iloc[-1]) + parts.step
    inner = WIDTH - LEFT - RIGHT

    def x(at: float) -> float:
        return round(LEFT + inner * (at - start) / (end - start), 1)

    ticks = [t for t in round_numbers(start / unit, end / unit, 6) if start <= t * unit <= end]
    middles = [x(at + parts.step / 2) for at in table["at"]]
    values = [parts.units.number(float(v)) for v in table["value"]]
    panels = [_panel(parts.units.label, 18, _TALL, middles, values, _LEAST)]
    for column, (name, label) in TELEMETRY.items():
        if not by_address and table[column].notna().any():
            top = panels[-1].floor + _GAP
            panels.append(
                _panel(f"{name}, {label}", top, _SMALL, middles, list(table[column]), 0.01)
            )
    scale = _scale(values, panels[0].top, panels[0].floor, _LEAST)
    worst = ((parts.worst_at, parts.worst_at + parts.step),)
    spans = parts.slow if by_address else worst
    return Strip(
        parts=parts,
        height=panels[-1].floor + _FOOT,
        x_ticks=tuple(Tick(x(t * unit), f"{t:g}") for t in ticks),
        x_name="address, GiB" if by_address else "time, s",
        panels=tuple(panels),
        bad=tuple((x(a), max(1.0, round(x(b) - x(a), 1))) for a, b in spans),
        worst=(x(parts.worst_at + parts.step / 2), scale.y(parts.units.number(parts.worst))),
        first=None if parts.drop is None else scale.y(values[0]),
        readings=[
            [at, scale.y(value), _reading(parts, r)]
            for at, value, r in zip(middles, values, each(table), strict=True)
        ],
        summary=(
            f"{parts.probe} on {parts.device.model}, {parts.device.node}, {parts.when}: "
            + ", ".join(parts.remarks)
        ),
    )


def _scale(values: list[float], top: int, floor: int, least: float) -> Scale:
    """Never so close that noise looks like a loss: at least `least` of the value."""
    known = [v for v in values if math.isfinite(v)]
    low, high = min(known), max(known)
    room = max((high - low) * 0.15, abs(high) * least / 2) or 1.0
    return Scale(low - room, high + room, top, floor)


def _panel(
    name: str, top: int, height: int, middles: list[float], values: list[float], least: float
) -> Panel:
    scale = _scale(values, top, top + height, least)
    pieces: list[list[str]] = [[]]
    for at, value in zip(middles, values, strict=True):
        if math.isfinite(value):
            pieces[-1].append(f"{at:g} {scale.y(value):g}")
        elif pieces[-1]:
            pieces.append([])
    path = "".join("M" + "L".join(p) + ("h0" if len(p) == 1 else "") for p in pieces if p)
    ticks = value_ticks(scale, 4 if height > 2 * _SMALL else 2)
    return Panel(name, top, top + height, ticks, path)


def _reading(parts: Parts, r: Any) -> str:
    where = gib(r.at) if parts.axis == "address" else f"{seconds(r.at)} s"
    found = [where, f"{parts.units.text(r.value)} {parts.units.label}"]
    for column, (_, label) in TELEMETRY.items():
        value = getattr(r, column)
        if math.isfinite(value):
            found.append(f"{value:.6g} {label}")
    return " · ".join([*found, "slow"] if r.slow else found)
