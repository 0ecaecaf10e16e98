# SPDX-License-Identifier: Apache-2.0
"""Steps, bad nights and newest nights out of line, of many series at once.

Plain numbers: one row a series, one column a night, NaN after the end of a shorter one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandgate_reports.analysis import hampel
from bandgate_reports.analysis.divisive import SIDE, Step, steps
from bandgate_reports.analysis.hampel import LEAST, SIGMAS, TO_SIGMA, Flags, Floats, medians

_MONTH = 30


@dataclass(frozen=True)
class Judged:
    steps: tuple[tuple[Step, ...], ...]  # of every row, in time
    bad: Flags  # isolated bad nights
    expected: Floats  # beside them: the median of the nights around
    pending: Flags  # out of line, and the next nights tell what they are
    usual: Floats  # beside those: the level before


def judge(values: Floats, lengths: NDArray[np.int64]) -> Judged:
    """More nights only add to `steps` and `bad`."""
    cleaned = hampel.clean(values, lengths)
    found: list[tuple[Step, ...]] = [()] * len(values)
    for row in np.flatnonzero(_moves(cleaned.recent)).tolist():
        nights = int(lengths[row])
        own = (table[row, :nights] for table in (values, cleaned.final, cleaned.recent))
        found[row] = tuple(steps(*own))
    starts = np.array([own[-1].first if own else 0 for own in found], dtype=np.int64)
    bad = cleaned.bad
    for at, changes in enumerate(found):
        bad[at, [step.first for step in changes]] = False  # it turned out to begin a level
    pending, usual = _out_of_line(values, lengths, starts)
    before = cleaned.pending & ~pending
    usual = np.where(before, cleaned.expected, usual)
    return Judged(tuple(found), bad, cleaned.expected, pending | before, usual)


def _moves(recent: Floats) -> Flags:
    """Series whose medians of five nights are not all within the least step of each other: in the
    others no night would be worth a look (see divisive), and most series are others."""
    lately = np.sort(recent, axis=2)[:, :, recent.shape[2] // 2]
    there = np.isfinite(recent).all(axis=2)
    high = np.where(there, lately, -np.inf).max(axis=1)
    low = np.where(there, lately, np.inf).min(axis=1)
    least = np.where(there, np.abs(lately), np.inf).min(axis=1)
    # (A little less: there the values are compared in another unit.)
    return np.asarray(high - low >= 0.999 * LEAST * least)


def _out_of_line(
    values: Floats, lengths: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[Flags, Floats]:
    """The last one to four nights, where all are far from the level's last month on one side."""
    rows = np.arange(len(values))[:, None]
    newest = lengths[:, None] - 1 - np.arange(SIDE - 1)
    month = lengths[:, None] - SIDE - np.arange(_MONTH)
    inside = month >= starts[:, None]
    known = np.where(inside, values[rows, np.maximum(month, 0)], np.nan)
    number = inside.sum(axis=1)
    level = medians(known, number)[:, None]
    sigma = TO_SIGMA * medians(np.abs(known - level), number)[:, None]
    away = values[rows, np.maximum(newest, 0)] - level
    far = np.abs(away) > np.maximum(LEAST * np.abs(level), SIGMAS * sigma)
    far &= (number >= SIDE)[:, None] & (np.sign(away) == np.sign(away[:, :1]))
    run = np.logical_and.accumulate(far, axis=1)
    flags = np.zeros(values.shape, dtype=np.bool_)
    flags[np.broadcast_to(rows, run.shape)[run], newest[run]] = True
    return flags, np.where(flags, level, np.nan)
