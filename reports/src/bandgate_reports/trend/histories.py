# SPDX-License-Identifier: Apache-2.0
"""Histories: every series as a chart with what has to be said about it."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bandgate_reports.analysis import series as series_of
from bandgate_reports.store.records import CONFIGURATION, ENVIRONMENT, each, each_by_series
from bandgate_reports.text import count, printable, shorten
from bandgate_reports.trend.charts import Point, Span, chart, span_of
from bandgate_reports.trend.model import Change, Group, History
from bandgate_reports.trend.rows import device, stamp_text
from bandgate_reports.units import RateUnit, Scale, percent_text, scale

# A trend is more than a point; below this the page says so instead of letting a reader guess.
ENOUGH_NIGHTS = 3

# All points of a page: at about 100 bytes each they keep it below 10 MB.
MOST_POINTS = 50_000

# What a point is drawn from.
_POINT = (
    "series started value unit ratio status unstable attempt final failure_code failure_message "
    "band_reference band_lower band_upper"
).split()


def _optional(value: float, units: Scale) -> float | None:
    return units.number(value) if math.isfinite(value) else None


def _point(row: Any, units: Scale) -> Point:
    value = _optional(row.value, units)
    parts = [stamp_text(row.started)]
    if value is not None:
        change = f" ({percent_text(row.ratio)})" if math.isfinite(row.ratio) else ""
        parts.append(f"{units.text(row.value)} {units.label}{change}")
    status = row.status + (", unstable" if row.unstable else "")
    parts.append(status if row.attempt == 1 and row.final else f"{status}, attempt {row.attempt}")
    if row.failure_code:
        parts.append(printable(shorten(row.failure_message or row.failure_code, 120)))
    return Point(
        at=row.started.timestamp(),
        value=value,
        status=row.status,
        text=" · ".join(parts),
        unstable=row.unstable,
        final=row.final,
        reference=_optional(row.band_reference, units),
        lower=_optional(row.band_lower, units),
        upper=_optional(row.band_upper, units),
    )


def device_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """`changes` with `number`: those that one card saw in one night share a flag."""
    table = changes.copy()
    table["night"] = table["seen"].dt.floor(series_of.NIGHT)
    table["number"] = table.groupby("card")["night"].rank(method="dense").astype("int64")
    return table


def _change_list(changes: pd.DataFrame) -> tuple[Change, ...]:
    """One device's changes, a line a night."""
    found = []
    for number, night in changes.groupby("number", sort=True):
        texts = [
            printable(f"{_field(c)} {shorten(c.before, 60)} → {shorten(c.after, 60)}")
            for c in each(night)
        ]
        when = night["seen"].min()
        found.append(Change(int(str(number)), f"{when:%Y-%m-%d}", "; ".join(dict.fromkeys(texts))))
    return tuple(found)


def _field(change: Any) -> str:
    return f"{change.probe} version" if change.field == "probe version" else str(change.field)


def _remarks(results: list[Any], nights: int, missing: int) -> list[str]:
    final = [r for r in results if r.final]
    remarks = []
    if nights < ENOUGH_NIGHTS:
        remarks.append(f"not enough data for a trend (n={nights}, need {ENOUGH_NIGHTS} nights)")
    if missing:
        remarks.append(f"{count(missing, 'night')} missing")
    if (unstable := sum(r.unstable for r in final)) > 0:
        remarks.append(count(unstable, "unstable result"))
    for status, one, many in (
        ("regression", "regression", "regressions"),
        ("error", "error", "errors"),
        ("inconclusive", "inconclusive result", "inconclusive results"),
    ):
        if (n := sum(r.status == status for r in final)) > 0:
            remarks.append(count(n, one, many))
    return remarks


def _line(results: list[Any], nights: list[Any], units: Scale) -> list[tuple[float, float]]:
    """Nightly medians; the single runs where there is no more than a night or two."""
    if len(nights) >= ENOUGH_NIGHTS:
        return [(n.at.timestamp(), units.number(n.value)) for n in nights]
    runs = [r for r in results if r.final and math.isfinite(r.value)]
    return [(r.started.timestamp(), units.number(r.value)) for r in runs]


def _configuration(row: Any) -> str:
    named = {c: label for c, (_, _, label) in ENVIRONMENT.items()}
    found = [f"{named[c]} {getattr(row, c)}" for c in CONFIGURATION if getattr(row, c)]
    return printable(", ".join(found))


