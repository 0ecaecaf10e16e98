# SPDX-License-Identifier: Apache-2.0
"""The comparison of a fleet's cards as people read it."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from bandgate_reports.analysis import fleet_nodes
from bandgate_reports.analysis.fleet import Fleet
from bandgate_reports.analysis.fleet_rule import FROM_OTHERS
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.section import Column, Row, Section, Table, Tone
from bandgate_reports.store.records import each
from bandgate_reports.text import count, listed, shorten
from bandgate_reports.units import RateUnit, percent_text, scale
from bandgate_reports.views import fleet_apart, fleet_data, heat_map
from bandgate_reports.views.fleet_apart import points

_MOST_ROWS = 40
_TONES = {Exit.REGRESSION: Tone.BAD, Exit.CANNOT_TELL: Tone.UNSURE}


def section(fleet: Fleet, rate: RateUnit = RateUnit.GIB_S, notice: str = "") -> Section:
    """`notice`: what is to be said of the results themselves, such as that they are made up."""
    compared = fleet_nodes.marked(fleet)
    ranking = fleet_nodes.ranked(compared, fleet.unstable)
    cells = fleet_nodes.cells(compared)
    by_model = {
        model: (
            cells[cells["model"] == model],
            list(ranking.loc[ranking["model"] == model, "node"]),
        )
        for model in dict.fromkeys(ranking["model"])
    }
    maps = [heat_map.table(str(m), c, n) for m, (c, n) in by_model.items()]
    unknown = bool((~fleet.apart["known"].astype("bool")).any())
    tone = _TONES.get(fleet.exit, Tone.UNSURE if unknown else Tone.GOOD)
    tables = [_nodes(ranking, compared), _cards(compared, rate), fleet_apart.table(fleet), *maps]
    return Section(
        key="fleet",
        title="Fleet",
        headline=_headline(fleet, compared, ranking),
        tone=tone,
        exit=fleet.exit,
        sentences=tuple(s for s in (notice, *_sentences(fleet, compared)) if s),
        tables=tuple(t for t in tables if t is not None and t.rows),
        figures=tuple(heat_map.figure(str(m), c, n) for m, (c, n) in by_model.items()),
        data=fleet_data.data(fleet, compared, ranking),
    )


def _headline(fleet: Fleet, compared: pd.DataFrame, ranking: pd.DataFrame) -> str:
    if fleet.exit is Exit.CANNOT_TELL:
        if fleet.cards.empty:
            return "nothing to compare: no measurement of a card in service"
        return f"nothing to compare: no {FROM_OTHERS} cards of one model and configuration"
    cards, nodes = compared["card"].nunique(), ranking["node"].nunique()
    bad = compared[compared["flagged"]].sort_values("loss", ascending=False)
    who = list(dict.fromkeys(f"{r.node} {_gpu(r)}" for r in each(bad)))
    slow = list(dict.fromkeys(str(n) for n in fleet.nodes["node"]))
    parts = []
    if slow:
        parts.append(f"{count(len(slow), 'node')} slow as a whole: {listed(slow)}")
    if who:
        parts.append(f"{count(len(who), 'card')} slower than the peers: {listed(who)}")
    if parts:
        return "; ".join(parts)
    of = f"{count(cards, 'card')} on {count(nodes, 'node')} compared"
    if (~fleet.apart["known"].astype("bool")).any():
        return f"{of}: no outlier, but two groups of cards that nothing explains for certain"
    return f"{of}: none is slower than its peers"


def _gpu(row: Any) -> str:
    return str(row.pci_address or shorten(row.uuid, 13) or row.card)


def _sentences(fleet: Fleet, compared: pd.DataFrame) -> Iterable[str]:
    if len(compared):
        newest = f"{compared['night'].max():%Y-%m-%d}"
        nights = (
            "newest night" if fleet.nights == 1 else f"median of its newest {fleet.nights} nights"
        )
        yield f"Of each card: the {nights}, up to {newest}."
    for row in each(fleet.apart[~fleet.apart["known"].astype("bool")]):
        yield _two_groups(row)
    few = fleet.cards[fleet.cards["peers"] < FROM_OTHERS]
    if len(few):
        alone = few.groupby("model", sort=True).agg(cards=("card", "nunique"))
        names = [f"{model} ({count(int(n), 'card')})" for model, n in alone["cards"].items()]
        yield (
            f"Fewer than {FROM_OTHERS} alike in some probe, so that only a baseline judges them "
            f"there: {listed(names, 6)}."
        )
    if fleet.out_of_service:
        gone = count(fleet.out_of_service, "card")
        yield f"Left out: {gone}, not measured for more than 7 days while others were."


def _two_groups(row: Any) -> str:
    below = (
        f"{row.model}, {row.probe}: {row.worse_cards} of {row.worse_cards + row.better_cards} "
        f"cards are {points(row.loss)} worse than the others"
    )
    whole = f"all cards of {listed(list(row.worse_nodes), 6)}" if row.worse_nodes else ""
    if row.along:
        return (
            f"{below}, {whole + ', ' if whole else ''}along with {row.along}: that or the node, "
            "which cannot be told apart. They are two groups, not outliers."
        )
    where = f": {whole}" if whole else ""
    return (
        f"{below}, and nothing recorded tells them apart{where}. They are two groups, not outliers."
    )


def _nodes(ranking: pd.DataFrame, compared: pd.DataFrame) -> Table:
    columns = (
        Column("Node"),
        Column("Model"),
        Column("Slow", numeric=True),
        Column("Worst", numeric=True),
        Column("Unstable", numeric=True),
        Column("Why"),
    )
    rows = []
    for r in each(ranking.head(_MOST_ROWS)):
        own = compared[(compared["node"] == r.node) & (compared["model"] == r.model)]
        bad = r.slow or r.flagged > 0
        tone = Tone.BAD if bad else Tone.UNSURE if r.unstable else Tone.PLAIN
        slow = "all" if r.slow else str(r.flagged) if r.flagged else ""
        cells = (
            r.node,
            r.model,
            f"{slow} of {r.cards}" if slow else f"– of {r.cards}",
            f"{heat_map.cell_text(r.loss)} %",
            str(r.unstable or "–"),
            _why(own) if bad else r.label,
        )
        rows.append(Row(cells, tone, model=r.model, node=r.node))
    note = (
        "Slow: at least 2 % worse than the median of its peers and, from 8 cards on, with a "
        "modified z below −4. Worst: the worst card's difference, minus is worse. Unstable: "
        "passes of the last 30 days that took a second attempt."
    )
    left = max(0, len(ranking) - _MOST_ROWS)
    return Table("Nodes, worst first", columns, tuple(rows), left, note)


def _why(own: pd.DataFrame) -> str:
    """A node's slow cards with what is known of the cause, the worst first."""
    said = []
    slow = own[own["slow"]].groupby("label", sort=False)["loss"].median()
    if len(slow):
        of = ", ".join(
            f"{p} −{points(v)}" for p, v in slow.sort_values(ascending=False)[:4].items()
        )
        causes = _causes(own[own["slow"]])
        said.append("; ".join((f"every GPU: {of}{_more(len(slow) - 4)}", *causes)))
    bad = own[own["flagged"]].sort_values("loss", ascending=False)
    for _, card in list(bad.groupby("card", sort=False))[:3]:
        of = ", ".join(f"{r.label} −{points(r.loss)}" for r in each(card.head(3)))
        causes = _causes(card)
        gpu = _gpu(next(each(card)))
        said.append("; ".join((f"{gpu}: {of}{_more(len(card) - 3)}", *causes)))
    if (more := bad["card"].nunique() - 3) > 0:
        said.append(count(more, "more card"))
    return ". ".join(said)


