# SPDX-License-Identifier: Apache-2.0
"""bandgate-report prometheus."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from bandgate_reports.analysis import series
from bandgate_reports.commands.common import (
    Models,
    Now,
    ReportError,
    Results,
    Scheduler,
    Scripted,
    Since,
    moment,
    read,
    tell,
)
from bandgate_reports.commands.exporting import nothing_code, nothing_text, put
from bandgate_reports.exports import metrics
from bandgate_reports.text import printable

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def _age(text: str | None) -> timedelta | None:
    if text is None:
        return None
    read_as = re.fullmatch(r"([0-9]{1,4})([mhdw])", text, re.ASCII)
    if read_as is None or int(read_as[1]) == 0:
        raise ReportError(f"--max-age {printable(text)}: not an age; write 90m, 36h, 7d or 2w")
    return timedelta(**{_UNITS[read_as[2]]: int(read_as[1])})


def prometheus(
    results: Results,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File to write (NAME.prom), instead of standard output."),
    ] = None,
    max_age: Annotated[
        str | None,
        typer.Option(
            "--max-age",
            metavar="AGE",
            help="Of what is older (90m, 36h, 7d) only the time is exported, for an alert on it.",
        ),
    ] = None,
    include_scripted: Scripted = False,
    since: Since = None,
    models: Models = None,
    scheduler: Scheduler = None,
    now: Now = None,
) -> None:
    """Newest verdicts as metrics for node_exporter's textfile collector: bandwidth, ratio, verdict
    and age of every probe. The exit code does not judge: 0 written, 4 nothing to export (a file
    from before stays, and its age with it).

    Example: bandgate-report prometheus results --out bandgate.prom
    """
    at = moment(now)
    limit = _age(max_age)
    loaded = read(
        results, include_scripted=include_scripted, since=since, models=models, scheduler=scheduler
    )
    found = metrics.families(series.identify(loaded.results, at), len(loaded.skipped), at, limit)
    if not found:
        kept = f"; {printable(str(out))} is left as it is" if out else ""
        tell(loaded, f"nothing to export: {nothing_text(loaded, results)}{kept}")
        raise typer.Exit(nothing_code(loaded))
    put(out, [metrics.render(found).encode()])
    named = out is None or out.suffix == ".prom"
    hint = "" if named else " (node_exporter reads only names that end in .prom)"
    tell(loaded, f"metrics: {out}{hint}" if out else "")
