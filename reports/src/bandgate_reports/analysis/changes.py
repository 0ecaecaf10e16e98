# SPDX-License-Identifier: Apache-2.0
"""Change points and bad nights of many series, what they share, and what else changed with them.

Nights are counted, not days: a series that is tested once a week needs ten weeks. What is known
on a night stays known: see levels.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bandgate_reports.analysis import levels, series
from bandgate_reports.analysis.divisive import NEEDED

# Rows of one block of the table of values: bounds the memory that many series take.
_BLOCK = 1024
# Steps of several series of a node that begin within so many days are one event.
TOGETHER = pd.Timedelta(days=2)

_WHO = "device node card uuid pci_address probe parameters unit"
_CHANGES = "series night announced before after step worse event".split()
_NIGHTS = "series night value expected step worse".split()
_EVENTS = "event node card worse night announced series of cards probes step".split()


@dataclass(frozen=True)
class Found:
    """Times are UTC nights, levels and values in base units, steps relative: -0.02 is 2 % less.

    A step from a level of 0 has no size: NaN.
    """

    # One row a change point: series, night (the first of the new level), announced (the night on
    # which it was first certain), before and after (medians of the levels, as of then), step,
    # worse, event (-1: of no event).
    changes: pd.DataFrame
    bad_nights: pd.DataFrame  # isolated: series, night, value, expected, step, worse
    pending: pd.DataFrame  # the same of newest nights: the next ones tell what they are
    too_few: pd.DataFrame  # series, nights, needed
    # Steps of several series of one node at once: event, node, card ("" where several), worse,
    # night, announced (the first of each), series (their number), of (how many the node has),
    # cards, probes, step (their median).
    events: pd.DataFrame
    series: int  # with enough nights


def find(
    nights: pd.DataFrame,
    lower_is_better: Mapping[int, bool] | pd.Series,
    places: pd.DataFrame | None = None,
) -> Found:
    """`nights` as series.nightly() gives them; `places`: node, card and probe, by series.

    The result for more nights extends the one for fewer: no row of `changes` or `bad_nights` ever
    goes or differs, but for its event.
    """
    table = nights[np.isfinite(nights["value"])].sort_values(["series", "night"])
    number = table.groupby("series", sort=True).size()
    few = number[number < NEEDED]
    table = table[table["series"].isin(number.index[number >= NEEDED])]
    blocks = [_Block(rows) for rows in _blocks(table)]
    changes = _changes([row for block in blocks for row in block.changes()])
    marked = {
        name: _join([block.nights(name) for block in blocks], nights) for name in ("bad", "pending")
    }
    for found in (changes, *marked.values()):
        lower = found["series"].map(lower_is_better).fillna(False).astype("bool")
        before, after = ("before", "after") if "before" in found else ("expected", "value")
        found["step"] = found[after] / found[before].mask(found[before] == 0) - 1
        found["worse"] = (found[after] > found[before]) == lower
    changes, events = _events(changes, places, number[number >= NEEDED].index)
    return Found(
        changes=changes[_CHANGES],
        bad_nights=marked["bad"][_NIGHTS],
        pending=marked["pending"][_NIGHTS],
        too_few=pd.DataFrame({"series": few.index, "nights": few.to_numpy(), "needed": NEEDED}),
        events=events,
        series=int((number >= NEEDED).sum()),
    )


def places(results: pd.DataFrame) -> pd.DataFrame:
    """What every series is of, as last seen, by series; and whether it is `current`: the newest of
    its line, not one that other hardware or another version of the probe has ended."""
    texts = dict.fromkeys(_WHO.split(), "str")
    columns = ["series", "line", "started", "attempt", "version", "lower_is_better", *texts]
    placed = results.loc[results["placed"], columns]
    last = placed.sort_values(["started", "attempt"], kind="stable")
    last = last.drop_duplicates("series", keep="last")
    last = last.assign(current=~last.duplicated("line", keep="last")).astype(texts)
    return last.drop(columns=["line", "started", "attempt"]).set_index("series").sort_index()


def search(results: pd.DataFrame) -> Found:
    """Of the table that series.identify() gives."""
    where = places(results)
    return find(series.nightly(results), where["lower_is_better"], where)


def _blocks(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The nights of some series at a time, of about the same number each."""
    length = table.groupby("series")["value"].transform("size")
    ordered = table.assign(length=length).sort_values(["length", "series"], kind="stable")
    rank = pd.factorize(ordered["series"])[0] // _BLOCK
    for _, rows in ordered.groupby(rank, sort=False):
        yield rows


