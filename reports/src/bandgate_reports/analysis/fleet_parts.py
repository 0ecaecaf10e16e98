# SPDX-License-Identifier: Apache-2.0
"""Cards that are not meant to be alike are compared apart: by what is known to differ, and by what
nobody knows.

`x` is the logarithm of how good a card is (see fleet_rule). Facts are codes, one a card.
"""

from collections.abc import Callable, Mapping
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


def shared(facts: Mapping[str, Codes], nodes: Codes) -> dict[str, Codes]:
    """Of each fact the values that explain something: those on more than one node, where there are
    several; what one node alone has may as well be the fault of that node."""
    one_node = len(np.unique(nodes)) == 1
    found = {}
    for name, fact in facts.items():
        values = np.unique(fact)
        of_nodes = np.unique(np.stack([fact, nodes]), axis=1)[0]
        found[name] = values if one_node else values[[np.sum(of_nodes == v) > 1 for v in values]]
    return found


def _big_values(fact: Codes, allowed: Codes) -> Codes:
    values, counts = np.unique(fact, return_counts=True)
    return values[(counts >= FROM_OTHERS) & np.isin(values, allowed)]


def level(x: Floats, nodes: Codes) -> float:
    """What these cards reach where nothing is wrong: of the medians of their nodes the upper
    quartile, since a fault makes a node slower and none makes it faster."""
    _, own = np.unique(nodes, return_inverse=True)
    medians = [np.median(x[own == node]) for node in range(int(own.max()) + 1)]
    return float(np.quantile(medians, 0.75, method="higher"))


def _scatter(x: Floats, labels: Codes, levels: Mapping[int, float]) -> float:
    """What is left within the groups."""
    return float(scale_of(x - np.array([levels[int(v)] for v in labels]))[0])


def explained(
    x: Floats,
    facts: Mapping[str, Codes],
    nodes: Codes,
    allowed: Mapping[str, Codes],
    elsewhere: Callable[[str, int, int], bool] = lambda *_: True,
) -> tuple[tuple[str, ...], Codes] | None:
    """The fact that tells two or more groups apart which differ by more than their scatter, with
    all facts that go along with it, and each card's group (-1: of a value too rare to judge).
    `allowed`: the values that may explain, as shared() gives them. `elsewhere`: whether a fact's
    value does better than another among other cards, too, as far as they tell."""
    best: tuple[float, str, Codes] | None = None
    partitions: dict[str, Codes] = {}
    for name, fact in facts.items():
        big = _big_values(fact, allowed[name])
        if len(big) < 2:
            continue
        labels = np.where(np.isin(fact, big), fact, -1)
        known = labels >= 0
        levels = {int(v): level(x[labels == v], nodes[labels == v]) for v in big}
        scale = _scatter(x[known], labels[known], levels)
        step = max(levels.values()) - min(levels.values())
        _, partitions[name] = np.unique(labels, return_inverse=True)
        if step < max(LEAST_STEP, _APART * scale) or (best is not None and scale >= best[0]):
            continue
        if elsewhere(
            name, max(levels, key=levels.__getitem__), min(levels, key=levels.__getitem__)
        ):
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
    levels = {int(side): float(np.median(x[worse == side])) for side in (True, False)}
    scale, step = _scatter(x, worse.astype(np.intp), levels), levels[0] - levels[1]
    if step < max(LEAST_STEP, _APART * scale):
        return None
    # Two or three outliers, filled up to a group with cards like all others, are none.
    better, best = (np.quantile(x[side], 0.75, method="higher") for side in (worse, ~worse))
    if best - better < LEAST_STEP:
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
    allowed = shared(facts, nodes)
    for cards in kinds:
        others = [kind for kind in kinds if kind is not cards]
        for part in _by_facts(x, facts, nodes, allowed, cards, others, cuts):
            worse = two_groups(x[part], nodes[part])
            if worse is None:
                found.append(part)
                continue
            found += [part[~worse], part[worse]]
            cuts.append(Cut(part[~worse], part[worse]))
    return found, cuts


def _by_facts(
    x: Floats,
    facts: Mapping[str, Codes],
    nodes: Codes,
    allowed: Mapping[str, Codes],
    cards: Codes,
    others: list[Codes],
    cuts: list[Cut],
) -> list[Codes]:
    def elsewhere(name: str, better: int, worse: int) -> bool:
        """A driver that costs nothing on the other board part costs nothing here."""
        for kind in others:
            sides = [kind[facts[name][kind] == value] for value in (better, worse)]
            if min(map(len, sides)) < FROM_OTHERS:
                continue
            levels = [level(x[side], nodes[side]) for side in sides]
            if levels[0] - levels[1] < LEAST_STEP / 2:
                return False
        return True

    own = {name: fact[cards] for name, fact in facts.items()}
    found = explained(x[cards], own, nodes[cards], allowed, elsewhere)
    if found is None:
        return [cards]
    names, labels = found
    kinds = [cards[labels == value] for value in np.unique(labels[labels >= 0])]
    kinds.sort(key=lambda kind: (-len(kind), int(kind[0])))
    cuts += [Cut(kinds[0], other, names) for other in kinds[1:]]
    # Too few have another value to say what it is good for: they are held against the best.
    best = max(range(len(kinds)), key=lambda i: level(x[kinds[i]], nodes[kinds[i]]))
    kinds[best] = np.concatenate([kinds[best], cards[labels < 0]])
    return kinds
