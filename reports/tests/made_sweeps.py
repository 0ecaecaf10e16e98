# SPDX-License-Identifier: Apache-2.0
"""Sweeps, peer copies, maps and long runs made up for tests and for the pictures of the docs.

`python tests/made_sweeps.py DIR` writes them as result files.
"""

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from made import GIB, H200, Document, Gpu, Probe, result, write

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)
PEAK = 4483.7  # GiB/s, of an H200

H200_B = Gpu("NVIDIA H200", "n018", "0000:3d:00.0", "GPU-9a3e1b40-22c8-4f0f-8b7e-5d1c2f6a7b02")
V100 = Gpu("Tesla V100-SXM2-32GB", "n301", "0000:15:00.0", "GPU-70aa0000-0000-4000-8000-01")
A100 = Gpu("NVIDIA A100-SXM4-80GB", "n203", "0000:07:00.0", "GPU-c7d81f66-0be3-47a5-a1f9-03")


def more(name: str, unit: str, value: float | None) -> Document:
    return {"name": name, "unit": unit, "value": value}


def measured(
    gpu: Gpu,
    probe: Probe,
    value: float,
    at: datetime = AT,
    *,
    peak: float | None = PEAK,
    **keywords: Any,
) -> Document:
    """A result of `bandgate run`, value in GiB/s."""
    keywords.setdefault("status", "measured")
    keywords.setdefault("judged", False)
    document = result(gpu, probe, at, value, **keywords)
    document["device"]["peak_bytes_per_second"] = None if peak is None else peak * GIB
    return document


def gathered(
    gpu: Gpu = H200,
    probe: str = "gather",
    span: int = 1024,
    ratio: float | None = 0.5,
    *,
    copy: float = 3990.0,
    mode: str = "permutation",
    elements: int | str = "auto",
    index: str = "32",
    version: int = 1,
    at: datetime = AT,
    seed: int = 0,
) -> Document:
    parameters: dict[str, int | str] = {
        "elements": elements, "span": span, "mode": mode, "index": index, "dtype": "f64",
    }  # fmt: skip
    value = (ratio or 0.5) * copy
    made = measured(
        gpu, Probe(probe, copy, parameters=parameters, version=version), value, at, seed=seed
    )
    number = 1 << 28 if elements == "auto" else int(elements)
    made["measurement"]["bytes_per_pass"] = 16 * number
    made["measurement"]["more"] = [
        more("copy", "B/s", copy * GIB),
        more("ratio to copy", "1", ratio),
        more("traffic with index bytes", "B/s", value * GIB * 1.25),
    ]
    return made


def falling(
    powers: range, steps: Sequence[tuple[float, float, float]], start: float
) -> list[float]:
    """A curve that falls by a factor around each power: (power, factor, width in octaves)."""
    return [
        start * math.exp(sum(math.log(f) / (1 + math.exp(-(p - at) / w)) for at, f, w in steps))
        for p in powers
    ]


Falls = list[tuple[float, float, float]]  # power, factor, width in octaves


@dataclass(frozen=True)
class Shape:
    """Curves shaped like those of a card that was measured."""

    gpu: Gpu
    copy: float  # GiB/s
    curves: dict[str, tuple[float, Falls]]  # ratio at span 1, and how it falls


H200_SCATTER = [(0.4, 0.74, 0.2), (7.2, 0.5, 0.9), (19.0, 0.72, 0.6), (22.8, 0.34, 0.6)]
A100_SCATTER = [(0.4, 0.76, 0.2), (9.0, 0.65, 0.6), (19.6, 0.5, 0.3), (22.6, 0.27, 0.5)]
V100_SCATTER = [(0.4, 0.7, 0.2), (17.8, 0.84, 0.5), (19.8, 0.076, 0.42)]
SHAPES = {
    "h200": Shape(
        H200,
        3990.0,
        {
            "gather": (0.728, [(10.4, 0.66, 0.5), (22.6, 0.3, 0.55)]),
            "scatter": (0.83, H200_SCATTER),
        },
    ),
    "a100": Shape(
        A100,
        1577.0,
        {
            "gather": (0.757, [(12.2, 0.83, 1.0), (22.1, 0.21, 0.5)]),
            "scatter": (0.81, A100_SCATTER),
        },
    ),
    "v100": Shape(
        V100,
        745.0,
        {"gather": (0.792, [(13.6, 0.8, 1), (20.3, 0.142, 0.5)]), "scatter": (0.81, V100_SCATTER)},
    ),
}


def span_sweep(
    shape: str, mode: str = "permutation", powers: range = range(29), processes: int = 5
) -> list[Document]:
    gpu, copy, probes = SHAPES[shape].gpu, SHAPES[shape].copy, SHAPES[shape].curves
    chance = random.Random(shape + mode)  # noqa: S311
    found = []
    for probe, (start, steps) in probes.items():
        for p, ratio in zip(powers, falling(powers, steps, start), strict=True):
            factor = 1.0 if mode == "permutation" else 1.0 + 0.004 * p
            for process in range(processes):
                card = gpu if process < 3 or shape != "h200" else H200_B
                value = ratio * factor * chance.gauss(1, 0.008 if p < 20 else 0.015)
                at = AT + timedelta(minutes=p, seconds=10 * process)
                found.append(
                    gathered(card, probe, 1 << p, value, copy=copy, mode=mode, at=at, seed=process)
                )
    return found


