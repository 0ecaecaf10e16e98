# SPDX-License-Identifier: Apache-2.0
"""bandgate-report fleet."""

from pathlib import Path
from typing import Annotated

import typer

from bandgate_reports.analysis import fleet as analysis
from bandgate_reports.analysis import series
from bandgate_reports.analysis.fleet_values import NIGHTS
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import (
    As,
    Format,
    Models,
    Now,
    Results,
    Scheduler,
    Scripted,
    Since,
    Unit,
    moment,
    nothing_valid,
    notice,
    read,
    show,
    tell,
    write_atomically,
)
from bandgate_reports.render import page as as_page
from bandgate_reports.units import RateUnit
from bandgate_reports.views import fleet as view


def fleet(
    results: Results,
    nights: Annotated[
        int,
        typer.Option(
            "--nights",
            min=1,
            max=365,
            help="A card's value is the median of its newest N nights; 1: the newest alone.",
        ),
    ] = NIGHTS,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE", help="Write it as a page, too, with the heat map."),
    ] = None,
    form: As = Format.TABLE,
    include_scripted: Scripted = False,
    since: Since = None,
    models: Models = None,
    scheduler: Scheduler = None,
    unit: Unit = RateUnit.GIB_S,
    now: Now = None,
) -> None:
    """Cards and nodes that are slower than their peers: same model, same configuration, same probe.
    Exit code 1 if one is, 4 if there were no four cards alike to compare.

    Example: bandgate-report fleet results --page fleet.html
    """
    at = moment(now)
    loaded = read(
        results, include_scripted=include_scripted, since=since, models=models, scheduler=scheduler
    )
    found = analysis.compare(series.identify(loaded.results, at), nights)
    section = view.section(found, unit, notice(loaded))
    if page is not None:
        write_atomically(page, as_page.render((section,), title="Fleet").encode())
    show(section, form)
    tell(loaded, f"page: {page}" if page is not None else "")
    raise typer.Exit(Exit.ERROR if nothing_valid(loaded) else section.exit)
