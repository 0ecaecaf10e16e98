# SPDX-License-Identifier: Apache-2.0
"""A section on a terminal, or in a file as plain text."""

import io
import re

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from bandgate_reports.section import Section, Table, Tone
from bandgate_reports.text import printable

_STYLES = {
    Tone.BAD: "bold red",
    Tone.UNSURE: "yellow",
    Tone.GOOD: "green",
    Tone.QUIET: "dim",
    Tone.PLAIN: "",
}


# Stands for the space between a figure and its unit while lines are broken: a "%" that begins a
# line is hard to read. Of the private use area, since rich breaks at a no-break space, too.
_GLUE = "\ue000"
_OF_A_UNIT = re.compile(r"(?<=\d) (?=(?:%|[KMGT]?i?B/s|us|s|W|C)(?!\w))")


def _text(text: str, tone: Tone = Tone.PLAIN) -> Text:
    """Never markup: names from outside may hold brackets."""
    return Text(_OF_A_UNIT.sub(_GLUE, printable(text)), style=_STYLES[tone])


def _table(table: Table) -> RichTable:
    drawn = RichTable(
        title=_text(table.title) if table.title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for column in table.columns:
        drawn.add_column(
            _text(column.name),
            justify="right" if column.numeric else "left",
            no_wrap=column.numeric,
            overflow="fold",
        )
    for row in table.rows:
        drawn.add_row(*(_text(cell, row.tone) for cell in row.cells))
    return drawn


def render(section: Section, *, width: int = 120, colour: bool = False) -> str:
    """Plain text unless `colour`; at most `width` columns where the figures leave room for it."""
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(_text(f"{section.title}: {section.headline}", section.tone))
    for sentence in section.sentences:
        console.print(_text(sentence))
    for table in section.tables:
        if table.title:  # else the top of the table's box is the empty line
            console.print()
        console.print(_table(table))
        if table.left_out:
            console.print(_text(f"and {table.left_out} more", Tone.QUIET))
        if table.note:
            console.print(_text(table.note, Tone.QUIET))
    stream = console.file
    assert isinstance(stream, io.StringIO)  # noqa: S101 - given above
    lines = stream.getvalue().replace(_GLUE, " ").split("\n")
    return "\n".join(line.rstrip() for line in lines)
