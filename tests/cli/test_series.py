# SPDX-License-Identifier: Apache-2.0
"""What `bandgate` answers for the probes that measure in parts, on scripted devices."""

import json
import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import DRILLS, Bandgate

GIB = 2**30


def h200(folder: Path, probe: str, *attempts: dict[str, Any], **device: Any) -> Path:
    """The H200 of the drills with these attempts of one probe."""
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    script["devices"][0]["probes"] = {
        probe: {"attempts": [{"unit": "GiB/s"} | one for one in attempts]}
    }
    script["devices"][0] |= device
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    return path


def site(folder: Path, entry: dict[str, Any]) -> Path:
    """A baseline file for the scripted H200 with one entry."""
    path = folder / "site.json"
    gpu = {
        "model": "NVIDIA H200",
        "match": [{"pci_device": "10de:2335", "pci_subsystem": "10de:18bf"}],
        "memory_gib": 141,
        "peak_gb_s": 4814.3,
        "ecc": "on",
    }
    provenance = {"kind": "measured", "cards": 1, "processes": 10}
    entries = [{"parameters": {}, "provenance": provenance} | entry]
    path.write_text(json.dumps({"schema": "bandgate.baseline/1", "gpu": gpu, "entries": entries}))
    return path


WORST = {
    "probe": "sustained",
    "statistic": "worst",
    "unit": "GiB/s",
    "value": 4300,
    "tolerance": {"lower": -0.03, "upper": 0.03},
}


def codes(record: dict[str, Any]) -> list[str]:
    return [reason["code"] for reason in record["verdict"]["reasons"]]


