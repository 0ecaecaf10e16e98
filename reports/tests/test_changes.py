# SPDX-License-Identifier: Apache-2.0
"""Changes in tables of nights: what is kept, what is too little, and whose they are."""

import numpy as np
import pandas as pd
import pytest

from bandgate_reports.analysis import changes

from made_nights import FIRST, find, nights, number_of


def level(*parts: tuple[int, float]) -> list[float]:
    return [value for number, value in parts for _ in range(number)]


def steps(found: changes.Found) -> list[tuple[int, float]]:
    table = found.changes
    return list(zip(number_of(table["night"]), table["step"].round(4), strict=True))


@pytest.mark.parametrize("number", [1, 2, 3, 9])
def test_fewer_results_than_needed(number: int) -> None:
    found = find([[100.0, 200.0, 150.0, *[90.0] * 6][:number]])
    assert found.too_few.to_dict("records") == [{"series": 0, "nights": number, "needed": 10}]
    assert (found.series, len(found.changes), len(found.bad_nights)) == (0, 0, 0)
    assert (len(found.pending), len(found.events)) == (0, 0)


def test_no_result_at_all() -> None:
    found = find([[]])
    assert (found.series, len(found.too_few), len(found.changes)) == (0, 0, 0)
    assert list(found.changes) == [
        "series", "night", "announced", "before", "after", "step", "worse", "event",
    ]  # fmt: skip


def test_five_nights_on_either_side() -> None:
    assert steps(find([level((5, 100.0), (5, 98.0))])) == [(5, -0.02)]
    assert steps(find([level((4, 100.0), (20, 98.0))])) == []
    assert steps(find([level((20, 100.0), (4, 98.0))])) == []
    assert steps(find([level((20, 100.0), (4, 98.0), (20, 100.0))])) == []
    found = find([level((20, 100.0), (5, 98.0))])
    assert found.changes.drop(columns="step").to_dict("records") == [
        {
            "series": 0,
            "night": FIRST + pd.Timedelta(days=20),
            "announced": FIRST + pd.Timedelta(days=24),
            "before": 100.0,
            "after": 98.0,
            "worse": True,
            "event": -1,
        }
    ]


def test_a_spell_of_less_than_five_nights_is_no_level() -> None:
    rows = [level((30, 100.0), (number, 95.0), (20, 100.0)) for number in (1, 2, 3, 4, 5)]
    found = find(rows)
    assert list(zip(found.changes["series"], steps(found), strict=True)) == [
        (4, (30, -0.05)),
        (4, (35, 0.0526)),
    ]


def test_a_step_within_2_5_sigma_is_none() -> None:
    """Noise with a sigma of 1.5: a step of 3 is none, one of 4.5 is."""
    scatter = np.random.default_rng(3).permutation(np.linspace(-2, 2, 80))
    noisy = np.array([100 + scatter, 100 + scatter])
    noisy[0, 40:] += 3
    noisy[1, 40:] += 4.5
    found = find(noisy)
    assert list(zip(found.changes["series"], number_of(found.changes["night"]), strict=True)) == [
        (1, 40)
    ]


def test_what_five_noisy_nights_a_side_cannot_tell_ten_can() -> None:
    """Levels four sigma apart: p is 3e-4 for five nights a side, and far below 1e-4 for ten."""
    scatter = np.array([-1.0, 0.0, 1.0, 0.5, -0.5])
    few = np.concatenate([100 + scatter, 103 + scatter])
    more = np.concatenate([100 + scatter, 100 - scatter, 103 + scatter, 103 - scatter])
    assert steps(find([few.tolist()])) == []
    assert steps(find([more.tolist()])) == [(10, 0.0325)]


def test_constant_values_have_no_noise_and_no_change() -> None:
    found = find([level((30, 7.0)), level((20, 100.0), (1, 99.9)), level((20, 100.0), (9, 99.9))])
    assert (found.series, len(found.changes), len(found.bad_nights)) == (3, 0, 0)
    assert found.pending.empty


def test_an_isolated_bad_night_of_a_constant_series() -> None:
    rows = [level((20, 100.0), (number, 90.0), (10, 100.0)) for number in (1, 2, 3)]
    found = find(rows)
    table = found.bad_nights
    assert list(zip(table["series"], number_of(table["night"]), strict=True)) == [
        (0, 20), (1, 20), (1, 21),
    ]  # fmt: skip
    assert set(table["expected"]) == {100.0}
    assert list(table["step"].round(9)) == [-0.1] * 3
    assert found.changes.empty