def _more(n: int) -> str:
    return f" and {n} more" if n > 0 else ""


def _causes(rows: pd.DataFrame) -> list[str]:
    """What most of these rows say, shortened."""
    found: list[str] = []
    for column in ("cause", "differs"):
        texts = rows.loc[rows[column] != "", column]
        if len(texts):
            found.append(shorten(str(texts.mode().iloc[0]), 160))
    return found


def _cards(compared: pd.DataFrame, rate: RateUnit) -> Table:
    columns = (
        Column("Card"),
        Column("Probe"),
        Column("Reached", numeric=True),
        Column("Peers", numeric=True),
        Column("Off by", numeric=True),
        Column("z", numeric=True),
        Column("Of", numeric=True),
    )
    bad = compared[compared["flagged"]].sort_values("loss", ascending=False, kind="stable")
    rows = []
    for r in each(bad.head(_MOST_ROWS)):
        units = scale(r.unit or "B/s", rate)
        cells = (
            f"{r.node} {_gpu(r)}",
            r.label,
            f"{units.text(r.value)} {units.label}",
            units.text(r.against),
            percent_text(r.value / r.against) + (" slower" if r.lower_is_better else ""),
            f"{r.z:.1f}".replace("-", "−") if math.isfinite(r.z) else "–",
            str(r.peers),
        )
        rows.append(Row(cells, Tone.BAD, model=r.model, node=r.node, probe=r.probe))
    note = "Peers: the median that the card is held against; of 4 to 7 cards that of the others."
    left = max(0, len(bad) - _MOST_ROWS)
    return Table("Slow cards", columns, tuple(rows), left, note)
