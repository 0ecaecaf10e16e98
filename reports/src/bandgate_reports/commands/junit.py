# SPDX-License-Identifier: Apache-2.0
"""bandgate-report junit."""

from pathlib import Path
from typing import Annotated

import typer

from bandgate_reports.analysis import series
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import (
    Now,
    Results,
    Scripted,
    Unit,
    moment,
    nothing_valid,
    read,
    say,
    tell,
    write_atomically,
)
from bandgate_reports.exports import junit as xml
from bandgate_reports.text import count
from bandgate_reports.units import RateUnit


def junit(
    results: Results,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write, instead of standard output.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Only what was tested at that time or later (RFC 3339), such as by this job.",
        ),
    ] = None,
    include_scripted: Scripted = False,
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
    loaded = read(results, include_scripted=include_scripted)
    found = xml.cases(series.identify(loaded.results, at), start, unit)
    code = Exit.OK
    if not found:
        code = Exit.ERROR if nothing_valid(loaded) else Exit.CANNOT_TELL
        broken = tuple(f"{s.file}: {s.reason}" for s in loaded.skipped[:20])
        skipped = f", {count(len(loaded.skipped), 'broken file')} skipped" if broken else ""
        when = f" of {since} or later" if since else ""
        message = f"no results{when} in {', '.join(map(str, results))}{skipped}"
        found = [xml.own_error("results", "no-results", message, broken)]
    data = xml.render(found)
    if out is None:
        say([data])
    else:
        write_atomically(out, data)
    tell(loaded, "nothing to export" if code else f"JUnit: {out}" if out else "")
    raise typer.Exit(code)
