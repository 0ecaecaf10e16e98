# SPDX-License-Identifier: Apache-2.0
"""Cards that are not meant to be alike are compared apart: by what is known to differ, and by what
nobody knows.

`x` is the logarithm of how good a card is (see fleet_rule). Facts are codes, one a card.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bandgate_reports.analysis.fleet_rule import FROM_OTHERS, FROM_Z, Codes, Flags, Floats, scale_of

LEAST_STEP = 0.01  # 1 %: a smaller difference of two groups hides no outlier of 2 %
_APART = 4.0  # scales between the medians of two groups (a unimodal distribution, halved, has 2.7)
_LEAST_SHARE = 0.2  # of the cards; fewer are outliers and no second kind of card


@dataclass(frozen=True)
class Cut:
    """Two groups of cards that are not held against each other. Indices."""

    usual: Codes
    other: Codes
    facts: tuple[str, ...] = ()  # that explain it; none: nobody knows, or the configuration
    configured: bool = False


def by_configuration(configurations: Codes) -> list[Codes]:
    """Indices of the cards of each configuration, the largest first."""
    found = [np.flatnonzero(configurations == c) for c in np.unique(configurations)]
    return sorted(found, key=lambda cards: (-len(cards), int(cards[0])))


def _big_values(fact: Codes, nodes: Codes) -> list[int]:
    """Values that enough cards share, on more than one node where there are several: what one
    node alone has may as well be the fault of that node."""
    one_node = len(np.unique(nodes)) == 1
    found = []
    for value in np.unique(fact):
        has = fact == value
        if has.sum() >= FROM_OTHERS and (one_node or len(np.unique(nodes[has])) > 1):
            found.append(int(value))
    return found


def _left_over(x: Floats, labels: Codes) -> tuple[float, float]:
    """Scale within the groups, and the step between the medians of the best and the worst."""
    medians = {v: float(np.median(x[labels == v])) for v in np.unique(labels)}
    within = x - np.array([medians[v] for v in labels])
    return float(scale_of(within)[0]), max(medians.values()) - min(medians.values())


def explained(
    x: Floats, facts: Mapping[str, Codes], nodes: Codes
) -> tuple[tuple[str, ...], Codes] | None:
    """The fact that tells two or more groups apart which differ by more than their scatter, with
    all facts that go along with it, and each card's group (-1: of a value too rare to judge)."""
    best: tuple[float, str, Codes] | None = None
    partitions: dict[str, Codes] = {}
    for name, fact in facts.items():
        big = _big_values(fact, nodes)
        if len(big) < 2:
            continue
        labels = np.where(np.isin(fact, big), fact, -1)
        known = labels >= 0
        scale, step = _left_over(x[known], labels[known])
        _, partitions[name] = np.unique(labels, return_inverse=True)
        if step >= max(LEAST_STEP, _APART * scale) and (best is None or scale < best[0]):
            best = (scale, name, labels)
    if best is None:
        return None
    _, name, labels = best
    same = [n for n, p in partitions.items() if _same(p, partitions[name])]
    return (name, *(n for n in same if n != name)), labels


def _same(a: Codes, b: Codes) -> bool:
    """Whether two labellings make the same groups."""
    pairs = len(np.unique(np.stack([a, b]), axis=1).T)
    return pairs == len(np.unique(a)) == len(np.unique(b))


def two_groups(x: Floats, nodes: Codes) -> Flags | None:
    """The worse of two groups that the values alone show, where each is a good share of the cards
    and they are apart by more than their scatter; None where there is one group.

    The cut is that of Otsu (1979): least variance within. A group on one node of three or more is
    that node, which is judged as one.
    """
    n = len(x)
    least = max(FROM_OTHERS, int(np.ceil(_LEAST_SHARE * n)))
    if n < max(FROM_Z, 2 * least):
        return None
    order = np.argsort(x, kind="stable")
    sorted_x = x[order] - x.mean()
    sums = np.cumsum(sorted_x)[:-1]
    below = np.arange(1, n)
    between = sums**2 / below + (sums[-1] + sorted_x[-1] - sums) ** 2 / (n - below)
    inside = slice(least - 1, n - least)
    cut = int(np.argmax(between[inside])) + least
    worse = np.zeros(n, dtype=np.bool_)
    worse[order[:cut]] = True
    scale, step = _left_over(x, worse.astype(np.intp))
    if step < max(LEAST_STEP, _APART * scale):
        return None
    several = len(np.unique(nodes)) > 2
    if several and min(len(np.unique(nodes[worse])), len(np.unique(nodes[~worse]))) < 2:
        return None
    return worse


def parts(
    x: Floats, nodes: Codes, configurations: Codes, facts: Mapping[str, Codes]
) -> tuple[list[Codes], list[Cut]]:
    """The cards in parts that should be alike, and where the cuts between them are."""
    kinds = by_configuration(configurations)
    cuts = [Cut(kinds[0], other, configured=True) for other in kinds[1:]]
    found: list[Codes] = []
    for cards in kinds:
        for part in _by_facts(x, nodes, facts, cards, cuts):
            worse = two_groups(x[part], nodes[part])
            if worse is None:
                found.append(part)
                continue
            found += [part[~worse], part[worse]]
            cuts.append(Cut(part[~worse], part[worse]))
    return found, cuts


def _by_facts(
    x: Floats, nodes: Codes, facts: Mapping[str, Codes], cards: Codes, cuts: list[Cut]
) -> list[Codes]:
    found = explained(x[cards], {f: c[cards] for f, c in facts.items()}, nodes[cards])
    if found is None:
        return [cards]
    names, labels = found
    values, counts = np.unique(labels[labels >= 0], return_counts=True)
    # Too few have that value to be a kind of their own: they stay with most of the cards.
    kinds = by_configuration(np.where(labels < 0, values[counts.argmax()], labels))
    cuts += [Cut(cards[kinds[0]], cards[other], names) for other in kinds[1:]]
    return [cards[kind] for kind in kinds]
