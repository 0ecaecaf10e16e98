# SPDX-License-Identifier: Apache-2.0
"""The statistics of two sides: log ratios form within a card and are combined over cards.

Everything is in natural logarithms and turned so that more is better: an effect of -0.02 is a loss
of 2 %, of a bandwidth as of a latency. A `test` is what gets one verdict (a probe with its
parameters on a model); a `card` is what is compared with itself. `family` is what Holm's correction
goes over: all tests of one comparison.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bandgate_reports.analysis import student

CONFIDENCE = 0.90  # two-sided, so that each end is wrong in 5 of 100
LEVEL = (1 - CONFIDENCE) / 2
# An interval alone lets noise of several percent fail an unchanged side in up to 5 of 100. So what
# fails must also be less than what noise alone would give in this share of comparisons.
FALSE_FAIL = 0.01
LEAST = 5  # processes a side
ADVISED = 10
MOST_FURTHER = 1000
_PAIRS_OF_A_SIDE = 1000

Floats = NDArray[np.float64]


def limit(margin: float) -> float:
    """The effect at which a loss of `margin` (0.01: 1 %) begins."""
    return float(np.log1p(-margin))


def by_card(values: pd.DataFrame) -> pd.DataFrame:
    """From (family, test, card, after, log), one row a process, to one row a card of a test.

    Columns n_0, n_1, mean_0, mean_1, var_0, var_1 (0: before, 1: after; a variance of a single
    process is NaN), effect, and weight: that of a difference of two means under equal noise.
    Cards without values on both sides are left out.
    """
    by = ["family", "test", "card"]
    sides: list[pd.DataFrame] = []
    for side in (0, 1):
        logs = values[values["after"] == bool(side)].groupby(by, observed=True)["log"]
        found = pd.DataFrame({"n": logs.size(), "mean": logs.mean(), "var": logs.var()})
        sides.append(found.add_suffix(f"_{side}"))
    wide: pd.DataFrame = sides[0].join(sides[1], how="inner").reset_index()
    wide["effect"] = wide["mean_1"] - wide["mean_0"]
    return wide.assign(weight=wide["n_0"] * wide["n_1"] / (wide["n_0"] + wide["n_1"]))


def combined(cards: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """One row for each of `keys`: effect, se, df, low, high, and what went in.

    Of cards with two processes and more on each side; where there is none, of all, and then
    se, df, low and high are NaN. Welch's test for one card; for several the same sum of variances,
    with the degrees of freedom of Satterthwaite (1946): sum(v)^2 / sum(v^2 / (n - 1)).
    """
    table = cards.copy()
    spread = (table["n_0"] >= 2) & (table["n_1"] >= 2)
    any_spread = spread.groupby([table[k] for k in keys]).transform("any")
    table = table[spread | ~any_spread]
    share = table["weight"] / table.groupby(keys)["weight"].transform("sum")
    parts = table[keys].assign(
        cards=1,
        n_0=table["n_0"],
        n_1=table["n_1"],
        effect=share * table["effect"],
        mean_0=share * table["mean_0"],
        mean_1=share * table["mean_1"],
        free_0=table["n_0"] - 1,
        free_1=table["n_1"] - 1,
        squares_0=table["var_0"] * (table["n_0"] - 1),
        squares_1=table["var_1"] * (table["n_1"] - 1),
        variance=0.0,
        fourth=0.0,
    )
    for side in ("0", "1"):
        of_side = share**2 * table[f"var_{side}"] / table[f"n_{side}"]
        parts["variance"] += of_side
        parts["fourth"] += of_side**2 / (table[f"n_{side}"] - 1).where(table[f"n_{side}"] > 1)
    # Not known stays not known: a sum of NaN is no 0.
    found = parts.groupby(keys, sort=True).sum(min_count=1).reset_index()
    return _interval(found)


def _interval(found: pd.DataFrame) -> pd.DataFrame:
    table = found.copy()
    table["se"] = np.sqrt(table["variance"])
    plain = (table["free_0"] + table["free_1"]).astype("float64")
    welch = table["variance"] ** 2 / table["fourth"].where(table["fourth"] > 0)
    table["df"] = welch.where(table["se"] > 0, plain).where(table["se"].notna())
    half = table["se"] * student.quantile(1 - LEVEL, table["df"].to_numpy(dtype=float))
    table["low"] = table["effect"] - half
    table["high"] = table["effect"] + half
    for side in ("0", "1"):
        table[f"sd_{side}"] = np.sqrt(
            table[f"squares_{side}"] / table[f"free_{side}"].where(table[f"free_{side}"] > 0)
        )
    return table.drop(columns=["variance", "fourth", "squares_0", "squares_1"])


def below(effect: Floats, se: Floats, df: Floats, bound: float) -> Floats:
    """One-sided p of "not below `bound`". Without any noise it is 0 or 1; NaN where not known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = student.below((effect - bound) / se, df)
    exact = np.where(effect < bound, 0.0, 1.0)
    return np.asarray(np.where(se == 0, exact, p), dtype=np.float64)


def holm(p: pd.Series, family: pd.Series) -> pd.Series:
    """Adjusted p values within each family (Holm 1979)."""
    order = pd.DataFrame({"p": p, "family": family}).sort_values(["family", "p"], kind="stable")
    grouped = order.groupby("family", sort=False)["p"]
    adjusted = order["p"] * (grouped.transform("count") - grouped.cumcount())
    return adjusted.groupby(order["family"], sort=False).cummax().clip(upper=1).reindex(p.index)


