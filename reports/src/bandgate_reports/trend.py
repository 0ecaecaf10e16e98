# SPDX-License-Identifier: Apache-2.0
"""Builds the trend report from the table of results."""

import json
import math
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd

from bandgate_reports import series as series_of
from bandgate_reports import verdicts
from bandgate_reports.charts import Point, Span, chart, span_of
from bandgate_reports.model import Change, Device, Group, History, Notice, Row, Trend
from bandgate_reports.records import CONFIGURATION, ENVIRONMENT, each, size_text
from bandgate_reports.stamps import NAIVE
from bandgate_reports.store import Loaded
from bandgate_reports.text import count, listed, printable, shorten
from bandgate_reports.units import RateUnit, Scale, percent_text, scale
from bandgate_reports.verdicts import Summary

# Keeps the page below 10 MB whatever it is fed; what is left out is said.
MOST_CHARTS = 800
MOST_ROWS = 1500
MOST_POINTS = 50_000
MOST_CHANGES = 8  # listed below one chart

# A trend is more than a point; below this the page says so instead of letting a reader guess.
ENOUGH_NIGHTS = 3


def _stamp(at: pd.Timestamp | datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _device(row: Any) -> Device:
    name = (
        row.device or row.cpu_model or ("host CPU" if row.backend == "host" else "unknown device")
    )
    return Device(
        key=row.card,
        model=printable(shorten(name, 120)),
        node=printable(shorten(row.node or "unknown host", 80)),
        place=printable(shorten(row.pci_address, 40)),
        uuid=printable(shorten(row.uuid, 80)),
        scripted=row.backend == "scripted",
    )


def varying_parameters(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(probe, parameters) as the parameters in which a probe's series differ: most have one set
    of parameters, and naming all their defaults tells nobody anything."""
    pairs = table[["probe", "parameters"]].drop_duplicates()
    found: dict[tuple[str, str], str] = {}
    for probe, group in pairs.groupby("probe"):
        sets = {text: json.loads(text) for text in group["parameters"]}
        names = sorted({name for values in sets.values() for name in values})
        differing = [n for n in names if len({json.dumps(v.get(n)) for v in sets.values()}) > 1]
        for text, values in sets.items():
            shown = [f"{n}={size_text(values[n])}" for n in differing if n in values]
            found[(str(probe), text)] = printable(" ".join(shown))
    return found


def _bounds(lower: float, upper: float, units: Scale) -> str:
    low, high = (units.text(v) if math.isfinite(v) else "" for v in (lower, upper))
    if low and high:
        return f"{low} … {high}"
    return f"≥ {low}" if low else f"≤ {high}" if high else ""


def _cause(row: Any) -> tuple[str, ...]:
    found = [sentence for _, sentence in row.reasons]
    for other in (row.failure_message, row.skip_reason):
        if other and not any(other in sentence for sentence in found):
            found.append(other)
    return tuple(printable(shorten(sentence, 600)) for sentence in found if sentence)


def _when(row: Any) -> str:
    text = _stamp(row.started)
    return text if row.placed and row.stamp_flag != NAIVE else f"{text} ({row.stamp_flag})"


def _row(row: Any, shown: str, rate: RateUnit, anchors: dict[Hashable, str]) -> Row:
    measured = math.isfinite(row.value)
    units = scale(row.unit or "B/s", rate)
    # The value beside a reference is of the reference's statistic.
    value = row.peak if row.statistic == "peak" else row.median
    referenced = math.isfinite(row.reference)
    kind = "card" if row.card_entry else "generic" if row.generic else row.baseline_kind
    return Row(
        status=row.status,
        unstable=row.unstable,
        stale=row.stale,
        judged=row.status in verdicts.JUDGED,
        device=_device(row),
        probe=printable(row.probe),
        parameters=shown,
        value=units.text(value) if measured else "",
        unit=units.label if measured else "",
        statistic="peak" if row.statistic == "peak" else "",
        reference=units.text(row.reference) if referenced else "",
        reference_kind=kind if referenced else "",
        bounds=_bounds(row.lower, row.upper, units),
        change=percent_text(row.ratio) if measured and math.isfinite(row.ratio) else "",
        cause=_cause(row),
        next_step=printable(shorten(row.next_step, 400)),
        when=_when(row),
        attempts=row.attempts,
        anchor=anchors.get(row.series, ""),
    )


def _optional(value: float, units: Scale) -> float | None:
    return units.number(value) if math.isfinite(value) else None


def _point(row: Any, units: Scale) -> Point:
    value = _optional(row.value, units)
    parts = [_stamp(row.started)]
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


def _device_changes(changes: pd.DataFrame) -> pd.DataFrame:
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


def _remarks(table: pd.DataFrame, nights: pd.DataFrame, gaps: pd.DataFrame) -> list[str]:
    final = table[table["final"]]
    remarks = []
    if len(nights) < ENOUGH_NIGHTS:
        remarks.append(
            f"not enough data for a trend (n={len(nights)}, need {ENOUGH_NIGHTS} nights)"
        )
    if len(gaps):
        remarks.append(f"{count(int(gaps['missing'].sum()), 'night')} missing")
    if (unstable := int(final["unstable"].sum())) > 0:
        remarks.append(f"{count(unstable, 'unstable result')}")
    for status, one, many in (
        ("regression", "regression", "regressions"),
        ("error", "error", "errors"),
        ("inconclusive", "inconclusive result", "inconclusive results"),
    ):
        if (n := int((final["status"] == status).sum())) > 0:
            remarks.append(count(n, one, many))
    return remarks


def _line(table: pd.DataFrame, nights: pd.DataFrame, units: Scale) -> list[tuple[float, float]]:
    """Nightly medians; the single runs where there is no more than a night or two."""
    if len(nights) >= ENOUGH_NIGHTS:
        return [(n.at.timestamp(), units.number(n.value)) for n in each(nights)]
    runs = table[table["final"] & table["value"].notna()]
    return [(r.started.timestamp(), units.number(r.value)) for r in each(runs)]


def _configuration(row: Any) -> str:
    named = {c: label for c, (_, _, label) in ENVIRONMENT.items()}
    found = [f"{named[c]} {getattr(row, c)}" for c in CONFIGURATION if getattr(row, c)]
    return printable(", ".join(found).replace("power limit ", "power limit W "))


@dataclass(frozen=True)
class _Context:
    """What all histories of a page share."""

    nights: pd.DataFrame
    gaps: pd.DataFrame
    changes: pd.DataFrame
    span: Span
    budget: int
    rate: RateUnit
    shown: dict[tuple[str, str], str]
    anchors: dict[Hashable, str]
    current: frozenset[Hashable]


def _history(key: Hashable, table: pd.DataFrame, context: _Context) -> History:
    last = next(iter(each(table.tail(1))))
    measured = table[table["final"] & table["value"].notna()].tail(1)
    unit = next((u for u in reversed(table["unit"].tolist()) if u), "B/s")
    units = scale(unit, context.rate)
    nights = context.nights[context.nights["series"] == key]
    gaps = context.gaps[context.gaps["series"] == key]
    at = {n.night: n.at.timestamp() for n in each(nights)}
    breaks = [
        (at[g.since], at[g.until], f"{count(g.missing, 'night')} missing") for g in each(gaps)
    ]
    changes = context.changes[context.changes["series"] == key].drop_duplicates("number")
    flags = [(c.at.timestamp(), c.number) for c in each(changes)]
    points = [_point(r, units) for r in each(table)]
    device = _device(last)
    latest = units.text(float(measured["value"].iloc[0])) if len(measured) else ""
    parameters = context.shown[(last.probe, last.parameters)]
    ended = "" if key in context.current else f"{last.started:%Y-%m-%d}"
    remarks = _remarks(table, nights, gaps)
    return History(
        anchor=context.anchors[key],
        device=device,
        probe=printable(last.probe),
        parameters=parameters,
        configuration=_configuration(last),
        status=last.status,
        ended=ended,
        unit=units.label,
        latest=latest,
        latest_change=percent_text(last.ratio) if math.isfinite(last.ratio) else "",
        latest_is_newest=bool(math.isfinite(last.value)),
        statistic=last.shown_statistic,
        summary=(
            f"{printable(last.probe)} on {device.model}, {device.node}: "
            f"{count(len(table), 'result')} from {table['started'].iloc[0]:%Y-%m-%d} "
            f"to {last.started:%Y-%m-%d}, newest {latest or 'without a value'} "
            f"{units.label if latest else ''} {last.status}. {', '.join(remarks)}"
        ),
        remarks=tuple(remarks),
        chart=chart(
            points, _line(table, nights, units), breaks, flags, context.span, context.budget
        ),
    )


def _notices(loaded: Loaded, table: pd.DataFrame, summary: Summary) -> list[Notice]:
    found = []
    if summary.unplaced_bad:
        found.append(
            Notice(
                f"{count(summary.unplaced_bad, 'regression or error', 'regressions or errors')} "
                "whose time stamp is impossible; set the clock of the node right, and move the "
                "files away once looked at",
                (),
            )
        )
    for flag, group in table[table["stamp_flag"] != ""].groupby("stamp_flag"):
        files = tuple(printable(f) for f in group["file"].head(20))
        left_out = "" if group["placed"].all() else "; not placed in a history"
        found.append(
            Notice(
                f"{count(len(group), 'time stamp')} {flag}{left_out}",
                files,
                len(group) - len(files),
            )
        )
    if loaded.skipped:
        items = tuple(printable(f"{s.file}: {s.reason}") for s in loaded.skipped[:50])
        title = f"{count(len(loaded.skipped), 'file')} skipped: no valid result"
        found.append(Notice(title, items, len(loaded.skipped) - len(items)))
    if loaded.conflicts:
        items = tuple(
            printable(f"{c.id}: {listed(list(c.files), 4)}") for c in loaded.conflicts[:50]
        )
        title = f"{count(len(loaded.conflicts), 'id')} used by different results (all are kept)"
        found.append(Notice(title, items, len(loaded.conflicts) - len(items)))
    if loaded.duplicates:
        found.append(Notice(f"{count(loaded.duplicates, 'exact duplicate')} dropped", ()))
    if loaded.scripted_left_out:
        text = count(loaded.scripted_left_out, "result")
        found.append(
            Notice(f"{text} of scripted devices left out; --include-scripted shows them", ())
        )
    return found


def _recent(changes: pd.DataFrame, table: pd.DataFrame) -> tuple[Change, ...]:
    """Changes of the last two weeks of results, equal ones of several series as one."""
    if changes.empty:
        return ()
    latest = table.loc[table["placed"], "started"].max()
    recent = changes[changes["seen"] > latest - pd.Timedelta(days=14)].copy()
    who = table.drop_duplicates("series").set_index("series")
    recent["node"] = recent["series"].map(who["node"])
    recent["day"] = recent["seen"].dt.strftime("%Y-%m-%d")
    found = []
    by = recent.groupby(["day", "field", "before", "after"], sort=True)
    for number, (key, group) in enumerate(by, start=1):
        day, field, before, after = (str(k) for k in key)
        nodes = listed(sorted({printable(n) for n in group["node"]}))
        text = printable(f"{field} {shorten(before, 60)} → {shorten(after, 60)}")
        found.append(Change(number, day, text, nodes))
    return tuple(found)


def build(loaded: Loaded, now: datetime, rate: RateUnit = RateUnit.GIB_S) -> Trend:
    """The whole report. Any number of results will do, none included."""
    table = series_of.identify(loaded.results, now)
    newest = verdicts.newest(table)
    summary = verdicts.summary(newest, table)
    placed = table[table["placed"]]
    nights = series_of.nightly(table)
    changes = _device_changes(series_of.changes(table))
    shown = varying_parameters(table)

    order = _chart_order(newest, placed)
    keys = order[:MOST_CHARTS]
    anchors: dict[Hashable, str] = {key: f"s{i}" for i, key in enumerate(keys, start=1)}
    context = _Context(
        nights=nights,
        gaps=series_of.gaps(nights),
        changes=changes,
        span=span_of([t.timestamp() for t in (placed["started"].min(), placed["started"].max())])
        if len(placed)
        else span_of([]),
        budget=min(500, max(40, MOST_POINTS // max(1, len(keys)))),
        rate=rate,
        shown=shown,
        anchors=anchors,
        current=frozenset(newest["series"]),
    )
    by_series: dict[Hashable, pd.DataFrame] = dict(iter(placed.groupby("series", sort=False)))
    histories = [_history(key, by_series[key], context) for key in keys]
    latest = placed["started"].max() if len(placed) else None
    rows = [
        _row(r, shown[(r.probe, r.parameters)], rate, anchors) for r in each(newest.head(MOST_ROWS))
    ]
    return Trend(
        made=_stamp(now),
        newest=_stamp(latest) if latest is not None else "",
        age_days=(pd.Timestamp(now) - latest).days if latest is not None else 0,
        summary=summary,
        rows=tuple(rows),
        rows_left_out=len(newest) - len(rows),
        groups=_grouped(histories, changes),
        charts_left_out=len(order) - len(keys),
        notices=tuple(_notices(loaded, table, summary)),
        recent_changes=_recent(changes, table),
        models=tuple(sorted({h.device.model for h in histories} | {r.device.model for r in rows})),
        nodes=tuple(sorted({h.device.node for h in histories} | {r.device.node for r in rows})),
        probes=tuple(sorted({h.probe for h in histories} | {r.probe for r in rows})),
        results=len(table),
        devices=table["card"].nunique(),
    )


def _chart_order(newest: pd.DataFrame, placed: pd.DataFrame) -> list[Hashable]:
    """Current series first, worst verdict first; then those that ended."""
    there = set(placed["series"])
    current = [key for key in newest["series"] if key in there]
    ended = [key for key in placed["series"].drop_duplicates() if key not in set(current)]
    return [*current, *ended]


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
