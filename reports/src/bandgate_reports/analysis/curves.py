# SPDX-License-Identifier: Apache-2.0
"""Curves from results: gather and scatter against span, reads against window and blocks.

A curve belongs to one GPU model, one probe and version, and one set of its other parameters. A
point is the median over processes of their medians; its band their least and greatest.
"""

import hashlib
import json
import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bandgate_reports.analysis.knees import knees
from bandgate_reports.store.records import each, parameter_text
from bandgate_reports.text import printable

RATIO = "ratio to copy"

# What tells one curve from another; `parameters` are all but the one on the x axis, and mode.
KEY = ["gpu", "probe", "version", "mode", "parameters"]
COLUMNS = (*KEY, "x", "value", "low", "high", "processes", "cards", "bandwidth", "dram_peak")


@dataclass(frozen=True)
class Kind:
    """A figure: which probes, and the parameter on its x axis."""

    name: str  # end of the file's name
    probes: tuple[str, ...]
    x: str
    ratio: bool  # the value is the ratio to copy, else the bandwidth
    command: str  # that measures a point
    others: str  # how to come to all of them


KINDS = (
    Kind(
        "ratios", ("gather", "scatter"), "span", True,
        "bandgate run gather span=1024", "so for each span and for scatter",
    ),
    Kind(
        "windows", ("read_window",), "window", False,
        "bandgate run read_window window=8MiB", "so for each window",
    ),
    Kind(
        "blocks", ("read_seq", "read_unroll"), "blocks", False,
        "bandgate run read_seq blocks=256", "so for each number of blocks and for read_unroll",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Left:
    """Results that belong to a figure and cannot be drawn."""

    reason: str
    results: int


def _number(value: object) -> float:
    """A whole number above 0 from a parameter; NaN for "auto" and whatever else there may be."""
    if isinstance(value, bool):
        return math.nan
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value):
        value = int(value)
    return float(value) if isinstance(value, int) and value > 0 else math.nan


def gpu_name(row: Any) -> str:
    """The model, and the part of it that a MIG instance is."""
    name = row.device or row.cpu_model or ("host CPU" if row.backend == "host" else "unknown")
    return f"{name} {row.mig}" if row.mig else str(name)


def points(results: pd.DataFrame, kind: Kind) -> tuple[pd.DataFrame, tuple[Left, ...]]:
    """One row for each result that has a place in `kind`'s figure, and what was left out.

    Columns: KEY, x, value, bandwidth, dram_peak, card.
    """
    of_kind = results[results["probe"].isin(kind.probes)]
    rows: list[dict[str, Any]] = []
    left: dict[str, int] = {}
    for r in each(of_kind):
        parameters = json.loads(r.parameters)
        if kind.ratio:
            _spell_out(parameters, r.bytes_per_pass)
        x = _number(parameters.pop(kind.x, None))
        ratio = r.more.get(RATIO) if isinstance(r.more, dict) else None
        value = (math.nan if ratio is None else float(ratio)) if kind.ratio else r.median
        reason = _unfit(r, x, value, kind)
        if reason:
            left[reason] = left.get(reason, 0) + 1
            continue
        mode = str(parameters.pop("mode", "permutation")) if kind.ratio else ""
        rows.append(
            {
                "gpu": gpu_name(r),
                "probe": r.probe,
                "version": r.version,
                "mode": mode,
                "parameters": json.dumps(parameters, sort_keys=True),
                "x": x,
                "value": value,
                "bandwidth": r.median,
                "dram_peak": r.dram_peak,
                "card": r.uuid or f"{r.host}|{r.pci_address}",
            }
        )
    table = pd.DataFrame(rows, columns=[*KEY, "x", "value", "bandwidth", "dram_peak", "card"])
    return table, tuple(Left(reason, n) for reason, n in sorted(left.items()))


def element_bytes(parameters: dict[str, Any]) -> int | None:
    """Of one element, from its type: 8 of "f64"."""
    found = re.fullmatch(r"[a-z]*(8|16|32|64)", str(parameters.get("dtype", "")))
    return int(found[1]) // 8 if found else None


def _spell_out(parameters: dict[str, Any], bytes_per_pass: float) -> None:
    """ "auto" elements as their number, and a span of "all" as that too: equal ones are one curve.
    A pass reads and writes each element once."""
    size = element_bytes(parameters)
    if parameters.get("elements") == "auto" and size and math.isfinite(bytes_per_pass):
        parameters["elements"] = round(bytes_per_pass / (2 * size))
    if parameters.get("span") == "all" and parameters.get("elements") != "auto":
        parameters["span"] = parameters.get("elements")


def _unfit(row: Any, x: float, value: float, kind: Kind) -> str:
    """Why a result has no point; "" if it has one. Whoever chose "auto" asked for no point."""
    if not math.isfinite(row.median):
        return "nothing was measured"
    if row.status == "error" or not row.verified:
        return "the measurement failed"
    if not math.isfinite(x):
        return f"no single {kind.x}"
    if not (math.isfinite(value) and value > 0):
        return "no ratio to copy"
    return ""


def pooled(points: pd.DataFrame) -> pd.DataFrame:
    """Processes as points of curves: COLUMNS, in the order of KEY and x."""
    if points.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    grouped = points.groupby([*KEY, "x"], sort=True)
    return grouped.agg(
        value=("value", "median"),
        low=("value", "min"),
        high=("value", "max"),
        processes=("value", "size"),
        cards=("card", "nunique"),
        bandwidth=("bandwidth", "median"),
        dram_peak=("dram_peak", "median"),
    ).reset_index()[list(COLUMNS)]


def knee_table(curves: pd.DataFrame) -> pd.DataFrame:
    """Knees of every curve: KEY, x, value, fall."""
    rows = []
    for key, curve in curves.groupby(KEY, sort=True):
        names = dict(zip(KEY, key, strict=True))
        rows += [
            names | {"x": k.at, "value": k.value, "fall": k.fall}
            for k in knees(list(curve["x"]), list(curve["value"]))
        ]
    return pd.DataFrame(rows, columns=[*KEY, "x", "value", "fall"])


def labels(curves: pd.DataFrame) -> dict[tuple[Any, ...], str]:
    """Curves by KEY as the names that tell those of one figure apart: "gather", or "gather
    elements=2^26" beside another number of elements."""
    keys = [tuple(k) for k in curves[KEY].drop_duplicates().itertuples(index=False)]
    parameters = {k: json.loads(k[KEY.index("parameters")]) for k in keys}
    names = sorted({name for values in parameters.values() for name in values})
    differing = [n for n in names if len({json.dumps(v.get(n)) for v in parameters.values()}) > 1]
    versions: dict[Any, set[Any]] = {}
    for k in keys:
        versions.setdefault(k[KEY.index("probe")], set()).add(k[KEY.index("version")])
    found = {}
    for k in keys:
        parts = [printable(str(k[KEY.index("probe")]))]
        if len(versions[k[KEY.index("probe")]]) > 1:
            parts.append(f"v{k[KEY.index('version')]}")
        parts += [
            printable(f"{n}={parameter_text(n, parameters[k][n])}")
            for n in differing
            if n in parameters[k]
        ]
        found[k] = " ".join(parts)
    return found


def csv_table(curves: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    """The data of a figure as documented: base units, one row a point."""
    table = curves.rename(columns={"x": kind.x, "bandwidth": "bandwidth_bytes_per_second"})
    table["parameters"] = [_parameters_text(p) for p in table["parameters"]]
    table[kind.x] = table[kind.x].astype("int64")
    table["dram_peak_bytes_per_second"] = table["dram_peak"]
    if kind.ratio:
        shown = {"value": "ratio", "low": "ratio_min", "high": "ratio_max"}
        table = table.rename(columns=shown)
        table["log2_span"] = [round(math.log2(x), 4) for x in table[kind.x]]
        columns = ["gpu", "probe", "version", "mode", "parameters", "span", "log2_span", "ratio"]
        columns += ["ratio_min", "ratio_max", "bandwidth_bytes_per_second"]
    else:
        shown = {"low": "bandwidth_min", "high": "bandwidth_max"}
        table = table.rename(columns=shown)
        table["of_dram_peak"] = table["value"] / table["dram_peak"]
        columns = ["gpu", "probe", "version", "parameters", kind.x, "bandwidth_bytes_per_second"]
        columns += ["bandwidth_min", "bandwidth_max", "of_dram_peak"]
    return table[[*columns, "dram_peak_bytes_per_second", "processes", "cards"]]


def _parameters_text(text: str) -> str:
    return " ".join(f"{name}={value}" for name, value in json.loads(text).items())


_MARKS = re.compile(r"\((?:TM|R|C)\)", re.IGNORECASE)
_LONGEST_NAME = 80


def file_names(names: list[str]) -> dict[str, str]:
    """Names as the beginnings of file names that any file system takes: letters, digits, "." "-"
    "_", at most 80. What would be the same name, or was cut, ends in a part of the name's hash."""
    plain = {name: _file_name(name) for name in dict.fromkeys(names)}
    folded = [p.casefold() for p in plain.values()]

    def unique(name: str) -> str:
        text = plain[name]
        if len(text) <= _LONGEST_NAME and folded.count(text.casefold()) == 1:
            return text
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{text[: _LONGEST_NAME - 9]}_{digest}"

    return {name: unique(name) for name in plain}


def _file_name(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", _MARKS.sub("", name)).encode("ascii", "ignore")
    text = re.sub(r"[^A-Za-z0-9.-]+", "_", ascii_only.decode())
    return text.strip("._-") or "gpu"
