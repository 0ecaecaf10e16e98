# SPDX-License-Identifier: Apache-2.0
"""What --help shows on 80 columns: every command an example that works as it stands there."""

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer.main

from bandgate_reports.commands import cli

from made import fleet, write


def names(command: Any, path: str = "") -> Iterator[str]:
    """Of all commands and groups of them: "", "trend", "baseline try"."""
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from names(below, f"{path} {name}".strip())


NAMES = list(names(typer.main.get_command(cli.app)))
# In a demonstration for a test few nights do; the program that judges is another package's.
SMALLER = {"demo": "--nodes 1 --gpus 2 --nights 6", "baseline": "--executable ./judge"}
JUDGE = f"""#!{sys.executable}
import json, sys
for line in sys.stdin:
    run = json.loads(line)["run"]
    print(json.dumps({{"id": run["id"], "attempts": 1, "status": "pass", "unstable": False,
                       "code": "", "files": [sys.argv[3]], "baselines": []}}))
"""

Said = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """Exit code and output of a command on a terminal of 80 columns."""
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)

    def run(line: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as ended:
            cli.main()
        output = capsys.readouterr()
        return int(ended.value.code or 0), output.out, output.err

    return run


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples name: results, and those of before and after a change."""
    folder = tmp_path_factory.mktemp("examples")
    changed = datetime(2026, 11, 25, tzinfo=UTC)
    write(folder / "results" / "before", fleet(4, changed))
    write(folder / "results" / "after", fleet(4))
    (folder / "judge").write_text(JUDGE, encoding="utf-8")
    (folder / "judge").chmod(0o755)
    return folder


@pytest.mark.parametrize("command", NAMES)
def test_the_example_runs_as_it_stands(
    command: str, said: Said, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    code, text, _ = said(f"bandgate-report {command} --help")
    assert code == 0
    found = re.findall(r"^ *Example: (bandgate-report .*?) *$", text, re.MULTILINE)
    assert len(found) == 1, f"wanted in --help, on one line: Example: bandgate-report {command} …"
    if command:
        assert found[0].startswith(f"bandgate-report {command} ")
    for part in found[0].split(" && "):
        code, _, errors = said(f"{part} {SMALLER.get(shlex.split(part)[1], '')}")
        # A regression, or too little to tell anything, is an answer; 2 is an error.
        assert code in (0, 1, 4), errors


def test_the_list_of_commands_has_whole_sentences(said: Said) -> None:
    _, text, _ = said("bandgate-report --help")
    listed = text.split("Commands")[1]
    first = [name for name in NAMES[1:] if " " not in name]
    for command in first:
        assert re.search(rf"│ {command} +[A-Z]", listed), command
    ends = [line for line in listed.splitlines() if line.rstrip(" │").endswith((".", "?"))]
    assert len(ends) >= len(first)
