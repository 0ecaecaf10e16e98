# SPDX-License-Identifier: Apache-2.0
"""A comparison of two sides as a section."""

import math
from typing import Any

import pandas as pd

from bandgate_reports.analysis import ab_numbers
from bandgate_reports.analysis.ab import FAIL, INCONCLUSIVE, PASS, Comparison
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.section import Column, Row, Section, Table, Tone
from bandgate_reports.store.records import each
from bandgate_reports.text import count, listed
from bandgate_reports.units import RateUnit, scale
from bandgate_reports.views import ab_forest
from bandgate_reports.views.ab_words import (
    SIDES,
    change,
    interval,
    margin_text,
    names,
    ratio,
    reason,
    sentences,
)

TONES = {FAIL: Tone.BAD, INCONCLUSIVE: Tone.UNSURE, PASS: Tone.GOOD}
_TONE_OF_EXIT = {Exit.OK: Tone.GOOD, Exit.REGRESSION: Tone.BAD}


def section(found: Comparison, rate: RateUnit) -> Section:
    labels = names(found.tests)
    return Section(
        key="ab",
        title="Before and after",
        headline=headline(found, labels),
        tone=_TONE_OF_EXIT.get(found.exit, Tone.UNSURE),
        exit=found.exit,
        sentences=tuple(sentences(found)),
        tables=tuple(t for t in _tables(found, labels, rate) if t.rows),
        figures=ab_forest.figure(found, labels),
        data=_data(found),
    )


def headline(found: Comparison, labels: list[str]) -> str:
    tests, lost = found.tests, margin_text(found.margin)
    missing = [side for after, side in SIDES.items() if not found.results[after]]
    if missing:
        holds = "hold" if len(missing) > 1 else "holds"
        return f"cannot tell: {' and '.join(missing)} {holds} no results"
    if tests.empty:
        return "cannot tell: nothing was measured on one card in both sides"
    of = {
        v: [n for n, own in zip(labels, tests["verdict"], strict=True) if own == v] for v in TONES
    }
    probes = count(len(tests), "comparison")
    if of[FAIL]:
        return f"FAIL: {len(of[FAIL])} of {probes} lost more than {lost}: {listed(of[FAIL], 5)}"
    if of[INCONCLUSIVE]:
        few = set(tests.loc[tests["verdict"] == INCONCLUSIVE, "n_0"]) | set(
            tests.loc[tests["verdict"] == INCONCLUSIVE, "n_1"]
        )
        why = " from n=1" if few == {1} else ""
        undecided = listed(of[INCONCLUSIVE], 5)
        return f"cannot tell{why}: {len(of[INCONCLUSIVE])} of {probes} undecided: {undecided}"
    if found.exit is not Exit.OK:
        return f"cannot tell: {probes} passed, but some were measured only BEFORE"
    return f"PASS: none of {probes} lost more than {lost}"


def _tables(found: Comparison, labels: list[str], rate: RateUnit) -> tuple[Table, ...]:
    return (
        _verdicts(found, labels),
        _values(found, labels, rate),
        _worst(found, labels),
        _environment(found),
    )


def _verdicts(found: Comparison, labels: list[str]) -> Table:
    columns = (
        Column("Verdict"),
        Column("Probe"),
        Column("Change", numeric=True),
        Column("90 % interval", numeric=True),
        Column("n", numeric=True),
        Column("Why"),
    )
    rows = tuple(
        Row(
            (
                str(r.verdict),
                name,
                change(r.effect, r.lower_is_better),
                interval(r.low, r.high, r.lower_is_better),
                f"{r.n_0}/{r.n_1}",
                reason(r, found.margin),
            ),
            tone=TONES[r.verdict],
            model=str(r.model),
            probe=str(r.probe),
        )
        for name, r in zip(labels, each(found.tests), strict=True)
    )
    note = (
        f"PASS: the interval is above a loss of {margin_text(found.margin)}. FAIL: it is below, "
        "after Holm's correction over all probes. n: processes BEFORE/AFTER."
    )
    return Table("", columns, rows, note=note)


def _values(found: Comparison, labels: list[str], rate: RateUnit) -> Table:
    columns = (
        Column("Probe"),
        Column("Before", numeric=True),
        Column("After", numeric=True),
        Column("Unit, statistic"),
        Column("sd, %", numeric=True),
        Column("HL", numeric=True),
        Column("Cliff", numeric=True),
    )
    rows = []
    for name, r in zip(labels, each(found.tests), strict=True):
        shown = scale(str(r.unit), rate)
        cells = (
            name,
            shown.text(r.before),
            shown.text(r.after),
            f"{shown.label}, {r.statistic_used}",
            f"{_sd(r.sd_0)}/{_sd(r.sd_1)}",
            change(r.hodges_lehmann, r.lower_is_better),
            _signed(r.cliffs_delta),
        )
        rows.append(Row(cells, model=str(r.model), probe=str(r.probe)))
    note = (
        "Before and after: geometric means over processes, cards weighted by their processes; sd, "
        "before/after: between processes of a card. HL: the Hodges-Lehmann estimate of the change. "
        "Cliff: Cliff's delta, from −1 (every process slower) to +1 (every process faster)."
    )
    return Table("Values", columns, tuple(rows), note=note)


def _sd(value: float) -> str:
    return "–" if math.isnan(value) else f"{value * 100:.2f}"


