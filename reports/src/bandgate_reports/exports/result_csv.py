# SPDX-License-Identifier: Apache-2.0
"""Every result as a line of CSV (RFC 4180), the same bytes in every locale.

Arrow writes it: three times as fast as pandas, and it asks no locale.
"""

from collections.abc import Callable, Iterator
from io import BytesIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from bandgate_reports.text import printable

# What a spreadsheet takes for the beginning of a formula; the wide forms too, in some of them.
_FORMULA = tuple("=+-@＝＋－＠")
_AT_ONCE = 50_000  # rows: some 30 MB

Values = Callable[[pd.DataFrame], pa.Array]


def cell(text: str) -> str:
    """One line, and no formula: a name is never run by whoever opens the file."""
    shown = text if text.isprintable() else printable(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _text(column: str) -> Values:
    def values(rows: pd.DataFrame) -> pa.Array:
        codes, texts = pd.factorize(rows[column])
        known = ["" if pd.isna(t) else str(t) for t in texts]
        cells = pa.array([cell(t) if t else None for t in known], pa.string())
        return cells.take(pa.array(codes, mask=codes < 0))

    return values


def _array(numbers: "pd.Series[float]") -> pa.Array:
    found = np.asarray(numbers, dtype="float64")
    return pa.array(found, mask=~np.isfinite(found))


def _number(column: str, unit: str = "") -> Values:
    """With a unit: only where the result is in it."""

    def values(rows: pd.DataFrame) -> pa.Array:
        numbers = rows[column].astype("float64")
        return _array(numbers.where(rows["unit"] == unit) if unit else numbers)

    return values


def _fact(column: str, unit: str, base: float = 1.0) -> Values:
    """A recorded fact such as "700 W", in base units."""

    def values(rows: pd.DataFrame) -> pa.Array:
        texts = rows[column].astype("object").astype(str).str.removesuffix(unit)
        return _array(pd.to_numeric(texts, errors="coerce") * base)

    return values


def _whole(column: str) -> Values:
    return lambda rows: pa.array(rows[column].to_numpy(), pa.int64())


def _counted(values: Values) -> Values:
    """Bytes and the like, which Arrow would write as 1.5e+11."""

    def whole(rows: pd.DataFrame) -> pa.Array:
        numbers = values(rows)
        try:
            return numbers.cast(pa.int64())
        except pa.ArrowInvalid:  # a fraction or beyond 64 bits: as a file had it
            return numbers

    return whole


def _flag(column: str) -> Values:
    return lambda rows: pa.array(rows[column].to_numpy(), pa.bool_())


def _started(rows: pd.DataFrame) -> pa.Array:
    stamps = pa.array(rows["started"]).cast(pa.timestamp("us", "UTC"))
    return pc.strftime(stamps, format="%Y-%m-%dT%H:%M:%SZ", locale="C")


def _joined(column: str, part: int | None) -> Values:
    """Sentences (or their codes) of a result, as one cell."""

    def values(rows: pd.DataFrame) -> pa.Array:
        lists = [() if said is None else said for said in rows[column]]
        texts = [" ".join(s if part is None else s[part] for s in said) for said in lists]
        return pa.array([cell(t) if t else None for t in texts], pa.string())

    return values


_RATES = {
    # column of the table: what its number is
    "median": "",
    "peak": "fastest",
    "worst": "slowest",
    "reference": "reference",
    "lower": "lower_bound",
    "upper": "upper_bound",
}


def _values_in(name: str, unit_name: str, unit: str) -> dict[str, Values]:
    return {
        "_".join(t for t in (name, what, unit_name) if t): _number(column, unit)
        for column, what in _RATES.items()
    }


# In this order since the first version; new ones go to the end.
COLUMNS: dict[str, Values] = {
    **{name: _text(name) for name in ("id", "group")},
    "attempt": _whole("attempt"),
    "final": _flag("final"),
    "started": _started,
    "stamp_flag": _text("stamp_flag"),
    "duration_seconds": _number("duration_s"),
    **{name: _text(name) for name in ("host", "node", "backend")},
    "model": _text("device"),
    **{name: _text(name) for name in "uuid pci_address pci_device pci_subsystem probe".split()},
    "probe_version": _whole("version"),
    **{name: _text(name) for name in ("parameters", "status")},
    "unstable": _flag("unstable"),
    "verified": _flag("verified"),
    "unsettled": _flag("unsettled"),
    "lower_is_better": _flag("lower_is_better"),
    "statistic": _text("statistic"),
    **_values_in("bandwidth", "bytes_per_second", "B/s"),
    **_values_in("latency", "seconds", "s"),
    "ratio": _number("ratio"),
    "drop_ratio": _number("drop"),
    "dram_peak_bytes_per_second": _number("dram_peak"),
    "pass_bytes": _counted(_number("bytes_per_pass")),
    **{name: _text(name) for name in ("baseline_file", "baseline_kind")},
    "baseline_generic": _flag("generic"),
    "baseline_card": _flag("card_entry"),
    **{name: _text(name) for name in ("failure_code", "failure_message", "skip_reason")},
    "reason_codes": _joined("reasons", 0),
    "reasons": _joined("reasons", 1),
    "notes": _joined("notes", None),
    "next_step": _text("next_step"),
    **{
        name: _text(name)
        for name in ("driver", "runtime", "vbios", "ecc", "mig", "board_part", "serial")
    },
    "power_limit_watts": _fact("power_limit_w", " W"),
    "power_limit_default_watts": _fact("power_limit_default_w", " W"),
    "memory_bytes": _counted(_fact("memory_bytes", " B")),
    "memory_clock_hertz": _fact("memory_clock_mhz", " MHz", 1e6),
    "dimm_transfers_per_second": _fact("dimm_mts", " MT/s", 1e6),
    "pcie_generation": _counted(_number("pcie_generation")),
    "pcie_width": _counted(_number("pcie_width")),
    "processors": _counted(_number("processors")),
    **{
        name: _text(name)
        for name in (
            "virtualization persistence_mode compute_mode numa_node numa_nodes cpu_model kernel "
            "kernel_module_flavour gsp_version fabric_manager bios product container_image "
            "tool_version tool_build boot_id"
        ).split()
    },
    "demo": _flag("demo"),
    "file": _text("file"),
}


def chunks(results: pd.DataFrame) -> Iterator[bytes]:
    """The file in parts, the header first. `results` as series.identify() makes them."""
    yield (",".join(COLUMNS) + "\r\n").encode()
    for first in range(0, len(results), _AT_ONCE):
        rows = results.iloc[first : first + _AT_ONCE]
        table = pa.table({name: values(rows) for name, values in COLUMNS.items()})
        part = BytesIO()
        csv.write_csv(table, part, csv.WriteOptions(include_header=False))
        # No cell holds a line break, so each of them ends a line.
        yield part.getvalue().replace(b"\n", b"\r\n")
