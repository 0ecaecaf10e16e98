# SPDX-License-Identifier: Apache-2.0
"""Measurements that are a series: maps of the memory, rates over time, and how they are drawn."""

import json
from pathlib import Path

import pytest

from bandgate_reports import store
from bandgate_reports.analysis import series, verdicts
from bandgate_reports.trend import parts
from bandgate_reports.trend.model import Parts
from bandgate_reports.trend.strips import strip
from bandgate_reports.units import RateUnit

from conftest import NOW
from made import GIB, H200, Document, Probe, result, write
from made_sweeps import AT, memory_map, series_of, sustained, telemetry


def of(folder: Path, documents: list[Document]) -> tuple[Parts, ...]:
    table = series.identify(store.load([write(folder, documents)]).results, NOW)
    return parts.newest_parts(verdicts.newest(table), {}, RateUnit.GIB_S)


def points(values: list[float], step: float = GIB) -> list[Document]:
    return [
        {"at": i * step, "value": v * GIB, **telemetry(None, None, None)}
        for i, v in enumerate(values)
    ]


def mapped(values: list[float]) -> Document:
    probe = Probe("read_map", 4262, parameters={"slice": 1 << 30})
    return series_of(H200, probe, "address", GIB, points(values))


def test_slow_slices_are_ranges_of_addresses(tmp_path: Path) -> None:
    values = [4260.0, 4261, 3900, 3910, 4259, 4262, 4100, 4260, 4261, 4260]
    (found,) = of(tmp_path, [mapped(values)])
    assert [parts.range_text(r) for r in found.slow] == ["2 … 4 GiB", "6 … 7 GiB"]
    assert found.remarks == (
        "10 slices, each verified to the last byte",
        "median 4260.0 GiB/s",
        "slowest slice 3900.0 GiB/s (−8.45 %) at 2 GiB",
        "slow: 2 … 4 GiB",
        "slow: 6 … 7 GiB",
    )


def test_scatter_is_not_slow(tmp_path: Path) -> None:
    (found,) = of(tmp_path, [mapped([4200.0, 4300, 4250, 4150, 4350, 4280, 4100, 4320])])
    assert found.slow == ()
    assert found.remarks[-1] == "no slow slice"


def test_one_slice_is_a_map(tmp_path: Path) -> None:
    (found,) = of(tmp_path, [mapped([4260.0])])
    assert (found.slow, found.worst, found.median) == ((), 4260 * GIB, 4260 * GIB)
    assert strip(found).readings == [[219.0, 73.0, "0 GiB · 4260.0 GiB/s"]]


def test_the_worst_window_and_the_drop(tmp_path: Path) -> None:
    (found,) = of(tmp_path, [sustained()])
    assert (found.axis, found.worst_at, found.step) == ("time", 24.0, 1.0)
    assert found.remarks[1:] == (
        "worst 1 s: 3915.6 GiB/s (−8.86 %) at 24 to 25 s",
        "first to last −5.55 %",
    )


def test_times_are_said_to_a_tenth(tmp_path: Path) -> None:
    document = sustained(20)
    for i, point in enumerate(document["measurement"]["series"]["points"]):
        point["at"] = i * 1.00596
    (found,) = of(tmp_path, [document])
    assert found.remarks[1].endswith("at 19.1 to 20.1 s")


def test_a_strip_has_a_panel_for_what_is_known(tmp_path: Path) -> None:
    (loud,) = of(tmp_path / "loud", [sustained()])
    (quiet,) = of(tmp_path / "quiet", [sustained(quiet=True)])
    assert [p.name for p in strip(loud).panels] == [
        "GiB/s",
        "SM clock, MHz",
        "temperature, °C",
        "power, W",
    ]
    assert [p.name for p in strip(quiet).panels] == ["GiB/s"]
    assert strip(loud).height > strip(quiet).height


def test_what_is_not_known_for_a_while_is_a_break(tmp_path: Path) -> None:
    document = sustained(6)
    seen = document["measurement"]["series"]["points"]
    for i in range(6):
        seen[i] |= telemetry(None if i == 3 else 1980, None, None)
    (found,) = of(tmp_path, [document])
    clock = strip(found).panels[1]
    assert clock.path.count("M") == 2


def test_a_long_series_is_thinned_and_keeps_its_worst(tmp_path: Path) -> None:
    values = [4300.0] * 3600
    values[1234] = 3000.0
    probe = Probe("sustained", 4302, parameters={"seconds": 3600})
    (found,) = of(tmp_path, [series_of(H200, probe, "time", 1.0, points(values, 1.0))])
    drawn = strip(found)
    assert len(drawn.readings) < 260
    assert any(text == "1234 s · 3000.0 GiB/s" for _, _, text in drawn.readings)
    assert len(json.dumps(drawn.readings)) < 20_000


def test_a_series_of_times_has_its_greatest_as_worst(tmp_path: Path) -> None:
    document = series_of(H200, Probe("launch", 1), "time", 1.0, points([1.0, 3.0, 2.0], 1.0))
    document["probe"]["lower_is_better"] = True
    document["measurement"] |= {"unit": "s", "worst": 3 * GIB}
    (found,) = of(tmp_path, [document])
    assert (found.worst_at, found.units.label) == (1.0, "us")


def test_points_may_come_in_any_order(tmp_path: Path) -> None:
    document = mapped([4260.0, 3900, 4261, 4262])
    document["measurement"]["series"]["points"].reverse()
    (found,) = of(tmp_path, [document])
    assert list(found.points["at"]) == [0.0, GIB, 2 * GIB, 3 * GIB]
    assert found.slow == ((GIB, 2 * GIB),)


def test_only_the_newest_map_of_a_card_is_shown(tmp_path: Path) -> None:
    old = memory_map(8, slow=(1,))
    (found,) = of(tmp_path, [old, memory_map(8, slow=(), at=AT.replace(hour=5))])
    assert found.slow == ()


def test_old_results_have_no_series(tmp_path: Path) -> None:
    assert of(tmp_path, [result()]) == ()


@pytest.mark.parametrize("message", ["1 slice is not what was written: slice 4", ""])
def test_wrong_data_has_no_map_and_is_said(tmp_path: Path, message: str) -> None:
    bad = result(
        probe=Probe("read_map", 4262), value=None, status="error", failure=("wrong-result", message)
    )
    table = series.identify(store.load([write(tmp_path, [bad])]).results, NOW)
    (text,) = parts.failed_parts(verdicts.newest(table))
    assert text == f"NVIDIA H200, n017 0000:1b:00.0: {message or 'wrong-result'}"
