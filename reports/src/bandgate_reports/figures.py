# SPDX-License-Identifier: Apache-2.0
"""Figures as PNG: tables and matrices in, bytes out."""

import json
import math
import re
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

from bandgate_reports import paper
from bandgate_reports.curves import KEY, Kind, labels
from bandgate_reports.model import Matrix, Parts
from bandgate_reports.parts import TELEMETRY, range_text
from bandgate_reports.records import each, parameter_text
from bandgate_reports.text import count
from bandgate_reports.units import RateUnit, number_text, percent_text, scale

MOST_CURVES = 4  # of one probe in one figure; the others are in the table beside it
MOST_GPUS = 8  # of an overlay


def _split(curves: pd.DataFrame) -> dict[tuple[Any, ...], pd.DataFrame]:
    grouped = curves.groupby(KEY, sort=True)
    return {tuple(key): curve.sort_values("x") for key, curve in grouped}


def most_telling(curves: pd.DataFrame, by: list[str], most: int) -> pd.DataFrame:
    """Of each `by` the curves with the most points, then those of the newest version."""
    size = curves.groupby(KEY)["x"].transform("size")
    order = curves.assign(size=size).sort_values(
        ["size", "version", *KEY], ascending=[False, False, *[True] * len(KEY)], kind="stable"
    )
    chosen = order[KEY].drop_duplicates().groupby(by, sort=False).head(most)
    return curves.merge(chosen, on=KEY)


def _sources(curves: pd.DataFrame) -> str:
    least, greatest = int(curves["processes"].min()), int(curves["processes"].max())
    cards = count(int(curves["cards"].max()), "card")
    if greatest == 1:
        return f"one process on {cards}"
    number = f"{least} to {greatest}" if least < greatest else str(greatest)
    return f"median of {number} processes on {cards}, band from least to greatest"


def _common(curves: pd.DataFrame) -> str:
    """The parameters that all curves share."""
    sets = [json.loads(text) for text in curves["parameters"].unique()]
    shared = [n for n in sets[0] if all(n in s and s[n] == sets[0][n] for s in sets)]
    return " ".join(f"{n}={parameter_text(n, sets[0][n])}" for n in shared)


def element_bytes(curves: pd.DataFrame) -> int | None:
    """Of the elements that spans count; none if the curves differ or do not say."""
    types = {str(json.loads(text).get("dtype", "")) for text in curves["parameters"].unique()}
    found = re.fullmatch(r"[a-z]*?(8|16|32|64)", types.pop()) if len(types) == 1 else None
    return int(found[1]) // 8 if found else None


def _curve(axes: Axes, curve: pd.DataFrame, unit: float, colour: str, dash: Any) -> None:
    x, value = curve["x"].to_numpy(), curve["value"].to_numpy() / unit
    low, high = curve["low"].to_numpy() / unit, curve["high"].to_numpy() / unit
    if len(x) == 1:
        axes.plot(x, value, "o", color=colour, markersize=6)
        axes.errorbar(x, value, [value - low, high - value], color=colour)
        return
    axes.fill_between(x, low, high, color=colour, alpha=0.16, linewidth=0)
    axes.plot(x, value, color=colour, linestyle=dash)
    axes.plot(x, value, "o", color=colour, markersize=2.6)


def _knee_marks(
    axes: Axes, knees: pd.DataFrame, drawn: pd.DataFrame, colours: dict[Any, str], size: int | None
) -> None:
    """A ring and its span: above to the right of the corner, where the line has just left, or
    below to the left where another line passes above."""
    for k in each(knees):
        key = tuple(getattr(k, name) for name in KEY)
        axes.plot([k.x], [k.value], "o", color=paper.GROUND, markersize=8, mew=2, mec=colours[key])
        passing = any(
            _passes(curve, k.x, k.value) for other, curve in _split(drawn).items() if other != key
        )
        text = paper.power_text(k.x) + (f", {paper.bytes_text(k.x * size)}" if size else "")
        axes.annotate(
            text,
            (k.x, k.value),
            xytext=(-5, -7) if passing else (5, 7),
            textcoords="offset points",
            ha="right" if passing else "left",
            va="top" if passing else "bottom",
            fontsize=10.5,
            color=colours[key],
            path_effects=paper.halo(),
        )


