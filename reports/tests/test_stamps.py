# SPDX-License-Identifier: Apache-2.0
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from bandgate_reports import store
from bandgate_reports.analysis import series
from bandgate_reports.store import stamps

from conftest import NOW
from made import H200, READ, Document, Probe, result, write


@pytest.mark.parametrize(
    ("text", "utc", "flag"),
    [
        ("2026-10-25T02:30:00+02:00", "2026-10-25T00:30:00+00:00", ""),
        ("2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00+00:00", ""),
        ("2026-10-25T02:30:00.123456789Z", "2026-10-25T02:30:00.123456+00:00", ""),
        ("2026-10-25T02:30:00", "2026-10-25T02:30:00+00:00", stamps.NAIVE),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59+00:00", ""),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00+00:00", ""),
    ],
)
def test_stamps_become_utc(text: str, utc: str, flag: str) -> None:
    stamp = stamps.parse_stamp(text)
    assert stamp is not None
    assert (stamp.utc.isoformat(), stamp.flag) == (utc, flag)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01T00:60:00Z"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert stamps.parse_stamp(text) is None


def flags(folder: Path, documents: list[Document]) -> list[str]:
    table = series.identify(store.load([write(folder, documents)]).results, NOW)
    return list(table.sort_values("started")["stamp_flag"])


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_impossible_stamps_are_flagged_and_not_placed(tmp_path: Path) -> None:
    early, late = result(at=at("1970-01-01T00:00:00")), result(at=at("2099-01-01T00:00:00"))
    assert flags(tmp_path, [early, result(), late]) == [stamps.TOO_EARLY, "", stamps.FUTURE]


def test_a_clock_an_hour_ahead_is_no_future(tmp_path: Path) -> None:
    near, far = NOW + timedelta(minutes=59), NOW + timedelta(minutes=61)
    assert flags(tmp_path, [result(at=near), result(at=far)]) == ["", stamps.FUTURE]


def test_a_second_attempt_before_the_first_shows_a_clock_set_back(tmp_path: Path) -> None:
    first = result(at=at("2026-11-28T02:10:00"), group="g")
    second = result(at=at("2026-11-28T00:10:03"), group="g", attempt=2)
    assert flags(tmp_path, [first, second]) == [stamps.REVERSED, ""]


def test_two_runs_at_once_on_one_card_are_flagged(tmp_path: Path) -> None:
    write_probe = Probe("write", 4376)
    long = result(H200, READ, at("2026-11-28T02:10:00"))
    long["run"]["duration_s"] = 60.0
    inside = result(H200, write_probe, at("2026-11-28T02:10:30"))
    after = result(H200, write_probe, at("2026-11-28T02:11:00"))
    assert flags(tmp_path, [long, inside, after]) == ["", stamps.OVERLAP, ""]


def test_a_missing_offset_stays_flagged_but_placed(tmp_path: Path) -> None:
    document = result()
    document["run"]["started"] = "2026-11-28T02:10:00"
    table = series.identify(store.load([write(tmp_path, [document])]).results, NOW)
    assert list(table["stamp_flag"]) == [stamps.NAIVE]
    assert list(table["placed"]) == [True]


def test_no_results_have_no_flags() -> None:
    table = series.identify(store.load([]).results, NOW)
    assert isinstance(table, pd.DataFrame)
    assert table.empty
