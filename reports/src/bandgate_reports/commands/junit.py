# SPDX-License-Identifier: Apache-2.0
"""bandgate-report junit."""

from typing import Annotated

import typer

from bandgate_reports.analysis import series
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import (
    Models,
    Now,
    Results,
    Scheduler,
    Scripted,
    Unit,
    moment,
    read,
    tell,
)
from bandgate_reports.commands.exporting import Out, nothing_code, nothing_text, put
from bandgate_reports.exports import junit as xml
from bandgate_reports.units import RateUnit


def junit(
    results: Results,
    out: Out = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Only what was tested at that time or later (RFC 3339), such as by this job.",
        ),
    ] = None,
    include_scripted: Scripted = False,
    models: Models = None,
    scheduler: Scheduler = None,
    unit: Unit = RateUnit.GIB_S,
    now: Now = None,
) -> None:
    """Newest verdicts as JUnit XML for the test page of a CI system, with numbers, bounds, causes
    and next steps. A regression is a failure; an error, or a verdict that nobody can give, is an
    error. The exit code does not judge: 0 written, 4 nothing to export (the file says so).

    Example: bandgate-report junit results --out junit.xml
    """
    at = moment(now)
    start = None if since is None else moment(since, "--since")
    loaded = read(results, include_scripted=include_scripted, models=models, scheduler=scheduler)
    found = xml.cases(series.identify(loaded.results, at), start, unit)
    code = Exit.OK
    done = f"JUnit: {out}" if out else ""
    if not found:
        code = nothing_code(loaded)
        text = nothing_text(loaded, results, since)
        done = f"nothing to export: {text}"
        broken = tuple(f"{s.file}: {s.reason}" for s in loaded.skipped[:20])
        found = [xml.own_error("results", "no-results", text, broken)]
    put(out, [xml.render(found)])
    tell(loaded, done)
    raise typer.Exit(code)
