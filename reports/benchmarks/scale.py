# SPDX-License-Identifier: Apache-2.0
"""What reports cost as results grow: prints one table, has no thresholds.

    python benchmarks/scale.py                           # 10^4, 10^5, 10^6 results
    python benchmarks/scale.py --sizes 1e4,1e5 --commands trend --work /tmp/scale

Every command runs in a process of its own: wall and processor seconds, the peak of its resident
memory, the size of the page that it wrote. With --work the results are kept and used again.
"""

# Few imports: what this process holds when it starts another counts as the other one's peak.
import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MAKER = Path(__file__).with_name("make_results.py")
NOW = "2026-11-30T06:00:00Z"  # as make_results.py has it
FILES = 10_000
REPORT = [sys.executable, "-m", "bandgate_reports"]
ALL = ("ingest", "trend", "changes", "fleet")


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
        page = "" if self.page_mib is None else f"{self.page_mib:.2f}"
        return (
            f"{self.what:<14}{self.results:>10}{self.wall_s:>9.1f}{self.processor_s:>9.1f}"
            f"{self.peak_mib:>10.0f}{page:>10}{self.code:>6}\n"
        )


HEAD = (
    f"{'command':<14}{'results':>10}{'wall s':>9}{'cpu s':>9}{'peak MiB':>10}{'page MiB':>10}"
    f"{'exit':>6}\n"
)


def main() -> None:
    options = _options()
    sys.stdout.write(HEAD)
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for cost in measured(work, options.sizes, options.commands):
            sys.stdout.write(cost.line())
            sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(float(n)) for n in text.split(",")],
        default=[10**4, 10**5, 10**6],
    )
    parser.add_argument("--work", type=Path, help="keeps the results there and uses them again")
    parser.add_argument("--commands", type=lambda text: text.split(","), default=ALL)
    return parser.parse_args()


def measured(work: Path, sizes: Sequence[int], commands: Sequence[str]) -> Iterator[Cost]:
    fresh = Path(tempfile.mkdtemp(dir=work, prefix="written-"))
    if "ingest" in commands:
        yield from made(work, "files", FILES)
        files = str(work / f"files-{FILES}")
        yield run("ingest", FILES, [*REPORT, "ingest", files, "--store", str(fresh / "store")])
    for size in sizes:
        yield from made(work, "store", size)
        store = str(work / f"store-{size}")
        number = int((work / f"store-{size}.count").read_text())
        for command in commands:
            words = [*REPORT, command, store, "--now", NOW]
            if command == "trend":
                out = fresh / str(size)
                yield run(command, number, [*words, "--out", str(out)], out / "index.html")
            elif command != "ingest":
                yield run(command, number, words)


def made(work: Path, what: str, number: int) -> Iterator[Cost]:
    """Makes results unless they are there from an earlier time."""
    count = work / f"{what}-{number}.count"
    if not count.is_file():
        words = [sys.executable, str(MAKER), what, str(work / f"{what}-{number}"), str(number)]
        with tempfile.TemporaryFile() as said:
            cost = run(f"({what} made)", number, words, said=said.fileno())
            said.seek(0)
            if cost.code == 0:
                count.write_bytes(said.read())
        yield cost


def run(
    what: str, results: int, words: list[str], page: Path | None = None, said: int | None = None
) -> Cost:
    began = time.perf_counter()
    out = subprocess.DEVNULL if said is None else said
    with tempfile.TemporaryFile() as errors:
        started = subprocess.Popen(words, stdout=out, stderr=errors)  # noqa: S603
        _, status, used = os.wait4(started.pid, 0)
        code = started.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        told = errors.read().decode(errors="replace")
    wall = time.perf_counter() - began
    if code not in (0, 1, 4) or "Traceback" in told:
        sys.stderr.write(told)
    written = page.stat().st_size / 2**20 if page is not None and page.is_file() else None
    peak = used.ru_maxrss / 1024  # KiB on Linux
    return Cost(what, results, wall, used.ru_utime + used.ru_stime, peak, written, code)


if __name__ == "__main__":
    main()
