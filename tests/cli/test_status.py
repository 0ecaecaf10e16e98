# SPDX-License-Identifier: Apache-2.0
"""What `bandgate status` makes of stored results, without a device."""

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import DRILLS, Bandgate, Outcome
from test_check import baseline, h200

SCRIPTED = ("--backend", "scripted")


def files(bandgate: Bandgate) -> list[Path]:
    return sorted(bandgate.results.rglob("*.json"), key=lambda path: path.name)


def put(bandgate: Bandgate, record: dict[str, Any]) -> Path:
    """Stores a record where its time says."""
    day = datetime.fromisoformat(record["run"]["started"]).astimezone(UTC)
    path = bandgate.results / day.strftime("%Y/%m/%d") / f"{record['run']['id']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return path


def shift(bandgate: Bandgate, path: Path, by: timedelta) -> Path:
    """Moves a stored result in time, its folder and its name with it."""
    record = json.loads(path.read_text())
    path.unlink()
    started = datetime.fromisoformat(record["run"]["started"]) + by
    record["run"]["started"] = started.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    stamp = f"{int(started.timestamp() * 1000):012x}"
    record["run"]["id"] = f"{stamp[:8]}-{stamp[8:]}" + record["run"]["id"][13:]
    return put(bandgate, record)


def shift_all(bandgate: Bandgate, by: timedelta) -> None:
    for path in files(bandgate):
        shift(bandgate, path, by)


def status(bandgate: Bandgate, *arguments: str, **env: Any) -> Outcome:
    return bandgate("status", *SCRIPTED, *arguments, **env)


