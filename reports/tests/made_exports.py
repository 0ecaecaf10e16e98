# SPDX-License-Identifier: Apache-2.0
"""Results for the exports: one of every status, a time, names that try to be markup."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pandas as pd

from bandgate_reports import store
from bandgate_reports.analysis import series

from conftest import NOW
from made import FLEET, GIB, H200, READ, Document, Gpu, Probe, below, result, write

HOURS = timedelta(hours=1)
NIGHT = NOW - 3 * HOURS
CAP = ("power-cap", "Power cap active for 92 % of the timed region.")
# What XML, CSV, Prometheus and a terminal each take for something else.
HOSTILE = "=\"'><b>]]>\\|`\n\x1b[31m\x00\x85\ufffe\ud800{{x}}\U0001f525,;\u202e"


def launch(value: float = 4.6e-6, status: str = "pass", reference: float = 4.5e-6) -> Document:
    """A probe where less is better; seconds."""
    document = result(H200, Probe("launch", reference, upper=0.05), NIGHT, value, status)
    document["probe"]["lower_is_better"] = True
    document["measurement"]["unit"] = "s"
    for scaled in (document["measurement"], *document["verdict"]["baselines"]):
        for key in ("median", "peak", "p05", "p95", "reference", "lower", "upper"):
            if scaled.get(key) is not None:
                scaled[key] /= GIB
    document["verdict"]["baselines"][0]["lower"] = None
    return document


def statuses() -> list[Document]:
    """On three cards: every status, a retry, a stale card, a time where less is better."""
    other, third = FLEET[1], FLEET[2]
    gone = replace(H200, uuid="GPU-gone", pci="0000:99:00.0")
    low, step = 4180.0, "nvidia-smi -i 0000:1b:00.0 -pl 700"
    why = [below(READ, low), CAP]
    again = NIGHT + timedelta(seconds=3)
    return [
        result(H200, READ, NIGHT - 24 * HOURS, 4303.0),
        result(H200, READ, NIGHT, 4182.0, "regression", group="g", reasons=why[:1]),
        result(
            H200, READ, again, low, "regression", group="g", attempt=2, reasons=why, next_step=step
        ),
        result(H200, Probe("copy", 3997.0), NIGHT, 3993.5, unstable=True, reasons=[CAP]),
        launch(),
        result(
            other, READ, NIGHT, None, "error",
            failure=("device-lost", "GPU lost at sample 3 of 20."), next_step="Reset the GPU.",
        ),
        result(
            other, Probe("write", 4376.0), NIGHT, 4377.0, "inconclusive", judged=False,
            reasons=[("contended", "Another process computes on this device: 4711 (train).")],
        ),
        result(
            third, Probe("read", 1763.8, upper=None), NIGHT, 1790.0, "improved",
            reasons=[("above-upper", "Faster than the upper bound: adopt it?")],
        ),
        result(
            third, Probe("write", 1794.2), NIGHT, 1798.0, "no-baseline", judged=False,
            reasons=[("no-baseline", "No entry for write in nvidia-a100-sxm4-80gb.json.")],
            next_step="bandgate baseline record write",
        ),
        result(third, Probe("p2p_read", 200), NIGHT, None, "skipped", skip_reason="one GPU only"),
        result(third, Probe("gather", 900), NIGHT, 901.0, "measured", judged=False),
        result(gone, READ, NIGHT - 8 * 24 * HOURS, 4000.0, "regression", reasons=[CAP]),
    ]  # fmt: skip


def hostile() -> list[Document]:
    """Also names that are equal once they are made printable."""
    gpu = Gpu(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, kernel=HOSTILE)
    probe = Probe(HOSTILE, 4302, parameters={HOSTILE: HOSTILE})
    other = replace(probe, parameters={HOSTILE: HOSTILE.replace("\x1b", "␛")})
    twin = replace(gpu, uuid=HOSTILE.replace("\x1b", "␛"))
    why = [(HOSTILE, HOSTILE)]
    return [
        result(gpu, probe, NIGHT, 4000, "regression", reasons=why, next_step=HOSTILE),
        result(gpu, other, NIGHT, None, "error", failure=("crashed", HOSTILE)),
        result(twin, probe, NIGHT, 4301),
        result(twin, other, NIGHT, None, "skipped", skip_reason=HOSTILE),
    ]


def loaded(folder: Path, documents: list[Document]) -> pd.DataFrame:
    """The table that the exports take."""
    for document in documents:
        json.dumps(document)
    read = store.load([write(folder, documents)], include_scripted=True)
    assert read.skipped == ()
    return series.identify(read.results, NOW)
