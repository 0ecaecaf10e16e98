# SPDX-License-Identifier: Apache-2.0
"""All figures of a set of results, with their data and what could not be drawn. Writes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from bandgate_reports.analysis import curves, series, verdicts
from bandgate_reports.analysis.curves import KEY, KINDS, Kind
from bandgate_reports.figures import curve_figures, device_figures
from bandgate_reports.text import count
from bandgate_reports.trend import peers
from bandgate_reports.trend.model import Matrix, Parts
from bandgate_reports.trend.parts import newest_parts
from bandgate_reports.trend.rows import varying_parameters
from bandgate_reports.units import RateUnit

DEFAULT_MODE = "permutation"


@dataclass(frozen=True)
class File:
    """A file to write."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Missing:
    """A figure that is not there, and how to get it."""

    what: str
    why: str
    command: str
    others: str = ""


@dataclass(frozen=True)
class Drawn:
    files: tuple[File, ...]
    knees: pd.DataFrame  # of the ratios, as curves.knee_table() gives them
    matrices: tuple[Matrix, ...]
    parts: tuple[Parts, ...]
    missing: tuple[Missing, ...]
    left: tuple[str, ...]  # results that have no point, in words


_NO_PEERS = Missing(
    "peer matrix", "no result of p2p_read, p2p_write or p2p_bidir", "bandgate run p2p_read"
)
_NO_MAP = Missing("memory map", "no result of read_map with slices", "bandgate run read_map")
_NO_TIME = Missing(
    "rate over time", "no result of sustained with a time series", "bandgate run sustained"
)


def draw(results: pd.DataFrame, now: datetime, rate: RateUnit) -> Drawn:
    """Every figure that the results are enough for."""
    files: list[File] = []
    missing: list[Missing] = []
    left: list[str] = []
    knees = []
    table = series.identify(results, now)
    newest = verdicts.newest(table)
    shown = varying_parameters(table)
    matrices = peers.matrices(peers.pairs(table, newest), rate)
    # Of each card the newest that has one: a later run that failed takes no figure away.
    parts = newest_parts(verdicts.newest(table[table["parts"].notna()]), shown, rate)
    found = {}
    for kind in KINDS:
        points, unfit = curves.points(results, kind)
        found[kind] = curves.pooled(points)
        if found[kind].empty:
            missing.append(Missing(kind.name, _why(kind, unfit), kind.command, kind.others))
            continue
        left += [f"{kind.name}: {count(u.results, 'result')} left out: {u.reason}" for u in unfit]
    names = [*(str(g) for c in found.values() for g in c["gpu"]), *(p.gpu for p in parts)]
    safe = curves.file_names(sorted(set(names)))
    for kind, table_of in found.items():
        if not table_of.empty:
            bends = curves.knee_table(table_of)
            files += _curve_files(kind, table_of, bends, safe, rate)
            if kind.ratio:
                knees.append(bends)
    files += _matrix_files(matrices)
    files += _part_files(parts, safe)
    missing += [] if matrices else [_NO_PEERS]
    missing += [] if any(p.axis == "address" for p in parts) else [_NO_MAP]
    missing += [] if any(p.axis == "time" for p in parts) else [_NO_TIME]
    bends = pd.concat(knees) if knees else pd.DataFrame(columns=[*KEY, "x", "value", "fall"])
    return Drawn(tuple(files), bends, matrices, parts, tuple(missing), tuple(left))


def _why(kind: Kind, unfit: Sequence[curves.Left]) -> str:
    if unfit:
        return "; ".join(f"{count(u.results, 'result')}: {u.reason}" for u in unfit)
    return f"no result of {' or '.join(kind.probes)} with {kind.x}"


def _csv(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False, lineterminator="\n").encode("utf-8", "replace")


def _curve_files(
    kind: Kind,
    table: pd.DataFrame,
    knees: pd.DataFrame,
    safe: dict[str, str],
    rate: RateUnit,
) -> list[File]:
    files = []
    for gpu, of_gpu in table.groupby("gpu", sort=True):
        begin = f"{safe[str(gpu)]}_{kind.name}"
        files.append(File(f"{begin}.csv", _csv(curves.csv_table(of_gpu, kind))))
        if not kind.ratio:
            files.append(
                File(f"{begin}.png", curve_figures.bandwidths(of_gpu, str(gpu), kind, rate))
            )
            continue
        for mode, of_mode in of_gpu.groupby("mode", sort=True):
            data = curve_figures.ratios(of_mode, knees, str(gpu), str(mode))
            files.append(File(f"{begin}{_mode(str(mode))}.png", data))
    if kind.ratio and table["gpu"].nunique() > 1:
        files.append(File(f"{kind.name}.csv", _csv(curves.csv_table(table, kind))))
        for mode, of_mode in table.groupby("mode", sort=True):
            if of_mode["gpu"].nunique() > 1:
                data = curve_figures.overlay(of_mode, knees, str(mode))
                files.append(File(f"{kind.name}{_mode(str(mode))}.png", data))
    return files


def _mode(mode: str) -> str:
    """The end of a file's name for an index mode: "" for the usual one."""
    return "" if mode == DEFAULT_MODE else f"_{curves.file_names([mode])[mode]}"


def _matrix_files(matrices: Sequence[Matrix]) -> list[File]:
    names = [f"{m.node} {m.title}" for m in matrices]
    safe = curves.file_names(names)
    return [
        File(f"{safe[name]}_peers.{ending}", data)
        for name, m in zip(names, matrices, strict=True)
        for ending, data in (("csv", _csv(peers.csv_table(m))), ("png", device_figures.heat_map(m)))
    ]


def _part_files(parts: Sequence[Parts], safe: dict[str, str]) -> list[File]:
    """One for each device: by its model, and by node and place where a model is there twice."""
    files = []
    names = [f"{safe[p.gpu]}_{p.probe}" for p in parts]
    for p, name in zip(parts, names, strict=True):
        who = name if names.count(name) == 1 else f"{name} {p.device.node} {p.device.place}"
        if names.count(name) > 1 and p.parameters:
            who += f" {p.parameters}"
        begin = curves.file_names([who])[who]
        figure = (
            device_figures.memory_map(p) if p.axis == "address" else device_figures.over_time(p)
        )
        files.append(File(f"{begin}.csv", _csv(_points_table(p))))
        files.append(File(f"{begin}.png", figure))
    return files


def _points_table(parts: Parts) -> pd.DataFrame:
    at = "address_bytes" if parts.axis == "address" else "time_s"
    value = "bandwidth_bytes_per_second" if parts.units.label != "us" else "time_per_pass_s"
    table = parts.points.rename(columns={"at": at, "value": value})
    return table if parts.axis == "address" else table.drop(columns="slow")
