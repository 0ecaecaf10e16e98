# SPDX-License-Identifier: Apache-2.0
"""`bandgate doctor`: what will cost bandwidth, without measuring it."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import DRILLS, Bandgate, Outcome

CLEAN: dict[str, Any] = {
    "sm_clock_mhz": 345,
    "sm_clock_max_mhz": 1980,
    "memory_clock_mhz": 3201,
    "memory_clock_max_mhz": 3201,
    "temperature_c": 31,
    "power_w": 78.4,
    "power_limit_w": 700,
    "power_limit_default_w": 700,
    "clock_event_reasons": 1,
    "gpu_utilization_percent": 0,
    "pcie_generation": 1,
    "pcie_generation_max": 5,
    "pcie_width": 16,
    "pcie_width_max": 16,
    "pcie_replays": 0,
    "row_remap_pending": False,
    "row_remap_failure": False,
    "ecc_enabled": True,
    "ecc_uncorrected_volatile": 0,
    "nvlink_links": 18,
    "nvlink_active": 18,
    "clock_event_hw_thermal_ns": 0,
    "clock_event_sw_thermal_ns": 0,
    "clock_event_sw_power_cap_ns": 0,
}
ABSENT = {"state": "not-supported"}


def script(*healths: dict[str, Any], **members: Any) -> dict[str, Any]:
    """H200s with the given state at rest over a clean one."""
    drill: dict[str, Any] = json.loads((DRILLS / "healthy-h200.json").read_text())
    original = drill["devices"][0]
    drill["devices"] = []
    for i, health in enumerate(healths or ({},)):
        device = json.loads(json.dumps(original))
        device["identity"]["uuid"] = f"GPU-00000000-0000-4000-8000-00000000000{i + 1}"
        device["identity"]["pci_address"] = f"0000:{i + 1:02x}:00.0"
        device["health"] = {
            "idle": CLEAN | health,
            "load": CLEAN | {"pcie_generation": 5},
            "change": {},
        }
        drill["devices"].append(device | members)
    return drill


class Doctor:
    """The command on a script."""

    def __init__(self, bandgate: Bandgate, folder: Path) -> None:
        self.bandgate = bandgate
        self.file = folder / "machine.json"
        self.folder = folder

    def play(self, document: dict[str, Any]) -> None:
        self.file.write_text(json.dumps(document))

    def __call__(self, *arguments: str) -> Outcome:
        return self.bandgate("doctor", "--backend", f"scripted:{self.file}", *arguments)


@pytest.fixture
def doctor(bandgate: Bandgate, tmp_path: Path) -> Doctor:
    made = Doctor(bandgate, tmp_path)
    made.play(script())
    return made


def test_a_clean_device(doctor: Doctor) -> None:
    said = doctor()
    assert said.code == 0, said.out + said.err
    first, second = said.out.splitlines()[:2]
    assert first.startswith("gpu0  NVIDIA H200  GPU-00000000-0000-4000-8000-000000000001  0000:01:")
    assert second == (
        "  clean: 31 C, 78 of 700 W, memory 3201 MHz, PCIe 5 x16, ECC on, 18 of 18 NVLinks up"
    )
    assert "COSTS" not in said.out


ABNORMAL: dict[str, tuple[dict[str, Any], int, str]] = {
    "power-limit": ({"power_limit_w": 500}, 1, "500 W of 700 W"),
    "pcie-width": ({"pcie_width": 8}, 1, "x8"),
    "row-remap-pending": ({"row_remap_pending": True}, 1, "pending"),
    "row-remap-failure": ({"row_remap_failure": True}, 3, "failed"),
    "nvlink-down": ({"nvlink_active": 17}, 1, "17 of 18"),
    "memory-clock-ok-at-rest": ({"memory_clock_mhz": 810}, 0, "clean"),
    "generation-1-at-rest": ({"pcie_generation": 1}, 0, "clean"),
    "no-nvlink": ({"nvlink_active": ABSENT, "nvlink_links": ABSENT}, 0, "clean"),
}


@pytest.mark.parametrize("name", ABNORMAL)
def test_what_is_abnormal_is_named_with_effect_and_remedy(doctor: Doctor, name: str) -> None:
    health, code, words = ABNORMAL[name]
    doctor.play(script(health))
    said = doctor()
    assert said.code == code, said.out + said.err
    assert words in said.out
    if code:
        finding = said.out[said.out.index(f"{name}: ") :]
        assert re.search(r"\n    effect: \w.*\n    remedy: \w", finding), said.out
        assert ("degraded" if code == 1 else "unusable") in said.out


def test_the_worst_of_several_devices_decides(doctor: Doctor) -> None:
    doctor.play(script({}, {"power_limit_w": 500}))
    assert doctor().code == 1
    assert doctor("--device", "0").code == 0
    assert doctor("--device", "7").code == 2


def test_what_a_baseline_expects_is_not_abnormal(doctor: Doctor, tmp_path: Path) -> None:
    doctor.play(script({"pcie_width": 8, "power_limit_w": 500}))
    site = tmp_path / "site"
    site.mkdir()
    (site / "h200.json").write_text(
        json.dumps(
            {
                "schema": "bandgate.baseline/1",
                "gpu": {
                    "model": "NVIDIA H200",
                    "aliases": ["NVIDIA H200"],
                    "expect": {"pcie_width": 8, "power_limit_w": 500},
                },
                "entries": [],
            }
        )
    )
    assert doctor().code == 1
    said = doctor("--baselines", str(site))
    assert said.code == 0, said.out + said.err


def test_json(doctor: Doctor) -> None:
    doctor.play(script({"power_limit_w": 500, "temperature_c": ABSENT}))
    said = doctor("--json")
    assert said.code == 1
    document = json.loads(said.out)
    assert document["schema"] == "bandgate.doctor/1"
    (device,) = document["devices"]
    assert device["condition"] == "degraded"
    assert [(f["code"], f["weight"]) for f in device["findings"]] == [
        ("power-limit", "costs-bandwidth")
    ]
    assert device["health"]["idle"]["temperature_c"] == {
        "state": "not-supported",
        "value": None,
        "why": "",
    }
    assert device["device"]["pci_address"] == "0000:01:00.0"


def test_nothing_that_was_not_read_is_printed_as_0(doctor: Doctor) -> None:
    unread = {"state": "unavailable", "why": "nvmlDeviceGetX: unknown error (999)"}
    doctor.play(script(dict.fromkeys(CLEAN, unread)))
    said = doctor()
    assert said.code == 4, said.out
    assert "unknown: nothing could be read" in said.out
    assert not re.search(r"(?<![\w.:-])0(?![\w.:-])", said.out), said.out


def test_without_a_management_library_it_says_so(doctor: Doctor) -> None:
    document = script()
    document["devices"][0]["health"] = {
        "source": "none: libnvidia-ml.so.1: cannot open shared object file",
        "idle": {"pcie_width": 16},
    }
    doctor.play(document)
    said = doctor()
    assert said.code == 4, said.out + said.err
    assert "unknown" in said.out
    assert "libnvidia-ml.so.1: cannot open" in said.out
    marked = doctor("--mark", str(doctor.folder / "mark"))
    assert marked.code == 4
    assert "libnvidia-ml.so.1: cannot open" in marked.err


def test_a_missing_device(bandgate: Bandgate) -> None:
    said = bandgate("doctor", "--backend", f"scripted:{DRILLS / 'missing-gpu.json'}")
    assert said.code == 3
    assert "device-missing" in said.err


def test_a_device_that_does_not_answer(doctor: Doctor) -> None:
    document = script({}, {})
    document["devices"][1]["lost"] = "nvmlDeviceGetHandleByUUID: the GPU is lost (15)"
    doctor.play(document)
    said = doctor()
    assert said.code == 3, said.out + said.err
    assert "gpu0" in said.out
    assert "clean" in said.out
    assert "unusable: does not answer: " in said.out
    assert "nvmlDeviceGetHandleByUUID: the GPU is lost (15)" in said.out


def test_no_device(bandgate: Bandgate) -> None:
    nothing = f"scripted:{DRILLS / 'no-device.json'}"
    assert bandgate("doctor", "--backend", nothing).code == 77
    assert bandgate("doctor", "--backend", nothing, "--strict").code == 4
    cpu = bandgate("doctor", "--backend", "host")
    assert cpu.code == 77
    assert "a CPU has no health" in cpu.out


def test_measure_joins_both(doctor: Doctor) -> None:
    doctor.play(script({"power_limit_w": 500}))
    said = doctor("--measure", "--results", "none")
    assert said.code == 1
    assert "power-limit: " in said.out
    assert re.search(r"\n    PASS +gpu0 read: ", said.out), said.out
    document = json.loads(doctor("--measure", "--results", "none", "--json").out)
    names = {r["probe"]["name"] for r in document["devices"][0]["results"]}
    assert {"read", "write", "copy"} <= names


def shift(mark: Path, **changes: Any) -> None:
    document = json.loads(mark.read_text())
    if "span_s" in changes:
        document["uptime_s"] -= changes.pop("span_s")
    mark.write_text(json.dumps(document | changes))


class TestSince:
    @pytest.fixture
    def mark(self, doctor: Doctor) -> Path:
        file = doctor.folder / "before.mark"
        said = doctor("--mark", str(file))
        assert said.code == 0, said.out + said.err
        assert said.out == f"marked 1 device in {file}\n"
        return file

    def test_nothing_happened(self, doctor: Doctor, mark: Path) -> None:
        said = doctor("--since", str(mark))
        assert said.code == 0, said.out + said.err
        assert "gpu0" in said.out
        assert "nothing happened" in said.out

    def test_thermal_slowdown_and_replays(self, doctor: Doctor, mark: Path) -> None:
        shift(mark, span_s=1200)
        doctor.play(script({"clock_event_hw_thermal_ns": 412e9, "pcie_replays": 3}))
        said = doctor("--since", str(mark))
        assert said.code == 1, said.out + said.err
        assert "412 s of" in said.out
        assert "thermal" in said.out
        assert "3 PCIe replays" in said.out
        document = json.loads(doctor("--since", str(mark), "--json").out)
        assert document["schema"] == "bandgate.since/1"
        assert document["devices"][0]["status"] == "regression"
        assert document["span_s"] == pytest.approx(1200, abs=60)

    def test_less_than_one_percent_is_nothing(self, doctor: Doctor, mark: Path) -> None:
        shift(mark, span_s=1200)
        doctor.play(script({"clock_event_hw_thermal_ns": 11e9}))
        assert doctor("--since", str(mark)).code == 0

    def test_the_power_cap_is_ordinary(self, doctor: Doctor, mark: Path) -> None:
        shift(mark, span_s=1200)
        doctor.play(script({"clock_event_sw_power_cap_ns": 600e9}))
        said = doctor("--since", str(mark))
        assert said.code == 0, said.out
        assert "600 s" in said.out

    def test_counters_that_were_not_read_tell_nothing(self, doctor: Doctor) -> None:
        mark = doctor.folder / "blind.mark"
        doctor.play(script({name: ABSENT for name in CLEAN if name not in ("power_w",)}))
        assert doctor("--mark", str(mark)).code == 0
        said = doctor("--since", str(mark))
        assert said.code == 4, said.out
        assert "cannot tell: no counter could be read" in said.out

    def test_a_counter_without_a_value_is_not_read(self, doctor: Doctor, mark: Path) -> None:
        document = json.loads(mark.read_text())
        idle = document["devices"][0]["health"]["idle"]
        idle["pcie_replays"] = {"state": "ok", "value": None, "why": ""}
        mark.write_text(json.dumps(document))
        doctor.play(script({"pcie_replays": 5}))
        said = doctor("--since", str(mark))
        assert said.code == 0, said.out
        assert "replays" not in said.out.split("not read")[0]

    def test_a_restart_in_between(self, doctor: Doctor, mark: Path) -> None:
        shift(mark, boot_id="another")
        said = doctor("--since", str(mark))
        assert said.code == 4
        assert "started again" in said.out

    def test_counters_that_went_back(self, doctor: Doctor, mark: Path) -> None:
        doctor.play(script({"pcie_replays": 5}))
        assert doctor("--mark", str(mark)).code == 0
        doctor.play(script())
        said = doctor("--since", str(mark))
        assert said.code == 4, said.out
        assert "cannot tell" in said.out

    def test_another_machine(self, doctor: Doctor, mark: Path) -> None:
        shift(mark, host="elsewhere")
        said = doctor("--since", str(mark))
        assert said.code == 4
        assert "another machine, elsewhere" in said.out

    def test_a_device_that_went_away(self, doctor: Doctor) -> None:
        mark = doctor.folder / "two.mark"
        doctor.play(script({}, {}))
        assert doctor("--mark", str(mark)).code == 0
        doctor.play(script({}))
        said = doctor("--since", str(mark))
        assert said.code == 3, said.out
        assert "was there at the mark and is not listed now" in said.out

    def test_a_device_that_came_later(self, doctor: Doctor, mark: Path) -> None:
        doctor.play(script({}, {}))
        said = doctor("--since", str(mark))
        assert said.code == 4
        assert "it is not in the mark" in said.out

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", '{"schema": "bandgate.mark/1"}', "\x00", "null", "1e999"]
    )
    def test_a_bad_mark(self, doctor: Doctor, mark: Path, text: str) -> None:
        mark.write_text(text)
        said = doctor("--since", str(mark))
        assert said.code == 2
        assert str(mark) in said.err

    def test_a_mark_that_is_not_there(self, doctor: Doctor) -> None:
        said = doctor("--since", str(doctor.folder / "no.mark"))
        assert said.code == 2
        assert "no.mark" in said.err

    def test_a_mark_that_cannot_be_written(self, doctor: Doctor) -> None:
        said = doctor("--mark", str(doctor.folder / "no" / "such" / "mark"))
        assert said.code == 2
        assert "cannot be written: No such file" in said.err

    @pytest.mark.parametrize("option", ["--mark", "--since"])
    def test_an_empty_name_is_refused(self, doctor: Doctor, option: str) -> None:
        said = doctor(option, "")
        assert said.code == 2
        assert "need the name of a file" in said.err

    def test_a_mark_replaces_nothing_but_files(self, doctor: Doctor) -> None:
        pipe = doctor.folder / "pipe"
        os.mkfifo(pipe)
        said = doctor("--mark", str(pipe))
        assert said.code == 2
        assert "is not a regular file" in said.err
        assert pipe.is_fifo()
        target, link = doctor.folder / "target", doctor.folder / "link"
        target.write_text("")
        link.symlink_to(target)
        assert doctor("--mark", str(link)).code == 0
        assert link.is_symlink()
        assert "bandgate.mark/1" in target.read_text()

    def test_a_mark_speaks_no_dialect(self, doctor: Doctor, mark: Path) -> None:
        assert doctor("--mark", str(mark), "--json").code == 2
        # Said in words that the asker understands: unknown.
        assert doctor("--mark", str(mark), "--format", "nagios").code == 3

    def test_both_at_once_are_refused(self, doctor: Doctor, mark: Path) -> None:
        assert doctor("--mark", str(mark), "--since", str(mark)).code == 2
        assert doctor("--mark", str(mark), "--measure").code == 2


@pytest.mark.parametrize(
    ("dialect", "code", "begins"),
    [("nagios", 2, "BANDGATE CRITICAL"), ("npd", 1, ""), ("nhc", 1, "bandgate: ")],
)
def test_dialects(doctor: Doctor, dialect: str, code: int, begins: str) -> None:
    doctor.play(script({"power_limit_w": 500}))
    said = doctor("--format", dialect)
    assert said.code == code, said.out + said.err
    assert said.out.startswith(begins) or begins in said.out
    assert "power" in said.out
    assert doctor("--format", "morse").code == 2


def test_a_missing_device_is_named_in_every_dialect(bandgate: Bandgate) -> None:
    drill = f"scripted:{DRILLS / 'missing-gpu.json'}"
    said = bandgate("doctor", "--backend", drill, "--format", "nagios")
    assert said.code == 2
    assert "device-missing" in said.out
    assert "does not list it" in said.out
    assert "device-missing" in bandgate("doctor", "--backend", drill, "--format", "npd").out


def test_a_note_gives_a_monitor_nothing_to_do(bandgate: Bandgate) -> None:
    drill = f"scripted:{DRILLS / 'burn-test-ends.json'}"
    said = bandgate("doctor", "--backend", drill, "--format", "nagios")
    assert said.code == 0
    assert "next:" not in said.out


def test_the_id_of_a_device_names_it(doctor: Doctor) -> None:
    doctor.play(script({}, {"power_limit_w": 500}))
    assert doctor("--device", "gpu0").code == 0
    assert doctor("--device", "gpu1").code == 1
    said = doctor("--device", "gpu7")
    assert said.code == 2
    assert "known are 0 (GPU-" in said.err


def test_nothing_is_measured_and_nothing_stored(doctor: Doctor) -> None:
    doctor()
    assert not doctor.bandgate.results.exists()
