# SPDX-License-Identifier: Apache-2.0
"""A project of its own that uses the discovery module, for the tests of it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(site LANGUAGES NONE)
enable_testing()
include({root}/ci/cmake/BandgateDiscoverProbes.cmake)
add_executable(bandgate IMPORTED)
set_target_properties(bandgate PROPERTIES IMPORTED_LOCATION "{program}")
{body}
"""


def case(device: str, probe: str, *, resources: list[str], **more: object) -> dict[str, Any]:
    return {
        "name": f"bandgate.{device}.{probe}",
        "device": device,
        "probe": probe,
        "arguments": ["check", probe, "--device", f"GPU-{device}", "--ctest"],
        "labels": ["bandgate", "gpu", "quick", "full", "dram"],
        "timeout_s": 150,
        "processors": 1,
        "resources": resources,
    } | more


def listing(cases: list[dict[str, Any]], problems: list[str] | None = None) -> dict[str, Any]:
    return {
        "schema": "bandgate.devices/1",
        "backend": "cuda",
        "gpu_machine": True,
        "devices": [],
        "problems": [{"code": "device-missing", "message": text} for text in problems or []],
        "cases": cases,
    }


class Site(unittest.TestCase):
    """A configured project; `ctest` runs in it with this environment."""

    program = HERE / "fake_bandgate.sh"
    body = "bandgate_discover_probes()"

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bandgate discovery ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.build = self.folder / "build"
        self.log = self.folder / "log"
        self.environment = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("BANDGATE_", "CTEST_", "FAKE_"))
        } | {
            "FAKE_LISTING": str(self.folder / "listing.json"),
            "FAKE_LOG": str(self.log),
            "BANDGATE_RESULTS": str(self.folder / "results"),
            "BANDGATE_REPORT_COMMAND": "/nonexistent/bandgate-report",
        }
        self.configure(self.body)

    def configure(self, body: str, program: Path | None = None) -> None:
        (self.folder / "CMakeLists.txt").write_text(
            PROJECT.format(root=ROOT, program=program or self.program, body=body), encoding="utf-8"
        )
        subprocess.run(
            ["cmake", "-S", str(self.folder), "-B", str(self.build), "-G", "Ninja"],
            check=True,
            stdout=subprocess.DEVNULL,
            env=self.environment,
        )

    def lists(self, content: object) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / "listing.json").write_text(text, encoding="utf-8")

    def ctest(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["ctest", "--test-dir", str(self.build), "--no-tests=error", *arguments],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment | environment,
            timeout=120,
        )

    def cases(self, **environment: str) -> dict[str, dict[str, Any]]:
        """What `ctest -N` sees: the properties of each case, by name."""
        done = self.show(**environment)
        return {
            test["name"]: {"command": test.get("command")}
            | {p["name"]: p["value"] for p in test["properties"]}
            for test in done
        }

    def show(self, **environment: str) -> list[dict[str, Any]]:
        done = subprocess.run(
            ["ctest", "--test-dir", str(self.build), "--show-only=json-v1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
            env=self.environment | environment,
            timeout=120,
        )
        tests: list[dict[str, Any]] = json.loads(done.stdout)["tests"]
        return tests


# (start, end, device) of one check, in any unit of time.
Run = tuple[float, float, str]


def overlapping(runs: list[Run]) -> list[tuple[Run, Run]]:
    """The pairs that ran at one time."""
    pairs = ((a, b) for i, a in enumerate(runs) for b in runs[:i])
    return [(a, b) for a, b in pairs if a[0] < b[1] and b[0] < a[1]]
