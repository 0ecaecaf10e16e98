# SPDX-License-Identifier: Apache-2.0
"""bandgate-report trend."""

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
from bandgate_reports.trend import build, html, markdown
from bandgate_reports.units import RateUnit


def trend(
    results: Results,
    out: Annotated[Path, typer.Option("--out", help="Folder for index.html; made if missing.")],
    include_scripted: Scripted = False,
    unit: Unit = RateUnit.GIB_S,
    now: Now = None,
    exit_zero: Annotated[
        bool,
        typer.Option(
            "--exit-zero",
            help="Exit 0 once the page is written, whatever it says: for a step that only has to "
            "leave the report behind. Arguments and writing still end with 2.",
        ),
    ] = False,
) -> None:
    """Newest verdicts and the history of every series: a page in --out, Markdown on stdout.

    Example: bandgate-report trend results --out report
    """
    at = moment(now)
    loaded = read(results, include_scripted=include_scripted)
    report = build.build(loaded, at, unit)
    page = out / "index.html"
    write_atomically(page, html.render(report).encode())
    say(markdown.render(report))
    tell(loaded, f"report: {page}")
    code = Exit.ERROR if nothing_valid(loaded) else report.summary.exit
    raise typer.Exit(0 if exit_zero else code)
