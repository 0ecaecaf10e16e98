# SPDX-License-Identifier: Apache-2.0
"""Every command that README.md and docs/ show does what stands beside it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import doc_reports
import pytest
from doc_elsewhere import ELSEWHERE
from doc_pages import ROOT, Block, Command, blocks, pages
from doc_reports import client
from doc_sandbox import Ran, sandbox

BLOCKS = {str(p.relative_to(ROOT)): found for p in pages() if (found := blocks(p))}
# What a command finds that names no device; else the healthy one.
DEVICES = {
    "docs/baselines.md": "pcie-x8",
    "docs/monitoring.md": "slow-5-percent",
    "docs/schedulers.md": "slow-5-percent",
}
# Where these are not installed, their commands are left out.
OPTIONAL = {"bandgate_bench", "promtool"}
# What differs from run to run, also on a scripted device.
MOVING = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\(\d+ s\)|\bof \d+ s\b|\(build \w+\)")
NUMBER = re.compile(r"\d+(\.\d+)?")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of a bandgate-report that is loaded already."""
    pytest.importorskip("bandgate_reports", reason="ci/setup installs it")
    place = tmp_path_factory.mktemp("server") / "socket"
    errors = place.with_name("errors")
    with errors.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, doc_reports.__file__, str(place)], stdout=stream, stderr=stream
        )
    try:
        deadline = time.monotonic() + 120
        while not place.exists():
            assert process.poll() is None and time.monotonic() < deadline, errors.read_text()
            time.sleep(0.05)
        yield place
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def results(server: Path) -> Path:
    """Two made-up nights in which all was well."""
    folder = server.with_name("demo") / "results"
    for file in folder.rglob("*.json"):
        if json.loads(file.read_text())["verdict"]["status"] != "pass":
            file.unlink()
    return folder


def runs(command: Command, path: str) -> bool:
    program = command.text.split()[0]
    if program in OPTIONAL and not shutil.which(program, path=path):
        return False
    return not any(command.text.startswith(entry.begins) for entry in ELSEWHERE)


def plain(line: str, exact: bool) -> str:
    text = MOVING.sub("#", line) if exact else NUMBER.sub("#", line)
    return " ".join(text.split())


def ending(text: str) -> str:
    return "\n".join(f"    {line[:200]}" for line in text.splitlines()[-20:])


def wrong_with(ran: Ran) -> str | None:
    if ran.code is None:
        return f"{ran.command}\n  did not run"
    if ran.code != ran.command.code:
        return f"{ran.command}\n  exit code {ran.code}, not {ran.command.code}:\n{ending(ran.said)}"
    # Without a device in the command the figures are those of a real card.
    exact = "scripted:" in ran.command.text
    said = [plain(line, exact) for line in ran.said.splitlines()]
    for shown in ran.command.shown:
        wanted = re.escape(plain(shown, exact)).replace("…", ".*")
        if not any(re.fullmatch(wanted, line) for line in said):
            return f"{ran.command}\n  does not print: {shown}\n{ending(ran.said)}"
    return None


@pytest.mark.parametrize("page", BLOCKS)
def test_the_commands_of(page: str, server: Path, results: Path, tmp_path: Path) -> None:
    here = sandbox(tmp_path, DEVICES.get(page, "healthy-h200"), client(server), results)
    path = here.environment["PATH"]
    wanted = [Block(tuple(c for c in b.commands if runs(c, path))) for b in BLOCKS[page]]
    wrong = [w for block in wanted for ran in here.run(block) if (w := wrong_with(ran))]
    assert not wrong, "\n".join(wrong)


def test_what_runs_elsewhere_is_in_the_pages_and_in_a_test() -> None:
    commands = [c.text for found in BLOCKS.values() for b in found for c in b.commands]
    for entry in ELSEWHERE:
        assert any(text.startswith(entry.begins) for text in commands), f"stale: {entry.begins}"
        assert (ROOT / entry.test).is_file(), entry


def test_there_are_commands() -> None:
    assert sum(len(b.commands) for found in BLOCKS.values() for b in found) > 100
