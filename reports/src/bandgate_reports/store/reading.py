# SPDX-License-Identifier: Apache-2.0
"""From the bytes of results to rows of the table: the step that can be done anywhere, in any order.

A batch of files becomes one Arrow table, on this processor, on another, or on another machine.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from bandgate_reports.store import records, schema, tables
from bandgate_reports.store.found import Skipped, read_bytes, reason_of
from bandgate_reports.store.stamps import parse_stamp
from bandgate_reports.store.strict_json import TOO_DEEP, NotJson, parse

# Large enough that handing over costs nothing beside reading, small enough to share out evenly.
FILES_AT_ONCE = 500


@dataclass(frozen=True)
class Batch:
    rows: pa.Table  # as tables.SCHEMA
    skipped: tuple[Skipped, ...]


# Applies a function to batches and gives the answers in their order.
Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


def batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of `size` (itertools has it from Python 3.12 on)."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def here(function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterable[Any]:
    """One after the other in this process."""
    return map(function, batches)


def row_of(data: bytes, file: str) -> dict[str, Any]:
    """One result's row. Raises NotJson or ValueError with the reason that it is none."""
    try:
        return row_of_document(parse(data), file)
    except RecursionError:  # the reader took it, and what looks into it does not
        raise NotJson(TOO_DEEP) from None


# JSON of parts that many documents share, by their identity; with the part, so that it stays one.
_Shared = dict[int, tuple[Any, str]]


def _said(document: dict[str, Any], shared: _Shared) -> str:
    """As JSON, keys in order: device and health are long, and the same in many documents."""
    left = sorted(document)
    parts = []
    for key in ("device", "health"):
        at, part = left.index(key), document[key]
        if id(part) not in shared:
            shared[id(part)] = (part, _compact(part))
        if at:
            parts.append(_compact({k: document[k] for k in left[:at]})[1:-1])
        parts.append(f'"{key}":{shared[id(part)][1]}')
        left = left[at + 1 :]
    if left:
        parts.append(_compact({k: document[k] for k in left})[1:-1])
    return f"{{{','.join(parts)}}}"


_compact = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def row_of_document(document: Any, file: str, shared: _Shared | None = None) -> dict[str, Any]:
    """`shared`: of documents that are in memory together and have equal parts in common."""
    complaint = schema.complaint(document)
    if complaint:
        raise ValueError(complaint)
    text = document["run"]["started"]
    started = parse_stamp(text)
    if started is None:
        raise ValueError(f"/run/started: {text} is no time; expected 2026-11-29T02:10:03Z")
    # Of what it says, not of its bytes: spaces and the order of keys make no other result.
    said = _compact(document) if shared is None else _said(document, shared)
    digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    row = records.row(document, file)
    return row | {"digest": digest, "started": started.utc, "stamp_flag": started.flag}


def _named(path: Path) -> str:
    """A file's name as text: what is no UTF-8 in it could be stored in no table."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_files(paths: Sequence[Path]) -> Batch:
    rows, skipped = [], []
    for path in paths:
        try:
            rows.append(row_of(read_bytes(path), _named(path)))
        except (OSError, NotJson, ValueError) as error:
            skipped.append(Skipped(str(path), reason_of(error)))
    return Batch(tables.to_arrow(rows), tuple(skipped))


def read_lines(lines: Iterable[bytes], name: str) -> Iterator[Batch]:
    """JSON Lines, one result a line; lines are counted from 1, empty ones are none."""
    for numbered in batched(enumerate(lines, 1), FILES_AT_ONCE * 10):
        rows, skipped = [], []
        for number, line in numbered:
            if not line.strip():
                continue
            try:
                rows.append(row_of(line.strip(), f"{name}, line {number}"))
            except (NotJson, ValueError) as error:
                skipped.append(Skipped(f"{name}, line {number}", reason_of(error)))
        yield Batch(tables.to_arrow(rows), tuple(skipped))


def read_documents(documents: Iterable[Any], name: str) -> Iterator[Batch]:
    """Documents that are in memory already, such as made-up ones, and stay as they are."""
    for numbered in batched(enumerate(documents, 1), FILES_AT_ONCE * 10):
        shared: _Shared = {}
        rows = [row_of_document(d, f"{name}, {n}", shared) for n, d in numbered]
        yield Batch(tables.to_arrow(rows), ())


def read_all(paths: Iterable[Path], spread: Spread = here) -> Iterator[Batch]:
    yield from spread(read_files, batched(paths, FILES_AT_ONCE))
