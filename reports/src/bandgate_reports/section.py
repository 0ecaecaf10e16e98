# SPDX-License-Identifier: Apache-2.0
"""What a report says, before anybody decides how it looks.

An analysis gives tables of numbers; its view makes them a Section; `render` shows a Section on a
terminal, as Markdown, as JSON, or as a part of a page. All of them say the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bandgate_reports.analysis.verdicts import Exit


class Tone(StrEnum):
    """How a row or a headline is to be taken."""

    BAD = "bad"
    UNSURE = "unsure"
    GOOD = "good"
    QUIET = "quiet"
    PLAIN = ""


@dataclass(frozen=True)
class Column:
    name: str
    numeric: bool = False  # right-aligned


@dataclass(frozen=True)
class Row:
    """Texts as people read them, one a column; from outside or not, renderers escape them."""

    cells: tuple[str, ...]
    tone: Tone = Tone.PLAIN
    # What a page filters by; "" where a row is of no one model, node, probe.
    model: str = ""
    node: str = ""
    probe: str = ""


@dataclass(frozen=True)
class Table:
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]  # worst first
    left_out: int = 0
    note: str = ""  # how to read it


@dataclass(frozen=True)
class Figure:
    """A drawing for pages: SVG of ours, every text from outside escaped in it already."""

    title: str
    svg: str
    summary: str  # for those who cannot see it
    model: str = ""  # what a page filters by; "" where it is of several


@dataclass(frozen=True)
class Section:
    """One report. `data` holds the numbers behind it, ready for JSON: no NaN, no infinity."""

    key: str  # "changes": name of the command, anchor on a page
    title: str
    headline: str  # the answer in one sentence
    tone: Tone
    exit: Exit
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    data: Mapping[str, Any] | None = None
