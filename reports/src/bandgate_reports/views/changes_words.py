# SPDX-License-Identifier: Apache-2.0
"""Where a change is, what it is of, and how large, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from bandgate_reports.store.records import each
from bandgate_reports.text import count, listed, shorten
from bandgate_reports.units import RateUnit, percent_text, scale

Names = Mapping[tuple[str, str], str]  # (probe, parameters): the parameters worth naming


class Words:
    """`where`: changes.places(), by series."""

    def __init__(self, where: pd.DataFrame, names: Names, rate: RateUnit) -> None:
        self._of = dict(zip((int(key) for key in where.index), each(where), strict=True))
        self._names = names
        self._rate = rate
        self._cards = where.groupby("node")["card"].nunique().to_dict()

    def of(self, series: int) -> Any:
        return self._of[int(series)]

    def place(self, series: Sequence[int]) -> str:
        """A card, or a node and how many of its cards."""
        whose = [self.of(key) for key in series]
        cards = {who.card for who in whose}
        node = shorten(whose[0].node or "unknown host", 80)
        if len(cards) == 1:
            return f"{node} {whose[0].pci_address or shorten(whose[0].uuid, 13)}".rstrip()
        return f"{node}, {len(cards)} of {self._cards[whose[0].node]} cards"

    def subject(self, series: Sequence[int], event_of: int = 0) -> str:
        """A probe with what tells its series apart, or how many of which."""
        whose = [self.of(key) for key in series]
        if len(whose) == 1:
            who = whose[0]
            return f"{who.probe} {self._names.get((who.probe, who.parameters), '')}".rstrip()
        probes = list(dict.fromkeys(who.probe for who in whose))
        number = count(len(whose), "series", "series")
        if not event_of:
            return f"{number}: {listed(probes, 4)}"
        cards = len({who.card for who in whose})
        kind = "one card" if cards == 1 < self._cards[whose[0].node] else "whole-node event"
        return f"{kind}, {len(whose)} of {event_of} series: {listed(probes, 4)}"

    def step(self, step: float, series: Sequence[int]) -> str:
        """Less of a time is better: a sign alone would be read the other way round."""
        whose = [self.of(key) for key in series]
        if pd.isna(step):
            return "from 0"
        text = percent_text(1 + step)
        if not all(who.lower_is_better for who in whose):
            return text
        return f"{text} {'slower' if step > 0 else 'faster'}"

    def levels(self, series: int, *values: float) -> str:
        """ "4302.5 → 4210.1 GiB/s"."""
        units = scale(self.of(series).unit or "B/s", self._rate)
        return f"{' → '.join(units.text(value) for value in values)} {units.label}"
