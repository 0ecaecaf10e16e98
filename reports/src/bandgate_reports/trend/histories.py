# SPDX-License-Identifier: Apache-2.0
"""Histories: every series as arrays, with what has to be said about it."""

import hashlib
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bandgate_reports.analysis import series as series_of
from bandgate_reports.analysis.verdicts import STATUSES
from bandgate_reports.store.records import CONFIGURATION, ENVIRONMENT, each, each_by_series
from bandgate_reports.text import count, printable, shorten
from bandgate_reports.trend.charts import value_range
from bandgate_reports.trend.model import DAY_S, Band, Flag, History, Item, Step
from bandgate_reports.trend.points import ENOUGH_NIGHTS, Points
from bandgate_reports.trend.rows import RESTATING, device
from bandgate_reports.trend.spark import gaps
from bandgate_reports.units import RateUnit, Scale, percent_text, scale

# Causes that a history remembers, the newest: of a card that fails every night they are all one.
MOST_WHYS = 60
# Numbered lines in one history, the newest.
MOST_FLAGS = 24

_TOLD = ("regression", "error", "inconclusive")
_LAST = (
    "series card device cpu_model backend node pci_address uuid probe parameters version "
    "shown_statistic lower_is_better"
).split()


def device_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """`changes` with `number`: those that one card saw in one night share a flag."""
    table = changes.copy()
    table["night"] = table["seen"].dt.floor(series_of.NIGHT)
    table["number"] = table.groupby("card", observed=True)["night"].rank(method="dense")
    table["number"] = table["number"].astype("int64")
    return table


def day_of(at: pd.Timestamp) -> int:
    return math.floor(at.timestamp() / DAY_S)


def day_text(day: float) -> str:
    return f"{np.datetime64(int(day), 'D')}"


@dataclass(frozen=True, eq=False)
class Analyses:
    """What others found in the nights, by series. All may be empty."""

    steps: Mapping[Hashable, list[Any]]
    bad_nights: Mapping[Hashable, list[Any]]
    announced: tuple[Item, ...]  # change points that are certain since the newest night


def histories(
    table: pd.DataFrame,
    found: Points,
    wanted: Iterable[int],
    changes: pd.DataFrame,
    analyses: Analyses,
    shown: Mapping[tuple[str, str], str],
    rate: RateUnit,
) -> dict[int, History]:
    """Of the `wanted` series, those that have a point. `changes` as device_changes() gives them."""
    where = found.slices()
    keys = [k for k in wanted if k in where]
    last = table[[*_LAST, *CONFIGURATION]].iloc[[found.row[where[k].stop - 1] for k in keys]]
    units = table["unit"].iloc[[_measured_row(found, where[k]) for k in keys]]
    whys = _whys(table, found, where, keys)
    flags = each_by_series(changes[changes["series"].isin(keys)])
    made: dict[int, History] = {}
    taken: set[str] = set()
    for key, row, unit in zip(keys, each(last), units, strict=True):
        name = _key(row, taken)
        taken.add(name)
        one = _History(found, where[key], row, scale(str(unit) or "B/s", rate), name)
        made[key] = one.made(
            shown[(row.probe, row.parameters)], flags.get(key, []), analyses, key, whys.get(key, ())
        )
    return made


def _measured_row(found: Points, where: slice) -> int:
    """A result that knows its unit, if there is one."""
    known = np.flatnonzero(np.isfinite(found.value[where]))
    return int(found.row[where][known[-1] if len(known) else -1])


def _key(row: Any, taken: set[str]) -> str:
    """Of what makes a series one: a link to it still leads there tomorrow."""
    named = [row.card, row.probe, row.parameters, row.version]
    named += [getattr(row, c) for c in CONFIGURATION]
    text = "\x1f".join(str(n) for n in named).encode("utf-8", "surrogatepass")
    name = "s" + hashlib.blake2s(text, digest_size=5).hexdigest()
    number = 2
    while name in taken:
        name, number = f"{name.split('-')[0]}-{number}", number + 1
    return name


def configuration_text(row: Any) -> str:
    named = {c: label for c, (_, _, label) in ENVIRONMENT.items()}
    found = [f"{named[c]} {getattr(row, c)}" for c in CONFIGURATION if getattr(row, c)]
    return printable(", ".join(found))


def _whys(
    table: pd.DataFrame, found: Points, where: Mapping[int, slice], keys: list[int]
) -> dict[int, tuple[tuple[int, str], ...]]:
    """Per series, what was said of its nights that were not as they should be."""
    told = np.isin(found.codes, [STATUSES.index(s) for s in _TOLD]) | found.unstable
    picked = {k: np.flatnonzero(told[where[k]])[-MOST_WHYS:] for k in keys}
    rows = [found.row[where[k]][i] for k, places in picked.items() for i in places]
    columns = ["failure_message", "failure_code", "reasons"]
    texts = iter([_why(r) for r in each(table[columns].iloc[rows])])
    return {
        k: tuple((int(i), text) for i in places if (text := next(texts)))
        for k, places in picked.items()
    }


def _why(row: Any) -> str:
    said = [s for code, s in row.reasons if code not in RESTATING]
    said += [s for code, s in row.reasons if code in RESTATING]
    text = row.failure_message or next(iter(said), "") or row.failure_code
    return printable(shorten(str(text), 160))


