# SPDX-License-Identifier: Apache-2.0
"""A store: results as Parquet files, partitioned by month and model, and a list of what is valid.

    STORE/bandgate-store.json                              the parts that count
    STORE/month=2026-11/model=NVIDIA_H200/UUID.parquet     one part

A part counts from the moment that the list names it, and the list is replaced in one step: a kill,
a full disk or a power cut leaves the store as it was before or after, never in between. Readers
take no lock; writers take one.
"""

import fcntl
import hashlib
import json
import os
import re
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bandgate_reports.store import tables
from bandgate_reports.store.found import MARKER, Skipped, reason_of
from bandgate_reports.store.strict_json import parse

SCHEMA = "bandgate.store/1"

# A partition of more parts than this is rewritten as one: a part a night would be 30 a month.
MOST_PARTS = 8
_LOCK_SECONDS = 60.0
# What reading a damaged part may raise; a name of a column can be no UTF-8 any more.
UNREADABLE = (OSError, ValueError, KeyError, pa.ArrowException)
_PART = re.compile(r"month=[^/\0]+/model=[^/\0]+/[^/\0]+\.parquet")


class StoreError(ValueError):
    """A store that cannot be used: names file, reason and remedy."""


@dataclass(frozen=True)
class Part:
    file: str  # below the store's folder
    month: str  # of the results' start, UTC: "2026-11"
    model: str
    rows: int


@dataclass(frozen=True)
class Wanted:
    """What a query needs; None for everything."""

    since: datetime | None = None
    models: frozenset[str] | None = None

    def part(self, part: Part) -> bool:
        in_time = self.since is None or part.month >= f"{self.since:%Y-%m}"
        # Without a model: of a part that could not be read when the list was made anew.
        return in_time and (self.models is None or part.model in {"", *self.models})

    def rows(self, table: pa.Table) -> pa.Table:
        if self.since is not None:
            first = pa.scalar(self.since, type=pa.timestamp("us", tz="UTC"))
            table = table.filter(pc.greater_equal(table.column("started"), first))
        if self.models is not None:
            names = pa.array(sorted(self.models), type=pa.large_string())
            text = table.column("device").cast(pa.large_string())
            table = table.filter(pc.is_in(text, value_set=names))
        return table


EVERYTHING = Wanted()


def is_store(folder: Path) -> bool:
    return (folder / MARKER).is_file()


def parts_of(folder: Path) -> tuple[Part, ...]:
    """The parts that count. Raises StoreError."""
    path = folder / MARKER
    try:
        listed = parse(path.read_bytes())
        schema = listed["schema"]
        parts = tuple(_part(p) for p in listed["parts"]) if schema == SCHEMA else ()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{path}: cannot be read as the list of a store: {reason_of(error)}; "
            f"`bandgate-report ingest --rebuild --store {folder}` makes it anew from the parts"
        ) from error
    if schema != SCHEMA:
        raise StoreError(
            f"{path}: its schema is {schema!r}, this program reads {SCHEMA}: "
            "use the program that wrote it, or ingest the result files into a new store"
        )
    return parts


def _part(listed: Mapping[str, Any]) -> Part:
    file = str(listed["file"])
    if not _PART.fullmatch(file):  # what is put together with others is removed
        raise ValueError(f"{file!r} is not the name of a part")
    return Part(file, str(listed["month"]), str(listed["model"]), int(listed["rows"]))


def _write_list(folder: Path, parts: Iterable[Part]) -> None:
    document = {"schema": SCHEMA, "parts": [vars(p) for p in parts]}
    _replace(folder / MARKER, json.dumps(document, indent=1).encode())


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=path.suffix, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _safe(model: str) -> str:
    """A folder's name for any model; two models never share one."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", model)[:80].strip(".") or "unknown"
    if plain == model:
        return plain
    return f"{plain}-{hashlib.sha256(model.encode('utf-8', 'replace')).hexdigest()[:8]}"


def read_part(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Raises one of UNREADABLE, also where a bit is not as it was written."""
    table = pq.read_table(
        path, columns=columns, partitioning=None, memory_map=False, page_checksum_verification=True
    )
    table.validate(full=True)  # what has no checksum may point to where nothing is
    return table if columns else tables.conform(table)


def read(
    folder: Path, skipped: list[Skipped], wanted: Wanted = EVERYTHING, spread: Any = map
) -> list[pa.Table]:
    """The parts that a query needs; a part that is broken is added to `skipped`."""
    for _ in range(5):
        parts = [p for p in parts_of(folder) if wanted.part(p)]
        found = list(spread(_try_part, [folder / p.file for p in parts]))
        gone = any(isinstance(f, FileNotFoundError) for f in found)
        if not gone or set(parts) <= set(parts_of(folder)):
            break  # else a writer has put parts together meanwhile: read its list again
    good = []
    for part, one in zip(parts, found, strict=True):
        if isinstance(one, Exception):
            skipped.append(Skipped(str(folder / part.file), broken_part(one)))
        else:
            good.append(wanted.rows(one))
    return good


def _try_part(path: Path) -> pa.Table | Exception:
    try:
        return read_part(path)
    except UNREADABLE as error:
        return error


def broken_part(error: Exception) -> str:
    text = reason_of(error).splitlines()[0][:160] if reason_of(error) else type(error).__name__
    return (
        f"a part of the store that cannot be read ({text}); its results are missing: put a copy in "
        "its place, or remove it and ingest their files again, then run ingest with --rebuild"
    )


