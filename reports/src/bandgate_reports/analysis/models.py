# SPDX-License-Identifier: Apache-2.0
"""The level of a model: the nightly median over its cards, and its changes.

Where a few cards are measured a night, in rotation, no card alone has enough nights to show a step
that all of them take. Together they have.

A card counts as what it reached relative to its own level, the median of its first three nights,
which only sets that level. So cards of a model that differ by half a per cent, and take turns, make
no steps; and that a new card has come, or that one was replaced, does not either.

A step is kept if most of the cards that were measured since, and at least two, took half of it or
more, each against its own last three nights before: one card that drops is a finding of that card,
and where half of the cards have lost before, the median may leap between the halves with the next.

Everything is told as of a night and stays, as in `changes`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bandgate_reports.analysis import changes
from bandgate_reports.analysis.keys import blank, filled, grouping, microseconds
from bandgate_reports.analysis.verdicts import STALE_AFTER
from bandgate_reports.store.records import CONFIGURATION, each

OWN_LEVEL = 3  # nights
LATELY = 3  # nights of a card, before a step
LEAST_CARDS = 2
_SHARE = 0.5  # of the step, that a card has to take; of the cards, that more have to
_TOGETHER = changes.TOGETHER

Fact = tuple[str, str, str]  # field, before, after

_WHO = "backend device cpu_model probe parameters unit version lower_is_better card".split()
_STEPS = "series night announced before after step worse cards of known_by together".split()


@dataclass(frozen=True)
class Models:
    """`series` numbers models: one configuration, one probe with its parameters and version.

    nights: series, night, value (base units), cards (measured in it). where, by series: model,
    configuration, probe, parameters, version, unit, lower_is_better, cards, current. changes: as
    changes.Found has them, and cards (that took the step) of how many measured since, known_by
    (of them, those with the same change of their own), together (facts that most of them share).
    """

    nights: pd.DataFrame
    where: pd.DataFrame
    changes: pd.DataFrame

    @property
    def news(self) -> pd.DataFrame:
        """Changes that do not merely repeat what is said of the cards."""
        return self.changes[2 * self.changes["known_by"] < self.changes["cards"]]


def look(
    results: pd.DataFrame, nights: pd.DataFrame, own: pd.DataFrame, environment: pd.DataFrame
) -> Models:
    """`results` as series.identify() gives them, `nights` as series.nightly(); `own`: the changes
    of cards, as changes.find() does; `environment` as series.changes()."""
    members = _members(results)
    values = _relative(nights, members)
    level = _level(values)
    where = members.drop_duplicates("model_series").set_index("model_series").sort_index()
    where = where.drop(columns=["card"]).rename_axis("series")
    newest = level.groupby("series")["night"].max().reindex(where.index)
    where["current"] = newest >= newest.max() - STALE_AFTER
    found = changes.find(level, where["lower_is_better"]).changes
    cards = members["card"]
    rows = [_borne(step, values, own, cards, environment) for step in each(found)]
    table = found.drop(columns="event").assign(**_columns(rows))
    enough = (table["cards"] >= LEAST_CARDS) & (table["cards"] > _SHARE * table["of"])
    return Models(level, where, table.loc[enough, _STEPS].reset_index(drop=True))


def _members(results: pd.DataFrame) -> pd.DataFrame:
    """By series of a card, that of its model; without models of one card, and without pairs of
    cards: a peer is no property of a model."""
    placed = results[["series", "placed"]]
    last = np.flatnonzero((placed["placed"] & ~_followed(placed)).to_numpy())
    own = results[_WHO].iloc[last].astype(dict.fromkeys((*_WHO[:5], "card"), "object"))
    own["series"] = results["series"].to_numpy()[last]
    for column in CONFIGURATION:  # what is not known is as it was
        known = filled(blank(results[column]), results["series"].to_numpy())
        names = np.append("", results[column].cat.categories.astype("object"))
        own[column] = names[known[last]]
    own["model"] = own["device"].where(own["device"] != "", own["cpu_model"])
    own = own[~own["parameters"].str.contains('"peer"', regex=False)].reset_index(drop=True)
    key = ["backend", "model", *CONFIGURATION, "probe", "parameters", "version"]
    own["model_series"] = grouping(*(own[c] for c in key))
    own["cards"] = own.groupby("model_series")["card"].transform("nunique")
    return own.loc[own["cards"] >= LEAST_CARDS].set_index("series")


def _followed(placed: pd.DataFrame) -> pd.Series:
    """Whether a later result of the series has a place in time."""
    return placed["series"].where(placed["placed"]).duplicated(keep="last")


def _relative(nights: pd.DataFrame, members: pd.DataFrame) -> pd.DataFrame:
    """series (of the model), member, night, at, value, own (level of the card), relative."""
    table = nights.loc[nights["series"].isin(members.index), ["series", "night", "value", "at"]]
    number = table.groupby("series").cumcount()
    first = table[number < OWN_LEVEL].groupby("series")["value"].median()
    table = table[number >= OWN_LEVEL].rename(columns={"series": "member"})
    table["own"] = table["member"].map(first)
    table = table[table["own"] > 0]
    table["relative"] = table["value"] / table["own"]
    table["series"] = table["member"].map(members["model_series"])
    keys = (table["relative"], microseconds(table["night"]), table["series"])
    return table.iloc[np.lexsort(keys)].reset_index(drop=True)


def _level(values: pd.DataFrame) -> pd.DataFrame:
    """The median over the cards of each night, in the unit of the cards that were there first."""
    begins = np.flatnonzero(~values.duplicated(["series", "night"]))
    cards = np.diff(np.append(begins, len(values)))
    relative = values["relative"].to_numpy()
    median = (relative[begins + (cards - 1) // 2] + relative[begins + cards // 2]) / 2
    found = values.loc[begins, ["series", "night"]].reset_index(drop=True)
    first = values["night"] == values.groupby("series")["night"].transform("min")
    scale = values[first].groupby("series")["own"].median()
    found["value"] = median * found["series"].map(scale)
    return found.assign(cards=cards)


def _columns(rows: list[tuple[int, int, int, tuple[Fact, ...]]]) -> dict[str, pd.Series]:
    names = ("cards", "of", "known_by")
    found = {n: pd.Series([r[i] for r in rows], dtype="int64") for i, n in enumerate(names)}
    return found | {"together": pd.Series([r[3] for r in rows], dtype="object")}


def _borne(
    step: Any,
    values: pd.DataFrame,
    own: pd.DataFrame,
    cards: pd.Series,
    environment: pd.DataFrame,
) -> tuple[int, int, int, tuple[Fact, ...]]:
    """Cards that took the step, measured since, known by changes of their own; shared facts."""
    first, until, size = step.night, step.announced, step.after / step.before - 1
    known = values[(values["series"] == step.series) & (values["night"] <= until)]
    since = known["night"] >= first
    after = known[since].groupby("member")["relative"].median()
    lately = known[~since].groupby("member").tail(LATELY)
    before = lately.groupby("member")["relative"].median()
    moved = (after / before - 1).reindex(after.index) * np.sign(size)
    bearers = moved.index[(moved >= _SHARE * abs(size)).to_numpy()]
    near = (own["night"] - first).abs() <= _TOGETHER
    same = own[near & own["series"].isin(bearers) & ((own["step"] > 0) == (size > 0))]
    theirs = known[known["member"].isin(bearers)]
    facts = _shared(theirs, theirs["member"].map(cards), first, until, environment)
    return len(bearers), len(after), same["series"].nunique(), facts


def _shared(
    known: pd.DataFrame,
    cards: pd.Series,
    first: pd.Timestamp,
    until: pd.Timestamp,
    environment: pd.DataFrame,
) -> tuple[Fact, ...]:
    """Facts that changed on most of these cards between their last night before and the first one
    since: of a card in rotation that is a week."""
    if known.empty or environment.empty:
        return ()
    last = known[known["night"] < first].groupby(cards)["at"].max()
    end = until + pd.Timedelta(days=1)
    changed = environment[environment["card"].isin(last.index) & (environment["seen"] < end)]
    changed = changed[changed["seen"] > changed["card"].map(last)]
    facts = changed[["card", "field", "before", "after"]].drop_duplicates()
    number = facts.groupby(["field", "before", "after"], sort=True)["card"].nunique()
    most = number[number > _SHARE * cards.nunique()].sort_values(ascending=False, kind="stable")
    return tuple((str(f), str(b), str(a)) for f, b, a in most.index)
