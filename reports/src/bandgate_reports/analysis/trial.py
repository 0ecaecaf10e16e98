# SPDX-License-Identifier: Apache-2.0
"""A changed baseline over a history: what the gate is asked, and what its answers come to.

The gate is the program `bandgate`; nothing here compares a value with a bound.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from bandgate_reports.analysis.keys import grouping, microseconds
from bandgate_reports.analysis.verdicts import JUDGED
from bandgate_reports.store.records import each

# What `bandgate run` measured was never held against anything, and what was skipped never measured.
NEVER_JUDGED = ("measured", "skipped")
FAILED = ("regression", "error")

_DEVICE = (
    "backend device uuid pci_address pci_device pci_subsystem board_part memory_bytes dram_peak "
    "ecc mig processors cpu_model"
).split()
_MEASURED = ("median", "peak", "worst", "drop")


def history(results: pd.DataFrame, nights: int | None = None) -> tuple[pd.DataFrame, int]:
    """The attempts to judge again, those of one invocation next to each other in their order, and
    how many results were left out because nothing judges them. `results` as series.identify()
    gives them; with `nights` only what began in the newest so many days."""
    table = results
    if nights is not None and results["placed"].any():
        newest = results.loc[results["placed"], "started"].max()
        table = table[table["placed"] & (table["started"] > newest - pd.Timedelta(days=nights))]
    invocation = grouping(table["line"], table["group"])
    measured = np.zeros(int(invocation.max(initial=-1)) + 1, dtype=np.bool_)
    measured[invocation[table["median"].notna().to_numpy()]] = True
    asked = measured[invocation] & ~table["status"].isin(NEVER_JUDGED).to_numpy()
    order = np.lexsort((table["attempt"], invocation, microseconds(table["started"])))
    first = np.full(len(measured), len(table), dtype=np.int64)
    np.minimum.at(first, invocation[order], np.arange(len(table)))
    rows = np.lexsort((table["attempt"], first[invocation]))
    return table.iloc[rows[asked[rows]]], int((~asked).sum())


def _number(value: Any) -> str:
    return repr(float(value)) if math.isfinite(value) else "null"


def _device(row: Any) -> str:
    memory = str(row.memory_bytes).removesuffix(" B")
    document = {
        "backend": row.backend,
        "name": row.device,
        "uuid": row.uuid,
        "pci_address": row.pci_address,
        "pci_device": row.pci_device,
        "pci_subsystem": row.pci_subsystem,
        "board_part": row.board_part,
        "memory_bytes": int(memory) if memory.isdigit() else None,
        "peak_bytes_per_second": row.dram_peak if math.isfinite(row.dram_peak) else None,
        "ecc": {"on": True, "off": False}.get(row.ecc),
        "mig_profile": row.mig,
        "processors": int(row.processors) if math.isfinite(row.processors) else None,
        "cpu_model": row.cpu_model,
    }
    return json.dumps(document)


def _each_once(table: pd.DataFrame, columns: list[str], text: Any) -> list[str]:
    """`text` of the rows, made once for equal ones."""
    number = grouping(*(table[c] for c in columns))
    first = np.unique(number, return_index=True)[1]
    texts = [text(row) for row in each(table[columns].iloc[first])]
    return [texts[i] for i in number]


class _Memory:
    """JSON of objects that many rows share."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, ...], tuple[Any, str]] = {}

    def of(self, text: Callable[..., str], *values: Any) -> str:
        key = tuple(map(id, values))
        found = self.known.get(key)
        if found is None:  # the values are kept, so that their ids stay their own
            found = self.known[key] = (values, text(*values))
        return found[1]


def _more(more: Any) -> str:
    return json.dumps([{"name": n, "unit": "", "value": v} for n, v in more.items()])


def _series(parts: Any) -> str:
    if parts is None:
        return "null"
    return json.dumps({"axis": parts["axis"], "step": parts["step"], "points": []})


def _remarks(notes: Any, reasons: Any) -> str:
    """A process that computed beside the measurement is known by its verdict alone."""
    found = list(notes)
    if any(code == "contended" for code, _ in reasons):
        found.append("measured beside others: as the verdict of then says")
    return json.dumps(found)


def _load(row: Any) -> str:
    known = {
        name: {"state": "ok", "value": value, "why": ""}
        for name, value in (("pcie_generation", row[0]), ("pcie_width", row[1]))
        if math.isfinite(value)
    }
    return json.dumps({"load": known})


