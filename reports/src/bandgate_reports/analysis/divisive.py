# SPDX-License-Identifier: Apache-2.0
"""Change points of one series, night after night, by E-divisive.

The statistic is the energy distance of Matteson & James (2014), "A nonparametric approach for
multiple change point analysis of multivariate data", JASA 109, with alpha = 1. Significance is
Student's t test, as in Fleming et al. (2023), "Hunter: using open source change detection to hunt
for performance regressions", ICPE '23: permutations cannot reach p = 1e-4 with five nights a side,
and their random seed would make two reports differ. (Hunter lives on as apache-otava. It pins one
numpy, brings the clients of several clouds, and judges a history as a whole, so that a further
night may take back what it said before: hence this module.)

The procedure is sequential. On each night it looks for the one clearest split of the nights since
the last change, and announces it once it is certain; then it goes on within the new level. So what
was announced stays, whatever comes, and a report over more nights only adds to one over fewer.
(The paper's second search, over where the part behind a split ends, is what the nights do.)
"""

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from bandgate_reports.analysis import student
from bandgate_reports.analysis.hampel import LEAST, RECENT, TO_SIGMA, Flags, Floats

Ints = NDArray[np.int64]

SIDE = 5  # nights on either side of a change, at least
NEEDED = 2 * SIDE
SIGNIFICANT = 1e-4
SIGMAS = 2.5
# A split nearer to an end than SIDE is not announced, but it may be the clearest: then a neighbour
# that has SIDE nights is not where the change is, and the answer is to wait.
_NEAREST = 2
# Nights looked at together. Few at first, since a true step is soon certain and the rest of its
# nights need no look; the most bounds the memory that a long history takes.
_AT_FIRST, _AT_ONCE = 8, 64


@dataclass(frozen=True)
class Step:
    first: int  # the first night of the new level
    announced: int  # the night on which it was first certain
    before: float  # medians of the levels on either side, as of that night
    after: float


@dataclass(frozen=True)
class Sums:
    """What tells of any part of a series without going through it: sums from the first night."""

    values: Floats
    plain: Floats  # of x
    squared: Floats  # of x^2
    lagged: Floats  # of x_i x_(i+1)

    @classmethod
    def of(cls, values: Floats) -> "Sums":
        following = np.append(values[1:], 0.0)
        terms = (values, values**2, values * following)
        return cls(values, *(np.append(0.0, np.cumsum(x)) for x in terms))

    @cached_property
    def distances(self) -> Floats:
        """[a, b]: of |x_i - x_j|, i < a, j < b. Most series are done before anybody asks."""
        found = np.zeros((len(self.values) + 1,) * 2)
        apart = np.abs(self.values[:, None] - self.values)
        found[1:, 1:] = apart.cumsum(axis=0).cumsum(axis=1)
        return found

    def energy(self, start: int, splits: Ints, end: int) -> Floats:
        """Q of Matteson & James for each split of the nights [start, end)."""
        d = self.distances
        m, n = splits - start, end - splits
        own = d[splits, splits]
        before = own - 2 * d[start, splits] + d[start, start]
        after = d[end, end] - 2 * d[splits, end] + own
        between = d[splits, end] - d[start, end] - own + d[start, splits]
        distance = 2 * between / (m * n) - before / (m * (m - 1)) - after / (n * (n - 1))
        return np.asarray(m * n / (m + n) * distance)

    def significant(self, start: int, splits: Ints, ends: Ints) -> Flags:
        """By Student's t test, two-sided, equal variances; splits and ends broadcast.

        Nights resemble the nights before them (temperature, neighbours), which makes a t test see
        changes in wandering noise: its standard error grows by sqrt((1 + rho) / (1 - rho)), rho
        the correlation of successive nights about their level (Bayley & Hammersley 1946), which
        small samples estimate too low by about (1 + 3 rho) / n a level (Kendall 1954).
        """
        m, n = splits - start, ends - splits
        number = m + n
        one, two = self._level(start, splits), self._level(splits, ends)
        squares = np.maximum(one.squares + two.squares, 1e-24)  # of a constant: rounding errors
        rho = (one.lagged + two.lagged) / squares
        rho = np.clip((rho + 2 / number) / np.maximum(1 - 6 / number, 0.3), 0, 0.9)
        variance = squares / (number - 2) * (1 + rho) / (1 - rho)
        t = np.abs(one.mean - two.mean) / np.sqrt(variance * (1 / m + 1 / n))
        critical = _critical(1 << len(self.plain).bit_length())
        return np.asarray(t > critical[number - 2])

    def _level(self, start: int | Ints, end: Ints) -> "_Level":
        number = end - start
        mean = (self.plain[end] - self.plain[start]) / number
        squares = self.squared[end] - self.squared[start] - number * mean**2
        both = self.plain[end - 1] - self.plain[start] + self.plain[end] - self.plain[start + 1]
        lagged = self.lagged[end - 1] - self.lagged[start] - mean * both + (number - 1) * mean**2
        return _Level(mean, squares, lagged)


@cache
def _critical(number: int) -> Floats:
    """The t that p = 1e-4 takes, by degrees of freedom below `number`."""
    return np.append(np.inf, student.quantile(1 - SIGNIFICANT / 2, np.arange(1, number)))


@dataclass(frozen=True)
class _Level:
    mean: Floats
    squares: Floats  # sum of the squared distances from the mean
    lagged: Floats  # sum of products of successive distances from it


