# SPDX-License-Identifier: Apache-2.0
"""Reports as Markdown: for the job page of a CI system, and aligned to be read in a terminal."""

from collections.abc import Mapping, Sequence

from bandgate_reports.render import markdown as section_markdown
from bandgate_reports.text import markdown_cell
from bandgate_reports.trend.headline import STATUS_NAMES, headline, judged, totals
from bandgate_reports.trend.model import Item, Matrix, Parts, Reason, Row, Trend

# GitHub refuses a job summary above 1 MiB, and shows nothing of it then.
MOST_BYTES = 900_000
_RESERVE = 20_000  # for what follows the table

_SYMBOLS = {
    "regression": "🔻",
    "error": "❌",
    "inconclusive": "🔶",
    "no-baseline": "⚪",
    "improved": "🔺",
    "pass": "✅",
    "measured": "▫️",
    "skipped": "➖",
}


def _row(row: Row, often: Mapping[str, Reason]) -> str:
    marks = [m for m, on in (("unstable", row.unstable), ("stale", row.stale)) if on]
    marks += [f"ended {row.ended}"] if row.ended else []
    verdict = STATUS_NAMES[row.status] + (f" ({', '.join(marks)})" if marks else "")
    where = " · ".join(t for t in (row.device.node, row.device.place) if t)
    reference = f"{row.reference} {row.unit} ({row.bounds}; {row.reference_kind})"
    scripted = " (scripted)" if row.device.scripted else ""

    def said(text: str) -> str:
        return f"{often[text].head} (reason {often[text].number})" if text in often else text

    why = [said(text) for text in row.cause]
    why += [f"Next: {said(row.next_step)}"] if row.next_step else []
    why += [said(text) for text in row.restated]
    why += [f"Note: {said(note)}" for note in row.notes]
    cells = [
        f"{_SYMBOLS[row.status]} {markdown_cell(verdict)}",
        f"{markdown_cell(row.device.model)}{scripted}<br>{markdown_cell(where)}",
        markdown_cell(" ".join(t for t in (row.probe, row.parameters) if t)),
        f"{row.value} {row.unit} {row.statistic}".strip() or "–",
        markdown_cell(reference) if row.reference else "–",
        f"{row.change} {row.change_word}".strip() or "–",
        "<br>".join(markdown_cell(sentence, 600) for sentence in why),
    ]
    return f"| {' | '.join(cells)} |"


def brief(trend: Trend) -> str:
    """For a person at a terminal: what is wrong and what is new; the page shows the rest."""
    lines = [headline(trend), f"{judged(trend)} {totals(trend)}"]
    lines += [trend.demo] if trend.demo else []
    if since := trend.since:
        lines += _listed("Wrong now, by host:", since.wrong)
        lines += _listed(f"New since the night before, {since.before}:", since.new)
    return "\n".join((*lines, "", ""))


def _listed(title: str, items: Sequence[Item]) -> list[str]:
    shown = [f"  {STATUS_NAMES[i.status]}: {i.where}: {i.what}" for i in items[:_MOST_ITEMS]]
    more = len(items) - len(shown)
    return ["", title, *shown, *([f"  and {more} more"] if more else [])] if items else []


def render(trend: Trend) -> str:
    """Worst verdicts first; what does not fit is counted."""
    lines = [f"## Bandgate: {headline(trend)}", "", f"{judged(trend)} {totals(trend)}", ""]
    if demo := trend.demo:
        lines += [f"⚠️ **{markdown_cell(demo)}**", ""]
    lines += _since(trend)
    rows = [row for row in trend.rows if not row.ended]
    often = {reason.text: reason for reason in trend.reasons[:_MOST_REASONS]}
    if rows:
        lines += [
            "| Verdict | Device | Probe | Value | Reference | Difference | Cause and next step |",
            "| --- | --- | --- | ---: | ---: | ---: | --- |",
        ]
    reasons = _reasons(trend)
    size = _bytes(lines) + _bytes(reasons)
    shown = 0
    for row in rows:
        line = _row(row, often)
        size += len(line.encode()) + 1
        if size > MOST_BYTES - _RESERVE:
            break
        lines.append(line)
        shown += 1
    left_out = len(rows) - shown + trend.rows_left_out
    if left_out:
        lines += ["", f"{left_out} more verdicts, none of them worse, are left out."]
    lines += reasons
    lines += _sections(trend, MOST_BYTES - _RESERVE - _bytes(lines))
    lines += _changes(trend, MOST_BYTES - _RESERVE - _bytes(lines))
    lines += ["", *(f"- {markdown_cell(n.title)}" for n in trend.notices)] if trend.notices else []
    return "\n".join(lines) + "\n"