def _passes(curve: pd.DataFrame, x: float, value: float) -> bool:
    """Whether a line passes where the label of a knee would be."""
    near = curve.loc[(curve["x"] >= x) & (curve["x"] <= x * 16), "value"]
    return bool(len(near)) and bool(near.min() < value + 0.13 and near.max() > value)


def _span_axis(axes: Axes, curves: pd.DataFrame, size: int | None) -> None:
    low, high = float(curves["x"].min()), float(curves["x"].max())
    ticks = paper.octaves(low, high) or [low]
    paper.octave_axis(axes, ticks, paper.power_text, low, high)
    if size:
        paper.second_axis(axes, ticks, lambda t: paper.bytes_text(t * size))


def ratios(curves: pd.DataFrame, knees: pd.DataFrame, gpu: str, mode: str) -> bytes:
    """One GPU: gather and scatter as shares of copy against the span, their knees marked."""
    drawn = most_telling(curves, ["probe"], MOST_CURVES)
    size = element_bytes(drawn)
    names = labels(drawn)
    longest = max(len(n) for n in names.values())
    with paper.style():
        figure = paper.sheet(4.9)
        right = max(0.86 - 0.0105 * max(0, longest - 8), 0.62)
        axes = figure.add_axes((0.085, 0.125, right - 0.085, 0.62))
        colours, ends = _ratio_lines(axes, drawn, names)
        axes.set_ylim(0, max(1.0, float(drawn["high"].max()) * 1.05))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        _span_axis(axes, drawn, size)
        axes.set_xlabel("span of the random indices, elements" + (" (above: bytes)" * bool(size)))
        _knee_marks(axes, _of(knees, drawn), drawn, colours, size)
        paper.label_ends(axes, ends)
        paper.head(
            figure,
            f"{gpu}: gather and scatter, % of copy",
            (mode, _common(drawn), _sources(drawn)),
        )
        return paper.png(figure)


def _of(knees: pd.DataFrame, drawn: pd.DataFrame) -> pd.DataFrame:
    return knees.merge(drawn[KEY].drop_duplicates(), on=KEY)


def _ratio_lines(
    axes: Axes, drawn: pd.DataFrame, names: dict[tuple[Any, ...], str]
) -> tuple[dict[Any, str], list[tuple[float, str, str]]]:
    """A colour for a probe, a dash for each of its variants."""
    probes = sorted(drawn["probe"].unique())
    colours, ends, seen = {}, [], dict.fromkeys(probes, 0)
    for key, curve in _split(drawn).items():
        probe = key[KEY.index("probe")]
        colours[key] = paper.COLOURS[probes.index(probe)]
        _curve(axes, curve, 1.0, colours[key], paper.DASHES[seen[probe]])
        seen[probe] += 1
        ends.append((float(curve["value"].iloc[-1]), paper.plain(names[key]), colours[key]))
    return colours, ends


