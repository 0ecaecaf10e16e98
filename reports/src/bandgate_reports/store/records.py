# SPDX-License-Identifier: Apache-2.0
"""One result document as one row, and the columns of the table of results."""

import json
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

# What the recorded environment is made of; a change of any is marked in a history.
ENVIRONMENT: dict[str, tuple[str, str, str]] = {
    # column: (section, key, what people call it)
    "driver": ("device", "driver_version", "driver"),
    "runtime": ("device", "runtime_version", "runtime"),
    "vbios": ("device", "vbios", "VBIOS"),
    "ecc": ("device", "ecc", "ECC"),
    "mig": ("device", "mig_profile", "MIG profile"),
    "board_part": ("device", "board_part", "board part"),
    "power_limit_w": ("device", "power_limit_w", "power limit"),
    "power_limit_default_w": ("device", "power_limit_default_w", "default power limit"),
    "memory_bytes": ("device", "memory_bytes", "memory"),
    "memory_clock_mhz": ("device", "memory_clock_mhz", "memory clock"),
    "dimm_mts": ("device", "dimm_mts", "DIMM speed"),
    "virtualization": ("device", "virtualization", "virtualisation"),
    "persistence_mode": ("device", "persistence_mode", "persistence mode"),
    "compute_mode": ("device", "compute_mode", "compute mode"),
    "numa_node": ("device", "numa_node", "NUMA node"),
    "numa_nodes": ("device", "numa_nodes", "NUMA nodes"),
    "pci_address": ("device", "pci_address", "PCI address"),
    "serial": ("device", "serial", "serial number"),
    "host": ("run", "host", "host"),
    "kernel": ("run", "kernel", "kernel"),
    "kernel_module_flavour": ("run", "kernel_module_flavour", "kernel module"),
    "gsp_version": ("run", "gsp_version", "GSP firmware"),
    "fabric_manager": ("run", "fabric_manager", "fabric manager"),
    "bios": ("run", "bios", "BIOS"),
    "product": ("run", "product", "machine"),
    "container_image": ("run", "container_image", "container image"),
    "tool_version": ("run", "tool_version", "tool"),
    "tool_build": ("run", "tool_build", "tool build"),
}

_UNITS = {
    "power_limit_w": " W",
    "power_limit_default_w": " W",
    "memory_bytes": " B",
    "memory_clock_mhz": " MHz",
    "dimm_mts": " MT/s",
}

# What makes it another piece of hardware, or the same one set up as another.
CONFIGURATION = ("ecc", "mig", "board_part", "power_limit_w")

# Of these nearly every one is another.
UNIQUE_TEXTS = ("file", "id", "digest")
_TEXTS = (
    *UNIQUE_TEXTS,
    "group",
    "host",
    "node",
    "boot_id",
    "backend",
    "device",
    "uuid",
    "pci_address",
    "pci_device",
    "pci_subsystem",
    "cpu_model",
    "probe",
    "parameters",
    "unit",
    "status",
    "statistic",
    "baseline_file",
    "baseline_kind",
    "failure_code",
    "failure_message",
    "skip_reason",
    "next_step",
    "stamp_flag",
)
NUMBERS = (
    "duration_s",
    "median",
    "peak",
    "worst",
    "drop",
    "dram_peak",
    "processors",
    "pcie_generation",
    "pcie_width",
    "bytes_per_pass",
    "reference",
    "lower",
    "upper",
    "ratio",
)
INTEGERS = ("attempt", "version")
FLAGS = ("unstable", "generic", "card_entry", "lower_is_better", "verified", "unsettled", "demo")
# more: a map of named values; parts: the series of a measurement or None.
OBJECTS = ("reasons", "notes", "more", "parts")

COLUMNS: tuple[str, ...] = tuple(
    dict.fromkeys(
        [*_TEXTS, "started", *NUMBERS, *INTEGERS, *FLAGS, *OBJECTS, *ENVIRONMENT],
    )
)


