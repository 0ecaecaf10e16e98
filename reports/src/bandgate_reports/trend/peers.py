# SPDX-License-Identifier: Apache-2.0
"""Peer copies as matrices: one for each node, probe and set of parameters."""

import json
import math
from typing import Any

import pandas as pd

from bandgate_reports.store.records import each, parameter_text
from bandgate_reports.text import printable, shorten
from bandgate_reports.trend.model import Cell, Matrix
from bandgate_reports.trend.rows import place_of
from bandgate_reports.units import RateUnit, scale

PROBES = ("p2p_read", "p2p_write", "p2p_bidir")
_NO_PEER = ("", "auto", "each")  # never resolved: there was nobody to copy to or from
MOST_MATRICES = 60  # of a page


def pairs(results: pd.DataFrame, newest: pd.DataFrame) -> pd.DataFrame:
    """The newest result of every ordered pair: node, model, probe, other (parameters), device,
    peer, value (B/s), status, why. `results` and `newest` as series and verdicts give them."""
    places = place_of(results)
    rows = []
    for r in each(newest[newest["probe"].isin(PROBES)]):
        parameters = json.loads(r.parameters)
        uuid = str(parameters.pop("peer", ""))
        if uuid in _NO_PEER or r.stale:
            continue
        why = r.failure_message or r.skip_reason or next((s for _, s in r.reasons), "")
        rows.append(
            {
                "node": r.node or "unknown host",
                "model": r.device or "unknown device",
                "probe": r.probe,
                "other": json.dumps(parameters, sort_keys=True),
                "device": r.pci_address or shorten(r.uuid, 13),
                "peer": places.get(uuid) or shorten(uuid, 13),
                "value": r.value,
                "status": r.status,
                "why": why,
            }
        )
    columns = ["node", "model", "probe", "other", "device", "peer", "value", "status", "why"]
    table = pd.DataFrame(rows, columns=columns)
    # A card that changed its node, or a MIG part beside its whole: the last is the newest.
    return table.drop_duplicates(["node", "probe", "other", "device", "peer"], keep="first")


def short_places(places: list[str]) -> dict[str, str]:
    """PCI addresses without what all share: "0000:1b:00.0" as "1b:00"."""
    if not all(p.count(":") == 2 and p.endswith(".0") for p in places):
        return {p: printable(p) for p in places}
    one_domain = len({p.split(":")[0] for p in places}) == 1
    return {p: printable((p.split(":", 1)[1] if one_domain else p)[:-2]) for p in places}


def matrices(found: pd.DataFrame, rate: RateUnit) -> tuple[Matrix, ...]:
    """`found` as pairs() gives it, as matrices in the order of node and probe."""
    sizes = found.groupby(["node", "probe"])["other"].nunique()
    made = []
    for key, group in found.groupby(["node", "probe", "other"], sort=True):
        node, probe, other = (str(k) for k in key)
        several = int(sizes[(node, probe)]) > 1
        made.append(_matrix(node, probe, other if several else "{}", group, rate))
    return tuple(made)


def _matrix(node: str, probe: str, other: str, group: pd.DataFrame, rate: RateUnit) -> Matrix:
    places = sorted({*group["device"], *group["peer"]})
    names = short_places(places)
    units = scale("B/s", rate)
    by_pair = {(r.device, r.peer): r for r in each(group)}
    measured = [r for r in by_pair.values() if math.isfinite(r.value)]
    least = min(measured, key=lambda r: r.value, default=None)
    greatest = max((r.value for r in measured), default=math.nan)

    def cell(device: str, peer: str) -> Cell | None:
        if device == peer:
            return None
        r: Any = by_pair.get((device, peer))
        if r is None:
            return Cell("", None, "", "not measured", False)
        why = printable(shorten(r.why, 300))
        if not math.isfinite(r.value):
            return Cell("", None, r.status, why or r.status, False)
        text = units.text(r.value)
        return Cell(text, r.value / greatest, r.status, why, r is least, r.value)

    cells = tuple(tuple(cell(a, b) for b in places) for a in places)
    parameters = " ".join(f"{k}={parameter_text(k, v)}" for k, v in json.loads(other).items())
    ranked = [s for s in _WORST if s in set(group["status"])]
    return Matrix(
        title=printable(" ".join(t for t in (probe, parameters) if t)),
        probe=printable(probe),
        node=printable(shorten(node, 80)),
        model=printable(shorten(str(group["model"].iloc[0]), 120)),
        unit=units.label,
        names=tuple(names[p] for p in places),
        cells=cells,
        minimum=_minimum(least, names, rate),
        holes=_holes(places, names, cells),
        status=ranked[0] if ranked else "measured",
    )


_WORST = ("regression", "error", "inconclusive", "no-baseline", "improved", "pass", "measured")


def _minimum(least: Any, names: dict[str, str], rate: RateUnit) -> str:
    """In both units: links are sold in GB/s, memory is measured in GiB/s."""
    if least is None:
        return "no pair was measured"
    units = [rate, RateUnit.GIB_S if rate is RateUnit.GB_S else RateUnit.GB_S]
    one, other = (f"{scale('B/s', u).text(least.value)} {u.value}" for u in units)
    return f"minimum {one} ({other}): {names[least.device]} → {names[least.peer]}"


def _holes(
    places: list[str], names: dict[str, str], cells: tuple[tuple[Cell | None, ...], ...]
) -> tuple[str, ...]:
    """A line for each reason, not one for each hole."""
    by_reason: dict[str, list[str]] = {}
    for a, row in zip(places, cells, strict=True):
        for b, cell in zip(places, row, strict=True):
            if cell is not None and cell.value is None:
                by_reason.setdefault(cell.why, []).append(f"{names[a]} → {names[b]}")
    return tuple(
        f"{', '.join(which[:4])}{f' and {len(which) - 4} more' if len(which) > 4 else ''}: {why}"
        for why, which in by_reason.items()
    )


def csv_table(matrix: Matrix) -> pd.DataFrame:
    """One row a pair, base units."""
    rows = [
        {
            "node": matrix.node,
            "probe": matrix.title,
            "device": a,
            "peer": b,
            "bandwidth_bytes_per_second": cell.value,
            "status": cell.status,
            "reason": cell.why,
        }
        for a, row in zip(matrix.names, matrix.cells, strict=True)
        for b, cell in zip(matrix.names, row, strict=True)
        if cell is not None
    ]
    return pd.DataFrame(rows)
