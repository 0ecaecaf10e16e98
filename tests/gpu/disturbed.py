#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `read` finds a small loss on this card, every time.

Records a baseline of the card and of its board part in fresh processes, checks the undisturbed
card, then streams on a few processors beside it and checks again. Another process on the card is
itself a reason not to judge, so a run counts as found when its value is beyond the bound, and the
statuses are printed beside it.

    disturbed.py BANDGATE DISTURB [--runs N] [--alone N] [--processors N] [--device N]

Exit code: 0 every disturbed run found and no undisturbed one, 1 otherwise, 77 without a GPU.
"""

from __future__ import annotations

import argparse
import collections
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SKIPPED = 77


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(options: argparse.Namespace, baselines: Path) -> dict[str, Any]:
    """The first attempt of one `check read`."""
    command = [options.bandgate, "check", "read", "--json", "--results", "none"]
    ended = run([*command, "--device", options.device, "--baselines", str(baselines)])
    if not ended.stdout.startswith("{"):
        sys.exit(f"{' '.join(command)}: exit {ended.returncode}\n{ended.stdout}{ended.stderr}")
    record: dict[str, Any] = json.loads(ended.stdout.splitlines()[0])
    if record["measurement"] is None:
        sys.exit(f"nothing measured: {record['failure']} {record['skip_reason']}")
    return record


def reference(baselines: Path) -> dict[str, float]:
    """The recorded value of the card and of the model, B/s."""
    found = {}
    for file in baselines.glob("*.json"):
        for entry in json.loads(file.read_text())["entries"]:
            found["card" if "card" in entry else "model"] = entry["value"] * 2**30
    return found


def series(
    options: argparse.Namespace, baselines: Path, title: str, runs: int
) -> list[float]:
    records = [check(options, baselines) for _ in range(runs)]
    values = [r["measurement"]["median"] for r in records]
    statuses = collections.Counter(r["verdict"]["status"] for r in records)
    first = [r["verdict"]["reasons"][:1] for r in records]
    codes = collections.Counter(reason[0]["code"] for reason in first if reason)
    middle = statistics.median(values)
    spread = " .. ".join(f"{v / 2**30:.1f}" for v in (min(values), middle, max(values)))
    print(f"{title}: {len(values)} runs, {spread} GiB/s, {dict(statuses)} {dict(codes)}")
    sys.stdout.flush()
    return values


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bandgate")
    parser.add_argument("disturb")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--alone", type=int, default=20, metavar="N", help="undisturbed runs")
    parser.add_argument("--processes", default="10", help="of the recordings")
    parser.add_argument("--processors", type=int, default=4)
    parser.add_argument("--device", default="0")
    options = parser.parse_args()
    if run([options.bandgate, "devices", "--backend", "cuda"]).stdout.count("GPU-") == 0:
        print("no GPU")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        baselines = Path(folder)
        record = [options.bandgate, "baseline", "record", "read", "--device", options.device]
        record += ["--processes", options.processes]
        for more in ([], ["--per-card"]):
            ended = run([*record, *more, "--to", folder, "--yes"])
            if ended.returncode != 0:
                sys.exit(f"recording failed: {ended.stdout}{ended.stderr}")
        known = reference(baselines)
        print({k: f"{v / 2**30:.2f} GiB/s" for k, v in known.items()})
        alone = series(options, baselines, "alone", options.alone)
        with subprocess.Popen(
            [options.disturb, str(options.processors), options.device],
            stdout=subprocess.PIPE,
            text=True,
        ) as other:
            try:
                assert other.stdout is not None
                other.stdout.readline()
                title = f"beside {options.processors} streaming SMs"
                beside = series(options, baselines, title, options.runs)
            finally:
                other.kill()
    bounds = {"card": 0.995 * known["card"], "model": 0.99 * known["model"]}
    wrong = 0
    for who, bound in bounds.items():
        found = sum(v < bound for v in beside)
        false = sum(v < bound for v in alone)
        wrong += len(beside) - found + false
        print(
            f"{who} entry, bound {bound / 2**30:.1f} GiB/s: found {found} of {len(beside)}, "
            f"false {false} of {len(alone)}"
        )
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
