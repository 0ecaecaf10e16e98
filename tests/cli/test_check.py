# SPDX-License-Identifier: Apache-2.0
"""What `bandgate check` answers, on scripted devices."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import DRILLS, Bandgate

READ = 4302.0 * 2**30


def write(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document))
    return path


def h200(folder: Path, name: str = "h200.json", **read: Any) -> Path:
    """A healthy H200 whose `read` is replaced by one attempt made of `read`."""
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    script["devices"][0]["probes"]["read"] = {"attempts": [{"unit": "GiB/s"} | read]}
    return write(folder / name, script)


def baseline(folder: Path, **changes: Any) -> Path:
    """A site's baseline for `read` on the scripted H200, board part left open."""
    entry: dict[str, Any] = {
        "probe": "read",
        "parameters": {},
        "statistic": "median",
        "unit": "GiB/s",
        "value": 4302,
        "tolerance": {"lower": -0.02, "upper": 0.02},
        "provenance": {"kind": "measured", "cards": 1, "processes": 10},
    }
    folder.mkdir(exist_ok=True)
    return write(
        folder / "h200.json",
        {
            "schema": "bandgate.baseline/1",
            "gpu": {
                "model": "NVIDIA H200",
                "match": [{"pci_device": "10de:2335", "pci_subsystem": "10de:18bf"}],
                "aliases": ["NVIDIA H200"],
                "memory_gib": 141,
                "peak_gb_s": 4814.3,
                "ecc": "on",
                "mig": None,
            },
            "entries": [entry | changes],
        },
    )


