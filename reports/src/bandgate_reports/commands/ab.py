# SPDX-License-Identifier: Apache-2.0
"""bandgate-report ab."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from bandgate_reports import store
from bandgate_reports.analysis import ab as analysis
from bandgate_reports.analysis.ab_sides import Difference
from bandgate_reports.commands.common import (
    As,
    Format,
    Now,
    ReportError,
    Scripted,
    Unit,
    moment,
    nothing_valid,
    read,
    show,
    tell,
    warn,
    write_atomically,
)
from bandgate_reports.render import markdown as as_markdown
from bandgate_reports.render import page as as_page
from bandgate_reports.text import count, listed, printable
from bandgate_reports.units import RateUnit
from bandgate_reports.views import ab as view

_LEAST_MARGIN, _MOST_MARGIN = 0.05, 50.0


def ab(
    before: Annotated[
        Path, typer.Argument(metavar="BEFORE", help="Folder or file of results: one side.")
    ],
    after: Annotated[
        Path, typer.Argument(metavar="AFTER", help="Folder or file of results: the other.")
    ],
    margin: Annotated[
        str, typer.Option("--margin", metavar="PERCENT", help="The loss that is accepted.")
    ] = "1",
    probe: Annotated[
        list[str] | None, typer.Option("--probe", help="Only this probe; may repeat.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Only this GPU model; may repeat.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write it as a page, too.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write it as Markdown, too.")
    ] = None,
    form: As = Format.TABLE,
    include_scripted: Scripted = False,
    unit: Unit = RateUnit.GIB_S,
    now: Now = None,
) -> None:
    """Compare two sides, such as a driver before and after its update: has a probe lost more than
    the margin? One value a process, each card against itself, a 90 % interval of the ratio. Exit
    code 0: all PASS; 1: a FAIL; 4: undecided; 2: the sides are not comparable.

    Example: bandgate-report ab results/before results/after --page ab.html
    """
    accepted = _margin(margin)
    at = moment(now)
    sides = [read([path], include_scripted=include_scripted) for path in (before, after)]
    for path, loaded in zip((before, after), sides, strict=True):
        tell(loaded)
        _complain(path, loaded)
    tables = [_chosen(loaded.results, probe, model) for loaded in sides]
    found = analysis.compare(tables[0], tables[1], at, margin=accepted)
    if found.shared_ids:
        raise ReportError(
            f"{count(found.shared_ids, 'result')} of BEFORE {printable(str(before))} "
            f"{'is' if found.shared_ids == 1 else 'are'} in AFTER {printable(str(after))}, too: a "
            "result cannot be on both sides; give each side a folder of its own"
        )
    if found.refused:
        raise ReportError(_refusal(found.refused))
    section = view.section(found, unit)
    if page is not None:
        write_atomically(page, as_page.render((section,), title="Before and after").encode())
    if markdown is not None:
        write_atomically(markdown, as_markdown.render(section).encode())
    show(section, form)
    raise typer.Exit(section.exit)


def _margin(text: str) -> float:
    """ "1", "1%", "1 %": a share."""
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = float("nan")
    if not _LEAST_MARGIN <= percent <= _MOST_MARGIN:
        raise ReportError(
            f"--margin {printable(text)}: the accepted loss in percent, {_LEAST_MARGIN} to "
            f"{_MOST_MARGIN:.0f}; for one percent write 1"
        )
    return percent / 100


def _complain(path: Path, loaded: store.Loaded) -> None:
    if nothing_valid(loaded):
        raise ReportError(
            f"{printable(str(path))}: none of {count(loaded.files, 'file')} is a result"
        )
    if loaded.scripted_left_out and loaded.results.empty:
        left = count(loaded.scripted_left_out, "result")
        warn(
            f"{printable(str(path))}: {left} of scripted devices left out; --include-scripted "
            "takes them"
        )


def _chosen(
    results: pd.DataFrame, probes: list[str] | None, models: list[str] | None
) -> pd.DataFrame:
    for column, wanted in (("probe", probes), ("device", models)):
        if wanted:
            results = results[results[column].isin(wanted)]
    return results


def _refusal(refused: tuple[Difference, ...]) -> str:
    texts = [
        f"{d.what}{f' of {printable(d.where)}' if d.where else ''} "
        f"({printable(d.before) or 'none'} before, {printable(d.after) or 'none'} after)"
        for d in refused
    ]
    return (
        f"the sides are not comparable, they differ in: {listed(texts, 6)}. Measure both in the "
        "same way, or name what to compare with --probe and --model"
    )
