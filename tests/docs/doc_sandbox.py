# SPDX-License-Identifier: Apache-2.0
"""Where the commands of a page run: a checkout to write to, a home, programs, scripted devices."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from doc_pages import ROOT, Block, Command

COPIED = ("baselines", "ci", "docs")  # what a page's commands may write to
OTHER_DRIVER = "scripted:docs/examples/fire-drill/driver-590.json"
# Places of a real machine, which are folders of the sandbox here.
PLACE = re.compile(r"(?<![\w.~$}/-])/(?=(?:etc|opt|path|run|shared|srv|tmp|var)/)")
# What a command is here: shorter sweeps, and what a drill must be told.
REPLACED = (
    (re.compile(r"\$\(seq \d+ (\d+)\)"), r"$(seq \1 \1)"),
    (re.compile(r"(ci/card-table .*--processes) 10"), r"\1 1"),
    (re.compile(r"ci/span-table "), "ci/span-table --log2-spans 24 "),
    (re.compile(r"(benchmarks/scale.py --sizes) \S+"), r"\1 1e3 --commands trend"),
    (re.compile(r"bandgate baseline record"), r"\g<0> --processes 3"),
    # A drill is nobody's reference, and nobody is there to answer.
    (re.compile(r"(bandgate baseline record)(?!.* --to)"), r"\1 --to recorded --yes"),
    (re.compile(r"(ci/driver-gate (?:before|after))(?!.* --runs)"), r"\1 --runs 5"),
    (re.compile(r"(ci/driver-gate .*--runs) 10"), r"\1 6"),
    # What a reader changes between the sides.
    (re.compile(r"(ci/driver-gate after)(?!.* --backend)"), rf"\1 --backend {OTHER_DRIVER}"),
)
MADE = (
    *("etc/bandgate/baselines", "run", "srv/bandgate", "tmp", "var/tmp"),
    *("var/lib/node_exporter/textfile", "home"),
)


@dataclass(frozen=True)
class Ran:
    command: Command
    code: int | None
    said: str


@dataclass(frozen=True)
class Sandbox:
    folder: Path
    environment: dict[str, str]

    @property
    def checkout(self) -> Path:
        return self.folder / "bandgate"

    def run(self, block: Block) -> list[Ran]:
        """Each command of it, in one shell."""
        outputs = self.folder / "outputs"
        shutil.rmtree(outputs, ignore_errors=True)
        outputs.mkdir()
        here = shlex.quote(str(outputs))
        script = [f"trap 'echo $? >{here}/$at.code' EXIT"]  # a command may end the shell
        for number, command in enumerate(block.commands):
            script.append(
                f"at={number}\n{{\n{self._placed(command.text)}\n}} >{here}/{number} 2>&1"
            )
            script.append(f"echo $? >{here}/{number}.code")
        script.append("trap - EXIT")
        subprocess.run(
            ["bash", "-c", "\n".join(script)],
            cwd=self.checkout,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=300,
            check=False,
        )
        return [self._ran(outputs / str(n), command) for n, command in enumerate(block.commands)]

    def _ran(self, output: Path, command: Command) -> Ran:
        code = output.with_suffix(".code")
        said = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
        return Ran(command, int(code.read_text()) if code.exists() else None, said)

    def _placed(self, text: str) -> str:
        text = PLACE.sub(f"{self.folder}/", text)
        for pattern, instead in REPLACED:
            text = pattern.sub(instead, text)
        return text


def sandbox(folder: Path, device: str, report: str, results: Path) -> Sandbox:
    """With the device of that drill where a command names none, and some results of good nights."""
    made = Sandbox(folder, {})
    checkout = made.checkout
    for place in MADE:
        (folder / place).mkdir(parents=True, exist_ok=True)
    checkout.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("CMakeLists.txt", "CMakePresets.json", "probes", "reports", "tests"):
        (checkout / name).symlink_to(ROOT / name)
    shutil.copytree(results, checkout / "results")
    _programs(checkout, report)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BANDGATE", "XDG_", "PYTHON"))}
    drill = checkout / f"docs/examples/fire-drill/{device}.json"
    path = [checkout / ".venv/bin", Path(sys.executable).parent]
    made.environment.update(
        kept,
        PATH=os.pathsep.join([*map(str, path), os.environ["PATH"]]),
        HOME=str(folder / "home"),
        TMPDIR=str(folder / "tmp"),
        BANDGATE_BACKEND=f"scripted:{drill}",
        BANDGATE_REPORT_COMMAND=str(checkout / ".venv/bin/bandgate-report"),
        GITHUB_STEP_SUMMARY=str(folder / "summary.md"),
        TERMINATION_LOG="/dev/null",
    )
    return made


def _programs(checkout: Path, report: str) -> None:
    """Those that ci/gate leaves, and bandgate-report."""
    built, environment = checkout / "build/gate/probes/cli", checkout / ".venv/bin"
    for folder in (built, environment):
        folder.mkdir(parents=True)
        (folder / "bandgate").symlink_to(Path(os.environ["BANDGATE"]).resolve())
    if benchmarks := os.environ.get("BANDGATE_BENCH"):
        (environment / "bandgate_bench").symlink_to(Path(benchmarks).resolve())
    (environment / "bandgate-report").write_text(report)
    (environment / "bandgate-report").chmod(0o755)
