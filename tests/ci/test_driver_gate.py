# SPDX-License-Identifier: Apache-2.0
"""ci/driver-gate from end to end, on scripted devices, as the owner of a driver runs it."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from called import called

ROOT = Path(__file__).resolve().parents[2]
HEALTHY = ROOT / "docs/examples/fire-drill/healthy-h200.json"
BUILT = Path(os.environ.get("GATE_BUILD", ROOT / "build/gate")) / "probes/cli/bandgate"
BANDGATE = Path(os.environ.get("BANDGATE", BUILT))
OLD, NEW = "580.159.04", "590.48.01"


def python_with_reports() -> str | None:
    """This one, or that of the checkout's environment, if it has what reports need."""
    if importlib.util.find_spec("pandas") and importlib.util.find_spec("scipy"):
        return sys.executable
    own = ROOT / ".venv/bin/python"
    return str(own) if own.is_file() else None


@unittest.skipUnless(BANDGATE.is_file(), f"there is no {BANDGATE}; ci/gate builds it")
class DriverGate(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="driver gate ")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.gate = self.path / "the gate"
        self.environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("BANDGATE_", "GITHUB_"))
        }
        self.environment["XDG_DATA_HOME"] = str(self.path / "data")

    def report(self) -> None:
        """Makes `verdict` use this checkout's reports."""
        python = python_with_reports()
        if python is None:
            self.skipTest("no Python here has what reports need")
        command = self.path / "bandgate-report"
        source = shlex.quote(str(ROOT / "reports/src"))
        command.write_text(
            f'#!/bin/sh\nPYTHONPATH={source} exec {shlex.quote(python)} -m bandgate_reports "$@"\n'
        )
        command.chmod(0o755)
        self.environment["BANDGATE_REPORT_COMMAND"] = str(command)

    def program(self, name: str, *, driver: str = OLD, loss: float = 0.0, sd: float = 0.0) -> Path:
        """A bandgate whose card scatters by `sd` from process to process (12 of them)."""
        chance = random.Random(name)
        drawn = [chance.gauss(0, 1) for _ in range(12)]
        mean = sum(drawn) / 12
        for i, one in enumerate(drawn):
            self.script(
                f"{name}-{i}", driver=driver, factor=(1 - loss) * math.exp(sd * (one - mean))
            )
        wrapper = self.path / name
        wrapper.write_text(
            f"""#!/bin/sh
cd {shlex.quote(str(self.path))}
n=$(cat {name}.count 2>/dev/null || echo 0)
[ "$1" != check ] || echo $((n + 1)) > {name}.count
export BANDGATE_BACKEND=scripted:{name}-$((n % 12)).json
exec {shlex.quote(str(BANDGATE.absolute()))} "$@"
"""
        )
        wrapper.chmod(0o755)
        return wrapper

    def script(self, name: str, *, driver: str = OLD, factor: float = 1.0, **more: Any) -> Path:
        """The healthy card, that much faster, in a file of its own."""
        script = json.loads(HEALTHY.read_text(encoding="utf-8"))
        device = script["devices"][0]
        device["identity"]["driver_version"] = driver
        for probe in device["probes"].values():
            for attempt in probe["attempts"]:
                for key in {"samples", "parts"} & set(attempt):
                    attempt[key] = [value * factor for value in attempt[key]]
        script.update(more)
        file = self.path / f"{name}.json"
        file.write_text(json.dumps(script), encoding="utf-8")
        return file

    def call(self, *arguments: str | Path) -> tuple[int, str]:
        # The folder first: what follows `--` is bandgate's.
        folder = ["--dir", str(self.gate)] if arguments[:1] != ("--help",) else []
        command = [str(ROOT / "ci/driver-gate"), *map(str, arguments[:1]), *folder]
        command += map(str, arguments[1:])
        return called(command, self.path, self.environment)

    def expect(self, code: int, *arguments: str | Path) -> str:
        found, output = self.call(*arguments)
        self.assertEqual(found, code, output)
        return output

    def runs(self, side: str) -> int:
        return len(list((self.gate / side).glob("run-*")))

    def measured(self, side: str, program: Path, *options: str) -> str:
        return self.expect(0, side, "--executable", program, *options)

    def results(self, side: str) -> list[Path]:
        return sorted((self.gate / side).glob("run-*/*/*/*/*.json"))

    def reboot(self) -> None:
        """What was measured so far was in another boot."""
        for side in ("before", "after"):
            for file in self.results(side):
                result = json.loads(file.read_text(encoding="utf-8"))
                result["run"]["boot_id"] = f"earlier-{result['run']['boot_id']}"
                file.write_text(json.dumps(result), encoding="utf-8")


