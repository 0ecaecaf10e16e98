# SPDX-License-Identifier: Apache-2.0
"""Runs the real program in a home of its own."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DRILLS = ROOT / "docs" / "examples" / "fire-drill"


@dataclass(frozen=True)
class Outcome:
    """What one call of the program left."""

    code: int
    out: str
    err: str

    def records(self) -> list[dict[str, Any]]:
        """The JSON Lines on standard output."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Bandgate:
    """The program with an empty home and results folder."""

    program: Path
    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def results(self) -> Path:
        return self.home / "results"

    def env(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BANDGATE_")}
        return (
            kept
            | {
                "HOME": str(self.home),
                "XDG_CONFIG_HOME": str(self.home / "config"),
                "XDG_DATA_HOME": str(self.home / "data"),
                "BANDGATE_RESULTS": str(self.results),
            }
            | self.environment
        )

    def command(self, *arguments: str) -> list[str]:
        return [str(self.program), *arguments]

    def __call__(self, *arguments: str, timeout: float = 120, **env: str) -> Outcome:
        ended = subprocess.run(
            self.command(*arguments),
            env=self.env() | env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Outcome(ended.returncode, ended.stdout, ended.stderr)

    def drill(self, script: str | Path, *arguments: str, **options: Any) -> Outcome:
        """`check read` on the devices of a script, unless other arguments are given."""
        path = script if isinstance(script, Path) else DRILLS / f"{script}.json"
        words = arguments or ("check", "read")
        return self(*words, "--backend", f"scripted:{path}", **options)

    def stored(self) -> list[dict[str, Any]]:
        """Every stored result, in the order in which they began."""
        return [json.loads(p.read_text()) for p in sorted(self.results.rglob("*.json"))]


@pytest.fixture
def bandgate(tmp_path: Path) -> Bandgate:
    program = os.environ.get("BANDGATE")
    assert program, "set BANDGATE to the program under test"
    return Bandgate(Path(program).resolve(), tmp_path)
