# SPDX-License-Identifier: Apache-2.0
"""bandgate-report markdown."""

import typer

from bandgate_reports.commands.common import (
    Models,
    Now,
    Results,
    Scheduler,
    Scripted,
    Since,
    Unit,
    moment,
    read,
    tell,
)
from bandgate_reports.commands.exporting import Out, nothing_code, nothing_text, put
from bandgate_reports.trend import build
from bandgate_reports.trend import markdown as text_of
from bandgate_reports.units import RateUnit


def markdown(
    results: Results,
    out: Out = None,
    include_scripted: Scripted = False,
    since: Since = None,
    models: Models = None,
    scheduler: Scheduler = None,
    unit: Unit = RateUnit.GIB_S,
    now: Now = None,
) -> None:
    """Newest verdicts as Markdown for the job page of a CI system, worst first, below 900 kB. The
    exit code does not judge: 0 written, 4 nothing to export (the text says so).

    Example: bandgate-report markdown results --out summary.md
    """
    at = moment(now)
    loaded = read(
        results, include_scripted=include_scripted, since=since, models=models, scheduler=scheduler
    )
    report = build.build(loaded, at, unit)
    put(out, [text_of.render(report).encode()])
    if not report.results:
        tell(loaded, f"nothing to export: {nothing_text(loaded, results)}")
        raise typer.Exit(nothing_code(loaded))
    tell(loaded, f"Markdown: {out}" if out else "")
