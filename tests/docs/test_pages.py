# SPDX-License-Identifier: Apache-2.0
"""A reader who begins with README.md finds every page, and every picture is shown somewhere."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

from doc_pages import ROOT, blocks, pages, unmarked

LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")


# A synopsis, a table of a shell, a drawing.
NO_COMMAND = re.compile(r"bandgate-report [a-z ]+ (\[|[A-Z]{2})| -> |\| bandgate")
INLINE = re.compile(r"(?<!`)`bandgate ([^`]*)`")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")


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


def test_commands_are_marked_as_such() -> None:
    """Or nothing runs them."""
    programs = {c.text.split()[0] for p in pages() for b in blocks(p) for c in b.commands}
    begun = [(p.name, line) for p in pages() for line in unmarked(p)]
    assert [
        (name, line)
        for name, line in begun
        if line.split()[0] in programs and not NO_COMMAND.search(line)
    ] == []


@cache
def options_of(command: tuple[str, ...]) -> set[str]:
    words = [os.environ["BANDGATE"], *command, "--help"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return set(OPTION.findall(said))


def test_options_within_sentences_exist() -> None:
    """Those of fenced blocks are run; these are read by the help of their command."""
    found, unknown = 0, []
    for page in pages():
        for text in INLINE.findall(page.read_text(encoding="utf-8")):
            words = [word for word in text.split()[:2] if re.fullmatch("[a-z]+", word)]
            command = tuple(words if words[:1] == ["baseline"] else words[:1])
            options = OPTION.findall(text)
            found += len(options)
            unknown += [(page.name, text) for o in options if o not in options_of(command)]
    assert unknown == []
    assert found > 20