class Verdicts(DriverGate):
    def test_pass(self) -> None:
        self.report()
        output = self.measured("before", self.program("old", sd=0.002))
        self.assertIn("before: run 10 of 10", output)
        self.reboot()
        self.measured("after", self.program("new", driver=NEW, sd=0.002))
        output = self.expect(0, "verdict")
        self.assertIn("PASS: none of 5 comparisons lost more than 1 %", output)
        self.assertIn(f"Changed: driver {OLD} → {NEW}.", output)
        self.assertIn("BEFORE and AFTER are of a single boot", output.replace("\n", " "))
        page = (self.gate / "verdict.html").read_text(encoding="utf-8")
        self.assertIn("PASS: none of 5 comparisons", page)
        self.assertIn("next: adopt it: roll it out", output)
        self.assertIn("`bandgate baseline record --suite quick`", output)

    def test_two_percent_lost(self) -> None:
        self.report()
        self.measured("before", self.program("old", sd=0.004))
        self.measured("after", self.program("new", driver=NEW, loss=0.02, sd=0.004))
        self.environment["GITHUB_STEP_SUMMARY"] = str(self.path / "summary.md")
        output = self.expect(1, "verdict")
        self.assertIn("FAIL: 5 of 5 comparisons lost more than 1 %", output)
        text = (self.gate / "verdict.md").read_text(encoding="utf-8")
        self.assertEqual(text.count("| 🔻 FAIL |"), 5, text)
        self.assertIn(f"next: roll back to driver {OLD}, reboot", output)
        self.assertIn(f"keep {self.gate}: both sides", output)
        self.assertEqual((self.path / "summary.md").read_text(encoding="utf-8"), text)

    def test_cannot_tell(self) -> None:
        self.report()
        self.measured("before", self.program("old", loss=0.04, sd=0.012), "--runs", "5")
        self.measured("after", self.program("new", driver=NEW, loss=0.05, sd=0.012))
        output = self.expect(4, "verdict")
        text = (self.gate / "verdict.md").read_text(encoding="utf-8")
        further = [int(n) for n in re.findall(r"about ([0-9]+) more runs? a side would", text)]
        self.assertIn(f"next: about {max(further)} more runs a side: `ci/driver-gate", output)
        self.assertIn(f"after --runs {max(further) + 5}`", output)
        self.assertTrue((self.gate / "verdict.html").is_file())

    def test_too_few_runs_have_no_verdict(self) -> None:
        self.expect(2, "verdict")
        old, new = self.program("old"), self.program("new", driver=NEW)
        self.measured("before", old, "--runs", "6")
        self.assertIn("after has 0 of 6 runs", self.expect(2, "verdict"))
        self.measured("after", new, "--runs", "2")
        self.assertIn("after has 2 of 6 runs: run `after` again", self.expect(2, "verdict"))

    def test_other_probes_are_refused(self) -> None:
        self.report()
        self.measured("before", self.program("old"), "--runs", "1")
        self.measured("after", self.program("new", driver=NEW), "--runs", "1")
        for file in self.results("after"):
            result = json.loads(file.read_text(encoding="utf-8"))
            if result["probe"]["name"] == "read":
                result["probe"]["version"] += 1
                file.write_text(json.dumps(result), encoding="utf-8")
        self.assertIn("probe version of read", self.expect(2, "verdict"))
        self.assertFalse((self.gate / "verdict.html").exists())

    def test_without_reports(self) -> None:
        self.measured("before", self.program("old"), "--runs", "1")
        self.measured("after", self.program("new", driver=NEW), "--runs", "1")
        self.environment["BANDGATE_REPORT_COMMAND"] = "/nonexistent/bandgate-report"
        self.assertIn("cannot be run", self.expect(2, "verdict"))