@contextmanager
def locked(folder: Path, patience_s: float = _LOCK_SECONDS) -> Iterator[None]:
    """One writer at a time. Raises StoreError when another keeps the store."""
    path = folder / ".lock"
    with path.open("a") as stream:
        end = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise StoreError(
                        f"{path}: another ingest has kept the store for {patience_s:.0f} s; "
                        "run again when it has ended"
                    ) from None
                time.sleep(0.1)
        yield


def create(folder: Path) -> None:
    """An empty store, unless there is one. Raises StoreError where other files lie."""
    folder.mkdir(parents=True, exist_ok=True)
    strangers = sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))
    # In this order: another writer may just have made it, and its list is there before its parts.
    if strangers and not is_store(folder):
        raise StoreError(
            f"{folder}: holds {strangers[0]} and is no store; name an empty or a new folder"
        )
    with locked(folder):
        if not is_store(folder):
            _write_list(folder, ())


def _write(folder: Path, table: pa.Table, key: Mapping[str, str]) -> Part:
    """A part on the disk, which nobody reads yet."""
    name = f"month={key['month']}/model={_safe(key['model'])}"
    below = folder / name
    below.mkdir(parents=True, exist_ok=True)
    file = f"{uuid.uuid4().hex}.parquet"
    temporary = below / f"{file}.part"
    in_time = table.sort_by([("started", "ascending"), ("id", "ascending")])
    try:
        pq.write_table(
            in_time,
            temporary,
            compression="zstd",
            row_group_size=1 << 17,
            write_page_checksum=True,
        )
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(below / file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return Part(f"{name}/{file}", key["month"], key["model"], len(table))


class Writer:
    """Adds results to a store; hold its lock. Nothing counts before commit()."""

    def __init__(self, folder: Path) -> None:
        self.folder_ = folder
        self.parts_ = list(parts_of(folder))
        self.added_: list[Part] = []
        self._sweep()

    def _sweep(self) -> None:
        """What a killed writer left: parts that no list names, and lists that were not whole."""
        listed = {p.file for p in self.parts_}
        for path in self.folder_.glob("month=*/model=*/*.parquet*"):
            if str(path.relative_to(self.folder_)) not in listed:
                path.unlink(missing_ok=True)
        for path in self.folder_.glob(".*.json"):
            path.unlink(missing_ok=True)

    def add(self, table: pa.Table) -> None:
        """One part for each month and model of the rows."""
        months = pc.strftime(table.column("started"), format="%Y-%m")
        models = table.column("device").cast(pa.large_string())
        keyed = pa.table({"month": months, "model": models})
        for key in keyed.group_by(["month", "model"]).aggregate([]).to_pylist():
            same = pc.and_(pc.equal(months, key["month"]), pc.equal(models, key["model"]))
            self.added_.append(_write(self.folder_, table.filter(same), key))

    def commit(self) -> None:
        """From here on the new parts count; those that were put together are removed after."""
        self.parts_ += self.added_
        self.added_ = []
        replaced = self._compacted()
        _write_list(self.folder_, self.parts_)
        for part in replaced:
            (self.folder_ / part.file).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Leaves no part that does not count: a full disk is not made fuller."""
        for part in self.added_:
            (self.folder_ / part.file).unlink(missing_ok=True)

    def _compacted(self) -> list[Part]:
        by_key: dict[tuple[str, str], list[Part]] = {}
        for part in self.parts_:
            by_key.setdefault((part.month, part.model), []).append(part)
        replaced = []
        for (month, model), parts in by_key.items():
            if len(parts) <= MOST_PARTS:
                continue
            read_ = [_try_part(self.folder_ / p.file) for p in parts]
            if any(isinstance(r, Exception) for r in read_):
                continue  # a broken part stays named by every reader, and is not lost silently
            whole = pa.concat_tables([r for r in read_ if isinstance(r, pa.Table)])
            key = {"month": month, "model": model}
            self.added_.append(_write(self.folder_, whole.unify_dictionaries(), key))
            replaced += parts
        gone = set(replaced)
        self.parts_ = [p for p in self.parts_ if p not in gone] + self.added_
        self.added_ = []
        return replaced


def rebuild(folder: Path) -> int:
    """Names every part in the list again; the number of them. Hold the lock.

    What a killed writer had put together lies there twice: the larger part counts. One that cannot
    be read keeps its place, and is named by every reader.
    """
    found: list[Part] = []
    readable: list[tuple[Part, pa.Table]] = []
    for path in sorted(folder.glob("month=*/model=*/*.parquet")):
        month = path.parent.parent.name.removeprefix("month=")
        file, table = str(path.relative_to(folder)), _try_part(path)
        if isinstance(table, Exception):
            found.append(Part(file, month, "", 0))
        elif len(table):
            model = str(table.column("device")[0].as_py())
            readable.append((Part(file, month, model, len(table)), table.select(["id", "digest"])))
    known: set[tuple[str, str]] = set()
    for part, table in sorted(readable, key=lambda r: -r[0].rows):
        keys = list(zip(*(table.column(c).to_pylist() for c in ("id", "digest")), strict=True))
        new = [key not in known for key in keys]
        known.update(keys)
        if all(new):
            found.append(part)
        elif any(new):
            rest = read_part(folder / part.file).filter(pa.array(new))
            found.append(_write(folder, rest, {"month": part.month, "model": part.model}))
    _write_list(folder, found)
    return len(found)