def _bytes(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


_MOST_ITEMS = 12
_MOST_REASONS = 200


def _since(trend: Trend) -> list[str]:
    """What is otherwise than the night before."""
    since = trend.since
    if since is None or not since.before:
        return []
    parts = (
        ("New", since.new),
        ("Over", since.over),
        ("New change point", since.steps),
        ("Not measured any more", since.gone),
        ("Other verdicts", since.other),
        ("Devices not seen before", since.back),
    )
    lines = [
        f"- {name}: {_SYMBOLS[item.status]} {markdown_cell(item.where)}: {markdown_cell(item.what)}"
        for name, items in parts
        for item in items[:_MOST_ITEMS]
    ]
    left_out = sum(max(0, len(items) - _MOST_ITEMS) for _, items in parts)
    lines += [f"- and {left_out} more"] if left_out else []
    if since.under_way:
        lines.append(f"- The newest night is not complete: {since.under_way}.")
    return [
        f"**Since the night before** ({since.before} → {since.night})",
        "",
        *(lines or ["Nothing is otherwise."]),
        "",
    ]


def _reasons(trend: Trend) -> list[str]:
    if not trend.reasons:
        return []
    return [
        "",
        "**Reasons that several verdicts have**",
        "",
        *(
            f"{r.number}. {markdown_cell(r.text, 600)} ({markdown_cell(r.where)})"
            for r in trend.reasons[:_MOST_REASONS]
        ),
    ]


def _sections(trend: Trend, room: int) -> list[str]:
    """Other reports, peer matrices and series, each whole or not at all."""
    lines: list[str] = []
    sections = [["", section_markdown.render(s, level=3).rstrip()] for s in trend.sections]
    sections += [matrix_lines(m) for m in trend.matrices]
    sections += [parts_lines(s.parts) for s in trend.strips]
    sections += [["", f"❌ wrong data: {markdown_cell(fault, 600)}"] for fault in trend.faults]
    for section in sections:
        room -= sum(len(line.encode()) + 1 for line in section)
        if room < 0:
            return [*lines, "", "More matrices and series are left out."]
        lines += section
    return lines


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """A Markdown table with its columns aligned; the first `left` to the left."""
    cells = [list(head), *([markdown_cell(c) for c in row] for row in rows)]
    widths = [max(3, *(len(c) for c in column)) for column in zip(*cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        padded = (
            c.ljust(w) if i < left else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = ("-" * w if i < left else "-" * (w - 1) + ":" for i, w in enumerate(widths))
    return [line(cells[0]), f"| {' | '.join(rule)} |", *(line(row) for row in cells[1:])]


def matrix_lines(matrix: Matrix) -> list[str]:
    """Rows: devices; columns: their peers."""
    who = markdown_cell(f"{matrix.model} on {matrix.node}")
    rows = [
        [name, *("" if c is None else c.text or "–" for c in row)]
        for name, row in zip(matrix.names, matrix.cells, strict=True)
    ]
    lines = ["", f"**{markdown_cell(matrix.title)}**, {matrix.unit}, {who}: {matrix.minimum}", ""]
    lines += table([f"{matrix.unit}", *(markdown_cell(n) for n in matrix.names)], rows)
    if matrix.holes:
        lines += ["", *(f"- – {markdown_cell(hole, 600)}" for hole in matrix.holes)]
    return lines


def parts_lines(parts: Parts) -> list[str]:
    who = " · ".join(t for t in (parts.device.model, parts.device.node, parts.device.place) if t)
    what = " ".join(t for t in (parts.probe, parts.parameters) if t)
    said = "; ".join(parts.remarks)
    return ["", f"**{markdown_cell(what)}** {markdown_cell(who)}: {markdown_cell(said, 900)}"]


def _changes(trend: Trend, room: int) -> list[str]:
    lines = []
    for change in trend.recent_changes:
        line = f"- {change.when} {markdown_cell(change.text)} (on {markdown_cell(change.nodes)})"
        room -= len(line.encode()) + 1
        if room < 0:
            break
        lines.append(line)
    return ["", "**Changed in the last two weeks**", "", *lines] if lines else []
