# SPDX-License-Identifier: Apache-2.0
"""What was planted in a demonstration, for people and for tests: README.md and events.csv."""

import csv
import io

from bandgate_reports.demo import gate
from bandgate_reports.demo.models import A100, PROBES
from bandgate_reports.demo.plan import MEMORY, Event, Plan
from bandgate_reports.text import count
from bandgate_reports.units import percent_text

README, EVENTS = "README.md", "events.csv"
BY_CHANCE = ("bad-night", "unstable")

TITLE = "# Synthetic demonstration data\n"
_ABOUT = """
Nothing here was measured. `bandgate-report demo` has made it up: names of models are those of
real cards, their figures are not evidence of anything. Every result carries the label
`demo: synthetic`, and every host is called `demo-n...`.

    {command}

{fleet}. To look at it:

    bandgate-report trend {out} --out report
    bandgate-report changes {out}
    bandgate-report fleet {out}
    bandgate-report ab {out}/driver-gate/before {out}/driver-gate/after

`store` holds the older nights, `results` the newest two as the tool leaves them, and `driver-gate`
ten processes of each probe before and after {driver}, on trial on demo-n00: {trial}.

## What was planted

The same list, with the single bad nights, is in `events.csv`. Nights are UTC dates.

| what | since | until | where | moves | by |
|---|---|---|---|---|---|
{rows}

Placed by chance: {bad} in which another process computed on a card, and {unstable} that were low,
and fine in a fresh process{flaky}.

{always}
"""
_NO_BASELINE = "The A100s have no baseline for `launch`."


def dates(plan: Plan, event: Event) -> tuple[str, str]:
    """The first and the last night of it; "" while it lasts."""
    until = "" if event.last == plan.nights - 1 else f"{plan.starts(event.last):%Y-%m-%d}"
    return f"{plan.starts(event.first):%Y-%m-%d}", until


def hosts(plan: Plan, event: Event) -> list[str]:
    return list(dict.fromkeys(plan.cards[c].host for c in plan.where(event)))


def where_text(plan: Plan, event: Event) -> str:
    named = hosts(plan, event) if event.nodes else ["every node"]
    cards = f" GPU {', '.join(str(g) for g in event.gpus)}" if event.gpus else ""
    return ", ".join(named) + cards


def moves(plan: Plan, event: Event) -> list[str]:
    """The probes that it moves, of those that were measured."""
    return [
        key
        for key in plan.probes
        if key in event.probes or (MEMORY in event.probes and PROBES[key].of_memory)
    ]


def effect_text(event: Event) -> str:
    if not event.effect:
        return ""
    return percent_text(1 + event.effect) + (" a night" if event.kind == "drift" else "")


def events_csv(plan: Plan) -> str:
    """One line an event. Lists are separated by spaces within their cell, semicolons of probes."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(
        "kind first last hosts gpus pci_addresses probes effect field before after says".split()
    )
    for event in plan.events:
        first, last = f"{plan.starts(event.first):%Y-%m-%d}", f"{plan.starts(event.last):%Y-%m-%d}"
        places = sorted({plan.cards[c].pci_address for c in plan.where(event)})
        lines.writerow(
            [
                event.kind,
                first,
                last,
                " ".join(hosts(plan, event)),
                " ".join(str(g) for g in event.gpus),
                " ".join(places),
                ";".join(moves(plan, event)),
                event.effect,
                event.field,
                event.before,
                event.after,
                event.says,
            ]
        )
    return text.getvalue()


def readme(plan: Plan, command: str, out: str) -> str:
    rows = []
    for event in plan.events:
        if event.kind not in BY_CHANCE:
            since, until = dates(plan, event)
            cells = [
                event.says,
                since,
                until,
                where_text(plan, event),
                ", ".join(moves(plan, event)),
                effect_text(event),
            ]
            rows.append(f"| {' | '.join(cells)} |")
    number = {kind: sum(e.kind == kind for e in plan.events) for kind in BY_CHANCE}
    flaky = sum(e.kind == "unstable" and e.probes == ("h2d",) for e in plan.events)
    about = _ABOUT.format(
        command=command,
        out=out,
        driver=f"driver {gate.NEXT_DRIVER}",
        trial=_trial_text(plan),
        fleet=fleet_text(plan),
        rows="\n".join(rows),
        bad=count(number["bad-night"], "isolated night"),
        unstable=count(number["unstable"], "first attempt"),
        flaky=f", {flaky} of them on one flaky link" if flaky else "",
        always=_NO_BASELINE if _without_baseline(plan) else "",
    )
    return TITLE + about.rstrip() + "\n"


def _trial_text(plan: Plan) -> str:
    probe, effect = gate.LOSS
    if probe not in plan.probes:
        return "it costs nothing"
    return f"{probe} loses {-100 * effect:.0f} %, the others nothing"


def _without_baseline(plan: Plan) -> bool:
    return "launch" in plan.probes and any(c.model is A100 for c in plan.cards)


def fleet_text(plan: Plan) -> str:
    """ "8 nodes, 48 NVIDIA H200 and 16 NVIDIA A100-SXM4-80GB, 8 probes, 180 nights"."""
    nodes = len({c.node for c in plan.cards})
    models = dict.fromkeys(c.model.name for c in plan.cards)
    cards = [f"{sum(c.model.name == m for c in plan.cards)} {m}" for m in models]
    nights = f"{count(plan.nights, 'night')} until {plan.last_night:%Y-%m-%d}"
    probes = count(len(plan.probes), "probe")
    return f"{count(nodes, 'node')}, {' and '.join(cards)}, {probes}, {nights}"
