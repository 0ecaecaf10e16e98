# SPDX-License-Identifier: Apache-2.0
"""The trend report as data: texts and coordinates, ready to be rendered."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bandgate_reports.analysis.verdicts import Summary
from bandgate_reports.section import Section
from bandgate_reports.trend.charts import Tick
from bandgate_reports.units import Scale

DAY_S = 86400


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
    restated: tuple[str, ...]  # what the value, the reference and the bounds say already
    notes: tuple[str, ...]  # said quietly: nothing is wrong
    next_step: str
    when: str
    attempts: int
    key: str  # stable from one report to the next
    ended: str  # the night of its last result, where the device is another one by now
    spark: str  # SVG of ours
    spark_text: str  # the same for those who cannot see it
    demo: bool = False


@dataclass(frozen=True)
class Change:
    """What of the environment changed in one night."""

    when: str
    text: str
    nodes: str
    fresh: bool  # in the newest night


@dataclass(frozen=True)
class Flag:
    """What of a device's environment changed in one night: a numbered line in its charts."""

    at: float  # steps of the history; between two of its points
    number: int
    when: str
    text: str


@dataclass(frozen=True)
class Step:
    """A change point: from `index` on the values are others than before."""

    index: int
    when: str
    ratio: float  # after to before
    worse: bool
    text: str


@dataclass(frozen=True)
class Band:
    """The baseline that applied from point `index` on; base units, NaN where there is no bound."""

    index: int
    reference: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class History:
    """One series, as the page, its sparkline and its PNG draw it: one point a night.

    A series of fewer nights than make a trend has a point for each of its runs instead.
    """

    key: str  # stable from one report to the next
    device: Device
    probe: str
    parameters: str
    configuration: str
    statistic: str
    lower_is_better: bool
    units: Scale
    step_s: int  # seconds in one step of time
    at: npt.NDArray[np.int64]  # steps since 1970, ascending
    value: npt.NDArray[np.float64]  # base units; NaN where nothing was measured
    codes: npt.NDArray[np.int8]  # places in STATUSES
    unstable: npt.NDArray[np.bool_]
    bands: tuple[Band, ...]
    bad_nights: tuple[int, ...]  # indices
    steps: tuple[Step, ...]
    flags: tuple[Flag, ...]
    whys: tuple[tuple[int, str], ...]  # index, cause
    remarks: tuple[str, ...]
    low: float  # of the value axis, base units
    high: float
    results: int

    @property
    def by_night(self) -> bool:
        return self.step_s == DAY_S


@dataclass(frozen=True)
class Item:
    """Something that is otherwise than the night before."""

    status: str  # whose mark it has
    where: str
    what: str


@dataclass(frozen=True)
class Since:
    """What is wrong by now, and the newest night against what was known before it."""

    wrong: tuple[Item, ...]
    night: str
    before: str  # the night before it that has results; "" where there is none
    new: tuple[Item, ...]  # regressions, errors and inconclusive verdicts
    over: tuple[Item, ...]
    other: tuple[Item, ...]
    steps: tuple[Item, ...]  # change points that are certain now
    gone: tuple[Item, ...]  # measured every night, and not in the newest
    back: tuple[Item, ...]  # devices never seen before
    under_way: str  # the newest night is not over: nobody is called missing yet


@dataclass(frozen=True)
class Reason:
    """A long sentence that several verdicts have: said once."""

    number: int
    text: str
    head: str
    where: str


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
    since: Since | None
    rows: tuple[Row, ...]
    histories: tuple[History | None, ...]  # of the rows, one each
    rows_left_out: int
    reasons: tuple[Reason, ...]
    sections: tuple[Section, ...]  # what the other reports say
    sweeps: tuple[Sweep, ...]
    matrices: tuple[Matrix, ...]
    matrices_left_out: int
    strips: tuple[Strip, ...]
    strips_left_out: int
    faults: tuple[str, ...]  # memory that did not hold what was written
    notices: tuple[Notice, ...]
    recent_changes: tuple[Change, ...]
    results: int
    demo: str  # what has to be said of made-up results; "" where there is none
    demo_mixed: bool
    devices: int
    hosts: int