@dataclass(frozen=True, eq=False)
class _History:
    """One series in the making."""

    found: Points
    where: slice
    row: Any  # its newest result
    units: Scale
    key: str

    def made(
        self,
        parameters: str,
        changes: list[Any],
        analyses: Analyses,
        key: Hashable,
        whys: tuple[tuple[int, str], ...],
    ) -> History:
        found, where = self.found, self.where
        at, value = found.at[where], found.value[where]
        step_s = int(found.step_s[where.start])
        bands = _bands(found.bands[where])
        low, high = value_range(
            value,
            np.array([b.reference for b in bands]),
            np.array([[b.lower, b.upper] for b in bands]).ravel(),
        )
        nights = step_s == DAY_S
        return History(
            key=self.key,
            device=device(self.row),
            probe=printable(self.row.probe),
            parameters=parameters,
            configuration=configuration_text(self.row),
            statistic=str(self.row.shown_statistic),
            lower_is_better=bool(self.row.lower_is_better),
            units=self.units,
            step_s=step_s,
            at=at,
            value=value,
            codes=found.codes[where],
            unstable=found.unstable[where],
            bands=bands,
            bad_nights=_places(at, analyses.bad_nights.get(key, [])) if nights else (),
            steps=self._steps(at, analyses.steps.get(key, [])) if nights else (),
            flags=_flags(changes, step_s),
            whys=whys,
            remarks=_remarks(found, where),
            low=low,
            high=high,
            results=int(found.results[where].sum()),
        )

    def _steps(self, at: npt.NDArray[np.int64], steps: list[Any]) -> tuple[Step, ...]:
        made = []
        for one in steps:
            places = _places(at, [one])
            if not places:
                continue
            ratio = 1 + one.step  # NaN where the level was 0
            when = day_text(at[places[0]])
            before, after = self.units.text(one.before), self.units.text(one.after)
            slower = "slower" if one.worse else "faster"
            word = f" {slower}" if self.row.lower_is_better else ""
            text = f"{percent_text(ratio)}{word} since {when}: "
            text += f"{before} → {after} {self.units.label}"
            text += f", {one.shared}" if one.shared else ""
            made.append(Step(places[0], when, ratio, bool(one.worse), text))
        return tuple(made)


def _places(at: npt.NDArray[np.int64], rows: list[Any]) -> tuple[int, ...]:
    """The points of those nights; a night that has none is left out."""
    days = np.array([day_of(r.night) for r in rows], dtype=np.int64)
    places = np.minimum(np.searchsorted(at, days), len(at) - 1)
    return tuple(int(p) for p, day in zip(places, days, strict=True) if at[p] == day)


def _bands(stated: npt.NDArray[np.float64]) -> tuple[Band, ...]:
    """Where each baseline begins. Points that carry none leave no hole: it is still there."""
    known = np.flatnonzero(np.isfinite(stated[:, 0]))
    if not len(known):
        return ()
    rows = stated[known]
    same = (rows[1:] == rows[:-1]) | (np.isnan(rows[1:]) & np.isnan(rows[:-1]))
    begins = np.flatnonzero(np.r_[True, ~same.all(axis=1)])
    return tuple(Band(int(known[i]), *rows[i].tolist()) for i in begins)


def _field(change: Any) -> str:
    return f"{change.probe} version" if change.field == "probe version" else str(change.field)


def _flags(changes: list[Any], step_s: int) -> tuple[Flag, ...]:
    """A line a night, with all that changed in it."""
    nights: dict[int, list[Any]] = {}
    for change in changes:
        nights.setdefault(change.number, []).append(change)
    made = []
    for number, ones in list(nights.items())[-MOST_FLAGS:]:
        texts = [
            printable(f"{_field(c)} {shorten(c.before, 60)} → {shorten(c.after, 60)}") for c in ones
        ]
        first = ones[0]
        at = (
            day_of(first.seen) - 0.5 if step_s == DAY_S else round(first.at.timestamp() / step_s, 1)
        )
        text = "; ".join(dict.fromkeys(texts))
        made.append(Flag(at, number, f"{first.seen:%Y-%m-%d}", text))
    return tuple(made)


def _remarks(found: Points, where: slice) -> tuple[str, ...]:
    at, codes = found.at[where], found.codes[where]
    by_night = found.step_s[where.start] == DAY_S
    remarks = []
    if not by_night:
        nights = len(np.unique(at * found.step_s[where] // DAY_S))
        remarks.append(f"not enough data for a trend (n={nights}, need {ENOUGH_NIGHTS} nights)")
    else:
        measured = at[np.isfinite(found.value[where])]
        broken = gaps(measured)
        if broken.any():
            apart = np.diff(measured)
            missing = np.rint(apart / max(1.0, float(np.median(apart)))) - 1
            remarks.append(f"{count(int(missing[broken[1:]].sum()), 'night')} missing")
    word = "night" if by_night else "run"
    if (unstable := int(found.unstable[where].sum())) > 0:
        remarks.append(f"unstable in {count(unstable, word)}")
    for status in _TOLD:
        if (n := int((codes == STATUSES.index(status)).sum())) > 0:
            remarks.append(f"{status} in {count(n, word)}")
    return tuple(remarks)
