# SPDX-License-Identifier: Apache-2.0
"""Reads result files. The only module that opens them."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from bandgate_reports.store import records, schema
from bandgate_reports.store.stamps import Stamp, parse_stamp
from bandgate_reports.store.strict_json import NotJson, parse

# Ten times the largest result with a map of a whole card's memory.
LARGEST_FILE = 64 << 20


@dataclass(frozen=True)
class Skipped:
    """A file that holds no result, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class Conflict:
    """One id in several files with different values. All of them are in the table."""

    id: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Loaded:
    """What was found in the folders."""

    results: pd.DataFrame
    files: int  # looked at
    skipped: tuple[Skipped, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    duplicates: int = 0
    scripted_left_out: int = 0


@dataclass
class _Reading:
    """The state of one load()."""

    include_scripted: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    by_id: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)
    files: int = 0
    duplicates: int = 0
    scripted: int = 0

    def take(self, path: Path) -> None:
        self.files += 1
        file = str(path)
        try:
            data = read_bytes(path)
            document = parse(data)
        except (OSError, NotJson) as error:
            self.skipped.append(Skipped(file, reason_of(error)))
            return
        complaint = schema.complaint(document)
        if complaint:
            self.skipped.append(Skipped(file, complaint))
            return
        started = parse_stamp(document["run"]["started"])
        if started is None:
            text = document["run"]["started"]
            self.skipped.append(Skipped(file, f"/run/started: {text} is no time"))
            return
        self._keep(file, data, document, started)

    def _keep(self, file: str, data: bytes, document: dict[str, Any], started: Stamp) -> None:
        digest = hashlib.sha256(data).digest()
        earlier = self.by_id.setdefault(document["run"]["id"], [])
        if any(digest == seen or _same_document(f, document) for f, seen in earlier):
            self.duplicates += 1
            return
        earlier.append((file, digest))
        if document["device"]["backend"] == "scripted" and not self.include_scripted:
            self.scripted += 1
            return
        row = records.row(document, file)
        self.rows.append(row | {"started": started.utc, "stamp_flag": started.flag})


def reason_of(error: Exception) -> str:
    """An error's reason without the path, which is named beside it."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error)


def read_bytes(path: Path) -> bytes:
    """A regular file's bytes. Never blocks on a pipe, never reads what cannot be a result."""
    # Non-blocking from the start: between a check and an open the file may become a pipe.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if about.st_size > LARGEST_FILE:
            raise OSError(errno.EFBIG, f"larger than {LARGEST_FILE >> 20} MiB")
        data = stream.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:  # it grew, or its size is not known (/proc)
        raise OSError(errno.EFBIG, f"larger than {LARGEST_FILE >> 20} MiB")
    return data


def _same_document(file: str, document: dict[str, Any]) -> bool:
    """Whether a file read before says the same in other bytes (spaces, order of keys)."""
    try:
        return bool(parse(read_bytes(Path(file))) == document)
    except (OSError, NotJson):
        return False


def result_files(paths: Iterable[Path], skipped: list[Skipped]) -> Iterator[Path]:
    """Every *.json below the folders, and the files named themselves; each once, in order.

    Names that begin with a dot are somebody's temporary files. A folder that cannot be read is
    added to `skipped`.
    """
    seen_folders: set[tuple[int, int]] = set()
    seen_files: set[str] = set()
    for path in paths:
        if not path.is_dir():
            found: Iterator[Path] = iter([path])
        else:
            found = _below(path, seen_folders, skipped)
        for file in found:
            real = os.path.realpath(file)
            if real not in seen_files:
                seen_files.add(real)
                yield file


def _below(folder: Path, seen: set[tuple[int, int]], skipped: list[Skipped]) -> Iterator[Path]:
    waiting = [folder]
    while waiting:
        folder = waiting.pop()
        try:
            about = folder.stat()
            key = (about.st_dev, about.st_ino)
            if key in seen:  # a loop of links, or a folder named twice
                continue
            seen.add(key)
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda e: e.name)
        except OSError as error:
            skipped.append(Skipped(str(folder), reason_of(error)))
            continue
        folders = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if _is_folder(entry):
                folders.append(folder / entry.name)
            elif entry.name.endswith(".json"):
                yield folder / entry.name
        waiting.extend(reversed(folders))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def load(paths: Iterable[Path], *, include_scripted: bool = False) -> Loaded:
    """Reads the results in files and folders. What is broken is listed, never raised.

    Scripted devices are rehearsals: their results are counted and left out unless asked for.
    """
    reading = _Reading(include_scripted)
    for path in result_files(paths, reading.skipped):
        reading.take(path)
    conflicts = tuple(
        Conflict(run_id, tuple(file for file, _ in files))
        for run_id, files in sorted(reading.by_id.items())
        if len(files) > 1
    )
    table = records.table(reading.rows).sort_values(
        ["started", "group", "attempt", "id", "file"], kind="stable", ignore_index=True
    )
    return Loaded(
        table,
        reading.files,
        tuple(reading.skipped),
        conflicts,
        reading.duplicates,
        reading.scripted,
    )
