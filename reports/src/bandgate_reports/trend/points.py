# SPDX-License-Identifier: Apache-2.0
"""From results to the points of histories: one a night and series, in arrays.

Nothing here is done result by result in Python: a store may hold a million.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from bandgate_reports.analysis.verdicts import STATUSES
from bandgate_reports.trend.model import DAY_S

# A trend is more than a point; below this a history shows its runs, and says so.
ENOUGH_NIGHTS = 3
MINUTE_S = 60
_COLUMNS = (
    "series started value status unstable final placed attempt ratio "
    "band_reference band_lower band_upper"
).split()


@dataclass(frozen=True, eq=False)
class Points:
    """The points of all series, those of one beside each other, in time. Equally long arrays."""

    series: npt.NDArray[np.int64]
    step_s: npt.NDArray[np.int64]  # 86400 where a point is a night, 60 where it is a run
    at: npt.NDArray[np.int64]  # steps since 1970
    value: npt.NDArray[np.float64]  # the median of a night's runs; NaN where there is none
    codes: npt.NDArray[np.int8]  # the worst verdict of the night, as its place in STATUSES
    unstable: npt.NDArray[np.bool_]
    results: npt.NDArray[np.int64]  # how many final results there are behind the point
    attempts: npt.NDArray[np.int64]  # of the result that speaks for the night
    row: npt.NDArray[np.int64]  # its place in the table of results
    bands: npt.NDArray[np.float64]  # (points, 3): its reference, lower, upper; NaN where none

    def slices(self) -> dict[int, slice]:
        """Where each series is."""
        if not len(self.series):
            return {}
        starts = np.flatnonzero(np.r_[True, self.series[1:] != self.series[:-1]])
        ends = np.r_[starts[1:], len(self.series)]
        keys = self.series[starts].tolist()
        return {
            k: slice(a, b) for k, a, b in zip(keys, starts.tolist(), ends.tolist(), strict=True)
        }


def seconds_of(started: pd.Series) -> npt.NDArray[np.int64]:
    """Whole seconds since 1970, whatever the unit that pandas keeps."""
    naive = started.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    return np.asarray(naive.astype("datetime64[s]"), dtype=np.int64)


def status_codes(status: pd.Series) -> npt.NDArray[np.int8]:
    known = status.astype("category").cat
    place = {status: i for i, status in enumerate(STATUSES)}
    # A category that no result has, such as "", stands for none.
    numbers = np.array([place.get(s, -1) for s in known.categories], dtype=np.int8)
    return numbers[known.codes] if len(status) else np.empty(0, dtype=np.int8)


def points(table: pd.DataFrame) -> Points:
    """`table` as series.identify() gives it. Results that a retry replaced are no points."""
    rows = np.flatnonzero((table["placed"] & table["final"]).to_numpy(dtype=bool))
    used = table[_COLUMNS].iloc[rows]
    series = used["series"].to_numpy(dtype=np.int64)
    seconds = seconds_of(used["started"])
    codes = status_codes(used["status"])
    step = _steps(series, seconds)
    at = seconds // step
    order = np.lexsort((-seconds, codes, at, series))
    series, at, step, codes, rows = series[order], at[order], step[order], codes[order], rows[order]
    first = np.r_[True, (series[1:] != series[:-1]) | (at[1:] != at[:-1])][: len(series)]
    starts = np.flatnonzero(first)
    value = used["value"].to_numpy(dtype=np.float64)[order]
    unstable = used["unstable"].to_numpy(dtype=bool)[order]
    bands = used[["band_reference", "band_lower", "band_upper"]].to_numpy(dtype=np.float64)[order]
    sizes = np.diff(np.r_[starts, len(series)])
    return Points(
        series=series[starts],
        step_s=step[starts],
        at=at[starts],
        value=_medians(value, np.cumsum(first) - 1, len(starts)),
        codes=codes[starts],
        unstable=np.maximum.reduceat(unstable, starts) if len(starts) else unstable,
        results=sizes.astype(np.int64),
        attempts=used["attempt"].to_numpy(dtype=np.int64)[order][starts],
        row=rows[starts],
        bands=bands[starts],
    )


def _steps(series: npt.NDArray[np.int64], seconds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Seconds in a step of each result's series: a day, or a minute where there are few days."""
    if not len(series):
        return series
    days = seconds // DAY_S
    order = np.lexsort((days, series))
    own, day = series[order], days[order]
    new = np.r_[True, (own[1:] != own[:-1]) | (day[1:] != day[:-1])]
    nights = np.bincount(own[new], minlength=int(series.max()) + 1)
    return np.where(nights[series] >= ENOUGH_NIGHTS, DAY_S, MINUTE_S).astype(np.int64)


def _medians(
    value: npt.NDArray[np.float64], group: npt.NDArray[np.int64], groups: int
) -> npt.NDArray[np.float64]:
    """Of each group, without NaN; NaN where nothing is left."""
    order = np.lexsort((value, group))  # NaN comes last
    known = np.bincount(group, weights=~np.isnan(value), minlength=groups).astype(np.int64)
    start = np.searchsorted(group[order], np.arange(groups))
    sorted_value = value[order]
    low = start + np.maximum(known - 1, 0) // 2
    high = start + np.maximum(known // 2, 0)
    both = np.stack([sorted_value[low], sorted_value[np.minimum(high, len(value) - 1)]])
    return np.where(known > 0, both.mean(axis=0), np.nan) if groups else np.empty(0)
