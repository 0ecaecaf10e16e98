# SPDX-License-Identifier: Apache-2.0
"""From results to points, to sparklines, and to what the page's script draws."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bandgate_reports import store
from bandgate_reports.analysis import series
from bandgate_reports.analysis.verdicts import STATUSES
from bandgate_reports.trend import spark
from bandgate_reports.trend.charts import Scale, value_range, value_ticks
from bandgate_reports.trend.encoding import Texts, encode, kept
from bandgate_reports.trend.model import DAY_S, Band, Device, Flag, History, Step
from bandgate_reports.trend.points import Points, points
from bandgate_reports.units import RateUnit, scale

from conftest import NOW
from made import GIB, H200, Document, Probe, result, write

GPU = Device("k", "NVIDIA H200", "n017", "0000:1b:00.0", "GPU-1", False)
PASS, REGRESSION, ERROR = (STATUSES.index(s) for s in ("pass", "regression", "error"))


def history(
    values: list[float], codes: list[int] | None = None, at: list[int] | None = None, **more: Any
) -> History:
    """Values in GiB/s, a night each from day 20000 on."""
    n = len(values)
    given: dict[str, Any] = {
        "step_s": DAY_S,
        "unstable": np.zeros(n, dtype=bool),
        "bands": (Band(0, 100 * GIB, 99 * GIB, 101 * GIB),),
        "bad_nights": (),
        "steps": (),
        "flags": (),
        "whys": (),
        "remarks": (),
        "low": 98 * GIB,
        "high": 102 * GIB,
    }
    return History(
        key="s1",
        device=GPU,
        probe="read",
        parameters="",
        configuration="ECC on",
        statistic="median",
        lower_is_better=False,
        units=scale("B/s", RateUnit.GIB_S),
        at=np.array(at if at is not None else range(20000, 20000 + n)),
        value=np.array(values, dtype=float) * GIB,
        codes=np.array(codes if codes is not None else [PASS] * n, dtype=np.int8),
        results=n,
        **(given | more),
    )


def of(folder: Path, documents: list[Document]) -> Points:
    return points(series.identify(store.load([write(folder, documents)]).results, NOW))


def test_a_night_is_one_point_the_median_and_the_worst_of_it(tmp_path: Path) -> None:
    documents = [result(at=NOW - timedelta(days=d), value=4300.0 + d) for d in (1, 2, 3)]
    documents += [
        result(at=NOW - timedelta(days=2, hours=1), value=4200.0, status="regression"),
        result(at=NOW - timedelta(days=2, hours=2), value=4310.0),
    ]
    found = of(tmp_path, documents)
    assert found.at.tolist() == [20783, 20784, 20785]
    assert (found.value / GIB).tolist() == [4303.0, 4302.0, 4301.0]
    assert [STATUSES[c] for c in found.codes] == ["pass", "regression", "pass"]
    assert (found.results.tolist(), found.step_s.tolist()) == ([1, 3, 1], [86400] * 3)


def test_an_even_number_of_runs_has_the_mean_of_the_middle_two(tmp_path: Path) -> None:
    documents = [result(at=NOW - timedelta(days=d), value=4300.0) for d in (1, 2, 3)]
    documents += [result(at=NOW - timedelta(days=1, hours=1), value=4310.0)]
    assert (of(tmp_path, documents).value / GIB).tolist() == [4300.0, 4300.0, 4305.0]


def test_what_a_retry_replaced_is_no_point(tmp_path: Path) -> None:
    at = NOW - timedelta(days=1)
    first = result(at=at, value=4000.0, status="regression", group="g")
    second = result(at=at + timedelta(seconds=9), group="g", attempt=2, unstable=True)
    found = of(tmp_path, [first, second])
    assert [STATUSES[c] for c in found.codes] == ["pass"]
    assert (found.attempts.tolist(), found.unstable.tolist()) == ([2], [True])


def test_fewer_than_three_nights_show_their_runs(tmp_path: Path) -> None:
    documents = [result(at=NOW - timedelta(days=1, minutes=m), value=4300.0) for m in (0, 5, 10)]
    found = of(tmp_path, documents)
    assert found.step_s.tolist() == [60] * 3
    assert np.diff(found.at).tolist() == [5, 5]


def test_an_error_leaves_a_point_without_a_value(tmp_path: Path) -> None:
    documents = [result(at=NOW - timedelta(days=d)) for d in (2, 3, 4)]
    lost = ("device-lost", "GPU lost")
    documents += [result(at=NOW - timedelta(days=1), value=None, status="error", failure=lost)]
    found = of(tmp_path, documents)
    assert np.isnan(found.value).tolist() == [False, False, False, True]
    assert STATUSES[found.codes[-1]] == "error"


def test_no_result_has_no_point() -> None:
    nothing = points(series.identify(store.load([]).results, NOW))
    assert (len(nothing.at), nothing.slices()) == (0, {})


def test_one_bad_night_leaves_the_axis_alone_unless_it_is_the_newest() -> None:
    band, bounds = np.array([100.0]), np.array([99.0, 101.0])
    nights = np.full(30, 100.0)
    nights[10] = 50.0
    assert value_range(nights, band, bounds) == pytest.approx((92.36, 101.64))
    nights[[10, 29]] = 100.0, 50.0
    assert value_range(nights, band, bounds) == pytest.approx((45.92, 105.08))


def test_equal_values_and_no_values_have_an_axis() -> None:
    none = np.empty(0)
    assert value_range(np.array([100.0, 100.0]), none, none) == (99.0, 101.0)
    assert value_range(none, none, none) == (0.0, 1.0)
    # A lower bound alone: a floor.
    floor = value_range(np.array([833.0]), np.array([833.0]), np.array([750.0, np.nan]))
    assert floor == pytest.approx((743.36, 839.64))


def test_small_differences_are_told_apart_on_the_axis() -> None:
    labels = [t.label for t in value_ticks(Scale(4300.01, 4300.02))]
    assert labels == ["4300.010", "4300.015", "4300.020"]


def test_a_sparkline_shows_band_values_bad_nights_and_changes() -> None:
    drawn = spark.draw(
        history(
            [100, 101, 100, 99, 98],
            [PASS, PASS, PASS, PASS, REGRESSION],
            bad_nights=(1,),
            steps=(Step(3, "2024-10-07", 0.98, True, ""),),
        ),
        spark.window(20000, 20004),
    )
    # 240 x 56 from day 20000 at x 6 to day 20004 at 234; 98 GiB/s at y 49, 102 at y 7.
    assert 'class="band" d="M2 18H240V38H2z"' in drawn
    assert 'class="trace" d="M6 28l57-10 57 10 57 10 57 11"' in drawn
    assert 'class="step worse" d="M176 0V56"' in drawn
    assert 'class="odd" d="M63 18h0"' in drawn
    assert 'class="dots regression" d="M234 49h0"' in drawn
    assert 'class="dots newest regression" d="M234 49h0"' in drawn


def test_a_sparkline_breaks_where_nights_are_missing_and_marks_errors_at_the_foot() -> None:
    at = [20000, 20001, 20002, 20008, 20009]
    drawn = spark.draw(
        history([100, 100, 100, 100, np.nan], [PASS] * 4 + [ERROR], at), spark.window(20000, 20009)
    )
    assert 'class="trace" d="M6 28l51 0m152 0h0"' in drawn
    assert 'class="dots error" d="M234 52h0"' in drawn


def test_a_sparkline_leaves_out_what_no_eye_sees_and_keeps_every_edge() -> None:
    level = [100.0] * 40 + [98.0] * 40
    level[20] = 101.0
    drawn = spark.draw(history(level, [PASS] * 40 + [REGRESSION] * 40), spark.window(20000, 20079))
    assert 'class="trace" d="M6 28l55 0 3-10 3 10 52 0 2 21 113 0"' in drawn
    assert 'class="dots regression" d="M121 49l113 0"' in drawn


def test_a_sparkline_reaches_back_half_a_year() -> None:
    over = spark.window(0, 1000)
    assert (over.start, over.end) == (821, 1000)
    old = history([100.0] * 1001, at=list(range(1001)))
    assert spark.draw(old, over).count(" 0") < 200


def decoded(found: dict[str, Any]) -> list[float | None]:
    return [
        None if v == "" else round((found["m"] + int(v)) * found["q"], 6)
        for v in found["v"].split(",")
    ]


def test_the_script_gets_what_was_measured_to_five_digits() -> None:
    texts = Texts()
    one = history(
        [4302.04, np.nan, 4180.26],
        [PASS, ERROR, REGRESSION],
        [20000, 20001, 20004],
        bands=(Band(0, 4302 * GIB, 4259 * GIB, np.nan),),
        steps=(Step(2, "2024-10-08", 0.97, True, "−2.83 % since 2024-10-08"),),
        flags=(Flag(20003.5, 1, "2024-10-08", "driver a → b"),),
        whys=((1, "GPU lost"),),
        bad_nights=(2,),
    )
    found = json.loads(json.dumps(encode(one, texts, 100), allow_nan=False))
    assert decoded(found) == [4302.0, None, 4180.3]
    assert (found["t"], found["s"], found["z"]) == ("20000,1,3", "per", 86400)
    named = texts.all()
    assert [(i, worse, named[t]) for i, worse, t in found["c"]] == [
        (2, 1, "−2.83 % since 2024-10-08")
    ]
    assert [(*f[:3], named[f[3]]) for f in found["f"]] == [
        (20003.5, 1, "2024-10-08", "driver a → b")
    ]
    assert (found["o"], [(i, named[t]) for i, t in found["w"]]) == ([2], [(1, "GPU lost")])
    ((start, reference, lower, upper),) = found["b"]
    assert (start, (found["m"] + reference) * found["q"], upper) == (0, 4302.0, None)
    assert lower - reference == -430


def test_steps_between_nights_are_counted_and_not_repeated() -> None:
    found = encode(history([100.0] * 180), Texts(), 1000)
    assert found["t"] == "20000,1*179"
    assert len(json.dumps(found)) < 900


def test_values_of_any_size_keep_five_digits() -> None:
    for value in (1.23456e-9, 0.5, 7.0, 123456.0, 9.87654e12):
        found = encode(history([value / GIB * GIB] * 3), Texts(), 9)
        assert decoded(found)[0] == pytest.approx(value, rel=5e-5, abs=1e-6)
    assert decoded(encode(history([0.0, 0.0]), Texts(), 9)) == [0.0, 0.0]


def test_a_lone_night_without_a_value_has_one_to_decode() -> None:
    found = encode(history([np.nan], [ERROR]), Texts(), 9)
    assert (found["v"], found["s"], decoded(found)) == ("", "e", [None])


def test_thinning_keeps_what_is_out_of_the_ordinary() -> None:
    codes = [PASS] * 5000
    codes[1234] = REGRESSION
    one = history([100.0] * 5000, codes, bad_nights=(77,), steps=(Step(3001, "", 0.9, True, ""),))
    keep = kept(one, 100)
    assert 90 <= len(keep) <= 115
    assert {0, 77, 1234, 3000, 3001, 4999} <= set(keep.tolist())
    # A card that fails for years: where that begins and ends, and the changes.
    failing = history([100.0] * 5000, [PASS] * 1000 + [REGRESSION] * 3000 + [PASS] * 1000)
    keep = kept(failing, 100)
    assert len(keep) <= 115
    assert {1000, 3999} <= set(keep.tolist())


def test_no_thinning_within_the_budget() -> None:
    assert kept(history([100.0] * 50), 50).tolist() == list(range(50))


def test_probe_versions_and_hardware_start_new_series(tmp_path: Path) -> None:
    old = Probe("read", 4302.0, version=1)
    documents = [result(probe=old, at=NOW - timedelta(days=9))]
    documents += [result(H200, Probe("read", 4302.0, version=2), NOW - timedelta(days=1))]
    found = of(tmp_path, documents)
    assert len(found.slices()) == 2


def test_one_night_is_at_the_right_edge() -> None:
    drawn = spark.draw(history([100.0]), spark.window(20000, 20000))
    assert 'class="dots newest pass" d="M234 28h0"' in drawn
