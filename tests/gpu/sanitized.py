#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every probe under compute-sanitizer, memcheck and racecheck: one launch of a small size, since
under it time is no measure.

    sanitized.py BANDGATE [PROBE ...]

Exit code: 0 no error in any, 1 otherwise, 77 without a GPU or without compute-sanitizer.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
from typing import Any

SKIPPED = 77
FOUND = 99
TOOLS = ("memcheck", "racecheck")
# The smallest that large caches leave, and loads that every GPU has.
VALUES = {
    "elements": str(1 << 26),
    "size": "1GiB",
    "slice": "256MiB",
    "span": "1024",
    "vector": "2",
}


def choices(parameter: dict[str, Any]) -> list[str]:
    """The values of a parameter that are other code: all that it names, or a small size."""
    name = parameter["name"]
    if parameter["kind"] == "choice":
        return [f"{name}={choice}" for choice in parameter["choices"]]
    return [f"{name}={VALUES[name]}"] if name in VALUES else []


def cases(probes: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [probe["name"], *words]
        for probe in probes
        if probe["gpu"]
        for words in itertools.product(*filter(None, map(choices, probe["parameters"])))
    ]


def sanitized(sanitizer: str, tool: str, command: list[str]) -> str:
    """What was wrong; empty: nothing."""
    options = ["--tool", tool, "--target-processes", "all", "--error-exitcode", str(FOUND)]
    ended = subprocess.run(
        [sanitizer, *options, *command], capture_output=True, text=True, check=False
    )
    clean = re.search(r"(ERROR SUMMARY: 0 errors|SUMMARY: 0 hazards)", ended.stdout)
    if ended.returncode == 0 and clean and "PROFILED" in ended.stdout:
        return ""
    return f"exit {ended.returncode}\n{ended.stdout}{ended.stderr}"


def main() -> int:
    bandgate, *names = sys.argv[1:]
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    gpus = subprocess.run(
        [bandgate, "devices", "--backend", "cuda"], capture_output=True, text=True, check=False
    ).stdout.count("GPU-")
    if not gpus or not shutil.which(sanitizer):
        print("no GPU, or no compute-sanitizer")
        return SKIPPED
    listed = subprocess.check_output([bandgate, "list", "--json"], text=True)
    probes = [p for p in json.loads(listed)["probes"] if not names or p["name"] in names]
    runs = list(itertools.product(cases(probes), TOOLS))
    if gpus < 2:
        print("one GPU: the transfers between two are left out")
        runs = [(case, tool) for case, tool in runs if not case[0].startswith("p2p_")]

    clean = 0
    for case, tool in runs:  # one after the other: a card in use is not measured
        wrong = sanitized(sanitizer, tool, [bandgate, "run", *case, "--profile"])
        print(f"{tool} {' '.join(case)}: {wrong or 'clean'}", flush=True)
        clean += not wrong
    print(f"{clean} of {len(runs)} clean")
    return 0 if runs and clean == len(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