def own_processes(marker: str) -> list[str]:
    """Command lines of all processes that name `marker`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if marker in line:
                found.append(line)
    return found


@pytest.mark.parametrize(
    ("script", "code", "status"),
    [
        ("healthy-h200", 0, "pass"),
        ("slow-5-percent", 1, "regression"),
        ("wrong-checksum", 3, "error"),
        ("above-peak", 3, "error"),
        ("lost-at-sample-3", 3, "error"),
        ("out-of-memory", 3, "error"),
        ("contended", 4, "inconclusive"),
        ("exclusive", 4, "inconclusive"),
        ("power-cap-normal", 0, "pass"),
        ("throttling-slope", 1, "regression"),
        ("slope-within-bounds", 4, "inconclusive"),
        ("memory-clock-zero", 0, "pass"),
    ],
)
def test_exit_code_and_stored_status(
    bandgate: Bandgate, script: str, code: int, status: str
) -> None:
    outcome = bandgate.drill(script)
    assert outcome.code == code, outcome
    stored = bandgate.stored()
    assert stored[-1]["verdict"]["status"] == status
    assert stored[-1]["device"]["backend"] == "scripted"


def test_what_did_not_settle_is_measured_once_more(bandgate: Bandgate, tmp_path: Path) -> None:
    script = json.loads((DRILLS / "slope-within-bounds.json").read_text())
    probe = script["devices"][0]["probes"]["read"]
    probe["attempts"].append({"unit": "GiB/s", "samples": [4302.1] * 10})
    file = tmp_path / "drill.json"
    file.write_text(json.dumps(script))
    outcome = bandgate("check", "read", "--strict", "--backend", f"scripted:{file}")
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("PASS (unstable) gpu0 read: 4302.1 GiB/s")
    assert "unsettled once and fine in a fresh process" in outcome.out
    first, second = sorted(bandgate.stored(), key=lambda one: one["run"]["attempt"])
    assert first["verdict"]["status"] == "inconclusive"
    assert (second["verdict"]["status"], second["verdict"]["unstable"]) == ("pass", True)


def test_missing_gpu_is_an_error_naming_its_address(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("missing-gpu")
    assert outcome.code == 3
    assert re.search(r"device-missing: .*[0-9a-f]{4}:[0-9a-f]{2}:00\.0", outcome.err)


def test_a_hang_ends_at_the_time_limit_and_leaves_no_process(bandgate: Bandgate) -> None:
    start = time.monotonic()
    outcome = bandgate.drill("hang", "check", "read", "--time-limit", "2s")
    assert outcome.code == 3
    assert time.monotonic() - start < 2 + 5 + 20  # limit, reaping, a slow machine
    assert "no answer within the time limit of 2 s, stuck in phase sampling" in outcome.out
    assert bandgate.stored()[-1]["failure"]["code"] == "timed-out"
    assert own_processes(str(bandgate.home)) == []
    assert own_processes("hang.json") == []


def test_no_device_is_skipped_and_under_strict_not_judged(bandgate: Bandgate) -> None:
    assert bandgate.drill("no-device").code == 77
    assert bandgate.drill("no-device", "check", "read", "--strict").code == 4
    assert bandgate.drill("no-device", BANDGATE_STRICT="1").code == 4


def test_a_broken_baseline_is_2_and_names_file_and_place(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    broken = baseline(tmp_path / "site", value="2000")
    outcome = bandgate.drill("healthy-h200", "check", "read", "--baselines", str(broken))
    assert outcome.code == 2
    assert f"{broken}: /entries/0/value" in outcome.err
    assert bandgate.stored() == []


def test_anything_but_a_pass_is_three_lines(bandgate: Bandgate) -> None:
    lines = bandgate.drill("slow-5-percent").out.splitlines()
    assert lines[0].startswith("REGRESSION   gpu0 read: 40")
    assert "GiB/s, bounds 42" in lines[0]
    assert lines[1].startswith("  cause: ")
    assert lines[2].startswith("  next:  ")
    assert "judged 1 of 1: 1 regression" in lines


def test_a_pass_is_one_line(bandgate: Bandgate) -> None:
    lines = bandgate.drill("healthy-h200").out.splitlines()
    assert lines[0].startswith("PASS         gpu0 read: 430")
    assert lines[1] == "judged 1 of 1: 1 pass"


def test_quiet_says_nothing_of_a_pass_but_all_of_a_regression(bandgate: Bandgate) -> None:
    assert bandgate.drill("healthy-h200", "check", "read", "--quiet").out == ""
    assert "REGRESSION" in bandgate.drill("slow-5-percent", "check", "read", "--quiet").out


def test_slow_once_passes_as_unstable_with_both_attempts(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("slow-once")
    assert outcome.code == 0
    assert outcome.out.startswith("PASS (unstable) gpu0 read")
    first, second = bandgate.stored()
    assert [first["run"]["attempt"], second["run"]["attempt"]] == [1, 2]
    assert first["run"]["group_id"] == second["run"]["group_id"]
    assert second["verdict"]["status"] == "pass"
    assert second["verdict"]["unstable"] is True


def test_a_regression_is_measured_in_two_processes(bandgate: Bandgate) -> None:
    bandgate.drill("slow-5-percent")
    first, second = bandgate.stored()
    assert second["run"]["attempt"] == 2
    assert first["run"]["id"] < second["run"]["id"]


def test_a_card_entry_catches_what_the_model_lets_through(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    model = baseline(tmp_path / "site")
    slow = h200(tmp_path, samples=[4302 * 0.992])
    arguments = ("check", "read", "--baselines", str(model.parent))
    assert bandgate.drill(slow, *arguments).code == 0
    uuid = json.loads(slow.read_text())["devices"][0]["identity"]["uuid"]
    document = json.loads(model.read_text())
    card = document["entries"][0] | {"card": uuid, "tolerance": {"lower": -0.005, "upper": 0.005}}
    write(model, document | {"entries": [document["entries"][0], card]})
    assert bandgate.drill(slow, *arguments).code == 1


def test_a_card_entry_never_loosens_the_models_floor(bandgate: Bandgate, tmp_path: Path) -> None:
    model = baseline(tmp_path / "site")
    sick = h200(tmp_path, samples=[4302 * 0.95])
    uuid = json.loads(sick.read_text())["devices"][0]["identity"]["uuid"]
    document = json.loads(model.read_text())
    card = document["entries"][0] | {"card": uuid, "value": 4302 * 0.95}
    write(model, document | {"entries": [document["entries"][0], card]})
    assert bandgate.drill(sick, "check", "read", "--baselines", str(model)).code == 1


def test_units_are_converted_not_assumed(bandgate: Bandgate, tmp_path: Path) -> None:
    exact = round(READ / 1e9, 3)
    model = baseline(tmp_path / "site", unit="GB/s", value=exact)
    outcome = bandgate.drill("healthy-h200", "check", "read", "--baselines", str(model))
    assert outcome.code == 0
    other = baseline(tmp_path / "site", unit="GiB/s", value=4100)
    assert bandgate.drill("healthy-h200", "check", "read", "--baselines", str(other)).code == 0
    assert bandgate.stored()[-1]["verdict"]["status"] == "improved"


def test_printing_in_another_unit_labels_it(bandgate: Bandgate) -> None:
    assert re.search(
        r"read: 46\d\d\.\d GB/s",
        bandgate.drill("healthy-h200", "check", "read", "--unit", "GB/s").out,
    )
    refused = bandgate.drill("healthy-h200", "check", "read", "--unit", "GB")
    assert refused.code == 2
    assert "--unit GB: unknown unit" in refused.err


def test_fewer_devices_than_expected_is_red(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("eight-gpus-one-missing", BANDGATE_EXPECT_DEVICES="8")
    assert outcome.code == 3
    # Seven devices, and the machine that should have eight.
    assert len(bandgate.stored()) == 8
    other = bandgate.drill("healthy-h200", BANDGATE_EXPECT_DEVICES="2")
    assert other.code == 3
    assert "expect" in other.err.lower()


def test_expect_devices_must_be_a_number(bandgate: Bandgate) -> None:
    for text in ("many", "-1", "8.5", "1e3"):
        outcome = bandgate.drill("healthy-h200", BANDGATE_EXPECT_DEVICES=text)
        assert outcome.code == 2, (text, outcome)
        assert "BANDGATE_EXPECT_DEVICES" in outcome.err


def test_a_lost_gpu_is_named_and_the_other_still_judged(bandgate: Bandgate, tmp_path: Path) -> None:
    script = json.loads((DRILLS / "two-gpus.json").read_text())
    script["pace"] = "instant"
    script["devices"][0]["probes"]["read"] = {
        "attempts": [{"unit": "GiB/s", "samples": [4302], "lost_at_sample": 3}]
    }
    outcome = bandgate.drill(write(tmp_path / "two.json", script))
    assert outcome.code == 3
    by_device = {r["device"]["uuid"]: r for r in bandgate.stored()}
    uuids = [d["identity"]["uuid"] for d in script["devices"]]
    assert by_device[uuids[0]]["failure"]["code"] == "device-lost"
    assert uuids[0] in by_device[uuids[0]]["failure"]["message"]
    assert by_device[uuids[1]]["verdict"]["status"] == "pass"


def test_device_can_be_named_three_ways(bandgate: Bandgate) -> None:
    identity = json.loads((DRILLS / "two-gpus.json").read_text())["devices"][1]["identity"]
    for name in ("1", identity["uuid"], identity["pci_address"]):
        outcome = bandgate.drill("two-gpus", "check", "read", "--device", name, "--json")
        assert [r["device"]["uuid"] for r in outcome.records()] == [identity["uuid"]]
    refused = bandgate.drill("two-gpus", "check", "read", "--device", "9")
    assert refused.code == 2
    assert "--device 9 names no device" in refused.err


def test_json_is_the_stored_records(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("slow-once", "check", "read", "--json")
    assert outcome.records() == bandgate.stored()


def test_results_none_stores_nothing(bandgate: Bandgate) -> None:
    assert bandgate.drill("healthy-h200", "check", "read", "--results", "none").code == 0
    assert not bandgate.results.exists()


@pytest.mark.parametrize("script,code", [("healthy-h200", 2), ("slow-5-percent", 1), ("hang", 3)])
def test_a_result_that_cannot_be_written_is_2_unless_worse(
    bandgate: Bandgate, script: str, code: int
) -> None:
    outcome = bandgate.drill(
        script, "check", "read", "--results", "/proc/nowhere", "--time-limit", "3s"
    )
    assert outcome.code == code
    assert "result not stored: " in outcome.err
    assert "gpu0 read" in outcome.out  # the measurement is still printed


def test_full_standard_output_is_not_success(bandgate: Bandgate) -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            bandgate.command("check", "read", "--backend", f"scripted:{DRILLS}/healthy-h200.json"),
            env=bandgate.env(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert "standard output" in ended.stderr


def test_file_size_limit_of_zero_is_reported(bandgate: Bandgate) -> None:
    command = " ".join(bandgate.command("check", "read", "--backend"))
    ended = subprocess.run(
        f"ulimit -f 0; exec {command} scripted:{DRILLS}/healthy-h200.json",
        shell=True,
        env=bandgate.env(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2, ended
    assert "result not stored" in ended.stderr
    assert "PASS" in ended.stdout
    assert list(bandgate.results.rglob("*.json")) == []


def test_a_reader_that_leaves_early_is_told_from_other_ills(bandgate: Bandgate) -> None:
    script = DRILLS / "two-gpus.json"
    command = bandgate.command("run", "read", "--json", "--backend", f"scripted:{script}")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=bandgate.env()
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        said = running.stderr.read()
    assert running.returncode == 2
    assert "cannot write standard output: " in said
    assert "its reader has gone" in said or "Broken pipe" in said


def start_hanging_check(bandgate: Bandgate, script: Path) -> subprocess.Popen[str]:
    running = subprocess.Popen(
        bandgate.command("check", "read", "--backend", f"scripted:{script}"),
        env=bandgate.env(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if any("__worker" in p and '"measure"' in p for p in own_processes(str(script))):
            return running
        time.sleep(0.02)
    running.kill()
    raise AssertionError("no worker was started")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_supervisor_takes_its_worker_along(
    bandgate: Bandgate, tmp_path: Path, number: signal.Signals
) -> None:
    script = write(tmp_path / "hanging.json", json.loads((DRILLS / "hang.json").read_text()))
    running = start_hanging_check(bandgate, script)
    running.send_signal(number)
    assert running.wait(20) != 0
    deadline = time.monotonic() + 20
    while own_processes(str(script)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert own_processes(str(script)) == []
    assert list(bandgate.results.rglob("*")) == []


def test_a_killed_worker_is_a_valid_result_that_says_so(bandgate: Bandgate, tmp_path: Path) -> None:
    script = write(tmp_path / "hanging.json", json.loads((DRILLS / "hang.json").read_text()))
    running = start_hanging_check(bandgate, script)
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"__worker" in line and str(script).encode() in line:
            os.kill(int(entry.name), signal.SIGKILL)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 3
    assert "ended by signal 9" in out
    assert bandgate.stored()[-1]["failure"]["code"] == "crashed"


def test_labels_and_identity_are_recorded(bandgate: Bandgate) -> None:
    bandgate.drill(
        "healthy-h200",
        "check",
        "read",
        "--label",
        "ticket=42",
        SLURM_JOB_ID="77",
        BANDGATE_NODE="n1",
    )
    run = bandgate.stored()[0]["run"]
    assert run["labels"] == {"ticket": "42"}
    assert run["node"] == "n1"
    assert "77" in run["scheduler_job"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", run["id"])


def test_parameters_reach_the_probe_and_the_record(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("healthy-h200", "run", "read_window", "window=8MiB", "--json")
    assert outcome.code == 0
    assert outcome.records()[0]["probe"]["parameters"]["window"] == 8 << 20
    assert outcome.records()[0]["verdict"]["status"] == "measured"
    for bad in ("window=", "window=-1", "window=1e30", "colour=red"):
        refused = bandgate.drill("healthy-h200", "run", "read_window", bad)
        assert refused.code == 2, bad
        assert bad.split("=")[0] in refused.err


@pytest.mark.parametrize("words", [["check", "reed"], ["check", "--suite", "slow"], ["chek"], []])
def test_usage_errors_are_2(bandgate: Bandgate, words: list[str]) -> None:
    assert bandgate(*words).code == 2


@pytest.mark.parametrize("locale", ["de_DE.UTF-8", "tr_TR.UTF-8"])
def test_the_locale_changes_nothing(bandgate: Bandgate, locale: str) -> None:
    def run(name: str) -> str:
        out = bandgate.drill("healthy-h200", "check", "read", "--ctest", LC_ALL=name).out
        return re.sub(r"results in .*", "", out)

    assert run(locale) == run("C")


def test_ctest_measurements_are_printed_beside_a_plain_line(bandgate: Bandgate) -> None:
    out = bandgate.drill("healthy-h200", "check", "read", "--ctest").out
    assert re.search(r'<CTestMeasurement type="numeric/double" name="read GiB/s">430\d', out)
    assert "PASS         gpu0 read: 430" in out


def test_list_touches_no_device_and_names_every_probe(bandgate: Bandgate) -> None:
    document = json.loads(bandgate("list", "--json").out)
    names = {p["name"] for p in document["probes"]}
    assert {"read", "read_seq", "read_unroll", "read_window", "write", "copy"} <= names
    verbose = bandgate("list", "--verbose").out
    for probe in document["probes"]:
        assert probe["byte_rule"]
        for parameter in probe["parameters"]:
            assert f"{parameter['name']}=" in verbose


def test_list_devices_is_the_contract_of_the_ctest_module(bandgate: Bandgate) -> None:
    document = json.loads(bandgate.drill("two-gpus", "list", "--devices", "--json").out)
    assert document["schema"] == "bandgate.devices/1"
    assert [d["id"] for d in document["devices"]] == ["gpu0", "gpu1"]
    case = next(c for c in document["cases"] if c["name"] == "bandgate.gpu1.read")
    assert case["resources"] == ["gpu1"]
    assert {"bandgate", "scripted", "quick", "full", "dram"} == set(case["labels"])
    assert case["timeout_s"] > 120
    uuid = document["devices"][1]["uuid"]
    assert case["arguments"][:2] == ["check", "read"]
    assert uuid in case["arguments"]


def test_judged_counts_and_fails_where_nothing_was(bandgate: Bandgate) -> None:
    results = str(bandgate.results)
    assert bandgate("judged", "--results", results, "--strict").code == 1
    bandgate.drill("healthy-h200", "check", "read", "copy")
    drill = ("judged", "--results", results, "--strict", "--backend", "scripted:any.json")
    outcome = bandgate(*drill)
    assert (outcome.code, outcome.out) == (0, "judged 2 of 2\n")
    assert bandgate(*drill, "--since", "2099-01-01T00:00:00Z").code == 1
    assert bandgate(*drill, "--since", "yesterday").code == 2
    # A drill left in the folder does not count for the machine's own devices.
    assert bandgate("judged", "--results", results, "--strict").code == 1


def test_help_has_examples(bandgate: Bandgate) -> None:
    for words in (["check"], ["run"], ["list"], ["devices"], ["baseline", "record"]):
        outcome = bandgate(*words, "--help")
        assert outcome.code == 0
        assert "Examples:" in outcome.out
    assert re.search(r"bandgate \d+\.\d+\.\d+ \(build [0-9a-f]{16}", bandgate("--version").out)


def test_expecting_gpus_on_a_machine_without_any_is_red(bandgate: Bandgate) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a GPU driver")
    outcome = bandgate("devices", BANDGATE_EXPECT_DEVICES="8")
    assert outcome.code == 3
    assert "BANDGATE_EXPECT_DEVICES" in outcome.err
    assert bandgate("devices", "--backend", "host", BANDGATE_EXPECT_DEVICES="8").code == 0


def test_an_option_takes_one_value_so_that_a_parameter_is_not_swallowed(bandgate: Bandgate) -> None:
    outcome = bandgate.drill(
        "healthy-h200", "run", "read_window", "--label", "a=b", "window=8MiB", "--json"
    )
    assert outcome.records()[0]["probe"]["parameters"]["window"] == 8 << 20
    assert outcome.records()[0]["run"]["labels"] == {"a": "b"}


def test_a_device_that_is_missing_is_an_error_also_when_asked_for_by_name(
    bandgate: Bandgate,
) -> None:
    outcome = bandgate.drill("missing-gpu", "check", "read", "--device", "1")
    assert outcome.code == 3
    assert "device-missing" in outcome.err


def test_run_never_ends_in_a_judgements_code(bandgate: Bandgate) -> None:
    assert bandgate.drill("no-device", "run", "read", BANDGATE_STRICT="1").code == 77
    assert bandgate.drill("exclusive", "run", "read", BANDGATE_STRICT="1").code == 3


def test_one_device_that_cannot_be_tried_does_not_silence_the_other(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    script = json.loads((DRILLS / "two-gpus.json").read_text())
    script["pace"] = "instant"
    script["devices"][0]["memory_free_bytes"] = 1 << 20
    slow = {"attempts": [{"unit": "GiB/s", "samples": [3000]}]}
    script["devices"][1]["probes"]["read"] = slow
    outcome = bandgate.drill(write(tmp_path / "two.json", script))
    assert outcome.code == 3, outcome
    by_device = {r["device"]["uuid"]: r for r in bandgate.stored()}
    uuids = [d["identity"]["uuid"] for d in script["devices"]]
    assert by_device[uuids[0]]["failure"]["code"] == "out-of-memory"
    assert by_device[uuids[1]]["verdict"]["status"] == "regression"


def shell(bandgate: Bandgate, line: str) -> subprocess.CompletedProcess[str]:
    command = f"B={bandgate.program}; D=scripted:{DRILLS}; {line}"
    return subprocess.run(
        ["bash", "-c", command], env=bandgate.env(), capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("$B check nosuch 2>&-", 2),
        ("$B check read --backend $D/missing-gpu.json 2>/dev/full", 3),
        ("$B check read --results /dev/full --backend $D/slow-5-percent.json 2>&-", 1),
        ("$B check read copy --json --backend $D/slow-5-percent.json >/dev/full", 1),
        ("$B check --backend $D/slow-5-percent.json | true; exit ${PIPESTATUS[0]}", 1),
        ("$B check read --backend $D/healthy-h200.json <&- >&- 2>&-", 2),
        ("$B --version >/dev/full", 2),
        ("trap '' CHLD; $B check read --backend $D/healthy-h200.json", 0),
    ],
)
def test_streams_and_signals_of_the_caller_change_no_verdict(
    bandgate: Bandgate, line: str, code: int
) -> None:
    assert shell(bandgate, line).returncode == code
    for result in bandgate.stored():  # whole files, whatever was closed
        assert result["schema"] == "bandgate.result/1"


def test_a_site_folder_that_is_not_mounted_is_no_silent_default(bandgate: Bandgate) -> None:
    site = bandgate.home / "config" / "bandgate"
    site.mkdir(parents=True)
    (site / "baselines").symlink_to("/nonexistent/mount")
    outcome = bandgate.drill("healthy-h200")
    assert outcome.code == 2, outcome


def test_a_command_that_there_is_not_is_named(bandgate: Bandgate) -> None:
    outcome = bandgate("chek", "read")
    assert outcome.code == 2
    assert outcome.err == "bandgate: unknown command 'chek'; `bandgate --help` lists them\n"
