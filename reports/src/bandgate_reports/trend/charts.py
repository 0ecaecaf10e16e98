# SPDX-License-Identifier: Apache-2.0
"""Axes: from values to coordinates. Nothing here knows HTML.

Matplotlib chooses the ticks (the part that is easy to get wrong).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

WIDTH, HEIGHT = 400, 165
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 16, 22
FLOOR = HEIGHT - BOTTOM  # y of the time axis

# How far beyond the band the axis follows single values, in heights of the band.
_REACH = 3.0
# The share of values that may lie off the scale; more, and the scale takes them in.
_OFF_SCALE = 0.1
_STEPS = (1, 2, 2.5, 5, 10)  # between ticks, times a power of ten

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True)
class Scale:
    """The value axis, between the y of its upper and its lower end."""

    low: float
    high: float
    top: int = TOP
    floor: int = FLOOR

    def y(self, value: float) -> float:
        clipped = min(max(value, self.low), self.high)
        share = (clipped - self.low) / (self.high - self.low)
        return round(self.floor - (self.floor - self.top) * share, 1)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """At most about so many between the two, and some beyond."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - slow to load, seldom used

    return [float(v) for v in MaxNLocator(nbins=most, steps=_STEPS).tick_values(low, high)]


def value_ticks(scale: Scale, most: int = 4) -> tuple[Tick, ...]:
    inside = [v for v in round_numbers(scale.low, scale.high, most) if scale.holds(v)]
    # As many decimals as tell every tick apart from its neighbours exactly.
    tolerance = (scale.high - scale.low) * 1e-6
    decimals = next(
        (d for d in range(12) if all(abs(round(v, d) - v) <= tolerance for v in inside)), 12
    )
    return tuple(Tick(scale.y(v), f"{v:.{decimals}f}") for v in inside)


def value_range(values: Values, references: Values, bounds: Values) -> tuple[float, float]:
    """Lower and upper end of the axis of a history, never equal. NaN stands for what is not there.

    Few values far outside the band, and not the newest, are left outside: else one bad night makes
    the band, and every other night, one flat line.
    """
    values, references, bounds = (v[np.isfinite(v)] for v in (values, references, bounds))
    everything = np.concatenate([values, references, bounds])
    if not everything.size:
        return 0.0, 1.0
    low, high = float(everything.min()), float(everything.max())
    if values.size and bounds.size and references.size:
        known = np.concatenate([references, bounds])
        foot, top = float(known.min()), float(known.max())
        reach = _REACH * (top - foot)
        off = (values < foot - reach) | (values > top + reach)
        if off.any() and not off[-1] and off.sum() <= _OFF_SCALE * values.size:
            low, high = max(low, foot - reach), min(high, top + reach)
    room = (high - low) * 0.08 or abs(high) * 0.01 or 1.0
    return low - room, high + room