def overlay(curves: pd.DataFrame, knees: pd.DataFrame, mode: str) -> bytes:
    """Several GPUs: gather above scatter, one colour a GPU. Of each the curve that tells most."""
    drawn = most_telling(curves, ["gpu", "probe"], 1)
    sizes = drawn.groupby("gpu")["x"].size().sort_values(ascending=False, kind="stable")
    chosen = sorted(str(g) for g in sizes.index[:MOST_GPUS])
    drawn = drawn[drawn["gpu"].isin(chosen)]
    left_out = len(sizes) - len(chosen)
    probes = sorted(drawn["probe"].unique())
    size = element_bytes(drawn)
    with paper.style():
        height = 1.5 + 2.75 * len(probes)
        figure = paper.sheet(height)
        each_high = (height - 1.85 - 0.35 * (len(probes) - 1)) / len(probes)
        for i, probe in enumerate(probes):
            of_probe = drawn[drawn["probe"] == probe]
            foot = 0.6 + (len(probes) - 1 - i) * (each_high + 0.35)
            axes = figure.add_axes((0.085, foot / height, 0.665, each_high / height))
            colours, ends = {}, []
            for key, curve in _split(of_probe).items():
                gpu = key[KEY.index("gpu")]
                colours[key] = paper.COLOURS[chosen.index(gpu)]
                _curve(axes, curve, 1.0, colours[key], "-")
                ends.append(
                    (float(curve["value"].iloc[-1]), paper.plain(_short(gpu), 24), colours[key])
                )
            axes.set_ylim(0, max(1.0, float(of_probe["high"].max()) * 1.05))
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
            last = i + 1 == len(probes)
            _span_axis(axes, drawn, size if i == 0 else None)
            axes.tick_params(labelbottom=last)
            for k in each(_of(knees, of_probe)):
                key = tuple(getattr(k, name) for name in KEY)
                axes.plot([k.x], [k.value], "o", mfc=paper.GROUND, mec=colours[key], ms=6, mew=1.6)
            axes.text(0.99, 0.9, probe, transform=axes.transAxes, ha="right", fontweight="bold")
            paper.label_ends(axes, ends, 13.5)
            if last:
                above = " (above: bytes)" if size else ""
                axes.set_xlabel(f"span of the random indices, elements{above}; rings mark knees")
        more = f"{count(left_out, 'more GPU')} in the table" if left_out else ""
        paper.head(
            figure,
            "Gather and scatter, % of copy",
            (mode, _common(drawn), _sources(drawn), more),
        )
        return paper.png(figure)


def _short(gpu: str) -> str:
    """Without the maker, which the models tell already."""
    return re.sub(r"^(NVIDIA|AMD|Intel)[ _]+", "", gpu) or gpu


def bandwidths(curves: pd.DataFrame, gpu: str, kind: Kind, rate: RateUnit) -> bytes:
    """One GPU: bandwidth against window or blocks, with the DRAM peak and the share of it."""
    drawn = most_telling(curves, ["probe"], MOST_CURVES)
    names, units = labels(drawn), scale("B/s", rate)
    peak = float(drawn["dram_peak"].median())
    window = kind.x == "window"
    with paper.style():
        figure = paper.sheet(4.6)
        axes = figure.add_axes((0.095, 0.135, 0.655, 0.65))
        ends = []
        for i, (key, curve) in enumerate(_split(drawn).items()):
            colour = paper.COLOURS[i]
            _curve(axes, curve, units.base, colour, "-")
            last = float(curve["value"].iloc[-1])
            best = float(curve["value"].max())
            share = f"\nbest {best / peak * 100:.1f} % of peak" if math.isfinite(peak) else ""
            ends.append((last / units.base, paper.plain(names[key], 28) + share, colour))
        top = float(drawn["high"].max())
        if math.isfinite(peak):
            axes.axhline(peak / units.base, color=paper.INK, linestyle=(0, (4, 3)), linewidth=1.2)
            axes.annotate(
                f"DRAM peak {units.text(peak)} {units.label}",
                (0, peak / units.base),
                xycoords=("axes fraction", "data"),
                xytext=(2, 4),
                textcoords="offset points",
                fontsize=10.5,
            )
            top = max(top, peak)
        axes.set_ylim(0, top / units.base * 1.12)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        low, high = float(drawn["x"].min()), float(drawn["x"].max())
        ticks = paper.octaves(low, high) or [low]
        text = paper.bytes_text if window else (lambda value: f"{value:g}")
        paper.octave_axis(axes, ticks, text, low, high)
        axes.set_xlabel("window" if window else "blocks")
        axes.set_title(units.label, loc="left", fontsize=10.5, color=paper.SOFT, pad=7)
        paper.label_ends(axes, ends, 31.0 if math.isfinite(peak) else 15.0)
        what = "cold windows, read" if window else "classic read"
        paper.head(
            figure,
            f"{gpu}: {what} bandwidth against {kind.x}",
            (
                _common(drawn),
                _sources(drawn),
                "" if math.isfinite(peak) else "DRAM peak not known",
            ),
        )
        return paper.png(figure)


# From what a slow link stands out of to what is normal.
_HEAT = LinearSegmentedColormap.from_list("heat", ["#e0584f", "#f6c8a8", "#f7ecd9", "#dcebe2"])


