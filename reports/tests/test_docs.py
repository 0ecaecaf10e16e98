# SPDX-License-Identifier: Apache-2.0
"""What the documents show works as it stands."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

from bandgate_reports.commands import cli
from test_help import names

from made import fleet, write

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_the_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.findall(
        r"```python\n(.*?)```", (DOCS / "reports" / "python.md").read_text(), re.DOTALL
    )
    write(tmp_path / "results", fleet(30))
    monkeypatch.chdir(tmp_path)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for block in code:
            exec(compile(block, "python.md", "exec"), {})  # noqa: S102 - our own documents
    assert "NVIDIA H200" in said.getvalue()


def test_links_between_documents_lead_somewhere() -> None:
    pages = [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    dead = []
    for page in pages:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", page.read_text()):
            if target.startswith("http"):
                continue
            file = (page.parent / target).resolve() if target else page
            if not file.exists() or (anchor and anchor not in _anchors(file)):
                dead.append(f"{page.name}: {target}#{anchor}")
    assert dead == []
    assert len(pages) > 20


def _anchors(page: Path) -> set[str]:
    """As the hosts of Git make them from headings."""
    titles = re.findall(r"(?m)^#+ (.*)$", page.read_text())
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


SHARED = {"--since", "--model", "--scheduler", "--include-scripted", "--now"}


def _options(name: str) -> set[str]:
    command: Any = typer.main.get_command(cli.app)
    for word in name.split():
        command = command.commands[word]
    return {o for p in command.params for o in p.opts if o.startswith("--")} - {"--help"}


@pytest.mark.parametrize("name", [n for n in names(typer.main.get_command(cli.app)) if n])
def test_the_synopsis_of_a_command_has_its_options(name: str) -> None:
    if name == "baseline":
        return  # a group
    pages = "\n".join(p.read_text() for p in sorted((DOCS / "reports").glob("*.md")))
    blocks = re.findall(rf"(?m)^```\n(bandgate-report {name} [^`]*)```", pages)
    assert len(blocks) == 1
    assert set(re.findall(r"--[a-z-]+", blocks[0])) == _options(name)


@pytest.mark.parametrize(
    "name",
    [*"trend changes fleet curves junit markdown csv prometheus".split(), "baseline try"],
)
def test_reports_share_what_the_overview_says_they_share(name: str) -> None:
    assert _options(name) >= SHARED
