# SPDX-License-Identifier: Apache-2.0
"""Where the documents of the demonstration go. The one place that knows how they are kept.

Nearly all into a store, as a fleet would keep them; the newest nights as result files beside it, as
nodes leave them: reports read both. And a driver on trial, with a folder a side.
"""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa

from bandgate_reports.demo import gate, values
from bandgate_reports.demo.documents import Document, documents
from bandgate_reports.demo.plan import Wish, planned
from bandgate_reports.store import dataset, reading

STORE, FILES, GATE = "store", "results", "driver-gate"  # below the demonstration's folder
AS_FILES = 2  # of the newest nights, which nobody has put into the store yet

# Below that a second process costs more than it saves.
_ALONE = 20_000
_MOST_PROCESSES = 4


def write(folder: Path, wish: Wish, told: Callable[[int], None] | None = None) -> int:
    """The number of results. Every document is held against the schema on its way. `told` hears of
    nights that are done.

    Raises OSError, and ValueError for a document that is no result: a fault of the demonstration.
    """
    older = max(0, wish.nights - AS_FILES)
    store = folder / STORE
    dataset.create(store)
    with dataset.locked(store):
        writer = dataset.Writer(store)
        found = tables(wish, older, told)
        if found:
            writer.add(pa.concat_tables(found).unify_dictionaries())
        writer.commit()
    newest = documents(values.made(planned(wish)), range(older, wish.nights))
    number = sum(len(t) for t in found) + as_files(folder / FILES, newest)
    tried = list(gate.measured(wish))
    for side in (gate.BEFORE, gate.AFTER):
        number += as_files(folder / GATE / side, (d for d in tried if gate.side(d) == side))
    return number


def as_files(folder: Path, made: Iterable[Document]) -> int:
    """As the tool stores them: by day, one file each, named by its id. How many there were."""
    number = 0
    for document in made:
        reading.row_of_document(document, "demo")  # that it is a result
        day = folder / document["run"]["started"][:10].replace("-", "/")
        day.mkdir(parents=True, exist_ok=True)
        text = json.dumps(document, separators=(",", ":"), allow_nan=False)
        (day / f"{document['run']['id']}.json").write_text(text, encoding="utf-8")
        number += 1
    return number


def tables(wish: Wish, nights: int, told: Callable[[int], None] | None = None) -> list[pa.Table]:
    number = wish.nodes * wish.gpus * len(wish.probes) * nights
    processes = min(_MOST_PROCESSES, os.cpu_count() or 1)
    if number < _ALONE or processes < 2:
        return rows(wish, range(nights))
    each = -(-nights // (4 * processes))
    parts = [range(first, min(first + each, nights)) for first in range(0, nights, each)]
    # Not forked: Arrow has threads of its own.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        found = []
        for part, answer in zip(parts, pool.map(rows, [wish] * len(parts), parts), strict=True):
            found += answer
            if told is not None:
                told(len(part))
        return found


def rows(wish: Wish, nights: range) -> list[pa.Table]:
    """The results of these nights as tables of the store."""
    made = documents(values.made(planned(wish)), nights)
    return [batch.rows for batch in reading.read_documents(made, "demo")]
