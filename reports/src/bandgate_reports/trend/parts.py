# SPDX-License-Identifier: Apache-2.0
"""Measurements that are a series: bandwidth over the memory's addresses, and over time."""

import math
from typing import Any

import pandas as pd

from bandgate_reports.store.records import each
from bandgate_reports.text import count, printable, shorten
from bandgate_reports.trend.model import Parts
from bandgate_reports.trend.rows import device, stamp_text
from bandgate_reports.units import RateUnit, Scale, percent_text, scale

# A slice of memory is slow when it is below the others' median by more than this, and by more than
# their own scatter explains.
_SLOW = 0.03
_SLOW_SIGMA = 6.0
MOST_PARTS = 40  # of a page

TELEMETRY = {
    "sm_clock_mhz": ("SM clock", "MHz"),
    "temperature_c": ("temperature", "°C"),
    "power_w": ("power", "W"),
}


def newest_parts(newest: pd.DataFrame, shown: Any, rate: RateUnit) -> tuple[Parts, ...]:
    """The series of the newest results, in their order: worst verdict first."""
    found = []
    for r in each(newest[newest["parts"].notna()]):
        found.append(_parts(r, shown.get((r.probe, r.parameters), ""), rate))
    return tuple(found)


def _table(parts: dict[str, Any]) -> pd.DataFrame:
    columns = ["at", "value", *TELEMETRY]
    table = pd.DataFrame(parts["points"], columns=columns).astype("float64")
    return table.sort_values("at", kind="stable", ignore_index=True)


def slow_slices(table: pd.DataFrame) -> pd.Series:
    """Whether a slice is slow against the others' median."""
    median = table["value"].median()
    sigma = 1.4826 * (table["value"] - median).abs().median()
    return table["value"] < median - max(_SLOW * median, _SLOW_SIGMA * sigma)


def ranges(table: pd.DataFrame, step: float) -> tuple[tuple[float, float], ...]:
    """Neighbouring slow slices as one range of addresses."""
    found: list[list[float]] = []
    for at in table.loc[table["slow"], "at"]:
        if found and math.isclose(found[-1][1], at, rel_tol=1e-9, abs_tol=step * 1e-6):
            found[-1][1] = at + step
        else:
            found.append([at, at + step])
    return tuple((a, b) for a, b in found)


def gib(value: float) -> str:
    return f"{value / 2**30:.6g} GiB"


def seconds(value: float) -> str:
    """To a tenth: a window ends with the sample that fills it, so it is a little longer."""
    return f"{round(value, 1):g}"


def range_text(one: tuple[float, float]) -> str:
    return f"{one[0] / 2**30:.6g} … {gib(one[1])}"


def _parts(r: Any, parameters: str, rate: RateUnit) -> Parts:
    table = _table(r.parts)
    axis, step = r.parts["axis"], float(r.parts["step"])
    by_address = axis == "address"
    table["slow"] = slow_slices(table) if by_address else False
    units = scale(r.unit or "B/s", rate)
    lower_is_better = bool(r.lower_is_better)
    found = table.sort_values("value", ascending=not lower_is_better, kind="stable").iloc[0]
    worst, worst_at = float(found["value"]), float(found["at"])
    slow = ranges(table, step) if by_address else ()
    median = float(table["value"].median())
    integrity = _integrity(r, len(table)) if by_address else ""
    drop = r.drop if not by_address and math.isfinite(r.drop) else None
    return Parts(
        key=r.card,
        device=device(r),
        gpu=r.device or r.cpu_model or "unknown device",
        probe=printable(r.probe),
        parameters=parameters,
        status=r.status,
        when=stamp_text(r.started),
        axis=axis,
        step=step,
        units=units,
        points=table,
        median=median,
        worst=worst,
        worst_at=worst_at,
        drop=drop,
        slow=slow,
        integrity=integrity,
        remarks=_remarks(by_address, units, median, worst, worst_at, step, drop, slow, integrity),
    )


def _integrity(r: Any, slices: int) -> str:
    """Said as it is: a failed verification has no series, so a series without one is a fault."""
    checked = count(slices, "slice")
    return (
        f"{checked}, each verified to the last byte" if r.verified else f"{checked}, NOT verified"
    )


def _remarks(
    by_address: bool,
    units: Scale,
    median: float,
    worst: float,
    worst_at: float,
    step: float,
    drop: float | None,
    slow: tuple[tuple[float, float], ...],
    integrity: str,
) -> tuple[str, ...]:
    low = f"{units.text(worst)} {units.label}"
    off = percent_text(worst / median)
    middle = f"median {units.text(median)} {units.label}"
    if by_address:
        found = [f"slow: {range_text(s)}" for s in slow[:6]]
        if len(slow) > 6:
            found.append(f"{len(slow) - 6} more slow ranges")
        slowest = f"slowest slice {low} ({off}) at {gib(worst_at)}"
        return (integrity, middle, slowest, *(found or ["no slow slice"]))
    until = f"{seconds(worst_at)} to {seconds(worst_at + step)} s"
    found = [middle, f"worst {seconds(step)} s: {low} ({off}) at {until}"]
    if drop is not None:
        found.append(f"first to last {percent_text(1 + drop)}")
    return tuple(found)


def failed_parts(newest: pd.DataFrame) -> tuple[str, ...]:
    """Maps that found wrong data, in words: such a result has no series to draw."""
    bad = newest[(newest["probe"] == "read_map") & (newest["failure_code"] != "")]
    return tuple(
        printable(
            shorten(f"{d.model}, {d.node} {d.place}: {r.failure_message or r.failure_code}", 400)
        )
        for r in each(bad)
        for d in [device(r)]
    )
