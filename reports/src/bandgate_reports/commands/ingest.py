# SPDX-License-Identifier: Apache-2.0
"""bandgate-report ingest."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from bandgate_reports import store
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import ReportError, Scheduler, say, tell_skipped, warn
from bandgate_reports.store import dataset, moving, reading
from bandgate_reports.store.cluster import on_cluster
from bandgate_reports.store.found import MARKER
from bandgate_reports.store.ingest import Ingested
from bandgate_reports.store.ingest import ingest as into_store
from bandgate_reports.text import count, listed, printable


def default_store() -> Path:
    """$BANDGATE_STORE, else `bandgate/store` in the user's data folder."""
    if named := os.environ.get("BANDGATE_STORE"):
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    try:
        return (Path(data) if data else Path.home() / ".local" / "share") / "bandgate" / "store"
    except RuntimeError as error:  # no $HOME, and no account of this number
        raise ReportError("there is no home folder for the store; name one: --store DIR") from error


def ingest(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RESULTS",
            help="Result folders, files, other stores; - for JSON Lines on standard input.",
            show_default=False,
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="DIR",
            help="The store, made if missing. [default: $BANDGATE_STORE, else bandgate/store in "
            "your data folder]",
            show_default=False,
        ),
    ] = None,
    move: Annotated[
        Path | None,
        typer.Option(
            "--move",
            metavar="DIR",
            help="Afterwards move the files whose results the store holds to this folder.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 2 if a file was skipped; the rest is stored.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="First make the store's list anew from its parts.")
    ] = False,
    scheduler: Scheduler = None,
) -> None:
    """Puts results into a store: Parquet files by month and model, which every report reads.

    Only what is new is added; running it again does nothing.

    Example: bandgate-report ingest results --store history
    """
    folder = default_store() if into is None else into
    paths = results or []
    if not paths and not rebuild:
        raise ReportError("ingest: name the folders with results, or - for standard input")
    if move and Path("-") in paths:
        raise ReportError("--move: standard input cannot be moved; name folders")
    for path in paths:
        if path != Path("-") and not os.path.lexists(path):
            raise ReportError(f"{printable(str(path))}: there is no such file or folder")
        if move and Path(os.path.realpath(move)).is_relative_to(os.path.realpath(path)):
            raise ReportError(
                f"--move {printable(str(move))}: lies in {printable(str(path))}, from where it "
                "would be read and moved again; name a folder elsewhere"
            )
    try:
        if rebuild:
            _rebuild(folder)
        done, files = _read(folder, paths, scheduler)
    except OSError as error:
        where = error.filename or folder
        raise ReportError(
            f"{printable(str(where))}: {store.reason_of(error)}; the store is as it was before"
        ) from error
    _say(done, folder)
    if move:
        _move(files, done, paths, move)
    raise typer.Exit(Exit.ERROR if strict and done.skipped else Exit.OK)


def _rebuild(folder: Path) -> None:
    # In a folder of results a list would hide them all.
    if not (os.path.lexists(folder / MARKER) or any(folder.glob("month=*"))):
        raise ReportError(f"{printable(str(folder))}: there is no store to rebuild")
    with dataset.locked(folder):
        parts = dataset.rebuild(folder)
    say(f"rebuilt the list of {printable(str(folder))}: {count(parts, 'part')}\n")


def _read(
    folder: Path, paths: Sequence[Path], scheduler: str | None
) -> tuple[Ingested, list[Path]]:
    skipped: list[store.Skipped] = []
    stores: list[Path] = []
    named = [p for p in paths if p != Path("-")]
    files = list(store.result_files(named, skipped, stores))
    with on_cluster(scheduler) if scheduler else nullcontext(reading.here) as spread:
        done = into_store(folder, _batches(paths, files, stores, skipped, spread))
    done.skipped[:0] = skipped
    return done, files


def _batches(
    paths: Sequence[Path],
    files: Sequence[Path],
    stores: Sequence[Path],
    skipped: list[store.Skipped],
    spread: reading.Spread,
) -> Iterator[reading.Batch]:
    yield from reading.read_all(files, spread)
    for one in stores:
        for table in dataset.read(one, skipped, spread=spread):
            yield reading.Batch(table, ())
    if Path("-") in paths:
        if sys.stdin is None:
            raise ReportError("-: standard input is closed; lead JSON Lines to it, or name folders")
        yield from reading.read_lines(sys.stdin.buffer, "standard input")


def _say(done: Ingested, folder: Path) -> None:
    parts = [f"{count(done.added, 'result')} added to {printable(str(folder))}"]
    if done.duplicates:
        parts.append(f"{count(done.duplicates, 'exact duplicate')} dropped")
    if done.skipped:
        parts.append(f"{count(len(done.skipped), 'broken file')} skipped")
    say(", ".join(parts) + "\n")
    tell_skipped(done.skipped)
    for clash in done.clashes[:20]:
        files = listed([printable(f) for f in clash.files], 4)
        warn(f"id {printable(clash.id)} has several meanings, all are kept: {files}")


def _move(files: Sequence[Path], done: Ingested, roots: Sequence[Path], target: Path) -> None:
    broken = {s.file for s in done.skipped}
    whole = [f for f in files if str(f) not in broken]
    try:
        moved = moving.move(whole, roots, target)
    except OSError as error:
        raise ReportError(
            f"--move {printable(str(target))}: {printable(str(error.filename))}: "
            f"{store.reason_of(error)}; the store holds all results, run it again to move the rest"
        ) from error
    say(f"{count(moved, 'file')} moved to {printable(str(target))}\n")
