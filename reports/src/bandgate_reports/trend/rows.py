# SPDX-License-Identifier: Apache-2.0
"""The verdict table: rows of results as the texts that people read."""

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pandas as pd

from bandgate_reports.analysis import verdicts
from bandgate_reports.store.records import parameter_text
from bandgate_reports.store.stamps import NAIVE
from bandgate_reports.text import count, printable, shorten
from bandgate_reports.trend.model import Device, History, Row
from bandgate_reports.trend.spark import Window, draw
from bandgate_reports.units import RateUnit, Scale, percent_text, scale

# What is said of these explains nothing that is wrong: it is shown as a note.
QUIET = ("pass", "measured")


def stamp_text(at: pd.Timestamp | datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def device(row: Any) -> Device:
    name = (
        row.device or row.cpu_model or ("host CPU" if row.backend == "host" else "unknown device")
    )
    return Device(
        key=row.card,
        model=printable(shorten(name, 120)),
        node=printable(shorten(row.node or "unknown host", 80)),
        place=printable(shorten(row.pci_address, 40)),
        uuid=printable(shorten(row.uuid, 80)),
        scripted=row.backend == "scripted",
    )


def place_of(table: pd.DataFrame) -> dict[str, str]:
    """PCI address by UUID, where it was last seen."""
    known = table.loc[(table["uuid"] != "") & (table["pci_address"] != ""), ["uuid", "pci_address"]]
    last = known.astype("object").drop_duplicates("uuid", keep="last")
    return dict(zip(last["uuid"], last["pci_address"], strict=True))


def peer_text(uuid: str, places: Mapping[str, str]) -> str:
    """A peer as its PCI address, else as the beginning of its UUID: a whole one is no name."""
    return places.get(uuid) or shorten(uuid, 13)


def varying_parameters(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(probe, parameters) as the parameters in which a probe's series differ: most have one set
    of parameters, and naming all their defaults tells nobody anything."""
    places = place_of(table)

    def text_of(name: str, value: object) -> str:
        return peer_text(str(value), places) if name == "peer" else parameter_text(name, value)

    pairs = table[["probe", "parameters"]].drop_duplicates().astype("object")
    found: dict[tuple[str, str], str] = {}
    for probe, group in pairs.groupby("probe"):
        sets = {text: json.loads(text) for text in group["parameters"]}
        names = sorted({name for values in sets.values() for name in values})
        differing = [
            n
            for n in names
            if n == "peer" or len({json.dumps(v.get(n)) for v in sets.values()}) > 1
        ]
        for text, values in sets.items():
            shown = [f"{n}={text_of(n, values[n])}" for n in differing if n in values]
            found[(str(probe), text)] = printable(" ".join(shown))
    return found


def _bounds(lower: float, upper: float, units: Scale) -> str:
    low, high = (units.text(v) if math.isfinite(v) else "" for v in (lower, upper))
    if low and high:
        return f"{low} … {high}"
    return f"≥ {low}" if low else f"≤ {high}" if high else ""


# Codes of reasons that say in a sentence what value, reference and bounds say in figures.
RESTATING = (
    "below-bound",
    "below-card-bound",
    "above-bound",
    "above-card-bound",
    "above-upper",
    "confirmed",
)


def _cause(row: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What explains the verdict, and what only repeats it."""
    causes = [sentence for code, sentence in row.reasons if code not in RESTATING]
    restated = [sentence for code, sentence in row.reasons if code in RESTATING]
    for other in (row.failure_message, row.skip_reason):
        if other and not any(other in sentence for sentence in causes):
            causes.append(other)
    first, second = (
        tuple(printable(shorten(sentence, 600)) for sentence in found if sentence)
        for found in (causes, restated)
    )
    return first, second


def _change_word(row: Any) -> str:
    """Of a time, where more is worse: a sign alone would be read the other way round."""
    if not row.lower_is_better or not math.isfinite(row.ratio) or round(row.ratio - 1, 4) == 0:
        return ""
    return "slower" if row.ratio > 1 else "faster"


def _when(row: Any) -> str:
    text = stamp_text(row.started)
    return text if row.placed and row.stamp_flag != NAIVE else f"{text} ({row.stamp_flag})"


def verdict_row(
    row: Any, shown: str, rate: RateUnit, history: History | None, over: Window, ended: str = ""
) -> Row:
    """`ended`: the night of its last result, where it is not the newest of its line."""
    measured = math.isfinite(row.value)
    units = scale(row.unit or "B/s", rate)
    # The value beside a reference is of the reference's statistic.
    value = {"peak": row.peak, "worst": row.worst}.get(row.statistic, row.median)
    measured = measured and math.isfinite(value)
    said = tuple(printable(shorten(note, 600)) for note in row.notes)
    cause, restated = _cause(row)
    quiet = row.status in QUIET
    referenced = math.isfinite(row.reference)
    kind = "card" if row.card_entry else "generic" if row.generic else row.baseline_kind
    return Row(
        status=row.status,
        unstable=row.unstable,
        stale=row.stale,
        judged=row.status in verdicts.JUDGED,
        device=device(row),
        probe=printable(row.probe),
        parameters=shown,
        value=units.text(value) if measured else "",
        unit=units.label if measured else "",
        statistic=row.statistic if row.statistic in ("peak", "worst") else "",
        reference=units.text(row.reference) if referenced else "",
        reference_kind=kind if referenced else "",
        bounds=_bounds(row.lower, row.upper, units),
        change=percent_text(row.ratio) if measured and math.isfinite(row.ratio) else "",
        change_word=_change_word(row) if measured else "",
        cause=() if quiet else cause,
        restated=restated,
        notes=(*cause, *said) if quiet else said,
        next_step=printable(shorten(row.next_step, 400)),
        when=_when(row),
        attempts=row.attempts,
        key=history.key if history else "",
        ended=ended,
        spark=draw(history, over) if history else "",
        spark_text=spark_text(history) if history else "no history",
        demo=bool(getattr(row, "demo", False)),
    )


def spark_text(history: History) -> str:
    """What is to be seen in the sparkline, in words."""
    word = "night" if history.by_night else "run"
    parts = [count(len(history.at), word), *(s.text for s in history.steps[-2:])]
    if history.bad_nights:
        parts.append(count(len(history.bad_nights), "bad night"))
    return ", ".join([*parts, *history.remarks])
