# SPDX-License-Identifier: Apache-2.0
"""Sweeps: one probe at many values of its parameters, measured and never judged.

A curve of 29 spans has no verdict and no history worth 29 charts; it is a figure of its own, as are
the pairs of eight cards.
"""

import pandas as pd

from bandgate_reports.store.records import each
from bandgate_reports.text import printable
from bandgate_reports.trend.model import Sweep
from bandgate_reports.trend.peers import PROBES
from bandgate_reports.trend.rows import device

# From this many sets of parameters of a probe on a card on it is a sweep.
_MANY = 7


def is_swept(table: pd.DataFrame) -> pd.Series:
    """Whether a result belongs to a sweep. `table` as series.identify() gives it."""
    judged = ~table["status"].isin(["measured", "skipped"])
    ever = judged.groupby(table["line"]).transform("max").astype("bool")
    lines = table["line"].mask(ever)
    number = lines.groupby([table["card"], table["probe"]]).transform("nunique")
    return ~ever & (number >= _MANY)


def sweeps(swept: pd.DataFrame) -> tuple[Sweep, ...]:
    """One line for each card and probe; pairs of peers are in their matrices."""
    found = []
    alone = swept[~swept["probe"].isin(PROBES)]
    for (_, probe), group in alone.groupby(["card", "probe"], sort=True):
        number = group["line"].nunique()
        last = next(each(group.tail(1)))
        text = f"{number} sets of parameters, newest {last.started:%Y-%m-%d}"
        found.append(Sweep(device(last), printable(str(probe)), text))
    return tuple(found)
