# SPDX-License-Identifier: Apache-2.0
"""What each card reached lately, with what is known of it: one row a (card, probe, parameters)."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd

from bandgate_reports.analysis import series
from bandgate_reports.analysis.verdicts import STALE_AFTER

NIGHTS = 3  # one bad night is no slow card
# A night that far from the median of the newest nights is no bad night of a healthy card: a link
# that fell back, or one that was repaired. It counts by itself, without waiting for a second.
_JUMP = math.log(1.10)

# What makes two cards of a model two kinds: never compared with each other.
CONFIGURATION = ("board_part", "mig", "ecc", "power_limit_w")
# What may explain a difference between groups of cards, the likeliest first.
FACTS = (
    "link",
    "numa_node",
    "driver",
    "vbios",
    "memory_clock_mhz",
    "power_limit_default_w",
    "virtualization",
    "product",
    "bios",
    "kernel",
    "dimm_mts",
    "tool_build",
)
# One group of cards that are comparable, as far as names go.
KEY = ["model", "probe", "parameters", "version"]

_RECORDED = tuple(f for f in FACTS if f != "link")
_OF_RESULTS = (
    "series card node device cpu_model backend uuid pci_address probe parameters version unit "
    "lower_is_better shown_statistic reasons pcie_generation pcie_width"
).split()
_OF_NIGHTS = ["series", "started", "value", "placed", "final", "shown_statistic"]
_STATISTICS = ("median", "peak", "worst")


def usable(results: pd.DataFrame) -> pd.Series:
    """What was measured, and says something of the card: no error, nothing contended."""
    spoiled = results["status"].isin(["error", "inconclusive"])
    return results["placed"] & results["final"] & (results["value"] > 0) & ~spoiled


def values(results: pd.DataFrame, nights: int = NIGHTS) -> tuple[pd.DataFrame, int]:
    """Of results as series.identify() gives them. Columns: KEY, card, node, pci_address, uuid,
    value (B/s or s), nights (behind the value), night, unit, lower_is_better, statistic, reasons,
    CONFIGURATION, FACTS. Also how many were left out because they are out of service."""
    taken = usable(results)
    latest = results.loc[taken, ["line", "started"]].groupby("line")["started"].idxmax()
    newest = results.loc[latest, list(dict.fromkeys([*_OF_RESULTS, *CONFIGURATION, *_RECORDED]))]
    for column in newest.columns[newest.dtypes == "category"]:  # of a row a card they spare nothing
        newest[column] = newest[column].astype("object")
    newest["model"] = newest["device"].where(newest["device"] != "", newest["cpu_model"])
    newest["statistic"] = _common_statistic(newest)
    newest["link"] = _links(newest)
    _fill_unknown(newest, results)
    reached = _newest_nights(results, taken, newest, nights)
    return _service(_by_card(newest.merge(reached, on="series", how="inner")))


def _common_statistic(newest: pd.DataFrame) -> pd.Series:
    """One statistic for all cards of a group: the one that most are judged by."""
    counts = newest.groupby([*KEY, "shown_statistic"], sort=True).size()
    most = counts.groupby(level=KEY).idxmax().map(lambda key: key[-1]).rename("statistic")
    return newest[KEY].join(most, on=KEY)["statistic"]


def _links(rows: pd.DataFrame) -> pd.Series:
    """The PCIe link as it was under load; "" where it was not read."""
    texts = [
        f"gen {g:.0f} x{w:.0f}" if math.isfinite(g) and math.isfinite(w) else ""
        for g, w in zip(rows["pcie_generation"], rows["pcie_width"], strict=True)
    ]
    return pd.Series(texts, index=rows.index, dtype="object")


def _fill_unknown(last: pd.DataFrame, results: pd.DataFrame) -> None:
    """A night without NVML does not make another kind of card: what was known of it holds."""
    for column in CONFIGURATION:
        unknown = (last[column] == "") & last["model"].isin(
            last.loc[last[column] != "", "model"].unique()
        )
        if not unknown.any():
            continue
        of_these = results["card"].isin(last.loc[unknown, "card"]) & (results[column] != "")
        seen = results.loc[of_these, ["card", "started", column]].sort_values("started")
        known = seen.astype({"card": "object", column: "object"}).groupby("card")[column].last()
        last.loc[unknown, column] = last.loc[unknown, "card"].map(known).fillna("")


def _newest_nights(
    results: pd.DataFrame, taken: pd.Series, newest: pd.DataFrame, nights: int
) -> pd.DataFrame:
    """series, value, nights, night. One statistic a group, whatever a card was judged by."""
    rows = results.loc[taken & results["series"].isin(newest["series"]), _OF_NIGHTS]
    wanted = rows["series"].map(newest.set_index("series")["statistic"])
    for statistic in _STATISTICS:
        other = (wanted == statistic) & (rows["shown_statistic"] != statistic)
        if other.any():
            rows.loc[other, "value"] = results.loc[other[other].index, statistic]
    rows = rows[rows["value"] > 0]
    of = series.nightly(rows).groupby("series", sort=False).tail(nights).groupby("series")
    found = of.agg(value=("value", "median"), nights=("value", "size"), night=("night", "last"))
    last = of["value"].last()
    jumped = np.abs(np.log(last / found["value"])) > _JUMP
    found["value"] = found["value"].mask(jumped, last)
    found["nights"] = found["nights"].mask(jumped, 1)
    return found.reset_index()


def _by_card(table: pd.DataFrame) -> pd.DataFrame:
    """Of copies to several peers the slowest: a card is as good as its worst link."""
    parsed = {p: json.loads(p) for p in table["parameters"].unique()}
    with_peer = {p for p, v in parsed.items() if "peer" in v}
    if not with_peer:
        return table.reset_index(drop=True)
    bare = {
        p: json.dumps({k: x for k, x in parsed[p].items() if k != "peer"}, sort_keys=True)
        for p in with_peer
    }
    table = table.assign(parameters=table["parameters"].map(lambda p: bare.get(p, p)))
    worse = table["value"].where(~table["lower_is_better"], -table["value"])
    order = table.assign(worse=worse).sort_values("worse", kind="stable").drop(columns="worse")
    return order.drop_duplicates(["card", *KEY], keep="first").sort_index(ignore_index=True)


def _service(table: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Without cards that were not measured for a week while others were."""
    newest = table["night"].max()
    current = table["night"] >= newest - STALE_AFTER
    gone = table.loc[~current, "card"].nunique() - len(
        set(table.loc[~current, "card"]) & set(table.loc[current, "card"])
    )
    return table[current].reset_index(drop=True), int(gone)


def unstable_counts(results: pd.DataFrame, days: int = 30) -> dict[str, int]:
    """How often each card was low once and fine in a fresh process, in the last `days` days."""
    placed = results["placed"] & results["unstable"] & results["final"]
    newest = results.loc[results["placed"], "started"].max()
    if pd.isna(newest):
        return {}
    recent = results.loc[placed & (results["started"] > newest - pd.Timedelta(days=days)), "card"]
    counts = recent.astype("object").value_counts()
    return {str(card): int(n) for card, n in counts.items()}


# Of a verdict's reasons those that are not a cause but the verdict itself, or its circumstances.
_NO_CAUSE = frozenset(
    "below-bound above-bound below-card-bound above-card-bound slowest-part dropped uneven "
    "confirmed unstable not-confirmed unconfirmed first-attempt-gone unsettled above-upper "
    "no-baseline no-cause-found generic board-part-unknown expected-platform "
    "mps-server other-process".split()
)


def cause_of(reasons: Any) -> str:
    """What the newest verdict of a card found that may cost bandwidth; "" for nothing."""
    return next((str(s) for code, s in reasons if code not in _NO_CAUSE), "")
