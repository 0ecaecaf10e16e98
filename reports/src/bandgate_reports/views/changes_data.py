# SPDX-License-Identifier: Apache-2.0
"""The numbers behind the changes, for JSON: base units, steps as shares, nights as dates."""

import json
import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from bandgate_reports.analysis.change_facts import Looked
from bandgate_reports.analysis.models import Fact
from bandgate_reports.store.records import CONFIGURATION, each

_DATE = "%Y-%m-%d"


def data(looked: Looked) -> dict[str, Any]:
    found = looked.found
    of = dict(zip((int(k) for k in looked.where.index), each(looked.where), strict=True))

    def who(series: int) -> dict[str, Any]:
        own = of[int(series)]
        return {
            "model": own.device,
            "node": own.node,
            "uuid": own.uuid,
            "pci_address": own.pci_address,
            "probe": own.probe,
            "parameters": json.loads(own.parameters),
            "probe_version": int(own.version),
            "unit": own.unit,
            "lower_is_better": bool(own.lower_is_better),
        }

    def night(r: Any) -> dict[str, Any]:
        return {
            **who(r.series),
            "night": f"{r.night:{_DATE}}",
            "value": float(r.value),
            "expected": float(r.expected),
            "step": _number(r.step),
            "worse": bool(r.worse),
        }

    changes = [
        {
            **who(r.series),
            **_change(r),
            "in_force": bool(looked.in_force[index]),
            "event": int(r.event) if r.event >= 0 else None,
            "together_with": _facts(looked.together.get(int(index), ())),
        }
        for index, r in zip(found.changes.index, each(found.changes), strict=True)
    ]
    return {
        "days": looked.days,
        "newest_night": None if looked.newest is None else f"{looked.newest:{_DATE}}",
        "series_searched": found.series,
        "changes": changes,
        "model_changes": _of_models(looked),
        "events": _events(found.events),
        "pending": [night(r) for r in each(found.pending)],
        "bad_nights": [night(r) for r in each(found.bad_nights)],
        "not_enough_data": [
            {**who(r.series), "nights": int(r.nights), "needed": int(r.needed)}
            for r in each(found.too_few)
        ],
    }


def _change(r: Any) -> dict[str, Any]:
    """Of a card or of a model."""
    return {
        "night": f"{r.night:{_DATE}}",
        "announced": f"{r.announced:{_DATE}}",
        "before": float(r.before),
        "after": float(r.after),
        "step": _number(r.step),
        "worse": bool(r.worse),
    }


def _facts(facts: Iterable[Fact]) -> list[dict[str, str]]:
    return [{"field": name, "before": before, "after": after} for name, before, after in facts]


def _of_models(looked: Looked) -> list[dict[str, Any]]:
    where = looked.models.where
    of = dict(zip((int(k) for k in where.index), each(where), strict=True))

    def who(series: int) -> dict[str, Any]:
        own = of[int(series)]
        return {
            **{k: getattr(own, k) for k in ("model", *CONFIGURATION, "probe", "unit")},
            "parameters": json.loads(own.parameters),
            "probe_version": int(own.version),
            "lower_is_better": bool(own.lower_is_better),
        }

    return [
        {
            **who(r.series),
            **_change(r),
            "cards": int(r.cards),
            "cards_measured": int(r.of),
            "cards_with_a_change_of_their_own": int(r.known_by),
            "in_force": bool(looked.models_in_force[index]),
            "together_with": _facts(r.together),
        }
        for index, r in zip(looked.models.changes.index, each(looked.models.changes), strict=True)
    ]


def _events(events: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "event": int(r.event),
            "node": r.node,
            "night": f"{r.night:{_DATE}}",
            "announced": f"{r.announced:{_DATE}}",
            "worse": bool(r.worse),
            "series": int(r.series),
            "series_of_node": int(r.of),
            "cards": int(r.cards),
            "probes": list(r.probes),
            "median_step": _number(r.step),
        }
        for r in each(events)
    ]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
