# SPDX-License-Identifier: Apache-2.0
"""Results to measure reports with, those of `bandgate-report demo`.

    python benchmarks/make_results.py files FOLDER 10000    # a file each
    python benchmarks/make_results.py store FOLDER 1e6      # a store of about that many

A node of 7 GPUs, 8 probes and 180 nights has 10 080, and a few second attempts. More results are
more nodes, beyond ten of them copies of those ten under other names.
"""

import argparse
import sys
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from bandgate_reports.demo import values, write
from bandgate_reports.demo.documents import documents
from bandgate_reports.demo.plan import Wish, planned
from bandgate_reports.store import dataset

END = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
GPUS = 7
OF_A_NODE = GPUS * 8 * 180
MADE_NODES = 10  # that are really made

# In these columns a copy differs from what it was made from.
RENAMED = ("host", "node", "uuid", "group", "serial", "boot_id")
UNIQUE = ("id", "digest", "file")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=("files", "store"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("number", type=float)
    options = parser.parse_args()
    make = files if options.what == "files" else store
    sys.stdout.write(f"{make(options.folder, int(options.number))}\n")


def files(folder: Path, number: int) -> int:
    """As the tool would have left them."""
    wish = Wish(END, nodes=-(-number // OF_A_NODE), gpus=GPUS)
    made = documents(values.made(planned(wish)))
    return write.as_files(folder, islice(made, number))


def store(folder: Path, number: int) -> int:
    nodes = max(1, round(number / OF_A_NODE))
    wish = Wish(END, nodes=min(nodes, MADE_NODES), gpus=GPUS)
    table = pa.concat_tables(write.tables(wish, wish.nights)).unify_dictionaries()
    dataset.create(folder)
    with dataset.locked(folder):
        writer = dataset.Writer(folder)
        copies = -(-nodes // MADE_NODES)
        for copy in range(copies):
            writer.add(copied(table, copy))
        writer.commit()
    return copies * len(table)


def copied(table: pa.Table, number: int) -> pa.Table:
    """The same results of other nodes; number 0 is the table itself."""
    if number == 0:
        return table
    mark = f"-{number:02d}"
    for name in (*RENAMED, *UNIQUE):
        chunks = [
            pa.DictionaryArray.from_arrays(c.indices, _marked(c.dictionary, mark))
            if name in RENAMED
            else _marked(c, mark)
            for c in table.column(name).chunks
        ]
        place, field = table.schema.get_field_index(name), table.schema.field(name)
        table = table.set_column(place, field, pa.chunked_array(chunks, field.type))
    return table


def _marked(texts: pa.Array, mark: str) -> pa.Array:
    """Not the empty ones: they say that something is not known."""
    none = pa.scalar("", texts.type)
    longer = pc.binary_join_element_wise(texts, pa.scalar(mark, texts.type), none)
    return pc.if_else(pc.equal(texts, none), texts, longer)


if __name__ == "__main__":
    main()
