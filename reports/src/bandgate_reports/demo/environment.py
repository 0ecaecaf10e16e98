# SPDX-License-Identifier: Apache-2.0
"""What is recorded of node and card in a night: the parts of a result that do not depend on it."""

import uuid
from dataclasses import dataclass
from typing import Any

from bandgate_reports.demo import plan as planning
from bandgate_reports.demo.models import H200
from bandgate_reports.demo.plan import Card, Plan

LABEL = "demo"
SYNTHETIC = "synthetic"

_NAMESPACE = uuid.UUID("6f0d2c1e-3b1a-5d0e-9c55-0de305de3000")


@dataclass(frozen=True)
class Environment:
    """Of a card in a night. Equal ones share the dictionaries below."""

    driver: str
    kernel: str
    bios: str
    tool: str
    vbios: str
    ecc: bool
    power_limit_w: float
    swapped: bool
    restarts: int  # for no other reason


_FIELDS = {
    "driver": "driver",
    "kernel": "kernel",
    "BIOS": "bios",
    "tool": "tool",
    "VBIOS": "vbios",
}


def of(plan: Plan, c: int, night: int) -> Environment:
    model = plan.cards[c].model
    known: dict[str, Any] = {
        "driver": planning.OLD_DRIVER,
        "kernel": planning.OLD_KERNEL,
        "bios": planning.OLD_BIOS,
        "tool": planning.OLD_TOOL,
        "vbios": model.vbios,
        "ecc": True,
        "power_limit_w": model.power_limit_w,
        "swapped": False,
        "restarts": 0,
    }
    for event in plan.events:
        if not event.first <= night <= event.last or c not in plan.where(event):
            continue
        if event.field in _FIELDS:
            known[_FIELDS[event.field]] = event.after
        elif event.kind == "ecc":
            known["ecc"] = False
        elif event.kind == "power-cap":
            known["power_limit_w"] = 500.0
        elif event.kind == "swapped":
            known["swapped"] = True
        elif event.kind == "restart":
            known["restarts"] += 1
    return Environment(**known)


def card_uuid(plan: Plan, card: Card, *, swapped: bool) -> str:
    return f"GPU-{_named(plan, card, 'swapped' if swapped else 'gpu')}"


def _named(plan: Plan, card: Card, what: str) -> uuid.UUID:
    return uuid.uuid5(_NAMESPACE, f"{plan.seed} {card.host} {card.gpu} {what}")


def run_part(plan: Plan, card: Card, env: Environment) -> dict[str, Any]:
    """Of a result's `run`; without its id, group, time, duration and attempt."""
    # Each of these takes a restart.
    boot = f"boot {env.driver} {env.kernel} {env.bios} {env.restarts}"
    return {
        "host": card.host,
        "node": card.host,
        "boot_id": str(uuid.uuid5(_NAMESPACE, f"{plan.seed} {card.host} {boot}")),
        "kernel": env.kernel,
        "kernel_module_flavour": "open",
        "gsp_version": env.driver,
        "fabric_manager": env.driver,
        "bios": env.bios,
        "product": "Synthetic 8-GPU server",
        "container_image": "",
        "scheduler_job": "",
        "ci_system": "",
        "ci_job": "",
        "ci_commit": "",
        "labels": {LABEL: SYNTHETIC},
        "tool_version": env.tool,
        "tool_build": f"{LABEL}-{env.tool}",
    }


def device_part(plan: Plan, card: Card, env: Environment) -> dict[str, Any]:
    model = card.model
    serial = f"DEMO-{card.node:02d}{card.gpu:02d}{'B' if env.swapped else 'A'}"
    return {
        "backend": "cuda",
        "name": model.name,
        "uuid": card_uuid(plan, card, swapped=env.swapped),
        "pci_address": card.pci_address,
        "pci_device": model.pci_device,
        "pci_subsystem": model.pci_subsystem,
        "board_part": card.board_part,
        "serial": serial,
        "memory_bytes": model.memory_bytes,
        "bus_width_bits": model.bus_width_bits,
        "memory_clock_mhz": model.memory_clock_mhz,
        "peak_bytes_per_second": model.peak,
        "processors": model.processors,
        "last_level_cache_bytes": model.last_level_cache_bytes,
        "compute_capability": model.compute_capability,
        "ecc": env.ecc,
        "mig_profile": "",
        "mig_parent": "",
        "virtualization": "none",
        "power_limit_w": env.power_limit_w,
        "power_limit_default_w": model.power_limit_w,
        "vbios": env.vbios,
        "driver_version": env.driver,
        "runtime_version": "13.0",
        "persistence_mode": "enabled",
        "compute_mode": "default",
        "numa_node": 0 if card.gpu % 8 < 4 else 1,
        "cpu_model": "Synthetic CPU" if model is H200 else "Synthetic CPU, older",
        "sockets": 2,
        "numa_nodes": 2,
        "dimm_mts": 4800 if model is H200 else 3200,
    }
