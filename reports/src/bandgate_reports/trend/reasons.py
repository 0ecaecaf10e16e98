# SPDX-License-Identifier: Apache-2.0
"""Long sentences that many verdicts have are said once, and the verdicts refer to them."""

from collections.abc import Sequence

from bandgate_reports.text import count, listed
from bandgate_reports.trend.model import Reason, Row

_LONG = 90  # characters; shorter ones are as quickly read as a reference
_OFTEN = 3
_HEAD = 60


def said_often(rows: Sequence[Row]) -> tuple[Reason, ...]:
    """The long sentences that at least three of `rows` have, in the order of the rows."""
    having: dict[str, list[Row]] = {}
    for row in rows:
        said = [*row.cause, row.next_step, *row.restated, *row.notes]
        for text in dict.fromkeys(said):
            if len(text) > _LONG:
                having.setdefault(text, []).append(row)
    often = [(text, ones) for text, ones in having.items() if len(ones) >= _OFTEN]
    return tuple(
        Reason(number, text, head(text), _where(ones))
        for number, (text, ones) in enumerate(often, start=1)
    )


def head(text: str) -> str:
    """Its beginning, up to a word."""
    return text[:_HEAD].rsplit(" ", 1)[0].rstrip(" ,;:(") + " …"


def _where(rows: list[Row]) -> str:
    nodes = list(dict.fromkeys(row.device.node for row in rows))
    return f"{count(len(rows), 'verdict')} on {listed(nodes)}"
