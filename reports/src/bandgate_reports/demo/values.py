# SPDX-License-Identifier: Apache-2.0
"""The numbers of the fleet: what every process would have measured, and in which state."""

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from bandgate_reports.demo.models import H200, PROBES
from bandgate_reports.demo.plan import MEMORY, Event, Plan

Floats = NDArray[np.float64]

SAMPLES = 10
ATTEMPTS = 2
CONTENDED = -0.13  # what another process takes
DIP = -0.035  # of a first process that a fresh one does not confirm; on a link twice that
FLAKY_LINK = -0.085


class State(IntEnum):
    """Of a card in a night."""

    FINE = 0
    POWER_CAP = 1
    HOT = 2
    LINK = 3
    CONTENDED = 4
    LOST = 5
    DRAINED = 6


_STATES = {
    "power-cap": State.POWER_CAP,
    "hot": State.HOT,
    "link": State.LINK,
    "bad-night": State.CONTENDED,
    "gpu-lost": State.LOST,
    "drained": State.DRAINED,
}


@dataclass(frozen=True)
class Values:
    """Samples in B/s or s: attempt, card, probe, night, sample. States: card, night."""

    samples: Floats
    states: NDArray[np.int8]
    plan: Plan  # with the events that chance has placed


def made(plan: Plan, *, by_chance: bool = True) -> Values:
    """by_chance: with bad nights and unstable passes, which chance places."""
    chance = np.random.default_rng(plan.seed)
    states = np.zeros((len(plan.cards), plan.nights), dtype=np.int8)
    for event in plan.events:
        _set_state(states, plan, event)
    if by_chance:
        plan = replace(plan, events=plan.events + _by_chance(plan, states, chance))
    for event in plan.events:
        _set_state(states, plan, event)
    level = _levels(plan, chance)
    for event in plan.events:
        _apply(level, plan, event)
    attempts = np.repeat(level[None], ATTEMPTS, axis=0)
    for event in plan.events:
        if event.kind == "unstable":  # the first process only
            for c, p in _cells(plan, event):
                attempts[0, c, p, event.first] *= 1 + event.effect
    return Values(_sampled(plan, attempts, chance), states, plan)


def _set_state(states: NDArray[np.int8], plan: Plan, event: Event) -> None:
    if event.kind in _STATES:
        states[plan.where(event), event.first : event.last + 1] = _STATES[event.kind]


def _cells(plan: Plan, event: Event) -> list[tuple[int, int]]:
    moved = [
        p
        for p, key in enumerate(plan.probes)
        if key in event.probes or (MEMORY in event.probes and PROBES[key].of_memory)
    ]
    return [(c, p) for c in plan.where(event) for p in moved]


def _spreads(plan: Plan, which: str) -> Floats:
    return np.array([getattr(PROBES[key], which) for key in plan.probes])


def _levels(plan: Plan, chance: np.random.Generator) -> Floats:
    """Card, probe, night: the level of the kind, of the card, of the node's night."""
    kind = np.array(
        [[c.model.levels[c.board_part][key] for key in plan.probes] for c in plan.cards]
    )
    cards, probes = kind.shape
    nodes = np.array([c.node for c in plan.cards])
    own = 1 + _spreads(plan, "card") * chance.standard_normal((cards, probes))
    other = 1 + _spreads(plan, "card") * chance.standard_normal((cards, probes))
    level = np.repeat((kind * own)[:, :, None], plan.nights, axis=2)
    for event in plan.events:
        if event.kind == "swapped":
            for c in plan.where(event):
                level[c, :, event.first :] = (kind * other)[c, :, None]
    of_night = chance.standard_normal((nodes.max() + 1, probes, plan.nights))
    return np.asarray(level * (1 + _spreads(plan, "night")[:, None] * of_night[nodes]))


def _apply(level: Floats, plan: Plan, event: Event) -> None:
    if event.kind == "unstable" or not event.effect:
        return
    nights = np.arange(event.first, event.last + 1)
    factor = 1 + event.effect * (nights - event.first if event.kind == "drift" else 1)
    for c, p in _cells(plan, event):
        level[c, p, event.first : event.last + 1] *= factor


def _sampled(plan: Plan, attempts: Floats, chance: np.random.Generator) -> Floats:
    process = 1 + _spreads(plan, "process")[:, None] * chance.standard_normal(attempts.shape)
    within = chance.standard_normal((*attempts.shape, SAMPLES))
    within *= _spreads(plan, "sample")[:, None, None]
    within += 1
    within *= (attempts * process)[..., None]
    # Seven digits are more than a timer tells, and short numbers make small files.
    step = np.where([PROBES[key].lower_is_better for key in plan.probes], 1e-12, 1e5)
    step = step[:, None, None]
    within /= step
    np.rint(within, out=within)
    within *= step
    return within


def _by_chance(
    plan: Plan, states: NDArray[np.int8], chance: np.random.Generator
) -> tuple[Event, ...]:
    """Isolated bad nights, and first attempts that a fresh process does not confirm."""
    busy = states != State.FINE
    busy[:, -3:] = True  # the newest nights say what the table says
    for event in plan.events:
        if event.effect and event.kind not in ("drift", "slow-card"):
            # A bad night beside a step would be argued about.
            busy[plan.where(event), max(0, event.first - 7) : event.first + 7] = True
    found: list[Event] = []
    for _ in range(max(1, states.size // 800)):
        found += _one(plan, busy, chance, "bad-night", (MEMORY,), CONTENDED)
    for _ in range(max(1, states.size // 1000)):
        found += _one(plan, busy, chance, "unstable", ("read",), DIP)
    flaky = [c for c, card in enumerate(plan.cards) if (card.node, card.gpu) == (5, 1)]
    for _ in range(plan.nights // 20):
        found += _one(plan, busy, chance, "unstable", ("h2d",), FLAKY_LINK, flaky)
    return tuple(sorted(found, key=lambda e: (e.first, e.nodes, e.gpus, e.kind)))


_SAYS = {
    "bad-night": "another process computed on the card",
    "unstable": "low in the first process, fine in a fresh one",
}


def _one(
    plan: Plan,
    busy: NDArray[np.bool_],
    chance: np.random.Generator,
    kind: str,
    probes: tuple[str, ...],
    effect: float,
    among: list[int] | None = None,
) -> list[Event]:
    """At most one, at a place where nothing else is; ten tries."""
    # Only the baselines of the H200 are tight enough to find a dip of a few percent.
    gated = [c for c, card in enumerate(plan.cards) if kind != "unstable" or card.model is H200]
    cards = gated if among is None else among
    for _ in range(10):
        if not cards:
            return []
        c = cards[int(chance.integers(len(cards)))]
        night = int(chance.integers(plan.nights))
        if busy[c, night]:
            continue
        busy[c, max(0, night - 10) : night + 11] = True
        card = plan.cards[c]
        where = ((card.node,), (card.gpu,))
        return [Event(kind, _SAYS[kind], night, night, *where, probes, effect)]
    return []
