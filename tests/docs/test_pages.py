# SPDX-License-Identifier: Apache-2.0
"""A reader who begins with README.md finds every page, and every picture is shown somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from doc_pages import ROOT, pages

LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")


def linked(page: Path) -> set[Path]:
    """The files that it links to; that they exist is a test of reports/tests/test_docs.py."""
    return {(page.parent / target).resolve() for target in LINK.findall(page.read_text())}


def test_every_page_is_reached_from_the_readme() -> None:
    reached, new = set[Path](), {ROOT / "README.md"}
    while new:
        reached |= new
        new = {file for page in new for file in linked(page) if file.suffix == ".md"} - reached
    assert [str(p.relative_to(ROOT)) for p in pages() if p not in reached] == []


def test_every_picture_is_shown() -> None:
    shown = {file for page in pages() for file in linked(page)}
    unused = [p.name for p in (ROOT / "docs/images").iterdir() if p.resolve() not in shown]
    assert unused == []
