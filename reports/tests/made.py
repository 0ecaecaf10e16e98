# SPDX-License-Identifier: Apache-2.0
"""Results made up for tests: plausible, repeatable, never shipped."""

import copy
import json
import random
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

GIB = 2.0**30
Document = dict[str, Any]

_RUN_TEXTS = (
    "boot_id kernel kernel_module_flavour gsp_version fabric_manager bios product container_image "
    "scheduler_job ci_system ci_job ci_commit tool_build"
)
_DEVICE_TEXTS = (
    "name uuid pci_address pci_device pci_subsystem board_part serial compute_capability "
    "mig_profile mig_parent virtualization vbios driver_version runtime_version persistence_mode "
    "compute_mode cpu_model"
)
_DEVICE_NUMBERS = (
    "memory_bytes bus_width_bits memory_clock_mhz peak_bytes_per_second processors "
    "last_level_cache_bytes ecc power_limit_w power_limit_default_w numa_node sockets numa_nodes "
    "dimm_mts"
)


def uuid7(at: datetime, chance: random.Random) -> str:
    bits = (int(at.timestamp() * 1000) & (2**48 - 1)) << 80 | chance.getrandbits(80)
    bits = bits & ~(0xF << 76) | 7 << 76
    return str(uuid.UUID(int=bits & ~(0x3 << 62) | 0x2 << 62))


@dataclass(frozen=True)
class Gpu:
    name: str
    node: str
    pci: str
    uuid: str
    driver: str = "580.95.05"
    vbios: str = "96.00.D9.00.01"
    board_part: str = "692-2G520-0282-001"
    ecc: bool | None = True
    backend: str = "cuda"
    kernel: str = "6.1.0-28-amd64"
    tool: str = "0.1.0"


@dataclass(frozen=True)
class Probe:
    name: str
    reference: float  # GiB/s
    lower: float = -0.01
    upper: float | None = 0.01
    version: int = 1
    parameters: dict[str, int | str] = field(default_factory=lambda: {"buffer": 4 << 30})


H200 = Gpu("NVIDIA H200", "n017", "0000:1b:00.0", "GPU-5f0c9d52-7a11-4c65-9d0e-0c4b7d5e1a01")
READ = Probe("read", 4302.0)


def result(
    gpu: Gpu = H200,
    probe: Probe = READ,
    at: datetime = datetime(2026, 11, 28, 2, 10, tzinfo=UTC),
    value: float | None = 4301.5,
    status: str = "pass",
    *,
    attempt: int = 1,
    group: str = "",
    unstable: bool = False,
    judged: bool = True,
    reasons: Iterable[tuple[str, str]] = (),
    next_step: str = "",
    failure: tuple[str, str] | None = None,
    skip_reason: str = "",
    seed: int | None = None,
) -> Document:
    """One valid document. `value` in GiB/s; `judged` says whether it names its baseline."""
    key = f"{gpu.uuid}{gpu.pci}{probe.name}{probe.parameters}{at}{attempt}{seed}"
    chance = random.Random(ascii(key))  # noqa: S311 - repeatable on purpose
    return {
        "schema": "bandgate.result/1",
        "run": {
            **dict.fromkeys(_RUN_TEXTS.split(), ""),
            "id": uuid7(at, chance),
            "group_id": group or f"{gpu.node}-{at:%Y%m%dT%H%M%S}",
            "started": at.isoformat().replace("+00:00", "Z"),
            "duration_s": 1.9,
            "attempt": attempt,
            "host": gpu.node,
            "node": "",
            "kernel": gpu.kernel,
            "labels": {},
            "tool_version": gpu.tool,
        },
        "device": {
            **dict.fromkeys(_DEVICE_TEXTS.split(), ""),
            **dict.fromkeys(_DEVICE_NUMBERS.split(), None),
            "backend": gpu.backend,
            "name": gpu.name,
            "uuid": gpu.uuid,
            "pci_address": gpu.pci,
            "board_part": gpu.board_part,
            "driver_version": gpu.driver,
            "vbios": gpu.vbios,
            "ecc": gpu.ecc,
        },
        "probe": {
            "name": probe.name,
            "version": probe.version,
            "parameters": copy.deepcopy(probe.parameters),
            "shape": {"threads": 256},
            "byte_rule": "bytes read",
            "ceiling": "dram",
            "lower_is_better": False,
            "expected_spread": 0.02,
        },
        "measurement": None if value is None else _measurement(value, chance),
        "failure": {"code": failure[0], "message": failure[1]} if failure else None,
        "skip_reason": skip_reason,
        "notes": [],
        "health": {"source": "nvml", "idle": {}, "load": {}, "change": {}, "processes": []},
        "verdict": {
            "status": status,
            "unstable": unstable,
            "baselines": [_baseline(probe, value)] if judged and value is not None else [],
            "reasons": [{"code": code, "sentence": sentence} for code, sentence in reasons],
            "next_step": next_step,
        },
    }


def _measurement(value: float, chance: random.Random) -> Document:
    base = value * GIB
    samples = [base * chance.gauss(1, 0.0006) for _ in range(20)]
    return {
        "unit": "B/s",
        "median": base,
        "peak": max(samples),
        "p05": base * 0.999,
        "p95": base * 1.001,
        "sd": base * 0.0006,
        "cv": 0.0006,
        "slope": 0.0001,
        "unsettled": False,
        "samples": samples,
        "iterations": 20,
        "bytes_per_pass": 4 << 30,
        "warm_up_s": 0.2,
        "verified": True,
        "more": [],
    }


