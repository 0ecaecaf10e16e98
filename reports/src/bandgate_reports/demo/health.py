# SPDX-License-Identifier: Apache-2.0
"""The health that is recorded beside a measurement, and the causes that the gate reads from it."""

from functools import cache
from typing import Any

from bandgate_reports.demo import verdicts
from bandgate_reports.demo.environment import Environment
from bandgate_reports.demo.models import DRAM, LINK, Model, Probe
from bandgate_reports.demo.plan import Card
from bandgate_reports.demo.values import State
from bandgate_reports.demo.verdicts import Reason

SAMPLING_NS = 210_000_000.0
CAPPED, HEATED = 0.87, 0.58  # of the sampling
HOTTEST = 89.0  # C, where the hardware slows down
_INTRUDER = {"pid": 31337, "name": "python3", "memory_bytes": 8 << 30, "active": True}


def causes(card: Card, env: Environment, state: State, probe: Probe) -> tuple[list[Reason], str]:
    """What explains a loss, or is a note beside a pass; and the next step that goes with it.

    A power cap and heat concern what the memory and the processors do, a link its transfers.
    """
    if state is State.CONTENDED:
        other = "another process computes on the device: process 31337 (python3), 8.0 GiB"
        return [verdicts.reason("contended", other)], verdicts.WAIT
    if state is State.LINK and probe.ceiling == LINK:
        sentence = f"the PCIe generation under load was 2 of {card.model.pcie_generation}"
        return [verdicts.reason("pcie-generation", sentence)], verdicts.RESEAT
    if probe.ceiling != DRAM:  # the clocks stay up while a copy engine or a launch is timed
        return [], ""
    if state is State.POWER_CAP:
        share = f"the power cap slowed the clocks for {100 * CAPPED:.0f} % of the sampling"
        limit = (
            f"the power limit is below its default: {env.power_limit_w:.0f} W of "
            f"{card.model.power_limit_w:.0f} W"
        )
        found = [verdicts.reason("power-cap", share), verdicts.reason("power-limit", limit)]
        return found, verdicts.POWER
    if state is State.HOT:
        share = (
            f"the hardware slowed the clocks for {100 * HEATED:.0f} % of the sampling because of "
            "heat"
        )
        at = f"the GPU is at {HOTTEST + 1:.0f} C, and the hardware slows down at {HOTTEST:.0f} C"
        found = [verdicts.reason("hw-thermal", share), verdicts.reason("gpu-temperature", at)]
        return found, verdicts.COOLING
    return [], ""


def read(card: Card, env: Environment, state: State, probe: Probe) -> dict[str, Any]:
    return _read(card.model, env.power_limit_w, env.ecc, state, probe.ceiling)


@cache
def _read(
    model: Model, power_limit_w: float, ecc: bool, state: State, ceiling: str
) -> dict[str, Any]:
    if state is State.LOST:
        return {"source": "nvml", "idle": {}, "load": {}, "change": {}, "processes": []}
    generation = 2 if state is State.LINK else model.pcie_generation
    memory = ceiling == DRAM
    capped, hot = (state is s and memory for s in (State.POWER_CAP, State.HOT))
    clock = model.sm_clock_mhz * (0.74 if capped or hot else 1.0)
    load = {
        "sm_clock_mhz": round(clock),
        "memory_clock_mhz": model.memory_clock_mhz,
        "temperature_c": HOTTEST + 1 if hot else 46.0 if memory else 39.0,
        "power_w": power_limit_w if capped else round(0.65 * model.power_limit_w),
        "power_limit_w": power_limit_w,
        "clock_event_reasons": 4 if capped else 0x40 if hot else 0,
        "pcie_generation": generation,
        "pcie_generation_max": model.pcie_generation,
        "pcie_width": 16,
        "ecc_enabled": ecc,
    }
    change = {
        "clock_event_sw_power_cap_ns": CAPPED * SAMPLING_NS if capped else 0,
        "clock_event_hw_thermal_ns": HEATED * SAMPLING_NS if hot else 0,
        "ecc_corrected_volatile": 0,
        "pcie_replays": 0,
    }
    idle = {
        "sm_clock_mhz": 345,
        "temperature_c": 71.0 if state is State.HOT else 33.0,
        "pcie_generation": 1,
        "power_w": 79.8,
    }
    return {
        "source": "nvml",
        "idle": _fields(idle),
        "load": _fields(load),
        "change": _fields(change),
        "processes": [_INTRUDER] if state is State.CONTENDED else [],
    }


def _fields(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {
            "state": "ok",
            "value": value if isinstance(value, bool) else float(value),
            "why": "",
        }
        for name, value in values.items()
    }
