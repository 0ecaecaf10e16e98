# SPDX-License-Identifier: Apache-2.0
"""Words for a comparison of two sides: effects as percent, reasons, what else differs."""

import json
import math
from typing import Any

import pandas as pd

from bandgate_reports.analysis import ab_numbers
from bandgate_reports.analysis.ab import Comparison
from bandgate_reports.analysis.ab_sides import setting_text
from bandgate_reports.store.records import each
from bandgate_reports.text import count, listed
from bandgate_reports.units import percent_text

SIDES = {False: "BEFORE", True: "AFTER"}
_UNUSED = {
    "failed": "failed",
    "shared": "shared the device with another process",
    "not measured": "measured nothing",
}


def ratio(effect: float, lower_is_better: bool) -> float:
    """after / before, as measured: above 1 is faster for a rate and slower for a time."""
    return math.exp(-effect if lower_is_better else effect)


def change(effect: float, lower_is_better: bool) -> str:
    """ "−2.03 %"; of a time "+2.07 % slower", since its sign says the opposite."""
    text = percent_text(ratio(effect, lower_is_better))
    if not lower_is_better or text.startswith("±"):
        return text
    return f"{text} {'slower' if effect < 0 else 'faster'}"


def interval(low: float, high: float, lower_is_better: bool) -> str:
    if math.isnan(low):
        return "–"
    ends = (high, low) if lower_is_better else (low, high)
    return " … ".join(percent_text(ratio(e, lower_is_better)) for e in ends)


def margin_text(margin: float) -> str:
    return f"{margin * 100:.10g} %"


def names(tests: pd.DataFrame) -> list[str]:
    """What people call each test: the probe, and what tells it from others of that name."""
    models = tests["model_key"].nunique() > 1
    told = _told(tests)
    versions = tests.groupby("probe", observed=True)["version"].transform("nunique")
    found = []
    for one, more in zip(each(tests), versions > 1, strict=True):
        text = f"{one.probe} {told[one.probe, one.setting]}".rstrip()
        if more:
            text += f" v{one.version}"
        found.append(f"{text} on {one.model}" if models else text)
    return found


