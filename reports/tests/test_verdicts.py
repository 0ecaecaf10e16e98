# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from bandgate_reports import store
from bandgate_reports.analysis import series, verdicts
from bandgate_reports.analysis.verdicts import Exit

from conftest import NOW
from made import H200, READ, Document, Probe, result, write

NIGHT = datetime(2026, 11, 28, 2, 10, tzinfo=UTC)


def newest(folder: Path, documents: list[Document]) -> tuple[pd.DataFrame, verdicts.Summary]:
    table = series.identify(store.load([write(folder, documents)]).results, NOW)
    found = verdicts.newest(table)
    return found, verdicts.summary(found, table)


def error(at: datetime = NIGHT, probe: Probe = READ) -> Document:
    return result(probe=probe, at=at, value=None, status="error", failure=("crashed", "signal 11"))


@pytest.mark.parametrize(
    ("statuses", "code", "judged"),
    [
        (["pass", "pass"], Exit.OK, 2),
        (["pass", "improved"], Exit.OK, 2),
        (["pass", "no-baseline"], Exit.OK, 1),
        (["pass", "skipped"], Exit.OK, 1),
        (["regression", "error"], Exit.REGRESSION, 1),
        (["pass", "error"], Exit.CANNOT_TELL, 1),
        (["pass", "inconclusive"], Exit.CANNOT_TELL, 1),
        (["no-baseline", "no-baseline"], Exit.CANNOT_TELL, 0),
        (["measured", "skipped"], Exit.CANNOT_TELL, 0),
        ([], Exit.CANNOT_TELL, 0),
    ],
)
def test_exit_codes(tmp_path: Path, statuses: list[str], code: Exit, judged: int) -> None:
    documents = []
    for status, probe in zip(statuses, (READ, Probe("copy", 3997)), strict=False):
        if status == "error":
            documents.append(error(probe=probe))
        elif status == "skipped":
            skipped = result(probe=probe, value=None, status=status, skip_reason="one GPU only")
            documents.append(skipped)
        else:
            documents.append(result(probe=probe, status=status))
    _, summary = newest(tmp_path, documents)
    assert (summary.exit, summary.judged, summary.total) == (code, judged, len(statuses))


def test_only_the_newest_verdict_counts(tmp_path: Path) -> None:
    old = result(at=NIGHT - timedelta(days=1), status="regression", value=4000)
    found, summary = newest(tmp_path, [old, result(at=NIGHT)])
    assert list(found["status"]) == ["pass"]
    assert summary.exit == Exit.OK


def test_the_second_attempt_decides(tmp_path: Path) -> None:
    first = result(at=NIGHT, group="g", status="regression", value=4000)
    second = result(at=NIGHT + timedelta(seconds=3), group="g", attempt=2, unstable=True)
    found, summary = newest(tmp_path, [first, second])
    assert list(found["status"]) == ["pass"]
    assert list(found["attempts"]) == [2]
    assert (summary.unstable, summary.exit) == (1, Exit.OK)


def test_a_run_that_does_not_judge_hides_no_verdict(tmp_path: Path) -> None:
    bad = result(at=NIGHT, status="regression", value=4000)
    later = result(at=NIGHT + timedelta(hours=1), status="measured", judged=False)
    found, summary = newest(tmp_path, [bad, later])
    assert list(found["status"]) == ["regression"]
    assert summary.exit == Exit.REGRESSION


def test_another_version_of_the_probe_replaces_the_verdict(tmp_path: Path) -> None:
    bad = result(at=NIGHT - timedelta(days=1), status="regression", value=4000)
    found, _ = newest(tmp_path, [bad, result(probe=replace(READ, version=2), at=NIGHT)])
    assert list(found["status"]) == ["pass"]


def test_a_device_out_of_service_is_shown_and_not_counted(tmp_path: Path) -> None:
    gone = replace(H200, uuid="GPU-gone", pci="0000:99:00.0")
    old = result(gone, at=NIGHT - timedelta(days=8), status="regression", value=4000)
    found, summary = newest(tmp_path, [old, result(at=NIGHT)])
    assert list(found["stale"]) == [False, True]
    assert (summary.total, summary.stale, summary.exit) == (1, 1, Exit.OK)
    young = result(gone, at=NIGHT - timedelta(days=6), status="regression", value=4000)
    _, summary = newest(tmp_path / "young", [young, result(at=NIGHT)])
    assert summary.exit == Exit.REGRESSION


