# SPDX-License-Identifier: Apache-2.0
"""A section as Markdown, for the job page of a CI system."""

from bandgate_reports.section import Section, Table, Tone
from bandgate_reports.text import markdown_cell

MARKS = {Tone.BAD: "🔻 ", Tone.UNSURE: "🔶 ", Tone.GOOD: "✅ ", Tone.QUIET: "", Tone.PLAIN: ""}


def table_lines(table: Table) -> list[str]:
    lines = [f"**{markdown_cell(table.title)}**", ""] if table.title else []
    names = [markdown_cell(c.name) for c in table.columns]
    lines.append(f"| {' | '.join(names)} |")
    lines.append(f"| {' | '.join('---:' if c.numeric else '---' for c in table.columns)} |")
    for row in table.rows:
        cells = [markdown_cell(cell, 600) for cell in row.cells]
        cells[0] = MARKS[row.tone] + cells[0]
        lines.append(f"| {' | '.join(cells)} |")
    if table.left_out:
        lines += ["", f"and {table.left_out} more"]
    if table.note:
        lines += ["", markdown_cell(table.note, 1000)]
    return lines


def render(section: Section, *, level: int = 2) -> str:
    lines = [
        f"{'#' * level} {markdown_cell(section.title)}",
        "",
        f"{MARKS[section.tone]}{markdown_cell(section.headline, 1000)}",
        "",
    ]
    for sentence in section.sentences:
        lines += [markdown_cell(sentence, 1000), ""]
    for table in section.tables:
        lines += [*table_lines(table), ""]
    return "\n".join(lines)