def test_what_is_no_number_is_no_night() -> None:
    values = level((12, 100.0), (12, 95.0))
    values[3:3] = [float("nan"), float("inf"), float("-inf")]
    found = find([values])
    # Nights keep their dates: three further on.
    assert steps(found) == [(15, -0.05)]
    assert np.isfinite(found.changes[["before", "after", "step"]].to_numpy()).all()


def test_zeros() -> None:
    rows = [level((20, 0.0)), level((10, 0.0), (10, 5.0)), level((10, 5.0), (10, 0.0))]
    found = find(rows)
    table = found.changes
    assert list(zip(table["series"], table["before"], table["after"], strict=True)) == [
        (1, 0.0, 5.0),
        (2, 5.0, 0.0),
    ]
    # A ratio to 0 has no size; the direction is known.
    assert pd.isna(table["step"].iloc[0])
    assert table["step"].iloc[1] == -1.0
    assert list(table["worse"]) == [False, True]
    assert not np.isinf(found.changes["step"]).any()


def test_nights_are_counted_and_dates_kept() -> None:
    """A weekly series; and one with months missing at its step."""
    weekly = changes.find(nights([level((10, 100.0), (5, 97.0))], days=7), {0: False})
    assert number_of(weekly.changes["night"]) == [70]
    assert number_of(weekly.changes["announced"]) == [98]
    table = nights([level((10, 100.0), (5, 97.0))])
    table.loc[10:, "night"] += pd.Timedelta(days=100)
    assert number_of(changes.find(table, {0: False}).changes["night"]) == [110]


def test_less_is_better_where_it_is() -> None:
    rows = [level((20, 4.5e-6), (10, 5e-6)), level((20, 4.5e-6), (10, 4e-6))]
    rows += [level((20, 4.5e-6), (1, 5e-6), (10, 4.5e-6))]
    slower = find(rows, lower_is_better=True)
    assert steps(slower) == [(20, 0.1111), (20, -0.1111)]
    assert list(slower.changes["worse"]) == [True, False]
    assert list(slower.bad_nights["worse"]) == [True]
    assert list(find(rows).changes["worse"]) == [False, True]


def test_order_and_other_series_do_not_matter() -> None:
    rows = [level((20, 100.0), (k, 97.0), (10, 101.0)) for k in range(5, 25)]
    together = find(rows)
    table = nights(rows).sample(frac=1, random_state=7)
    pd.testing.assert_frame_equal(
        changes.find(table, dict.fromkeys(range(20), False)).changes, together.changes
    )
    for number in (0, 9, 19):
        alone = find([rows[number]]).changes.drop(columns="series").reset_index(drop=True)
        own = together.changes[together.changes["series"] == number].drop(columns="series")
        pd.testing.assert_frame_equal(own.reset_index(drop=True), alone)


def places(*rows: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["node", "card", "probe"])


def test_a_step_that_series_of_a_node_share_is_one_event() -> None:
    down = [level((n, 100.0), (15, 98.0)) for n in (20, 21, 22)]
    rows = [
        *down,
        level((20, 100.0), (15, 103.0)),
        level((35, 100.0)),
        level((20, 100.0), (15, 98.0)),
    ]
    where = places(
        ("n1", "a", "read"), ("n1", "a", "write"), ("n1", "b", "read"),
        ("n1", "b", "copy"), ("n1", "b", "write"), ("n2", "c", "read"),
    )  # fmt: skip
    found = changes.find(nights(rows), dict.fromkeys(range(6), False), where)
    # Another direction and another node are no part of it.
    assert list(found.changes["event"]) == [0, 0, 0, -1, -1]
    assert found.events.drop(columns="step").to_dict("records") == [
        {
            "event": 0,
            "node": "n1",
            "card": "",
            "worse": True,
            "night": FIRST + pd.Timedelta(days=20),
            "announced": FIRST + pd.Timedelta(days=24),
            "series": 3,
            "of": 5,
            "cards": 2,
            "probes": ("read", "write"),
        }
    ]
    assert found.events["step"].round(9).tolist() == [-0.02]


def test_steps_three_days_apart_are_no_event() -> None:
    rows = [level((20, 100.0), (15, 98.0)), level((23, 100.0), (15, 98.0))]
    where = places(("n1", "a", "read"), ("n1", "a", "write"))
    found = changes.find(nights(rows), {0: False, 1: False}, where)
    assert found.events.empty
    assert list(found.changes["event"]) == [-1, -1]
    one_card = changes.find(nights([rows[0], rows[0]]), {0: False, 1: False}, where)
    assert one_card.events[["card", "cards", "series"]].to_numpy().tolist() == [["a", 1, 2]]