def judged(cards: pd.DataFrame, margin: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tests and cards with p (adjusted), tests with verdict and why.

    verdict is PASS, FAIL or INCONCLUSIVE. A test fails as a whole, or by a card that fails by
    itself (`failed_card`), which a mean over many cards would hide. Both go into one family, so
    that the bound on false alarms holds for all of them together.
    """
    tests = combined(cards, ["family", "test"])
    single = combined(cards, ["family", "test", "card"])
    several = single.groupby(["family", "test"])["card"].transform("size") > 1
    asked = pd.concat([tests.assign(own=False), single[several].assign(own=True)])
    asked = asked.reset_index(drop=True)
    enough = (asked["n_0"] >= LEAST) & (asked["n_1"] >= LEAST) & asked["se"].notna()
    numbers = [asked[c].to_numpy(dtype=float) for c in ("effect", "se", "df")]
    for name, bound in (("p_margin", limit(margin)), ("p_change", 0.0)):
        p = pd.Series(below(numbers[0], numbers[1], numbers[2], bound), index=asked.index)
        asked[name] = holm(p.where(enough), asked["family"])
    asked["fails"] = (asked["p_margin"] <= LEVEL) & (asked["p_change"] <= FALSE_FAIL) & enough
    asked["hypotheses"] = enough.groupby(asked["family"]).transform("sum").astype("int64")
    tests = asked[~asked["own"]].drop(columns=["own", "card"], errors="ignore")
    by_itself = asked[asked["own"]].groupby(["family", "test"])["fails"].any()
    keys = pd.MultiIndex.from_frame(tests[["family", "test"]])
    tests["failed_card"] = by_itself.reindex(keys).eq(True).to_numpy()
    tests["verdict"] = _verdicts(tests, margin)
    mine = ["p_margin", "p_change", "fails"]
    own = asked.loc[asked["own"], ["family", "test", "card", *mine]]
    single = single.merge(own, on=["family", "test", "card"], how="left")
    single["fails"] = single["fails"].eq(True)
    return tests.reset_index(drop=True), single


def _verdicts(tests: pd.DataFrame, margin: float) -> pd.Series:
    enough = (tests["n_0"] >= LEAST) & (tests["n_1"] >= LEAST) & tests["se"].notna()
    verdict = pd.Series("INCONCLUSIVE", index=tests.index, dtype="object")
    verdict[enough & (tests["low"] > limit(margin))] = "PASS"
    verdict[tests["fails"] | tests["failed_card"]] = "FAIL"
    return verdict


def further(cards: pd.DataFrame, margin: float, hypotheses: int) -> int | None:
    """How many more processes on each card and side would decide the test of these cards, if they
    were like those that are there. None: not known, or more than MOST_FURTHER.
    """
    table = cards[(cards["n_0"] >= 2) & (cards["n_1"] >= 2)]
    if table.empty:
        return None
    share = (table["weight"] / table["weight"].sum()).to_numpy(dtype=float)
    effect = float((share * table["effect"].to_numpy(dtype=float)).sum())
    more = np.arange(1, MOST_FURTHER + 1, dtype=np.float64)
    variance, fourth = np.zeros_like(more), np.zeros_like(more)
    fewest = np.full_like(more, np.inf)
    for side in ("0", "1"):
        n = table[f"n_{side}"].to_numpy(dtype=float)[:, None] + more
        of_side = share[:, None] ** 2 * table[f"var_{side}"].to_numpy(dtype=float)[:, None] / n
        variance += of_side.sum(axis=0)
        fourth += (of_side**2 / (n - 1)).sum(axis=0)
        fewest = np.minimum(fewest, n.sum(axis=0))
    se = np.sqrt(variance)
    df = np.where(fourth > 0, variance**2 / np.where(fourth > 0, fourth, 1), fewest)
    bound = limit(margin)
    if effect > bound:
        decided = effect - student.quantile(1 - LEVEL, df) * se > bound
    else:
        family = max(1, hypotheses)
        decided = below(np.full_like(se, effect), se, df, bound) <= LEVEL / family
        decided &= below(np.full_like(se, effect), se, df, 0.0) <= FALSE_FAIL / family
    decided &= fewest >= LEAST
    return int(more[np.argmax(decided)]) if decided.any() else None


@dataclass(frozen=True)
class Robust:
    """What single outliers do not move. Both turned so that more is better."""

    hodges_lehmann: float  # median of all differences of an after and a before, as a logarithm
    cliffs_delta: float  # P(after better) - P(after worse), -1 .. 1


def robust(pairs: list[tuple[Floats, Floats]]) -> Robust | None:
    """From (before, after) of each card; differences form within a card only."""
    differences = [
        (_thinned(after)[None, :] - _thinned(before)[:, None]).ravel()
        for before, after in pairs
        if len(before) and len(after)
    ]
    if not differences:
        return None
    every = np.concatenate(differences)
    return Robust(float(np.median(every)), float(np.sign(every).mean()))


def _thinned(values: Floats) -> Floats:
    """At most so many order statistics: a million pairs a card are enough."""
    ordered: Floats = np.sort(values)
    if len(ordered) <= _PAIRS_OF_A_SIDE:
        return ordered
    places = np.linspace(0, len(ordered) - 1, _PAIRS_OF_A_SIDE).round().astype(int)
    return np.asarray(ordered[places], dtype=np.float64)
