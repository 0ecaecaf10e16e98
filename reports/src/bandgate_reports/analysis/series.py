# SPDX-License-Identifier: Apache-2.0
"""Results as series: one card, one configuration, one probe with its parameters and version."""

from datetime import datetime
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from bandgate_reports.analysis.clocks import flag_stamps
from bandgate_reports.analysis.keys import (
    Codes,
    blank,
    codes,
    filled,
    greatest,
    grouping,
    microseconds,
)
from bandgate_reports.store.records import CONFIGURATION, ENVIRONMENT
from bandgate_reports.store.stamps import NOT_PLACED

LINE = ["card", "probe", "parameters"]

# Nights are UTC days, wherever a node is: a local night would move with daylight saving.
NIGHT = "D"
_DAY_US = 86_400_000_000


def identify(results: pd.DataFrame, now: datetime) -> pd.DataFrame:
    """Adds card, series, line, final, placed and value; flags the stamps. One row a result.

    `results` as store.load() gives them, in the order of their start.
    """
    table = results.copy(deep=False)
    table["card"] = _cards(table)
    table["stamp_flag"] = flag_stamps(table, now)
    table["placed"] = ~table["stamp_flag"].isin(NOT_PLACED)
    table["line"] = grouping(*(table[c] for c in LINE))
    table["series"] = grouping(table["line"], table["version"], *_configuration(table))
    attempt = table["attempt"].to_numpy()
    table["final"] = attempt == greatest(attempt, grouping(table["line"], table["group"]))
    return _with_values(table)


def _cards(table: pd.DataFrame) -> pd.Series:
    """A card is its UUID; without one, a host and a PCI address on it.

    A result that could not read the UUID (a lost GPU) belongs to the card that was last seen at
    its address.
    """
    place = grouping(table["backend"], table["host"], table["pci_address"])
    own = blank(table["uuid"])
    known = filled(filled(own, place), place, backward=True)
    known = np.where(blank(table["pci_address"]) != 0, known, own)
    # Two kinds of key, told apart: those of a UUID and those of a place.
    key = grouping(table["backend"], known, np.where(known == 0, place + 1, 0))
    first = np.unique(key, return_index=True)[1] if len(key) else np.empty(0, dtype=np.int64)
    uuids = table["uuid"].cat.categories
    seen = (table[c].iloc[first].astype("object") for c in ("backend", "host", "pci_address"))
    names = [
        f"{backend}|{uuids[own - 1] if own else f'{host}|{address}'}"
        for own, backend, host, address in zip(known[first], *seen, strict=True)
    ]
    # Names may coincide where a host is called like a UUID; they are then one card, as ever.
    texts = pd.Series(names, dtype="str")
    ordered = pd.Index(sorted(set(names)), dtype="str")
    place_of = ordered.get_indexer(pd.Index(texts))
    cards = pd.Categorical.from_codes(place_of[key] if len(key) else [], categories=ordered)
    return pd.Series(cards, index=table.index)


def _configuration(table: pd.DataFrame) -> list[Codes]:
    """What is not known is as it was: a night without NVML does not start a new series."""
    card = codes(table["card"])
    found = []
    for column in CONFIGURATION:
        forward = filled(blank(table[column]), card)
        found.append(filled(forward, card, backward=True))
    return found


def _with_values(table: pd.DataFrame) -> pd.DataFrame:
    """`value`: one statistic for a whole series, the one it was last judged by (else the median).

    A bound on another statistic says nothing about these values: it is left out.
    """
    series = table["series"].to_numpy()
    own = blank(table["statistic"])
    newest = filled(own, series)
    order = np.argsort(series, kind="stable")
    ends = np.append(np.diff(series[order]) != 0, True)[: len(table)]
    of_series = np.zeros(int(series.max(initial=-1)) + 1, dtype=np.int64)
    of_series[series[order][ends]] = newest[order][ends]
    names = np.array(["median", *table["statistic"].cat.categories], dtype=object)
    shown = names[of_series[series]] if len(table) else np.empty(0, dtype=object)
    table["shown_statistic"] = pd.Categorical(shown, categories=sorted({*map(str, names)}))
    value = table["median"].to_numpy(copy=True)
    for statistic in ("peak", "worst"):
        other = shown == statistic
        value[other] = table[statistic].to_numpy()[other]
    table["value"] = value
    foreign = (own != 0) & (own != of_series[series])
    for bound in ("reference", "lower", "upper"):
        table[f"band_{bound}"] = table[bound].mask(foreign)
    return table


