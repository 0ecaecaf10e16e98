# SPDX-License-Identifier: Apache-2.0
"""Nights made up for tests of changes: noise of known kinds, and what is planted in it."""

from pathlib import Path

import numpy as np
import pandas as pd

from bandgate_reports.analysis import changes
from bandgate_reports.analysis.hampel import Floats

NIGHTS = 180
SD = 0.003
LEVEL = 4.6e12  # B/s
FIRST = pd.Timestamp("2026-06-01", tz="UTC")
DATA = Path(__file__).parent / "data"

NOISES = ("white", "t3", "AR(0.3)", "AR(0.6)", "3 % bad nights")


def noise(kind: str, chance: np.random.Generator, series: int, sd: float = SD) -> Floats:
    """Values about LEVEL of standard deviation `sd` of it, one row a series."""
    shape = (series, NIGHTS)
    if kind == "t3":
        return np.asarray(LEVEL * (1 + sd * chance.standard_t(3, shape) / np.sqrt(3)))
    shocks = chance.standard_normal(shape)
    if kind.startswith("AR"):
        rho = float(kind[3:-1])
        for night in range(1, NIGHTS):
            own = np.sqrt(1 - rho**2) * shocks[:, night]
            shocks[:, night] = rho * shocks[:, night - 1] + own
    values = LEVEL * (1 + sd * shocks)
    if kind == "3 % bad nights":
        bad = chance.random(shape) < 0.03
        values = np.where(bad, values * (1 - chance.uniform(0.03, 0.2, shape)), values)
    return np.asarray(values)


def stepped(values: Floats, first: np.ndarray, step: np.ndarray) -> Floats:
    """Times 1 + step from the night `first` on, of every row."""
    after = np.arange(values.shape[1]) >= first[:, None]
    return np.asarray(np.where(after, values * (1 + step[:, None]), values))


def nights(rows: list[list[float]] | Floats, days: int = 1) -> pd.DataFrame:
    """As series.nightly() gives them: one series a row, one value every `days` days."""
    tables = [
        pd.DataFrame(
            {
                "series": number,
                "night": FIRST + pd.to_timedelta(np.arange(len(row)) * days, unit="D"),
                "value": np.asarray(row, dtype="float64"),
                "runs": 1,
            }
        )
        for number, row in enumerate(rows)
    ]
    table = pd.concat(tables, ignore_index=True)
    return table.assign(at=table["night"] + pd.Timedelta(hours=2))


def find(rows: list[list[float]] | Floats, *, lower_is_better: bool = False) -> changes.Found:
    direction = dict.fromkeys(range(len(rows)), lower_is_better)
    return changes.find(nights(rows), direction)


def number_of(night: pd.Series) -> list[int]:
    return [int(n) for n in (night - FIRST).dt.days]


def public(name: str) -> list[float]:
    return [float(v) for v in pd.read_csv(DATA / name).iloc[:, 1]]
