# SPDX-License-Identifier: Apache-2.0
"""bandgate-report demo."""

import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import (
    As,
    Format,
    ReportError,
    show,
    write_atomically,
)
from bandgate_reports.demo import truth, values, view, write
from bandgate_reports.demo.models import PROBES, SUITES
from bandgate_reports.demo.plan import Plan, Wish, planned
from bandgate_reports.store import reason_of
from bandgate_reports.store.stamps import parse_stamp
from bandgate_reports.text import printable

_FIRST, _LAST = 2000, 2200


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the results; made.")] = Path(
        "demo"
    ),
    nodes: Annotated[int, typer.Option("--nodes", min=1, max=99, help="Nodes.")] = 8,
    gpus: Annotated[int, typer.Option("--gpus", min=1, max=16, help="GPUs a node.")] = 8,
    nights: Annotated[int, typer.Option("--nights", min=1, max=3650, help="Nights.")] = 180,
    probes: Annotated[
        str,
        typer.Option("--probes", help="quick, full, or probes separated by commas."),
    ] = "quick",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the chance.")] = 1,
    end: Annotated[
        str | None,
        typer.Option("--end", metavar="TIME", help="The newest night is over by then; now."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a demonstration that is there already.")
    ] = False,
    form: As = Format.TABLE,
) -> None:
    """Synthetic results of a fleet with planted defects, to try reports without hardware.

    What was planted is in README.md and events.csv of the folder. The same seed and end give the
    same results.

    Example: bandgate-report demo && bandgate-report trend demo --out report
    """
    wish = Wish(_moment(end), nodes, gpus, nights, _probes(probes), seed)
    plan = values.made(planned(wish)).plan
    _make_room(out, replace)
    command = _command(plan, probes)
    write_atomically(out / truth.README, truth.readme(plan, command, str(out)).encode())
    write_atomically(out / truth.EVENTS, truth.events_csv(plan).encode())
    try:
        with _progress(nights) as told:
            number = write.write(out, wish, told)
    except OSError as error:
        raise _not_written(out, error) from error
    show(view.section(plan, number, str(out)), form)
    raise typer.Exit(Exit.OK)


@contextmanager
def _progress(nights: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal's standard error while it lasts, and nothing elsewhere."""
    console = Console(stderr=True)
    columns = (TextColumn("making {task.total:.0f} nights"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as shown:
        task = shown.add_task("", total=nights)
        yield lambda done: shown.advance(task, done)


def _moment(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    stamp = parse_stamp(text)
    if stamp is None:
        raise ReportError(f"--end {printable(text)}: not a time; write 2026-11-29T06:00:00Z")
    if not _FIRST <= stamp.utc.year <= _LAST:
        raise ReportError(f"--end {printable(text)}: name a time from {_FIRST} to {_LAST}")
    return stamp.utc


def _probes(text: str) -> tuple[str, ...]:
    if text in SUITES:
        return SUITES[text]
    wanted = [name.strip() for name in text.split(",")]
    unknown = [name for name in wanted if name not in PROBES]
    if unknown:
        raise ReportError(
            f"--probes: there is no {printable(unknown[0])!r}; choose quick, full, or among "
            f"{', '.join(PROBES)}"
        )
    return tuple(key for key in PROBES if key in wanted)


def _make_room(out: Path, replace: bool) -> None:
    """An empty folder. What is not an earlier demonstration is never touched."""
    try:
        if os.path.lexists(out) and not out.is_dir():
            raise ReportError(f"{printable(str(out))}: is not a folder; name another with --out")
        there = out.is_dir() and any(out.iterdir())
        if not there:
            return
        if not (out / truth.EVENTS).is_file() or not _is_ours(out / truth.README):
            raise ReportError(
                f"{printable(str(out))}: is not empty and no demonstration; name another folder "
                "with --out"
            )
        if not replace:
            raise ReportError(
                f"{printable(str(out))}: holds a demonstration already; --replace makes it anew, "
                "--out names another folder"
            )
        shutil.rmtree(out)
    except OSError as error:
        raise _not_written(out, error) from error


def _is_ours(readme: Path) -> bool:
    return readme.is_file() and readme.read_bytes().startswith(truth.TITLE.encode())


def _not_written(out: Path, error: OSError) -> ReportError:
    return ReportError(f"{printable(str(out))}: cannot be written: {reason_of(error)}")


def _command(plan: Plan, probes: str) -> str:
    nodes = len({c.node for c in plan.cards})
    words = ["bandgate-report", "demo", "--nodes", nodes, "--gpus", len(plan.cards) // nodes]
    words += ["--nights", plan.nights, "--probes", probes, "--seed", plan.seed]
    words += ["--end", f"{plan.over:%Y-%m-%dT%H:%M:%SZ}"]
    return shlex.join(str(w) for w in words)
