# SPDX-License-Identifier: Apache-2.0
"""The gate's table, commands and exit code, from literal result files."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci"))

import count_junit  # noqa: E402
import verdicts  # noqa: E402

SINCE = "2026-11-29T02:00:00.000Z"


def result(status: str, probe: str = "read", **more: Any) -> dict[str, Any]:
    baseline = {
        "card": False,
        "reference": 4000 * 2**30,
        "lower": 3960 * 2**30,
        "upper": None,
        "ratio": 1.025,
    }
    judged = status in {"pass", "improved", "regression"}
    made: dict[str, Any] = {
        "run": {"host": "n1", "started": "2026-11-29T02:00:01.000Z"},
        "device": {
            "backend": "cuda",
            "uuid": "GPU-1",
            "pci_address": "0000:1b:00.0",
            "name": "NVIDIA H200",
        },
        "probe": {"name": probe, "parameters": {}},
        "measurement": {"unit": "B/s", "median": 4100 * 2**30},
        "verdict": {
            "status": status,
            "unstable": False,
            "baselines": [baseline] if judged else [],
            "reasons": [],
            "next_step": "",
        },
    }
    for part, values in more.items():
        made[part] |= values
    return made


class Codes(unittest.TestCase):
    def code(self, *statuses: str, strict: bool = False) -> int:
        return verdicts.exit_code([result(status) for status in statuses], strict)

    def test_one_status(self) -> None:
        expected = {
            "pass": 0, "improved": 0, "regression": 1, "error": 3, "inconclusive": 4,
            "no-baseline": 0, "skipped": 0, "something new": 3,
        }  # fmt: skip
        self.assertEqual({status: self.code(status) for status in expected}, expected)

    def test_first_of_3_1_4_0(self) -> None:
        self.assertEqual(self.code("pass", "inconclusive", "regression", "error"), 3)
        self.assertEqual(self.code("pass", "inconclusive", "regression"), 1)
        self.assertEqual(self.code("pass", "inconclusive", "no-baseline"), 4)

    def test_strict(self) -> None:
        self.assertEqual(self.code("pass", strict=True), 0)
        self.assertEqual(self.code("pass", "no-baseline", strict=True), 4)
        self.assertEqual(self.code("regression", "no-baseline", strict=True), 1)
        self.assertEqual(self.code(strict=True), 4)
        self.assertEqual(self.code(), 0)


class Reading(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, content: object) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        file.write_text(text, encoding="utf-8")

    def program(self, *options: str) -> subprocess.CompletedProcess[str]:
        options = ("--since", SINCE, "--executable", "/a b/bandgate", *options)
        return subprocess.run(
            [sys.executable, str(ROOT / "ci/verdicts.py"), "--results", str(self.folder), *options],
            capture_output=True,
            text=True,
            check=False,
        )

    def test_only_this_run_and_its_final_attempts(self) -> None:
        self.write("2026/11/28/a.json", result("error", run={"started": "2026-11-28T23:00:00Z"}))
        old = {"started": "2026-11-29T01:59:59.999Z"}
        self.write("2026/11/29/b.json", result("error", run=old))
        self.write("2026/11/29/c.json", result("regression"))
        again = {"started": "2026-11-29T02:00:09.000Z"}
        self.write("2026/11/29/d.json", result("pass", run=again))
        self.write("2026/11/29/e.json", result("inconclusive", device={"uuid": "GPU-2"}))
        self.write("report/index.html", "<html>")
        found, broken = verdicts.read_results(self.folder, SINCE)
        self.assertEqual(broken, [])
        self.assertEqual([r["verdict"]["status"] for r in found], ["pass", "inconclusive"])

    def test_a_broken_result_is_an_error(self) -> None:
        self.write("2026/11/29/a.json", result("pass"))
        self.write("2026/11/29/b.json", '{"run": ')
        done = self.program()
        self.assertEqual(done.returncode, 3)
        self.assertIn("b.json", done.stderr)

    def test_table(self) -> None:
        self.write("2026/11/29/a.json", result("pass"))
        done = self.program()
        self.assertEqual(done.returncode, 0, done.stderr)
        header, line, last = done.stdout.splitlines()
        self.assertEqual(
            header.split(),
            ["DEVICE", "PROBE", "MEASURED", "REFERENCE", "BOUNDS", "RATIO", "VERDICT"],
        )
        self.assertEqual(
            line.split("  "),
            ["0000:1b:00.0 NVIDIA H200", "read", " 4100.0 GiB/s", "4000.0 GiB/s",
             "3960.0 GiB/s .. -", "102.5 %", "pass"],
        )  # fmt: skip
        self.assertEqual(last, "judged 1 of 1")

    def test_no_baseline_prints_the_command(self) -> None:
        host = {"backend": "host", "uuid": "", "pci_address": "", "name": "Xeon\x1b[31m"}
        self.write("2026/11/29/a.json", result("no-baseline", "copy", device=host))
        self.write("2026/11/29/b.json", result("no-baseline", "read", device=host))
        done = self.program()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(
            "\n  '/a b/bandgate' baseline record copy read --backend host --device all --yes\n",
            done.stdout,
        )
        self.assertIn("judged 0 of 2", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        self.assertEqual(self.program("--strict").returncode, 4)

    def test_reasons_and_failures_are_shown(self) -> None:
        told = {
            "reasons": [{"code": "wrong-result", "sentence": "element 3 differs"}],
            "next_step": "run it again",
        }
        self.write("2026/11/29/a.json", result("error", verdict=told) | {"measurement": None})
        done = self.program()
        self.assertEqual(done.returncode, 3)
        self.assertIn("0000:1b:00.0 read: element 3 differs", done.stdout)
        self.assertIn("0000:1b:00.0 read: next: run it again", done.stdout)


class Junit(unittest.TestCase):
    def test_counts(self) -> None:
        junit = (
            '<testsuite><testcase name="a"/><testcase name="b"><failure/></testcase>'
            '<testcase name="c"><skipped/></testcase><testcase name="d"><error/></testcase>'
            '<testcase name="e" status="run"/></testsuite>'
        )
        self.assertEqual(count_junit.count(junit, 1), (2, 2, 1))

    def test_a_runner_that_ran_nothing_or_crashed_has_failed(self) -> None:
        self.assertEqual(count_junit.count("<testsuite/>", 0), (0, 1, 0))
        skipped = '<testsuite><testcase name="a"><skipped/></testcase></testsuite>'
        self.assertEqual(count_junit.count(skipped, 0), (0, 1, 1))
        passed = '<testsuite><testcase name="a"/></testsuite>'
        self.assertEqual(count_junit.count(passed, 8), (1, 1, 0))
        self.assertEqual(count_junit.count(passed, 0), (1, 0, 0))


if __name__ == "__main__":
    unittest.main()