def test_a_stamp_in_the_future_hides_no_later_verdict(tmp_path: Path) -> None:
    future = result(at=datetime(2099, 1, 1, tzinfo=UTC))
    found, _ = newest(tmp_path, [future, result(at=NIGHT, status="regression", value=4000)])
    assert list(found["status"]) == ["regression"]


def test_a_regression_without_a_possible_time_is_never_ok(tmp_path: Path) -> None:
    future = result(at=datetime(2099, 1, 1, tzinfo=UTC), status="regression", value=4000)
    _, summary = newest(tmp_path, [future, result(at=NIGHT)])
    assert (summary.unplaced_bad, summary.exit) == (1, Exit.CANNOT_TELL)
    found, summary = newest(tmp_path / "alone", [future])
    assert list(found["status"]) == ["regression"]
    assert summary.exit == Exit.REGRESSION


def test_worst_first(tmp_path: Path) -> None:
    statuses = ["pass", "no-baseline", "regression", "inconclusive"]
    documents = [result(probe=Probe(f"p{i}", 4302), status=s) for i, s in enumerate(statuses)]
    found, _ = newest(tmp_path, documents)
    assert list(found["status"]) == ["regression", "inconclusive", "no-baseline", "pass"]


@pytest.mark.parametrize(
    ("before", "later", "shown"),
    [
        ("regression", "no-baseline", "regression"),
        ("regression", "skipped", "regression"),
        ("error", "skipped", "error"),
        ("error", "no-baseline", "no-baseline"),
        ("pass", "no-baseline", "no-baseline"),
        ("regression", "pass", "pass"),
        ("regression", "inconclusive", "inconclusive"),
    ],
)
def test_what_was_not_judged_hides_nothing_worse(
    tmp_path: Path, before: str, later: str, shown: str
) -> None:
    def document(status: str, at: datetime) -> Document:
        if status == "error":
            return error(at)
        if status == "skipped":
            return result(at=at, value=None, status=status, skip_reason="held by MIG")
        return result(at=at, status=status, judged=status != "no-baseline")

    hours = timedelta(hours=1)
    found, summary = newest(tmp_path, [document(before, NIGHT), document(later, NIGHT + hours)])
    assert list(found["status"]) == [shown]
    twice = [document(before, NIGHT), *(document(later, NIGHT + n * hours) for n in (1, 2))]
    found, _ = newest(tmp_path / "twice", twice)
    assert list(found["status"]) == [shown]
    assert (summary.exit is Exit.REGRESSION) == (shown == "regression")


def test_a_regression_that_was_passed_since_is_over(tmp_path: Path) -> None:
    statuses = ["regression", "pass", "no-baseline"]
    documents = [
        result(at=NIGHT + timedelta(hours=i), status=s, judged=s != "no-baseline")
        for i, s in enumerate(statuses)
    ]
    found, _ = newest(tmp_path, documents)
    assert list(found["status"]) == ["no-baseline"]


def test_a_device_that_was_missing_is_missed_until_the_next_run(tmp_path: Path) -> None:
    nobody = replace(H200, name="", pci="", uuid="", board_part="")
    missing = result(
        nobody,
        at=NIGHT - timedelta(days=1),
        value=None,
        status="error",
        failure=("device-missing", "the GPU at 0000:43:00.0 is not listed"),
        group="last night",
    )
    there = result(at=NIGHT - timedelta(days=1, seconds=-5), group="last night")
    found, summary = newest(tmp_path / "a", [missing, there])
    assert list(found["status"]) == ["error", "pass"]
    assert summary.exit == Exit.CANNOT_TELL
    found, summary = newest(tmp_path / "b", [missing, there, result(at=NIGHT, group="tonight")])
    assert list(found["status"]) == ["pass"]
    assert summary.exit == Exit.OK
