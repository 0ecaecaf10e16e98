# SPDX-License-Identifier: Apache-2.0
"""A GitHub runner and a GitLab runner, as far as the recipes need them: the steps of the YAML file
in its order and under its conditions, in a workspace and an environment like theirs."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from called import called

ROOT = Path(__file__).resolve().parents[2]
DRILLS = ROOT / "docs/examples/fire-drill"
WORKFLOW = ROOT / "ci/github/bandgate-nightly.yml"
PIPELINE = ROOT / "ci/gitlab/.gitlab-ci.yml"
# What bandgate-report leaves, for all tests but the one that runs it.
REPORTS = """#!/bin/bash
while [ "$1" != --out ]; do words+=("$1"); shift; done
case ${words[0]} in
  markdown) echo "## the verdicts" >"$2" ;;
  junit) echo "<testsuites/>" >"$2" ;;
  prometheus) echo 'bandgate_ratio{probe="read"} 0.95' >"$2" ;;
  trend) mkdir "$2" && printf '%s\\n' "${words[@]:1}" >"$2/index.html" ;;
esac
"""


def load(file: Path) -> dict[str, Any]:
    yaml: Any = importlib.import_module("yaml")
    # YAML 1.1 takes the key `on` for true.
    loaded: dict[Any, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in loaded.items()}


@dataclass(frozen=True)
class Job:
    code: int  # 0 is green
    log: str
    summary: str
    kept: dict[str, Path]  # artefacts by their paths below the night's folder


class Recipe(unittest.TestCase):
    """A runner's machine: the programs on its PATH, and a repository for the history."""

    def setUp(self) -> None:
        program = os.environ.get("BANDGATE")
        if not program:
            self.skipTest("set BANDGATE to the program")
        folder = tempfile.TemporaryDirectory(prefix="bandgate recipe ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        (self.bin / "bandgate").symlink_to(Path(program).resolve())
        self.program("bandgate-report", REPORTS)
        self.history = self.folder / "site/gpus.git"
        self.git("init", "--quiet", "--bare", "--initial-branch=main", str(self.history))
        self.environment = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
        }
        self.jobs = 0

    def program(self, name: str, text: str) -> None:
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def real_reports(self) -> None:
        own = Path(sys.executable).parent / "bandgate-report"
        found = str(own) if own.exists() else shutil.which("bandgate-report")
        if not found:
            self.skipTest("no bandgate-report")
        (self.bin / "bandgate-report").unlink()
        (self.bin / "bandgate-report").symlink_to(found)

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()

    def stored(self, branch: str = "bandgate-history") -> set[str]:
        """The results on the branch."""
        listed = self.git("-C", str(self.history), "ls-tree", "-r", "--name-only", branch)
        return set(listed.split())

    def workspace(self) -> Path:
        self.jobs += 1
        workspace = self.folder / f"work{self.jobs}"
        workspace.mkdir()
        return workspace

    def shell(self, script: str, where: Path, environment: Mapping[str, str]) -> tuple[int, str]:
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return called(command, where, self.environment | dict(environment))


def files_below(folder: Path) -> dict[str, Path]:
    return {str(p.relative_to(folder)): p for p in sorted(folder.rglob("*")) if p.is_file()}


def expand(text: str, context: Mapping[str, str]) -> str:
    """Expressions of GitHub: names of contexts, texts, and `||`. Others fail the test."""

    def value(match: re.Match[str]) -> str:
        for term in match[1].split("||"):
            name = term.strip()
            found = name[1:-1] if name.startswith("'") else context[name]
            if found:
                return found
        return ""

    return re.sub(r"\$\{\{ (.*?) \}\}", value, text)


needs_yaml = unittest.skipUnless(importlib.util.find_spec("yaml"), "no PyYAML")


