# SPDX-License-Identifier: Apache-2.0
"""The look of all figures that are files: one paper, one set of colours, labels at the lines.

An opaque light ground reads the same in print and on a dark page. 8 inches wide at 200 dots an
inch: text is 14 px high and more where a page shows a figure 800 px wide.
"""

import io
import math
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from bandgate_reports.text import printable, shorten

INK, SOFT, FAINT, GRID, GROUND = "#1b1f24", "#4d5660", "#8c959f", "#e3e6e9", "#ffffff"
BAD, BAD_BAND, GOOD_BAND = "#c3202c", "#fbe3e4", "#dcebe2"
COLOURS = (
    "#0969a8", "#c2570c", "#1a7f4b", "#8a2bb0", "#8a6a00", "#c3202c", "#00797f", "#57606a",
)  # fmt: skip
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)))
WIDTH, DPI = 8.0, 200

_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": SOFT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": FAINT,
    "xtick.labelcolor": SOFT,
    "ytick.color": FAINT,
    "ytick.labelcolor": SOFT,
    "ytick.major.size": 0,
    "lines.linewidth": 2.0,
    "lines.solid_capstyle": "round",
    "figure.facecolor": GROUND,
    "axes.facecolor": GROUND,
}


def style() -> Any:
    """Everything that is drawn is drawn within this."""
    return rc_context(_STYLE)


@cache
def _drawn() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties(family="DejaVu Sans"))).get_charmap())


def plain(text: str, limit: int = 70) -> str:
    """Text from outside as the figures' font can draw it."""
    shown = shorten(printable(text), limit)
    return "".join(c if ord(c) in _drawn() else "\u25a1" for c in shown)


def sheet(height: float) -> Figure:
    return Figure(figsize=(WIDTH, height), dpi=DPI)


def head(figure: Figure, title: str, under: Sequence[str]) -> None:
    """Title and what has to be known of the data, above everything; lines break between facts."""
    height = figure.get_figheight()
    top: dict[str, Any] = {"ha": "left", "va": "top", "parse_math": False}
    size = 13.5 if len(title) <= 60 else 11  # what is longer still is cut
    figure.text(0.02, 1 - 0.12 / height, plain(title, 76), fontsize=size, fontweight="bold", **top)
    facts = [plain(fact, 190).replace(" ", "\u00a0") for fact in under if fact]
    lines = textwrap.wrap(" · ".join(facts), 102, break_on_hyphens=False)[:2]
    text = "\n".join(line.removesuffix(" ·") for line in lines)
    figure.text(0.02, 1 - 0.4 / height, text, fontsize=10, color=SOFT, linespacing=1.25, **top)


def png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
    return stream.getvalue()


def halo() -> list[Any]:
    """Keeps text readable across a line, and the line visible around it."""
    return [withStroke(linewidth=3, foreground=GROUND)]


def bytes_text(value: float) -> str:
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if value >= 1 << power:
            return f"{value / (1 << power):.4g} {unit}"
    return f"{value:.4g} B"


def power_text(value: float) -> str:
    """2^21 as mathematics; what is no power of two as itself."""
    power = math.log2(value)
    return f"$2^{{{round(power)}}}$" if abs(power - round(power)) < 1e-9 else f"{value:.6g}"


def octaves(low: float, high: float, most: int = 9) -> list[float]:
    """Whole powers of two within, every one or every second, fourth …"""
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    step = next(s for s in (1, 2, 4, 8, 16, 32) if (last - first) // s + 1 <= most)
    return [2.0**p for p in range(first, last + 1, step)]


def octave_axis(axes: Axes, ticks: Sequence[float], text: Any, low: float, high: float) -> None:
    axes.set_xscale("log", base=2)
    room = (high / low) ** 0.02 if high > low else 2.0
    axes.set_xlim(low / room, high * room)
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def second_axis(axes: Axes, ticks: Sequence[float], text: Any) -> None:
    """The same ticks in other words, above."""
    above = axes.secondary_xaxis("top")
    above.set_xticks(list(ticks), [text(t) for t in ticks])
    above.xaxis.set_minor_locator(NullLocator())
    above.tick_params(axis="x", length=0, labelsize=10)
    above.spines["top"].set_visible(False)


def label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]], height: float = 15.0) -> None:
    """Names at the right of their lines: (y, text, colour). Those that would overlap are moved
    apart, and stay in order. `height` is that of one, in points; texts may have two lines."""
    points = axes.get_window_extent().height * 72 / axes.figure.dpi
    low, high = axes.get_ylim()
    wanted = sorted(((y - low) / (high - low) * points, text, colour) for y, text, colour in ends)
    placed: list[tuple[float, list[Any]]] = []  # groups: centre, members

    def group(members: list[Any]) -> tuple[float, list[Any]]:
        """Around the middle of its lines, and not below the axis."""
        middle = sum(at for at, *_ in members) / len(members)
        return max(middle, (len(members) - 1) / 2 * height), members

    for one in wanted:
        placed.append(group([one]))
        while len(placed) > 1:
            (a, first), (b, second) = placed[-2:]
            if b - a >= (len(first) + len(second)) / 2 * height:
                break
            placed[-2:] = [group(first + second)]
    for centre, members in placed:
        for i, (_, text, colour) in enumerate(members):
            at = centre + (i - (len(members) - 1) / 2) * height
            axes.annotate(
                text,
                (1, at / points),
                xycoords="axes fraction",
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                ha="left",
                color=colour,
                fontsize=10.5,
                annotation_clip=False,
                parse_math=False,
            )
