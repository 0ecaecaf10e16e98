# SPDX-License-Identifier: Apache-2.0
"""Loads results from files and stores into one table."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from bandgate_reports.store import dataset, tables
from bandgate_reports.store.dataset import EVERYTHING, Wanted
from bandgate_reports.store.found import Skipped, result_files
from bandgate_reports.store.reading import Spread, here, read_all
from bandgate_reports.store.tables import Positions


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
    del batches, read
    rows = np.arange(len(merged))
    if found or len(stores) > 1:  # a store holds nothing twice
        rows = distinct(merged)
    duplicates = len(merged) - len(rows)
    conflicts = conflicts_in(merged, rows)
    scripted = 0
    if not include_scripted:
        codes, backends = tables.decoded(merged.column("backend"))
        kept = rows[~np.isin(codes[rows], [i for i, b in enumerate(backends) if b == "scripted"])]
        scripted = len(rows) - len(kept)
        rows = kept
    results = tables.to_pandas(merged, in_order(merged, rows))
    return Loaded(results, len(found), tuple(skipped), conflicts, duplicates, scripted)


def distinct(table: pa.Table) -> Positions:
    """Positions of the first of those that say the same."""
    keys = pd.DataFrame({c: table.column(c).to_pandas() for c in ("id", "digest")})
    return np.flatnonzero(~keys.duplicated().to_numpy())


def conflicts_in(table: pa.Table, rows: Positions) -> tuple[Conflict, ...]:
    """Ids with several meanings among `rows`, which hold nothing twice."""
    ids = table.column("id").to_pandas()
    shared = rows[ids.iloc[rows].duplicated(keep=False).to_numpy()]
    files: dict[str, list[str]] = {}
    for row in table.select(["id", "file"]).take(pa.array(shared)).to_pylist():
        files.setdefault(row["id"], []).append(row["file"])
    return tuple(Conflict(i, tuple(f)) for i, f in sorted(files.items()))


def in_order(table: pa.Table, rows: Positions) -> Positions:
    """`rows` by start; what starts at once by invocation, attempt, id and file."""
    started = table.column("started").cast(pa.int64()).to_numpy()[rows]
    order = np.argsort(started, kind="stable")
    if not (started[order][1:] == started[order][:-1]).any():
        return np.asarray(rows[order], dtype=np.int64)
    codes, groups = tables.decoded(table.column("group"))
    group = np.argsort(sorted(range(len(groups)), key=groups.__getitem__))[codes[rows]]
    attempt = table.column("attempt").to_numpy()[rows]
    keys = (attempt, group, started)
    order = np.lexsort(keys)
    at_once = np.logical_and.reduce([k[order][1:] == k[order][:-1] for k in keys])
    if at_once.any():
        tied = np.flatnonzero(np.append(at_once, False) | np.append([False], at_once))
        by = ["started", "group", "attempt", "id", "file"]
        few = table.select(by).take(pa.array(rows[order[tied]])).to_pandas()
        few["group"] = few["group"].astype("str")
        order[tied] = order[tied][few.sort_values(by, kind="stable").index.to_numpy()]
    return np.asarray(rows[order], dtype=np.int64)