@dataclass(frozen=True)
class _Page:
    """What all histories of a page share; rows by series."""

    results: Mapping[Hashable, list[Any]]  # of _POINT only
    last: Mapping[Hashable, list[Any]]  # the newest result, whole
    nights: Mapping[Hashable, list[Any]]
    gaps: Mapping[Hashable, list[Any]]
    changes: Mapping[Hashable, list[Any]]
    span: Span
    budget: int
    rate: RateUnit
    shown: Mapping[tuple[str, str], str]
    anchors: Mapping[Hashable, str]
    current: frozenset[Hashable]


def draw(
    results: pd.DataFrame,
    changes: pd.DataFrame,
    anchors: Mapping[Hashable, str],
    current: frozenset[Hashable],
    shown: Mapping[tuple[str, str], str],
    rate: RateUnit,
) -> tuple[Group, ...]:
    """The histories of the series in `anchors`, in their order, grouped by device.

    `results` as series.identify() gives them, `changes` as device_changes() does.
    """
    placed = results[results["placed"]]
    wanted = placed[placed["series"].isin(list(anchors))]
    nights = series_of.nightly(wanted)
    page = _Page(
        results=each_by_series(wanted[_POINT]),
        last=each_by_series(wanted.groupby("series", sort=False).tail(1)),
        nights=each_by_series(nights),
        gaps=each_by_series(series_of.gaps(nights)),
        changes=each_by_series(changes.drop_duplicates(["series", "number"])),
        span=span_of([t.timestamp() for t in placed["started"].agg(["min", "max"]).dropna()]),
        budget=min(500, max(40, MOST_POINTS // max(1, len(anchors)))),
        rate=rate,
        shown=shown,
        anchors=anchors,
        current=current,
    )
    return _grouped([_history(key, page) for key in anchors], changes)


def _history(key: Hashable, page: _Page) -> History:
    results, last = page.results[key], page.last[key][0]
    nights, gaps = page.nights.get(key, []), page.gaps.get(key, [])
    units = scale(next((r.unit for r in reversed(results) if r.unit), "B/s"), page.rate)
    measured = [r.value for r in results if r.final and math.isfinite(r.value)]
    latest = units.text(measured[-1]) if measured else ""
    remarks = _remarks(results, len(nights), sum(g.missing for g in gaps))
    who = device(last)
    probe = printable(last.probe)
    period = f"{results[0].started:%Y-%m-%d} to {last.started:%Y-%m-%d}"
    newest = f"newest value {latest} {units.label}" if latest else "no value"
    return History(
        anchor=page.anchors[key],
        device=who,
        probe=probe,
        parameters=page.shown[(last.probe, last.parameters)],
        configuration=_configuration(last),
        status=last.status,
        ended="" if key in page.current else f"{last.started:%Y-%m-%d}",
        unit=units.label,
        latest=latest,
        latest_change=percent_text(last.ratio) if math.isfinite(last.ratio) else "",
        latest_is_newest=bool(math.isfinite(last.value)),
        statistic=last.shown_statistic,
        lower_is_better=bool(last.lower_is_better),
        summary=(
            f"{probe} on {who.model}, {who.node}: {count(len(results), 'result')} from {period}, "
            + ", ".join([newest, last.status, *remarks])
        ),
        remarks=tuple(remarks),
        chart=chart(
            [_point(r, units) for r in results],
            _line(results, nights, units),
            _breaks(nights, gaps),
            [(c.at.timestamp(), c.number) for c in page.changes.get(key, [])],
            page.span,
            page.budget,
        ),
    )


def _breaks(nights: list[Any], gaps: list[Any]) -> list[tuple[float, float, str]]:
    at = {n.night: n.at.timestamp() for n in nights}
    return [(at[g.since], at[g.until], f"{count(g.missing, 'night')} missing") for g in gaps]


def _grouped(histories: list[History], changes: pd.DataFrame) -> tuple[Group, ...]:
    """By device. `histories` is in order, so the worst device is first, and its worst probe."""
    by_device: dict[str, list[History]] = {}
    for history in histories:
        by_device.setdefault(history.device.key, []).append(history)
    return tuple(
        Group(
            found[0].device,
            found[0].configuration,
            _change_list(changes[changes["card"] == key]),
            tuple(found),
        )
        for key, found in by_device.items()
    )
