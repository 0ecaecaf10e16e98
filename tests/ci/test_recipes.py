# SPDX-License-Identifier: Apache-2.0
"""ci/github and ci/gitlab: each by its own schema, and its steps run on scripted devices. Every way
to be red is red, with its cause where people look; what is green has judged something."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from recipes import DRILLS, PIPELINE, ROOT, WORKFLOW, GitHub, GitLab, Job, Recipe, load

SCRIPTED = f"scripted:{DRILLS}/{{}}.json"
HEALTHY = SCRIPTED.format("healthy-h200")
# A program that dies, and one that does nothing and calls it a success.
BROKEN = "#!/bin/bash\nenv\necho 'symbol lookup error: libcudart' >&2\nkill -SEGV $$\n"
EMPTY = "#!/bin/bash\nexit 0\n"


def unknown_card(folder: Path) -> str:
    """A card that no baseline is for."""
    drill = json.loads((DRILLS / "healthy-h200.json").read_text())
    identity = drill["devices"][0]["identity"]
    identity |= {"name": "NVIDIA Unknown", "pci_device": "10de:ffff", "pci_subsystem": "10de:ffff"}
    identity |= {"board_part": "000-00000-0000-000"}
    (folder / "unknown.json").write_text(json.dumps(drill))
    return f"scripted:{folder}/unknown.json"


def red_paths(folder: Path) -> Iterator[tuple[str, int, str]]:
    """Devices, the job's exit code, and its cause."""
    yield SCRIPTED.format("wrong-checksum"), 3, "the sum of the buffer is 0x5d1f0c3b7a2e9846 inst"
    yield SCRIPTED.format("missing-gpu"), 3, "the GPU at 0000:43:00.0 (NVIDIA H200, GPU-00000000"
    yield SCRIPTED.format("no-device"), 4, "no device for backend"
    yield unknown_card(folder), 4, "no baseline entry for d2h"
    (folder / "broken.json").write_text("{")
    yield f"scripted:{folder}/broken.json", 2, "broken.json: line 1, column 2: syntax error"


