# SPDX-License-Identifier: Apache-2.0
"""The commands that the pages show, with the exit code and the output that they show beside them.

A fenced block of `sh` or `bash` is a script; of any block with lines that begin with `$ ` those
lines are commands, and what follows is their output. The exit code is 0, or what a comment
(`# exit 1`) or an `echo $?` says, or what a verdict in the output implies.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)```(\w*)$")
EXIT = re.compile(r"#.*?\bexit(?: code)? (\d+)")
ECHO = re.compile(r"^echo \$\?(?: +# (\d+).*)?$")
IMPLIED = (("ERROR ", 3), ("REGRESSION ", 1), ("INCONCLUSIVE ", 4))


@dataclass(frozen=True)
class Command:
    page: str
    line: int
    text: str
    shown: tuple[str, ...] = ()
    code: int = 0

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Block:
    """What a reader types into one shell."""

    commands: tuple[Command, ...]


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    name = str(page.relative_to(ROOT))
    found = []
    for language, first, lines in fenced(page):
        if language in ("sh", "bash"):
            commands = list(_script(name, first, lines))
        elif any(line.startswith("$ ") for line in lines):
            commands = list(_console(name, first, lines))
        else:
            continue
        found.append(Block(tuple(_with_exit_codes(commands))))
    return found


def unmarked(page: Path) -> list[str]:
    """What the blocks without a language begin with, but those of a console."""
    plain = [lines for language, _, lines in fenced(page) if not language]
    return [b[0] for b in plain if b and not any(line.startswith("$ ") for line in b)]


def fenced(page: Path) -> Iterator[tuple[str, int, list[str]]]:
    language, indent, first = None, 0, 0
    body: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if language is None and fence:
            language, indent, first, body = fence[2], len(fence[1]), number + 1, []
        elif language is not None and fence and not fence[2]:
            yield language, first, body
            language = None
        else:
            body.append(line[indent:])


def _script(page: str, first: int, lines: list[str]) -> Iterator[Command]:
    if lines[0].startswith("#!") or lines[0].startswith("function "):
        yield Command(page, first, "\n".join(lines))  # a file, not typed line by line
        return
    begun: list[str] = []
    for number, line in enumerate(lines, first):
        if not begun and (not line.strip() or line.lstrip().startswith("#")):
            continue
        begun.append(line)
        if _whole("\n".join(begun)):
            yield Command(page, number - len(begun) + 1, "\n".join(begun))
            begun = []
    assert not begun, f"{page}:{first}: bash cannot read {begun}"


def _whole(text: str) -> bool:
    """Whether a shell would run it, or wait for more lines."""
    if re.search(r"(\\|&&|\|)$", text):
        return False
    if not re.search(r"\b(do|then|case|function)\b|[({'\"]", text):
        return True
    read = subprocess.run(["bash", "-nc", text], capture_output=True, text=True, check=False)
    return read.returncode == 0 and "here-document" not in read.stderr


def _console(page: str, first: int, lines: list[str]) -> Iterator[Command]:
    now: Command | None = None
    for number, line in enumerate(lines, first):
        if line.startswith("$ "):
            if now:
                yield now
            now = Command(page, number, line[2:])
        elif now and line.strip():
            now = replace(now, shown=(*now.shown, line))
    if now:
        yield now


def _with_exit_codes(commands: list[Command]) -> Iterator[Command]:
    for here, command in enumerate(commands):
        if ECHO.match(command.text):
            continue
        code = next((c for word, c in IMPLIED for s in command.shown if s.startswith(word)), 0)
        if said := EXIT.search(command.text):
            code = int(said[1])
        follower = commands[here + 1] if here + 1 < len(commands) else None
        if follower and (echo := ECHO.match(follower.text)):
            code = int(echo[1] or follower.shown[0])
        yield replace(command, code=code)
