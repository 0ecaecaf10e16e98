# SPDX-License-Identifier: Apache-2.0
"""The level of a model, whose cards are measured in rotation. Seeded simulations."""

import numpy as np
import pandas as pd
import pytest

from bandgate_reports.analysis import changes, models
from bandgate_reports.store.records import CONFIGURATION

from made_nights import FIRST, LEVEL, SD, number_of

CARDS = 8
FACT = ("card", "field", "before", "after")


def rotated(
    nights: int,
    *,
    every: int = CARDS,
    cards: int = CARDS,
    unequal: float = 0.005,
    step: tuple[int, float, int] = (10_000, 0.0, CARDS),
    seed: int = 20261129,
    fleets: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """results and nights of `fleets` models, each card measured every `every` nights.

    `step`: first night, relative size, how many of the cards take it.
    """
    chance = np.random.default_rng(seed)
    first, size, moved = step
    who, what = [], []
    for series in range(fleets * cards):
        card = series % cards
        own = LEVEL * (1 + unequal * chance.standard_normal())
        night = np.arange(card % every, nights, every)
        values = own * (1 + SD * chance.standard_normal(len(night)))
        values[(night >= first) & (card < moved)] *= 1 + size
        what.append((np.full(len(night), series), night, values))
        who.append((series, series // cards, f"GPU-{series}"))
    results = pd.DataFrame(
        {
            "series": [s for s, _, _ in who],
            "device": [f"model {m}" for _, m, _ in who],
            "card": [c for _, _, c in who],
            **dict.fromkeys(("ecc", "mig", "board_part", "power_limit_w", "cpu_model"), ""),
            "backend": "cuda",
            "probe": "read",
            "parameters": "{}",
            "unit": "B/s",
        }
    ).astype("str")
    types = {"series": "int64"} | dict.fromkeys(CONFIGURATION, "category")
    results = results.astype(types).assign(version=1, lower_is_better=False, placed=True)
    for column in CONFIGURATION:
        results[column] = results[column].cat.set_categories([""])
    number, night, value = (np.concatenate(column) for column in zip(*what, strict=True))
    at = FIRST + pd.to_timedelta(night, unit="D")
    return results, pd.DataFrame({"series": number, "night": at, "value": value, "at": at})


def nothing() -> tuple[pd.DataFrame, pd.DataFrame]:
    """No changes of cards, none of the environment."""
    own = changes.find(pd.DataFrame({"series": [0], "night": [FIRST], "value": [1.0]}), {}).changes
    environment = pd.DataFrame({c: pd.Series(dtype="str") for c in FACT}).assign(seen=FIRST)
    return own, environment


def look(
    results: pd.DataFrame, nights: pd.DataFrame, environment: pd.DataFrame | None = None
) -> models.Models:
    own = changes.find(nights, dict.fromkeys(results["series"], False)).changes
    return models.look(results, nights, own, nothing()[1] if environment is None else environment)


@pytest.mark.parametrize("every", [CARDS, 1])
def test_unequal_cards_that_take_turns_raise_no_false_alarm(every: int) -> None:
    fleets, nights = 200 if every > 1 else 60, 180
    found = look(*rotated(nights, every=every, fleets=fleets))
    assert len(found.where) == fleets
    assert len(found.changes) / (fleets * nights / 365) <= 0.1


def test_a_step_of_all_cards_is_found_though_none_has_enough_nights() -> None:
    fleets, nights, first = 200, 64, 48
    results, table = rotated(nights, step=(first, -0.02, CARDS), fleets=fleets)
    assert table.groupby("series").size().max() < 10  # too few for any card
    found = look(results, table).news
    assert sorted(found["series"]) == list(range(fleets))
    delay = np.array(number_of(found["announced"])) - first
    assert (delay.min(), delay.max()) == (3, 4)
    assert np.median(found["step"]) == pytest.approx(-0.02, abs=0.001)


@pytest.mark.parametrize("every", [CARDS, 1])
@pytest.mark.parametrize("moved", [1, 3])
def test_cards_that_drop_without_the_others_are_no_step_of_the_model(
    every: int, moved: int
) -> None:
    found = look(*rotated(120, every=every, step=(60, -0.05, moved), fleets=20))
    assert found.changes.empty


def test_of_two_cards_both_have_to_drop() -> None:
    one = look(*rotated(60, every=1, cards=2, step=(30, -0.05, 1), fleets=20))
    both = look(*rotated(60, every=1, cards=2, step=(30, -0.05, 2), fleets=20))
    assert one.changes.empty
    assert list(both.changes["cards"]) == list(both.changes["of"]) == [2] * 20


def test_the_next_node_of_a_half_that_has_lost_is_no_step_of_the_model() -> None:
    """Where half of the cards are low, one more takes the median down to them."""
    results, table = rotated(120, every=1, step=(60, -0.025, CARDS // 2))
    late = (table["series"] == CARDS - 1) & (table["night"] >= FIRST + pd.Timedelta(days=90))
    table["value"] = table["value"].mask(late, table["value"] * 0.95)
    level = models.look(results, table, *nothing()).nights.set_index("night")["value"]
    assert level.iloc[-1] / level.iloc[0] < 0.985  # so the median does leap
    assert look(results, table).changes.empty


def test_a_new_card_and_a_model_of_one_card() -> None:
    results, table = rotated(120, every=1, cards=3)
    new = table["series"] == 2
    table = table[~new | (table["night"] >= FIRST + pd.Timedelta(days=60))]
    table["value"] = table["value"].mask(table["series"] == 2, table["value"] * 1.1)
    found = look(results, table)
    assert found.changes.empty
    assert list(found.where["cards"]) == [3]
    assert look(*rotated(120, every=1, cards=1)).where.empty


def test_what_cards_say_by_themselves_is_not_said_again() -> None:
    found = look(*rotated(60, every=1, step=(30, -0.02, CARDS)))
    assert list(found.changes["known_by"]) == [CARDS]
    assert found.news.empty


def test_more_nights_take_nothing_back() -> None:
    results, table = rotated(70, step=(48, -0.02, CARDS), fleets=3)
    said: set[tuple[object, ...]] = set()
    for night in (8, 20, 30, *range(48, 60), 69):
        so_far = table[table["night"] <= FIRST + pd.Timedelta(days=night)]
        found = models.look(results, so_far, *nothing())
        changes_ = found.changes[["series", "night", "announced", "before", "after"]]
        told = {
            tuple(row)
            for rows in (found.nights[["series", "night", "value"]], changes_)
            for row in zip(*(rows[c] for c in rows), strict=True)
        }
        assert told >= said
        said = told
    assert sum(len(row) == 5 for row in said) == 3


def test_a_driver_that_cards_met_in_turn_is_named() -> None:
    results, table = rotated(64, step=(48, -0.02, CARDS))
    when = [
        table.loc[(table["series"] == c) & (table["night"] >= FIRST + pd.Timedelta(days=48))]
        for c in range(CARDS)
    ]
    environment = pd.DataFrame(
        {
            "card": [f"GPU-{c}" for c in range(CARDS)],
            "seen": [own["at"].min() for own in when],
            "field": "driver",
            "before": "580.95.05",
            "after": "590.44.01",
        }
    )
    environment.loc[len(environment)] = ["GPU-0", environment["seen"][0], "kernel", "6.8", "6.9"]
    found = look(results, table, environment).changes
    assert list(found["together"]) == [(("driver", "580.95.05", "590.44.01"),)]
