# SPDX-License-Identifier: Apache-2.0
"""bandgate-report markdown."""

from pathlib import Path
from typing import Annotated

import typer

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
from bandgate_reports.trend import build
from bandgate_reports.trend import markdown as text_of
from bandgate_reports.units import RateUnit


def markdown(
    results: Results,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write, instead of standard output.")
    ] = None,
    include_scripted: Scripted = False,
    unit: Unit = RateUnit.GIB_S,
    now: Now = None,
) -> None:
    """Newest verdicts as Markdown for the job page of a CI system, worst first, below 900 kB. The
    exit code does not judge: 0 written, 4 nothing to export (the text says so).

    Example: bandgate-report markdown results --out summary.md
    """
    at = moment(now)
    loaded = read(results, include_scripted=include_scripted)
    report = build.build(loaded, at, unit)
    text = text_of.render(report)
    if out is None:
        say(text)
    else:
        write_atomically(out, text.encode())
    empty = not report.results
    tell(loaded, "nothing to export" if empty else f"Markdown: {out}" if out else "")
    if nothing_valid(loaded):
        raise typer.Exit(Exit.ERROR)
    raise typer.Exit(Exit.CANNOT_TELL if empty else Exit.OK)