def lines(asked: pd.DataFrame) -> Iterator[str]:
    """One JSON document an attempt, with what judging looks at."""
    devices = _each_once(asked, _DEVICE, _device)
    probes = _each_once(
        asked,
        ["probe", "parameters"],
        lambda r: json.dumps({"name": r.probe, "parameters": json.loads(r.parameters)}),
    )
    loads = _each_once(asked, ["pcie_generation", "pcie_width"], _load)
    more, series, remarks = _Memory(), _Memory(), _Memory()
    columns = [
        *("id", "group", "attempt", "unit", *_MEASURED, "unsettled", "verified", "more", "parts"),
        *("notes", "reasons", "failure_code", "skip_reason"),
    ]
    for at, r in enumerate(each(asked[columns])):
        yield (
            f'{{"run":{{"id":{json.dumps(r.id)},"group_id":{json.dumps(r.group)},'
            f'"attempt":{r.attempt}}},"device":{devices[at]},"probe":{probes[at]},'
            f'"measurement":{_measurement(r, more, series)},'
            f'"failure":{_failure(r.failure_code)},"skip_reason":{json.dumps(r.skip_reason)},'
            f'"notes":{remarks.of(_remarks, r.notes, r.reasons)},'
            f'"health":{loads[at]}}}\n'
        )


def _measurement(r: Any, more: _Memory, series: _Memory) -> str:
    if not math.isfinite(r.median):
        return "null"
    return (
        f'{{"unit":{json.dumps(r.unit)},"median":{_number(r.median)},"peak":{_number(r.peak)},'
        f'"worst":{_number(r.worst)},"drop":{_number(r.drop)},'
        f'"unsettled":{"true" if r.unsettled else "false"},'
        f'"verified":{"true" if r.verified else "false"},'
        # The gate asks whether there are samples, and whether one is above the peak of them all.
        f'"samples":[{_number(r.median)}],'
        f'"more":{more.of(_more, r.more)},"series":{series.of(_series, r.parts)}}}'
    )


def _failure(code: str) -> str:
    return json.dumps({"code": code, "message": ""}) if code else "null"


class Unanswered(ValueError):  # noqa: N818 - a reason, read by people
    """The program's answers are not those to what it was asked."""


def answered(asked: pd.DataFrame, answers: Iterable[str], tried: str) -> pd.DataFrame:
    """One row an invocation: what is known of its last attempt, then (status), now, attempts,
    unstable_now, code, touched (held against an entry of `tried`, a file or folder), and
    reference_now, lower_now, upper_now, ratio_now of the baseline that does not hold, else the
    card's, else the model's."""
    found, ends = [], []
    end = 0
    ids = asked["id"].to_numpy()
    for text in answers:
        try:
            answer = json.loads(text)
            end += answer["attempts"]
            known = end <= len(asked) and ids[end - 1] == answer["id"]
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise Unanswered(f"an answer is not to what was asked: {text.strip()[:120]}")
        ends.append(end - 1)
        found.append(_answer(answer, tried))
    if end != len(asked):
        raise Unanswered(f"{end} of {len(asked)} results were answered")
    columns = [
        *("now", "unstable_now", "attempts", "code", "touched"),
        *("reference_now", "lower_now", "upper_now", "ratio_now"),
    ]
    made = pd.DataFrame(found, columns=columns).astype(
        dict.fromkeys(["reference_now", "lower_now", "upper_now", "ratio_now"], "float64")
        | {"now": "object", "touched": "bool", "unstable_now": "bool", "attempts": "int64"}
    )
    last = asked.iloc[ends].reset_index(drop=True)
    return last.join(made).assign(then=last["status"].astype("object"))


def _holds(held: Any) -> bool:
    value, lower, upper = held["reference"] * held["ratio"], held["lower"], held["upper"]
    return (lower is None or value >= lower) and (upper is None or value <= upper)


def _answer(answer: Any, tried: str) -> tuple[Any, ...]:
    folder = tried.rstrip("/") + "/"
    touched = any(f == tried or f.startswith(folder) for f in answer["files"])
    # The one to show: what does not hold, else the card's own.
    held = sorted(answer["baselines"], key=lambda b: (_holds(b), not b["card"]))
    shown = held[0] if held else {}
    return (
        answer["status"],
        answer["unstable"],
        answer["attempts"],
        answer["code"],
        touched,
        shown.get("reference"),
        shown.get("lower"),
        shown.get("upper"),
        shown.get("ratio"),
    )


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Of what answered() gives, the invocations that the tried baseline decides: those that it was
    held against and that were judged, and those that it makes an error of."""
    judged = table["touched"] & table["now"].isin(JUDGED)
    spoiled = table["touched"] & (table["now"] == "error") & (table["then"] != "error")
    chosen = table[judged | spoiled]
    failed = chosen["now"].isin(FAILED)
    return chosen.assign(
        fails=failed,
        new=failed & ~chosen["then"].isin(FAILED),
        mended=~failed & chosen["then"].isin(FAILED),
    )
