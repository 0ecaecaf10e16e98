# SPDX-License-Identifier: Apache-2.0
"""The verdicts of one run of the gate, from its result files: a table, what to do where there is no
baseline, and the exit code that is documented for them. Python's own library only."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

GIB = 2**30
JUDGED = {"pass", "improved", "regression"}
# Exit code by status, and which code speaks for several results.
CODES = {
    "pass": 0,
    "improved": 0,
    "regression": 1,
    "error": 3,
    "inconclusive": 4,
    "skipped": 77,
    "no-baseline": 77,
    "measured": 77,
}
PRECEDENCE = [3, 1, 4, 0]


def read_results(folder: Path, since: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The final attempt of each (host, device, probe, parameters) since then, and broken files."""
    final: dict[tuple[str, ...], dict[str, Any]] = {}
    broken = []
    for file in sorted(folder.glob("[0-9]*/[0-9]*/[0-9]*/*.json")):
        if "-".join(file.relative_to(folder).parts[:3]) < since[:10]:
            continue
        try:
            result = json.loads(file.read_text(encoding="utf-8"))
            run, device, probe = result["run"], result["device"], result["probe"]
            result["verdict"]["status"]
            if run["started"] < since:
                continue
            identity = device["uuid"] or device["pci_address"]
            parameters = json.dumps(probe["parameters"], sort_keys=True)
            key = (run["host"], device["backend"], identity, probe["name"], parameters)
        except (OSError, ValueError, KeyError, TypeError) as error:
            broken.append(f"{file}: {error!r}")
            continue
        final[key] = max(final.get(key, result), result, key=lambda r: r["run"]["started"])
    return [final[key] for key in sorted(final)], broken


def value_text(result: dict[str, Any], value: float | None) -> str:
    if value is None:
        return "-"
    time = (result["measurement"] or {}).get("unit") == "s"
    return f"{value * 1e6:.3f} us" if time else f"{value / GIB:.1f} GiB/s"


def bounds_text(result: dict[str, Any], baseline: dict[str, Any]) -> str:
    return f"{value_text(result, baseline['lower'])} .. {value_text(result, baseline['upper'])}"


def row(result: dict[str, Any]) -> list[str]:
    device, verdict = result["device"], result["verdict"]
    name = " ".join(filter(None, (device["pci_address"], device["name"]))) or device["backend"]
    # Where a card entry exists both must hold: the narrower one is shown.
    baseline = min(verdict["baselines"], key=lambda b: b["ratio"] if b["card"] else 9, default=None)
    measured = result["measurement"]
    judged_by = baseline.get("statistic", "median") if baseline else "median"
    status = verdict["status"] + (" (unstable)" if verdict["unstable"] else "")
    return [
        printable(name),
        result["probe"]["name"],
        value_text(result, measured and measured[judged_by]),
        value_text(result, baseline["reference"]) if baseline else "-",
        bounds_text(result, baseline) if baseline else "-",
        f"{100 * baseline['ratio']:.1f} %" if baseline else "-",
        status,
    ]


def printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def table(rows: list[list[str]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows)
    return "\n".join(lines)


def record_commands(results: list[dict[str, Any]], executable: str) -> list[str]:
    probes: dict[str, list[str]] = {}
    for result in results:
        if result["verdict"]["status"] == "no-baseline":
            of_backend = probes.setdefault(result["device"]["backend"], [])
            if result["probe"]["name"] not in of_backend:
                of_backend.append(result["probe"]["name"])
    return [
        f"{shlex.quote(executable)} baseline record {' '.join(names)} --backend {backend}"
        " --device all --yes"
        for backend, names in probes.items()
    ]


def exit_code(results: list[dict[str, Any]], strict: bool) -> int:
    """As the command line's: the first present of 3, 1, 4, 0; none of them is no judgement at all,
    which is a failure under strict."""
    codes = {CODES.get(result["verdict"]["status"], 3) for result in results}
    if strict and (77 in codes or not results):
        codes.add(4)
    return next((code for code in PRECEDENCE if code in codes), 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--since", required=True, help="RFC 3339, UTC")
    parser.add_argument("--executable", required=True)
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()

    results, broken = read_results(options.results, options.since)
    if results:
        header = ["DEVICE", "PROBE", "MEASURED", "REFERENCE", "BOUNDS", "RATIO", "VERDICT"]
        print(table([header, *map(row, results)]))
    for result in results:
        if result["verdict"]["status"] not in {"pass", "no-baseline"}:
            device = result["device"]["pci_address"] or result["device"]["backend"]
            name = f"{device} {result['probe']['name']}"
            for reason in result["verdict"]["reasons"]:
                print(printable(f"{name}: {reason['sentence']}"))
            if result["verdict"]["next_step"]:
                print(printable(f"{name}: next: {result['verdict']['next_step']}"))
    for command in record_commands(results, options.executable):
        print(f"no baseline yet; to record what this machine does now:\n  {command}")
    judged = sum(result["verdict"]["status"] in JUDGED for result in results)
    print(f"judged {judged} of {len(results)}")
    for sentence in broken:
        print(f"broken result: {sentence}", file=sys.stderr)
    return 3 if broken else exit_code(results, options.strict)


if __name__ == "__main__":
    sys.exit(main())
