# SPDX-License-Identifier: Apache-2.0
"""Builds the trend report from what was read."""

from collections.abc import Hashable
from datetime import datetime

import pandas as pd

from bandgate_reports.analysis import series as series_of
from bandgate_reports.analysis import verdicts
from bandgate_reports.store import Loaded
from bandgate_reports.store.records import each
from bandgate_reports.text import listed, printable, shorten
from bandgate_reports.trend import peers
from bandgate_reports.trend.histories import device_changes, draw
from bandgate_reports.trend.model import Change, Trend
from bandgate_reports.trend.notices import notices
from bandgate_reports.trend.parts import MOST_PARTS, failed_parts, newest_parts
from bandgate_reports.trend.rows import stamp_text, varying_parameters, verdict_row
from bandgate_reports.trend.strips import strip
from bandgate_reports.trend.sweeps import is_swept, sweeps
from bandgate_reports.units import RateUnit

# Keeps the page below 10 MB whatever it is fed; what is left out is said.
MOST_CHARTS = 800
MOST_ROWS = 1500
MOST_SWEEPS = 200


def build(loaded: Loaded, now: datetime, rate: RateUnit = RateUnit.GIB_S) -> Trend:
    """The whole report. Any number of results will do, none included."""
    everything = series_of.identify(loaded.results, now)
    swept = is_swept(everything)
    table = everything[~swept].reset_index(drop=True)
    newest = verdicts.newest(table)
    summary = verdicts.summary(newest, table)
    placed = table[table["placed"]]
    changes = device_changes(series_of.changes(table))
    shown = varying_parameters(table)
    order = _chart_order(newest, placed)
    anchors: dict[Hashable, str] = {key: f"s{i}" for i, key in enumerate(order[:MOST_CHARTS], 1)}
    groups = draw(table, changes, anchors, frozenset(newest["series"]), shown, rate)
    rows = tuple(
        verdict_row(r, shown[(r.probe, r.parameters)], rate, anchors)
        for r in each(newest.head(MOST_ROWS))
    )
    matrices = peers.matrices(peers.pairs(everything, verdicts.newest(everything)), rate)
    parts = newest_parts(newest[~newest["stale"]], shown, rate)
    devices = [*(g.device for g in groups), *(r.device for r in rows)]
    probes = [*(h.probe for g in groups for h in g.histories), *(r.probe for r in rows)]
    latest = placed["started"].max() if len(placed) else None
    return Trend(
        made=stamp_text(now),
        newest=stamp_text(latest) if latest is not None else "",
        age_days=(pd.Timestamp(now) - latest).days if latest is not None else 0,
        summary=summary,
        rows=rows,
        rows_left_out=len(newest) - len(rows),
        groups=groups,
        charts_left_out=len(order) - len(anchors),
        sweeps=sweeps(everything[swept])[:MOST_SWEEPS],
        matrices=matrices[: peers.MOST_MATRICES],
        matrices_left_out=max(0, len(matrices) - peers.MOST_MATRICES),
        strips=tuple(strip(p) for p in parts[:MOST_PARTS]),
        strips_left_out=max(0, len(parts) - MOST_PARTS),
        faults=failed_parts(newest[~newest["stale"]])[:MOST_PARTS],
        notices=tuple(notices(loaded, table, summary)),
        recent_changes=_recent(changes, table),
        models=tuple(sorted({d.model for d in devices})),
        nodes=tuple(sorted({d.node for d in devices})),
        probes=tuple(sorted(set(probes))),
        results=len(everything),
        devices=everything["card"].nunique(),
        hosts=everything["node"].nunique(),
    )


def _chart_order(newest: pd.DataFrame, placed: pd.DataFrame) -> list[Hashable]:
    """Current series first, worst verdict first; then those that ended."""
    there = set(placed["series"])
    current = [key for key in newest["series"] if key in there]
    ended = [key for key in placed["series"].drop_duplicates() if key not in set(current)]
    return [*current, *ended]


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
