# SPDX-License-Identifier: Apache-2.0
"""Histories as the page's script reads them: a few bytes a night, so that thousands fit.

Values are whole numbers: steps of the fifth significant digit, counted from the series' median.
What templates/chart.js decodes is described at `encode`.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bandgate_reports.analysis.verdicts import STATUSES
from bandgate_reports.trend.model import History

# One letter a status, in the order of STATUSES; a capital where the night was unstable.
LETTERS = "reinbpms"
_ORDINARY = ("pass", "measured", "no-baseline", "improved", "skipped")
_IS_ORDINARY = np.array([status in _ORDINARY for status in STATUSES])

# All nights of a page: at about 9 bytes each, with their sparklines, they keep it below 10 MB.
MOST_POINTS = 400_000
_LEAST = 60  # nights of a history, however many histories there are


class Texts:
    """Texts of the page by number: what hundreds of series say is written once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        return list(self._numbers)


def budget(series: int) -> int:
    return max(_LEAST, MOST_POINTS // max(1, series))


def kept(history: History, most: int) -> npt.NDArray[np.int64]:
    """The points to show, about `most`: bad nights, change points and what lies around them,
    whatever else is out of the ordinary, the first and the newest; and of the rest every k-th."""
    n = len(history.at)
    if n <= most:
        return np.arange(n)
    always = np.zeros(n, dtype=bool)
    always[[0, n - 1, *history.bad_nights]] = True
    for index in [s.index for s in history.steps] + [b.index for b in history.bands]:
        always[max(0, index - 1) : index + 1] = True
    ordinary = _IS_ORDINARY[history.codes]
    # Of a card that fails every night, no failure is out of the ordinary: where that begins and
    # ends is.
    turns = np.r_[True, history.codes[1:] != history.codes[:-1]]
    odd = ~ordinary | history.unstable
    always |= odd if (odd | always).sum() <= most // 2 else odd & (turns | np.r_[turns[1:], True])
    rest = np.flatnonzero(~always)
    step = max(1, math.ceil(len(rest) / max(1, most - int(always.sum()))))
    always[rest[::step]] = True
    return np.flatnonzero(always)


def _runs(numbers: list[int]) -> str:
    """ "1*178,3,1" of 178 ones, a three and a one."""
    parts: list[str] = []
    i = 0
    while i < len(numbers):
        j = i
        while j < len(numbers) and numbers[j] == numbers[i]:
            j += 1
        parts.append(f"{numbers[i]}*{j - i}" if j - i > 1 else str(numbers[i]))
        i = j
    return ",".join(parts)


def _quantum(middle: float) -> tuple[float, int]:
    """The fifth significant digit of a value, and how many decimals it takes."""
    if middle == 0 or not math.isfinite(middle):
        return 1e-4, 4
    place = math.floor(math.log10(abs(middle))) - 4
    return 10.0**place, max(0, -place)


def encode(history: History, texts: Texts, most: int) -> dict[str, Any]:
    """Numbers are in quanta `q` from `m`, points by their place among those kept.

    k key; u unit; q quantum, m middle, d decimals; r range of the axis; z seconds in a step;
    t first time and the steps between times; v values; s letters; b bands [point, reference, lower,
    upper]; c change points [point, worse, text]; o bad nights; f flags [time, number, date, text];
    w causes [point, text]; g configuration, x remarks, h how many points there are in all; l: less
    is better.
    """
    keep = kept(history, most)
    place = {int(old): new for new, old in enumerate(keep)}
    shown = history.value / history.units.base
    known = shown[np.isfinite(shown)]
    quantum, decimals = _quantum(float(np.median(known)) if len(known) else math.nan)
    middle = round(float(np.median(known)) / quantum) if len(known) else 0

    def whole(value: float) -> int | None:
        if not math.isfinite(value):
            return None
        return round(value / history.units.base / quantum) - middle

    at = history.at[keep]
    offsets = np.rint(np.nan_to_num(shown[keep] / quantum)).astype(np.int64) - middle
    values = [
        str(v) if there else ""
        for v, there in zip(offsets.tolist(), np.isfinite(shown[keep]).tolist(), strict=True)
    ]
    letters = [
        LETTERS[c].upper() if u else LETTERS[c]
        for c, u in zip(history.codes[keep].tolist(), history.unstable[keep].tolist(), strict=True)
    ]
    found: dict[str, Any] = {
        "k": history.key,
        "u": texts.number(history.units.label),
        "q": quantum,
        "d": decimals,
        "m": middle,
        "r": [whole(history.low), whole(history.high)],
        "z": history.step_s,
        "t": f"{at[0]}" + (f",{_runs(np.diff(at).tolist())}" if len(at) > 1 else ""),
        "v": ",".join(values),
        "s": "".join(letters),
        "g": texts.number(" · ".join(t for t in (history.device.uuid, history.configuration) if t)),
        "x": texts.number(" · ".join(history.remarks)),
        "b": [
            [place[b.index], whole(b.reference), whole(b.lower), whole(b.upper)]
            for b in history.bands
        ],
        "c": [[place[s.index], int(s.worse), texts.number(s.text)] for s in history.steps],
        "o": [place[i] for i in history.bad_nights],
        "f": [[f.at, f.number, f.when, texts.number(f.text)] for f in history.flags],
        "w": [[place[i], texts.number(text)] for i, text in history.whys if i in place],
        "h": len(history.at) if len(keep) < len(history.at) else 0,
        "l": int(history.lower_is_better),
        "p": texts.number(history.statistic),
    }
    return {key: value for key, value in found.items() if value not in ([], "", 0) or key in "mdxv"}
