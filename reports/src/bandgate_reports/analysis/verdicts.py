# SPDX-License-Identifier: Apache-2.0
"""The newest verdict of every (device, probe), and what they come to."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pandas as pd

from bandgate_reports.analysis.keys import filled, greatest, grouping, microseconds

# Worst first: the order of tables.
STATUSES = (
    "regression",
    "error",
    "inconclusive",
    "no-baseline",
    "improved",
    "pass",
    "measured",
    "skipped",
)
JUDGED = ("pass", "improved", "regression")

# A device that has not been measured for this long beside others that were is out of service: its
# last verdict is shown, and no longer counted.
STALE_AFTER = pd.Timedelta(days=7)


class Exit(IntEnum):
    """Exit codes of every report."""

    OK = 0
    REGRESSION = 1
    ERROR = 2
    CANNOT_TELL = 4


@dataclass(frozen=True)
class Summary:
    """What the newest verdicts come to. Stale ones are counted apart."""

    counts: dict[str, int]
    judged: int
    total: int
    stale: int
    unstable: int
    unplaced_bad: int  # regressions and errors that no time can be given to

    @property
    def exit(self) -> Exit:
        if self.counts.get("regression"):
            return Exit.REGRESSION
        unknown = self.counts.get("error", 0) + self.counts.get("inconclusive", 0)
        if not self.judged or unknown or self.unplaced_bad:
            return Exit.CANNOT_TELL
        return Exit.OK


# A card that was slow when it was last judged is not healed by losing its baseline, nor one that
# failed by being skipped. (An error that a later measurement does not show is over.)
_HIDES_NOT = {"no-baseline": ("regression",), "skipped": ("regression", "error")}


def _hidden(table: pd.DataFrame) -> pd.Series:
    """Results that may not replace the verdict that was there when they came."""
    status = table["status"].cat.set_categories(pd.Index(STATUSES, dtype="str"))
    number = status.cat.codes.to_numpy().astype(np.int64) + 1
    deciding = ~status.isin([*_HIDES_NOT, "measured"]) & table["placed"]
    before = filled(np.where(deciding, number, 0), table["line"].to_numpy())
    hidden = np.zeros(len(table), dtype=bool)
    for weak, worse in _HIDES_NOT.items():
        hidden |= (status == weak) & np.isin(before, [STATUSES.index(w) + 1 for w in worse])
    return pd.Series(hidden, index=table.index)


def _mended(table: pd.DataFrame) -> pd.Series:
    """What a machine said of devices that it could not find, once a later run of it found all.

    Such a result has the name and the place of no device; every run lists all devices, so the next
    one of that machine says it again or has found them.
    """
    nobody = (table["uuid"] == "") & (table["pci_address"] == "") & (table["backend"] != "host")
    suspect = nobody & (table["status"] == "error")
    if not suspect.any():
        return suspect
    where = grouping(table["node"], table["backend"])
    started = microseconds(table["started"])
    started = np.where(table["placed"], started, np.iinfo(np.int64).min)
    last = greatest(started, grouping(where, table["group"]))
    return suspect & (last < greatest(started, where))


def newest(results: pd.DataFrame) -> pd.DataFrame:
    """One row for each (device, probe, parameters): its newest verdict, worst first.

    The last attempt of a group speaks for it. What `bandgate run` measured without judging never
    hides a verdict; what could not be judged or was not measured at all hides none that is worse
    and that it says nothing of (see `_HIDES_NOT`). A result whose stamp is impossible speaks only
    where there is no other.
    """
    usable = np.flatnonzero(results["final"] & ~_mended(results))
    looked_at = results[["line", "started", "placed", "status"]].take(usable)  # of many columns
    judging = (looked_at["status"] != "measured") & ~_hidden(looked_at)
    table = results.take(usable[_newest_of_lines(looked_at, judging)])
    table["attempts"] = table["attempt"]  # the last attempt of a group is the final one
    ranks = table["status"].astype("str").map({s: i for i, s in enumerate(STATUSES)})
    table["rank"] = ranks.astype("int64")
    latest = table.loc[table["placed"], "started"].max()
    table["stale"] = (table["started"] < latest - STALE_AFTER).fillna(False) & table["placed"]
    by = ["stale", "rank", "device", "node", "pci_address", "card", "probe", "parameters"]
    return table.sort_values(by, kind="stable", ignore_index=True)


def _newest_of_lines(table: pd.DataFrame, judging: pd.Series) -> npt.NDArray[np.int64]:
    """Positions of the row of each line that speaks for it."""
    line = table["line"].to_numpy()
    ids = np.arange(len(table))  # the table is in order: equal starts by attempt and id
    order = np.lexsort((ids, microseconds(table["started"]), judging, table["placed"], line))
    last = np.append(line[order][1:] != line[order][:-1], True)[: len(table)]
    return np.asarray(order[last], dtype=np.int64)


def summary(verdicts: pd.DataFrame, results: pd.DataFrame) -> Summary:
    current = verdicts[~verdicts["stale"]]
    counts = current["status"].astype("str").value_counts()
    bad = results["status"].isin(["regression", "error"])
    unplaced = results.loc[~results["placed"] & results["final"] & bad, "file"]
    return Summary(
        counts={s: int(counts[s]) for s in STATUSES if s in counts.index},
        judged=int(current["status"].isin(JUDGED).sum()),
        total=len(current),
        stale=int(verdicts["stale"].sum()),
        unstable=int(current["unstable"].sum()),
        unplaced_bad=int((~unplaced.isin(set(verdicts["file"]))).sum()),
    )
