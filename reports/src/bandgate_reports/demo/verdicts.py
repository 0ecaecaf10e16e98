# SPDX-License-Identifier: Apache-2.0
"""What the gate says of a made-up result, in its own words.

The sentences are those of the tool's verdicts (docs/causes.md has the codes); the numbers in them
are the document's own.
"""

from dataclasses import dataclass
from typing import Any

from bandgate_reports.demo.models import GIB, MICROSECOND, Baseline, Model, Probe

Reason = dict[str, str]

COOLING = "Check the cooling: fans, air flow, the inlet's temperature, the temperatures under load."
POWER = (
    "Compare the power limit with its default (`nvidia-smi -q -d POWER`, AMD: "
    "`amd-smi static --limit`)."
)
RESEAT = "Reseat the card or its riser and check the slot's setting in the BIOS."
WAIT = (
    "Measure again when the device is free: `--wait-idle 10m` waits for it; `--allow-contention` "
    "measures beside the others, which is never a pass."
)
XID = (
    "Read the kernel log for Xid messages of this PCI address, then reset the device or drain the "
    "node."
)
_COMPARE = (
    "Measure another device of this model with the same driver: if it is slow too, look at what "
    "changed (driver, firmware, tool), else at this device."
)
_WATCH = (
    "Watch this device: if it is unstable again, look for what shares it or for a fault that comes "
    "and goes."
)
_LOOKED = (
    "clock events, temperature limits, power limit, memory clock, memory repairs, ECC, other "
    "processes"
)


def reason(code: str, sentence: str) -> Reason:
    return {"code": code, "sentence": sentence}


def value_text(value: float, is_time: bool) -> str:
    scaled = value / (MICROSECOND if is_time else GIB)
    digits = 1 if scaled >= 1000 else 2 if scaled >= 100 else 3
    return f"{scaled:.{digits}f} {'us' if is_time else 'GiB/s'}"


@dataclass(frozen=True)
class Compared:
    """A value beside its baseline."""

    value: float
    baseline: Baseline
    lower_is_better: bool

    @property
    def worse(self) -> bool:
        low, high = self.baseline.bounds
        if self.lower_is_better:
            return high is not None and self.value > high
        return self.value < low

    @property
    def better(self) -> bool:
        low, high = self.baseline.bounds
        if self.lower_is_better:
            return self.value < low
        return high is not None and self.value > high

    def sentence(self) -> str:
        of = self.baseline
        low, high = of.bounds
        ratio = self.value / of.reference
        bound = low if ratio < 1 else high
        times = self.lower_is_better
        return (
            f"{'' if of.statistic == 'median' else f'the {of.statistic} of '}"
            f"{value_text(self.value, times)} is {100 * abs(ratio - 1):.2f} % "
            f"{'below' if ratio < 1 else 'above'} the reference {value_text(of.reference, times)}, "
            f"{'no bound' if bound is None else f'bound {value_text(bound, times)}'} ({of.file})"
        )

    def shown(self) -> dict[str, Any]:
        of = self.baseline
        low, high = of.bounds
        return {
            "file": of.file,
            "entry": of.entry,
            "kind": of.kind,
            "statistic": of.statistic,
            "generic": False,
            "card": False,
            "reference": of.reference,
            "lower": low,
            "upper": high,
            "ratio": self.value / of.reference,
        }


def verdict(
    status: str,
    reasons: list[Reason],
    next_step: str = "",
    compared: Compared | None = None,
    *,
    unstable: bool = False,
) -> dict[str, Any]:
    return {
        "status": status,
        "unstable": unstable,
        "baselines": [] if compared is None else [compared.shown()],
        "reasons": reasons,
        "next_step": next_step,
    }


def regression(
    probe: Probe, compared: Compared, causes: list[Reason], next_step: str, first: str
) -> dict[str, Any]:
    """`first`: the sentence of the attempt before, which this one confirms; "" for the first."""
    code = "above-bound" if probe.lower_is_better else "below-bound"
    found = [reason(code, compared.sentence()), *(causes or [_no_cause(probe)])]
    if first:
        found.append(reason("confirmed", f"low in two fresh processes; the first: {first}"))
    return verdict("regression", found, next_step if causes else _COMPARE, compared)


def _no_cause(probe: Probe) -> Reason:
    link = "PCIe link, " if probe.ceiling == "link" else ""
    return reason(
        "no-cause-found",
        f"no cause found; looked at and in order: {link}{_LOOKED}; could not be read: nothing "
        "(health: nvml)",
    )


def passed(compared: Compared, notes: list[Reason], probe: Probe, first: str) -> dict[str, Any]:
    if compared.better:
        step = f"If this is the new normal, adopt it: {_record(probe)}"
        above = reason("above-upper", compared.sentence())
        return verdict("improved", [above, *notes], step, compared)
    if first:
        why = reason("unstable", f"low once and fine in a fresh process; the first: {first}")
        return verdict("pass", [why, *notes], _WATCH, compared, unstable=True)
    return verdict("pass", notes, "", compared)


def without_baseline(
    probe: Probe, model: Model, board_part: str, *, ecc: bool, notes: list[Reason]
) -> dict[str, Any]:
    looked = (
        f"no baseline entry for {probe.name}; looked in the shipped baselines for {probe.name} on "
        f"PCI device {model.pci_device}, subsystem {model.pci_subsystem}, board part {board_part}, "
        f'name "{model.short}", {model.memory_bytes / GIB:.1f} GiB, ECC {"on" if ecc else "off"} '
        f"({model.file} has no such entry; _generic.json has no such entry)"
    )
    step = f"Record one on devices that you trust: {_record(probe)}"
    return verdict("no-baseline", [reason("no-baseline", looked), *notes], step)


def _record(probe: Probe) -> str:
    with_parameters = " with the same parameters" if probe.parameters else ""
    return f"`bandgate baseline record {probe.name}`{with_parameters}."
