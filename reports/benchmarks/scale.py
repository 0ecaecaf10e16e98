# SPDX-License-Identifier: Apache-2.0
"""What reports cost as results grow: prints one table, has no thresholds.

    python benchmarks/scale.py                      # 10^4, 10^5, 10^6 results
    python benchmarks/scale.py --sizes 10000,100000 --work /tmp/scale

Results are those of `bandgate-report demo`: 7 GPUs, 8 probes, 180 nights are the unit of 10 080;
more results are more nodes, from 100 nodes on copies of ten under other names. With --work the
stores are kept and used again. Every command runs in a process of its own: wall and processor
seconds, the peak of its resident memory, and the size of the page that it wrote.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from bandgate_reports.demo import values, write
from bandgate_reports.demo.documents import documents
from bandgate_reports.demo.plan import Wish, planned
from bandgate_reports.store import dataset

END = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
NOW = f"{END:%Y-%m-%dT%H:%M:%SZ}"
UNIT = 7 * 8 * 180  # results of a node
MADE_NODES = 10  # that are really made; more are copies of them
FILES = 10_000

# In these columns a copy differs from what it was made from.
RENAMED = ("host", "node", "uuid", "group", "serial", "boot_id")
UNIQUE = ("id", "digest", "file")


@dataclass(frozen=True)
class Cost:
    what: str
    results: int
    wall_s: float
    processor_s: float
    peak_mib: float
    page_mib: float | None
    code: int

    def line(self) -> str:
        page = "" if self.page_mib is None else f"{self.page_mib:9.2f}"
        return (
            f"{self.what:<28}{self.results:>10}{self.wall_s:>9.1f}{self.processor_s:>9.1f}"
            f"{self.peak_mib:>10.0f}{page:>9}{self.code:>6}"
        )


HEAD = (
    f"{'command':<28}{'results':>10}{'wall s':>9}{'cpu s':>9}"
    f"{'peak MiB':>10}{'page MiB':>9}{'exit':>6}"
)


def main() -> None:
    options = _options()
    sys.stdout.write(HEAD + "\n")
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for cost in measured(work, options.sizes, options.commands):
            sys.stdout.write(cost.line() + "\n")
            sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    numbers = lambda text: [int(float(n)) for n in text.split(",")]  # noqa: E731
    parser.add_argument("--sizes", type=numbers, default=[10**4, 10**5, 10**6])
    parser.add_argument("--work", type=Path, help="keeps the stores there and uses them again")
    parser.add_argument(
        "--commands",
        type=lambda text: text.split(","),
        default=["ingest", "trend", "changes", "fleet"],
    )
    return parser.parse_args()


def measured(work: Path, sizes: Sequence[int], commands: Sequence[str]) -> Iterator[Cost]:
    there = [c for c in commands if _exists(c)]
    if missing := [c for c in commands if c not in there]:
        sys.stdout.write(f"left out, no such command: {', '.join(missing)}\n")
    if "ingest" in there:
        folder = files(work / "files")
        target = Path(tempfile.mkdtemp(dir=work, prefix="ingested-")) / "store"
        yield run(["ingest", str(folder), "--store", str(target)], FILES)
    for size in sizes:
        began = time.perf_counter()
        folder, number, made = store(work, size)
        if made:
            yield Cost(
                "(made)", number, time.perf_counter() - began, _own_cpu(), _own_peak(), None, 0
            )
        for command in there:
            if command == "trend":
                out = Path(tempfile.mkdtemp(dir=work, prefix="report-"))
                words = ["trend", str(folder), "--out", str(out), "--now", NOW]
                yield run(words, number, out / "index.html")
            elif command != "ingest":
                yield run([command, str(folder), "--now", NOW], number)


def files(folder: Path) -> Path:
    """As many result files as the tool would have left."""
    if not folder.is_dir():
        wish = Wish(END, nodes=1, gpus=7, nights=180)
        made = documents(values.made(planned(wish)))
        write.as_files(folder, (d for d, _ in zip(made, range(FILES), strict=False)))
    return folder


def store(work: Path, size: int) -> tuple[Path, int, bool]:
    """A store of about that many results, how many there are, and whether it is new."""
    nodes = max(1, round(size / UNIT))
    folder = work / f"store-{nodes}"
    if dataset.is_store(folder):
        return folder, sum(p.rows for p in dataset.parts_of(folder)), False
    wish = Wish(END, nodes=min(nodes, MADE_NODES), gpus=7)
    table = pa.concat_tables(write.tables(wish, wish.nights)).unify_dictionaries()
    dataset.create(folder)
    with dataset.locked(folder):
        writer = dataset.Writer(folder)
        number = 0
        for copy in range(-(-nodes // MADE_NODES)):
            writer.add(copied(table, copy))
            number += len(table)
        writer.commit()
    return folder, number, True


def copied(table: pa.Table, number: int) -> pa.Table:
    """The same results of other nodes; number 0 is the table itself."""
    if number == 0:
        return table
    mark = f"-{number:02d}"
    for name in (*RENAMED, *UNIQUE):
        column = table.column(name).combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0)
        if name in RENAMED:
            texts = _marked(column.dictionary, mark)
            changed: pa.Array = pa.DictionaryArray.from_arrays(column.indices, texts)
        else:
            changed = _marked(column, mark)
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(name), changed.cast(column.type))
    return table


def _marked(texts: pa.Array, mark: str) -> pa.Array:
    """Not the empty ones: they say that something is not known."""
    known = pc.not_equal(texts, "")
    longer = pc.binary_join_element_wise(
        texts, pa.scalar(mark, texts.type), pa.scalar("", texts.type)
    )
    return pc.if_else(known, longer, texts)


def _exists(command: str) -> bool:
    words = [sys.executable, "-m", "bandgate_reports", command, "--help"]
    done = subprocess.run(words, capture_output=True, check=False)  # noqa: S603
    return done.returncode == 0


def run(words: list[str], results: int, page: Path | None = None) -> Cost:
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        started = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "bandgate_reports", *words],
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if started.returncode not in (0, 1, 4):
            sys.stderr.write(said.read().decode(errors="replace"))
    wall = time.perf_counter() - began
    written = page.stat().st_size / 2**20 if page is not None and page.is_file() else None
    cpu = used.ru_utime + used.ru_stime
    peak = used.ru_maxrss / 1024  # KiB on Linux
    return Cost(words[0], results, wall, cpu, peak, written, started.returncode)


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _own_peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
