# SPDX-License-Identifier: Apache-2.0
"""What the figures show, in words and aligned tables, and how to get those that are not there."""

import json

from bandgate_reports.analysis.curves import KEY, element_bytes, labels
from bandgate_reports.figures.drawing import Drawn
from bandgate_reports.figures.paper import bytes_text
from bandgate_reports.store.records import each
from bandgate_reports.text import markdown_cell, printable
from bandgate_reports.trend.markdown import matrix_lines, parts_lines, table


def _power(value: float) -> str:
    whole = int(value)
    return f"2^{whole.bit_length() - 1}" if whole & (whole - 1) == 0 else str(whole)


def _knee_rows(drawn: Drawn) -> list[list[str]]:
    rows = []
    for gpu, of_gpu in drawn.knees.groupby("gpu", sort=True):
        names = labels(of_gpu)
        for k in each(of_gpu):
            key = tuple(getattr(k, name) for name in KEY)
            size = element_bytes(json.loads(k.parameters))
            rows.append(
                [
                    printable(str(gpu)),
                    names[key],
                    printable(k.mode),
                    _power(k.x),
                    bytes_text(k.x * size) if size else "–",
                    f"{k.value * 100:.1f} %",
                    f"−{k.fall * 100:.0f} %",
                ]
            )
    return rows


def render(drawn: Drawn) -> str:
    lines = ["## Bandgate: figures", ""]
    names = [f.name for f in drawn.files if f.name.endswith(".png")]
    lines += [f"- {markdown_cell(name)}" for name in names] or ["Nothing to draw."]
    rows = _knee_rows(drawn)
    if rows:
        head = ["GPU", "Curve", "Index mode", "Knee at span", "Bytes", "Of copy", "Then falls by"]
        lines += ["", *table(head, rows, 3)]
    for matrix in drawn.matrices:
        lines += matrix_lines(matrix)
    for parts in drawn.parts:
        lines += parts_lines(parts)
    if drawn.missing:
        lines += ["", "Not drawn:", ""]
    for m in drawn.missing:
        others = f", and {m.others}" if m.others else ""
        lines.append(f"- {m.what}: {markdown_cell(m.why)}. `{m.command}` measures it{others}")
    if drawn.left:
        lines += ["", *(f"- {markdown_cell(text)}" for text in drawn.left)]
    return "\n".join(lines) + "\n"
