# SPDX-License-Identifier: Apache-2.0
"""bandgate-report trend."""

from pathlib import Path
from typing import Annotated

import typer

from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import (
    Models,
    Now,
    ReportError,
    Results,
    Scheduler,
    Scripted,
    Since,
    Unit,
    moment,
    nothing_valid,
    on_terminal,
    read,
    say,
    tell,
    write_atomically,
)
from bandgate_reports.trend import build, html, markdown
from bandgate_reports.trend.model import Trend
from bandgate_reports.units import RateUnit


def trend(
    results: Results,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for index.html; made if missing.")
    ] = Path("report"),
    include_scripted: Scripted = False,
    since: Since = None,
    models: Models = None,
    scheduler: Scheduler = None,
    unit: Unit = RateUnit.GIB_S,
    now: Now = None,
    png_folder: Annotated[
        Path | None,
        typer.Option(
            "--png",
            metavar="DIR",
            help="Also a PNG of each series out of the ordinary into this folder: a verdict that "
            "is not as it should be, a change point, a bad night in the last two weeks.",
        ),
    ] = None,
    png_all: Annotated[
        bool,
        typer.Option("--png-all", help="With --png: of every series; a third of a second each."),
    ] = False,
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

    Example: bandgate-report trend results --out report --png report/figures
    """
    if png_all and png_folder is None:
        raise ReportError("--png-all: there is no folder for them; add --png DIR")
    at = moment(now)
    loaded = read(
        results, include_scripted=include_scripted, since=since, models=models, scheduler=scheduler
    )
    report = build.build(loaded, at, unit)
    page = out / "index.html"
    write_atomically(page, html.render(report).encode())
    say(markdown.brief(report) if on_terminal() else markdown.render(report))
    where = f"report: {page}"
    if png_folder is not None:
        where += f"\nfigures: {_draw(report, png_folder, png_all)} in {png_folder}"
    tell(loaded, where)
    code = Exit.ERROR if nothing_valid(loaded) else report.summary.exit
    raise typer.Exit(0 if exit_zero else code)


def _draw(report: Trend, folder: Path, every: bool) -> int:
    from bandgate_reports.figures import histories  # noqa: PLC0415 - as cli.py says

    number = 0
    for name, data in histories.files(report, every=every):
        write_atomically(folder / name, data)
        number += 1
    return number
