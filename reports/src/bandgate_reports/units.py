# SPDX-License-Identifier: Apache-2.0
"""Units of what people read. Inside, rates are bytes per second and times are seconds."""

import math
from dataclasses import dataclass
from enum import StrEnum


class RateUnit(StrEnum):
    """The spellings are exact: a bare "GB" is none of them."""

    B_S = "B/s"
    MB_S = "MB/s"
    MIB_S = "MiB/s"
    GB_S = "GB/s"
    GIB_S = "GiB/s"


_BASE = {
    RateUnit.B_S: 1.0,
    RateUnit.MB_S: 1e6,
    RateUnit.MIB_S: 2.0**20,
    RateUnit.GB_S: 1e9,
    RateUnit.GIB_S: 2.0**30,
}


@dataclass(frozen=True)
class Scale:
    """How values in a base unit are shown."""

    label: str
    base: float  # base units in one of `label`

    def number(self, value: float) -> float:
        return value / self.base

    def text(self, value: float) -> str:
        """Without the label; "–" for what is not a number."""
        return number_text(value / self.base)


def scale(base_unit: str, rate: RateUnit) -> Scale:
    """The scale for values recorded in `base_unit` ("B/s" or "s"). Times are shown in us."""
    if base_unit == "s":
        return Scale("us", 1e-6)
    if base_unit == "B/s":
        return Scale(rate.value, _BASE[rate])
    return Scale(base_unit, 1.0)


def number_text(value: float) -> str:
    """Five significant digits, no exponent, no separators: 4302.5, 51.234, 0.76986, 1000000."""
    if not math.isfinite(value):
        return "–"
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    leading_zeros = 0 if whole or value == 0 else -math.floor(math.log10(abs(value))) - 1
    return f"{value:.{min(12, max(0, 5 - whole + leading_zeros))}f}"


def percent_text(ratio: float) -> str:
    """A ratio to the reference as what it is off by: "-1.32 %", "+0.04 %"."""
    if not math.isfinite(ratio):
        return "–"
    change = round((ratio - 1) * 100, 2)
    return f"{'−' if change < 0 else '+' if change > 0 else '±'}{abs(change):.2f} %"
