# SPDX-License-Identifier: Apache-2.0
"""What the other analyses find in the results of a page: in its charts, and as parts of it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pandas as pd

from bandgate_reports.analysis import changes, fleet, series
from bandgate_reports.analysis.change_facts import look
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.section import Section
from bandgate_reports.store.records import each, each_by_series
from bandgate_reports.text import count, listed, printable, shorten
from bandgate_reports.trend.histories import Analyses
from bandgate_reports.trend.model import Item
from bandgate_reports.units import RateUnit, percent_text
from bandgate_reports.views import changes as changes_view
from bandgate_reports.views import fleet as fleet_view
from bandgate_reports.views import models as models_view

_WHO = ["series", "card", "node", "pci_address", "probe"]


def joined(
    table: pd.DataFrame,
    environment: pd.DataFrame,
    names: Mapping[tuple[str, str], str],
    now: datetime,
    rate: RateUnit,
) -> tuple[Analyses, tuple[Section, ...]]:
    """`table` as series.identify() gives it, without the sweeps; `environment` as
    series.changes() does, `names` as varying_parameters() does."""
    looked = look(table, now, environment=environment)
    found = looked.found
    compared = fleet.compare(table)
    sections = []
    if len(found.changes) or len(found.bad_nights) or len(found.pending) or len(looked.models.news):
        sections.append(changes_view.section(looked, names, rate))
    if compared.exit is not Exit.CANNOT_TELL:  # no four cards alike: nothing to be said
        sections.append(fleet_view.section(compared, rate))
    if (of_models := models_view.section(looked, names, rate)).figures:
        sections.append(of_models)
    shared = {int(e.event): _shared(e) for e in each(found.events)}
    steps = found.changes.assign(shared=[shared.get(e, "") for e in found.changes["event"]])
    analyses = Analyses(
        each_by_series(steps), each_by_series(found.bad_nights), announced(found, table)
    )
    return analyses, tuple(sections)


def _shared(event: Any) -> str:
    others = count(int(event.series) - 1, "other series", "other series")
    return f"as did {others} of {printable(event.node)}"


def announced(found: changes.Found, table: pd.DataFrame) -> tuple[Item, ...]:
    """The change points that are certain since the newest night; those of a node as one."""
    if found.changes.empty:
        return ()
    night = table.loc[table["placed"], "started"].max().floor(series.NIGHT)
    new = found.changes[found.changes["announced"] == night]
    own = table.loc[table["series"].isin(new["series"]), _WHO]
    where = own.drop_duplicates("series", keep="last")
    places = {r.series: r for r in each(where)}
    groups: dict[object, list[Any]] = {}
    for one in each(new):
        groups.setdefault(("event", one.event) if one.event >= 0 else one.series, []).append(one)
    items = [_item(ones, [places[one.series] for one in ones]) for ones in groups.values()]
    return tuple(sorted(items, key=lambda item: (item.status != "regression", item.where)))


def _item(steps: list[Any], places: list[Any]) -> Item:
    cards = {p.card for p in places}
    node = printable(shorten(places[0].node or "unknown host", 80))
    place = printable(shorten(places[0].pci_address, 40))
    who = count(len(cards), "device") if len(cards) > 1 else place
    probes = listed(list(dict.fromkeys(printable(p.probe) for p in places)))
    ratios = sorted(1 + s.step for s in steps)
    size = " to ".join(dict.fromkeys(percent_text(r) for r in (ratios[0], ratios[-1])))
    text = f"{probes}: {size} since {min(s.night for s in steps):%Y-%m-%d}"
    where = " · ".join(t for t in (node, who) if t)
    return Item("regression" if any(s.worse for s in steps) else "improved", where, text)
