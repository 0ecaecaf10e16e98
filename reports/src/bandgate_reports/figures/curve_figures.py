# SPDX-License-Identifier: Apache-2.0
"""Figures of curves as PNG: tables in, bytes out."""

import json
import math
import re
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from bandgate_reports.analysis.curves import KEY, Kind, element_bytes, labels
from bandgate_reports.figures import paper
from bandgate_reports.store.records import each, parameter_text
from bandgate_reports.text import count
from bandgate_reports.units import RateUnit, scale

MOST_CURVES = 3  # of one probe in one figure; the others are in the table beside it
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


def common_element_bytes(curves: pd.DataFrame) -> int | None:
    """Of the elements that spans count; none if the curves differ or do not say."""
    sizes = {element_bytes(json.loads(text)) for text in curves["parameters"].unique()}
    return sizes.pop() if len(sizes) == 1 else None


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
    below to the left where another line passes above. Of several curves of a probe the first is
    named: theirs are close together."""
    named = most_telling(drawn, ["probe"], 1)[KEY].drop_duplicates()
    spoken = {tuple(key) for key in named.itertuples(index=False)}
    for k in each(knees):
        key = tuple(getattr(k, name) for name in KEY)
        axes.plot([k.x], [k.value], "o", color=paper.GROUND, markersize=8, mew=2, mec=colours[key])
        if key not in spoken:
            continue
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
    size = common_element_bytes(drawn)
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
            f"{paper.plain(gpu, 44)}: gather and scatter, % of copy",
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
    size = common_element_bytes(drawn)
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
            f"{paper.plain(gpu, 40)}: {what} bandwidth against {kind.x}",
            (
                _common(drawn),
                _sources(drawn),
                "" if math.isfinite(peak) else "DRAM peak not known",
            ),
        )
        return paper.png(figure)
