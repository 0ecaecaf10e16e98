# SPDX-License-Identifier: Apache-2.0
"""Isolated bad nights, by Hampel's filter, and what the nights are without them.

A night is bad if it is far from the median of the seven nights around it: further than four robust
sigma (1.4826 MAD), of these seven and of the month before, and than 1 %, for at most two nights in
a row. Hampel (1974), "The
influence curve and its role in robust estimation", JASA 69; the filter after Pearson (2002),
"Outliers in process modeling and identification", IEEE Trans. Control Syst. Technol. 10.

What is known of a night grows until three nights later. So that a report never takes back what it
said, everything here is told as of a night: `recent` are the last five nights as they look on each
night, and a bad night is named once nothing that follows can change it; until then it is pending.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_T = TypeVar("_T", np.bool_, np.float64)

REACH = 3  # nights on either side: a window of 7
SIGMAS = 4.0
MOST_IN_A_ROW = 2
# 1 % is the least step that is reported, too.
LEAST = 0.01
# Seven nights alone estimate sigma badly: two of a hundred nights of plain noise would be bad.
_MONTH = 30
_ENOUGH = 10
TO_SIGMA = 1.4826  # of a MAD, under normal noise
RECENT = 5

# As of a night, the flags of these many nights back count towards the recent ones and their runs.
_LOOKED_AT = RECENT + MOST_IN_A_ROW


@dataclass(frozen=True)
class Cleaned:
    """One row a series, one column a night; NaN after a series' end."""

    final: Floats  # values, bad nights replaced by the median around them
    recent: Floats  # [series, night, 5]: that night and the four before it, as of that night
    bad: Flags
    pending: Flags  # far off, and not yet known whether isolated
    expected: Floats  # the median around each night


def clean(values: Floats, lengths: NDArray[np.int64]) -> Cleaned:
    """`values` in any unit, finite up to each series' length, NaN from there on."""
    around = [_around(values, lengths, after) for after in range(REACH + 1)]
    usual = np.abs(values - around[REACH].median)
    seen = [(_flagged(values, a, usual), a.median) for a in around]
    cleaned = Cleaned(
        final=values.copy(),
        recent=np.stack([_back(values, back) for back in range(RECENT - 1, -1, -1)], axis=2),
        bad=np.zeros(values.shape, dtype=np.bool_),
        pending=np.zeros(values.shape, dtype=np.bool_),
        expected=_at_the_end(values, lengths, [median for _, median in seen]),
    )
    some = np.flatnonzero(np.logical_or.reduce([flags for flags, _ in seen]).any(axis=1))
    if len(some):
        _replace(cleaned, some, lengths[some], [(f[some], m[some]) for f, m in seen])
    return cleaned


def _replace(
    cleaned: Cleaned,
    rows: NDArray[np.intp],
    lengths: NDArray[np.int64],
    seen: list[tuple[Flags, Floats]],
) -> None:
    """Fills in what differs in the rows that hold a flag at all: few of many."""
    back = range(_LOOKED_AT - 1, -1, -1)
    flags = np.stack([_back(seen[min(b, REACH)][0], b) for b in back], axis=2)
    isolated = _isolated(flags)[:, :, -RECENT:]
    instead = np.stack([_back(seen[min(b, REACH)][1], b) for b in back[-RECENT:]], axis=2)
    recent = np.where(isolated, instead, cleaned.recent[rows])
    full, median = seen[REACH]
    bad = _isolated(full)
    night = np.arange(full.shape[1])
    left = lengths[:, None] - 1 - night
    # Its own flag is final three nights later; that the run has ended, another night or two.
    known = (left >= REACH + 2) | ((left == REACH + 1) & ~_back(full, -1))
    final = np.where(bad, median, cleaned.final[rows])
    pending = np.zeros_like(bad)
    each = np.arange(len(rows))
    for nights_back in range(RECENT):
        at = lengths - 1 - nights_back
        there = at >= 0
        last = (each[there], lengths[there] - 1, RECENT - 1 - nights_back)
        final[each[there], at[there]] = recent[last]
        pending[each[there], at[there]] = isolated[last]
    cleaned.final[rows], cleaned.recent[rows] = final, recent
    cleaned.bad[rows] = bad & known
    cleaned.pending[rows] = pending & ~(bad & known)


@dataclass(frozen=True)
class _Around:
    """The window of every night: three nights before it and `after` nights after it."""

    windows: Floats
    number: NDArray[np.int64]  # of values in it
    median: Floats


def _around(values: Floats, lengths: NDArray[np.int64], after: int) -> _Around:
    rows, nights = values.shape
    padded = np.full((rows, REACH + nights + after), np.nan)
    padded[:, REACH : REACH + nights] = values
    windows = np.lib.stride_tricks.sliding_window_view(padded, REACH + 1 + after, axis=1)
    night = np.arange(nights)
    left = np.clip(lengths[:, None] - 1 - night, -1, after)
    number = np.maximum(np.minimum(night, REACH) + 1 + left, 0)
    return _Around(windows, number, medians(windows, number))


def _flagged(values: Floats, around: _Around, usual: Floats) -> Flags:
    """`usual`: how far each night is from the median of its full window."""
    away = np.abs(values - around.median)
    far: Flags = away > LEAST * np.abs(around.median)
    row, night = np.nonzero(far)
    own = np.abs(around.windows[far] - around.median[far, None])
    sigma = TO_SIGMA * medians(own, around.number[far])
    # Nights whose window ends before this one: nothing that comes later changes them.
    month = night[:, None] - REACH - np.arange(1, _MONTH + 1)
    before = np.where(month >= 0, usual[row[:, None], np.maximum(month, 0)], np.nan)
    number = (month >= 0).sum(axis=1)
    enough = number >= _ENOUGH
    usually = TO_SIGMA * medians(before, number)
    sigma[enough] = np.maximum(sigma, usually)[enough]
    far[far] = away[far] > SIGMAS * sigma
    return far


def medians(windows: Floats, number: NDArray[np.int64]) -> Floats:
    """Over the last axis, of which `number` values are there. (np.nanmedian is a loop.)"""
    ordered = np.sort(windows, axis=-1)  # NaN last
    low = np.maximum(number - 1, 0) // 2
    high = number // 2
    pair = [np.take_along_axis(ordered, at[..., None], axis=-1)[..., 0] for at in (low, high)]
    return (pair[0] + pair[1]) / 2


def _at_the_end(values: Floats, lengths: NDArray[np.int64], medians: list[Floats]) -> Floats:
    """The median around each night, of as many nights after it as there are."""
    left = lengths[:, None] - 1 - np.arange(values.shape[1])
    return np.select([left == after for after in range(REACH)], medians[:REACH], medians[REACH])


def _back(table: NDArray[_T], nights: int) -> NDArray[_T]:
    """The table as it was `nights` nights before each night; nothing before the first."""
    moved = np.full_like(table, False if table.dtype == np.bool_ else np.nan)
    if nights > 0:
        moved[:, nights:] = table[:, :-nights]
    elif nights < 0:
        moved[:, :nights] = table[:, -nights:]
    else:
        moved[:] = table
    return moved


def _isolated(flags: Flags) -> Flags:
    """Flags in runs along the last axis of at most two axis positions."""
    length = MOST_IN_A_ROW + 1
    isolated = flags.copy()
    last = flags.shape[-1] - length + 1
    for start in range(max(last, 0)):
        run = flags[..., start : start + length].all(axis=-1, keepdims=True)
        isolated[..., start : start + length] &= ~run
    return isolated
