# SPDX-License-Identifier: Apache-2.0
"""bandgate-report csv."""

import typer

from bandgate_reports.analysis import series
from bandgate_reports.commands.common import (
    Models,
    Now,
    Results,
    Scheduler,
    Scripted,
    Since,
    moment,
    read,
    tell,
)
from bandgate_reports.commands.exporting import Out, nothing_code, nothing_text, put
from bandgate_reports.exports import result_csv


def csv(
    results: Results,
    out: Out = None,
    include_scripted: Scripted = False,
    since: Since = None,
    models: Models = None,
    scheduler: Scheduler = None,
    now: Now = None,
) -> None:
    """Every result as one line of CSV, in base units, the same in every locale. The exit code does
    not judge: 0 written, 4 nothing to export (the header only).

    Example: bandgate-report csv results --out results.csv
    """
    at = moment(now)
    loaded = read(
        results, include_scripted=include_scripted, since=since, models=models, scheduler=scheduler
    )
    put(out, result_csv.chunks(series.identify(loaded.results, at)))
    if loaded.results.empty:
        tell(loaded, f"nothing to export: {nothing_text(loaded, results)}")
        raise typer.Exit(nothing_code(loaded))
    tell(loaded, f"CSV: {out}" if out else "")