def window_sweep() -> list[Document]:
    chance = random.Random(2)  # noqa: S311
    found = []
    for dtype, factor in (("f32", 0.99), ("f64", 1.0)):
        for p in range(20, 34):
            for process in range(3):
                value = 4245 * factor / (1 + 1.04 / 2.0 ** (p - 20)) * chance.gauss(1, 0.004)
                probe = Probe(
                    "read_window",
                    4210,
                    parameters={"window": 1 << p, "dtype": dtype, "layout": "coalesced"},
                )
                found.append(measured(H200, probe, value, AT + timedelta(seconds=p), seed=process))
    return found


def block_sweep() -> list[Document]:
    chance = random.Random(3)  # noqa: S311
    found = []
    for name, slope, limit in (("read_seq", 5.25, 2385.0), ("read_unroll", 17.0, 4150.0)):
        for p in range(3, 14):
            rate = slope * 2.0**p
            value = limit * rate / (limit**4 + rate**4) ** 0.25 * chance.gauss(1, 0.003)
            probe = Probe(name, limit, parameters={"size": 4 << 30, "blocks": 1 << p})
            found.append(measured(H200, probe, value, AT + timedelta(seconds=p)))
    return found


def node(cards: int, name: str = "n017") -> list[Gpu]:
    return [
        replace(H200, node=name, pci=f"0000:{0x1B + 0x11 * i:02x}:00.0", uuid=f"GPU-{i:08x}-{name}")
        for i in range(cards)
    ]


def peer_copies(cards: int = 8, probe: str = "p2p_read", name: str = "n017") -> list[Document]:
    """All ordered pairs; one is slow, one card's link to another is not there."""
    chance = random.Random(4)  # noqa: S311
    gpus = node(cards, name)
    found = []
    for a, gpu in enumerate(gpus):
        for b, other in enumerate(gpus):
            if a == b:
                continue
            what = Probe(probe, 368.0, parameters={"size": 256 << 20, "peer": other.uuid})
            at = AT + timedelta(seconds=10 * a + b)
            if (a, b) in ((0, 3), (3, 0)):
                found.append(
                    result(
                        gpu, what, at, None, "skipped", judged=False,
                        skip_reason="no peer access between these two devices",
                    )
                )  # fmt: skip
                continue
            value = (276.0 if (a, b) == (2, 5) else 368.0) * chance.gauss(1, 0.002)
            found.append(measured(gpu, what, value, at, peak=None))
    return found


def series_of(
    gpu: Gpu, probe: Probe, axis: str, step: float, points: list[Document], status: str = "pass",
    at: datetime = AT,
) -> Document:  # fmt: skip
    """A result whose samples are a series; values of `points` in B/s."""
    values = [p["value"] for p in points]
    middle = sorted(values)[len(values) // 2]
    document = measured(gpu, probe, middle / GIB, at, status=status)
    drop = values[-1] / values[0] - 1 if axis == "time" else None
    document["measurement"] |= {
        "samples": values, "series": {"axis": axis, "step": step, "points": points},
        "worst": min(values), "drop": drop,
    }  # fmt: skip
    return document


def telemetry(clock: float | None, heat: float | None, power: float | None) -> Document:
    return {"sm_clock_mhz": clock, "temperature_c": heat, "power_w": power}


def memory_map(
    slices: int = 139, slow: tuple[int, ...] = (87, 88, 89), gpu: Gpu = H200, at: datetime = AT
) -> Document:
    chance = random.Random(5)  # noqa: S311
    points = [
        {
            "at": i * GIB,
            "value": 4262 * GIB * chance.gauss(1, 0.0012) * (0.905 if i in slow else 1),
            **telemetry(1980, 44, 560),
        }
        for i in range(slices)
    ]
    probe = Probe("read_map", 4262, parameters={"slice": 1 << 30})
    return series_of(gpu, probe, "address", GIB, points, at=at)


def sustained(seconds: int = 30, *, quiet: bool = False, gpu: Gpu = H200) -> Document:
    """The card gets hot and slows down in its last third."""
    chance = random.Random(6)  # noqa: S311
    points = []
    for i in range(seconds):
        heat = 86 - 46 * math.exp(-i / (seconds / 4))
        clock = 1980 - 15 * max(0, round((heat - 80) / 0.4)) + (0 if i != 24 else -165)
        value = 4302 * GIB * (clock / 1980) ** 0.55 * chance.gauss(1, 0.0008)
        seen = telemetry(None, None, None)
        if not quiet:
            seen = telemetry(clock, round(heat), 700 - 330 * math.exp(-i * 1.5))
        points.append({"at": float(i), "value": value, **seen})
    probe = Probe("sustained", 4302, parameters={"seconds": seconds})
    return series_of(gpu, probe, "time", 1.0, points)


def everything() -> list[Document]:
    found = [d for shape in SHAPES for d in span_sweep(shape)]
    found += span_sweep("h200", "sliding") + window_sweep() + block_sweep()
    return [*found, *peer_copies(), memory_map(), sustained()]


if __name__ == "__main__":
    write(Path(sys.argv[1]), everything())
