# SPDX-License-Identifier: Apache-2.0
"""Knees of literal curves: what a person would mark with a pencil, and nothing else."""

import math
import random

import pytest

from bandgate_reports.analysis.knees import knees


def found(ratios: list[float], powers: list[int] | None = None) -> list[int]:
    """The powers of two at which a curve over 2^0, 2^1 … (or `powers`) has knees."""
    at = [2.0**p for p in powers or range(len(ratios))]
    return [round(math.log2(k.at)) for k in knees(at, ratios)]


# Per cent of copy at spans 2^0 … 2^27 and 2^28, as published for these cards.
V100_GATHER = [
    79, 79, 79, 79, 79, 79, 79, 79, 78, 77, 77, 75, 73, 70, 67, 65, 63, 62, 65, 55, 31, 18, 12, 10,
    9.5, 9.2, 9, 9,
]  # fmt: skip
V100_SCATTER = [
    81, 57, 57, 57, 57, 57, 56, 55, 54, 54, 53, 53, 52, 51, 50, 51, 50, 47, 43, 32, 10.6, 5.9, 4.6,
    4, 3.8, 3.7, 3.6, 3.6,
]  # fmt: skip
H100_GATHER = [
    77, 77, 77, 77, 77, 78, 77, 77, 77, 76, 71, 65, 61, 59, 58, 57, 57, 57, 56, 56, 56, 54, 35, 23,
    18.5, 16.8, 16, 15.6, 15.5,
]  # fmt: skip
MI250X_SCATTER = [
    78, 51, 51, 50, 50, 49, 50, 49, 46, 42, 38, 34, 30, 28, 28, 27, 27, 26, 23, 12, 7.1, 5.8, 5.4,
    5.1, 5, 4.9, 4.9, 4.9, 4.8,
]  # fmt: skip


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (V100_GATHER, [19]),
        (V100_SCATTER, [19]),
        (H100_GATHER, [9, 21]),
        (MI250X_SCATTER, [7, 18]),
    ],
    ids=["V100 gather", "V100 scatter", "H100 gather", "MI250X scatter"],
)
def test_published_curves(curve: list[float], expected: list[int]) -> None:
    assert found(curve) == expected


def test_unequal_steps() -> None:
    """Gather of an H200, GB/s at ten distances."""
    powers = [0, 4, 8, 10, 12, 16, 20, 22, 24, 28]
    assert found([2750, 2759, 2702, 2423, 2028, 1898, 1825, 1482, 756, 601], powers) == [22]


def test_a_corner_is_where_it_is_and_says_how_far_it_falls() -> None:
    (knee,) = knees([2.0**p for p in range(12)], [0.8] * 6 + [0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    assert (knee.at, knee.value) == (32.0, 0.8)
    assert knee.fall == pytest.approx(0.875, abs=0.01)


def test_a_rise_has_no_knee() -> None:
    assert found([0.1, 0.1, 0.1, 0.1, 0.2, 0.4, 0.8, 0.8, 0.8]) == []
    assert found([0.1 * 1.3**p for p in range(9)]) == []


def test_a_steady_fall_has_no_knee() -> None:
    assert found([0.8 * 0.9**p for p in range(20)]) == []


def test_the_first_step_is_no_knee_since_nothing_is_before_it() -> None:
    assert found([0.8, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]) == []


@pytest.mark.parametrize("sd", [0.0, 0.003, 0.01, 0.03, 0.1])
def test_noise_is_no_knee(sd: float) -> None:
    for seed in range(20):
        chance = random.Random(seed)  # noqa: S311
        assert found([0.7 * math.exp(chance.gauss(0, sd)) for _ in range(29)]) == []


@pytest.mark.parametrize("sd", [0.003, 0.01])
def test_knees_are_found_through_noise(sd: float) -> None:
    for seed in range(10):
        chance = random.Random(seed)  # noqa: S311
        noisy = [v * math.exp(chance.gauss(0, sd)) for v in H100_GATHER]
        first, *others = found(noisy)
        assert abs(first - 9) <= 1
        assert 21 in others


@pytest.mark.parametrize("n", range(6))
def test_too_few_points_have_no_knee(n: int) -> None:
    assert found([0.8, 0.8, 0.2, 0.1, 0.1][:n]) == []


def test_what_is_no_number_is_ignored() -> None:
    curve = [0.8] * 6 + [0.4, 0.2, 0.1, 0.1, 0.1, 0.1]
    spoilt = [*curve, math.nan, 0.0, -1.0, math.inf]
    assert found(spoilt) == found(curve)


def test_the_same_place_twice_is_no_curve() -> None:
    assert knees([1, 2, 4, 4, 8, 16, 32], [0.8, 0.8, 0.8, 0.8, 0.2, 0.1, 0.1]) == ()
