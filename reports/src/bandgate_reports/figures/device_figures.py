# SPDX-License-Identifier: Apache-2.0
"""Figures of single devices and nodes as PNG: peer matrices, memory maps, rates over time."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from bandgate_reports.figures import paper
from bandgate_reports.store.records import each
from bandgate_reports.trend.model import Cell, Matrix, Parts
from bandgate_reports.trend.parts import TELEMETRY, range_text, seconds
from bandgate_reports.units import percent_text

# From what a slow link stands out of to what is normal.
_HEAT = LinearSegmentedColormap.from_list("heat", ["#e0584f", "#f6c8a8", "#f7ecd9", "#dcebe2"])
_HOLE = "#eef0f2"

_PANEL: dict[str, Any] = {"loc": "left", "fontsize": 10.5, "color": paper.SOFT, "pad": 4}


def heat_map(matrix: Matrix) -> bytes:
    """Rows: devices; columns: their peers. Colour: share of the fastest pair."""
    n = len(matrix.names)
    holes = matrix.holes[:3]
    with paper.style():
        height = 1.55 + min(0.62 * n, 5.6) + 0.2 * len(holes)
        figure = paper.sheet(height)
        foot = 0.3 + 0.2 * len(holes)
        axes = figure.add_axes((0.17, foot / height, 0.8, (height - foot - 1.35) / height))
        font = 11 if n <= 8 else 8.5
        axes.set_xlim(0, n)
        axes.set_ylim(n, 0)
        for y, row in enumerate(matrix.cells):
            for x, cell in enumerate(row):
                if cell is not None:
                    _cell(axes, x, y, cell, font)
        _name_devices(axes, [paper.plain(name, 16) for name in matrix.names], font)
        measured = matrix.minimum.startswith("minimum")
        paper.head(
            figure,
            f"{matrix.title}, {matrix.unit}: {paper.plain(matrix.model, 40)} on {matrix.node}",
            (f"{matrix.minimum} (framed)" if measured else matrix.minimum,),
        )
        for i, hole in enumerate(holes):
            figure.text(
                0.02,
                (foot - 0.22 - 0.2 * i) / height,
                paper.plain(f"– {hole}", 110),
                fontsize=9.5,
                color=paper.SOFT,
                parse_math=False,
                va="center",
            )
        return paper.png(figure)


def _cell(axes: Axes, x: int, y: int, cell: Cell, font: float) -> None:
    share = None if cell.share is None else max(0.0, (cell.share - 0.5) / 0.5)
    colour: Any = _HOLE if share is None else _HEAT(share)
    place = (x + 0.03, y + 0.04)
    axes.add_patch(Rectangle(place, 0.94, 0.92, facecolor=colour, linewidth=0))
    if cell.least:
        frame: dict[str, Any] = {"fill": False, "edgecolor": paper.INK, "linewidth": 1.6}
        axes.add_patch(Rectangle(place, 0.94, 0.92, **frame))
    axes.text(
        x + 0.5,
        y + 0.5,
        _cell_text(cell, font),
        ha="center",
        va="center",
        fontsize=font,
        color=paper.INK if cell.text else paper.SOFT,
        fontweight="bold" if cell.least else "normal",
    )


def _cell_text(cell: Cell, font: float) -> str:
    """Four digits where there is no room for five."""
    if not cell.text:
        return "–"
    return cell.text if font > 10 else f"{float(cell.text):#.4g}"


def _name_devices(axes: Axes, names: list[str], font: float) -> None:
    axes.grid(visible=False)
    for side in axes.spines:
        axes.spines[side].set_visible(False)
    centres = [i + 0.5 for i in range(len(names))]
    rotation = 0 if len(names) <= 8 else 90
    axes.set_xticks(centres, names, rotation=rotation, fontsize=min(font, 10.5), parse_math=False)
    axes.set_yticks(centres, names, fontsize=min(font, 10.5), parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_xlabel("peer", labelpad=4)
    axes.xaxis.set_label_position("top")
    axes.set_ylabel("device")


def memory_map(parts: Parts) -> bytes:
    """Bandwidth by address; slow slices in colour, with their addresses."""
    table, units = parts.points, parts.units
    starts = [at / 2**30 for at in table["at"]]
    edges = [*starts, (float(table["at"].iloc[-1]) + parts.step) / 2**30]
    values = [units.number(float(v)) for v in table["value"]]
    with paper.style():
        figure = paper.sheet(4.3)
        axes = figure.add_axes((0.1, 0.145, 0.87, 0.575))
        middle = units.number(parts.median)
        # Wide enough that what is not slow looks flat.
        low, high = min(*values, 0.97 * middle), max(*values, 1.01 * middle)
        axes.set_ylim(low - 0.25 * (high - low), high + 0.3 * (high - low))
        axes.set_xlim(edges[0], edges[-1])
        for start, end in parts.slow:
            axes.axvspan(start / 2**30, end / 2**30, color=paper.BAD_BAND, linewidth=0)
        if bool((table["at"].diff().iloc[1:] < 1.001 * parts.step).all()):
            axes.stairs(values, edges, baseline=None, color=paper.COLOURS[0], linewidth=1.6)
        else:  # slices are missing: no line across what was not measured
            axes.plot(starts, values, "o", color=paper.COLOURS[0], markersize=4)
        for r in each(table[table["slow"]]):
            ends = [r.at / 2**30, (r.at + parts.step) / 2**30]
            axes.plot(ends, [units.number(r.value)] * 2, color=paper.BAD, linewidth=3.2)
        _name_ranges(axes, parts, edges[-1])
        axes.axhline(middle, color=paper.FAINT, linestyle=(0, (4, 3)), linewidth=1)
        axes.set_xlabel("address from the start of the memory, GiB")
        axes.set_title(f"{units.label}; dashed: median of the slices", **_PANEL)
        title = f"{paper.plain(parts.gpu, 40)}: {parts.probe}, bandwidth by address"
        paper.head(figure, title, parts.remarks)
        return paper.png(figure)


def _name_ranges(axes: Axes, parts: Parts, end: float) -> None:
    """The addresses of the worst slow ranges, below or above them, never off the paper."""
    table = parts.points

    def least(one: tuple[float, float]) -> float:
        inside = table[(table["at"] >= one[0]) & (table["at"] < one[1])]
        return float(inside["value"].min())

    taken: list[float] = []
    for one in sorted(parts.slow, key=least):
        middle = (one[0] + one[1]) / 2 / 2**30
        if len(taken) == 4 or any(abs(middle - t) < 0.22 * end for t in taken):
            continue
        taken.append(middle)
        left = middle < 0.7 * end
        axes.annotate(
            f"{range_text(one)}\n{percent_text(least(one) / parts.median)}",
            (one[1] / 2**30 if left else one[0] / 2**30, parts.units.number(least(one))),
            xytext=(6 if left else -6, 0),
            textcoords="offset points",
            ha="left" if left else "right",
            va="center",
            color=paper.BAD,
            fontsize=10.5,
        )


_BOTTOM, _GAP, _SMALL = 0.6, 0.32, 0.83  # inches, of the panels below the rate


def over_time(parts: Parts) -> bytes:
    """The rate, and clock, temperature and power below it, over one time axis."""
    table = parts.points
    known = [c for c in TELEMETRY if table[c].notna().any()]
    below = len(known) * (_SMALL + _GAP)
    with paper.style():
        height = 3.6 + below
        figure = paper.sheet(height)
        place = (0.1, (_BOTTOM + below) / height, 0.87, (1.9) / height)
        rate = figure.add_axes(place)
        _rate_panel(rate, parts)
        panels = [rate, *_telemetry_panels(figure, rate, parts, known)]
        for axes in panels:
            axes.axvspan(
                parts.worst_at, parts.worst_at + parts.step, color=paper.BAD_BAND, linewidth=0
            )
        for axes in panels[:-1]:
            axes.tick_params(labelbottom=False)
        panels[-1].set_xlabel("time, s")
        missing = [name for c, (name, _) in TELEMETRY.items() if c not in known]
        facts = (
            f"median {parts.units.text(parts.median)} {parts.units.label}",
            f"first to last {percent_text(1 + parts.drop)}" if parts.drop is not None else "",
            f"not known: {', '.join(missing)}" if missing else "",
        )
        paper.head(
            figure, f"{paper.plain(parts.gpu, 48)}: {parts.probe}, {seconds(_end(parts))} s", facts
        )
        return paper.png(figure)


def _end(parts: Parts) -> float:
    return float(parts.points["at"].iloc[-1]) + parts.step


def _rate_panel(axes: Axes, parts: Parts) -> None:
    """The worst window and the drop are marked."""
    values = [parts.units.number(float(v)) for v in parts.points["value"]]
    end = _end(parts)
    style = "o" if len(values) == 1 else "-"
    axes.plot(parts.points["at"] + parts.step / 2, values, style, color=paper.COLOURS[0])
    low, high = min(values), max(values)
    room = max(high - low, 0.02 * high)
    axes.set_ylim(low - 0.3 * room, high + 0.3 * room)
    axes.set_xlim(float(parts.points["at"].iloc[0]), end)
    at, worst = parts.worst_at + parts.step / 2, parts.units.number(parts.worst)
    axes.plot([at], [worst], "o", color=paper.BAD, markersize=6)
    left = parts.worst_at < 0.55 * end
    axes.annotate(
        f"worst {seconds(parts.step)} s: {parts.units.text(parts.worst)} {parts.units.label}",
        (at, worst),
        xytext=(9 if left else -9, -9),
        textcoords="offset points",
        ha="left" if left else "right",
        color=paper.BAD,
        path_effects=paper.halo(),
    )
    if parts.drop is not None and abs(parts.drop) >= _SEEN_DROP:
        _drop(axes, values[0], values[-1], end, parts.drop)
    axes.set_title(f"rate, {parts.units.label}", **_PANEL)


def _telemetry_panels(figure: Figure, rate: Axes, parts: Parts, known: list[str]) -> list[Axes]:
    panels = []
    height = figure.get_figheight()
    for i, column in enumerate(known):
        foot = _BOTTOM + (len(known) - 1 - i) * (_SMALL + _GAP)
        axes = figure.add_axes((0.1, foot / height, 0.87, _SMALL / height), sharex=rate)
        values = parts.points[column]
        style = "o" if values.notna().sum() == 1 else "-"
        axes.plot(
            parts.points["at"] + parts.step / 2, values, style, color=paper.SOFT, linewidth=1.6
        )
        axes.yaxis.set_major_locator(MaxNLocator(nbins=2, min_n_ticks=2))
        low, high = float(values.min()), float(values.max())
        half = max((high - low) * 0.65, abs(high) * 0.01, 0.5)
        axes.set_ylim((low + high) / 2 - half, (low + high) / 2 + half)
        axes.set_title(", ".join(TELEMETRY[column]), **_PANEL)
        panels.append(axes)
    return panels


# A smaller drop is not drawn: the arrow would be all head.
_SEEN_DROP = 0.005


def _drop(axes: Axes, first: float, last: float, end: float, drop: float) -> None:
    """From the level of the first part down to the last."""
    axes.axhline(first, color=paper.FAINT, linestyle=(0, (4, 3)), linewidth=1)
    arrow = {"arrowstyle": "-|>", "color": paper.INK, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    at = end * 0.985
    axes.annotate("", (at, last), (at, first), arrowprops=arrow)
    axes.annotate(
        percent_text(1 + drop),
        (at, (first + last) / 2),
        xytext=(-6, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        path_effects=paper.halo(),
    )
