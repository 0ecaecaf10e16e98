# SPDX-License-Identifier: Apache-2.0
"""Where a curve begins to fall: from the measured points alone, nothing about caches assumed.

A continuous line of straight pieces is fitted in log-log, its corners at measured points. It starts
with a corner at every point; the corner that explains least is taken away until what is left
explains more than it costs. Corners at which the line bends down are the knees.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

# Fewer points than this have no shape to speak of.
ENOUGH_POINTS = 6
# Repetitions of one point differ by about this much: what is smaller is not explained.
_LEAST_NOISE = math.log2(1.015)
# What a corner costs, in squares of the noise: a little more than BIC's, which doubts too little.
_COST = 4.0
# The bend and the fall behind it that make a corner a knee: per octave, and in all.
_LEAST_BEND = math.log2(1.07)
_LEAST_FALL = math.log2(1.15)

_Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Knee:
    at: float  # as given: the last point before the fall
    value: float
    fall: float  # share that is lost from here to where the fall ends, 0.63


def knees(at: Sequence[float], value: Sequence[float]) -> tuple[Knee, ...]:
    """Knees of a curve in the order of `at`. Points that are not finite and above 0 are ignored.

    The first and the last point are never knees: nothing is known of what is beyond them.
    """
    points = sorted(
        (a, v) for a, v in zip(at, value, strict=True) if a > 0 and v > 0 and math.isfinite(a * v)
    )
    if len(points) < ENOUGH_POINTS or len({a for a, _ in points}) < len(points):
        return ()
    x = np.log2([a for a, _ in points])
    y = np.log2([v for _, v in points])
    corners = _corners(x, y)
    fitted = _fit(x, y, corners)
    noise = _noise(x, y)
    return tuple(
        Knee(points[i][0], points[i][1], 1 - 2.0**-fall)
        for i, fall in _bends(x, fitted, corners)
        if fall >= max(_LEAST_FALL, 4 * noise)
    )


def _noise(x: _Array, y: _Array) -> float:
    """From how far each point is off the line between its neighbours; the median, so that a few
    corners do not count as noise."""
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    off = y[1:-1] - (y[:-2] * (1 - share) + y[2:] * share)
    return max(_LEAST_NOISE, 1.4826 * float(np.median(np.abs(off))) / math.sqrt(1.5))


def _basis(x: _Array, corners: list[int]) -> _Array:
    hinges = [np.maximum(0.0, x - x[i]) for i in corners]
    return np.column_stack([np.ones_like(x), x, *hinges])


def _fit(x: _Array, y: _Array, corners: list[int]) -> _Array:
    basis = _basis(x, corners)
    solution = np.linalg.lstsq(basis, y, rcond=None)[0]
    fitted: _Array = basis @ solution
    return fitted


def _corners(x: _Array, y: _Array) -> list[int]:
    """Indices of the corners that are worth their cost."""
    price = _COST * math.log(len(x)) * _noise(x, y) ** 2

    def cost(corners: list[int]) -> float:
        return float(np.sum((y - _fit(x, y, corners)) ** 2)) + price * len(corners)

    corners = list(range(1, len(x) - 1))
    best, least = corners, cost(corners)
    while corners:
        gone = _explains_least(x, y, corners)
        corners = [*corners[:gone], *corners[gone + 1 :]]
        if (now := cost(corners)) <= least:
            best, least = corners, now
    return best


def _explains_least(x: _Array, y: _Array, corners: list[int]) -> int:
    """The place of the corner without which the sum of squares grows least. With the coefficients b
    of a fit to the columns B, it grows by b_j^2 / ((B'B)^-1)_jj without the column j."""
    q, r = np.linalg.qr(_basis(x, corners))
    inverse = np.linalg.inv(r)
    growth = (inverse @ (q.T @ y)) ** 2 / np.sum(inverse**2, axis=1)
    return int(np.argmin(growth[2:]))


def _bends(x: _Array, fitted: _Array, corners: list[int]) -> list[tuple[int, float]]:
    """Corners that bend down, with the fall to where the line bends up again. Of several in one
    fall the sharpest speaks for it."""
    nodes = [0, *corners, len(x) - 1]
    slopes = [float((fitted[b] - fitted[a]) / (x[b] - x[a])) for a, b in pairwise(nodes)]
    found: list[tuple[int, float]] = []
    run: list[tuple[float, int]] = []  # corners of the present fall: bend, index
    for i, corner in enumerate(corners):
        bend = slopes[i + 1] - slopes[i]
        if bend < 0:
            run.append((bend, corner))
        if bend >= 0 or i + 1 == len(corners):
            end = corner if bend >= 0 else len(x) - 1
            if run and sum(bend for bend, _ in run) <= -_LEAST_BEND:
                sharpest = min(run)[1]
                found.append((sharpest, float(fitted[sharpest] - fitted[end])))
            run = []
    return found
