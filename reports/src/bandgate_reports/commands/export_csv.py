# SPDX-License-Identifier: Apache-2.0
"""bandgate-report csv."""

from pathlib import Path
from typing import Annotated

import typer

from bandgate_reports.analysis import series
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import (
    Now,
    Results,
    Scripted,
    moment,
    nothing_valid,
    read,
    say,
    tell,
    write_atomically,
)
from bandgate_reports.exports import result_csv


def csv(
    results: Results,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write, instead of standard output.")
    ] = None,
    include_scripted: Scripted = False,
    now: Now = None,
) -> None:
    """Every result as one line of CSV, in base units, the same in every locale. The exit code does
    not judge: 0 written, 4 nothing to export (the header only).

    Example: bandgate-report csv results --out results.csv
    """
    at = moment(now)
    loaded = read(results, include_scripted=include_scripted)
    parts = result_csv.chunks(series.identify(loaded.results, at))
    if out is None:
        say(parts)
    else:
        write_atomically(out, parts)
    empty = loaded.results.empty
    tell(loaded, "nothing to export" if empty else f"CSV: {out}" if out else "")
    if nothing_valid(loaded):
        raise typer.Exit(Exit.ERROR)
    raise typer.Exit(Exit.CANNOT_TELL if empty else Exit.OK)
