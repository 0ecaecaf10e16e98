#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The discovery module with the real command line behind it, on scripted devices."""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from datetime import datetime
from pathlib import Path

from site_project import ROOT, Run, Site, overlapping

DRILLS = ROOT / "docs/examples/fire-drill"
H200 = {
    "schema": "bandgate.baseline/1",
    "gpu": {
        "model": "NVIDIA H200",
        "match": [{"pci_device": "10de:2335", "pci_subsystem": "10de:18bf"}],
        "aliases": ["NVIDIA H200"],
        "memory_gib": 141,
        "peak_gb_s": 4814.3,
        "ecc": "on",
        "mig": None,
    },
    "entries": [
        {
            "probe": "read",
            "parameters": {},
            "statistic": "median",
            "unit": "GiB/s",
            "value": 4302,
            "tolerance": {"lower": -0.01, "upper": 0.01},
            "provenance": {
                "kind": "measured",
                "cards": 1,
                "processes": 10,
                "driver": "580.159.04",
                "date": "2026-11-29",
                "tool": "0.1.0",
            },
        }
    ],
}


class Drill(Site):
    def setUp(self) -> None:
        self.program = Path(os.environ["PROGRAM"])
        super().setUp()
        home = str(self.folder / "home")
        self.environment |= {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}

    def drill(
        self, script: str, *arguments: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        backend = f"scripted:{DRILLS / script}.json"
        return self.ctest(
            "-L", "^quick$", "-V", *arguments, BANDGATE_BACKEND=backend, **environment
        )

    def runs(self) -> list[Run]:
        """When each stored attempt ran, in seconds."""
        found = []
        for file in (self.folder / "results").rglob("*.json"):
            result = json.loads(file.read_text(encoding="utf-8"))
            if result["measurement"] is None:
                continue  # not every script knows every probe
            start = datetime.fromisoformat(result["run"]["started"]).timestamp()
            found.append((start, start + result["run"]["duration_s"], result["device"]["uuid"]))
        return found

    def test_two_gpus_work_at_once_and_each_on_one_probe(self) -> None:
        done = self.drill("two-gpus", "-j8")
        self.assertEqual(done.returncode, 0, done.stdout)
        runs = self.runs()
        self.assertEqual(len(runs), 12, "six cases on each of two cards")
        self.assertGreater(min(end - start for start, end, _ in runs), 0.1, "at a real pace")
        pairs = overlapping(runs)
        self.assertEqual([(a, b) for a, b in pairs if a[2] == b[2]], [])
        self.assertTrue(pairs, "the two GPUs never worked at once")
        self.assertRegex(done.stdout, "judged 12 of 12")

    def test_regression_is_red(self) -> None:
        (self.folder / "site").mkdir()
        (self.folder / "site/h200.json").write_text(json.dumps(H200), encoding="utf-8")
        site = str(self.folder / "site")
        done = self.drill("healthy-h200", BANDGATE_BASELINES=site)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = self.drill("slow-5-percent", BANDGATE_BASELINES=site)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"bandgate\.gpu0\.read \.+\*\*\*Failed")

    def test_missing_gpu_is_red(self) -> None:
        done = self.drill("missing-gpu")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("bandgate.DEVICES_MISSING", done.stdout)

    def test_no_device_is_skipped_and_red_under_strict(self) -> None:
        done = self.drill("no-device")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"bandgate\.NO_DEVICE \.+\*\*\*Skipped")
        done = self.drill("no-device", BANDGATE_STRICT="1")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"bandgate\.NO_DEVICE \.+\*\*\*Failed")

    def test_fewer_gpus_than_expected_are_red(self) -> None:
        done = self.drill("healthy-h200", BANDGATE_EXPECT_DEVICES="2")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("bandgate.DEVICES_MISSING", done.stdout)
        done = self.drill("healthy-h200", BANDGATE_EXPECT_DEVICES="1")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_nothing_judged_is_red_under_strict(self) -> None:
        done = self.drill("contended")
        self.assertIn("judged 0 of", done.stdout)
        done = self.drill("contended", BANDGATE_STRICT="1")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"bandgate\.judged \.+\*\*\*Failed")


if __name__ == "__main__":
    unittest.main()