def _signed(value: float) -> str:
    """Two decimals; no sign for a zero."""
    rounded = round(value, 2)
    return f"{rounded:+.2f}".replace("-", "−") if rounded else "0.00"


def _worst(found: Comparison, labels: list[str]) -> Table:
    """The card of each test that lost most."""
    columns = (
        Column("Probe"),
        Column("Worst card"),
        Column("Change", numeric=True),
        Column("90 % interval", numeric=True),
        Column("n", numeric=True),
        Column("Cards", numeric=True),
    )
    worst = found.cards.drop_duplicates("test").set_index("test")
    rows = []
    for name, t in zip(labels, each(found.tests), strict=True):
        r: Any = worst.loc[t.test]
        cells = (
            name,
            str(r["place"]),
            change(r["effect"], t.lower_is_better),
            interval(r["low"], r["high"], t.lower_is_better),
            f"{r['n_0']}/{r['n_1']}",
            str(int((found.cards["test"] == t.test).sum())),
        )
        tone = Tone.BAD if r["fails"] else Tone.PLAIN
        rows.append(Row(cells, tone, str(t.model), str(r["node"]), str(t.probe)))
    return Table("Worst card of each probe", columns, tuple(rows))


def _environment(found: Comparison) -> Table:
    columns = (
        Column("Recorded"),
        Column("Before"),
        Column("After"),
        Column("Cards", numeric=True),
        Column("Taken as"),
    )
    kinds = {"driver": "what is compared", "system": "what is compared", "confounder": "confounder"}
    rows = tuple(
        Row(
            (str(r.field), str(r.before), str(r.after), str(r.cards), kinds[r.kind]),
            tone=Tone.UNSURE if r.kind == "confounder" else Tone.PLAIN,
        )
        for r in each(found.changes)
    )
    return Table("What differs between the sides", columns, rows)


_TEST_NUMBERS = {
    "p_margin": "p_loss_holm",
    "p_change": "p_slower_holm",
    "sd_0": "sd_before",
    "sd_1": "sd_after",
    "before": "before",
    "after": "after",
    "cliffs_delta": "cliffs_delta",
}


def _known(value: Any) -> float | None:
    """A number for JSON; None where it is not known."""
    return None if pd.isna(value) else float(value)


def _effects(r: Any, lower_is_better: bool) -> dict[str, Any]:
    ends = [_known(r.high), _known(r.low)] if lower_is_better else [_known(r.low), _known(r.high)]
    return {
        "ratio": ratio(r.effect, lower_is_better),
        "interval": None
        if ends[0] is None
        else [ratio(e, lower_is_better) for e in ends if e is not None],
        "speed_ratio": ratio(r.effect, False),
        "processes": {"before": int(r.n_0), "after": int(r.n_1)},
    }


def _comparison(r: Any, margin: float) -> dict[str, Any]:
    lower = bool(r.lower_is_better)
    return {
        "verdict": str(r.verdict),
        "why": reason(r, margin),
        "model": str(r.model),
        "probe": str(r.probe),
        "version": int(r.version),
        "parameters": str(r.setting),
        "statistic": str(r.statistic_used),
        "unit": str(r.unit),
        "lower_is_better": lower,
        **_effects(r, lower),
        "hodges_lehmann": ratio(r.hodges_lehmann, lower),
        **{name: _known(getattr(r, column)) for column, name in _TEST_NUMBERS.items()},
        "cards": int(r.cards),
        "worst_card": str(r.worst),
        "failed": {"before": int(r.failed_0), "after": int(r.failed_1)},
        "further_runs": None if pd.isna(r.further) else int(r.further),
    }


def _data(found: Comparison) -> dict[str, Any]:
    tests = found.tests.set_index("test")
    cards = [
        {
            "probe": str(tests.loc[r.test, "probe"]),
            "parameters": str(tests.loc[r.test, "setting"]),
            "model": str(tests.loc[r.test, "model"]),
            "card": str(r.place),
            "uuid": str(r.uuid),
            **_effects(r, bool(tests.loc[r.test, "lower_is_better"])),
        }
        for r in each(found.cards)
    ]
    timing = found.timing
    return {
        "margin": found.margin,
        "confidence": ab_numbers.CONFIDENCE,
        "demo": found.demo,
        "results": {"before": found.results[0], "after": found.results[1]},
        "comparisons": [_comparison(r, found.margin) for r in each(found.tests)],
        "cards": cards,
        "cards_on_one_side": [
            {"card": str(r.place), "uuid": str(r.uuid), "model": str(r.model), "side": _side(r)}
            for r in each(found.one_sided)
        ],
        "not_compared": [
            {"model": str(r.model), "probe": str(r.probe), "parameters": str(r.setting)}
            | {"side": _side(r), "processes": int(r.processes), "other_side": str(r.other)}
            for r in each(found.alone)
        ],
        "left_out": [
            {"side": _side(r), "probe": str(r.probe), "why": str(r.unused)}
            | {"processes": int(r.processes)}
            for r in each(found.unused)
        ],
        "environment": [
            {"field": str(r.field), "kind": str(r.kind), "before": str(r.before)}
            | {"after": str(r.after), "cards": int(r.cards), "mixed": bool(r.mixed)}
            for r in each(found.changes)
        ],
        "boots": {"before": timing.boots_before, "after": timing.boots_after},
        "confounded_with_time": timing.confounded,
    }


def _side(row: Any) -> str:
    return "after" if row.after else "before"