@needs_yaml
class GitHub(Recipe):
    def job(self, backend: str, **inputs: str) -> Job:
        workspace, temp = self.workspace(), self.workspace()
        context = {
            "github.server_url": str(self.folder),
            "github.repository": "site/gpus.git",
            "github.token": "a-secret",
            "github.run_attempt": "1",
            "inputs.suite": "",
            "inputs.backend": backend,
            "matrix.runner": "gpu",
            "runner.temp": str(temp),
            "vars.BANDGATE_SUITE": "",
            "vars.BANDGATE_BASELINES": "",
            "vars.BANDGATE_REPOSITORY": "bandgate/bandgate",
            "vars.BANDGATE_REF": "v1",
        } | inputs
        summary = temp / "summary of the step"
        summary.touch()
        code, log, kept = 0, "", dict[str, Path]()
        for step in load(WORKFLOW)["jobs"]["nightly"]["steps"]:
            condition = step.get("if", "success()")
            self.assertIn(condition, ("success()", "always()"))
            if code and condition == "success()":
                continue
            options = {k: expand(str(v), context) for k, v in step.get("with", {}).items()}
            if "run" in step:
                environment = {k: expand(v, context) for k, v in step.get("env", {}).items()} | {
                    "GITHUB_ACTIONS": "true",
                    "GITHUB_STEP_SUMMARY": str(summary),
                    "RUNNER_TEMP": str(temp),
                    "RUNNER_NAME": "gpu-07",
                }
                found, said = self.shell(expand(step["run"], context), workspace, environment)
                code, log = code or found, log + said
            elif step["uses"].startswith("actions/checkout@"):
                if "path" in options:
                    (workspace / options["path"]).symlink_to(ROOT)
            elif step["uses"].startswith("actions/upload-artifact@"):
                kept = files_below(Path(options["path"]))
                if not kept and options["if-no-files-found"] == "error":
                    code = code or 1
            else:
                self.fail(f"this runner does not know {step['uses']}")
        return Job(code, log, summary.read_text(encoding="utf-8"), kept)


@needs_yaml
class GitLab(Recipe):
    def setUp(self) -> None:
        super().setUp()
        # A Bandgate that can be cloned in no time.
        self.bandgate = self.folder / "bandgate"
        self.bandgate.mkdir()
        (self.bandgate / "ci").symlink_to(ROOT / "ci")
        self.git("-C", str(self.bandgate), "init", "--quiet", "--initial-branch=v1")
        self.git("-C", str(self.bandgate), "add", "ci")
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        self.git("-C", str(self.bandgate), *identity, "commit", "--quiet", "-m", "a")

    def job(self, backend: str, **variables: str) -> Job:
        job = load(PIPELINE)["bandgate"]
        project = self.workspace()
        environment = {
            "CI_JOB_ID": "4711",
            "CI_JOB_TOKEN": "a-secret",
            "CI_PROJECT_DIR": str(project),
            "CI_PROJECT_URL": str(self.history.with_suffix("")),
            "CI_RUNNER_DESCRIPTION": "gpu-07",
            "BANDGATE_RUNNER": job["parallel"]["matrix"][0]["BANDGATE_RUNNER"][0],
            "BANDGATE_REPOSITORY": f"file://{self.bandgate}".replace(" ", "%20"),
            "BANDGATE_REF": "v1",
        }
        for name, value in job["variables"].items():
            environment[name] = re.sub(r"\$(\w+)", lambda m: environment[m[1]], value)
        # Those of the project come before those of the file.
        environment |= {"BANDGATE_BACKEND": backend} | variables
        script = "\n".join(job["before_script"] + job["script"])
        code, log = self.shell(script, project, environment)
        artifacts = job["artifacts"]
        kept: dict[str, Path] = {}
        if code == 0 or artifacts["when"] == "always":
            for path in artifacts["paths"]:
                kept |= files_below(project / path)
            for path in artifacts["reports"].values():
                found = list(project.glob(path))
                self.assertLessEqual(set(found), set(kept.values()))
                self.assertTrue(found or code, f"no {path}")
        self.assertNotIn("allow_failure", job)
        return Job(code, log, "", kept)
