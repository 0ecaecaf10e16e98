# SPDX-License-Identifier: Apache-2.0
"""The numbers behind the comparison of a fleet, for JSON: base units, losses as shares."""

import json
import math
from typing import Any

import pandas as pd

from bandgate_reports.analysis import fleet_nodes
from bandgate_reports.analysis.fleet import LABELS, Fleet
from bandgate_reports.store.records import each


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def data(fleet: Fleet, compared: pd.DataFrame, ranking: pd.DataFrame) -> dict[str, Any]:
    def card(r: Any) -> dict[str, Any]:
        return {
            **{k: getattr(r, k) for k in ("model", "node", "uuid", "pci_address", "probe")},
            "parameters": json.loads(r.parameters),
            "probe_version": int(r.version),
            "value": float(r.value),
            "unit": r.unit,
            "peers_median": float(r.against),
            "peers": int(r.peers),
            "loss": float(r.loss),
            "z": _number(r.z),
            "nights": int(r.nights),
            "cause": r.cause,
            "differs": r.differs,
        }

    bad = compared[compared["flagged"]].sort_values("loss", ascending=False, kind="stable")
    return {
        "nights": fleet.nights,
        "cards_compared": int(compared["card"].nunique()),
        "cards_out_of_service": fleet.out_of_service,
        "slow_cards": [card(r) for r in each(bad)],
        "slow_nodes": [
            {
                "model": r.model,
                "node": r.node,
                "probe": r.probe,
                "parameters": json.loads(r.parameters),
                "cards": int(r.cards),
                "loss": float(r.loss),
            }
            for r in each(fleet.nodes.sort_values("loss", ascending=False, kind="stable"))
        ],
        "nodes": [
            {
                "model": r.model,
                "node": r.node,
                "cards": int(r.cards),
                "slow_cards": int(r.flagged),
                "slow": bool(r.slow),
                "worst_loss": float(r.loss),
                "worst_probe": r.label,
                "unstable_passes": int(r.unstable),
            }
            for r in each(ranking)
        ],
        "compared_apart": [
            {
                "model": r.model,
                "probe": r.probe,
                "parameters": json.loads(r.parameters),
                "explained_by": [LABELS[f] for f in r.facts],
                "worse": r.worse,
                "better": r.better,
                "worse_cards": int(r.worse_cards),
                "better_cards": int(r.better_cards),
                "loss": float(r.loss),
                "worse_nodes": list(r.worse_nodes),
                "goes_along_with": r.along,
            }
            for r in each(fleet.apart)
        ],
        "heat_map": [
            {"model": r.model, "node": r.node, "probe": r.label, "loss": float(r.loss)}
            for r in each(fleet_nodes.cells(compared))
        ],
    }
