# SPDX-License-Identifier: Apache-2.0
"""Groups as numbers: what makes a million rows cheap to group, fill and compare."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Codes = npt.NDArray[np.int64]

_LARGEST = 2**62


def microseconds(stamps: pd.Series) -> Codes:
    """Since the epoch."""
    return np.asarray(stamps.dt.as_unit("us").astype("int64"), dtype=np.int64)


def codes(column: Any) -> Codes:
    """A number for each distinct value; missing ones have one, too."""
    if isinstance(getattr(column, "dtype", None), pd.CategoricalDtype):
        return np.asarray(column.cat.codes, dtype=np.int64) + 1
    return np.asarray(pd.factorize(column)[0], dtype=np.int64) + 1


def grouping(*columns: Any) -> Codes:
    """Numbers the groups of equal rows from 0, in the order of their first rows."""
    found = codes(columns[0])
    most = int(found.max(initial=0))
    for column in columns[1:]:
        more = codes(column)
        size = int(more.max(initial=0)) + 1
        if (most + 1) * size >= _LARGEST:  # numbered anew, so that no product overflows
            found = pd.factorize(found)[0].astype(np.int64)
            most = int(found.max(initial=0))
        found = found * size + more
        most = most * size + size - 1
    return np.asarray(pd.factorize(found)[0], dtype=np.int64)


def filled(values: Codes, groups: Codes, *, backward: bool = False) -> Codes:
    """Zeros replaced by the last value of the group that is none (the next one, if `backward`)."""
    if values.all() or not values.any():
        return values
    order = np.argsort(groups, kind="stable")
    if backward:
        order = order[::-1]
    place = np.arange(len(values))
    sorted_groups, sorted_values = groups[order], values[order]
    first = np.append(True, sorted_groups[1:] != sorted_groups[:-1])[: len(values)]
    # Where the value comes from: the last row with one, but never from before the group began.
    source = np.maximum.accumulate(np.where((sorted_values != 0) | first, place, 0))
    out = np.empty_like(values)
    out[order] = sorted_values[source]
    return out


def greatest(values: npt.NDArray[Any], groups: Codes) -> npt.NDArray[Any]:
    """Each row's group's greatest value. Groups are numbered from 0; there may be no row."""
    if not len(values):
        return values
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(groups[order]) != 0))
    most = np.maximum.reduceat(values[order], starts)
    out = np.empty_like(values)
    out[order] = np.repeat(most, np.diff(np.append(starts, len(values))))
    return out


def blank(column: pd.Series) -> Codes:
    """The column's codes with 0 for "" (not known), for filled()."""
    category = column.cat.categories
    empty = category.get_indexer(pd.Index([""], dtype=category.dtype))[0]
    own = np.asarray(column.cat.codes, dtype=np.int64)
    return np.where(own == empty, 0, own + 1)
