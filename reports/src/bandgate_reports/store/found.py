# SPDX-License-Identifier: Apache-2.0
"""Where results lie: files and folders walked, stores recognised, bytes read safely."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# The file that makes a folder a store (see dataset.py).
MARKER = "bandgate-store.json"

# Ten times the largest result with a map of a whole card's memory.
LARGEST_FILE = 64 << 20


@dataclass(frozen=True)
class Skipped:
    """A file that holds no result, and why."""

    file: str
    reason: str


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
        data: bytes | None = stream.read(LARGEST_FILE + 1)
    if data is None:  # a file of the kernel that is regular by its name only
        raise OSError(errno.EINVAL, "not a regular file")
    if len(data) > LARGEST_FILE:  # it grew, or its size is not known (/proc)
        raise OSError(errno.EFBIG, f"larger than {LARGEST_FILE >> 20} MiB")
    return data


def result_files(
    paths: Iterable[Path], skipped: list[Skipped], stores: list[Path] | None = None
) -> Iterator[Path]:
    """Every *.json below the folders, and the files named themselves; each once, in order.

    Names that begin with a dot are somebody's temporary files. A folder that cannot be read is
    added to `skipped`, a store to `stores`, and neither is entered.
    """
    seen_folders: set[tuple[int, int]] = set()
    seen_files: set[str] = set()
    for path in paths:
        if not path.is_dir():
            found: Iterator[Path] = iter([path])
        else:
            found = _below(path, seen_folders, skipped, [] if stores is None else stores)
        for file in found:
            real = os.path.realpath(file)
            if real not in seen_files:
                seen_files.add(real)
                yield file


def _below(
    folder: Path, seen: set[tuple[int, int]], skipped: list[Skipped], stores: list[Path]
) -> Iterator[Path]:
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
        if any(entry.name == MARKER for entry in entries):
            stores.append(folder)
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
