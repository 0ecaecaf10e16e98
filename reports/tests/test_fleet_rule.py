# SPDX-License-Identifier: Apache-2.0
"""The rules by which cards and nodes are told from their peers, on literals."""

import numpy as np
import pytest

from bandgate_reports.analysis.fleet_parts import explained, shared, two_groups
from bandgate_reports.analysis.fleet_rule import Codes, Floats, judge, judge_part


def x(*values: float) -> Floats:
    return np.asarray(np.log(np.array(values)), dtype=np.float64)


def nodes(*sizes: int) -> Codes:
    return np.repeat(np.arange(len(sizes)), sizes)


STEADY = (100.0, 100.1, 99.9, 100.0, 100.2, 99.8, 100.0)  # with an eighth: median 100, MAD 0.1


@pytest.mark.parametrize(("eighth", "flagged"), [(98.0, True), (98.1, False), (103.0, False)])
def test_from_8_cards_on_2_percent_below_and_far_out(eighth: float, flagged: bool) -> None:
    judged = judge(x(*STEADY, eighth))
    assert judged.flagged.tolist() == [False] * 7 + [flagged]
    assert judged.against[7] == pytest.approx(np.log(100))


def test_the_scale_is_never_below_a_fifth_of_a_percent() -> None:
    judged = judge(x(*[100.0] * 7, 98.0))
    assert judged.z[7] == pytest.approx(np.log(0.98) / 0.002)
    assert np.isfinite(judged.z).all()


def test_cards_that_scatter_widely_hide_one_that_is_4_percent_low() -> None:
    # Median 100, MAD 2: z of 96 is ln 0.96 / (1.4826 x 0.0200) = -1.4.
    judged = judge(x(98, 102, 97, 103, 99, 101, 100, 96))
    assert not judged.flagged.any()


def test_with_4_to_7_cards_each_is_held_against_the_others() -> None:
    judged = judge(x(14.2, 57.06, 56.68, 57.07))
    assert judged.flagged.tolist() == [True, False, False, False]
    assert judged.loss[0] == pytest.approx(1 - 14.2 / 57.06)
    assert np.isnan(judged.z).all()


def test_with_3_nobody_is_judged() -> None:
    judged, slow = judge_part(x(50, 100, 100), nodes(3))
    assert not judged.flagged.any()
    assert slow == []


def test_of_times_the_longer_is_worse() -> None:
    times = -x(*[4.5e-6] * 7, 4.6e-6)
    judged = judge(times, lower_is_better=True)
    assert judged.flagged.tolist() == [False] * 7 + [True]
    assert judged.loss[7] == pytest.approx(4.6 / 4.5 - 1)
    assert not judge(-x(*[4.5e-6] * 7, 4.0e-6), lower_is_better=True).flagged.any()


def steady(count: int, seed: int = 3) -> Floats:
    return np.random.default_rng(seed).normal(np.log(100), 0.001, count)


def test_a_node_whose_cards_are_all_slow_is_a_slow_node() -> None:
    values = steady(32)
    values[8:12] -= 0.03
    judged, slow = judge_part(values, nodes(*[4] * 8))
    assert [(n.code, n.cards) for n in slow] == [(2, 4)]
    assert slow[0].loss == pytest.approx(0.0295, abs=0.001)
    assert not judged.flagged.any()


def test_a_card_that_is_worse_than_its_slow_node_is_named_beside_it() -> None:
    values = steady(32)
    values[8:12] -= 0.03
    values[9] -= 0.05
    judged, slow = judge_part(values, nodes(*[4] * 8))
    assert [n.code for n in slow] == [2]
    assert np.flatnonzero(judged.flagged).tolist() == [9]


def test_three_of_four_slow_cards_are_three_cards() -> None:
    values = steady(32)
    values[8:11] -= 0.03
    judged, slow = judge_part(values, nodes(*[4] * 8))
    assert slow == []
    assert np.flatnonzero(judged.flagged).tolist() == [8, 9, 10]


def test_one_card_on_a_node_is_a_card() -> None:
    values = steady(8)
    values[5] -= 0.03
    judged, slow = judge_part(values, nodes(*[1] * 8))
    assert (np.flatnonzero(judged.flagged).tolist(), slow) == ([5], [])


def test_two_groups_are_seen_in_the_values_alone() -> None:
    values = steady(32)
    values[np.arange(32) % 4 == 1] -= 0.016
    found = two_groups(values, nodes(*[8] * 4))
    assert found is not None
    assert np.flatnonzero(found).tolist() == list(range(1, 32, 4))


@pytest.mark.parametrize("slow", [slice(0, 3), slice(8, 16)])
def test_a_few_cards_or_one_node_are_no_second_group(slow: slice) -> None:
    values = steady(32)
    values[slow] -= 0.03
    assert two_groups(values, nodes(*[8] * 4)) is None


def test_two_outliers_filled_up_to_a_group_are_none() -> None:
    values = np.r_[0.001 * np.sin(np.arange(13)), -0.03, -0.036]
    assert two_groups(values, nodes(*[5] * 3)) is None


def test_a_wide_spread_is_one_group() -> None:
    assert two_groups(np.linspace(0, 0.05, 64), nodes(*[8] * 8)) is None


def test_the_fact_that_goes_along_with_the_step_explains_it() -> None:
    values = steady(32)
    old = np.arange(32) % 4 == 1
    values[old] -= 0.016
    unrelated = np.arange(32) % 2
    facts = {"kernel": unrelated, "driver": old.astype(np.intp), "vbios": 5 - old}
    found = explained(values, facts, nodes(*[8] * 4), shared(facts, nodes(*[8] * 4)))
    assert found is not None
    assert found[0] == ("driver", "vbios")
    assert np.array_equal(found[1] == 1, old)


def test_what_one_node_alone_has_explains_nothing() -> None:
    values = steady(32)
    own = nodes(*[8] * 4)
    values[own == 2] -= 0.03
    facts = {"driver": (own == 2).astype(np.intp)}
    assert explained(values, facts, own, shared(facts, own)) is None


def test_a_slow_node_among_them_hides_no_explanation() -> None:
    values = steady(32)
    own = nodes(*[8] * 4)
    old = own % 2 == 1
    values[old] -= 0.025
    values[own == 2] -= 0.055
    facts = {"driver": old.astype(np.intp)}
    found = explained(values, facts, own, shared(facts, own))
    assert found is not None
    assert found[0] == ("driver",)
