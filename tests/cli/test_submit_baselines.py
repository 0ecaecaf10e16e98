# SPDX-License-Identifier: Apache-2.0
"""From a machine's GPUs to a pull request, in a clone whose origin is a folder and with a gh that
only says what it was asked."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT

PROGRAM = Path(os.environ["BANDGATE"]).resolve()
CARD = "docs/examples/fire-drill/healthy-mi300x.json"
GH = """#!/bin/bash
printf '%s\\n' "$@" >"$GH_SAID"
for argument; do
  [ "${last:-}" != --body-file ] || cp "$argument" "$GH_SAID.body"
  last=$argument
done
"""


@dataclass(frozen=True)
class Fork:
    """A clone of this project's parts that are needed, its origin, and a folder of programs."""

    folder: Path

    @property
    def checkout(self) -> Path:
        return self.folder / "fork"

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.checkout,
            env=self.environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("BANDGATE", "GIT_"))}
        who = {
            f"GIT_{w}_{k}": "a@b.invalid"
            for w in ("AUTHOR", "COMMITTER")
            for k in ("NAME", "EMAIL")
        }
        return (
            kept
            | who
            | {
                "HOME": str(self.folder),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GH_SAID": str(self.folder / "said"),
                "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            }
        )

    def submit(self, program: Path, backend: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["ci/submit-baselines", str(program), backend, "--processes", "3", *words],
            cwd=self.checkout,
            env=self.environment(),
            capture_output=True,
            text=True,
        )


@pytest.fixture
def fork(tmp_path: Path) -> Fork:
    made = Fork(tmp_path)
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "origin.git"], check=True)
    for name in (
        "ci/lib.sh",
        "ci/submit-baselines",
        "baselines/gpus/amd-instinct-mi300x.json",
        CARD,
    ):
        (made.checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, made.checkout / name)
    made.git("init", "-q", "-b", "main")
    made.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    made.git("add", ".")
    made.git("commit", "-q", "-m", "All")
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    return made


def recorded(fork: Fork) -> dict[str, str]:
    """What kind of reference each probe has in the last commit, which changed one file alone."""
    assert fork.git("show", "--format=%s", "--name-only").split("\n") == [
        "Record references of amd-instinct-mi300x",
        "",
        "baselines/gpus/amd-instinct-mi300x.json",
        "",
    ]
    text = fork.git("show", "HEAD:baselines/gpus/amd-instinct-mi300x.json")
    return {e["probe"]: e["provenance"]["kind"] for e in json.loads(text)["entries"]}


def test_a_rehearsal_is_committed_and_goes_nowhere(fork: Fork) -> None:
    done = fork.submit(PROGRAM, f"scripted:{CARD}")
    assert done.returncode == 0, done.stderr
    branch = fork.git("branch", "--show-current").strip()
    assert branch.startswith("baselines-amd-instinct-mi300x-")
    assert f"git switch - && git branch -D {branch}" in done.stdout
    kinds = recorded(fork)
    assert (kinds["read"], kinds["l2_read"], len(kinds)) == ("measured", "measured", 17)
    assert fork.git("ls-remote", "origin") == ""
    said = (fork.folder / "said").read_text().split("\n")
    assert said[:5] == ["pr", "create", "--dry-run", "--head", branch]
    body = (fork.folder / "said.body").read_text()
    assert '"name": "AMD Instinct MI300X"' in body
    assert '"compute_capability": "gfx942"' in body
    assert "clean: 41 C, 138 of 750 W" in body
    assert "GPU-" not in body


def test_a_card_is_pushed_and_submitted(fork: Fork) -> None:
    """A program that says that its scripted card is a real one."""
    program = fork.folder / "bin" / "bandgate"
    program.write_text(
        f'#!/bin/sh\nBANDGATE_BACKEND="scripted:{ROOT / CARD}" exec {PROGRAM} "$@"\n'
    )
    program.chmod(0o755)
    done = fork.submit(program, "hip")
    assert done.returncode == 0, done.stderr
    branch = fork.git("branch", "--show-current").strip()
    assert done.stdout.endswith(f"ci/submit-baselines: submitted branch {branch}\n")
    assert fork.git("ls-remote", "origin").split() == [
        fork.git("rev-parse", "HEAD").strip(),
        f"refs/heads/{branch}",
    ]
    title = "Record references of amd-instinct-mi300x"
    assert (fork.folder / "said").read_text().split("\n")[:4] == ["pr", "create", "--title", title]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("host", "host: no backend of GPUs"),
        ("changed", "baselines/gpus has changes that are not committed"),
        ("no origin", "no remote 'origin'"),
        ("no device", "no device of backend scripted:"),
    ],
)
def test_what_would_fail_is_said_before_anything_is_measured(
    fork: Fork, fault: str, reason: str
) -> None:
    backend = f"scripted:{CARD}"
    if fault == "host":
        backend = "host"
    elif fault == "changed":
        (fork.checkout / "baselines/gpus/new.json").write_text("{}\n")
    elif fault == "no origin":
        fork.git("remote", "remove", "origin")
    else:
        backend = f"scripted:{ROOT / 'docs/examples/fire-drill/no-device.json'}"
    done = fork.submit(PROGRAM, backend)
    assert done.returncode == (77 if fault == "no device" else 2), done.stderr
    assert reason in done.stderr
    assert "recorded" not in done.stderr
    assert fork.git("branch", "--show-current") == "main\n"
