# SPDX-License-Identifier: Apache-2.0
"""Results as series: one card, one configuration, one probe with its parameters and version."""

from datetime import datetime

import pandas as pd

from bandgate_reports.store.records import CONFIGURATION, ENVIRONMENT
from bandgate_reports.store.stamps import NOT_PLACED, flag_stamps

LINE = ["card", "probe", "parameters"]

# Nights are UTC days, wherever a node is: a local night would move with daylight saving.
NIGHT = "D"


def identify(results: pd.DataFrame, now: datetime) -> pd.DataFrame:
    """Adds card, series, line, final, placed and value; flags the stamps. One row a result."""
    table = results.copy()
    table["card"] = _cards(table)
    table = flag_stamps(table, now)
    table["placed"] = ~table["stamp_flag"].isin(NOT_PLACED)
    configuration = _configuration(table)
    table["line"] = table.groupby(LINE, sort=False).ngroup()
    keys = [table["line"], table["version"], *(configuration[c] for c in CONFIGURATION)]
    table["series"] = table.groupby(keys, sort=False, dropna=False).ngroup()
    last = table.groupby(["line", "group"], sort=False)["attempt"].transform("max")
    table["final"] = table["attempt"] == last
    return _with_values(table)


def _cards(table: pd.DataFrame) -> pd.Series:
    """A card is its UUID; without one, a host and a PCI address on it.

    A result that could not read the UUID (a lost GPU) belongs to the card that was last seen at
    its address.
    """
    place = table["backend"] + "|" + table["host"] + "|" + table["pci_address"]
    uuid = table["uuid"].mask(table["uuid"] == "")
    at_place = uuid.groupby(place).ffill().groupby(place).bfill()
    known = at_place.where(table["pci_address"] != "", uuid)
    return (table["backend"] + "|" + known).fillna(place).astype("object")


def _configuration(table: pd.DataFrame) -> pd.DataFrame:
    """What is not known is as it was: a night without NVML does not start a new series."""
    known = table[list(CONFIGURATION)].mask(table[list(CONFIGURATION)] == "")
    forward = known.groupby(table["card"]).ffill()
    return forward.fillna(forward.groupby(table["card"]).bfill()).fillna("")


def _with_values(table: pd.DataFrame) -> pd.DataFrame:
    """`value`: one statistic for a whole series, the one it was last judged by (else the median).

    A bound on another statistic says nothing about these values: it is left out.
    """
    used = table["statistic"].mask(table["statistic"] == "").groupby(table["series"])
    shown = used.transform("last").fillna("median").astype("object")
    table["shown_statistic"] = shown
    table["value"] = table["median"]
    for statistic in ("peak", "worst"):
        table["value"] = table["value"].where(shown != statistic, table[statistic])
    other = (table["statistic"] != shown) & (table["statistic"] != "")
    for bound in ("reference", "lower", "upper"):
        table[f"band_{bound}"] = table[bound].mask(other)
    return table


def nightly(results: pd.DataFrame) -> pd.DataFrame:
    """Per series and night: the median over its runs (final attempts), their number and time."""
    usable = results[results["placed"] & results["final"] & results["value"].notna()]
    night = usable["started"].dt.floor(NIGHT).rename("night")
    grouped = usable.groupby([usable["series"], night], sort=True)
    return grouped.agg(
        value=("value", "median"), runs=("value", "size"), at=("started", "median")
    ).reset_index()


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
    placed = results[results["placed"]].sort_values(["started", "attempt"], kind="stable")
    named = {c: label for c, (_, _, label) in ENVIRONMENT.items()} | {"version": "probe version"}
    before_at = placed.groupby("line")["started"].shift()
    found = [_changes_of(placed, column, label, before_at) for column, label in named.items()]
    table = pd.concat(found, ignore_index=True)
    return table.sort_values(["series", "at"], kind="stable", ignore_index=True)


def _changes_of(
    placed: pd.DataFrame, column: str, label: str, before_at: pd.Series
) -> pd.DataFrame:
    value = placed[column].astype("object").astype(str)
    known = value.mask(value == "")
    before = known.groupby(placed["line"]).ffill().groupby(placed["line"]).shift()
    changed = known.notna() & before.notna() & (known != before)
    at = placed["started"] - (placed["started"] - before_at) / 2
    return pd.DataFrame(
        {
            "series": placed.loc[changed, "series"],
            "card": placed.loc[changed, "card"],
            "probe": placed.loc[changed, "probe"],
            "at": at[changed],
            "seen": placed.loc[changed, "started"],
            "field": pd.Series(label, index=placed.index[changed], dtype="object"),
            "before": before[changed].astype("object"),
            "after": known[changed].astype("object"),
        }
    )
