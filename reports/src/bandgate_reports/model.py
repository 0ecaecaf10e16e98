# SPDX-License-Identifier: Apache-2.0
"""The trend report as data: texts and coordinates, ready to be rendered."""

from dataclasses import dataclass

from bandgate_reports.charts import Chart
from bandgate_reports.verdicts import Summary


@dataclass(frozen=True)
class Device:
    """Who, as people say it."""

    key: str
    model: str
    node: str
    place: str  # PCI address, or "" on a host
    uuid: str
    scripted: bool


@dataclass(frozen=True)
class Row:
    """One line of the verdict table."""

    status: str
    unstable: bool
    stale: bool
    judged: bool
    device: Device
    probe: str
    parameters: str
    value: str
    unit: str
    statistic: str
    reference: str
    reference_kind: str
    bounds: str
    change: str  # against the reference, signed per cent
    cause: tuple[str, ...]
    next_step: str
    when: str
    attempts: int
    anchor: str


@dataclass(frozen=True)
class Change:
    """What of the environment changed in one night."""

    number: int  # of the flag in the charts of a device
    when: str
    text: str
    nodes: str = ""


@dataclass(frozen=True)
class History:
    """One chart and what belongs below it."""

    anchor: str
    device: Device
    probe: str
    parameters: str
    configuration: str
    status: str
    ended: str  # "" when it is the line's current series
    unit: str
    latest: str
    latest_change: str
    latest_is_newest: bool  # or the newest result has no value
    statistic: str
    summary: str  # for those who cannot see the chart
    remarks: tuple[str, ...]
    chart: Chart


@dataclass(frozen=True)
class Group:
    """The histories of one device."""

    device: Device
    configuration: str  # of the newest; a history of another one says so
    changes: tuple[Change, ...]
    histories: tuple[History, ...]


@dataclass(frozen=True)
class Notice:
    """Something about the files that a reader has to know."""

    title: str
    items: tuple[str, ...]
    more: int = 0


@dataclass(frozen=True)
class Trend:
    made: str
    newest: str
    age_days: int
    summary: Summary
    rows: tuple[Row, ...]
    rows_left_out: int
    groups: tuple[Group, ...]
    charts_left_out: int
    notices: tuple[Notice, ...]
    recent_changes: tuple[Change, ...]
    models: tuple[str, ...]
    nodes: tuple[str, ...]
    probes: tuple[str, ...]
    results: int
    devices: int
    hosts: int
