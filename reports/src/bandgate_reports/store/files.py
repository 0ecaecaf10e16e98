# SPDX-License-Identifier: Apache-2.0
"""Loads results from files and stores into one table."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from bandgate_reports.store import dataset, tables
from bandgate_reports.store.dataset import EVERYTHING, Wanted
from bandgate_reports.store.found import Skipped, result_files
from bandgate_reports.store.reading import Spread, here, read_all


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


def load(
    paths: Iterable[Path],
    *,
    include_scripted: bool = False,
    wanted: Wanted = EVERYTHING,
    spread: Spread = here,
) -> Loaded:
    """Reads the results in files, folders and stores. What is broken is listed, never raised.

    Scripted devices are rehearsals: their results are counted and left out unless asked for.
    Raises StoreError for a store whose list is broken.
    """
    skipped: list[Skipped] = []
    stores: list[Path] = []
    found = list(result_files(paths, skipped, stores))
    batches = list(read_all(found, spread))
    skipped += [s for batch in batches for s in batch.skipped]
    read = [wanted.rows(batch.rows) for batch in batches]
    for store in stores:
        read += dataset.read(store, skipped, wanted, spread)
    merged = pa.concat_tables(read) if read else tables.to_arrow([])
    # A store holds nothing twice.
    distinct = merged if not found and len(stores) < 2 else without_duplicates(merged)
    duplicates = len(merged) - len(distinct)
    conflicts = conflicts_in(distinct)
    scripted = 0
    if not include_scripted:
        kept = distinct.filter(pc.not_equal(distinct.column("backend").cast("string"), "scripted"))
        scripted = len(distinct) - len(kept)
        distinct = kept
    results = in_order(tables.to_pandas(distinct))
    return Loaded(results, len(found), tuple(skipped), conflicts, duplicates, scripted)


def without_duplicates(table: pa.Table) -> pa.Table:
    """The first of those that say the same."""
    keys = pd.DataFrame({c: table.column(c).to_pandas() for c in ("id", "digest")})
    twice = keys.duplicated().to_numpy()
    return table.filter(pa.array(~twice)) if twice.any() else table


def conflicts_in(table: pa.Table) -> tuple[Conflict, ...]:
    """Ids with several meanings. `table` holds nothing twice."""
    shared = table.column("id").to_pandas().duplicated(keep=False).to_numpy()
    if not shared.any():
        return ()
    rows = table.select(["id", "file"]).filter(pa.array(shared)).to_pylist()
    files: dict[str, list[str]] = {}
    for row in rows:
        files.setdefault(row["id"], []).append(row["file"])
    return tuple(Conflict(i, tuple(f)) for i, f in sorted(files.items()))


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """By start; what starts at once by invocation, attempt, id and file."""
    started = np.asarray(table["started"].astype("int64"))
    order = np.argsort(started, kind="stable")
    at_once = started[order][1:] == started[order][:-1]
    if at_once.any():
        tied = np.flatnonzero(np.append(at_once, False) | np.append([False], at_once))
        by = ["started", "group", "attempt", "id", "file"]
        few = table.iloc[order[tied]][by].reset_index(drop=True)
        order[tied] = order[tied][few.sort_values(by, kind="stable").index.to_numpy()]
    return table.take(order).reset_index(drop=True)
