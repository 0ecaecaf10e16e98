# SPDX-License-Identifier: Apache-2.0
"""Result files into a store: what is new is added, what is known is counted, nothing is lost."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from bandgate_reports.store import dataset, reading, tables
from bandgate_reports.store.found import Skipped

# Rows of one write: enough for parts worth having, few enough for any machine's memory.
_ROWS_AT_ONCE = 50_000

_KNOWN_BY = ["id", "digest", "file"]


@dataclass(frozen=True)
class Clash:
    """An id that several results use with different values; all of them are in the store."""

    id: str
    files: tuple[str, ...]


@dataclass
class Ingested:
    """What became of what was read."""

    added: int = 0
    duplicates: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)


class _Known:
    """The results of a store by id."""

    def __init__(self, folder: Path, skipped: list[Skipped]) -> None:
        """A part that cannot be read is added to `skipped`: it stays, for whoever repairs it."""
        self.tables_: list[pa.Table] = []
        for part in dataset.parts_of(folder):
            try:
                self.tables_.append(dataset.read_part(folder / part.file, _KNOWN_BY))
            except dataset.UNREADABLE as error:
                skipped.append(Skipped(str(folder / part.file), dataset.broken_part(error)))

    def of(self, ids: pa.Array) -> pd.DataFrame:
        """Id, digest and file of those known by one of these ids."""
        found = [t.filter(pc.is_in(t.column("id"), value_set=ids)) for t in self.tables_]
        return _texts(pa.concat_tables([*found, tables.to_arrow([]).select(_KNOWN_BY)]))

    def add(self, table: pa.Table) -> None:
        self.tables_.append(table.select(_KNOWN_BY))


def _texts(table: pa.Table) -> pd.DataFrame:
    return pd.DataFrame({c: table.column(c).to_pandas() for c in _KNOWN_BY})


def ingest(folder: Path, batches: Iterable[reading.Batch]) -> Ingested:
    """Adds what the batches hold to the store `folder`, made if missing.

    All of it or, where writing fails, nothing. Raises StoreError and OSError.
    """
    dataset.create(folder)
    done = Ingested()
    with dataset.locked(folder):
        known = _Known(folder, done.skipped)
        writer = dataset.Writer(folder)
        try:
            _add_all(batches, known, writer, done)
            writer.commit()
        except BaseException:
            writer.abandon()
            raise
    return done


def _add_all(
    batches: Iterable[reading.Batch], known: _Known, writer: dataset.Writer, done: Ingested
) -> None:
    waiting: list[pa.Table] = []
    for batch in batches:
        done.skipped += batch.skipped
        waiting.append(batch.rows)
        if sum(map(len, waiting)) >= _ROWS_AT_ONCE:
            _add(pa.concat_tables(waiting), known, writer, done)
            waiting = []
    _add(pa.concat_tables([*waiting, tables.to_arrow([])]), known, writer, done)


def _add(table: pa.Table, known: _Known, writer: dataset.Writer, done: Ingested) -> None:
    rows = _texts(table)
    before = known.of(table.column("id").combine_chunks())
    everything = pd.concat([before, rows], ignore_index=True)
    new = ~everything.duplicated(["id", "digest"]).to_numpy()[len(before) :]
    done.duplicates += int((~new).sum())
    done.added += int(new.sum())
    everything = pd.concat([before, rows[new]], ignore_index=True)
    clashing = everything[everything["id"].duplicated(keep=False)]
    names = {c.id for c in done.clashes}
    for key, group in clashing.groupby("id", sort=True):
        if key not in names:
            done.clashes.append(Clash(str(key), tuple(group["file"])))
    fresh = table.take(pa.array(np.flatnonzero(new)))
    if len(fresh):
        writer.add(fresh.unify_dictionaries())
        known.add(fresh)


def ingest_documents(folder: Path, documents: Iterable[Any], name: str) -> Ingested:
    """Documents in memory; `name` stands for the file in what is said of them."""
    return ingest(folder, reading.read_documents(documents, name))
