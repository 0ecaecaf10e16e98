# SPDX-License-Identifier: Apache-2.0
"""A verdict in sentences: the number against its bounds, the causes, the next step."""

import math
from dataclasses import dataclass
from typing import Any

from bandgate_reports.text import printable, shorten
from bandgate_reports.units import RateUnit, Scale, percent_text, scale

# Sentences of the gate that say again what the number against its bounds does.
_REPEATED = ("below-bound", "below-card-bound", "above-bound", "above-card-bound")
_LONGEST = 600


@dataclass(frozen=True)
class Said:
    number: str  # "4180.0 GiB/s, −2.84 % against 4302.0 GiB/s (bounds 4259.0 … 4345.0)"
    causes: tuple[str, ...]  # all that the gate said
    new: tuple[str, ...]  # of the causes, what the number does not say
    next_step: str  # "Next: …"
    notes: tuple[str, ...]

    @property
    def message(self) -> str:
        """One line."""
        sentences = (self.number, *self.new, self.next_step)
        return " ".join(t if t.endswith((".", "!", "?")) else f"{t}." for t in sentences if t)


def judged_value(row: Any) -> float:
    """The value of the statistic that the verdict is on. NaN where there is none."""
    return float({"peak": row.peak, "worst": row.worst}.get(row.statistic, row.median))


def said(row: Any, rate: RateUnit) -> Said:
    number = _number(row, rate)
    reasons = [(code, _shown(sentence)) for code, sentence in row.reasons if sentence]
    for other in (row.failure_message, row.skip_reason):
        if other and not any(_shown(other) in sentence for _, sentence in reasons):
            reasons.append(("", _shown(other)))
    return Said(
        number=number,
        causes=tuple(sentence for _, sentence in reasons),
        new=tuple(s for code, s in reasons if not (number and code in _REPEATED)),
        next_step=f"Next: {_shown(row.next_step)}" if row.next_step else "",
        notes=tuple(_shown(note) for note in row.notes),
    )


def _shown(text: str) -> str:
    return printable(shorten(text, _LONGEST))


def _number(row: Any, rate: RateUnit) -> str:
    value = judged_value(row)
    if not math.isfinite(value):
        return ""
    units = scale(row.unit or "B/s", rate)
    statistic = f" {row.statistic}" if row.statistic in ("peak", "worst") else ""
    text = f"{units.text(value)} {units.label}{statistic}"
    if not math.isfinite(row.reference):
        return text
    change = f"{percent_text(row.ratio)}{_word(row)}"
    bounds = _bounds(row.lower, row.upper, units)
    return f"{text}, {change} against {units.text(row.reference)} {units.label}{bounds}"


def _word(row: Any) -> str:
    """Of a time, where more is worse: a sign alone would be read the other way round."""
    if not row.lower_is_better or not math.isfinite(row.ratio) or round(row.ratio - 1, 4) == 0:
        return ""
    return " slower" if row.ratio > 1 else " faster"


def _bounds(lower: float, upper: float, units: Scale) -> str:
    low, high = (units.text(v) if math.isfinite(v) else "" for v in (lower, upper))
    if low and high:
        return f" (bounds {low} … {high})"
    return f" (at least {low})" if low else f" (at most {high})" if high else ""