def nightly(results: pd.DataFrame) -> pd.DataFrame:
    """Per series and night: the median over its runs (final attempts), their number and time."""
    usable = results["placed"] & results["final"] & results["value"].notna()
    runs = results.loc[usable, ["series", "started", "value"]]
    at = microseconds(runs["started"])
    series, day = runs["series"].to_numpy(), at // _DAY_US
    order = np.lexsort((day, series))
    table = pd.DataFrame({"series": series, "day": day, "value": runs["value"], "at": at})
    table = table.iloc[order].reset_index(drop=True)
    begins = ~table.duplicated(["series", "day"]).to_numpy()
    found = table[begins].reset_index(drop=True)
    found["runs"] = np.diff(np.append(np.flatnonzero(begins), len(table)))
    # Nearly all nights have one run, which is its median.
    several = found.index[found["runs"] > 1]
    if len(several):
        night = np.cumsum(begins) - 1
        few = table[np.isin(night, several)]
        medians = few.groupby(["series", "day"], sort=True)[["value", "at"]].median()
        found["at"] = found["at"].astype("float64")
        found.loc[several, ["value", "at"]] = medians.to_numpy()
    for name, stamps in (("night", found["day"] * _DAY_US), ("at", found["at"])):
        found[name] = pd.to_datetime(stamps.astype("int64"), unit="us", utc=True).dt.as_unit("us")
    return found[["series", "night", "value", "runs", "at"]]


def gaps(nights: pd.DataFrame) -> pd.DataFrame:
    """Where a series pauses: the nights around the pause and how many are missing.

    A pause is measured against the series' own habit (the median distance of its nights), so a
    card that is tested once a week has no gap between two weeks.
    """
    table = nights[["series", "night"]].sort_values(["series", "night"])
    previous = table.groupby("series")["night"].shift()
    days = (table["night"] - previous).dt.days
    habit = days.groupby(table["series"]).transform("median").clip(lower=1)
    missing = (days / habit).round() - 1
    found = table.assign(since=previous, until=table["night"], missing=missing)
    found = found[(days > 1.5 * habit) & (missing >= 1)]
    return found[["series", "since", "until", "missing"]].astype({"missing": "int64"})


def changes(results: pd.DataFrame) -> pd.DataFrame:
    """Every change of the recorded environment along a line of results, in time.

    Columns: series (that it leads to), card, probe, at (between the two results), seen (start of
    the first result that has it), field, before, after. A fact that is not known is no change.
    """
    rows = np.flatnonzero(results["placed"])
    stamps = microseconds(results["started"])[rows]
    line = results["line"].to_numpy()[rows]
    along = np.lexsort((results["attempt"].to_numpy()[rows], stamps, line))
    rows, line = rows[along], line[along]
    named = {c: label for c, (_, _, label) in ENVIRONMENT.items()} | {"version": "probe version"}
    found = [_changes_of(results[column], rows, line) for column in named]
    at = np.concatenate([one.at for one in found])
    few = results[["series", "card", "probe", "started"]]
    here, previous = (few.iloc[rows[n]].reset_index(drop=True) for n in (at, at - 1))
    field = np.repeat(list(named.values()), [len(one.at) for one in found])
    table = pd.DataFrame(
        {
            "series": here["series"],
            "card": here["card"].astype("str"),
            "probe": here["probe"].astype("str"),
            "at": here["started"] - (here["started"] - previous["started"]) / 2,
            "seen": here["started"],
            "field": pd.Series(field, dtype="str"),
            "before": pd.Series(np.concatenate([one.before for one in found]), dtype="str"),
            "after": pd.Series(np.concatenate([one.after for one in found]), dtype="str"),
        }
    )
    return table.sort_values(["series", "at"], kind="stable", ignore_index=True)


class _Changed(NamedTuple):
    at: Codes  # places in `rows` of the first results that have it
    before: npt.NDArray[np.object_]
    after: npt.NDArray[np.object_]


def _changes_of(facts: pd.Series, rows: Codes, line: Codes) -> _Changed:
    """`rows` by line, and in time within one."""
    if not isinstance(facts.dtype, pd.CategoricalDtype):
        number, texts = pd.factorize(facts)
        facts = pd.Series(pd.Categorical.from_codes(number, texts.astype("str")))
    same_line = line[1:] == line[:-1]
    # Nearly all facts never change: then there is nothing to fill.
    own = facts.cat.codes.to_numpy()[rows]
    if not ((own[1:] != own[:-1]) & same_line).any():
        return _Changed(np.empty(0, dtype=np.int64), *2 * (np.empty(0, dtype=object),))
    known = filled(blank(facts)[rows], line)
    own = blank(facts)[rows]
    names = np.append("", facts.cat.categories.astype("object"))
    changed = same_line & (own[1:] != 0) & (known[:-1] != 0) & (known[1:] != known[:-1])
    at = np.flatnonzero(changed) + 1
    return _Changed(at, names[known[at - 1]], names[known[at]])
