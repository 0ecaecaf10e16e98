# SPDX-License-Identifier: Apache-2.0
"""Which of several cards that should be alike is not: pure functions of their values.

Everywhere here `x` is the logarithm of how good a card is: ln value where higher is better, -ln
value where lower is. The last axis holds the cards, so that many fleets can be judged at once.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.intp]

FROM_Z = 8  # cards: from here on their own scatter is known well enough
FROM_OTHERS = 4
Z_LIMIT = -4.0
LEAST_SCALE = 0.002  # 0.2 %: cards that agree better than that are no reason to distrust one
FLOOR = 0.02  # 2 %: what is closer to its peers is nobody's morning
_ROUNDING = 1e-9
_NORMAL = 1.4826  # the MAD of a normal distribution times this is its standard deviation


@dataclass(frozen=True)
class Judged:
    """One entry a card. `z` is NaN where there are too few cards for it."""

    against: Floats  # the median that it was held against, as `x`
    loss: Floats  # how much worse than that, a share: 0.03 is 3 %
    z: Floats
    flagged: Flags


def scale_of(x: Floats) -> Any:
    """1.4826 MAD, at least 0.2 %, along the last axis."""
    middle = np.median(x, axis=-1, keepdims=True)
    spread = _NORMAL * np.median(np.abs(x - middle), axis=-1, keepdims=True)
    return np.maximum(spread, LEAST_SCALE)


def loss_of(x: Floats, against: Floats, lower_is_better: bool) -> Floats:
    """The share that is lost (of a time: added), as people count it."""
    if lower_is_better:
        return np.asarray(np.expm1(against - x), dtype=np.float64)
    return np.asarray(-np.expm1(x - against), dtype=np.float64)


def judge(x: Floats, *, lower_is_better: bool = False) -> Judged:
    """Modified z (Iglewicz and Hoaglin 1993, on logarithms) below -4 and a loss of at least 2 %
    from 8 cards on; with 4 to 7 a loss of at least 2 % against the median of the others; nobody
    with fewer."""
    n = x.shape[-1]
    if n >= FROM_Z:
        against = np.broadcast_to(np.median(x, axis=-1, keepdims=True), x.shape)
        z = (x - against) / scale_of(x)
    elif n >= FROM_OTHERS:
        others = [np.median(np.delete(x, i, axis=-1), axis=-1) for i in range(n)]
        against = np.stack(others, axis=-1)
        z = np.full(x.shape, np.nan)
    else:
        nothing = np.full(x.shape, np.nan)
        return Judged(nothing, nothing, nothing, np.zeros(x.shape, dtype=np.bool_))
    loss = loss_of(x, against, lower_is_better)
    far = z < Z_LIMIT if n >= FROM_Z else np.ones(x.shape, dtype=np.bool_)
    return Judged(against, loss, z, far & (loss >= FLOOR - _ROUNDING))


@dataclass(frozen=True)
class SlowNode:
    """`code` as given; the share that its cards lose, and how many there are."""

    code: int
    loss: float
    cards: int


def judge_part(
    x: Floats, nodes: Codes, *, lower_is_better: bool = False
) -> tuple[Judged, list[SlowNode]]:
    """The cards of one part (one axis), and the nodes that are slow as a whole: their median is,
    and every card of them takes part. Then it is the node (its power, its cooling, its BIOS) and
    its cards are not flagged, but for one that loses another 2 % on top."""
    cards = judge(x, lower_is_better=lower_is_better)
    order = np.argsort(nodes, kind="stable")
    codes, starts, sizes = np.unique(nodes[order], return_index=True, return_counts=True)
    least = np.minimum.reduceat(cards.loss[order], starts)
    if not ((sizes > 1) & (least >= FLOOR / 2)).any():  # no node of which every card takes part
        return cards, []
    members = np.split(order, starts[1:])
    medians = np.array([np.median(x[m]) for m in members])
    judged = judge(medians, lower_is_better=lower_is_better)
    flagged = cards.flagged.copy()
    slow = []
    for at, own in enumerate(members):
        middle = float(np.median(cards.loss[own]))
        part_of_it = judged.flagged[at] and least[at] >= max(middle, FLOOR) / 2
        if len(own) > 1 and (cards.flagged[own].all() or part_of_it):
            loss = float(judged.loss[at]) if np.isfinite(judged.loss[at]) else middle
            slow.append(SlowNode(int(codes[at]), loss, len(own)))
            flagged[own] &= cards.loss[own] >= loss + FLOOR
    return replace(cards, flagged=flagged), slow
