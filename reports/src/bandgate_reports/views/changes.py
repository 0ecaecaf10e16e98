# SPDX-License-Identifier: Apache-2.0
"""Changes of level and bad nights as people read them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import pandas as pd

from bandgate_reports.analysis.change_facts import Level, Looked
from bandgate_reports.analysis.divisive import NEEDED
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.section import Column, Row, Section, Table, Tone
from bandgate_reports.text import count, listed, shorten
from bandgate_reports.units import RateUnit
from bandgate_reports.views import changes_data, models
from bandgate_reports.views.changes_words import Names, Words

_MOST_ROWS = 40
_MOST_NIGHTS = 20


@dataclass(frozen=True)
class _Item:
    """One line: what happened to a series, or to several of a node at once."""

    first: pd.Timestamp
    last: pd.Timestamp
    step: float
    worse: bool
    series: list[int]
    values: tuple[float, ...]  # of the one series
    in_force: bool = False
    event_of: int = 0  # series of the node, of which it is an event; 0: of none
    together: list[str] = field(default_factory=list)


def section(
    looked: Looked,
    names: Names,
    rate: RateUnit = RateUnit.GIB_S,
    notice: str = "",
    level: Level = Level.BOTH,
) -> Section:
    """`notice`: what is to be said of the results themselves, such as that they are made up.
    `level`: what `looked` was narrowed to, by change_facts.only()."""
    words = Words(looked.where, names, rate)
    found = looked.found
    items = sorted(_changes(looked), key=_order)
    new = [item for item in items if item.in_force]
    of_models = models.table(looked, names, rate)
    tables = (
        of_models,
        _change_table(items, words),
        _night_table("Not yet decided", _PENDING, _spells(found.pending, words), words),
        _night_table("Isolated bad nights", _BAD, _single(found.bad_nights, words), words),
    )
    said = [] if level is Level.MODEL else [_headline(looked, items, new, words)]
    lost_models = [row for row in of_models.rows if row.tone is Tone.BAD]
    if lost_models or level is Level.MODEL:
        said.insert(0, models.headline(looked, lost_models))
    lost = bool(new or lost_models)
    searched = found.series or (level is Level.MODEL and models.searched(looked))
    return Section(
        key="changes",
        title="Changes",
        headline="; cards: ".join(said),
        tone=Tone.BAD if lost else Tone.GOOD if searched else Tone.UNSURE,
        exit=Exit.REGRESSION if lost else Exit.OK,
        sentences=tuple(s for s in (notice, *_sentences(looked)) if s),
        tables=tuple(table for table in tables if table.rows),
        data=changes_data.data(looked),
    )


def _changes(looked: Looked) -> Iterator[_Item]:
    changes = looked.found.changes
    # Each change of no event is a line of its own.
    line = changes["event"].where(changes["event"] >= 0, -1 - changes.index.to_series())
    events = looked.found.events.set_index("event")["of"]
    for _, own in changes.groupby(line, sort=False):
        facts = chain.from_iterable(looked.together.get(int(i), ()) for i in own.index)
        yield _Item(
            first=own["night"].min(),
            last=own["night"].max(),
            step=float(own["step"].median()),
            worse=bool(own["worse"].iloc[0]),
            series=[int(key) for key in own["series"]],
            values=(float(own["before"].iloc[0]), float(own["after"].iloc[0])),
            in_force=bool(looked.in_force[own.index].any()),
            event_of=int(events[own["event"].iloc[0]]) if len(own) > 1 else 0,
            together=[
                f"{name} {shorten(before, 60)} → {shorten(after, 60)}"
                for name, before, after in dict.fromkeys(facts)
            ],
        )


def _order(item: _Item) -> tuple[bool, float, float]:
    """New losses first, the greatest first; then the newest."""
    greatest = -abs(item.step) if item.in_force else 0.0
    return (not item.in_force, greatest, -item.first.timestamp())


def _single(nights: pd.DataFrame, words: Words) -> list[_Item]:
    return _at_once(nights.assign(first=nights["night"], last=nights["night"]), words)


def _spells(nights: pd.DataFrame, words: Words) -> list[_Item]:
    """The newest nights of a series as one line."""
    spells = nights.groupby("series", as_index=False).agg(
        first=("night", "min"),
        last=("night", "max"),
        value=("value", "median"),
        expected=("expected", "median"),
        step=("step", "median"),
        worse=("worse", "last"),
    )
    return _at_once(spells, words)


def _at_once(spells: pd.DataFrame, words: Words) -> list[_Item]:
    """What several series of a node show in the same nights is one line. Newest first."""
    node = [words.of(key).node for key in spells["series"]]
    items = []
    for _, own in spells.groupby([pd.Index(node, dtype="object"), "first", "last", "worse"]):
        values = (float(own["expected"].iloc[0]), float(own["value"].iloc[0]))
        series = [int(key) for key in own["series"]]
        first, last, step = own["first"].iloc[0], own["last"].iloc[0], float(own["step"].median())
        items.append(_Item(first, last, step, bool(own["worse"].iloc[0]), series, values))
    return sorted(items, key=lambda i: (i.last, i.worse, abs(i.step)), reverse=True)


def _headline(looked: Looked, items: list[_Item], new: list[_Item], words: Words) -> str:
    few, days = looked.found.too_few["nights"], count(looked.days, "day")
    if not looked.found.series:
        return f"not enough data (n={int(few.max()) if len(few) else 0}, need {NEEDED})"
    if not new:
        more = f"; {count(len(items), 'change')} in all" if items else ""
        return f"no change for the worse in force that is new in the last {days}{more}"
    worst = new[0]
    what = words.subject(worst.series, worst.event_of)
    return (
        f"{count(len(new), 'change')} for the worse, new in the last {days}; the greatest: "
        f"{words.step(worst.step, worst.series)} since {worst.first:%Y-%m-%d}, "
        f"{words.place(worst.series)}, {what}"
    )


def _sentences(looked: Looked) -> Iterator[str]:
    found, few = looked.found, looked.found.too_few["nights"]
    if found.series and looked.newest is not None:
        yield f"{count(found.series, 'series', 'series')} searched, up to {looked.newest:%Y-%m-%d}."
    if len(few):
        least, most = int(few.min()), int(few.max())
        n = f"n={least}" if least == most else f"n={least} to {most}"
        number = count(len(few), "series", "series")
        yield f"{number} without enough data ({n}, need {NEEDED})."


def _change_table(items: list[_Item], words: Words) -> Table:
    names = ("Where", "Level", "What")
    columns = (Column("Since"), Column("Change", numeric=True), *map(Column, names))
    rows = []
    for item in items[:_MOST_ROWS]:
        subject = words.subject(item.series, item.event_of)
        also = f"; together with: {listed(item.together, 4)}" if item.together else ""
        cells = (
            f"{item.first:%Y-%m-%d}",
            words.step(item.step, item.series),
            words.place(item.series),
            "" if item.event_of else words.levels(item.series[0], *item.values),
            f"{subject}{also}",
        )
        tone = Tone.BAD if item.in_force else Tone.PLAIN if item.worse else Tone.GOOD
        rows.append(_row(cells, tone, item, words))
    note = (
        "Since: the first night of the new level; new losses first, then the newest changes. "
        "Together with: what else of the card changed in that night."
    )
    left = max(0, len(items) - _MOST_ROWS)
    return Table("Changes of level", columns, tuple(rows), left, note)


_PENDING = (
    "The newest nights are out of line: bad nights if the next ones are as before, a change of "
    "level if five stay so."
)
_BAD = "Far off for one night or two, and back."


def _night_table(title: str, note: str, items: list[_Item], words: Words) -> Table:
    names = ("Where", "Expected, measured", "What")
    columns = (Column("Night"), Column("Off by", numeric=True), *map(Column, names))
    rows = []
    for item in items[:_MOST_NIGHTS]:
        nights = (item.last - item.first).days + 1
        cells = (
            f"{item.first:%Y-%m-%d}" + (f" … {item.last:%m-%d}" if nights > 1 else ""),
            words.step(item.step, item.series),
            words.place(item.series),
            words.levels(item.series[0], *item.values) if len(item.series) == 1 else "",
            words.subject(item.series),
        )
        rows.append(_row(cells, Tone.UNSURE if item.worse else Tone.PLAIN, item, words))
    return Table(title, columns, tuple(rows), max(0, len(items) - _MOST_NIGHTS), note)


def _row(cells: Iterable[str], tone: Tone, item: _Item, words: Words) -> Row:
    who = words.of(item.series[0])
    probes = {words.of(key).probe for key in item.series}
    probe = who.probe if len(probes) == 1 else ""
    return Row(tuple(cells), tone, model=who.device, node=who.node, probe=probe)
