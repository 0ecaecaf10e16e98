# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from bandgate_reports.text import count, listed, markdown_cell, printable, shorten
from bandgate_reports.units import RateUnit, number_text, percent_text, scale


def test_what_a_terminal_or_reader_would_obey_is_spelled_out() -> None:
    assert printable("a\nb\x1b[31m\x00\x7f") == "a␊b␛[31m␀␡"
    assert printable("\u202egpj.exe") == "\\u202egpj.exe"
    assert printable("\x9b31m\u2028") == "\\x9b31m␤"
    assert printable("x\ud800y") == "x\ufffdy"
    assert printable("NVIDIA GeForce GTX 970 (TM)") == "NVIDIA GeForce GTX 970 (TM)"


def test_a_markdown_cell_shows_its_text_and_nothing_else() -> None:
    assert markdown_cell("a|b<i>&\n`*_[x]") == "a&#124;b&#60;i&#62;&#38;␊\\`\\*\\_\\[x\\]"
    assert markdown_cell("https://x @me #1 \\") == "https&#58;//x &#64;me \\#1 \\\\"
    assert markdown_cell("y" * 400) == "y" * 299 + "…"


def test_counts_and_lists() -> None:
    assert (count(1, "night"), count(2, "night"), count(0, "entry", "entries")) == (
        "1 night",
        "2 nights",
        "0 entries",
    )
    assert listed(["a", "b"]) == "a, b"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert shorten("abcdef", 4) == "abc…"


@pytest.mark.parametrize(
    ("unit", "label", "text"),
    [
        (RateUnit.B_S, "B/s", "3845128192"),
        (RateUnit.MB_S, "MB/s", "3845.1"),
        (RateUnit.MIB_S, "MiB/s", "3667.0"),
        (RateUnit.GB_S, "GB/s", "3.8451"),
        (RateUnit.GIB_S, "GiB/s", "3.5811"),
    ],
)
def test_a_rate_in_every_unit(unit: RateUnit, label: str, text: str) -> None:
    shown = scale("B/s", unit)
    assert (shown.label, shown.text(3667 * 2.0**20)) == (label, text)


def test_times_are_microseconds_whatever_the_unit_of_rates() -> None:
    shown = scale("s", RateUnit.GB_S)
    assert (shown.label, shown.text(4.5e-6)) == ("us", "4.5000")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4302.4999, "4302.5"),
        (51.2345678, "51.235"),
        (0.769856, "0.76986"),
        (0.00012345678, "0.00012346"),
        (1e6, "1000000"),
        (12345678.9, "12345679"),
        (0.0, "0.00000"),
        (-4.2, "-4.2000"),
        (math.nan, "–"),
        (math.inf, "–"),
    ],
)
def test_numbers_have_five_digits_and_no_exponent(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.9868, "−1.32 %"),
        (1.0004, "+0.04 %"),
        (1.0, "±0.00 %"),
        (0.999999, "±0.00 %"),
        (2.0, "+100.00 %"),
        (math.nan, "–"),
    ],
)
def test_ratios_are_differences(ratio: float, text: str) -> None:
    assert percent_text(ratio) == text
