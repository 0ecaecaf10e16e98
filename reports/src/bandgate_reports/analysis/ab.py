# SPDX-License-Identifier: Apache-2.0
"""Before against after: whether a probe has lost more than a margin. One datum an invocation:
the first process of each, on each card."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from bandgate_reports.analysis import ab_environment, ab_numbers, ab_sides
from bandgate_reports.analysis.ab_environment import Timing
from bandgate_reports.analysis.ab_sides import MEASURES, Difference
from bandgate_reports.analysis.verdicts import Exit

PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
RANKS = {FAIL: 0, INCONCLUSIVE: 1, PASS: 2}

# Of a hundred columns what the functions below use: pandas copies all that a table has.
_USED = [
    *MEASURES, "member", "card", "after", "log", "unused", "model", "device", "peer", "node",
    "uuid", "pci_address", "host", "boot_id", "placed", "started", "attempt", "statistic_used",
    "lower_is_better", "unit",
]  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """Everything that a report of two sides says. Effects are logarithms, more is better.

    tests: one row a model, probe and setting, worst first. cards: one row a test and card that both
    sides have. one_sided: cards that only one side has. alone: tests that only one side has.
    """

    margin: float
    refused: tuple[Difference, ...]
    shared_ids: int  # results that are on both sides
    results: tuple[int, int]  # before, after
    tests: pd.DataFrame
    cards: pd.DataFrame
    one_sided: pd.DataFrame
    alone: pd.DataFrame
    changes: pd.DataFrame
    timing: Timing
    unused: pd.DataFrame
    demo: bool

    @property
    def exit(self) -> Exit:
        if self.refused or self.shared_ids:
            return Exit.ERROR
        verdicts = set(self.tests["verdict"])
        if FAIL in verdicts:
            return Exit.REGRESSION
        lost = bool((~self.alone["after"]).any()) if len(self.alone) else False
        return Exit.CANNOT_TELL if INCONCLUSIVE in verdicts or lost or not verdicts else Exit.OK


def compare(
    before: pd.DataFrame, after: pd.DataFrame, now: datetime, *, margin: float = 0.01
) -> Comparison:
    """`before` and `after` as the store gives them; `margin` 0.01: a loss of 1 % is accepted."""
    everything = ab_sides.processes(before, after, now)
    table = everything[_USED]
    one_sided = _one_sided(table)
    both = table[~_of_one_sided(table, one_sided)]
    usable = both[both["unused"] == ""].copy()
    usable["test"] = usable.groupby(MEASURES, observed=True, sort=False).ngroup()
    values = usable[["test", "member", "after", "log"]].rename(columns={"member": "card"})
    paired = ab_numbers.by_card(values.assign(family=0))
    tests, cards = ab_numbers.judged(paired, margin)
    tests = _described(tests.drop(columns="family"), usable)
    cards = cards.drop(columns="family").merge(_labels(usable), on="card", how="left")
    tests = tests.merge(_robust(usable), on="test", how="left")
    tests = tests.merge(_worst(cards), on="test", how="left")
    tests = _doubts(_losses(tests, both, usable), ab_numbers.limit(margin))
    tests["further"] = _further(tests, paired, margin)
    order = ["rank", "effect", "model", "probe", "setting"]
    tests["rank"] = tests["verdict"].map(RANKS).astype("int64")
    return Comparison(
        margin=margin,
        refused=tuple(ab_sides.differences(table)),
        shared_ids=len(set(before["id"]) & set(after["id"])),
        results=(len(before), len(after)),
        tests=tests.sort_values(order, kind="stable", ignore_index=True),
        cards=cards.sort_values(["test", "effect"], kind="stable", ignore_index=True),
        one_sided=one_sided,
        alone=_alone(both, usable, tests),
        changes=ab_environment.changes(everything.loc[both.index]),
        timing=ab_environment.timing(both),
        unused=_unused(both),
        demo=bool(everything["demo"].any()) if "demo" in everything else False,
    )


def _one_sided(table: pd.DataFrame) -> pd.DataFrame:
    """Cards that only one side has: card, model, place, after, processes."""
    named = table[(table["uuid"] != "") | (table["pci_address"] != "") | (table["device"] != "")]
    sides = named.groupby("card", observed=True)["after"].transform("nunique")
    alone = named[sides == 1].assign(place=_place)
    grouped = alone.groupby("card", observed=True, sort=True)
    return grouped.agg(
        model=("model", "last"),
        place=("place", "last"),
        uuid=("uuid", "last"),
        after=("after", "last"),
        processes=("after", "size"),
    ).reset_index()


def _of_one_sided(table: pd.DataFrame, one_sided: pd.DataFrame) -> pd.Series:
    """Their results, and those of pairs with one of them."""
    gone = set(one_sided["uuid"]) - {""}
    return table["card"].isin(set(one_sided["card"])) | table["peer"].isin(gone)


def _place(table: pd.DataFrame) -> pd.Series:
    """Where a card is, for people: host and PCI address, and the peer of a pair."""
    pci = table["pci_address"].astype("object").astype(str)
    name = table["node"].astype("object").astype(str) + (" " + pci).where(pci != "", "")
    known = table.loc[pci != "", ["uuid", "pci_address"]].drop_duplicates("uuid", keep="last")
    places = dict(zip(known["uuid"], known["pci_address"], strict=True))
    peers = {p: str(places.get(p, p[:12])) for p in table["peer"].unique()}
    peer = table["peer"].map(peers).astype("object").astype(str)
    return name + (" to " + peer).where(table["peer"] != "", "")


def _labels(usable: pd.DataFrame) -> pd.DataFrame:
    placed = usable.assign(place=_place(usable)).drop_duplicates("member", keep="last")
    return placed[["member", "place", "uuid", "node"]].rename(columns={"member": "card"})


def _described(tests: pd.DataFrame, usable: pd.DataFrame) -> pd.DataFrame:
    """With what the test is, and the values that its effect is between, in base units."""
    about = ["model", *MEASURES, "statistic_used", "lower_is_better", "unit"]
    latest = usable.drop_duplicates("test", keep="last").set_index("test")
    tests = tests.join(latest[about].astype({"unit": "object"}), on="test")
    sign = np.where(tests["lower_is_better"].astype(bool), -1.0, 1.0)
    for side, name in (("0", "before"), ("1", "after")):
        tests[name] = np.exp(sign * tests[f"mean_{side}"])
    return tests


def _robust(usable: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for test, of_test in usable[["test", "member", "after", "log"]].groupby("test", sort=True):
        pairs = []
        for _, of_card in of_test.groupby("member", observed=True):
            log, after = of_card["log"].to_numpy(dtype=float), of_card["after"].to_numpy(dtype=bool)
            pairs.append((log[~after], log[after]))
        if found := ab_numbers.robust(pairs):
            rows.append((test, found.hodges_lehmann, found.cliffs_delta))
    columns = ["test", "hodges_lehmann", "cliffs_delta"]
    return pd.DataFrame(rows, columns=columns).astype({"test": "int64"})


def _worst(cards: pd.DataFrame) -> pd.DataFrame:
    """The card of each test with the greatest loss."""
    worst = cards.sort_values("effect", kind="stable").drop_duplicates("test")
    renamed = worst.rename(columns={"place": "worst", "effect": "worst_effect"})
    return renamed[["test", "worst", "worst_effect"]]


def _losses(tests: pd.DataFrame, both: pd.DataFrame, usable: pd.DataFrame) -> pd.DataFrame:
    """failed_0, failed_1: processes that ended in an error; lost: cards without a value after."""
    failed = both[both["unused"] == "failed"]
    for side, name in ((False, "failed_0"), (True, "failed_1")):
        counted = failed[failed["after"] == side].groupby(MEASURES, observed=True).size()
        tests = tests.join(counted.rename(name), on=MEASURES)
        tests[name] = tests[name].fillna(0).astype("int64")
    sides = usable.groupby(["test", "member"], observed=True)["after"].agg(["any"])
    lost = (~sides["any"]).groupby("test").sum()
    tests["lost"] = tests["test"].map(lost).fillna(0).astype("int64")
    return tests


def _doubts(tests: pd.DataFrame, limit: float) -> pd.DataFrame:
    """`doubt`: why a test did not pass. What failed or vanished after never passes."""
    fewest = tests[["n_0", "n_1"]].min(axis=1)
    vanished = {"failed": tests["failed_1"] > tests["failed_0"], "lost": tests["lost"] > 0}
    tests["doubt"] = ""
    for doubt, where in vanished.items():
        hit = where & (tests["verdict"] == PASS)
        tests.loc[hit, ["verdict", "doubt"]] = [INCONCLUSIVE, doubt]
    open_ = (tests["verdict"] == INCONCLUSIVE) & (tests["doubt"] == "")
    tests.loc[open_, "doubt"] = "interval"
    below = tests["high"] < limit
    tests.loc[open_ & below, "doubt"] = "noise"
    tests.loc[open_ & ((fewest < ab_numbers.LEAST) | tests["se"].isna()), "doubt"] = "few"
    tests.loc[(tests["verdict"] == FAIL) & ~tests["fails"], "doubt"] = "card"
    return tests


def _further(tests: pd.DataFrame, paired: pd.DataFrame, margin: float) -> pd.Series:
    """Processes on each card and side that would decide; <NA> where decided or not known."""
    found = {}
    asked = tests[tests["doubt"].isin(["interval", "noise", "few"])]
    by_test = dict(iter(paired.groupby("test")))
    for test, hypotheses in zip(asked["test"], asked["hypotheses"], strict=True):
        found[test] = ab_numbers.further(by_test[test], margin, int(hypotheses))
    return tests["test"].map(found).astype("Int64")


def _alone(both: pd.DataFrame, usable: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """What was measured and has no card with values on both sides: model, probe, setting, after
    (only there), processes, other (what the other side's results say: failed, skipped, shared)."""
    compared = set(tests["test"])
    rows = usable[~usable["test"].isin(compared)]
    grouped = rows.groupby(MEASURES, observed=True, sort=True)
    found = grouped.agg(
        model=("model", "last"), after=("after", "all"), processes=("after", "size")
    ).reset_index()
    unused = both[both["unused"] != ""]
    why = unused.groupby([*MEASURES, "after"], observed=True)["unused"].last()
    keys = [
        (*key, not after)
        for *key, after in found[[*MEASURES, "after"]].itertuples(index=False, name=None)
    ]
    found["other"] = [str(why.get(key, "")) for key in keys]
    return found


def _unused(both: pd.DataFrame) -> pd.DataFrame:
    """Processes without a value to compare: after, probe, unused (why), processes."""
    rows = both[~both["unused"].isin(["", "skipped", ab_sides.REPEATED])]
    grouped = rows.groupby(["after", "probe", "unused"], observed=True, sort=True)
    return grouped.size().rename("processes").reset_index()