def _baseline(probe: Probe, value: float) -> Document:
    reference = probe.reference * GIB
    return {
        "file": "built-in:nvidia-h200.json",
        "entry": "/entries/0",
        "kind": "measured",
        "statistic": "median",
        "generic": False,
        "card": False,
        "reference": reference,
        "lower": reference * (1 + probe.lower),
        "upper": None if probe.upper is None else reference * (1 + probe.upper),
        "ratio": value / probe.reference,
    }


def write(folder: Path, documents: Iterable[Document]) -> Path:
    """As the tool stores them: by day, one file each."""
    for document in documents:
        day = folder / document["run"]["started"][:10].replace("-", "/")
        day.mkdir(parents=True, exist_ok=True)
        (day / f"{document['run']['id']}.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def below(probe: Probe, value: float) -> tuple[str, str]:
    bound = probe.reference * (1 + probe.lower)
    return (
        "below-bound",
        f"{value:.1f} GiB/s is below the lower bound of {bound:.1f} GiB/s "
        f"({(value / probe.reference - 1) * 100:.1f} % of the reference {probe.reference:.1f}).",
    )


FLEET = (
    H200,
    Gpu("NVIDIA H200", "n018", "0000:3d:00.0", "GPU-9a3e1b40-22c8-4f0f-8b7e-5d1c2f6a7b02"),
    Gpu(
        "NVIDIA A100-SXM4-80GB",
        "n203",
        "0000:07:00.0",
        "GPU-c7d81f66-0be3-47a5-a1f9-3e9d8c4b5a03",
        driver="570.133.20",
        vbios="92.00.45.00.03",
        board_part="692-2G506-0212-002",
    ),
)
FACTORS = (1.0, 1.0, 0.41)  # of the H200's figures
PROBES = (READ, Probe("write", 4376.0), Probe("copy", 3997.0))


def fleet(
    nights: int = 40, end: datetime = datetime(2026, 11, 29, 2, 10, tzinfo=UTC)
) -> list[Document]:
    """Three cards, three probes, every night; one throttles, one is lost, one has no baseline."""
    chance = random.Random(20261129)  # noqa: S311
    found: list[Document] = []
    for back in range(nights - 1, -1, -1):
        for g, gpu in enumerate(FLEET):
            if (g == 1 and 16 <= back <= 19) or (g == 2 and back in (7, 25)):
                continue  # the node was away
            at = (
                end - timedelta(days=back) + timedelta(minutes=7 * g, seconds=chance.uniform(0, 90))
            )
            now = _as_of(gpu, g, back)
            for p, declared in enumerate(PROBES):
                probe = Probe(declared.name, round(declared.reference * FACTORS[g], 1))
                found += _night(now, probe, at + timedelta(seconds=4 * p), (g, p, back), chance)
    return found


def _as_of(gpu: Gpu, g: int, back: int) -> Gpu:
    """The environment of that night."""
    changed = dict(gpu.__dict__)
    if g < 2 and back < 12:
        changed["driver"] = "580.159.04"
    if g == 0 and back < 30:
        changed["kernel"] = "6.1.0-31-amd64"
    if g == 2 and back < 22:
        changed |= {"vbios": "92.00.81.00.01", "kernel": "6.1.0-31-amd64"}
    if back < 5:
        changed["tool"] = "0.1.1"
    return Gpu(**changed)


def _night(
    gpu: Gpu, probe: Probe, at: datetime, where: tuple[int, int, int], chance: random.Random
) -> list[Document]:
    g, p, back = where
    value = probe.reference * chance.gauss(1.0005, 0.0011)
    second = at + timedelta(seconds=2.2)
    group = f"{gpu.node}-{at:%Y%m%d}"
    if g == 0 and p == 0 and back < 4:  # a power cap since four nights
        low = probe.reference * chance.gauss(0.957, 0.002)
        why = [
            below(probe, low),
            (
                "power-cap",
                "The power limit is 500 W, 200 W below the card's default: the power cap "
                "was active for 92 % of the timed region.",
            ),
        ]
        step = "Set the limit back: nvidia-smi -i 0000:1b:00.0 -pl 700"
        return [
            result(gpu, probe, at, low * 1.001, "regression", group=group, reasons=why[:1]),
            result(
                gpu,
                probe,
                second,
                low,
                "regression",
                attempt=2,
                group=group,
                reasons=why,
                next_step=step,
            ),
        ]
    if g == 1 and p == 2 and back == 0:
        return [
            result(
                gpu,
                probe,
                at,
                None,
                "error",
                group=group,
                failure=(
                    "device-lost",
                    "The GPU stopped answering at sample 3 of 20 "
                    "(GPU-9a3e1b40, 0000:3d:00.0): unspecified launch failure.",
                ),
                next_step="Look for an Xid in the kernel log, then reset the GPU.",
            ),
        ]
    if g == 2 and p == 1:
        return [
            result(
                gpu,
                probe,
                at,
                value,
                "no-baseline",
                group=group,
                judged=False,
                reasons=[("no-baseline", "No entry for write in nvidia-a100-sxm4-80gb.json.")],
                next_step="bandgate baseline record write --device " + gpu.uuid,
            ),
        ]
    if (g, p) == (0, 2) and back in (0, 9, 21, 33):
        return [
            result(
                gpu,
                probe,
                at,
                probe.reference * 0.984,
                "regression",
                group=group,
                reasons=[below(probe, probe.reference * 0.984)],
            ),
            result(
                gpu,
                probe,
                second,
                value,
                "pass",
                attempt=2,
                group=group,
                unstable=True,
                reasons=[("unstable", "Low once, fine in a fresh process.")],
            ),
        ]
    if g == 2 and p == 0 and back == 14:
        return [
            result(
                gpu,
                probe,
                at,
                value * 0.995,
                "inconclusive",
                group=group,
                reasons=[("contended", "Another process computes on this device: 4711 (train).")],
            )
        ]
    return [result(gpu, probe, at, value, group=group)]
