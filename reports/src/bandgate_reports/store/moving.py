# SPDX-License-Identifier: Apache-2.0
"""Clears what a store holds out of the way, without losing any of it."""

import filecmp
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path


def move(files: Iterable[Path], roots: Sequence[Path], target: Path) -> int:
    """Moves files below `target`, as they lay below their roots; the number moved.

    Nothing there is ever overwritten: another file of that name gets a number. Raises OSError.
    """
    moved = 0
    for file in files:
        place = target / _below(file, roots)
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists() and filecmp.cmp(file, place, shallow=False):
            file.unlink()
        else:
            _move(file, _free(place))
        moved += 1
    return moved


def _move(file: Path, place: Path) -> None:
    """Also to another file system, where a full disk or a kill must not leave half of it."""
    partial = place.with_name(f".{place.name}.part")
    try:
        shutil.move(file, partial)
        partial.rename(place)
    except BaseException:
        if file.exists():
            partial.unlink(missing_ok=True)
        raise


def _below(file: Path, roots: Sequence[Path]) -> Path:
    for root in roots:
        if file != root and file.is_relative_to(root):
            return file.relative_to(root)
    return Path(file.name)


def _free(place: Path) -> Path:
    number = 2
    free = place
    while free.exists():
        free = place.with_name(f"{place.stem}-{number}{place.suffix}")
        number += 1
    return free
