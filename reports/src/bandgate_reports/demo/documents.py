# SPDX-License-Identifier: Apache-2.0
"""The result documents of the fleet, night by night.

What is equal in many of them is one dictionary shared by all: a document is to be read, not
changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from bandgate_reports.demo import environment, health, verdicts
from bandgate_reports.demo.environment import Environment
from bandgate_reports.demo.models import PROBES, Baseline, Probe
from bandgate_reports.demo.plan import Card, Plan
from bandgate_reports.demo.values import State, Values
from bandgate_reports.demo.verdicts import Compared, Reason

Document = dict[str, Any]

PACE = timedelta(seconds=4)  # from one probe to the next
SECOND = timedelta(milliseconds=2300)  # after the first attempt
LOST_DURATION = 0.4  # s, until a lost GPU is noticed


def documents(values: Values, nights: range | None = None) -> Iterator[Document]:
    """In the order of nights, nodes, cards, probes, attempts. None: of all nights."""
    for night in range(values.plan.nights) if nights is None else nights:
        chance = np.random.default_rng([values.plan.seed, 1, night])
        yield from _Night(values, night, chance).documents()


@dataclass(frozen=True)
class _Slot:
    """One measurement to be: a card and a probe in a night."""

    c: int
    card: Card
    env: Environment
    run: Document
    device: Document
    state: State
    p: int
    probe: Probe
    at: datetime
    group: str

    @property
    def baseline(self) -> Baseline | None:
        return self.card.model.baselines[self.card.board_part].get(self.probe.key)


class _Night:
    """All processes of one night, with the figures of their samples worked out at once."""

    def __init__(self, values: Values, night: int, chance: np.random.Generator) -> None:
        self.plan: Plan = values.plan
        self.night = night
        self.states = values.states[:, night].tolist()
        self.samples = values.samples[:, :, :, night]
        self.jitter = chance.uniform(0, 90, len(self.plan.cards)).tolist()
        self.duration = chance.uniform(1.7, 2.2, self.samples.shape[:-1]).round(6).tolist()
        # One per process, and one per node for the invocation.
        number = self.samples[..., 0].size + len(self.plan.cards)
        self.bits = chance.bytes(10 * number).hex()
        self.used = 0

    @cached_property
    def figures(self) -> dict[str, Any]:
        return {k: v.tolist() for k, v in _figures(self.samples).items()}

    def documents(self) -> Iterator[Document]:
        group, of_node = "", 0
        for c, card in enumerate(self.plan.cards):
            start = self.plan.starts(self.night) + timedelta(minutes=3 * (card.node - 1))
            if card.node != of_node:
                group, of_node = self._uuid7(start), card.node
            state = State(self.states[c])
            if state is State.DRAINED:
                continue
            env = environment.of(self.plan, c, self.night)
            run = environment.run_part(self.plan, card, env)
            device = environment.device_part(self.plan, card, env)
            began = start + timedelta(seconds=round(1 + self.jitter[c], 3))
            for p, key in enumerate(self.plan.probes):
                at = began + p * (PACE + SECOND)
                yield from self._slot(
                    _Slot(c, card, env, run, device, state, p, PROBES[key], at, group)
                )

    def _slot(self, slot: _Slot) -> Iterator[Document]:
        if slot.state is State.LOST:
            yield self._lost(slot)
            return
        first = ""
        for attempt in (1, 2):
            measurement = self._measurement(slot, attempt)
            verdict, again = self._judged(slot, measurement, first)
            yield self._document(slot, attempt, verdict, measurement=measurement)
            if not again:
                return
            first = again

    def _judged(self, slot: _Slot, measured: Document, first: str) -> tuple[Document, str]:
        """The verdict; and of a first attempt that a second has to confirm, its sentence."""
        baseline = slot.baseline
        causes, step = health.causes(slot.card, slot.env, slot.state, slot.probe)
        if baseline is None:
            model, part = slot.card.model, slot.card.board_part
            ecc = slot.env.ecc
            return verdicts.without_baseline(slot.probe, model, part, ecc=ecc, notes=causes), ""
        value = measured["peak" if baseline.statistic == "peak" else "median"]
        compared = Compared(value, baseline, slot.probe.lower_is_better)
        if slot.state is State.CONTENDED:
            return verdicts.verdict("inconclusive", causes, step, compared), ""
        if compared.worse:
            verdict = verdicts.regression(slot.probe, compared, causes, step, first)
            return verdict, "" if first else compared.sentence()
        return verdicts.passed(compared, causes, slot.probe, first), ""

    def _measurement(self, slot: _Slot, attempt: int) -> Document:
        a, c, p, probe = attempt - 1, slot.c, slot.p, slot.probe
        f = self.figures
        median = f["median"][a][c][p]
        time = median if probe.lower_is_better else probe.bytes_per_pass / median
        return {
            "unit": probe.unit,
            "median": median,
            "peak": f["least" if probe.lower_is_better else "most"][a][c][p],
            "p05": f["p05"][a][c][p],
            "p95": f["p95"][a][c][p],
            "sd": f["sd"][a][c][p],
            "cv": f["cv"][a][c][p],
            "slope": f["slope"][a][c][p],
            "unsettled": False,
            "samples": f["samples"][a][c][p],
            "iterations": max(1, round(0.02 / time)),  # batches of 20 ms
            "bytes_per_pass": probe.bytes_per_pass,
            "warm_up_s": 0.65,
            "verified": True,
            "more": [],
            "series": None,
            "worst": None,
            "drop": None,
        }

    def _lost(self, slot: _Slot) -> Document:
        where = f"{slot.device['uuid']} at {slot.card.pci_address} (cuda)"
        message = (
            f"GPU lost: {where} stopped answering at sample 3; look for Xid 79 in the kernel log, "
            "then reset or replace the card"
            if slot.p == 0
            else f"{where} is lost: nvmlDeviceGetHandleByPciBusId_v2: the GPU is lost (15); reset "
            "it or drain the node"
        )
        why: list[Reason] = [verdicts.reason("device-lost", message)]
        verdict = verdicts.verdict("error", why, verdicts.XID)
        failure = {"code": "device-lost", "message": message}
        return self._document(slot, 1, verdict, failure=failure)

    def _document(
        self,
        slot: _Slot,
        attempt: int,
        verdict: Document,
        *,
        measurement: Document | None = None,
        failure: Document | None = None,
    ) -> Document:
        at = slot.at if attempt == 1 else slot.at + SECOND
        duration = self.duration[attempt - 1][slot.c][slot.p]
        probe = slot.probe
        return {
            "schema": "bandgate.result/1",
            "run": {
                "id": self._uuid7(at),
                "group_id": slot.group,
                "started": f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z",
                "duration_s": LOST_DURATION if failure else duration,
                "attempt": attempt,
                **slot.run,
            },
            "device": slot.device,
            "probe": {
                "name": probe.name,
                "version": 1,
                "parameters": probe.parameters,
                "shape": probe.shape,
                "byte_rule": probe.byte_rule,
                "ceiling": probe.ceiling,
                "directions": 1,
                "lower_is_better": probe.lower_is_better,
                "expected_spread": probe.expected_spread,
            },
            "measurement": measurement,
            "failure": failure,
            "skip_reason": "",
            "notes": [],
            "health": health.read(slot.card, slot.env, slot.state, probe),
            "verdict": verdict,
        }

    def _uuid7(self, at: datetime) -> str:
        """Version 7: milliseconds, then chance; RFC 9562."""
        milliseconds = f"{round(at.timestamp() * 1000):012x}"
        bits = self.bits[self.used : self.used + 20]
        self.used += 20
        variant = "89ab"[int(bits[3], 16) % 4]
        return (
            f"{milliseconds[:8]}-{milliseconds[8:]}-7{bits[:3]}-{variant}{bits[4:7]}-{bits[7:19]}"
        )


def _figures(samples: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    """Over the last axis, what a measurement says of its samples."""
    ordered = np.sort(samples, axis=-1)
    number = samples.shape[-1]
    median = (ordered[..., (number - 1) // 2] + ordered[..., number // 2]) / 2
    sd = samples.std(axis=-1, ddof=1)
    # The trend from the first to the last sample: least squares, as a share of the median.
    place = np.linspace(-0.5, 0.5, number)
    slope = (samples * place).sum(axis=-1) / (place**2).sum() / median
    low, high = np.quantile(ordered, (0.05, 0.95), axis=-1)
    return {
        "samples": samples,
        "median": median,
        "least": ordered[..., 0],
        "most": ordered[..., -1],
        "p05": low,
        "p95": high,
        "sd": sd,
        "cv": sd / median,
        "slope": slope,
    }
