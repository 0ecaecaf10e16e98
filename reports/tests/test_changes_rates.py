# SPDX-License-Identifier: Apache-2.0
"""What the search for changes promises: false alarms, and steps found. Seeded simulations; a
larger table is printed by benchmarks/change_rates.py."""

from dataclasses import dataclass

import numpy as np
import pytest

from bandgate_reports.analysis.hampel import Floats

from made_nights import NIGHTS, NOISES, SD, find, noise, number_of, stepped

SERIES = 250


def false_alarms(kind: str, series: int, sd: float = SD, seed: int = 20261129) -> float:
    """Per series and year, in what a night-by-night search announces of noise alone."""
    found = find(noise(kind, np.random.default_rng(seed), series, sd))
    assert found.series == series
    return len(found.changes) / (series * NIGHTS / 365)


@dataclass(frozen=True)
class Planted:
    """Of every series with one step: nights from its first one until it was announced, and to
    where it was put; infinite where it was not found."""

    delay: Floats
    off: Floats
    announced: int  # changes in all


def planted(kind: str, size: float, series: int, seed: int = 20261130) -> Planted:
    chance = np.random.default_rng(seed)
    first = chance.integers(20, NIGHTS - 5, series)
    step = chance.choice([-size, size], series)
    table = find(stepped(noise(kind, chance, series), first, step)).changes
    delay, off = np.full(series, np.inf), np.full(series, np.inf)
    nights = (number_of(table[column]) for column in ("night", "announced"))
    for row, night, announced in zip(table["series"], *nights, strict=True):
        if abs(night - first[row]) < abs(off[row]):
            off[row], delay[row] = night - first[row], announced - first[row]
    return Planted(delay, off, len(table))


@pytest.mark.parametrize("kind", NOISES)
def test_false_alarms(kind: str) -> None:
    assert false_alarms(kind, SERIES) <= 0.1


def test_every_step_of_2_percent_is_found_within_5_nights() -> None:
    found = planted("white", 0.02, SERIES)
    assert found.delay.min() >= 4  # five nights of the new level
    assert found.delay.max() <= 5
    assert np.abs(found.off).max() <= 2
    assert found.announced == SERIES  # each once, and nothing else


# Bad nights and wandering noise now and then cost a night or two. Measured over more series:
# benchmarks/change_rates.py.
@pytest.mark.parametrize("kind", NOISES[1:])
def test_steps_of_2_percent_in_other_noise(kind: str) -> None:
    found = planted(kind, 0.02, SERIES)
    assert (found.delay <= 5).mean() >= 0.95
    assert (np.abs(found.off) <= 2).mean() >= 0.98


def test_a_step_of_half_a_percent_is_within_the_noise() -> None:
    assert planted("white", 0.005, SERIES).announced <= 0.05 * SERIES


def test_a_step_below_1_percent_is_none() -> None:
    first = np.full(20, 90)
    values = stepped(np.full((20, NIGHTS), 4.6e12), first, np.linspace(-0.0099, 0.0099, 20))
    assert find(values).changes.empty
    down = stepped(np.full((1, NIGHTS), 4.6e12), first[:1], np.array([-0.0101]))
    assert number_of(find(down).changes["night"]) == [90]