def test_a_healthy_card_passes_both(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("healthy-h200", "check", "sustained", "read_map")
    assert outcome.code == 0, outcome
    lines = outcome.out.splitlines()
    assert re.match(
        r"PASS +gpu0 read_map: 4288\.7 GiB/s, slowest slice 10 of 140, 0x240000000 to 0x27fffffff, "
        r"bounds ",
        lines[1],
    )
    assert re.match(
        r"PASS +gpu0 sustained: 4298\.7 GiB/s, worst window 4 of 30, at 3 s, "
        r"first to last \+0\.05 %, bounds ",
        lines[0],
    )


def test_the_series_over_time_is_stored_with_what_the_card_said(bandgate: Bandgate) -> None:
    assert bandgate.drill("healthy-h200", "run", "sustained").code == 0
    measured = bandgate.stored()[0]["measurement"]
    series = measured["series"]
    assert (series["axis"], series["step"]) == ("time", 1)
    points = series["points"]
    assert [p["value"] for p in points] == measured["samples"]
    assert len(points) == 30
    assert [round(p["at"]) for p in points] == list(range(30))
    assert points[2] | {"at": 0, "value": 0} == {
        "at": 0,
        "value": 0,
        "sm_clock_mhz": 1980,
        "temperature_c": 43,
        "power_w": 592,
    }
    assert points[29]["temperature_c"] == 47
    assert measured["worst"] == min(measured["samples"])
    assert measured["worst"] == pytest.approx(4298.7 * GIB, rel=1e-6)
    assert measured["drop"] == pytest.approx(4302.3 / 4300.1 - 1, abs=1e-6)
    assert not measured["unsettled"]
    assert measured["verified"]


def test_as_many_windows_as_seconds(bandgate: Bandgate) -> None:
    assert bandgate.drill("healthy-h200", "run", "sustained", "seconds=4").code == 0
    assert len(bandgate.stored()[0]["measurement"]["samples"]) == 4
    outcome = bandgate.drill("healthy-h200", "run", "sustained", "seconds=1")
    assert outcome.code == 2
    assert "seconds" in outcome.err


def test_the_map_is_stored_by_address(bandgate: Bandgate) -> None:
    assert bandgate.drill("healthy-h200", "run", "read_map").code == 0
    measured = bandgate.stored()[0]["measurement"]
    series = measured["series"]
    assert (series["axis"], series["step"]) == ("address", GIB)
    assert [p["at"] for p in series["points"]] == [i * GIB for i in range(140)]
    assert {p["sm_clock_mhz"] for p in series["points"]} == {None}
    # 139.64 GiB are mapped: the last slice is shorter and as fast as the one before it.
    assert series["points"][139]["value"] == pytest.approx(series["points"][138]["value"], rel=1e-6)
    assert measured["drop"] is None
    assert measured["worst"] == pytest.approx(4288.7 * GIB, rel=1e-6)


def test_a_card_that_throttles_late_passes_read_and_not_sustained(bandgate: Bandgate) -> None:
    assert bandgate.drill("throttling-sustained", "check", "read").code == 0
    outcome = bandgate.drill("throttling-sustained", "check", "sustained")
    assert outcome.code == 1
    first, cause, step = outcome.out.splitlines()[:3]
    assert re.match(r"REGRESSION +gpu0 sustained: 2981\.0 GiB/s, worst window 19 of 30, ", first)
    assert "the last of 30 windows, 2981.0 GiB/s, is 30.69 % below the first" in cause
    assert "because of heat" in cause
    assert "Check the cooling" in step
    record = bandgate.stored()[-1]
    assert codes(record)[:4] == ["below-bound", "slowest-part", "dropped", "hw-thermal"]
    assert record["run"]["attempt"] == 2
    points = record["measurement"]["series"]["points"]
    assert points[18]["sm_clock_mhz"] == 1020


@pytest.mark.parametrize(
    ("parts", "code", "reasons"),
    [
        ([4300, 4301, 4299, 4300], 0, []),
        ([4300, 4300, 4171.5, 4300], 0, []),
        ([4300, 4300, 4170, 4300], 1, ["below-bound", "slowest-part"]),
        ([4400, 4300, 4300, 4260], 1, ["dropped"]),
        ([4350, 4330, 4310, 4290], 4, ["unsettled"]),
    ],
)
def test_the_worst_window_and_the_drop_gate(
    bandgate: Bandgate, tmp_path: Path, parts: list[float], code: int, reasons: list[str]
) -> None:
    script = h200(tmp_path, "sustained", {"parts": parts})
    baseline = str(site(tmp_path, WORST))
    outcome = bandgate.drill(script, "check", "sustained", "seconds=4", "--baselines", baseline)
    assert outcome.code == code, outcome
    assert codes(bandgate.stored()[-1])[: len(reasons)] == reasons


def test_low_once_is_unstable(bandgate: Bandgate, tmp_path: Path) -> None:
    script = h200(tmp_path, "sustained", {"parts": [4300, 4000, 4300]}, {"parts": [4300]})
    baseline = str(site(tmp_path, WORST))
    outcome = bandgate.drill(script, "check", "sustained", "--baselines", baseline)
    assert outcome.code == 0
    assert outcome.out.startswith("PASS (unstable)")
    assert len(bandgate.stored()) == 2


def test_a_slow_region_is_named_by_its_addresses(bandgate: Bandgate) -> None:
    assert bandgate.drill("map-slow-region", "check", "read").code == 0
    outcome = bandgate.drill("map-slow-region", "check", "read_map")
    assert outcome.code == 1
    where = "slice 63 of 140, 0xf80000000 to 0xfbfffffff"
    first, cause, _ = outcome.out.splitlines()[:3]
    assert f"read_map: 3187.9 GiB/s, slowest {where}, bounds" in first
    assert f"the slowest is {where} (3187.9 GiB/s); 3 are beyond the bound" in cause
    assert codes(bandgate.stored()[-1])[:2] == ["below-bound", "slowest-part"]


def test_every_bad_slice_is_named(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("map-bad-region", "check", "read_map")
    assert outcome.code == 3
    record = bandgate.stored()[-1]
    assert record["failure"]["code"] == "wrong-result"
    assert record["measurement"] is None
    message = record["failure"]["message"]
    assert "2 slices are not what was written: " in message
    assert "slice 38 of 140, 0x940000000 to 0x97fffffff; " in message
    assert "slice 39 of 140, 0x980000000 to 0x9bfffffff. In slice 38: " in message
    assert "the word at 0x96b40c2d8 is 0x7c03a91f5be6d024" in message
    assert "0x940000000" in outcome.out


def test_many_bad_slices_are_counted(bandgate: Bandgate, tmp_path: Path) -> None:
    script = h200(tmp_path, "read_map", {"parts": [4300], "wrong_parts": [1, 2, 3, 5, 8, 140]})
    assert bandgate.drill(script, "check", "read_map").code == 3
    message = bandgate.stored()[-1]["failure"]["message"]
    assert "6 slices are not what was written: slice 1 of 140, 0x0 to 0x3fffffff; " in message
    assert "; 2 more. In slice 1: " in message


def test_too_little_free_memory_is_skipped_with_the_reason(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    script = h200(tmp_path, "read_map", {"parts": [4300]}, memory_free_bytes=2 * GIB)
    outcome = bandgate.drill(script, "check", "read_map")
    assert outcome.code == 77
    assert "less than two slices of 1GiB" in outcome.out
    assert bandgate.drill(script, "check", "read_map", "slice=256MiB").code == 0
    refused = bandgate.drill(script, "check", "read_map", "slice=64MiB")
    assert refused.code == 2
    assert "would measure the cache" in refused.err


def test_a_hang_says_in_which_part(bandgate: Bandgate, tmp_path: Path) -> None:
    script = h200(tmp_path, "sustained", {"parts": [4300], "hang_at_sample": 120})
    outcome = bandgate.drill(script, "check", "sustained", "--time-limit", "2s")
    assert outcome.code == 3
    assert "stuck in phase sampling, part 3 of 30" in outcome.out


def test_a_lost_card_is_an_error(bandgate: Bandgate, tmp_path: Path) -> None:
    script = h200(tmp_path, "read_map", {"parts": [4300], "lost_at_sample": 44})
    assert bandgate.drill(script, "check", "read_map").code == 3
    assert bandgate.stored()[-1]["failure"]["code"] == "device-lost"


def test_samples_alone_will_do_for_parts(bandgate: Bandgate, tmp_path: Path) -> None:
    script = h200(tmp_path, "*", {"samples": [4300]})
    assert bandgate.drill(script, "check", "sustained", "read_map").code == 0
    assert bandgate.stored()[0]["measurement"]["series"]["points"][0]["power_w"] is None


def test_sustained_is_a_suite_of_its_own(bandgate: Bandgate) -> None:
    assert bandgate.drill("healthy-h200", "check", "--suite", "sustained").code == 0
    assert [r["probe"]["name"] for r in bandgate.stored()] == ["sustained"]
    unknown = bandgate.drill("healthy-h200", "check", "--suite", "nightly")
    assert unknown.code == 2
    assert "unknown suite 'nightly'; there are full, quick, sustained" in unknown.err
    listed = bandgate.drill("healthy-h200", "list", "--devices", "--json")
    cases = {c["name"]: c for c in json.loads(listed.out)["cases"]}
    case = cases["bandgate.gpu0.sustained"]
    assert "sustained" in case["labels"]
    assert not {"quick", "full"} & set(case["labels"])
    assert case["timeout_s"] > 2 * (60 + 30)
    assert "full" in cases["bandgate.gpu0.read_map"]["labels"]


def test_record_takes_the_worst_window_and_the_ratio_of_the_slowest_slice(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    outcome = bandgate.drill(
        "healthy-h200", "baseline", "record", "sustained", "read_map",
        "--processes", "3", "--yes", "--to", str(tmp_path / "to"),
    )  # fmt: skip
    assert outcome.code == 0, outcome
    (file,) = (tmp_path / "to").glob("*.json")
    entries = {e["probe"]: e for e in json.loads(file.read_text())["entries"]}
    assert entries["sustained"]["statistic"] == "worst"
    assert entries["sustained"]["value"] == 4298.7
    assert entries["sustained"]["unit"] == "GiB/s"
    assert entries["read_map"]["statistic"] == "worst"
    assert entries["read_map"]["relative_to"] == "median"
    assert "unit" not in entries["read_map"]
    assert entries["read_map"]["value"] == pytest.approx(4288.7 / 4294.4, abs=1e-5)
    assert entries["read_map"]["tolerance"] == {"lower": -0.03, "upper": None}
    assert bandgate("baseline", "validate", str(file)).code == 0
    check = ("check", "sustained", "read_map", "--baselines", str(file))
    assert bandgate.drill("healthy-h200", *check).code == 0
    slow = bandgate.drill("map-slow-region", "check", "read_map", "--baselines", str(file))
    assert slow.code == 1


def terminal(bandgate: Bandgate, *arguments: str) -> str:
    """What the program writes to a terminal on standard error."""
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        bandgate.command(*arguments),
        env=bandgate.env(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and select.select([ours], [], [], 60)[0]:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    assert program.wait(60) == 0
    return seen.decode()


def test_a_bar_shows_on_a_terminal_and_nowhere_else(bandgate: Bandgate) -> None:
    backend = f"scripted:{DRILLS / 'healthy-h200.json'}"
    shown = terminal(bandgate, "run", "sustained", "--backend", backend)
    assert "gpu0: sustained sampling [..........] 0/30 s" in shown
    assert "gpu0: sustained sampling [#####.....] 15/30 s" in shown
    assert "gpu0: sustained sampling [##########] 30/30 s" in shown
    mapped = terminal(bandgate, "run", "read_map", "--backend", backend)
    assert "gpu0: read_map fill [#####.....] 70/140" in mapped
    assert "gpu0: read_map verify again [#####.....] 70/140" in mapped
    assert bandgate.drill("healthy-h200", "run", "sustained").err == ""


def test_a_map_that_is_slow_in_most_of_its_slices_fails(bandgate: Bandgate, tmp_path: Path) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    half = {"unit": "GiB/s", "samples": [4290], "parts": [4290] * 60 + [1000] * 80}
    script["devices"][0]["probes"]["read_map"] = {"attempts": [half]}
    file = tmp_path / "drill.json"
    file.write_text(json.dumps(script))
    outcome = bandgate("check", "read_map", "--backend", f"scripted:{file}")
    assert outcome.code == 1, outcome
    assert "below the fastest" in outcome.out


def test_a_slice_that_is_not_there_cannot_be_wrong(bandgate: Bandgate, tmp_path: Path) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    attempt = script["devices"][0]["probes"]["read_map"]["attempts"][0]
    attempt["wrong_parts"] = [9999]
    attempt["verified_after_sampling"] = "wrong"
    file = tmp_path / "drill.json"
    file.write_text(json.dumps(script))
    outcome = bandgate("check", "read_map", "--backend", f"scripted:{file}")
    assert outcome.code == 2, outcome
    assert "wrong_parts has 9999" in outcome.err