class _Block:
    """Series as rows of one table of values, nights as its columns, by their number."""

    def __init__(self, nights: pd.DataFrame) -> None:
        codes, self._series = pd.factorize(nights["series"])
        column = nights.groupby("series").cumcount().to_numpy()
        self._rows = nights.reset_index(drop=True)
        shape = (len(self._series), int(column.max()) + 1)
        self._at = np.zeros(shape, dtype=np.int64)
        self._at[codes, column] = np.arange(len(nights))
        values = np.full(shape, np.nan)
        values[codes, column] = nights["value"].to_numpy()
        self._judged = levels.judge(values, np.bincount(codes))

    def changes(self) -> Iterator[tuple[int, pd.Timestamp, pd.Timestamp, float, float]]:
        when = self._rows["night"]
        for row, own in enumerate(self._judged.steps):
            for step in own:
                first, announced = (when[self._at[row, n]] for n in (step.first, step.announced))
                yield int(self._series.to_numpy()[row]), first, announced, step.before, step.after

    def nights(self, kind: str) -> pd.DataFrame:
        judged = self._judged
        flags = judged.bad if kind == "bad" else judged.pending
        expected = judged.expected if kind == "bad" else judged.usual
        found = self._rows.iloc[self._at[flags]][["series", "night", "value"]]
        return found.assign(expected=expected[flags])


def _join(parts: list[pd.DataFrame], like: pd.DataFrame) -> pd.DataFrame:
    empty = like[["series", "night", "value"]].iloc[:0].assign(expected=pd.Series(dtype="float64"))
    filled = [part for part in parts if len(part)]
    table = pd.concat(filled) if filled else empty
    return table.sort_values(["series", "night"], ignore_index=True)


def _changes(
    rows: list[tuple[int, pd.Timestamp, pd.Timestamp, float, float]],
) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["series", "night", "announced", "before", "after"])
    stamps = dict.fromkeys(("night", "announced"), "datetime64[us, UTC]")
    types = {"series": "int64", "before": "float64", "after": "float64", **stamps}
    return table.astype(types).sort_values(["series", "night"], ignore_index=True)


def _events(
    changes: pd.DataFrame, where: pd.DataFrame | None, judged: pd.Index
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Steps of one direction of several series of a node, begun within two days of the first."""
    changes = changes.assign(event=-1)
    rows: list[dict[str, object]] = []
    if where is not None and len(changes):
        of = where.loc[where.index.isin(judged), "node"].value_counts()
        placed = changes.join(where[["node", "card", "probe"]], on="series")
        placed = placed.sort_values(["night", "series"], kind="stable")
        for (node, worse), own in placed.groupby(["node", "worse"], sort=True):
            for same in _at_once(own):
                if same["series"].nunique() > 1:
                    changes.loc[same.index, "event"] = len(rows)
                    number = int(of[str(node)])
                    rows.append(_event(len(rows), str(node), bool(worse), same, number))
    return changes, pd.DataFrame(rows, columns=_EVENTS)


def _at_once(steps_of_node: pd.DataFrame) -> Iterator[pd.DataFrame]:
    while len(steps_of_node):
        first = steps_of_node["night"].iloc[0]
        same = steps_of_node["night"] <= first + TOGETHER
        yield steps_of_node[same]
        steps_of_node = steps_of_node[~same]


def _event(number: int, node: str, worse: bool, same: pd.DataFrame, of: int) -> dict[str, object]:
    cards = same["card"].unique()
    return {
        "event": number,
        "node": node,
        "card": cards[0] if len(cards) == 1 else "",
        "worse": worse,
        "night": same["night"].min(),
        "announced": same["announced"].min(),
        "series": same["series"].nunique(),
        "of": of,
        "cards": len(cards),
        "probes": tuple(sorted(same["probe"].unique())),
        "step": same["step"].median(),
    }
