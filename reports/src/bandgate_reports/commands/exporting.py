# SPDX-License-Identifier: Apache-2.0
"""What the exports share: where to, and what is said when there is nothing."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from bandgate_reports import store
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.common import nothing_valid, say, write_atomically
from bandgate_reports.text import count, listed, printable

Out = Annotated[
    Path | None, typer.Option("--out", help="File to write, instead of standard output.")
]


def put(out: Path | None, parts: Iterable[bytes]) -> None:
    if out is None or out == Path("-"):
        say(parts)
    else:
        write_atomically(out, parts)


def nothing_text(loaded: store.Loaded, paths: list[Path], since: str | None = None) -> str:
    """Why there is nothing to export, and what to do."""
    where = listed([printable(str(path)) for path in paths])
    if loaded.scripted_left_out:
        left = count(loaded.scripted_left_out, "result")
        return f"only {left} of scripted devices in {where}; --include-scripted takes them"
    if since is not None and len(loaded.results):
        return f"no results of {printable(since)} or later in {where}; did the check run?"
    if loaded.skipped:
        broken = count(len(loaded.skipped), "broken file")
        return f"no valid result in {where}, and {broken}; move what is broken away"
    return f"no results in {where}; `bandgate check --results FOLDER` writes some"


def nothing_code(loaded: store.Loaded) -> Exit:
    return Exit.ERROR if nothing_valid(loaded) else Exit.CANNOT_TELL
