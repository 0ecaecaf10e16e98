#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `read` finds a small loss on this card, every time.

Records a baseline of the card and of its board part in fresh processes, checks the undisturbed
card, then checks again while a few of its processors stream beside the measured kernel, in its own
process (a preloaded library), and counts how often the verdict is a regression.

    disturbed.py BANDGATE DISTURB_INSIDE [--runs N] [--alone N] [--processors N] [--device N]

Exit code: 0 every disturbed run found and no undisturbed one, 1 otherwise, 77 without a GPU.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SKIPPED = 77


def run(command: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | more
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def check(options: argparse.Namespace, baselines: Path, **more: str) -> dict[str, Any]:
    """The last attempt of one `check read`, which has the verdict."""
    command = [options.bandgate, "check", "read", "--json", "--results", "none"]
    command += ["--device", options.device, "--baselines", str(baselines)]
    ended = run(command, **more)
    if not ended.stdout.startswith("{"):
        sys.exit(f"{' '.join(command)}: exit {ended.returncode}\n{ended.stdout}{ended.stderr}")
    record: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
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
    options: argparse.Namespace, baselines: Path, title: str, runs: int, **more: str
) -> list[dict[str, Any]]:
    records = [check(options, baselines, **more) for _ in range(runs)]
    values = [r["measurement"]["median"] for r in records]
    statuses = collections.Counter(r["verdict"]["status"] for r in records)
    codes = collections.Counter(
        reason["code"] for r in records for reason in r["verdict"]["reasons"]
    )
    middle = statistics.median(values)
    spread = " .. ".join(f"{v / 2**30:.1f}" for v in (min(values), middle, max(values)))
    print(f"{title}: {len(values)} runs, {spread} GiB/s, {dict(statuses)} {dict(codes)}")
    sys.stdout.flush()
    return records


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bandgate")
    parser.add_argument("inside", type=Path)
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
        beside = series(
            options,
            baselines,
            f"beside {options.processors} streaming SMs",
            options.runs,
            LD_PRELOAD=str(options.inside.resolve()),
            DISTURB_PROCESSORS=str(options.processors),
        )
    found = sum(r["verdict"]["status"] == "regression" for r in beside)
    false = sum(r["verdict"]["status"] != "pass" for r in alone)
    print(f"found {found} of {len(beside)}, false {false} of {len(alone)}")
    bounds = {"card": 0.995 * known["card"], "model": 0.99 * known["model"]}
    for who, bound in bounds.items():
        below = sum(r["measurement"]["median"] < bound for r in beside)
        print(f"{who} entry, bound {bound / 2**30:.1f} GiB/s: {below} of {len(beside)} below it")
        found = min(found, below)
    return 0 if found == len(beside) and false == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
