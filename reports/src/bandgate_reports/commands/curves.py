# SPDX-License-Identifier: Apache-2.0
"""bandgate-report curves."""

from pathlib import Path
from typing import Annotated

import typer

from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import (
    Models,
    Now,
    Results,
    Scheduler,
    Scripted,
    Since,
    Unit,
    moment,
    nothing_valid,
    read,
    say,
    tell,
    write_atomically,
)
from bandgate_reports.text import count
from bandgate_reports.units import RateUnit


def curves(
    results: Results,
    out: Annotated[Path, typer.Option("--out", help="Folder for the figures; made if missing.")],
    include_scripted: Scripted = False,
    since: Since = None,
    models: Models = None,
    scheduler: Scheduler = None,
    unit: Unit = RateUnit.GIB_S,
    now: Now = None,
) -> None:
    """Figures and their data in --out, what they show on stdout: gather and scatter against span,
    reads against window and blocks, peer matrices, memory maps, rates over time. Exit code 4 if
    there is nothing to draw.

    Example: bandgate-report curves results --out figures
    """
    from bandgate_reports.figures import curves_text, drawing  # noqa: PLC0415 - as cli.py says

    at = moment(now)
    loaded = read(
        results, include_scripted=include_scripted, since=since, models=models, scheduler=scheduler
    )
    drawn = drawing.draw(loaded.results, at, unit)
    for file in drawn.files:
        write_atomically(out / file.name, file.data)
    text = curves_text.render(drawn)
    if loaded.scripted_left_out:
        left = count(loaded.scripted_left_out, "result")
        text += f"\n{left} of scripted devices left out; --include-scripted draws them\n"
    say(text)
    tell(loaded, f"figures: {out}" if drawn.files else "nothing to draw")
    if nothing_valid(loaded):
        raise typer.Exit(Exit.ERROR)
    raise typer.Exit(Exit.OK if drawn.files else Exit.CANNOT_TELL)