@unittest.skipUnless(importlib.util.find_spec("check_jsonschema"), "no check-jsonschema")
class Lint(unittest.TestCase):
    def lint(self, schema: str, file: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_workflow(self) -> None:
        self.lint("vendor.github-workflows", WORKFLOW)
        workflow = load(WORKFLOW)
        self.assertEqual(set(workflow["on"]), {"schedule", "workflow_dispatch"})
        self.assertEqual(workflow["permissions"], {})
        job = workflow["jobs"]["nightly"]
        self.assertEqual(job["permissions"], {"contents": "write"})
        for step in job["steps"]:
            self.assertRegex(step.get("uses", "actions/x@v1"), r"^actions/[a-z-]+@v\d+$")
            # A text that somebody enters is never part of a script.
            self.assertNotIn("${{", step.get("run", ""))
            # A runner that stops a job tells the shell alone, whose place the night takes.
            self.assertTrue(step.get("run", "exec ").startswith("exec "))

    def test_the_pipeline(self) -> None:
        self.lint("vendor.gitlab-ci", PIPELINE)

    @unittest.skipUnless(shutil.which("shellcheck"), "no shellcheck")
    def test_the_shell(self) -> None:
        steps = load(WORKFLOW)["jobs"]["nightly"]["steps"]
        scripts = [step["run"] for step in steps if "run" in step]
        job = load(PIPELINE)["bandgate"]
        scripts.append("\n".join(job["before_script"] + job["script"]))
        for file, script in [(str(ROOT / "ci/nightly"), ""), *(("-", text) for text in scripts)]:
            done = subprocess.run(
                ["shellcheck", file],
                input=f"#!/bin/bash\nset -eo pipefail\n{script}\n",
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stdout)


class Github(GitHub):
    def red(self, code: int, cause: str, job: Job) -> None:
        self.assertEqual(job.code, code, job.log)
        self.assertIn(f"# Bandgate on gpu-07: red, exit code {code}, judged ", job.summary)
        self.assertIn(cause, job.summary)
        self.assertIn("summary.md", job.kept)
        self.assertIn("junit/job.xml", job.kept)

    def test_green_has_judged(self) -> None:
        job = self.job(HEALTHY)
        self.assertEqual(job.code, 0, job.log)
        self.assertIn("# Bandgate on gpu-07: green, judged 5 of 6\n", job.summary)
        self.assertIn("## the verdicts", job.summary)
        self.assertIn("report/index.html", job.kept)

    def test_regression(self) -> None:
        """With the real reports."""
        self.real_reports()
        job = self.job(SCRIPTED.format("slow-5-percent"))
        self.red(1, "| 🔻 regression | NVIDIA H200 (scripted)<br>gpu-07", job)
        self.assertIn("3797.0 GiB/s is 5.21 % below the reference 4005.7 GiB/s", job.summary)
        self.assertIn("::error title=bandgate gpu0 copy regression::3797.0 GiB/s, below", job.log)
        self.assertIn("NVIDIA H200", job.kept["report/index.html"].read_text(encoding="utf-8"))
        self.assertEqual(len([name for name in job.kept if name.startswith("results/2")]), 9)
        probes = ElementTree.parse(job.kept["junit/probes.xml"]).getroot()
        self.assertEqual((probes.get("tests"), probes.get("failures")), ("6", "3"))
        self.metrics(job.kept["metrics.txt"].read_text(encoding="utf-8"))

    def metrics(self, text: str) -> None:
        if not importlib.util.find_spec("prometheus_client"):
            return
        parser = importlib.import_module("prometheus_client.openmetrics.parser")
        families = {family.name for family in parser.text_string_to_metric_families(text)}
        self.assertIn("bandgate_bandwidth_bytes_per_second", families)
        self.assertNotIn("bandgate_last_run_timestamp_seconds", families)

    def test_red_paths(self) -> None:
        for backend, code, cause in red_paths(self.folder):
            with self.subTest(backend):
                self.red(code, cause, self.job(backend))

    def test_a_broken_program(self) -> None:
        self.program("bandgate", BROKEN)
        job = self.job(HEALTHY)
        self.red(139, "symbol lookup error: libcudart", job)
        self.assertNotIn("a-secret", job.log)

    def test_a_program_that_does_nothing(self) -> None:
        self.program("bandgate", EMPTY)
        job = self.job(HEALTHY)
        self.red(4, "- nothing was judged, although `bandgate check` ended with 0", job)
        self.assertIn("::error title=bandgate nightly::nothing was judged", job.log)

    def test_a_mistake_in_the_configuration(self) -> None:
        job = self.job(HEALTHY, **{"vars.BANDGATE_BASELINES": "/no/such/folder"})
        self.red(2, "/no/such/folder: cannot be read", job)

    def test_reports_that_fail(self) -> None:
        self.program("bandgate-report", "#!/bin/bash\necho disk full\nexit 2\n")
        self.red(2, "- bandgate-report trend ended with 2: disk full", self.job(HEALTHY))
        # The verdict is the exit code all the same.
        self.red(1, "- bandgate-report trend", self.job(SCRIPTED.format("slow-5-percent")))

    def test_nights_follow_each_other(self) -> None:
        first, second = self.job(HEALTHY), self.job(SCRIPTED.format("slow-5-percent"))
        self.assertEqual((first.code, second.code), (0, 1))
        kept = {name for job in (first, second) for name in job.kept if "results/2" in name}
        self.assertEqual(len(kept), 15)
        self.assertEqual(self.stored(), kept)
        # The page of the second night is made of both.
        folders = second.kept["report/index.html"].read_text().splitlines()
        self.assertRegex(folders[0], r"/bandgate-history-\w+/results$")
        self.assertRegex(folders[1], r"/bandgate/results$")

    def test_a_history_that_cannot_be_kept(self) -> None:
        shutil.rmtree(self.history)
        job = self.job(HEALTHY)
        self.red(2, "- the history could not be saved: git ls-remote ended with 128", job)
        self.assertIn("- the history could not be restored", job.summary)
        self.assertIn("judged 5 of 6", job.summary)


class Gitlab(GitLab):
    def red(self, code: int, cause: str, job: Job) -> None:
        self.assertEqual(job.code, code, job.log)
        self.assertIn(cause, job.log)
        case = ElementTree.parse(job.kept["junit/job.xml"]).find("testsuite/testcase/failure")
        assert case is not None
        self.assertIn(
            f"Bandgate on gpu-07: red, exit code {code}, judged ", case.get("message", "")
        )
        self.assertIn(cause, case.text or "")

    def test_green_has_judged(self) -> None:
        job = self.job(HEALTHY)
        self.assertEqual(job.code, 0, job.log)
        self.assertIn("judged 5 of 6: 5 pass, 1 skipped", job.log)
        self.assertIn("Bandgate on gpu-07: green, judged 5 of 6\n", job.log)
        case = ElementTree.parse(job.kept["junit/job.xml"]).find("testsuite/testcase")
        assert case is not None
        self.assertEqual((case.get("classname"), len(case)), ("bandgate.gpu-07", 0))
        metrics = job.kept["metrics.txt"].read_text()
        self.assertEqual(metrics, 'bandgate_ratio{probe="read"} 0.95\n# EOF\n')
        self.assertEqual(self.stored(), {name for name in job.kept if "results/2" in name})

    def test_regression(self) -> None:
        job = self.job(SCRIPTED.format("slow-5-percent"))
        self.red(1, "REGRESSION   gpu0 read: 4087.0 GiB/s, bounds 4260.0 GiB/s", job)
        self.assertIn("junit/probes.xml", job.kept)
        self.assertIn("report/index.html", job.kept)

    def test_red_paths(self) -> None:
        for backend, code, cause in red_paths(self.folder):
            with self.subTest(backend):
                self.red(code, cause, self.job(backend))

    def test_a_broken_program(self) -> None:
        self.program("bandgate", BROKEN)
        self.red(139, "symbol lookup error: libcudart", self.job(HEALTHY))

    def test_no_bandgate_to_clone(self) -> None:
        job = self.job(HEALTHY, BANDGATE_REF="no-such-tag")
        self.assertEqual(job.code, 128)
        self.assertIn("no-such-tag", job.log)


class Script(Recipe):
    """What both recipes call, where a recipe cannot go."""

    def test_without_a_program_it_is_built(self) -> None:
        checkout = self.folder / "checkout"
        (checkout / "ci").mkdir(parents=True)
        for name in ("nightly", "nightly.py", "nightly_history.py", "nightly_summary.py"):
            shutil.copy(ROOT / "ci" / name, checkout / "ci")
        shutil.copy(ROOT / "ci/verdicts.py", checkout / "ci")
        program = (self.bin / "bandgate").readlink()
        (self.bin / "bandgate").unlink()
        built = checkout / "build/gate/probes/cli"
        gate = checkout / "ci/gate"
        for code, gate_does, shown in (
            (2, "echo no compiler; exit 2", "no compiler"),
            (0, f"mkdir -p '{built}'; ln -s '{program}' '{built}/bandgate'", "judged 5 of 6"),
        ):
            gate.write_text(f'#!/bin/bash\n[ "$*" = --build-only ] || exit 9\n{gate_does}\n')
            gate.chmod(0o755)
            backend = {"BANDGATE_BACKEND": HEALTHY}
            command = f"'{checkout}/ci/nightly' --out night{code}"
            found, said = self.shell(command, self.folder, backend)
            self.assertEqual(found, code, said)
            self.assertIn(shown, (self.folder / f"night{code}/summary.md").read_text())

    def test_the_gate_can_build_only(self) -> None:
        log = self.folder / "built"
        cmake = f"#!/bin/bash\necho cmake version 3.25.1\necho \"$1\" >>'{log}'\n"
        self.program("cmake", cmake)
        options = "--build-only --no-report --backend host --build-dir b --results r"
        code, said = self.shell(f"'{ROOT}/ci/gate' {options}", self.folder, {})
        self.assertEqual(code, 0, said)
        self.assertEqual(log.read_text(), "--version\n-S\n--build\n")
        self.assertFalse((self.folder / "r").exists())

    def test_the_page(self) -> None:
        """Each line of docs/ci.md's blocks on a drill ends as is written beside it."""
        page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
        blocks = "".join(re.findall(r"^```sh\n(export .*?)^```", page, re.MULTILINE | re.DOTALL))
        (self.folder / "ci").symlink_to(ROOT / "ci")
        (self.folder / "docs").symlink_to(ROOT / "docs")
        self.assertEqual(len(blocks.splitlines()), 7)
        script = ""
        for line in blocks.splitlines():
            code = re.search(r"# exit (\d+)", line)
            script += f"code=0\n{line.partition('  #')[0]} || code=$?\n"
            script += f"[ $code = {code[1] if code else 0} ]\n"
        found, said = self.shell(script, self.folder, {})
        self.assertEqual(found, 0, said)
        self.assertRegex(said, r"tests failed: bandgate.gpu0.copy bandgate.gpu0.read\s")

    def test_a_folder_of_an_earlier_night(self) -> None:
        (self.folder / "night").mkdir()
        (self.folder / "night/results").touch()
        code, said = self.shell(f"'{ROOT}/ci/nightly' --out night", self.folder, {})
        self.assertEqual(code, 2)
        self.assertRegex(said, r"--out .*/night: is there already; name a folder that is not")

    def test_a_job_that_is_stopped(self) -> None:
        self.program("bandgate", "#!/bin/bash\ntouch begun\nexec sleep 60\n")
        command = f"'{ROOT}/ci/nightly' --out night & until [ -e begun ]; do sleep 0.1; done"
        code, _ = self.shell(f"{command}; kill -TERM $!; wait $!", self.folder, {})
        self.assertEqual(code, 143)
        summary = (self.folder / "night/summary.md").read_text()
        self.assertIn("- the job was stopped before it was done", summary)
        self.assertTrue(re.search("red, exit code 143", summary))


if __name__ == "__main__":
    unittest.main()
