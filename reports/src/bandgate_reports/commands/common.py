# SPDX-License-Identifier: Apache-2.0
"""What all commands share: options, reading, printing, whole files, errors that people can use."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TextIO

import typer

from bandgate_reports import store
from bandgate_reports.demo import mark
from bandgate_reports.render import as_json, markdown, terminal
from bandgate_reports.section import Section
from bandgate_reports.store.cluster import on_cluster
from bandgate_reports.store.reading import here
from bandgate_reports.store.stamps import parse_stamp
from bandgate_reports.text import count, listed, printable
from bandgate_reports.units import RateUnit

Results = Annotated[list[Path], typer.Argument(metavar="RESULTS", help="Result folders or files.")]
Scripted = Annotated[
    bool, typer.Option("--include-scripted", help="Take the results of scripted devices too.")
]
Unit = Annotated[RateUnit, typer.Option("--unit", help="Unit of rates.")]
Now = Annotated[
    str | None,
    typer.Option("--now", metavar="TIME", help="Take this for the present (RFC 3339)."),
]

Since = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="TIME", help="Only results that started then or later (RFC 3339)."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="NAME", help="Only this GPU model, by its full name; repeats."),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Read on this Dask cluster."),
]


class ReportError(Exception):
    """Ends with exit code 2: the message names the place, the reason and the remedy."""


def moment(text: str | None, option: str = "--now") -> datetime:
    if text is None:
        return datetime.now(UTC)
    stamp = parse_stamp(text)
    if stamp is None:
        raise ReportError(f"{option} {printable(text)}: not a time; write 2026-11-29T06:00:00Z")
    return stamp.utc


def read(
    paths: list[Path],
    *,
    include_scripted: bool,
    since: str | None = None,
    models: list[str] | None = None,
    scheduler: str | None = None,
) -> store.Loaded:
    """The results in files, folders and stores; of stores only the parts that are asked for."""
    for path in paths:
        if not os.path.lexists(path):
            raise ReportError(
                f"{printable(str(path))}: there is no such file or folder; name the one that "
                "`bandgate check --results` wrote to"
            )
    wanted = store.Wanted(
        since=moment(since, "--since") if since is not None else None,
        models=frozenset(models) if models else None,
    )
    with on_cluster(scheduler) if scheduler else nullcontext(here) as spread:
        loaded = store.load(paths, include_scripted=include_scripted, wanted=wanted, spread=spread)
    if models and loaded.results.empty:
        _refuse_unknown(models, store.load(paths, include_scripted=True))
    return loaded


def _refuse_unknown(models: list[str], everything: store.Loaded) -> None:
    """A model that nobody has is a slip of the pen, and must not look like a quiet night."""
    known = sorted({printable(str(m)) for m in everything.results["device"].unique()})
    unknown = [m for m in models if m not in known]
    if unknown and known:
        raise ReportError(
            f"--model {printable(unknown[0])}: no result is of that model; there are "
            f"{listed(known, 10)}"
        )


def notice(loaded: store.Loaded) -> str:
    """What a reader has to know of where the results come from; "" for nothing."""
    if loaded.scripted_left_out:
        left = count(loaded.scripted_left_out, "result")
        return f"{left} of scripted devices left out; --include-scripted takes them."
    return mark.notice(loaded.results)


def nothing_valid(loaded: store.Loaded) -> bool:
    return bool(loaded.skipped) and loaded.results.empty and not loaded.scripted_left_out


def write_atomically(path: Path, data: bytes | Iterable[bytes]) -> None:
    """The whole file or none: a reader, or a full disk, never leaves half a page.

    Of the parts of a large file only one is in memory.
    """
    parts = (data,) if isinstance(data, bytes) else data
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            path.write_bytes(b"".join(parts))  # /dev/stdout, a pipe: never put a file in its place
        else:
            _replace(Path(os.path.realpath(path)), parts)  # of a link: what it points to
    except OSError as error:
        reason = store.reason_of(error)
        raise ReportError(
            f"{printable(str(path))}: cannot be written: {reason}; make room or name another place"
        ) from error


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not with the file's own suffix: who watches a folder for it would read half a file.
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(parts)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def say(text: str | Iterable[bytes]) -> None:
    """UTF-8 whatever the locale: the output is a file for a CI system more often than a screen."""
    if sys.stdout is None:
        raise ReportError("standard output: is closed; lead it to a file or to /dev/null")
    try:
        for part in (text.encode(),) if isinstance(text, str) else text:
            left = memoryview(part)
            while left:  # with PYTHONUNBUFFERED it is content with what there is room for
                left = left[sys.stdout.buffer.write(left) or 0 :]
        sys.stdout.buffer.flush()
    except OSError as error:
        give_up(sys.stdout)
        if isinstance(error, BrokenPipeError):  # `| head` has read enough
            return
        reason = store.reason_of(error)
        raise ReportError(f"standard output: {reason}; what was printed is not whole") from error


def warn(text: str) -> None:
    """On standard error. Never raises: where nobody can be told, the exit code still says it."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:
        give_up(sys.stderr)


def on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def flush() -> None:
    """What is left of standard output; never raises."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        give_up(sys.stdout)


def give_up(stream: TextIO) -> None:
    """What is left in its buffer would fail again, with exit code 120, when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tell(loaded: store.Loaded, where: str = "") -> None:
    """Names what was skipped, and where the output is, on standard error."""
    tell_skipped(loaded.skipped)
    if where:
        warn(where)


def tell_skipped(skipped: Sequence[store.Skipped]) -> None:
    for one in skipped[:20]:
        warn(f"skipped {printable(one.file)}: {printable(one.reason)}")
    if (more := len(skipped) - 20) > 0:
        warn(f"skipped {count(more, 'more file')}")
    if skipped:
        warn("skipped files are in no report: move them away, or let a user read them who may")


class Format(StrEnum):
    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"


As = Annotated[Format, typer.Option("--format", help="Of what goes to standard output.")]


def show(section: Section, form: Format) -> None:
    """A section on standard output: in colour and as wide as it is on a terminal."""
    if form is Format.JSON:
        say(as_json.render(section))
    elif form is Format.MARKDOWN:
        say(markdown.render(section))
    else:
        width = shutil.get_terminal_size((120, 50)).columns
        colour = on_terminal() and not os.environ.get("NO_COLOR")
        say(terminal.render(section, width=width, colour=colour))