class Steps(DriverGate):
    def test_nothing_changed(self) -> None:
        old = self.program("old")
        self.measured("before", old, "--runs", "1")
        self.assertIn("nothing changed", self.expect(2, "after", "--executable", old))
        self.assertEqual(self.runs("after"), 0)
        self.expect(0, "after", "--executable", old, "--force")
        self.assertEqual(self.runs("after"), 1)

    def test_a_reboot_is_a_change(self) -> None:
        old = self.program("old")
        self.measured("before", old, "--runs", "1")
        self.reboot()
        self.measured("after", old)

    def test_a_side_has_one_driver(self) -> None:
        self.measured("before", self.program("old"), "--runs", "1")
        new = self.program("new", driver=NEW)
        output = self.expect(2, "before", "--executable", new, "--runs", "2")
        self.assertIn(f"before was measured with driver {OLD}, and now it is {NEW}", output)

    def test_before_first(self) -> None:
        new = self.program("new", driver=NEW)
        self.assertIn("run `before` first", self.expect(2, "after", "--executable", new))
        self.measured("before", self.program("old"), "--runs", "1")
        (self.gate / "before/run-01").rename(self.gate / "before/.gone")
        self.measured("before", self.program("old"), "--runs", "1")
        shutil.copytree(self.gate / "before/run-01", self.gate / "before/run-02")
        plan = json.loads((self.gate / "plan.json").read_text())
        (self.gate / "plan.json").write_text(json.dumps(plan | {"runs": 9}))
        self.assertIn("before has 2 of 9 runs", self.expect(2, "after", "--executable", new))

    def test_more_runs_later(self) -> None:
        old = self.program("old")
        self.measured("before", old, "--runs", "2")
        self.assertIn("2 runs with driver", self.measured("before", old, "--runs", "2"))
        output = self.measured("before", old, "--runs", "3")
        self.assertIn("run 3 of 3", output)
        self.assertNotIn("run 2 of", output)

    def test_both_sides_measure_alike(self) -> None:
        self.measured("before", self.program("old"), "--runs", "1", "--", "read")
        new = self.program("new", driver=NEW)
        output = self.expect(2, "after", "--executable", new, "--suite", "full")
        self.assertIn("was begun with quick", output)
        self.measured("after", new)
        names = {json.loads(f.read_text())["probe"]["name"] for f in self.results("after")}
        self.assertIn("read", names)

    def test_a_lost_card_ends_it(self) -> None:
        self.measured("before", self.program("old"), "--runs", "1")
        gone = self.script("gone", driver=NEW)
        script = json.loads(gone.read_text())
        script["devices"][0]["identity"]["uuid"] = "GPU-00000000-0000-4000-8000-000000000009"
        gone.write_text(json.dumps(script))
        options = ("--executable", BANDGATE.absolute(), "--backend", f"scripted:{gone}")
        self.assertIn("not there now: GPU-", self.expect(3, "after", *options))
        self.expect(0, "after", *options, "--keep-going")

    def test_what_prevents_measuring_ends_it(self) -> None:
        drills = ROOT / "docs/examples/fire-drill"
        for name, code, words in (
            ("lost-at-sample-3", 3, "GPU lost"),
            ("missing-gpu", 3, "does not list it"),
            ("no-device", 2, "there is no device"),
        ):
            with self.subTest(name=name):
                backend = f"scripted:{drills / name}.json"
                options = ("--executable", BANDGATE.absolute(), "--backend", backend)
                self.assertIn(words, self.expect(code, "before", *options))
                self.assertEqual(self.runs("before"), 0)
        backend = f"scripted:{drills / 'contended.json'}"
        options = ("--executable", BANDGATE.absolute(), "--backend", backend)
        output = self.expect(4, "before", *options, "--", "--wait-idle", "0s")
        self.assertIn("nothing was measured", output)

    def test_a_broken_result_is_named(self) -> None:
        old = self.program("old")
        self.measured("before", old, "--runs", "2")
        broken = self.results("before")[0]
        for text in (broken.read_text()[:100], "[" * 20000, None):
            broken.unlink()
            os.mkfifo(broken) if text is None else broken.write_text(text)
            output = self.expect(2, "before", "--executable", old, "--runs", "3")
            self.assertIn(f"{broken}: not a result", output)
            self.assertIn("remove", output)
        shutil.rmtree(self.gate / "before/run-01")
        self.measured("before", old, "--runs", "3")
        self.assertEqual(self.runs("before"), 3)

    def test_a_broken_plan_is_named(self) -> None:
        self.gate.mkdir()
        plan = {"mode": "sides", "suite": "quick", "runs": 1, "arguments": []}
        wrong: list[dict[str, Any]] = [{"runs": -1}, {"runs": True}, {"arguments": [1]}]
        wrong += [{"suite": None}, {"arguments": ["\ud800"]}]
        others = [json.dumps(plan | one) for one in wrong]
        for text in ("{", "[]", '{"mode": "sides"}', "[" * 20000, *others):
            (self.gate / "plan.json").write_text(text)
            output = self.expect(2, "before", "--executable", self.program("old"))
            self.assertIn("plan.json: not the plan", output)

    def test_killed_and_called_again(self) -> None:
        slow = self.path / "slow"
        slow.write_text(
            f"""#!/bin/sh
[ "$1" != check ] || sleep 0.3
exec {shlex.quote(str(self.program("old")))} "$@"
"""
        )
        slow.chmod(0o755)
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            begun = self.runs("before")
            process = subprocess.Popen(
                [ROOT / "ci/driver-gate", "before", "--executable", slow, "--dir", self.gate],
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
            )
            deadline = time.monotonic() + 60
            while self.runs("before") < begun + 1 and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.1)  # in the middle of the next
            process.send_signal(number)
            assert process.stdout
            process.stdout.close()
            self.assertNotEqual(process.wait(), 0)
        had = self.runs("before")
        self.assertIn(had, range(3, 10))
        output = self.measured("before", slow)
        self.assertIn(f"run {had + 1} of 10", output)
        self.assertNotIn(f"run {had} of 10", output)
        self.assertEqual(self.runs("before"), 10)
        self.assertFalse((self.gate / "before/.partial").exists())
        files = {
            len(list(run.glob("*/*/*/*.json"))) for run in (self.gate / "before").glob("run-*")
        }
        self.assertEqual(files, {6})  # nothing half


