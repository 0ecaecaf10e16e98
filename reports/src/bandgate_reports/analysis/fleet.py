# SPDX-License-Identifier: Apache-2.0
"""Cards against their peers: slow ones, slow nodes, and groups that are not meant to be alike."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bandgate_reports.analysis import fleet_parts, fleet_values
from bandgate_reports.analysis.fleet_rule import FROM_OTHERS, Codes, Floats, judge_part, loss_of
from bandgate_reports.analysis.fleet_values import CONFIGURATION, FACTS, KEY, NIGHTS
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.store.records import ENVIRONMENT

LABELS = {
    c: ENVIRONMENT[c][2] if c in ENVIRONMENT else "PCIe link" for c in (*CONFIGURATION, *FACTS)
}
_MOST = 0.75  # of the cards share what is usual there
_FEW = 0.1


@dataclass(frozen=True)
class Fleet:
    """What a comparison found; every table may be empty.

    cards: KEY, card, node, pci_address, uuid, value (B/s or s), unit, lower_is_better, statistic,
        nights (behind the value), night, part (number of the group that it was compared in), peers
        (cards of it, itself included), against (their median), loss (share; below 0: better), z,
        flagged, cause, differs.
    nodes: KEY, node, cards, loss: nodes that are slow as a whole. Their cards are not flagged.
    apart: KEY, facts, worse, better (what each side has), worse_cards, better_cards, loss,
        worse_nodes, along (of a difference that nothing explains: what goes along with it on one
        node), known: groups that were not compared with each other, and what they differ by.
    """

    cards: pd.DataFrame
    nodes: pd.DataFrame
    apart: pd.DataFrame
    unstable: dict[str, int]  # by card
    nights: int
    out_of_service: int  # cards

    @property
    def exit(self) -> Exit:
        if self.cards["flagged"].any() or len(self.nodes):
            return Exit.REGRESSION
        return Exit.OK if (self.cards["peers"] >= FROM_OTHERS).any() else Exit.CANNOT_TELL


@dataclass(frozen=True)
class _Facts:
    """What is known of the cards: a code for each row of the table (-1: not known), by column."""

    codes: dict[str, Codes]
    names: dict[str, list[str]]

    @staticmethod
    def of(table: pd.DataFrame) -> "_Facts":
        codes, names = {}, {}
        for column in ("node", *FACTS, *CONFIGURATION):
            found, texts = pd.factorize(table[column].mask(table[column] == ""))
            codes[column], names[column] = found, [str(t) for t in texts]
        return _Facts(codes, names)

    def usual(self, column: str, rows: Codes) -> tuple[str, float]:
        """What most of these rows have, and their share of those of which it is known."""
        own = self.codes[column][rows]
        counts = np.bincount(own[own >= 0])
        if not counts.size:
            return "", 0.0
        return self.names[column][int(counts.argmax())], float(counts.max() / counts.sum())

    def without(self, column: str, name: str, rows: Codes) -> int:
        """How many of these rows are not known to have it."""
        return int(np.sum(self.codes[column][rows] != self.names[column].index(name)))


@dataclass(frozen=True)
class _Group:
    """The cards of one model with one probe: rows of the table."""

    key: dict[str, Any]
    rows: Codes
    x: Floats  # as fleet_rule takes it
    lower_is_better: bool


_CARDS = [
    *KEY,
    *("card", "node", "pci_address", "uuid", "value", "unit", "lower_is_better", "statistic"),
    *("nights", "night", "part", "peers", "against", "loss", "z", "flagged", "cause", "differs"),
]
_NODES = [*KEY, "node", "cards", "loss"]
_APART = [
    *KEY,
    *("facts", "worse", "better", "worse_cards", "better_cards", "loss", "worse_nodes"),
    *("along", "known"),
]


def compare(results: pd.DataFrame, nights: int = NIGHTS) -> Fleet:
    """Of results as series.identify() gives them: each card's median of its newest `nights`
    nights against the other cards of its model and configuration."""
    table, gone = fleet_values.values(results, nights)
    facts = _Facts.of(table)
    found = _Findings(table, facts)
    apart: list[dict[str, Any]] = []
    for group in _groups(table):
        parts, cuts = _parts(group, facts)
        apart += [_apart(group, cut, facts) for cut in cuts]
        for members in parts:
            found.judge(group, members)
    return Fleet(
        cards=found.cards(),
        nodes=pd.DataFrame(found.nodes, columns=_NODES),
        apart=pd.DataFrame(apart, columns=_APART),
        unstable=fleet_values.unstable_counts(results),
        nights=nights,
        out_of_service=gone,
    )


def _groups(table: pd.DataFrame) -> Iterator[_Group]:
    log = np.log(table["value"].to_numpy(dtype=np.float64))
    lower = table["lower_is_better"].to_numpy(dtype=np.bool_)
    for found in table.groupby(KEY, sort=True).indices.values():
        rows = np.asarray(found, dtype=np.intp)
        is_time = bool(lower[rows[0]])
        key = {k: table[k].iat[rows[0]] for k in KEY}
        yield _Group(key, rows, -log[rows] if is_time else log[rows], is_time)


def _parts(group: _Group, facts: _Facts) -> tuple[list[Codes], list[fleet_parts.Cut]]:
    known = {f: _known(c[group.rows]) for f, c in facts.codes.items()}
    configuration = np.stack([known[c] for c in CONFIGURATION], axis=1)
    _, configurations = np.unique(configuration, axis=0, return_inverse=True)
    may_explain = {f: known[f] for f in FACTS}
    return fleet_parts.parts(group.x, known["node"], configurations.reshape(-1), may_explain)


def _known(codes: Codes) -> Codes:
    """What is not known is nothing of its own where all others have the same."""
    known = np.unique(codes[codes >= 0])
    return np.where(codes < 0, known[0], codes) if len(known) == 1 else codes


def _apart(group: _Group, cut: fleet_parts.Cut, facts: _Facts) -> dict[str, Any]:
    """A cut in words and numbers: the worse side, the better side, and the loss between them."""
    node = facts.codes["node"][group.rows]
    one, other = (fleet_parts.level(group.x[s], node[s]) for s in (cut.usual, cut.other))
    better, worse = (cut.usual, cut.other) if one >= other else (cut.other, cut.usual)
    lost = loss_of(np.array([min(one, other)]), np.array([max(one, other)]), group.lower_is_better)
    better, worse = group.rows[better], group.rows[worse]
    names = cut.facts
    if cut.configured:
        has = {c: [facts.usual(c, side)[0] for side in (better, worse)] for c in CONFIGURATION}
        names = tuple(c for c, (one, other) in has.items() if one != other)

    def side(rows: Codes) -> str:
        return ", ".join(f"{LABELS[f]} {facts.usual(f, rows)[0] or 'not known'}" for f in names[:2])

    return {
        **group.key,
        "facts": names,
        "worse": side(worse),
        "better": side(better),
        "worse_cards": len(worse),
        "better_cards": len(better),
        "loss": float(lost[0]),
        "worse_nodes": _whole_nodes(group, worse, facts),
        "along": "" if names or cut.configured else _along(worse, better, facts),
        "known": cut.configured or bool(cut.facts),
    }


def _along(worse: Codes, better: Codes, facts: _Facts) -> str:
    """What all of the worse have and none of the better, but for one card in ten: one that is slow
    for a reason of its own is on the wrong side."""
    few = max(1, int(_FEW * (len(worse) + len(better))))
    found = []
    for fact in FACTS:
        own, other = facts.usual(fact, worse)[0], facts.usual(fact, better)[0]
        if not own or not other or own == other:
            continue
        misfits = facts.without(fact, own, worse) + facts.without(fact, other, better)
        if misfits <= few:
            found.append(f"{LABELS[fact]} {own} (others {other})")
    return "; ".join(found[:3])


def _whole_nodes(group: _Group, rows: Codes, facts: _Facts) -> tuple[str, ...]:
    """The nodes of these cards, where they are all cards of them: else none."""
    node = facts.codes["node"]
    own = np.unique(node[rows])
    if np.intersect1d(own, node[np.setdiff1d(group.rows, rows)]).size:
        return ()
    return tuple(sorted(facts.names["node"][n] for n in own if n >= 0))


class _Findings:
    """What the judging of part after part found, a row of the table each."""

    def __init__(self, table: pd.DataFrame, facts: _Facts) -> None:
        n = len(table)
        self.table, self.facts = table, facts
        self.nodes: list[dict[str, Any]] = []
        self.numbers = {c: np.full(n, np.nan) for c in ("against", "loss", "z")}
        self.flagged = np.zeros(n, dtype=np.bool_)
        self.part = np.zeros(n, dtype=np.int64)
        self.peers = np.zeros(n, dtype=np.int64)
        self.cause = np.full(n, "", dtype=object)
        self.differs = np.full(n, "", dtype=object)
        self.parts = 0

    def judge(self, group: _Group, members: Codes) -> None:
        """The cards of one part, and the nodes of it that are slow as a whole."""
        rows, lower = group.rows[members], group.lower_is_better
        nodes = self.facts.codes["node"][rows]
        judged, slow = judge_part(group.x[members], nodes, lower_is_better=lower)
        self.numbers["against"][rows] = np.exp(-judged.against if lower else judged.against)
        self.numbers["loss"][rows], self.numbers["z"][rows] = judged.loss, judged.z
        self.flagged[rows] = judged.flagged
        self.part[rows], self.peers[rows] = self.parts, len(rows)
        self.parts += 1
        for one in slow:
            name = self.facts.names["node"][one.code] if one.code >= 0 else ""
            self.nodes.append({**group.key, "node": name, "cards": one.cards, "loss": one.loss})
        self._explain(rows[judged.flagged | np.isin(nodes, [s.code for s in slow])], rows)

    def _explain(self, slow: Codes, part: Codes) -> None:
        """The cause that the newest verdict names, and what few cards have and these do: no proof,
        but where to look."""
        if not slow.size:
            return
        usual = {f: self.facts.usual(f, part) for f in FACTS}
        for row in slow:
            self.cause[row] = fleet_values.cause_of(self.table["reasons"].iat[row])
            own = {f: self.facts.usual(f, np.array([row]))[0] for f in FACTS}
            self.differs[row] = "; ".join(
                [
                    f"{LABELS[f]} {own[f]} (others {value})"
                    for f, (value, share) in usual.items()
                    if share >= _MOST and own[f] not in ("", value)
                ][:3]
            )

    def cards(self) -> pd.DataFrame:
        found = self.table.assign(
            **self.numbers,
            flagged=self.flagged,
            part=self.part,
            peers=self.peers,
            cause=self.cause,
            differs=self.differs,
        )
        return found[_CARDS].sort_values("part", kind="stable", ignore_index=True)
