# SPDX-License-Identifier: Apache-2.0
"""Nodes against probes as a drawing for pages, and as a table of texts."""

import math
from html import escape

import pandas as pd

from bandgate_reports.section import Column, Figure, Row, Table, Tone
from bandgate_reports.text import count, printable, shorten

MOST_NODES = 64  # of a drawing
_TEXT_NODES, _TEXT_PROBES = 24, 6
NOTABLE = 0.01  # a difference that is worth a colour

# Vermilion and blue (Okabe and Ito): told apart with every kind of colour vision. The colours lie
# thinly over the page, light or dark, so that the text on them is the page's own.
_WORSE, _BETTER = "var(--heat-worse, #d55e00)", "var(--heat-better, #0072b2)"
_STEPS = ((0.01, 0.14), (0.02, 0.28), (0.03, 0.42), (0.05, 0.56))

_CELL, _HEIGHT, _CHARACTER = 58, 24, 7.6  # the widest fonts of 12 px


def cell_text(loss: float) -> str:
    """Per cent, minus is worse: "−3.1"; below a twentieth of a per cent "0.0"."""
    points = round(-loss * 100, 1)
    if abs(points) >= 99.5:
        return f"{'−' if points < 0 else '+'}{abs(points):.0f}"
    return f"{'−' if points < 0 else '+' if points > 0 else ''}{abs(points):.1f}"


def _opacity(loss: float) -> float:
    return max((o for least, o in _STEPS if abs(loss) >= least), default=0.0)


def wide(cells: pd.DataFrame, column: str, nodes: list[str]) -> pd.DataFrame:
    """Nodes in the given order, probes worst first."""
    table = cells.pivot_table(index="node", columns="label", values=column, aggfunc="max")
    worst = cells.groupby("label")["loss"].max().sort_values(ascending=False, kind="stable")
    return table.reindex(index=nodes, columns=list(worst.index))


def figure(model: str, cells: pd.DataFrame, nodes: list[str]) -> Figure:
    """`cells` of one model, `nodes` worst first."""
    shown = nodes[:MOST_NODES]
    loss = wide(cells, "loss", shown)
    numbers = loss.to_numpy(dtype="float64")
    flagged = wide(cells.assign(flagged=cells["flagged"].astype("float64")), "flagged", shown) > 0
    names = [printable(shorten(n, 24)) for n in shown]
    probes = [printable(shorten(str(p), 28)) for p in loss.columns]
    left = 12 + _CHARACTER * max(map(len, names))
    top = 18 + 0.64 * _CHARACTER * max(map(len, probes))
    width = left + _CELL * len(probes) + 0.77 * _CHARACTER * len(probes[-1]) + 12
    height = top + _HEIGHT * len(names) + 6
    drawn = [_heading(p, left + _CELL * (i + 0.5), top - 7) for i, p in enumerate(probes)]
    for r, name in enumerate(names):
        y = top + _HEIGHT * r
        drawn.append(
            f'<text x="{left - 8:.0f}" y="{y + 16:.0f}" text-anchor="end">{escape(name)}</text>'
        )
        for c, probe in enumerate(probes):
            drawn.append(
                _cell(
                    left + _CELL * c,
                    y,
                    float(numbers[r, c]),
                    bool(flagged.iat[r, c]),
                    f"{name}, {probe}",
                )
            )
    title = f"{printable(shorten(model, 80))}: worst card of each node, % from its peers"
    head = (
        f'<svg class="heat-map" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{escape(title)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" fill="currentColor" font-size="12" '
        f'font-family="system-ui, sans-serif">'
    )
    bad = int(flagged.any(axis=1).sum())
    summary = (
        f"Difference of each node's worst card from the median of its peers, in per cent; minus is "
        f"worse. {count(len(nodes), 'node')}, {bad} with a mark."
    )
    if len(nodes) > len(shown):
        summary += f" The {len(shown)} worst are drawn."
    return Figure(title, head + "".join(drawn) + "</svg>", summary)


def _heading(probe: str, x: float, y: float) -> str:
    at = f"{x:.0f} {y:.0f}"
    return f'<text transform="translate({at}) rotate(-40)">{escape(probe)}</text>'


def _cell(x: float, y: float, loss: float, flagged: bool, where: str) -> str:
    if math.isnan(loss):  # nothing to compare it with
        return (
            f'<text x="{x + _CELL / 2:.0f}" y="{y + 16:.0f}" text-anchor="middle" '
            f'opacity="0.5">·<title>{escape(where)}: not compared</title></text>'
        )
    text = cell_text(loss)
    fill = _WORSE if loss > 0 else _BETTER
    frame = ' stroke="currentColor" stroke-width="1.5"' if flagged else ""
    mark = "▾" if flagged else ""
    weight = ' font-weight="700"' if flagged else ""
    return (
        f"<g><title>{escape(where)}: {text} %{', flagged' if flagged else ''}</title>"
        f'<rect x="{x + 1:.0f}" y="{y + 1:.0f}" width="{_CELL - 2}" height="{_HEIGHT - 2}" rx="2" '
        f'fill="{fill}" fill-opacity="{_opacity(loss):.2f}"{frame}/>'
        f'<text x="{x + _CELL / 2:.0f}" y="{y + 16:.0f}" text-anchor="middle"{weight}>'
        f"{mark}{text}</text></g>"
    )


def table(model: str, cells: pd.DataFrame, nodes: list[str]) -> Table | None:
    """What is off, as far as a terminal has room; None where nothing is."""
    loss = wide(cells, "loss", nodes)
    flagged = wide(cells.assign(flagged=cells["flagged"].astype("float64")), "flagged", nodes) > 0
    off = loss.abs() >= NOTABLE
    worse = [p for p in loss.columns if off[p].any()]
    # What is slow comes first; a probe that scatters widely is off in every node.
    worse.sort(key=lambda p: not flagged[p].any())
    probes = worse[:_TEXT_PROBES]
    rows_off = [n for n in nodes if off.loc[n, probes].any()]
    if not rows_off:
        return None
    shown = rows_off[:_TEXT_NODES]
    rows = []
    for node in shown:
        bad = bool(flagged.loc[node].any())
        values = loss.loc[node, probes].to_numpy(dtype="float64")
        marks = flagged.loc[node, probes]
        texts = [_text(v, bool(m)) for v, m in zip(values.tolist(), marks, strict=True)]
        rows.append(Row((node, *texts), Tone.BAD if bad else Tone.PLAIN, model=model, node=node))
    notes = [
        "Per cent from the median of its peers, the node's worst card; minus is worse, ▾ slow."
    ]
    if quiet := len(nodes) - len(rows_off):
        notes.append(f"{count(quiet, 'other node')}: within 1 % in these.")
    if rest := len(loss.columns) - len(probes):
        within = "" if len(worse) > len(probes) else " all within 1 %"
        where = within or " in the drawing of --page and in --format json"
        notes.append(f"{count(rest, 'more probe')}:{where}.")
    columns = (Column("Node"), *(Column(str(p), numeric=True) for p in probes))
    return Table(
        f"Heat map: {model}", columns, tuple(rows), len(rows_off) - len(shown), " ".join(notes)
    )


def _text(loss: float, flagged: bool) -> str:
    if math.isnan(loss):
        return "–"
    return ("▾" if flagged else "") + cell_text(loss)
