# SPDX-License-Identifier: Apache-2.0
"""The trend report as Markdown for the job page of a CI system."""

from bandgate_reports.headline import STATUS_NAMES, headline, judged, totals
from bandgate_reports.model import Row, Trend
from bandgate_reports.text import markdown_cell

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


def _row(row: Row) -> str:
    marks = [m for m, on in (("unstable", row.unstable), ("stale", row.stale)) if on]
    verdict = STATUS_NAMES[row.status] + (f" ({', '.join(marks)})" if marks else "")
    where = " · ".join(t for t in (row.device.node, row.device.place) if t)
    reference = f"{row.reference} {row.unit} ({row.bounds}; {row.reference_kind})"
    scripted = " (scripted)" if row.device.scripted else ""
    why = [*row.cause, *([f"Next: {row.next_step}"] if row.next_step else [])]
    cells = [
        f"{_SYMBOLS[row.status]} {markdown_cell(verdict)}",
        f"{markdown_cell(row.device.model)}{scripted}<br>{markdown_cell(where)}",
        markdown_cell(" ".join(t for t in (row.probe, row.parameters) if t)),
        f"{row.value} {row.unit} {row.statistic}".strip() or "–",
        markdown_cell(reference) if row.reference else "–",
        row.change or "–",
        "<br>".join(markdown_cell(sentence, 600) for sentence in why),
    ]
    return f"| {' | '.join(cells)} |"


def render(trend: Trend) -> str:
    """Worst verdicts first; what does not fit is counted."""
    lines = [f"## Bandgate: {headline(trend)}", "", f"{judged(trend)} {totals(trend)}", ""]
    if trend.rows:
        lines += [
            "| Verdict | Device | Probe | Value | Reference | Difference | Cause and next step |",
            "| --- | --- | --- | ---: | ---: | ---: | --- |",
        ]
    size = sum(len(line.encode()) + 1 for line in lines)
    shown = 0
    for row in trend.rows:
        line = _row(row)
        size += len(line.encode()) + 1
        if size > MOST_BYTES - _RESERVE:
            break
        lines.append(line)
        shown += 1
    left_out = len(trend.rows) - shown + trend.rows_left_out
    if left_out:
        lines += ["", f"{left_out} more verdicts, none of them worse, are left out."]
    lines += _changes(trend, MOST_BYTES - _RESERVE - size)
    lines += ["", *(f"- {markdown_cell(n.title)}" for n in trend.notices)] if trend.notices else []
    return "\n".join(lines) + "\n"


def _changes(trend: Trend, room: int) -> list[str]:
    lines = []
    for change in reversed(trend.recent_changes):  # the newest first
        line = f"- {change.when} {markdown_cell(change.text)} (on {markdown_cell(change.nodes)})"
        room -= len(line.encode()) + 1
        if room < 0:
            break
        lines.append(line)
    return ["", "**Changed in the last two weeks**", "", *lines] if lines else []
