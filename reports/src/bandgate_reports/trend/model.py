# SPDX-License-Identifier: Apache-2.0
"""The trend report as data: texts and coordinates, ready to be rendered."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from bandgate_reports.analysis.verdicts import Summary
from bandgate_reports.trend.charts import Chart, Tick
from bandgate_reports.units import Scale


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
    change_word: str  # "slower" or "faster" where less is better
    cause: tuple[str, ...]
    notes: tuple[str, ...]  # said quietly: nothing is wrong
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
    lower_is_better: bool
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
class Cell:
    text: str  # the value, "" for a hole or the diagonal
    share: float | None  # of the greatest in the matrix
    status: str
    why: str  # of a hole, or of a bad verdict
    least: bool
    value: float | None = None  # B/s


@dataclass(frozen=True)
class Matrix:
    """Rows are devices, columns their peers; both in the order of `names`."""

    title: str
    probe: str
    node: str
    model: str
    unit: str
    names: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]  # None: the device itself
    minimum: str
    holes: tuple[str, ...]  # "1b:00 → 3d:00: no peer access"
    status: str


@dataclass(frozen=True)
class Parts:
    """One series of one device, and what is to be seen in it."""

    key: str  # of the card
    device: Device
    gpu: str
    probe: str
    parameters: str
    status: str
    when: str
    axis: str  # "time" or "address"
    step: float
    units: Scale
    points: pd.DataFrame  # at, value (base units), telemetry, slow
    median: float
    worst: float
    worst_at: float
    drop: float | None
    slow: tuple[tuple[float, float], ...]  # address ranges, bytes
    integrity: str
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Panel:
    name: str
    top: int
    floor: int
    ticks: tuple[Tick, ...]
    path: str


@dataclass(frozen=True)
class Strip:
    parts: Parts
    height: int
    x_ticks: tuple[Tick, ...]
    x_name: str
    panels: tuple[Panel, ...]
    bad: tuple[tuple[float, float], ...]  # x and width of slow slices, or of the worst window
    worst: tuple[float, float]
    first: float | None  # y of the first value, where a drop is counted from it
    readings: list[list[Any]]
    summary: str


@dataclass(frozen=True)
class Sweep:
    """Values of one probe over a parameter, measured and never judged: no histories."""

    device: Device
    probe: str
    text: str


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
    sweeps: tuple[Sweep, ...]
    matrices: tuple[Matrix, ...]
    matrices_left_out: int
    strips: tuple[Strip, ...]
    strips_left_out: int
    faults: tuple[str, ...]  # memory that did not hold what was written
    notices: tuple[Notice, ...]
    recent_changes: tuple[Change, ...]
    models: tuple[str, ...]
    nodes: tuple[str, ...]
    probes: tuple[str, ...]
    results: int
    devices: int
    hosts: int
