#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cases that load links, run by ctest as fast as it may, on scripted devices at a real pace."""

from __future__ import annotations

import copy
import json
import os
import unittest
from datetime import datetime
from pathlib import Path

from site_project import ROOT, Site

HOST_LINK = "host link"


class Links(Site):
    def setUp(self) -> None:
        self.program = Path(os.environ["PROGRAM"])
        super().setUp()
        home = str(self.folder / "home")
        self.environment |= {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}

    def three_gpus(self) -> str:
        path = ROOT / "docs/examples/fire-drill/healthy-h200.json"
        script = json.loads(path.read_text(encoding="utf-8"))
        attempts = {"attempts": [{"unit": "GiB/s", "samples": [40]}]}
        probes = ("h2d", "d2h", "p2p_read", "write")
        script["devices"][0]["probes"] = dict.fromkeys(probes, attempts)
        for index in (1, 2):
            device = copy.deepcopy(script["devices"][0])
            device["identity"]["uuid"] = f"GPU-00000000-0000-4000-8000-00000000010{index}"
            device["identity"]["pci_address"] = f"0000:a{index}:00.0"
            script["devices"].append(device)
        script["pace"] = "real"
        (self.folder / "three.json").write_text(json.dumps(script), encoding="utf-8")
        return f"scripted:{self.folder / 'three.json'}"

    def runs(self) -> list[tuple[float, float, set[str]]]:
        """When each measurement ran, and what it loaded."""
        found = []
        for file in (self.folder / "results").rglob("*.json"):
            result = json.loads(file.read_text(encoding="utf-8"))
            if result["measurement"] is None:
                continue
            start = datetime.fromisoformat(result["run"]["started"]).timestamp()
            loads = {result["device"]["uuid"]}
            if peer := result["probe"]["parameters"].get("peer"):
                loads.add(peer)
            elif result["probe"]["ceiling"] == "link":
                loads.add(HOST_LINK)
            # The start is written to the millisecond.
            found.append((start + 0.002, start + result["run"]["duration_s"], loads))
        return found

    def test_no_link_and_no_gpu_is_loaded_twice_at_once(self) -> None:
        self.ctest("-L", "^quick$", "-j16", BANDGATE_BACKEND=self.three_gpus())
        runs = self.runs()
        # What is slow for this model is measured twice.
        self.assertGreaterEqual(len(runs), 3 * 4)
        self.assertGreaterEqual(sum(HOST_LINK in loads for _, _, loads in runs), 3 * 2)
        at_once = [
            (a, b) for i, a in enumerate(runs) for b in runs[:i] if a[0] < b[1] and b[0] < a[1]
        ]
        self.assertEqual([(a, b) for a, b in at_once if a[2] & b[2]], [])
        self.assertTrue(at_once, "nothing ran at once, on three devices")


if __name__ == "__main__":
    unittest.main()
