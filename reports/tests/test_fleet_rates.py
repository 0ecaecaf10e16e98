# SPDX-License-Identifier: Apache-2.0
"""How often healthy fleets are accused and slow cards found: 200 seeded fleets a case.

benchmarks/fleet_rates.py prints the same with more fleets.
"""

import zlib
from dataclasses import dataclass

import numpy as np
import pytest

from bandgate_reports.analysis import fleet_parts
from bandgate_reports.analysis.fleet_rule import Codes, Floats, judge_part

FLEETS = 200
SPREAD = 0.003  # of a card's night
NOISES = ("normal", "t3")


@dataclass(frozen=True)
class Outcome:
    accused: bool  # any card or node
    named: bool  # card 0, or its node
    others: bool  # any other card or node


def noise(kind: str, chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Of standard deviation SPREAD; t3 has tails in which 2 % is met once in 1400 nights."""
    if kind == "normal":
        return chance.normal(0, SPREAD, shape)
    return np.asarray(chance.standard_t(3, shape) * (SPREAD / np.sqrt(3)), dtype=np.float64)


def outcome(x: Floats, nodes: Codes, configurations: Codes | None = None) -> Outcome:
    """As the report does it with one model and one probe."""
    same = np.zeros(len(x), dtype=np.intp)
    found, _ = fleet_parts.parts(x, nodes, same if configurations is None else configurations, {})
    flagged = np.zeros(len(x), dtype=np.bool_)
    slow: set[int] = set()
    for part in found:
        judged, nodes_of_part = judge_part(x[part], nodes[part])
        flagged[part] = judged.flagged
        slow |= {n.code for n in nodes_of_part}
    named = bool(flagged[0]) or int(nodes[0]) in slow
    others = bool(flagged[1:].any()) or bool(slow - {int(nodes[0])})
    return Outcome(bool(flagged.any()) or bool(slow), named, others)


def rates(
    n: int,
    kind: str,
    nights: int,
    *,
    loss: float = 0,
    half: float = 0,
    known: bool = True,
    fleets: int = FLEETS,
) -> tuple[float, float, float]:
    """Shares of fleets with anybody accused, with card 0 named, with others accused.

    Each card's value is the median of `nights` nights. `loss` of card 0; `half` of the fleet, in
    another configuration, is that much lower; unless `known`, nobody recorded which.
    """
    seed = zlib.crc32(f"{n} {kind} {nights} {loss} {half}".encode())
    chance = np.random.default_rng(seed)
    values = np.median(noise(kind, chance, (fleets, n, nights)), axis=-1)
    values[:, 0] += np.log1p(-loss)
    nodes = np.arange(n) // 8
    kinds = (np.arange(n) if n <= 8 else nodes) % 2 == 0  # card 0 is of the slower half
    values += np.where(kinds, np.log1p(-half), 0)
    found = [outcome(x, nodes, kinds.astype(np.intp) if half and known else None) for x in values]
    shares = np.mean([(o.accused, o.named, o.others) for o in found], axis=0)
    return float(shares[0]), float(shares[1]), float(shares[2])


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("n", [4, 7, 8, 16, 64, 512])
def test_a_healthy_fleet_is_accused_once_in_a_hundred_at_most(n: int, kind: str) -> None:
    accused, _, _ = rates(n, kind, 3)
    assert accused <= 0.01


@pytest.mark.parametrize("n", [4, 8, 64, 512])
def test_one_night_is_enough_where_the_tails_are_normal(n: int) -> None:
    accused, _, _ = rates(n, "normal", 1)
    assert accused <= 0.01


@pytest.mark.parametrize(("kind", "nights"), [("normal", 1), ("normal", 3), ("t3", 3)])
@pytest.mark.parametrize("n", [4, 7, 8, 64, 512])
def test_a_card_that_lost_3_percent_is_found_and_nobody_else(
    n: int, kind: str, nights: int
) -> None:
    _, named, others = rates(n, kind, nights, loss=0.03)
    assert named >= 0.99
    assert others <= 0.01


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("n", [8, 16, 64, 512])
def test_half_a_fleet_of_another_kind_is_no_outlier(n: int, kind: str, known: bool) -> None:
    accused, _, _ = rates(n, kind, 3, half=0.016, known=known)
    assert accused <= 0.01


def test_a_slow_card_is_found_in_the_slower_half_too() -> None:
    _, named, others = rates(64, "normal", 3, loss=0.03, half=0.016, known=False)
    assert (named >= 0.99, others <= 0.01) == (True, True)
