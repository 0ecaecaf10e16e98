# SPDX-License-Identifier: Apache-2.0
"""The level of each model over the nights, as people read it."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from bandgate_reports.analysis.change_facts import Looked
from bandgate_reports.analysis.divisive import NEEDED
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.section import Column, Figure, Row, Section, Table, Tone
from bandgate_reports.store.records import CONFIGURATION, ENVIRONMENT, each
from bandgate_reports.text import count, listed, printable, shorten
from bandgate_reports.units import RateUnit, percent_text, scale
from bandgate_reports.views.changes_words import Names

_MOST_ROWS = 40
_MOST_MODELS = 12  # drawings; beyond that a page is no overview
_WIDE, _HIGH, _COLUMNS = 370, 104, 3
_LEFT, _TOP, _FOOT = 8, 36, 88


class _Words:
    def __init__(self, looked: Looked, names: Names, rate: RateUnit) -> None:
        self._where, self._names, self._rate = looked.models.where, names, rate
        self._several = self._where.groupby("model")[list(CONFIGURATION)].nunique().max(axis=1) > 1

    def of(self, series: int) -> Any:
        return self._where.loc[series]

    def probe(self, series: int) -> str:
        who = self.of(series)
        return f"{who.probe} {self._names.get((who.probe, who.parameters), '')}".rstrip()

    def model(self, series: int) -> str:
        """With its configuration where a model has several."""
        who = self.of(series)
        text = shorten(who.model or "unknown device", 120)
        known = [f"{ENVIRONMENT[c][2]} {who[c]}" for c in CONFIGURATION if who[c]]
        return f"{text} ({', '.join(known)})" if known and self._several[who.model] else text

    def step(self, step: float, series: int) -> str:
        if pd.isna(step):
            return "from 0"
        word = f" {'slower' if step > 0 else 'faster'}" if self.of(series).lower_is_better else ""
        return percent_text(1 + step) + word

    def levels(self, series: int, *values: float) -> str:
        units = scale(self.of(series).unit or "B/s", self._rate)
        return f"{' → '.join(units.text(value) for value in values)} {units.label}"


def table(looked: Looked, names: Names, rate: RateUnit = RateUnit.GIB_S) -> Table:
    """The changes that no card shows alone; losses that are in force first, then the newest."""
    words = _Words(looked, names, rate)
    news = looked.models.news
    order = news.assign(force=looked.models_in_force[news.index])
    order = order.sort_values(["force", "night"], ascending=False, kind="stable")
    rows = []
    for r in each(order.head(_MOST_ROWS)):
        also = [f"{n} {shorten(b, 60)} → {shorten(a, 60)}" for n, b, a in r.together]
        together = f"; together with: {listed(also, 4)}" if also else ""
        cells = (
            f"{r.night:%Y-%m-%d}",
            words.step(r.step, r.series),
            words.model(r.series),
            words.levels(r.series, r.before, r.after),
            f"{words.probe(r.series)}: {r.cards} of {count(r.of, 'card')} measured since{together}",
        )
        tone = Tone.BAD if r.force else Tone.PLAIN if r.worse else Tone.GOOD
        who = words.of(r.series)
        rows.append(Row(cells, tone, model=who.model, probe=who.probe))
    columns = tuple(Column(n, numeric=n == "Change") for n in ("Since", "Change", *_WHERE))
    note = "The nightly median over the cards of a model, each relative to its own first nights."
    return Table("Changes of a model", columns, tuple(rows), max(0, len(news) - _MOST_ROWS), note)


_WHERE = ("Model", "Level", "What")


def searched(looked: Looked) -> int:
    """Models with enough nights."""
    return int((looked.models.nights["series"].value_counts() >= NEEDED).sum())


def headline(looked: Looked, lost: Sequence[Row]) -> str:
    if not lost:
        number = count(searched(looked), "series of a model", "series of models")
        return f"{number} searched: no change for the worse in force that is new"
    since, step, model, _, what = lost[0].cells
    more = f", and {count(len(lost) - 1, 'more change')}" if len(lost) > 1 else ""
    probe = what.partition(":")[0]
    return f"{model} as a whole: {probe} {step} since {since}{more}"


def section(looked: Looked, names: Names, rate: RateUnit = RateUnit.GIB_S) -> Section:
    """A drawing for each model and configuration: a history of each probe."""
    words, of = _Words(looked, names, rate), looked.models
    groups: dict[str, list[int]] = {}
    number = of.nights["series"].value_counts()
    for series in of.where.index[of.where.index.isin(number.index[number >= NEEDED])]:
        groups.setdefault(words.model(series), []).append(int(series))
    figures = [_figure(name, own, looked, words) for name, own in groups.items()]
    cards = int(of.where["cards"].max()) if len(of.where) else 0
    return Section(
        key="models",
        title="Models",
        headline=f"The nightly median over the cards of a model, of up to {count(cards, 'card')}",
        tone=Tone.PLAIN,
        exit=Exit.OK,
        sentences=(
            "Each card counts relative to its own first nights, so that unequal cards that take "
            "turns make no steps. A dashed line is a change that most of the cards took, also one "
            "that they show by themselves.",
        ),
        figures=tuple(figures[:_MOST_MODELS]),
    )


def _figure(name: str, series: list[int], looked: Looked, words: _Words) -> Figure:
    nights = looked.models.nights
    nights = nights[nights["series"].isin(series)]
    first, last = nights["night"].min(), nights["night"].max()
    parts, said = [], []
    for number, one in enumerate(series):
        x, y = number % _COLUMNS * _WIDE, number // _COLUMNS * _HIGH
        steps = looked.models.changes[looked.models.changes["series"] == one]
        drawn, text = _chart(nights[nights["series"] == one], steps, (first, last), words, one)
        parts.append(f'<g transform="translate({x} {y})">{drawn}</g>')
        said.append(text)
    wide, high = _COLUMNS * _WIDE, -(-len(series) // _COLUMNS) * _HIGH
    head = (
        f'<svg viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        f'style="min-width: {wide}px" font-size="12" fill="currentColor">'  # a phone scrolls
    )
    summary = f"{name}. {'. '.join(said)}"
    return Figure(name, head + "".join(parts) + "</svg>", summary, words.of(series[0]).model)


def _chart(
    nights: pd.DataFrame,
    steps: pd.DataFrame,
    span: tuple[pd.Timestamp, pd.Timestamp],
    words: _Words,
    series: int,
) -> tuple[str, str]:
    days = max((span[1] - span[0]).days, 1)
    room = _WIDE - 3 * _LEFT

    def x(at: pd.Series) -> "np.ndarray[Any, np.dtype[np.float64]]":
        return np.asarray(_LEFT + room * (at - span[0]).dt.days / days).round(1)

    value = nights["value"].to_numpy()
    # Never so close that noise looks like a loss.
    middle = (value.max() + value.min()) / 2
    reach = max(value.max() - value.min(), 0.04 * abs(middle)) or 1.0
    y = (_TOP + _FOOT) / 2 - (_FOOT - _TOP) * (value - middle) / reach
    points = " ".join(f"{a:g},{b:.1f}" for a, b in zip(x(nights["night"]), y, strict=True))
    newest = words.levels(series, float(value[-1]))
    cards = nights["cards"]
    several = f"{cards.min()} to {cards.max()}" if cards.min() < cards.max() else f"{cards.max()}"
    turns = [f"{words.step(r.step, series)} since {r.night:%Y-%m-%d}" for r in each(steps)]
    lines = "".join(
        f'<path d="M{at:g} {_TOP - 2}V{_FOOT + 2}" stroke="currentColor" stroke-dasharray="4 3">'
        f"<title>{escape(text)}</title></path>"
        for at, text in zip(x(steps["night"]) if len(steps) else (), turns, strict=True)
    )
    head, below = printable(words.probe(series)), f"{several} cards a night"
    drawn = (
        f'<text x="{_LEFT}" y="14" font-weight="650">{escape(head)}</text>'
        f'<text x="{_WIDE - 2 * _LEFT}" y="14" text-anchor="end">{escape(newest)}</text>'
        f'<text x="{_LEFT}" y="29" opacity="0.7">'
        f"{escape('; '.join(turns[-2:]))}</text>"
        f'<text x="{_WIDE - 2 * _LEFT}" y="29" text-anchor="end" opacity="0.7">{below}</text>'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-opacity="0.55" '
        f'stroke-width="1.3" stroke-linejoin="round"/>{lines}'
    )
    return drawn, f"{head}: {newest}, {'; '.join(turns) or 'no change'}"
