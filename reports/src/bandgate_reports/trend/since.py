# SPDX-License-Identifier: Apache-2.0
"""What is otherwise than the night before: the first question of a morning."""

import math
from collections.abc import Hashable
from typing import Any

import pandas as pd

from bandgate_reports.analysis import series as series_of
from bandgate_reports.analysis import verdicts
from bandgate_reports.store.records import each
from bandgate_reports.text import count, listed, printable, shorten
from bandgate_reports.trend.model import Item, Since
from bandgate_reports.units import percent_text

_BAD = ("regression", "error", "inconclusive")
_NAMES = {"no-baseline": "no baseline"}
# Of the devices of the night before; with fewer, the night is not over.
_ENOUGH_DEVICES = 0.5


# What verdicts.newest() and the items below look at: the whole table is four times as wide.
_NEEDED = [
    *("line", "group", "attempt", "final", "placed", "started", "status", "backend", "device"),
    *("node", "pci_address", "uuid", "card", "probe", "parameters"),
]


def since(
    table: pd.DataFrame, newest: pd.DataFrame, announced: tuple[Item, ...] = ()
) -> Since | None:
    """`table` as series.identify() gives it, `newest` as verdicts.newest() does; none without
    a result that has a place in time."""
    placed = table["placed"]
    if not placed.any():
        return None
    newest = newest[[*_NEEDED, "ratio", "stale"]]
    night = table.loc[placed, "started"].max().floor(series_of.NIGHT)
    # A result whose time cannot be right is neither before nor after.
    earlier = table.loc[placed & (table["started"] < night), _NEEDED]
    if earlier.empty:
        return Since(_wrong(newest), f"{night:%Y-%m-%d}", "", (), (), (), (), (), (), "")
    before = earlier["started"].max().floor(series_of.NIGHT)
    then = verdicts.newest(earlier)
    both = _compared(newest, then)
    bad, was_bad = both["status"].isin(_BAD), both["was"].isin(_BAD)
    differs = both["status"] != both["was"]
    known = both["was"] != ""
    gone, under_way = _gone(table, night, before)
    fresh = ~newest["card"].isin(earlier["card"].unique()) & ~newest["stale"] & newest["placed"]
    return Since(
        wrong=_wrong(newest),
        night=f"{night:%Y-%m-%d}",
        before=f"{before:%Y-%m-%d}",
        new=_items(both[bad & differs], "status"),
        over=_items(both[was_bad & ~bad], "status"),
        other=_items(both[~bad & ~was_bad & differs & known], "status"),
        steps=announced,
        gone=gone,
        back=_items(newest[fresh & ~newest["status"].isin(_BAD)].assign(was=""), "status"),
        under_way=under_way,
    )


def _compared(newest: pd.DataFrame, then: pd.DataFrame) -> pd.DataFrame:
    """The counted verdicts of today, with `was`: that of the same line before, "" without one."""
    was: dict[Hashable, Any] = dict(zip(then["line"], then["status"].astype("object"), strict=True))
    current = newest[~newest["stale"]]
    return current.assign(was=[str(was.get(line, "")) for line in current["line"]])


def _items(found: pd.DataFrame, by: str) -> tuple[Item, ...]:
    """One for each node and pair of verdicts, in the order of `found`: worst first."""
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for r in each(found):
        groups.setdefault((r.node or "unknown host", r.was, getattr(r, by)), []).append(r)
    made = []
    for (node, was, status), rows in groups.items():
        name = _NAMES.get(status, status)
        turn = f"{name}, was {_NAMES.get(was, was)}" if was else name
        made.append(Item(status, _where(node, rows), f"{_probes(rows)}: {turn}"))
    return tuple(made)


def _wrong(newest: pd.DataFrame) -> tuple[Item, ...]:
    """What is wrong by now: a line for each node and verdict, with how far off it is."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for r in each(newest[newest["status"].isin(_BAD) & ~newest["stale"]]):
        groups.setdefault((r.status, r.node or "unknown host"), []).append(r)
    made = []
    for (status, node), rows in groups.items():
        off = sorted(r.ratio for r in rows if math.isfinite(r.ratio)) if status == _BAD[0] else []
        ends = list(dict.fromkeys(percent_text(r) for r in (off[0], off[-1]))) if off else []
        text = f"{_probes(rows)}{', ' if ends else ''}{' to '.join(ends)}"
        made.append(Item(status, _where(node, rows), text))
    return tuple(made)


def _where(node: str, rows: list[Any]) -> str:
    cards = {r.card for r in rows}
    shown = printable(shorten(node, 80))
    if len(cards) == 1:
        place = printable(shorten(rows[0].pci_address, 40))
        return f"{shown} · {place}" if place else shown
    return f"{shown} · {count(len(cards), 'device')}"


def _probes(rows: list[Any]) -> str:
    return listed(list(dict.fromkeys(printable(shorten(r.probe, 60)) for r in rows)))


def _gone(
    table: pd.DataFrame, night: pd.Timestamp, before: pd.Timestamp
) -> tuple[tuple[Item, ...], str]:
    """What was measured night by night and is missing in the newest, and why that is not said."""
    used = table.loc[table["placed"], ["line", "card", "started"]]
    day = used["started"].dt.floor(series_of.NIGHT)
    last = used[day == before].drop_duplicates("line")
    now = set(used.loc[day == night, "line"].unique())
    cards = last["card"].nunique()
    seen = last.loc[last["line"].isin(now), "card"].nunique()
    if seen < _ENOUGH_DEVICES * cards:
        return (), f"{seen} of the {count(cards, 'device')} of the night before measured so far"
    missing = last[~last["line"].isin(now)]
    missing = missing[missing["line"].isin(_nightly(used, day, missing["line"]))]
    if missing.empty:
        return (), ""
    lines_of = last.groupby("card", observed=True)["line"].nunique()
    rows = table.loc[missing.index, _NEEDED]
    whole: dict[str, list[Any]] = {}
    parts: dict[str, list[Any]] = {}
    absent = rows.groupby("card", observed=True)["line"].nunique()
    for r in each(rows):
        kind = whole if absent[r.card] == lines_of[r.card] else parts
        kind.setdefault(r.node or "unknown host", []).append(r)
    said = f"last measured {before:%Y-%m-%d}"
    found = [Item("error", _where(node, ones), said) for node, ones in whole.items()]
    for node, ones in parts.items():
        found.append(Item("inconclusive", _where(node, ones), f"{_probes(ones)}: {said}"))
    return tuple(found), ""


def _nightly(used: pd.DataFrame, day: pd.Series, lines: pd.Series) -> list[Any]:
    """Those of `lines` that have a result in most nights: one tested weekly is not missing."""
    own = used["line"].isin(lines)
    nights = pd.DataFrame({"line": used.loc[own, "line"], "day": day[own]}).drop_duplicates()
    apart = nights.sort_values(["line", "day"]).groupby("line")["day"].diff().dt.days
    habit = apart.groupby(nights["line"]).median()
    return list(habit.index[habit <= 1])
