# SPDX-License-Identifier: Apache-2.0
"""The intervals of all tests above one axis, with the margin: a forest plot as SVG."""

import math

from markupsafe import escape

from bandgate_reports.analysis.ab import Comparison
from bandgate_reports.analysis.ab_numbers import limit
from bandgate_reports.section import Figure
from bandgate_reports.store.records import each
from bandgate_reports.text import printable, shorten
from bandgate_reports.views.ab_words import margin_text

_WIDTH, _ROW, _TOP, _BOTTOM = 760, 24, 26, 30
_LEFT, _RIGHT = 220, 20
_COLOURS = {"FAIL": "regression", "INCONCLUSIVE": "inconclusive", "PASS": "pass"}
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
MOST_ROWS = 60


def figure(found: Comparison, names: list[str]) -> tuple[Figure, ...]:
    """Percent of speed, so that more is better for times, too."""
    rows = list(zip(names, each(found.tests.head(MOST_ROWS)), strict=False))
    if not rows:
        return ()
    margin = _percent(limit(found.margin))
    values = [_percent(v) for _, r in rows for v in (r.effect, r.low, r.high) if not math.isnan(v)]
    # One wild interval must not squeeze the others to nothing.
    reach = max(6 * abs(margin), 1.1 * max(abs(_percent(r.effect)) for _, r in rows))
    left = max(min([*values, 1.5 * margin]), -reach)
    right = min(max([*values, -margin]), reach)
    axis = _Axis(left, right)
    body = [axis.grid(len(rows)), axis.band(margin, len(rows))]
    for i, (name, r) in enumerate(rows):
        numbers = tuple(_percent(v) for v in (r.effect, r.low, r.high))
        body.append(_row(axis, i, name, str(r.verdict), numbers))
    height = _TOP + _ROW * len(rows) + _BOTTOM
    svg = (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="90 % intervals of the change in speed">{"".join(body)}</svg>'
    )
    words = "; ".join(f"{n}: {r.verdict}" for n, r in rows)
    return (Figure("Change in speed, with 90 % intervals", svg, words),)


def _percent(effect: float) -> float:
    return math.expm1(effect) * 100


class _Axis:
    def __init__(self, left: float, right: float) -> None:
        room = 0.04 * (right - left)
        self.left, self.right = left - room, right + room

    def at(self, percent: float) -> float:
        """Where a value is, within the plot."""
        share = (percent - self.left) / (self.right - self.left)
        return _LEFT + min(max(share, 0.0), 1.0) * (_WIDTH - _LEFT - _RIGHT)

    def grid(self, rows: int) -> str:
        span = self.right - self.left
        step = next((s for s in _STEPS if span / s <= 8), 100.0)
        bottom = _TOP + _ROW * rows
        parts = []
        for i in range(math.ceil(self.left / step), math.floor(self.right / step) + 1):
            x, label = self.at(i * step), f"{i * step:+.10g}".replace("-", "−")
            kind = "axis" if i == 0 else "grid"
            parts.append(
                f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
            )
            text = "0" if i == 0 else label
            parts.append(
                f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{text} %</text>'
            )
        return "".join(parts)

    def band(self, margin: float, rows: int) -> str:
        """What is beyond the margin."""
        x, height = self.at(margin), _ROW * rows
        return (
            f'<rect class="slow" x="{_LEFT}" y="{_TOP}" width="{max(x - _LEFT, 0):.1f}" '
            f'height="{height}"/><line class="bound" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" '
            f'y2="{_TOP + height}"/><text x="{x:.1f}" y="{_TOP - 8}" text-anchor="middle">'
            f"margin {margin_text(-margin / 100)}</text>"
        )


def _row(axis: _Axis, place: int, name: str, verdict: str, numbers: tuple[float, ...]) -> str:
    effect, low, high = numbers
    y = _TOP + _ROW * (place + 0.5)
    label = escape(printable(shorten(name, 34)))
    colour = f'style="color: var(--{_COLOURS[verdict]})"'
    parts = [
        f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{label}</text><g {colour}>'
        f"<title>{escape(printable(name))}: {verdict}</title>"
    ]
    if not math.isnan(low):
        parts.append(
            f'<line x1="{axis.at(low):.1f}" x2="{axis.at(high):.1f}" y1="{y}" y2="{y}" '
            'stroke="currentColor" stroke-width="2"/>'
        )
    hollow = math.isnan(low)
    fill = "var(--card)" if hollow else "currentColor"
    parts.append(
        f'<circle cx="{axis.at(effect):.1f}" cy="{y}" r="4" fill="{fill}" '
        'stroke="currentColor" stroke-width="1.5"/></g>'
    )
    return "".join(parts)
