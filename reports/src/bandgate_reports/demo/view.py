# SPDX-License-Identifier: Apache-2.0
"""What was made, as a section."""

from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.demo import truth
from bandgate_reports.demo.plan import Plan
from bandgate_reports.section import Column, Row, Section, Table, Tone
from bandgate_reports.text import count


def section(plan: Plan, results: int, out: str) -> Section:
    planted = [e for e in plan.events if e.kind not in truth.BY_CHANCE]
    rows = []
    for event in planted:
        since, until = truth.dates(plan, event)
        span = f"{since} to {until}" if until and until != since else since
        cells = (
            event.says,
            span if until else f"since {since}",
            truth.where_text(plan, event),
            ", ".join(truth.moves(plan, event)),
            truth.effect_text(event),
        )
        rows.append(Row(cells, Tone.PLAIN))
    by_chance = {k: sum(e.kind == k for e in plan.events) for k in truth.BY_CHANCE}
    bad, unstable = by_chance["bad-night"], by_chance["unstable"]
    return Section(
        key="demo",
        title="Synthetic demonstration data",
        headline=f"{results} results in {out}: {truth.fleet_text(plan)}.",
        tone=Tone.QUIET,
        exit=Exit.OK,
        sentences=(
            "Nothing of it was measured; every result and every report of it says so.",
            f"Beside them demo-n00 tries a driver, in {out}/driver-gate: one host more.",
            f"Look at it: bandgate-report trend {out} --out report; {out}/{truth.README} has more.",
        ),
        tables=(
            Table(
                "What was planted",
                (
                    Column("what"),
                    Column("nights"),
                    Column("where"),
                    Column("moves"),
                    Column("by", numeric=True),
                ),
                tuple(rows),
                note=(
                    f"Besides, by chance: {count(bad, 'isolated bad night')}, "
                    f"{count(unstable, 'unstable pass', 'unstable passes')}. "
                    f"All of it: {out}/{truth.README}, {out}/{truth.EVENTS}."
                ),
            ),
        ),
        data={
            "results": results,
            "folder": out,
            "events": [
                {
                    "kind": e.kind,
                    "says": e.says,
                    "first": f"{plan.starts(e.first):%Y-%m-%d}",
                    "last": f"{plan.starts(e.last):%Y-%m-%d}",
                    "hosts": truth.hosts(plan, e),
                    "gpus": list(e.gpus),
                    "probes": truth.moves(plan, e),
                    "effect": e.effect,
                }
                for e in plan.events
            ],
        },
    )
