# SPDX-License-Identifier: Apache-2.0
"""bandgate-report changes."""

from typing import Annotated

import typer

from bandgate_reports.analysis import change_facts, series
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
)
from bandgate_reports.trend.rows import varying_parameters
from bandgate_reports.trend.sweeps import is_swept
from bandgate_reports.units import RateUnit
from bandgate_reports.views import changes as view


def changes(
    results: Results,
    days: Annotated[
        int,
        typer.Option(
            "--days", min=0, max=36500, help="A loss that became certain so many days ago is new."
        ),
    ] = change_facts.RECENT_DAYS,
    level: Annotated[
        change_facts.Level,
        typer.Option(
            "--level",
            help="Of each card, or of the nightly median over the cards of each model, which sees "
            "what all of them lose where each is measured seldom.",
        ),
    ] = change_facts.Level.BOTH,
    form: As = Format.TABLE,
    include_scripted: Scripted = False,
    since: Since = None,
    models: Models = None,
    scheduler: Scheduler = None,
    unit: Unit = RateUnit.GIB_S,
    now: Now = None,
) -> None:
    """Nights on which a series changed its level, what else changed with it, and single bad nights.
    Exit code 1 if a change for the worse of the last --days days is in force.

    Example: bandgate-report changes results
    """
    at = moment(now)
    loaded = read(
        results, include_scripted=include_scripted, since=since, models=models, scheduler=scheduler
    )
    table = series.identify(loaded.results, at)
    swept = is_swept(table)
    if swept.any():
        table = table[~swept].reset_index(drop=True)
    looked = change_facts.only(change_facts.look(table, at, days), level)
    section = view.section(looked, varying_parameters(table), unit, notice(loaded), level)
    show(section, form)
    tell(loaded)
    raise typer.Exit(Exit.ERROR if nothing_valid(loaded) else section.exit)