def test_a_fresh_pass_is_0_in_every_dialect(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200", "check", "read", "copy")
    outcome = status(bandgate)
    assert outcome.code == 0, outcome
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["device", "probe", "verdict", "value", "age"]
    assert [line.split()[:3] for line in lines[1:]] == [
        ["0000:1b:00.0", "copy", "pass"],
        ["0000:1b:00.0", "read", "pass"],
    ]
    for dialect in ("nagios", "npd", "nhc", "github"):
        assert status(bandgate, "--format", dialect).code == 0
    assert status(bandgate, "--format", "nagios").out.startswith("BANDGATE OK: 2 of 2 passed | '")
    assert status(bandgate, "--format", "npd").out == "2 of 2 passed\n"


def test_a_regression_is_three_lines_and_1(bandgate: Bandgate) -> None:
    bandgate.drill("slow-5-percent")
    outcome = status(bandgate)
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert lines[2].startswith("REGRESSION   0000:1b:00.0 read: 40")
    assert lines[3].startswith("  cause: ")
    assert lines[4].startswith("  next:  ")
    assert status(bandgate, "--format", "nagios").code == 2


def test_it_needs_no_device_and_starts_no_worker(bandgate: Bandgate, tmp_path: Path) -> None:
    script = h200(tmp_path, samples=[4302.0] * 10)
    bandgate.drill(script)
    script.unlink()
    outcome = bandgate("status", "--backend", f"scripted:{script}")
    assert outcome.code == 0, outcome


@pytest.mark.parametrize(
    ("age", "limit", "code"),
    [
        (timedelta(hours=25), "26h", 0),
        (timedelta(hours=27), "26h", 4),
        (timedelta(hours=27), "2d", 0),
        (timedelta(minutes=50), "45m", 4),
        (timedelta(seconds=40), "30s", 4),
        (timedelta(days=6), "26h", 4),
    ],
)
def test_what_is_older_than_the_limit_is_unknown(
    bandgate: Bandgate, age: timedelta, limit: str, code: int
) -> None:
    bandgate.drill("healthy-h200")
    shift_all(bandgate, -age)
    assert status(bandgate, "--max-age", limit).code == code
    stale = code == 4
    assert status(bandgate, "--max-age", limit, "--format", "nagios").code == (3 if stale else 0)
    assert status(bandgate, "--max-age", limit, "--format", "npd").code == (2 if stale else 0)
    nhc = status(bandgate, "--max-age", limit, "--format", "nhc")
    assert nhc.code == 0
    assert nhc.out.startswith("bandgate: not judged: ") == stale


def test_the_limit_is_26_hours_unless_given(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200")
    shift_all(bandgate, -timedelta(hours=25, minutes=50))
    assert status(bandgate).code == 0
    shift_all(bandgate, -timedelta(minutes=20))
    outcome = status(bandgate)
    assert outcome.code == 4
    assert "stale" in outcome.out
    assert "measured 26 h ago, more than 26 h; then pass: 43" in outcome.out


def test_a_stale_regression_is_unknown_too(bandgate: Bandgate) -> None:
    bandgate.drill("slow-5-percent")
    shift_all(bandgate, -timedelta(days=2))
    assert status(bandgate, "--format", "nagios").code == 3


def test_one_probe_that_was_not_measured_again_is_missed(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200", "check", "copy")
    shift_all(bandgate, -timedelta(days=3))
    bandgate.drill("healthy-h200", "check", "read")
    outcome = status(bandgate, "--format", "nagios")
    assert outcome.code == 3
    assert outcome.out.startswith("BANDGATE UNKNOWN: 0000:1b:00.0 copy: stale: measured 3 d ago")
    assert "[OK] 0000:1b:00.0 read: pass: " in outcome.out


@pytest.mark.parametrize("limit", ["26", "1w", "-1h", "0s", "h", "nanh", "infd", "99999d", ""])
def test_a_limit_that_is_none_is_a_mistake(bandgate: Bandgate, limit: str) -> None:
    bandgate.drill("healthy-h200")
    assert status(bandgate, f"--max-age={limit}").code == 2
    assert status(bandgate, f"--max-age={limit}", "--format", "nagios").code == 3


def test_without_results_nothing_is_known(bandgate: Bandgate, tmp_path: Path) -> None:
    outcome = status(bandgate)
    assert outcome.code == 4
    assert outcome.out.startswith("UNKNOWN      no result of node ")
    nagios = status(bandgate, "--format", "nagios")
    assert nagios.code == 3
    assert nagios.out.startswith("BANDGATE UNKNOWN: inconclusive: no result of node ")
    assert status(bandgate, "--format", "npd").code == 2
    assert status(bandgate, "--format", "nhc").code == 0
    assert status(bandgate, "--results", "none").code == 2
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert status(bandgate, "--results", str(blocked), "--format", "nagios").code == 3


@pytest.mark.parametrize(("ahead", "code"), [(4, 0), (10, 4), (60 * 24 * 40, 4)])
def test_a_stamp_of_the_future_is_not_fresh(bandgate: Bandgate, ahead: int, code: int) -> None:
    bandgate.drill("healthy-h200")
    shift_all(bandgate, timedelta(minutes=ahead))
    outcome = status(bandgate)
    assert outcome.code == code, outcome
    assert ("in the future" in outcome.out) == (code == 4)
    nagios = status(bandgate, "--format", "nagios")
    assert nagios.code == (3 if code else 0)
    assert ("in the future; then pass: " in nagios.out) == (code == 4)


def test_stored_results_are_judged_by_todays_baselines(bandgate: Bandgate, tmp_path: Path) -> None:
    site = baseline(tmp_path / "site")
    bandgate.drill(h200(tmp_path, samples=[4250.0] * 10), "check", "read", "--baselines", str(site))
    assert bandgate.stored()[-1]["verdict"]["status"] == "pass"
    assert status(bandgate, "--baselines", str(site)).code == 0
    # Nothing is measured, and yet the same numbers are red.
    baseline(tmp_path / "site", tolerance={"lower": -0.01, "upper": 0.01})
    outcome = status(bandgate, "--baselines", str(site), "--format", "nagios")
    assert outcome.code == 2
    assert "read: regression: 4250.0 GiB/s, below 4259.0 GiB/s" in outcome.out
    assert "no second was measured" in outcome.out
    baseline(tmp_path / "site", value=4000)
    assert status(bandgate, "--baselines", str(site), "--format", "nagios").code == 1
    assert len(files(bandgate)) == 1
    assert bandgate.stored()[-1]["verdict"]["status"] == "pass"


def test_what_run_measured_is_judged_too(bandgate: Bandgate) -> None:
    bandgate.drill("slow-5-percent", "run", "read")
    assert status(bandgate).code == 1


def test_both_attempts_of_a_run_belong_together(bandgate: Bandgate) -> None:
    bandgate.drill("slow-once")
    assert len(files(bandgate)) == 2
    outcome = status(bandgate, "--format", "nagios")
    assert outcome.code == 1
    assert "read: unstable: " in outcome.out
    assert status(bandgate).code == 0


def test_a_second_attempt_confirms(bandgate: Bandgate) -> None:
    bandgate.drill("slow-5-percent")
    assert len(files(bandgate)) == 2
    record = json.loads(status(bandgate, "--json").out)
    assert record["verdict"] == "regression"
    assert record["result"]["run"]["attempt"] == 2
    codes = [reason["code"] for reason in record["result"]["verdict"]["reasons"]]
    assert "confirmed" in codes and "unconfirmed" not in codes


def test_a_first_that_is_fine_by_todays_bounds_makes_a_low_second_unstable(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    script["devices"][0]["probes"]["read"] = {
        "attempts": [
            {"unit": "GiB/s", "samples": [4200.0] * 10},
            {"unit": "GiB/s", "samples": [4100.0] * 10},
        ]
    }
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(script))
    site = baseline(tmp_path / "site")
    bandgate.drill(path, "check", "read", "--baselines", str(site))
    assert status(bandgate, "--baselines", str(site)).code == 1
    baseline(tmp_path / "site", tolerance={"lower": -0.03, "upper": 0.03})
    outcome = status(bandgate, "--baselines", str(site), "--format", "nagios")
    assert outcome.code == 1
    assert "read: unstable: 4200.0 GiB/s" in outcome.out


def test_only_the_newest_run_counts(bandgate: Bandgate) -> None:
    bandgate.drill("slow-5-percent")
    shift_all(bandgate, -timedelta(hours=2))
    bandgate.drill("healthy-h200", "check", "read")
    assert status(bandgate).code == 0
    shift_all(bandgate, -timedelta(hours=2))
    bandgate.drill("slow-5-percent")
    assert status(bandgate).code == 1


@pytest.mark.parametrize("name", ["00000000.json", "zzzzzzzz.json"])
def test_the_newest_is_so_by_its_time_and_not_by_its_name(bandgate: Bandgate, name: str) -> None:
    bandgate.drill("healthy-h200", "check", "read")
    shift_all(bandgate, -timedelta(hours=2))
    (older,) = files(bandgate)
    older.rename(older.parent / name)
    bandgate.drill("slow-5-percent")
    assert status(bandgate).code == 1


def test_other_parameters_are_another_result(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200", "check", "read_window", "window=8MiB")
    bandgate.drill("healthy-h200", "check", "read_window", "window=16MiB")
    assert len(status(bandgate, "--json").out.splitlines()) == 2


def test_results_of_other_nodes_are_not_this_ones(bandgate: Bandgate) -> None:
    bandgate.drill("slow-5-percent", BANDGATE_NODE="sick")
    bandgate.drill("healthy-h200", "check", "read", BANDGATE_NODE="sound")
    assert status(bandgate, BANDGATE_NODE="sick").code == 1
    assert status(bandgate, BANDGATE_NODE="sound").code == 0
    assert status(bandgate, "--node", "sick").code == 1
    assert status(bandgate, "--node", "nobody").code == 4
    assert status(bandgate).code == 4


def test_one_device_can_be_asked_for(bandgate: Bandgate) -> None:
    bandgate.drill("two-gpus")
    assert len(status(bandgate, "--json").out.splitlines()) == 2
    one = status(bandgate, "--json", "--device", "0000:1b:00.0").out
    assert json.loads(one)["device"] == "0000:1b:00.0"
    assert status(bandgate, "--device", "GPU-nobody").code == 4


def test_a_drill_says_nothing_of_real_devices(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200")
    assert bandgate("status").code == 4
    assert bandgate("status", "--backend", "cuda").code == 4
    assert bandgate("status", "--backend", "host").code == 4
    assert bandgate("status", BANDGATE_BACKEND="scripted:any.json").code == 0


def test_broken_files_are_named_and_passed_over(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200")
    (path,) = files(bandgate)
    text = path.read_text()
    bad = {
        "cut.json": text[: len(text) // 2],
        "empty.json": "",
        "list.json": "[]",
        "nul.json": "{\0}",
        "nan.json": text.replace('"attempt":1', '"attempt":NaN'),
        "month.json": text.replace('"started":"20', '"started":"2099-13-01T00:00:00Z","x":"20'),
    }
    for name, content in bad.items():
        (path.parent / name).write_text(content)
    (path.parent / ".0123456789abcdef.tmp").write_text("half a resul")
    outcome = status(bandgate)
    assert outcome.code == 0, outcome
    for name in bad:
        if name != "nul.json":  # a whole object of nobody here is not looked at any closer
            assert name in outcome.err
    assert ".tmp" not in outcome.err
    assert "broken" not in outcome.out


def test_a_stamp_that_is_no_time_is_broken(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200")
    (path,) = files(bandgate)
    record = json.loads(path.read_text())
    record["run"]["started"] = "2026-13-41T00:00:00Z"
    path.write_text(json.dumps(record))
    outcome = status(bandgate)
    assert outcome.code == 4
    assert "is no time" in outcome.err


def test_an_offset_is_understood(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200")
    (path,) = files(bandgate)
    record = json.loads(path.read_text())
    utc = datetime.fromisoformat(record["run"]["started"])
    record["run"]["started"] = (utc + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S+02:00")
    path.write_text(json.dumps(record))
    assert status(bandgate).code == 0
    record["run"]["started"] = (utc + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S+00:00")
    path.write_text(json.dumps(record))
    assert status(bandgate).code == 4


def test_earlier_days_are_not_read(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200")
    (path,) = files(bandgate)
    for day in ("2019/12/31", "2020/01/01", "2025/02/03"):
        folder = bandgate.results / day
        folder.mkdir(parents=True)
        (folder / "broken.json").write_text("would be named if it were read")
    outcome = status(bandgate)
    assert outcome.code == 0
    assert outcome.err == ""
    # Where a folder is no day's, age cannot be told from its name.
    (bandgate.results / "imported").mkdir()
    (bandgate.results / "imported" / "broken.json").write_text("")
    assert "imported/broken.json" in status(bandgate).err
    assert path.exists()


def test_thousands_of_files_of_others_take_no_minute(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200")
    (path,) = files(bandgate)
    record = json.loads(path.read_text())
    record["run"] |= {"node": "elsewhere", "host": "elsewhere"}
    text = json.dumps(record)
    for i in range(5000):
        (path.parent / f"{path.stem[:-6]}{i:06}.json").write_text(text)
    start = time.monotonic()
    assert status(bandgate).code == 0
    assert time.monotonic() - start < 60


def test_a_strange_device_breaks_neither_table_nor_dialect(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    script["devices"][0]["identity"] |= {"name": "a|b\n\x1b[31m'=", "pci_device": "10de:ffff"}
    path = tmp_path / "strange.json"
    path.write_text(json.dumps(script))
    bandgate.drill(path)
    outcome = status(bandgate)
    assert "\x1b" not in outcome.out
    assert status(bandgate, "--format", "nagios").out.splitlines()[0].count("|") == 1


def test_a_missing_device_is_missed_until_the_next_check(bandgate: Bandgate) -> None:
    bandgate.drill("two-gpus", "check", "read")
    shift_all(bandgate, timedelta(hours=-2))
    assert status(bandgate).code == 0
    assert bandgate.drill("missing-gpu", "check", "read").code == 3
    said = status(bandgate, "--format", "nagios")
    assert said.code == 2
    assert "machine read" in said.out
    assert "does not list it" in said.out
    assert status(bandgate).code == 3
    # The next check lists every device again.
    shift_all(bandgate, timedelta(hours=-1))
    bandgate.drill("two-gpus", "check", "read")
    assert status(bandgate).code == 0


def test_checks_that_run_at_once_all_miss_the_device(bandgate: Bandgate) -> None:
    bandgate.drill("missing-gpu", "check", "read")
    first = files(bandgate)
    bandgate.drill("missing-gpu", "check", "read", "write")
    # The check that began first measured last.
    (measured,) = [f for f in first if json.loads(f.read_text())["measurement"] is not None]
    shift(bandgate, measured, timedelta(seconds=30))
    assert status(bandgate).code == 3


def test_fewer_devices_than_expected_are_missed(bandgate: Bandgate) -> None:
    few = bandgate.drill("healthy-h200", "check", "read", BANDGATE_EXPECT_DEVICES="8")
    assert few.code == 3
    assert status(bandgate).code == 3


def test_a_second_attempt_without_its_first_is_unstable(bandgate: Bandgate) -> None:
    bandgate.drill("slow-once", "check", "read")
    first, second = files(bandgate)
    assert json.loads(second.read_text())["run"]["attempt"] == 2
    first.unlink()
    said = status(bandgate, "--format", "nagios")
    assert said.code == 1, said.out
    assert "unstable" in said.out


def test_a_copy_of_an_attempt_confirms_nothing(bandgate: Bandgate) -> None:
    bandgate.drill("slow-5-percent", "check", "read")
    first, second = files(bandgate)
    second.write_text(first.read_text())
    assert "judged again from one stored attempt" in status(bandgate).out


def test_one_result_that_cannot_be_judged_hides_no_other(bandgate: Bandgate) -> None:
    bandgate.drill("slow-5-percent", "check", "read", "write")
    for path in files(bandgate):
        record = json.loads(path.read_text())
        if record["probe"]["name"] == "write":
            record["measurement"]["unit"] = "s"
            put(bandgate, record)
    said = status(bandgate, "--format", "nagios")
    assert said.code == 2, said.out
    assert "below" in said.out
    assert "cannot be judged" in said.err


@pytest.mark.parametrize("year", ["1442", "1969", "2262", "2611", "9999"])
def test_a_time_that_no_clock_tells_is_no_time(bandgate: Bandgate, year: str) -> None:
    bandgate.drill("healthy-h200", "check", "read")
    (path,) = files(bandgate)
    record = json.loads(path.read_text())
    record["run"]["started"] = year + record["run"]["started"][4:]
    path.write_text(json.dumps(record))
    assert status(bandgate).code == 4


def test_links_and_files_in_the_way_are_passed_over_or_named(bandgate: Bandgate) -> None:
    bandgate.drill("healthy-h200", "check", "read")
    (bandgate.results / "loop").symlink_to("loop")
    (bandgate.results / "loop.json").symlink_to("loop.json")
    said = status(bandgate)
    assert said.code == 0, said.err
    assert "loop.json" in said.err
    (path,) = [file for file in files(bandgate) if file.is_file()]
    nofolder = status(bandgate, "--results", str(path))
    assert nofolder.code == 2
    assert "is no folder; name the folder of the results" in nofolder.err


def test_an_empty_name_of_a_node_is_refused(bandgate: Bandgate) -> None:
    assert status(bandgate, "--node", "").code == 2
