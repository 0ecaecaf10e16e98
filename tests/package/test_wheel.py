#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package as a wheel: what is in it, and (SLOW_TESTS=1) that it works on its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "reports" / "src"


def call(*command: str | Path, **more: str) -> str:
    done = subprocess.run(
        list(map(str, command)),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | more,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Wheel(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bandgate-wheel-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # Without isolation it needs no network; ci/setup installed the builder.
        call(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check",
             "--no-deps", "--no-build-isolation", "--wheel-dir", self.folder,
             ROOT / "reports")  # fmt: skip
        (self.wheel,) = self.folder.glob("bandgate_reports-*-py3-none-any.whl")

    def test_contents(self) -> None:
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
            entries = archive.read(next(n for n in names if n.endswith("entry_points.txt")))
            schema = archive.read("bandgate_reports/data/result.schema.json")
        tracked = call("git", "-C", SOURCE, "ls-files").split("\n")
        sources = {name for name in tracked if name and (SOURCE / name).is_file()}
        self.assertTrue(any(name.endswith(".j2") for name in sources))
        self.assertEqual(sources - names, set(), "in the sources and not in the wheel")
        self.assertIn(b"bandgate-report = bandgate_reports.commands.cli:main", entries)
        self.assertEqual(schema, (ROOT / "baselines/schema/result.schema.json").read_bytes())
        self.assertEqual([name for name in names if "tests/" in name], [])

    @unittest.skipUnless(os.environ.get("SLOW_TESTS"), "minutes: set SLOW_TESTS=1")
    def test_in_an_environment_of_its_own(self) -> None:
        venv = self.folder / "venv"
        call(sys.executable, "-m", "venv", venv)
        call(venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", self.wheel)
        report = venv / "bin/bandgate-report"
        self.assertIn("0.1", call(report, "--version"))
        call(report, "demo", "--nights", "3", "--out", self.folder / "made", HOME=str(self.folder))
        page = self.folder / "page"
        call(report, "trend", self.folder / "made", "--include-scripted", "--exit-zero",
             "--out", page)  # fmt: skip
        self.assertIn("<html", (page / "index.html").read_text(encoding="utf-8")[:500])


if __name__ == "__main__":
    unittest.main()