class Interleaved(DriverGate):
    def test_in_turn(self) -> None:
        self.report()
        old = self.program("old", sd=0.002)
        new = self.program("the-new", driver=NEW, loss=0.03, sd=0.002)
        commands = ["--before-command", f"env A=1 {shlex.quote(str(old))}"]
        commands += ["--after-command", shlex.quote(str(new))]
        output = self.expect(0, "interleave", *commands, "--runs", "4")
        turns = [line.split()[1][0] for line in output.splitlines() if " run " in line]
        self.assertEqual("".join(turns), "baabbaab")
        output = self.expect(0, "interleave", *commands, "--runs", "6")
        turns = [line.split()[1][0] for line in output.splitlines() if " run " in line]
        self.assertEqual("".join(turns), "baab")
        output = self.expect(1, "verdict")
        self.assertNotIn("Confounded with time", output)
        other = self.expect(2, "before", "--executable", old)
        self.assertIn("is of `interleave`", other)

    def test_commands_that_are_none(self) -> None:
        for before, after in (("a", "a"), ("", "b"), ("'a", "b"), ("/nonexistent/x", "b")):
            with self.subTest(before=before):
                self.expect(2, "interleave", "--before-command", before, "--after-command", after)


class Arguments(DriverGate):
    def test_bad_arguments(self) -> None:
        for arguments in (
            (),
            ("during",),
            ("before", "--runs", "0"),
            ("before", "--runs", "-3"),
            ("before", "--runs", "ten"),
            ("before", "--suite", "all"),
            ("before", "--fast"),
            ("before", "--executable", "/nonexistent/bandgate"),
            ("before", "--executable", "/bin/true"),
            ("before", "--executable", str(BANDGATE.absolute()), "--backend", "scripted:/nowhere"),
            ("interleave",),
            ("interleave", "--before-command", "x"),
            ("verdict", "--suite", "quick"),
            ("verdict", "--", "read"),
        ):
            with self.subTest(arguments=arguments):
                self.assertTrue(self.expect(2, *arguments))
        self.assertFalse(list(self.gate.glob("*/run-*")))

    def test_a_folder_that_cannot_be_written(self) -> None:
        (self.path / "file").write_text("")
        self.gate = self.path / "file/gate"
        self.assertIn("cannot be written", self.expect(2, "before"))

    def test_a_program_that_is_no_bandgate(self) -> None:
        other = self.path / "other"
        for said in ("\\377\\376", '{"devices": 5, "problems": []}', "[" * 20000):
            other.write_text(f"#!/bin/sh\nprintf '{said}'\n")
            other.chmod(0o755)
            output = self.expect(2, "before", "--executable", other)
            self.assertIn("not what bandgate says", output)

    def test_a_verdict_makes_no_folder(self) -> None:
        self.assertIn("nothing was measured here", self.expect(2, "verdict"))
        self.assertFalse(self.gate.exists())

    def test_who_reads_along_may_go(self) -> None:
        old = self.program("old")
        command: list[str | Path] = [
            ROOT / "ci/driver-gate",
            "before",
            "--dir",
            self.gate,
            "--runs",
            "2",
        ]
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [*command, "--executable", old],
            env=self.environment,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr, self.runs("before")), (0, b"", 2))

    def test_a_fault_of_the_program_is_no_verdict(self) -> None:
        program = f"""
import sys
sys.path.insert(0, {str(ROOT / "ci")!r})
import driver_gate
driver_gate.STEPS["before"] = lambda options, lock: 1 // 0
sys.argv = ["driver-gate", "before", "--dir", {str(self.gate)!r}]
sys.exit(driver_gate.main())
"""
        done = subprocess.run(
            [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, check=False
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("ZeroDivisionError", done.stderr)

    def test_help(self) -> None:
        self.assertIn("ci/driver-gate interleave --before-command", self.expect(0, "--help"))


if __name__ == "__main__":
    unittest.main()