def _known(value: object, unit: str = "") -> str:
    """A recorded fact as text; "" where it is not known."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value}{unit}"


# Parameters that count something; every other whole number is a size in bytes.
_COUNTS = ("span", "elements", "blocks", "threads", "seconds", "duration", "index", "width")


def parameter_text(name: str, value: object) -> str:
    """A parameter as people write it: 64MiB, 2^20 elements, 30."""
    if isinstance(value, int) and not isinstance(value, bool):
        if name in _COUNTS:
            power = value.bit_length() - 1
            return f"2^{power}" if value == 1 << power >= 1 << 13 else str(value)
        for power, suffix in ((40, "TiB"), (30, "GiB"), (20, "MiB")):
            if value and value % (1 << power) == 0:
                return f"{value >> power}{suffix}"
    return str(value)


def _binding(baselines: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The baseline to show: one that does not hold, else the card's, else the model's."""

    def order(b: Mapping[str, Any]) -> tuple[bool, bool]:
        value = b["reference"] * b["ratio"]
        lower, upper = b["lower"], b["upper"]
        holds = (lower is None or value >= lower) and (upper is None or value <= upper)
        return (holds, not b["card"])

    return min(baselines, key=order)


def _under_load(health: Mapping[str, Any], name: str) -> float | None:
    """A number that was read while the device worked; None where it was not."""
    field = health["load"].get(name)
    known = field is not None and field["state"] == "ok" and isinstance(field["value"], int | float)
    return field["value"] if known else None


def _verdict(verdict: Mapping[str, Any]) -> dict[str, Any]:
    baselines = list(verdict["baselines"])
    shown = _binding(baselines) if baselines else {}
    return {
        "status": verdict["status"],
        "unstable": verdict["unstable"],
        "next_step": verdict["next_step"],
        "reasons": tuple((r["code"], r["sentence"]) for r in verdict["reasons"]),
        "reference": shown.get("reference"),
        "lower": shown.get("lower"),
        "upper": shown.get("upper"),
        "ratio": shown.get("ratio"),
        "statistic": shown.get("statistic", ""),
        "baseline_file": shown.get("file", ""),
        "baseline_kind": shown.get("kind", ""),
        "generic": bool(shown.get("generic", False)),
        "card_entry": bool(shown.get("card", False)),
    }


def row(document: Mapping[str, Any], file: str) -> dict[str, Any]:
    """A document that holds to the schema, flattened. `started` is parsed later."""
    run, device, probe = document["run"], document["device"], document["probe"]
    measured: Mapping[str, Any] = document["measurement"] or {}
    failure: Mapping[str, Any] = document["failure"] or {}
    parameters = dict(sorted(probe["parameters"].items()))
    return {
        "file": file,
        "id": run["id"],
        "group": run["group_id"],
        "duration_s": run["duration_s"],
        "attempt": run["attempt"],
        "node": run["node"] or run["host"],
        "boot_id": run["boot_id"],
        "backend": device["backend"],
        "device": device["name"],
        # What `bandgate-report demo` makes up is never to be taken for a measurement.
        "demo": run["labels"].get("demo") == "synthetic",
        "uuid": device["uuid"],
        "pci_device": device["pci_device"],
        "pci_subsystem": device["pci_subsystem"],
        "processors": device["processors"],
        "pcie_generation": _under_load(document["health"], "pcie_generation"),
        "pcie_width": _under_load(document["health"], "pcie_width"),
        "cpu_model": device["cpu_model"],
        "probe": probe["name"],
        "version": probe["version"],
        "parameters": json.dumps(parameters, sort_keys=True),
        "unit": measured.get("unit", ""),
        "median": measured.get("median"),
        "peak": measured.get("peak"),
        "worst": measured.get("worst"),
        "drop": measured.get("drop"),
        "verified": measured.get("verified", False),
        "unsettled": measured.get("unsettled", False),
        "more": {m["name"]: m["value"] for m in measured.get("more", ())},
        "parts": measured.get("series"),
        "notes": tuple(document["notes"]),
        "bytes_per_pass": measured.get("bytes_per_pass"),
        "dram_peak": device["peak_bytes_per_second"],
        "lower_is_better": probe["lower_is_better"],
        "failure_code": failure.get("code", ""),
        "failure_message": failure.get("message", ""),
        "skip_reason": document["skip_reason"],
        **_verdict(document["verdict"]),
        **{c: _known(document[s][k], _UNITS.get(c, "")) for c, (s, k, _) in ENVIRONMENT.items()},
    }


def each(table: pd.DataFrame) -> Iterator[Any]:
    """The rows, columns as attributes; pandas knows no types for them."""
    return iter(table.itertuples(index=False))


def each_by_series(table: pd.DataFrame) -> dict[Hashable, list[Any]]:
    """The rows of every series, in one pass: pandas is slow at many small tables."""
    found: dict[Hashable, list[Any]] = {}
    for one in each(table):
        found.setdefault(one.series, []).append(one)
    return found