def heat_map(matrix: Matrix) -> bytes:
    """Rows: devices; columns: their peers. Colour: share of the fastest pair."""
    n = len(matrix.names)
    with paper.style():
        height = 1.55 + min(0.62 * n, 5.6) + 0.2 * len(matrix.holes[:3])
        figure = paper.sheet(height)
        foot = 0.2 + 0.2 * len(matrix.holes[:3]) + 0.1
        axes = figure.add_axes((0.17, foot / height, 0.8, (height - foot - 1.35) / height))
        axes.grid(visible=False)
        for name in axes.spines:
            axes.spines[name].set_visible(False)
        axes.set_xlim(0, n)
        axes.set_ylim(n, 0)
        font = 11 if n <= 8 else 9 if n <= 12 else 6.5
        for y, row in enumerate(matrix.cells):
            for x, cell in enumerate(row):
                if cell is None:
                    continue
                share = None if cell.share is None else max(0.0, (cell.share - 0.5) / 0.5)
                colour = "#eef0f2" if share is None else _HEAT(share)
                place = (x + 0.03, y + 0.04)
                axes.add_patch(Rectangle(place, 0.94, 0.92, facecolor=colour, linewidth=0))
                if cell.least:
                    axes.add_patch(
                        Rectangle(place, 0.94, 0.92, fill=False, edgecolor=paper.INK, linewidth=1.6)
                    )
                text = cell.text or "–"
                weight = "bold" if cell.least else "normal"
                axes.text(
                    x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=font,
                    color=paper.INK if cell.text else paper.SOFT, fontweight=weight,
                )  # fmt: skip
        names = [paper.plain(name, 16) for name in matrix.names]
        centres = [i + 0.5 for i in range(n)]
        axes.set_xticks(centres, names, rotation=0 if n <= 8 else 90, fontsize=min(font, 10.5))
        axes.set_yticks(centres, names, fontsize=min(font, 10.5))
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_xlabel("peer", labelpad=4)
        axes.xaxis.set_label_position("top")
        axes.set_ylabel("device")
        paper.head(
            figure,
            f"{matrix.title}, {matrix.unit}: {matrix.model} on {matrix.node}",
            (f"{matrix.minimum} (framed)" if matrix.minimum.startswith("minimum") else "",),
        )
        for i, hole in enumerate(matrix.holes[:3]):
            figure.text(
                0.02, (foot - 0.22 - 0.2 * i) / height, paper.plain(f"– {hole}", 110),
                fontsize=9.5, color=paper.SOFT, parse_math=False, va="center",
            )  # fmt: skip
        return paper.png(figure)


def memory_map(parts: Parts) -> bytes:
    """Bandwidth by address; slow slices in colour, with their addresses."""
    table, units = parts.points, parts.units
    edges = [*(table["at"] / 2**30), (float(table["at"].iloc[-1]) + parts.step) / 2**30]
    values = [units.number(float(v)) for v in table["value"]]
    with paper.style():
        figure = paper.sheet(4.3)
        axes = figure.add_axes((0.1, 0.145, 0.87, 0.575))
        low, high = min(values), max(values)
        room = max(high - low, 0.02 * high)
        axes.set_ylim(low - 0.25 * room, high + 0.3 * room)
        for start, end in parts.slow:
            axes.axvspan(start / 2**30, end / 2**30, color=paper.BAD_BAND, linewidth=0)
        whole = len(table) > 1 and bool(((table["at"].diff().iloc[1:] / parts.step) < 1.001).all())
        if whole:
            axes.stairs(values, edges, baseline=None, color=paper.COLOURS[0], linewidth=1.6)
        else:
            axes.plot(table["at"] / 2**30, values, "o", color=paper.COLOURS[0], markersize=4)
        for r in each(table[table["slow"]]):
            ends = [r.at / 2**30, (r.at + parts.step) / 2**30]
            level = units.number(r.value)
            axes.plot(ends, [level, level], color=paper.BAD, linewidth=3.2)
        _name_ranges(axes, parts, edges[-1])
        middle = units.number(parts.median)
        axes.axhline(middle, color=paper.FAINT, linestyle=(0, (4, 3)), linewidth=1)
        axes.set_xlim(min(edges), max(edges))
        axes.set_xlabel("address from the start of the memory, GiB")
        axes.set_title(
            f"{units.label}; dashed: median of the slices",
            loc="left", fontsize=10.5, color=paper.SOFT, pad=7,
        )  # fmt: skip
        paper.head(figure, f"{parts.gpu}: {parts.probe}, bandwidth by address", parts.remarks)
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


