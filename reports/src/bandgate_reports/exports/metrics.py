# SPDX-License-Identifier: Apache-2.0
"""The newest verdicts as metrics in Prometheus' text format, for node_exporter's text files."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from bandgate_reports.analysis import verdicts
from bandgate_reports.exports.names import named
from bandgate_reports.exports.said import judged_value
from bandgate_reports.store.records import each
from bandgate_reports.text import printable

# Of a card, as last known; label: column.
INFO = {
    "model": "named_model",
    "uuid": "uuid",
    "pci_address": "pci_address",
    "board_part": "board_part",
    "driver": "driver",
    "vbios": "vbios",
    "kernel": "kernel",
    "ecc": "ecc",
    "mig": "mig",
    "power_limit": "power_limit_w",
    "tool_version": "tool_version",
}


@dataclass
class Family:
    """One metric; all are gauges."""

    name: str
    help: str
    samples: list[tuple[Mapping[str, str], float]] = field(default_factory=list)

    def add(self, labels: Mapping[str, str], value: float) -> None:
        """No line for what is not known."""
        if math.isfinite(value):
            self.samples.append((labels, float(value)))


def _families() -> dict[str, Family]:
    all_of_them = (
        Family(
            "bandgate_bandwidth_bytes_per_second",
            "Newest bandwidth, by the statistic that it was judged by.",
        ),
        Family("bandgate_latency_seconds", "Newest time of a probe where less is better."),
        Family(
            "bandgate_ratio",
            "Performance against the reference: 1 as expected, less is worse (value / reference; "
            "where less is better, reference / value).",
        ),
        Family("bandgate_status", "1 for the newest verdict, 0 for the others."),
        Family("bandgate_unstable", "1 if the newest verdict took a second attempt to pass."),
        Family("bandgate_last_run_timestamp_seconds", "When the newest verdict was measured."),
        Family("bandgate_info", "1; what is known of the device."),
        Family("bandgate_skipped_files", "Files in the result folders that hold no valid result."),
        Family(
            "bandgate_untimed_failures",
            "Regressions and errors whose time stamp is impossible, and which no other line shows.",
        ),
    )
    return {f.name.removeprefix("bandgate_"): f for f in all_of_them}


def label_text(text: str) -> str:
    """As in a name, but a line break is kept: the format can spell it."""
    return "\n".join(printable(line) for line in text.split("\n"))


def families(
    results: pd.DataFrame, skipped: int, now: datetime, max_age: timedelta | None = None
) -> list[Family]:
    """`results` as series.identify() makes them. What is older than `max_age` has its time and its
    info only: its value is not the present's, and an alert on its age still works."""
    found = _families()
    newest = verdicts.newest(results)
    table = named(newest, results, label_text)
    order = ["named_node", "named_device", "named_probe", "named_parameters"]
    table = table.sort_values(order, kind="stable")
    oldest = None if max_age is None else pd.Timestamp(now) - max_age
    for row in each(table):
        labels = {
            "backend": row.backend,
            "node": row.named_node,
            "model": row.named_model,
            "device": row.named_device,
            "probe": row.named_probe,
            "parameters": row.named_parameters,
        }
        if row.placed:
            found["last_run_timestamp_seconds"].add(labels, round(row.started.timestamp(), 3))
        if oldest is None or row.started >= oldest:
            _add_values(found, labels, row)
    for labels in _info(table, results):
        found["info"].add(labels, 1)
    if len(table):
        found["skipped_files"].add({}, skipped)
        unplaced = verdicts.summary(newest, results).unplaced_bad
        found["untimed_failures"].add({}, unplaced)
    return [f for f in found.values() if f.samples]


def _add_values(found: dict[str, Family], labels: Mapping[str, str], row: Any) -> None:
    value = judged_value(row)
    if row.unit == "B/s":
        found["bandwidth_bytes_per_second"].add(labels, value)
    elif row.unit == "s":
        found["latency_seconds"].add(labels, value)
    if math.isfinite(value) and row.ratio > 0:
        found["ratio"].add(labels, 1 / row.ratio if row.lower_is_better else row.ratio)
    for status in verdicts.STATUSES:
        found["status"].add({**labels, "status": status}, row.status == status)
    found["unstable"].add(labels, bool(row.unstable))


def _info(table: pd.DataFrame, results: pd.DataFrame) -> Iterator[dict[str, str]]:
    """One a card: of each fact the last that was known."""
    columns = [c for c in INFO.values() if not c.startswith("named_")]
    ordered = results[results["card"].isin(table["card"].unique())]
    ordered = ordered.sort_values(["placed", "started"], kind="stable")[["card", *columns]]
    facts = ordered.astype("object")
    facts = facts.mask(facts == "").groupby("card", sort=False)[columns].last().fillna("")
    cards = table.drop_duplicates("card").set_index("card")
    for card, row in zip(cards.index, each(cards), strict=True):
        known = {
            label: row.named_model
            if column == "named_model"
            else label_text(str(facts.at[card, column]))
            for label, column in INFO.items()
        }
        who = {"backend": row.backend, "node": row.named_node, "device": row.named_device}
        yield {**who, **known, "demo": "true" if row.demo else ""}


def render(found: Iterable[Family]) -> str:
    lines = []
    for family in found:
        lines += [f"# HELP {family.name} {family.help}", f"# TYPE {family.name} gauge"]
        lines += [
            f"{family.name}{_labels(labels)} {_number(value)}" for labels, value in family.samples
        ]
    return "".join(f"{line}\n" for line in lines)


def _number(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)


def _labels(labels: Mapping[str, str]) -> str:
    """An empty label is the same as none."""
    given = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items() if text)
    return f"{{{given}}}" if given else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