def steps(values: Floats, final: Floats, recent: Floats) -> list[Step]:
    """In time. Values of one series, and what hampel.clean() makes of them."""
    unit = _unit(values)
    history = _History(*(table / unit - 1 for table in (values, final, recent)))
    found: list[Step] = []
    step = history.next_step(0)
    while step is not None:
        before, after = ((1 + level) * unit for level in (step.before, step.after))
        found.append(Step(step.first, step.announced, before, after))
        step = history.next_step(step.first)
    return found


def _unit(values: Floats) -> float:
    """The first value. A scale that later nights could change would change what was said."""
    there = values[values != 0]
    return float(np.abs(there[0])) if len(there) else 1.0


class _History:
    """Values less one, in units of the first."""

    def __init__(self, values: Floats, final: Floats, recent: Floats) -> None:
        self._values = values
        self._final = final
        self._recent = recent
        self._lately = np.sort(recent, axis=1)[:, RECENT // 2]
        as_usual = np.zeros(len(final), dtype=np.bool_)
        ends = np.lib.stride_tricks.sliding_window_view(final, RECENT)
        as_usual[RECENT - 1 :] = (ends == recent[RECENT - 1 :]).all(axis=1)
        self._as_usual = as_usual  # nothing recent was, or will be, replaced by something else

    @cached_property
    def _sums(self) -> Sums:
        return Sums.of(self._final)

    def next_step(self, start: int) -> Step | None:
        """The first change that becomes certain in the level that begins at `start`."""
        medians = _running_medians(self._final[start:])
        for night in self._promising(start, medians):
            last = float(self._values[night])
            if self._as_usual[night]:
                step = _certain(self._final[: night + 1], self._sums, start, last, medians)
            else:
                as_of = np.append(self._final[: night + 1 - RECENT], self._recent[night])
                own = _running_medians(as_of[start:])
                step = _certain(as_of, Sums.of(as_of), start, last, own)
            if step is not None:
                return step
        return None

    def _promising(self, start: int, medians: Floats) -> Iterator[int]:
        """Nights on which there may be a change: all on which there is one."""
        nights = self._moved(start, medians)
        number = _AT_FIRST
        while len(nights):
            some, nights = nights[:number], nights[number:]
            yield from some[~self._as_usual[some] | self._significant(start, some)]
            number = _AT_ONCE

    def _moved(self, start: int, medians: Floats) -> Ints:
        """Nights that end five whose median is away from the median of some first nights of the
        level, as it has to be, and from that of some other five of it (what levels.judge() looks
        at to leave most series out)."""
        now = self._lately[start + NEEDED - 1 :]
        moved = np.ones(len(now), dtype=np.bool_)
        for then in (self._lately[start:], medians):
            own = then[SIDE - 1 :]
            away = np.zeros(len(now), dtype=np.bool_)
            for extreme in (np.maximum.accumulate(own), np.minimum.accumulate(own)):
                before = extreme[: len(now)]
                away |= np.abs(now - before) >= LEAST * np.abs(1 + before)
            moved &= away
        return np.flatnonzero(moved) + start + NEEDED - 1

    def _significant(self, start: int, nights: Ints) -> Flags:
        splits = np.arange(start + SIDE, nights[-1] + 2 - SIDE)
        ends = nights[:, None] + 1
        allowed = np.minimum(splits, ends - SIDE)  # beyond it the same one again
        return np.asarray(self._sums.significant(start, allowed, ends).any(axis=1))


def _certain(values: Floats, sums: Sums, start: int, last: float, medians: Floats) -> Step | None:
    """The clearest split of the nights from `start` that would be kept, if it may be announced.

    `medians`: the running ones from `start` on, up to the last night at least.

    Kept: significant, with medians apart by the least step and by 2.5 robust sigma of the nights
    about them, the last five nights still that far from the level before, and the `last` one, as
    it was measured, nearer to the new level than to it: a spell of three or four nights is none.
    """
    end = len(values)
    splits = np.arange(start + _NEAREST, end - _NEAREST + 1)
    before = medians[splits - start - 1]
    after = _running_medians(values[start:][::-1])[end - splits - 1]
    rises = after > before
    now = np.median(values[-RECENT:])
    apart = np.minimum(*(np.where(rises, x - before, before - x) for x in (after, now)))
    kept = (apart > 0) & (apart >= LEAST * np.abs(1 + before))
    kept &= (last > (before + after) / 2) == rises
    kept[kept] = sums.significant(start, splits[kept], np.array(end))
    (kept_at,) = np.nonzero(kept)
    if not len(kept_at):
        return None
    clearest_first = kept_at[np.argsort(-sums.energy(start, splits[kept_at], end), kind="stable")]
    for at in clearest_first:
        split = int(splits[at])
        levels = np.where(np.arange(start, end) < split, before[at], after[at])
        if apart[at] >= SIGMAS * _sigma(values[start:] - levels):
            if min(split - start, end - split) < SIDE:
                return None
            return Step(split, end - 1, float(before[at]), float(after[at]))
    return None


def _sigma(residuals: Floats) -> float:
    """The greater of what the median absolute deviation and the quartiles say: of few nights, or
    of values in two modes, either alone is often far too small."""
    low, high = np.quantile(residuals, (0.25, 0.75))
    return max(TO_SIGMA * float(np.median(np.abs(residuals))), float(high - low) / 1.349)


def _running_medians(values: Floats) -> Floats:
    """Of the first, the first two, the first three ... values."""
    ordered: list[float] = []
    found = np.empty(len(values))
    for number, value in enumerate(values.tolist(), start=1):
        insort(ordered, value)
        found[number - 1] = (ordered[(number - 1) // 2] + ordered[number // 2]) / 2
    return found