def over_time(parts: Parts) -> bytes:
    """The rate, and clock, temperature and power below it, over one time axis."""
    table = parts.points
    known = [c for c in TELEMETRY if table[c].notna().any()]
    with paper.style():
        height = 3.6 + 1.15 * len(known)
        figure = paper.sheet(height)
        bottom, gap, small = 0.6, 0.32, 0.83
        tall = height - bottom - 1.1 - len(known) * (small + gap)
        foot = bottom + len(known) * (small + gap)
        rate = figure.add_axes((0.1, foot / height, 0.87, tall / height))
        values = table["value"] / parts.units.base
        times = table["at"] + parts.step / 2
        rate.axvspan(parts.worst_at, parts.worst_at + parts.step, color=paper.BAD_BAND, linewidth=0)
        rate.plot(times, values, color=paper.COLOURS[0])
        low, high = float(values.min()), float(values.max())
        room = max(high - low, 0.01 * high)
        rate.set_ylim(low - 0.3 * room, high + 0.3 * room)
        end = float(table["at"].iloc[-1]) + parts.step
        rate.set_xlim(float(table["at"].iloc[0]), end)
        worst = parts.worst / parts.units.base
        rate.plot([parts.worst_at + parts.step / 2], [worst], "o", color=paper.BAD, markersize=6)
        left = parts.worst_at < 0.6 * end
        rate.annotate(
            f"worst {parts.step:.6g} s: {parts.units.text(parts.worst)} {parts.units.label}",
            (parts.worst_at + parts.step / 2, worst),
            xytext=(9 if left else -9, -9),
            textcoords="offset points",
            ha="left" if left else "right",
            color=paper.BAD,
        )
        if parts.drop is not None and abs(parts.drop) >= _SEEN_DROP:
            _drop(rate, float(values.iloc[0]), float(values.iloc[-1]), end, parts.drop)
        rate.set_title(_panel("rate", parts.units.label), **_PANEL)
        panels = [rate]
        for i, column in enumerate(known):
            foot = bottom + (len(known) - 1 - i) * (small + gap)
            axes = figure.add_axes((0.1, foot / height, 0.87, small / height), sharex=rate)
            axes.plot(times, table[column], color=paper.COLOURS[7], linewidth=1.6)
            axes.yaxis.set_major_locator(MaxNLocator(nbins=2, min_n_ticks=2))
            spread = float(table[column].max() - table[column].min())
            middle = float(table[column].max() + table[column].min()) / 2
            half = max(spread * 0.65, abs(middle) * 0.01, 0.5)
            axes.set_ylim(middle - half, middle + half)
            axes.axvspan(
                parts.worst_at, parts.worst_at + parts.step, color=paper.BAD_BAND, linewidth=0
            )
            axes.set_title(_panel(*TELEMETRY[column]), **_PANEL)
            panels.append(axes)
        for axes in panels[:-1]:
            axes.tick_params(labelbottom=False)
        panels[-1].set_xlabel("time, s")
        missing = [name for c, (name, _) in TELEMETRY.items() if c not in known]
        silent = f"not known: {', '.join(missing)}" if missing else ""
        drop = f"first to last {percent_text(1 + parts.drop)}" if parts.drop is not None else ""
        middle_text = f"median {number_text(parts.units.number(parts.median))} {parts.units.label}"
        paper.head(
            figure,
            f"{parts.gpu}: {parts.probe}, {end:.6g} s",
            (middle_text, drop, silent),
        )
        return paper.png(figure)


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


_PANEL: dict[str, Any] = {"loc": "left", "fontsize": 10.5, "color": paper.SOFT, "pad": 4}


def _panel(name: str, unit: str) -> str:
    return f"{name}, {unit}"