def _told(tests: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Of each probe and setting the parameters in which the settings of the probe differ."""
    found = {}
    for probe, rows in tests.groupby("probe", observed=True):
        texts = {s: json.loads(s) for s in rows["setting"].unique()}
        for setting, own in texts.items():
            differing = {n: v for n, v in own.items() if any(o.get(n) != v for o in texts.values())}
            found[str(probe), str(setting)] = setting_text(json.dumps(differing))
    return found


def _more(number: int) -> str:
    return f"about {count(number, 'more run')} a side would decide"


def reason(one: Any, margin: float) -> str:
    """Why a test is what it is; one row of `tests`."""
    cards = int(one.cards)
    worst = f"{one.worst}: {change(one.worst_effect, one.lower_is_better)}"
    if one.verdict == "PASS":
        hidden = cards > 1 and one.worst_effect < ab_numbers.limit(margin)
        return f"worst card, {worst}" if hidden else ""
    if one.verdict == "FAIL":
        hides = f"{worst} by itself, which the mean of {cards} cards hides"
        return hides if one.doubt == "card" else f"a loss of more than {margin_text(margin)}"
    if one.doubt == "few":
        return _few(one, cards)
    return _undecided(one)


def _undecided(one: Any) -> str:
    if one.doubt == "failed":
        return f"{count(int(one.failed_1), 'process', 'processes')} AFTER failed"
    if one.doubt == "lost":
        return f"{count(int(one.lost), 'card')} of BEFORE without a value AFTER"
    far = f"not even {ab_numbers.MOST_FURTHER} more runs would decide"
    further = far if pd.isna(one.further) else _more(int(one.further))
    if one.doubt == "noise":
        return f"too uncertain for a verdict among {count(int(one.hypotheses), 'test')}; {further}"
    return f"the interval reaches across the margin; {further}"


def _few(one: Any, cards: int) -> str:
    least = [max(0, math.ceil((ab_numbers.LEAST - n) / cards)) for n in (one.n_0, one.n_1)]
    if least[0] == least[1]:
        needed = f"{count(least[0], 'more run')} a side"
    else:
        needed = " and ".join(
            f"{n} more {s}" for n, s in zip(least, SIDES.values(), strict=True) if n
        )
    if math.isnan(one.se):
        each_card = " a card" if cards > 1 else ""
        wanted = f"{needed} at least" if any(least) else "2 a card at least"
        return f"cannot tell from n=1{each_card}: {wanted}, {ab_numbers.ADVISED} in all advised"
    if not pd.isna(one.further):
        needed = _more(int(one.further))
    return f"at least {ab_numbers.LEAST} processes a side are needed: {needed}"


def sentences(found: Comparison) -> list[str]:
    """Everything beside the table that a reader must know, what may mislead first."""
    said = ["These results are made up by bandgate-report demo."] if found.demo else []
    if len(found.tests):
        said += _changes(found.changes) + _timing(found)
    said += _left_out(found)
    return said


def _changes(changes: pd.DataFrame) -> list[str]:
    if changes.empty:
        return ["Nothing in the recorded environment differs between the sides."]
    said = []
    kinds = dict(iter(changes.groupby("kind", sort=False)))
    for kind, rows in kinds.items():
        if kind == "confounder":
            texts = [f"{r.field} {r.before} → {r.after}" for r in each(rows)]
            said.append(
                f"Confounded: {listed(texts, 6)}. What is found may come from this as well."
            )
    compared = [f"{r.field} {r.before} → {r.after}" for r in each(changes[_expected(changes)])]
    if compared:
        said.insert(0, f"Changed: {listed(compared, 6)}.")
    if "system" in kinds and "driver" in kinds:
        # The parts of a driver (its firmware, its module) change with it.
        fields = [str(kinds["driver"]["field"].iloc[0])]
        fields += list(dict.fromkeys(kinds["system"]["field"]))
        said.append(f"{_and(fields)} changed together, which this comparison cannot tell apart.")
    mixed = list(dict.fromkeys(changes.loc[changes["mixed"].astype(bool), "field"]))
    if mixed:
        said.append(f"One side by itself has several values of: {listed(mixed, 6)}.")
    return said


def _expected(changes: pd.DataFrame) -> pd.Series:
    return changes["kind"] != "confounder"


def _and(items: list[str]) -> str:
    text = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    return text[0].upper() + text[1:]


def _timing(found: Comparison) -> list[str]:
    timing, said = found.timing, []
    if timing.reversed:
        said.append("AFTER was measured before BEFORE: are the arguments in the right order?")
    fewest = found.tests[["n_0", "n_1"]].min(axis=1)
    enough = bool((fewest >= ab_numbers.LEAST).any())
    if timing.confounded and enough:
        boots = (timing.boots_before, timing.boots_after)
        if 0 in boots:
            why = "the boots are not recorded"
        elif timing.same_boot:
            why = "both sides are of one boot, one after the other"
        else:
            single = [s for s, n in zip(SIDES.values(), boots, strict=True) if n == 1]
            why = f"{' and '.join(single)} {'are' if len(single) > 1 else 'is'} of a single boot"
        said.append(
            f"Confounded with time: {why}. A difference between two boots, or two days, would look "
            "the same; measure each side in a second boot, or interleave them."
        )
    if enough and (fewest < ab_numbers.ADVISED).any():
        said.append(f"{ab_numbers.ADVISED} processes a side are advised.")
    return said


def _left_out(found: Comparison) -> list[str]:
    said = []
    for after, side in SIDES.items():
        if not found.results[after]:
            continue
        cards = found.one_sided[found.one_sided["after"] == after]
        if len(cards) and all(found.results):
            where = [f"{r.place} ({r.model})" for r in each(cards)]
            said.append(f"Left out, only {side} has {_them(len(cards))}: {listed(where, 8)}.")
        alone = found.alone[found.alone["after"] == after]
        if len(alone):
            labels = [
                f"{name}{f' ({r.other} {SIDES[not after]})' if r.other else ''}"
                for name, r in zip(names(alone), each(alone), strict=True)
            ]
            said.append(f"Not compared, measured only {side}: {listed(labels, 8)}.")
    for (side_, why), rows in found.unused.groupby(["after", "unused"], sort=True):
        number = count(int(rows["processes"].sum()), "process", "processes")
        probes = listed([str(p) for p in rows["probe"]], 5)
        said.append(f"{SIDES[bool(side_)]}: {number} {_UNUSED[str(why)]}, left out: {probes}.")
    return said


def _them(number: int) -> str:
    return "this card" if number == 1 else "these cards"
