# SPDX-License-Identifier: Apache-2.0
"""bandgate-report baseline."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Annotated

import typer

from bandgate_reports import store
from bandgate_reports.analysis import series, trial
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import (
    As,
    Format,
    Models,
    Now,
    ReportError,
    Results,
    Scheduler,
    Scripted,
    Since,
    moment,
    nothing_valid,
    notice,
    read,
    show,
    tell,
    warn,
)
from bandgate_reports.text import printable
from bandgate_reports.views import baseline as view

baseline = typer.Typer(
    no_args_is_help=True,
    short_help="Rehearse a change of baselines.",
    help="Rehearse a change of baselines.\n\n"
    "Example: bandgate-report baseline try new.json results",
)


@baseline.callback()
def _group() -> None:
    """Without it a group of one command would be that command."""


@baseline.command("try", short_help="What changed baselines would have said of stored results.")
def try_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The changed baselines: a file or a folder.")
    ],
    results: Results,
    baselines: Annotated[
        list[Path] | None,
        typer.Option(
            "--baselines",
            help="More baselines, searched after FILE and before $BANDGATE_BASELINES, the site's "
            "and the shipped ones; may repeat.",
        ),
    ] = None,
    executable: Annotated[
        str, typer.Option("--executable", metavar="PATH", help="The program that judges.")
    ] = "bandgate",
    nights: Annotated[
        int | None, typer.Option("--nights", min=1, help="Only the newest N days of the history.")
    ] = None,
    fail: Annotated[
        bool,
        typer.Option("--fail", help="Exit 1 where something would fail that did not fail then."),
    ] = False,
    form: As = Format.TABLE,
    include_scripted: Scripted = False,
    since: Since = None,
    models: Models = None,
    scheduler: Scheduler = None,
    now: Now = None,
) -> None:
    """The verdicts that changed baselines would have given over stored results, by the same gate
    as `bandgate check`. Exit code 0 once that is known (1 with --fail), 4 if FILE is for none.

    Example: bandgate-report baseline try new.json results
    """
    at = moment(now)
    program = found(executable)
    loaded = read(
        results, include_scripted=include_scripted, since=since, models=models, scheduler=scheduler
    )
    asked, never = trial.history(series.identify(loaded.results, at), nights)
    arguments = [program, "baseline", "try", str(file)]
    for more in baselines or ():
        arguments += ["--baselines", str(more)]
    try:
        tried = trial.answered(asked, answers(arguments, trial.lines(asked)), str(file))
    except trial.Unanswered as error:
        raise ReportError(
            f"{printable(program)}: {printable(str(error))}; use the bandgate of this version"
        ) from error
    said = view.Asked(str(file), never, notice(loaded), fail)
    section = view.section(tried, trial.counted(tried), said)
    show(section, form)
    tell(loaded)
    raise typer.Exit(Exit.ERROR if nothing_valid(loaded) else section.exit)


def found(executable: str) -> str:
    program = shutil.which(executable)
    if program is None:
        where = "is no program that can be run" if os.sep in executable else "is not on the PATH"
        raise ReportError(
            f"{printable(executable)}: {where}; install bandgate, or name the program with "
            "--executable PATH"
        )
    return program


def answers(arguments: list[str], lines: Iterable[str]) -> Iterator[str]:
    """What the program answers, line by line. Its errors, which name file and place, are ours."""
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(  # noqa: S603 - the program that was asked for
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            reason = store.reason_of(error)
            raise ReportError(f"{printable(arguments[0])}: cannot be run: {reason}") from error
        assert process.stdin is not None  # noqa: S101 - pipes, as asked for above
        assert process.stdout is not None  # noqa: S101
        writer = threading.Thread(target=_write, args=(process.stdin, lines), daemon=True)
        writer.start()
        try:
            yield from process.stdout
        finally:
            process.stdout.close()
            code = process.wait()
            writer.join()
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace").strip()
        if code != 0:
            raise ReportError(_reason(said, code, arguments[0]))
        if said:
            warn(printable_lines(said))


def _write(stream: IO[str], lines: Iterable[str]) -> None:
    try:
        with stream:
            stream.writelines(lines)
    except BrokenPipeError:
        pass  # it ended early, and its exit code says why


def _reason(said: str, code: int, program: str) -> str:
    last = said.splitlines()[-1] if said else ""
    if code < 0:
        return f"{printable(program)}: was ended by signal {-code}"
    reason = last.removeprefix("bandgate: ")
    return printable(reason) or f"{printable(program)}: ended with exit code {code}"


def printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.splitlines())
