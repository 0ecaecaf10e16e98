# SPDX-License-Identifier: Apache-2.0
"""Builds the trend report from what was read."""

from datetime import datetime

import pandas as pd

from bandgate_reports.analysis import series as series_of
from bandgate_reports.analysis import verdicts
from bandgate_reports.demo import mark
from bandgate_reports.store import Loaded
from bandgate_reports.store.records import each
from bandgate_reports.text import listed, printable, shorten
from bandgate_reports.trend import peers
from bandgate_reports.trend.histories import (
    Analyses,
    day_of,
    day_text,
    device_changes,
    histories,
)
from bandgate_reports.trend.joined import joined
from bandgate_reports.trend.model import DAY_S, Change, History, Row, Trend
from bandgate_reports.trend.notices import notices
from bandgate_reports.trend.parts import MOST_PARTS, failed_parts, newest_parts
from bandgate_reports.trend.points import Points, points
from bandgate_reports.trend.reasons import said_often
from bandgate_reports.trend.rows import stamp_text, varying_parameters, verdict_row
from bandgate_reports.trend.since import since
from bandgate_reports.trend.spark import Window, window
from bandgate_reports.trend.strips import strip
from bandgate_reports.trend.sweeps import is_swept, sweeps
from bandgate_reports.units import RateUnit

# Keeps the page below 10 MB whatever it is fed; what is left out is said.
MOST_ROWS = 6000
MOST_SWEEPS = 200
_ORDINARY = ("pass", "measured", "no-baseline", "skipped")
_RECENT = pd.Timedelta(days=14)


def build(
    loaded: Loaded,
    now: datetime,
    rate: RateUnit = RateUnit.GIB_S,
) -> Trend:
    """The whole report. Any number of results will do, none included."""
    everything = series_of.identify(loaded.results, now)
    swept = is_swept(everything)
    table = everything[~swept].reset_index(drop=True) if swept.any() else everything
    newest = verdicts.newest(table)
    summary = verdicts.summary(newest, table)
    placed = table.loc[table["placed"], "started"]
    changes = device_changes(series_of.changes(table))
    shown = varying_parameters(table)
    analyses, sections = joined(table, changes, shown, now, rate)
    rows, drawn, left_out = _rows(table, newest, changes, analyses, shown, rate)
    of_all = verdicts.newest(everything) if swept.any() else newest
    matrices = peers.matrices(peers.pairs(everything, of_all), rate)
    parts = newest_parts(newest[~newest["stale"]], shown, rate)
    latest = placed.max() if len(placed) else None
    return Trend(
        made=stamp_text(now),
        newest=stamp_text(latest) if latest is not None else "",
        age_days=(pd.Timestamp(now) - latest).days if latest is not None else 0,
        summary=summary,
        since=since(table, newest, analyses.announced),
        rows=rows,
        histories=drawn,
        rows_left_out=left_out,
        reasons=said_often(rows),
        sections=sections,
        sweeps=sweeps(everything[swept])[:MOST_SWEEPS],
        matrices=matrices[: peers.MOST_MATRICES],
        matrices_left_out=max(0, len(matrices) - peers.MOST_MATRICES),
        strips=tuple(strip(p) for p in parts[:MOST_PARTS]),
        strips_left_out=max(0, len(parts) - MOST_PARTS),
        faults=failed_parts(newest[~newest["stale"]])[:MOST_PARTS],
        notices=tuple(notices(loaded, table, summary)),
        recent_changes=_recent(changes, table),
        results=len(everything),
        demo=mark.notice(everything),
        demo_mixed=bool(everything["demo"].any() and not everything["demo"].all()),
        devices=everything["card"].nunique(),
        hosts=everything["node"].nunique(),
    )


def _rows(
    table: pd.DataFrame,
    newest: pd.DataFrame,
    changes: pd.DataFrame,
    analyses: Analyses,
    shown: dict[tuple[str, str], str],
    rate: RateUnit,
) -> tuple[tuple[Row, ...], tuple[History | None, ...], int]:
    """Current series, worst verdict first, then those that ended; with the history of each."""
    found = points(table)
    ended = _ended(table, found, {int(s) for s in newest["series"]})
    listed_rows = [(r, "") for r in each(_fitting(newest, analyses))]
    room = MOST_ROWS - len(listed_rows)
    listed_rows += [(r, f"{r.started:%Y-%m-%d}") for r in each(ended.head(room))]
    wanted = [int(r.series) for r, _ in listed_rows]
    drawn = histories(table, found, wanted, changes, analyses, shown, rate)
    over = _window(table)
    rows = tuple(
        verdict_row(r, shown[(r.probe, r.parameters)], rate, drawn.get(int(r.series)), over, until)
        for r, until in listed_rows
    )
    left_out = len(newest) + len(ended) - len(rows)
    return rows, tuple(drawn.get(key) for key in wanted), left_out


def _fitting(newest: pd.DataFrame, analyses: Analyses) -> pd.DataFrame:
    """As many as a page holds, in their order; what is out of the ordinary before what is not."""
    if len(newest) <= MOST_ROWS:
        return newest
    ordinary = newest["status"].isin(_ORDINARY) & ~newest["series"].isin(list(analyses.steps))
    order = ordinary.sort_values(kind="stable").index[:MOST_ROWS]
    return newest.loc[order.sort_values()]


def _ended(table: pd.DataFrame, found: Points, current: set[int]) -> pd.DataFrame:
    """The last result of each series that its line has left: another configuration or version."""
    last = [found.row[w.stop - 1] for key, w in found.slices().items() if key not in current]
    rows = table.iloc[last].sort_values("started", ascending=False, kind="stable")
    return rows.assign(attempts=rows["attempt"], stale=False)


def _window(table: pd.DataFrame) -> Window:
    placed = table.loc[table["placed"], "started"]
    if placed.empty:
        return window(0, 0)
    return window(day_of(placed.min()), day_of(placed.max()))


def _recent(changes: pd.DataFrame, table: pd.DataFrame) -> tuple[Change, ...]:
    """Changes of the last two weeks of results, the newest first; a line for each night and set of
    hosts, in which fields that went the same way stand together."""
    if changes.empty:
        return ()
    latest = table.loc[table["placed"], "started"].max()
    recent = changes[changes["seen"] > latest - _RECENT].copy()
    who = table[["series", "node"]].drop_duplicates("series").set_index("series")
    recent["node"] = recent["series"].map(who["node"].astype("object"))
    recent["day"] = recent["seen"].dt.strftime("%Y-%m-%d")
    today = day_text(latest.timestamp() // DAY_S)
    ways: dict[tuple[str, str], dict[str, list[str]]] = {}
    for key, group in recent.sort_values("seen", kind="stable").groupby(
        ["day", "field", "before", "after"], sort=False
    ):
        day, field, before, after = (str(k) for k in key)
        nodes = listed(sorted({printable(n) for n in group["node"]}))
        step = printable(f"{shorten(before, 60)} → {shorten(after, 60)}")
        ways.setdefault((day, nodes), {}).setdefault(printable(field), []).append(step)
    made = [Change(day, _ways(by), nodes, day == today) for (day, nodes), by in ways.items()]
    return tuple(sorted(made, key=lambda c: c.when, reverse=True))


def _ways(steps: dict[str, list[str]]) -> str:
    """\"driver, fabric manager 570 → 580, 580 → 570; ECC off → on\"."""
    fields: dict[str, list[str]] = {}
    for field in sorted(steps, key=str.lower):
        fields.setdefault(", ".join(steps[field]), []).append(field)
    return "; ".join(f"{', '.join(names)} {way}" for way, names in fields.items())
