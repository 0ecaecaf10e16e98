#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the health table says on a real GPU, held against nvidia-smi; and what a second process
and the reading of the health itself do to a measurement.

    health.py BANDGATE DISTURB_PROCESS [unittest arguments]

Exit code 77 without a GPU.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ET
from typing import Any

SKIPPED = 77
BANDGATE = ""
DISTURB = ""


def run(command: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | more
    )


def bandgate(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return run([BANDGATE, *arguments], **more)


def records(ended: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]


def doctor(**more: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(bandgate("doctor", "--json", **more).stdout)
    return document


def smi() -> dict[str, ET.Element]:
    """The cards of `nvidia-smi -q -x` by UUID."""
    root = ET.fromstring(run(["nvidia-smi", "-q", "-x"]).stdout)
    return {gpu.findtext("uuid", "").strip(): gpu for gpu in root.iter("gpu")}


def number(gpu: ET.Element, path: str) -> float | None:
    """The first word as a number; none for N/A and what this driver does not print."""
    words = gpu.findtext(path, "").replace("x", "").split()
    try:
        return float(words[0]) if words else None
    except ValueError:
        return None


# Where nvidia-smi prints a field that does not change by itself.
STATIC = {
    "sm_clock_max_mhz": ["max_clocks/sm_clock"],
    "memory_clock_max_mhz": ["max_clocks/mem_clock"],
    "power_limit_w": [
        "gpu_power_readings/current_power_limit",
        "gpu_power_readings/power_limit",
        "power_readings/enforced_power_limit",
    ],
    "power_limit_default_w": [
        "gpu_power_readings/default_power_limit",
        "power_readings/default_power_limit",
    ],
    "pcie_generation_max": ["pci/pci_gpu_link_info/pcie_gen/max_link_gen"],
    "pcie_generation_card": ["pci/pci_gpu_link_info/pcie_gen/max_device_link_gen"],
    "pcie_width_max": ["pci/pci_gpu_link_info/link_widths/max_link_width"],
    "pcie_width": ["pci/pci_gpu_link_info/link_widths/current_link_width"],
    "pcie_replays": ["pci/replay_counter"],
}
# What moves: between these shares of, or this far from, what nvidia-smi says a moment apart.
CHANGING = {
    "temperature_c": (["temperature/gpu_temp"], 5.0),
    "memory_temperature_c": (["temperature/memory_temp"], 5.0),
    "power_w": (
        [
            "gpu_power_readings/power_draw",
            "gpu_power_readings/instant_power_draw",
            "gpu_power_readings/average_power_draw",
        ],
        60.0,
    ),
    "memory_clock_mhz": (["clocks/mem_clock"], 700.0),
    "sm_clock_mhz": (["clocks/sm_clock"], 2000.0),
}


def first(gpu: ET.Element, paths: list[str]) -> float | None:
    return next((v for p in paths if (v := number(gpu, p)) is not None), None)


class AgreesWithNvidiaSmi(unittest.TestCase):
    def setUp(self) -> None:
        self.cards = smi()
        self.devices = doctor()["devices"]
        self.assertEqual({d["device"]["uuid"] for d in self.devices}, set(self.cards))

    def test_identity(self) -> None:
        for one in self.devices:
            who, gpu = one["device"], self.cards[one["device"]["uuid"]]
            self.assertEqual(who["name"], gpu.findtext("product_name"))
            self.assertEqual(who["serial"] or "N/A", gpu.findtext("serial"))
            self.assertEqual(who["vbios"], gpu.findtext("vbios_version"))
            self.assertEqual(who["board_part"], gpu.findtext("board_part_number"))
            bus = gpu.findtext("pci/pci_bus_id", "").lower()
            self.assertEqual(who["pci_address"], bus[-len(who["pci_address"]) :])
            self.assertEqual(who["pci_device"], pci_id(gpu.findtext("pci/pci_device_id", "")))

    def test_static_fields_are_equal(self) -> None:
        compared = 0
        for one in self.devices:
            gpu, idle = self.cards[one["device"]["uuid"]], one["health"]["idle"]
            for name, paths in STATIC.items():
                expected = first(gpu, paths)
                if expected is None:
                    continue
                compared += 1
                with self.subTest(field=name):
                    self.assertEqual(idle[name]["value"], expected, idle[name])
            ecc = gpu.findtext("ecc_mode/current_ecc", "").strip()
            if ecc in ("Enabled", "Disabled"):
                self.assertEqual(idle["ecc_enabled"]["value"], ecc == "Enabled")
            pending = gpu.findtext("remapped_rows/remapped_row_pending", "").strip()
            if pending in ("Yes", "No"):
                self.assertEqual(idle["row_remap_pending"]["value"], pending == "Yes")
        print(f"{compared} static fields equal")
        self.assertGreaterEqual(compared, 7 * len(self.devices))

    def test_changing_fields_are_near(self) -> None:
        compared = 0
        for one in self.devices:
            gpu, idle = self.cards[one["device"]["uuid"]], one["health"]["idle"]
            for name, (paths, within) in CHANGING.items():
                expected = first(gpu, paths)
                if expected is None:
                    continue
                compared += 1
                with self.subTest(field=name):
                    self.assertAlmostEqual(idle[name]["value"], expected, delta=within)
        print(f"{compared} changing fields near")
        self.assertGreaterEqual(compared, 3 * len(self.devices))

    def test_what_could_not_be_read(self) -> None:
        for one in self.devices:
            states = {
                name: f["state"] + (": " + f["why"] if f["why"] else "")
                for name, f in one["health"]["idle"].items()
                if f["state"] != "ok"
            }
            print(one["id"], one["condition"], json.dumps(states))
            self.assertEqual([n for n, s in states.items() if s.startswith("unavailable")], [])

    def test_is_quick(self) -> None:
        begin = time.monotonic()
        ended = bandgate("doctor")
        print(f"doctor: {time.monotonic() - begin:.2f} s, exit {ended.returncode}")
        print(ended.stdout)
        self.assertIn(ended.returncode, (0, 1))


def pci_id(text: str) -> str:
    """0x233510DE, as nvidia-smi prints device and vendor, is 10de:2335."""
    digits = text.lower().removeprefix("0x")
    return f"{digits[4:]}:{digits[:4]}"


class VisibleDevices(unittest.TestCase):
    def test_results_carry_the_right_identity(self) -> None:
        cards = smi()
        in_order = sorted(cards, key=lambda u: cards[u].findtext("pci/pci_bus_id", ""))
        shown: list[tuple[str, list[str]]] = [
            (",".join(str(i) for i in reversed(range(len(in_order)))), in_order),
            (in_order[-1], [in_order[-1]]),
            ("", []),
            ("-1", []),
        ]
        for order in ("PCI_BUS_ID", "FASTEST_FIRST"):
            for visible, expected in shown:
                with self.subTest(order=order, visible=visible):
                    more = {"CUDA_VISIBLE_DEVICES": visible, "CUDA_DEVICE_ORDER": order}
                    seen = doctor(**more)["devices"]
                    self.assertEqual([d["device"]["uuid"] for d in seen], expected)
                    arguments = ["run", "launch", "--json", "--results", "none"]
                    for r in records(bandgate(*arguments, **more)):
                        who = r["device"]
                        bus = cards[who["uuid"]].findtext("pci/pci_bus_id", "").lower()
                        self.assertTrue(bus.endswith(who["pci_address"]))


class Contention(unittest.TestCase):
    def test_a_second_process_is_named(self) -> None:
        with subprocess.Popen([DISTURB, "4", "0"], stdout=subprocess.PIPE, text=True) as other:
            try:
                assert other.stdout is not None
                other.stdout.readline()
                time.sleep(1.5)
                card = doctor()["devices"][0]["device"]["uuid"]
                begin = time.monotonic()
                check = ["check", "read", "--device", card, "--results", "none", "--json"]
                refused = bandgate(*check)
                waited = time.monotonic() - begin
                beside = bandgate(*check, "--allow-contention")
            finally:
                other.kill()
        verdict = records(refused)[-1]["verdict"]
        print(f"refused after {waited:.1f} s: {verdict['reasons'][0]['sentence']}")
        self.assertEqual(refused.returncode, 4)
        self.assertEqual(verdict["status"], "inconclusive")
        self.assertIn(str(other.pid), verdict["reasons"][0]["sentence"])
        measured = records(beside)[-1]
        print(f"beside it: {measured['measurement']['median'] / 2**30:.0f} GiB/s")
        self.assertEqual(beside.returncode, 4)
        again = bandgate(*check)
        print(f"after it: exit {again.returncode}")
        self.assertEqual(again.returncode, 0)


class Sampling(unittest.TestCase):
    def test_reading_the_health_costs_nothing(self) -> None:
        """The medians of pairs of fresh processes, with and without a management library."""
        card = doctor()["devices"][0]["device"]["uuid"]
        ratios = []
        for i in range(int(os.environ.get("PAIRS", "12"))):
            value = {}
            for library in ("none", "") if i % 2 else ("", "none"):
                more = {"BANDGATE_NVML": library} if library else {}
                arguments = ["run", "read", "--device", card, "--results", "none", "--json"]
                measured = records(bandgate(*arguments, **more))[-1]
                self.assertEqual(measured["health"]["source"].startswith("none"), bool(library))
                value[library] = measured["measurement"]["median"]
            ratios.append(value[""] / value["none"] - 1)
        middle = statistics.median(ratios)
        error = statistics.stdev(ratios) / len(ratios) ** 0.5
        print(f"with health / without - 1: {100 * middle:+.4f} % +- {100 * error:.4f} %")
        self.assertLess(abs(middle), 0.0005)


if __name__ == "__main__":
    BANDGATE, DISTURB = sys.argv[1:3]
    if "GPU-" not in bandgate("devices", "--backend", "cuda").stdout:
        print("no GPU")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
