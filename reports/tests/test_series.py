# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd

from bandgate_reports import store
from bandgate_reports.analysis import series

from conftest import NOW
from made import GIB, H200, READ, Document, Gpu, Probe, result, write

NIGHT = datetime(2026, 11, 20, 2, 10, tzinfo=UTC)


def identified(folder: Path, documents: list[Document]) -> pd.DataFrame:
    return series.identify(store.load([write(folder, documents)]).results, NOW)


def night(n: int, hours: float = 0) -> datetime:
    return NIGHT + timedelta(days=n, hours=hours)


def test_a_series_is_one_card_wherever_it_is(tmp_path: Path) -> None:
    moved = replace(H200, node="n099", pci="0000:aa:00.0")
    table = identified(tmp_path, [result(at=night(0)), result(moved, at=night(1))])
    assert table["series"].nunique() == 1
    found = series.changes(table)
    assert list(zip(found["field"], found["before"], found["after"], strict=True)) == [
        ("PCI address", "0000:1b:00.0", "0000:aa:00.0"),
        ("host", "n017", "n099"),
    ]


def test_without_a_uuid_it_is_host_and_address(tmp_path: Path) -> None:
    bare = replace(H200, uuid="")
    other = replace(bare, node="n018")
    third = replace(bare, pci="0000:2b:00.0")
    table = identified(tmp_path, [result(g, at=night(0)) for g in (bare, other, third, H200)])
    # The card with a UUID sits where the first was seen without one: one card.
    assert table["series"].nunique() == 3


def test_a_lost_card_is_the_one_last_seen_at_its_address(tmp_path: Path) -> None:
    lost = result(
        replace(H200, uuid="", board_part="", ecc=None),
        at=night(1),
        value=None,
        status="error",
        failure=("device-missing", "gone"),
    )
    table = identified(tmp_path, [result(at=night(0)), lost])
    assert table["series"].nunique() == 1


def test_configuration_probe_parameters_and_version_split(tmp_path: Path) -> None:
    documents = [
        result(at=night(0)),
        result(replace(H200, ecc=False), at=night(1)),
        result(replace(H200, board_part="692-2G520-0282-000"), at=night(2)),
        result(probe=replace(READ, version=2), at=night(3)),
        result(probe=replace(READ, parameters={"buffer": 8 << 30}), at=night(4)),
        result(probe=Probe("write", 4376), at=night(5)),
        result(replace(H200, driver="999"), at=night(6)),  # no other hardware: the first series
    ]
    assert identified(tmp_path, documents)["series"].nunique() == 6


def test_a_night_without_nvml_does_not_split(tmp_path: Path) -> None:
    blind = replace(H200, board_part="", ecc=None, vbios="")
    documents = [result(blind, at=night(n)) for n in (0, 2)] + [result(at=night(1))]
    table = identified(tmp_path, documents)
    assert table["series"].nunique() == 1
    assert series.changes(table).empty


def test_the_last_attempt_speaks_for_its_group(tmp_path: Path) -> None:
    documents = [
        result(at=night(0), value=4000, group="a"),
        result(at=night(0, 0.1), value=4301, group="a", attempt=2),
        result(at=night(0, 0.2), value=4303, group="b"),
    ]
    found = series.nightly(identified(tmp_path, documents))
    assert list(found["value"]) == [4302 * GIB]
    assert list(found["runs"]) == [2]


def test_nights_are_utc_days(tmp_path: Path) -> None:
    late = datetime(2026, 10, 25, 23, 59, tzinfo=UTC)
    documents = [result(at=late), result(at=late + timedelta(minutes=2))]
    documents[1]["run"]["started"] = "2026-10-26T01:01:00+01:00"  # the same moment elsewhere
    found = series.nightly(identified(tmp_path, documents))
    assert [f"{n:%d}" for n in found["night"]] == ["25", "26"]


def test_gaps_are_measured_against_the_habit_of_the_series(tmp_path: Path) -> None:
    nightly = [result(at=night(n)) for n in (-8, -7, -6, -3, -2)]
    weekly_card = replace(H200, uuid="GPU-w", pci="0000:02:00.0")
    weekly = [result(weekly_card, at=night(7 * n)) for n in (-6, -5, -4, -2, -1)]
    # Three days where two are the habit: late, but no night is missing.
    second_card = replace(H200, uuid="GPU-s", pci="0000:03:00.0")
    every_second = [result(second_card, at=night(n)) for n in (-9, -7, -5, -2, 0)]
    documents = nightly + weekly + every_second
    found = series.gaps(series.nightly(identified(tmp_path, documents)))
    assert [(f"{g.since:%m-%d}", f"{g.until:%m-%d}", g.missing) for g in found.itertuples()] == [
        ("10-23", "11-06", 1),  # one week of the weekly card
        ("11-14", "11-17", 2),
    ]


def test_changes_name_before_and_after_between_two_results(tmp_path: Path) -> None:
    new = replace(H200, driver="580.159.04", kernel="6.1.0-31-amd64")
    table = identified(tmp_path, [result(at=night(0)), result(new, at=night(2))])
    found = series.changes(table)
    assert list(found["field"]) == ["driver", "kernel"]
    assert list(found["before"]) == ["580.95.05", "6.1.0-28-amd64"]
    assert list(found["after"]) == ["580.159.04", "6.1.0-31-amd64"]
    assert set(found["at"]) == {pd.Timestamp(night(1))}
    assert set(found["seen"]) == {pd.Timestamp(night(2))}


def test_ecc_starts_a_series_and_is_named_as_its_reason(tmp_path: Path) -> None:
    off = replace(H200, ecc=False)
    table = identified(tmp_path, [result(at=night(0)), result(off, at=night(1))])
    found = series.changes(table)
    assert [(c.field, c.before, c.after) for c in found.itertuples()] == [("ECC", "on", "off")]
    assert list(found["series"]) == [table["series"].iloc[1]]


def test_one_statistic_for_a_series_and_no_bound_of_another(tmp_path: Path) -> None:
    peak = result(at=night(1))
    peak["verdict"]["baselines"][0]["statistic"] = "peak"
    table = identified(tmp_path, [result(at=night(0)), peak])
    assert list(table["value"]) == list(table["peak"])
    assert list(table["band_lower"].isna()) == [True, False]


def test_any_number_of_results_will_do(tmp_path: Path) -> None:
    for n in range(4):
        gpu = Gpu("X", f"h{n}", "", "", backend="host")
        documents = [result(gpu, at=night(i)) for i in range(n)]
        table = identified(tmp_path / str(n), documents)
        assert len(series.nightly(table)) == n
        assert series.gaps(series.nightly(table)).empty
        assert series.changes(table).empty
