# SPDX-License-Identifier: Apache-2.0
"""What the documents show works as it stands."""

import contextlib
import io
import re
from pathlib import Path

import pytest

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
