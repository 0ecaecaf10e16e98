# SPDX-License-Identifier: Apache-2.0
"""CSV: as Python's and pandas' readers take it, and what its columns hold."""

import csv
import re
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path

import pandas as pd
import pytest

from bandgate_reports.exports import result_csv
from bandgate_reports.store.records import ENVIRONMENT

from made import H200, READ, Document, result
from made_exports import NIGHT, hostile, launch, loaded, statuses

DOCS = Path(__file__).parents[2] / "docs" / "reports" / "exports.md"


def rows(documents: list[Document], folder: Path) -> list[dict[str, str]]:
    text = b"".join(result_csv.chunks(loaded(folder, documents))).decode()
    return list(csv.DictReader(StringIO(text, newline=""), strict=True))


def test_as_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, approved: Callable[[str, str], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = b"".join(result_csv.chunks(loaded(Path("results"), statuses()))).decode()
    assert text.count("\r\n") == text.count("\n") == 1 + len(statuses())
    approved("results.csv", text.replace("\r\n", "\n"))


def test_base_units_and_empty_cells(tmp_path: Path) -> None:
    capped = result(H200, READ, NIGHT, 4302.0)
    capped["device"] |= {
        "power_limit_w": 500, "memory_bytes": 150323855360, "memory_clock_mhz": 3201.5,
        "dimm_mts": 5600, "peak_bytes_per_second": 4.8143e12, "ecc": False,
    }  # fmt: skip
    rate, time = rows([capped, launch()], tmp_path)
    assert rate["bandwidth_bytes_per_second"] == "4.619237326848e+12"
    assert float(rate["bandwidth_lower_bound_bytes_per_second"]) == 4302.0 * 0.99 * 2**30
    assert (rate["latency_seconds"], rate["latency_reference_seconds"]) == ("", "")
    assert (rate["power_limit_watts"], rate["memory_bytes"]) == ("500", "150323855360")
    assert (rate["memory_clock_hertz"], rate["dimm_transfers_per_second"]) == (
        "3201500000",
        "5600000000",
    )
    assert float(rate["dram_peak_bytes_per_second"]) == 4.8143e12
    assert (rate["ecc"], rate["vbios"], rate["mig"]) == ("off", H200.vbios, "")
    assert rate["started"] == "2026-11-29T03:00:00.000000Z"
    assert (float(time["latency_seconds"]), time["bandwidth_bytes_per_second"]) == (4.6e-6, "")
    assert time["lower_is_better"] == "true"
    assert float(time["ratio"]) == 4.6e-6 / 4.5e-6
    assert float(time["latency_upper_bound_seconds"]) == 4.5e-6 * 1.05


def test_a_count_that_is_none_is_written_as_it_was_found(tmp_path: Path) -> None:
    whole, odd = result(H200, READ, NIGHT), result(H200, READ, NIGHT, seed=2)
    whole["device"]["memory_bytes"] = 150323855360
    odd["device"]["memory_bytes"] = 2**64
    odd["health"]["load"] = {"pcie_generation": {"state": "ok", "value": 4.5, "why": ""}}
    one, other = sorted(rows([whole, odd], tmp_path), key=lambda r: float(r["memory_bytes"]))
    assert (float(one["memory_bytes"]), one["pcie_generation"]) == (150323855360.0, "")
    assert (float(other["memory_bytes"]), other["pcie_generation"]) == (2.0**64, "4.5")


def test_pandas_reads_it_back(tmp_path: Path) -> None:
    table = loaded(tmp_path, statuses())
    data = b"".join(result_csv.chunks(table))
    read = pd.read_csv(BytesIO(data), keep_default_na=True)
    assert list(read.columns) == list(result_csv.COLUMNS)
    for column, name in (("id", "id"), ("status", "status"), ("device", "model")):
        assert list(read[name]) == list(table[column])
    rates = table["unit"] == "B/s"
    assert list(read["bandwidth_bytes_per_second"][rates]) == list(table["median"][rates])
    assert list(read["final"]) == list(table["final"])
    assert list(pd.to_datetime(read["started"])) == list(table["started"])


def test_one_line_a_result_whatever_its_names(tmp_path: Path) -> None:
    table = loaded(tmp_path, hostile())
    data = b"".join(result_csv.chunks(table))
    assert len(data.splitlines()) == 5
    assert len(data.decode().splitlines()) == 5
    read = pd.read_csv(BytesIO(data))
    assert read.shape == (4, len(result_csv.COLUMNS))
    shown = "'=\"'><b>]]>\\|`␊␛[31m␀\\x85\ufffe\ufffd{{x}}\U0001f525,;\\u202e"
    assert set(read["model"]) == {shown}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+1", "@SUM(A1)", "＝1", "－1"])
def test_a_name_is_no_formula(text: str) -> None:
    assert result_csv.cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["NVIDIA H200", "a=b", "580.95", "'x", "Ünï"])
def test_an_honest_name_stays_as_it_is(text: str) -> None:
    assert result_csv.cell(text) == text


def test_a_category_is_written_like_a_text(tmp_path: Path) -> None:
    table = loaded(tmp_path, statuses())
    names = ["device", "node", "driver", "parameters", "status", "power_limit_w"]
    other = table.assign(**{n: table[n].astype("object") for n in names})
    same = other.assign(**{n: other[n].astype("category") for n in names})
    assert list(result_csv.chunks(other)) == list(result_csv.chunks(same))


def test_parts_make_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = loaded(tmp_path, statuses())
    whole = b"".join(result_csv.chunks(table))
    monkeypatch.setattr(result_csv, "_AT_ONCE", 5)
    parts = list(result_csv.chunks(table))
    assert (len(parts), b"".join(parts)) == (4, whole)


def test_nothing_that_is_recorded_is_left_out(tmp_path: Path) -> None:
    renamed = {
        "power_limit_w": "power_limit_watts",
        "power_limit_default_w": "power_limit_default_watts",
        "memory_clock_mhz": "memory_clock_hertz",
        "dimm_mts": "dimm_transfers_per_second",
    }
    assert {renamed.get(c, c) for c in ENVIRONMENT} <= set(result_csv.COLUMNS)
    assert len(rows([], tmp_path)) == 0


def test_every_column_is_explained() -> None:
    section = DOCS.read_text().split("\n## bandgate-report csv\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert re.findall(r"`([a-z_]+)`", " ".join(cells)) == list(result_csv.COLUMNS)
