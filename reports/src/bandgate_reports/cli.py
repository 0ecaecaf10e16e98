# SPDX-License-Identifier: Apache-2.0
"""The command `bandgate-report`: the only place that prints, writes files and sets exit codes."""

import os
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bandgate_reports import __version__, curves_text, drawing, html, markdown, store, trend
from bandgate_reports.stamps import parse_stamp
from bandgate_reports.text import count, printable
from bandgate_reports.units import RateUnit
from bandgate_reports.verdicts import Exit

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Reports from the result files of bandgate. Exit codes: 0 ok, 1 regression found, "
    "2 error, 4 cannot tell.",
)


class ReportError(Exception):
    """Ends with exit code 2: the message names the place, the reason and the remedy."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bandgate-report {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print it and exit."),
    ] = False,
) -> None:
    del version  # handled by its callback


def _moment(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    stamp = parse_stamp(text)
    if stamp is None:
        raise ReportError(f"--now {printable(text)}: not a time; write 2026-11-29T06:00:00Z")
    return stamp.utc


def _read(paths: list[Path], include_scripted: bool) -> store.Loaded:
    for path in paths:
        if not os.path.lexists(path):
            raise ReportError(f"{printable(str(path))}: there is no such file or folder")
    return store.load(paths, include_scripted=include_scripted)


def write_atomically(path: Path, data: bytes) -> None:
    """The whole file or none: a reader, or a full disk, never leaves half a page."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=path.suffix, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = store.reason_of(error)
        raise ReportError(f"{printable(str(path))}: cannot be written: {reason}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _print(text: str) -> None:
    """UTF-8 whatever the locale: the output is a file for a CI system more often than a screen."""
    if sys.stdout is None:
        raise ReportError("standard output: is closed")
    try:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    except OSError as error:
        # What is left in the buffer would fail again, with exit code 120, when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # `| head` has read enough
            return
        raise ReportError(f"standard output: {store.reason_of(error)}") from error


def _tell(loaded: store.Loaded, where: str) -> None:
    console = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
    for skipped in loaded.skipped[:20]:
        console.print(f"skipped {printable(skipped.file)}: {printable(skipped.reason)}")
    if (more := len(loaded.skipped) - 20) > 0:
        console.print(f"skipped {count(more, 'more file')}")
    console.print(where)


@app.command("trend")
def trend_command(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS...", help="Result folders or files.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for index.html; made if missing.")],
    include_scripted: Annotated[
        bool, typer.Option("--include-scripted", help="Show results of scripted devices too.")
    ] = False,
    unit: Annotated[RateUnit, typer.Option("--unit", help="Unit of rates.")] = RateUnit.GIB_S,
    now: Annotated[
        str | None,
        typer.Option("--now", metavar="TIME", help="Take this for the present (RFC 3339)."),
    ] = None,
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

    Example: bandgate-report trend results --out report
    """
    moment = _moment(now)
    loaded = _read(results, include_scripted)
    report = trend.build(loaded, moment, unit)
    page = out / "index.html"
    write_atomically(page, html.render(report).encode())
    _print(markdown.render(report))
    _tell(loaded, f"report: {page}")
    code = Exit.ERROR if _nothing_valid(loaded) else report.summary.exit
    raise typer.Exit(0 if exit_zero else code)


def _nothing_valid(loaded: store.Loaded) -> bool:
    return bool(loaded.skipped) and loaded.results.empty and not loaded.scripted_left_out


@app.command("curves")
def curves_command(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS...", help="Result folders or files.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the figures; made if missing.")],
    include_scripted: Annotated[
        bool, typer.Option("--include-scripted", help="Draw results of scripted devices too.")
    ] = False,
    unit: Annotated[RateUnit, typer.Option("--unit", help="Unit of rates.")] = RateUnit.GIB_S,
    now: Annotated[
        str | None,
        typer.Option("--now", metavar="TIME", help="Take this for the present (RFC 3339)."),
    ] = None,
) -> None:
    """Figures and their data in --out, what they show on stdout: gather and scatter against span,
    reads against window and blocks, peer matrices, memory maps, rates over time. Exit code 4 if
    there is nothing to draw.

    Example: bandgate-report curves results --out figures
    """
    moment = _moment(now)
    loaded = _read(results, include_scripted)
    drawn = drawing.draw(loaded.results, moment, unit)
    for file in drawn.files:
        write_atomically(out / file.name, file.data)
    text = curves_text.render(drawn)
    if loaded.scripted_left_out:
        left = count(loaded.scripted_left_out, "result")
        text += f"\n{left} of scripted devices left out; --include-scripted draws them\n"
    _print(text)
    _tell(loaded, f"figures: {out}" if drawn.files else "nothing to draw")
    if _nothing_valid(loaded):
        raise typer.Exit(Exit.ERROR)
    raise typer.Exit(Exit.OK if drawn.files else Exit.CANNOT_TELL)


def main() -> None:
    try:
        app()
    except ReportError as error:
        Console(stderr=True, markup=False, highlight=False, soft_wrap=True).print(
            f"bandgate-report: {error}"
        )
        sys.exit(int(Exit.ERROR))
    except Exception:
        # Python's own exit code would be 1, which says that a card has lost bandwidth.
        traceback.print_exc()
        sys.stderr.write(
            "bandgate-report: this is a fault of the program, not a verdict on any device; report "
            "it with the lines above and the result files\n"
        )
        sys.exit(int(Exit.ERROR))
