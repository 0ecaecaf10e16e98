# SPDX-License-Identifier: Apache-2.0
"""Every cause that a health table can show, on scripted devices: named, with the right exit code.

The bound decides, the cause explains: the same finding beside normal bandwidth is a note.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import DRILLS, Bandgate, Outcome

NORMAL = {"read": 4302.0, "h2d": 51.6}
SLOW = {"read": 3441.6, "h2d": 6.0}  # 20 % slow; a link that lost most of its speed
BASELINE = {
    "schema": "bandgate.baseline/1",
    "gpu": {
        "model": "NVIDIA H200",
        "match": [{"pci_device": "10de:2335", "pci_subsystem": "10de:18bf"}],
        "memory_gib": 141,
        "peak_gb_s": 4814.3,
        "ecc": "on",
    },
    "entries": [
        {
            "probe": name,
            "unit": "GiB/s",
            "value": value,
            "tolerance": {"lower": -0.05, "upper": 0.05},
            "provenance": {"kind": "measured", "cards": 1, "processes": 10},
        }
        for name, value in NORMAL.items()
    ],
}
# What a healthy card says of itself; not all that there is.
IDLE: dict[str, Any] = {
    "clock_event_reasons": 1,
    "memory_clock_max_mhz": 3201,
    "pcie_generation": 1,
    "pcie_generation_max": 5,
    "pcie_width": 16,
    "pcie_width_max": 16,
    "power_limit_w": 700,
    "power_limit_default_w": 700,
    "temperature_c": 36,
    "temperature_slowdown_c": 92,
    "row_remap_pending": False,
    "row_remap_failure": False,
    "ecc_enabled": True,
    "ecc_uncorrected_volatile": 0,
    "gpu_utilization_percent": 0,
}
LOAD: dict[str, Any] = IDLE | {
    "clock_event_reasons": 0,
    "memory_clock_mhz": 3201,
    "pcie_generation": 5,
    "temperature_c": 61,
    "gpu_utilization_percent": 100,
}


def write(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document))
    return path


def device(gib_per_s: dict[str, float], health: dict[str, Any]) -> dict[str, Any]:
    """The scripted H200 with that bandwidth and that to say of itself."""
    found: dict[str, Any] = json.loads((DRILLS / "healthy-h200.json").read_text())["devices"][0]
    found["probes"] = {
        name: {"attempts": [{"unit": "GiB/s", "samples": [value]}]}
        for name, value in gib_per_s.items()
    }
    found["health"] = health
    return found


def check(
    bandgate: Bandgate,
    probe: str,
    made: dict[str, Any],
    *options: str,
    expect: dict[str, Any] | None = None,
) -> Outcome:
    folder = bandgate.home / "site"
    folder.mkdir(exist_ok=True)
    gpu = BASELINE["gpu"]
    assert isinstance(gpu, dict)
    write(folder / "h200.json", BASELINE | {"gpu": gpu | ({"expect": expect} if expect else {})})
    script = write(bandgate.home / "s.json", {"schema": "bandgate.scripted/1", "devices": [made]})
    words = ("check", probe, "--baselines", str(folder), *options)
    return bandgate(*words, "--backend", f"scripted:{script}")


def health(load: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"idle": IDLE, "load": LOAD | (load or {})} | more


def reasons(bandgate: Bandgate) -> list[str]:
    return [r["code"] for r in bandgate.stored()[-1]["verdict"]["reasons"]]


HEAT = "the hardware slowed the clocks under load because of heat (clock event 0x40)"
BRAKE = "the external power brake slowed the clocks under load (clock event 0x80)"
CAP = "the power cap slowed the clocks under load (clock event 0x4)"
UNKNOWN = "a clock event that this version does not know was active under load (clock event "

# probe, load, what is first among the causes, its sentence
CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("read", {"clock_event_reasons": 0x4}, "power-cap", CAP),
    ("read", {"clock_event_reasons": 0x80}, "power-brake", BRAKE),
    ("read", {"clock_event_reasons": 0x8 | 0x40}, "hw-thermal", HEAT),
    (
        "read",
        {"clock_event_reasons": 0x8},
        "hw-slowdown",
        "the hardware slowed the clocks under load: heat, power brake or a fast drop of the supply",
    ),
    (
        "read",
        {"clock_event_reasons": 0x20},
        "sw-thermal",
        "the driver slowed the clocks under load because of heat (clock event 0x20)",
    ),
    ("read", {"clock_event_reasons": 0x400000}, "unknown-clock-event", UNKNOWN + "0x400000)"),
    (
        "read",
        {"temperature_c": 93},
        "gpu-temperature",
        "the GPU is at 93 C, and the hardware slows down at 92 C",
    ),
    (
        "read",
        {"power_limit_w": 350},
        "power-limit",
        "the power limit is below its default: 350 W of 700 W",
    ),
    (
        "read",
        {"memory_clock_mhz": 1593},
        "memory-clock",
        "the memory clock under load was 1593 MHz of 3201 MHz",
    ),
    (
        "read",
        {"row_remap_pending": True},
        "row-remap-pending",
        "a remapping of memory rows is pending",
    ),
    (
        "read",
        {"ecc_uncorrected_volatile": 2},
        "ecc-uncorrected",
        "uncorrected ECC errors since the last restart: 2",
    ),
    (
        "h2d",
        {"pcie_generation": 2},
        "pcie-generation",
        "the PCIe generation under load was 2 of 5",
    ),
    ("h2d", {"pcie_width": 8}, "pcie-width", "the PCIe width under load was x8 of 16 lanes"),
]
# A link of generation 2 or eight lanes cannot carry the normal bandwidth.
BESIDE_NORMAL = [case for case in CASES if case[0] == "read"]


def names(cases: list[tuple[str, dict[str, Any], str, str]]) -> list[str]:
    return [f"{probe}-{code}" for probe, _, code, _ in cases]


@pytest.mark.parametrize(("probe", "load", "code", "sentence"), CASES, ids=names(CASES))
def test_a_loss_names_its_cause_in_the_second_line(
    bandgate: Bandgate, probe: str, load: dict[str, Any], code: str, sentence: str
) -> None:
    outcome = check(bandgate, probe, device(SLOW, health(load)))
    assert outcome.code == 1, outcome
    lines = outcome.out.splitlines()
    assert lines[0].startswith("REGRESSION"), outcome.out
    assert lines[1].startswith(f"  cause: {sentence}"), outcome.out
    assert reasons(bandgate)[:2] == ["below-bound", code]
    assert bandgate.stored()[-1]["verdict"]["next_step"]
    assert "no cause found" not in outcome.out


@pytest.mark.parametrize(
    ("probe", "load", "code", "sentence"), BESIDE_NORMAL, ids=names(BESIDE_NORMAL)
)
def test_the_same_beside_normal_bandwidth_is_a_note(
    bandgate: Bandgate, probe: str, load: dict[str, Any], code: str, sentence: str
) -> None:
    outcome = check(bandgate, probe, device(NORMAL, health(load)))
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("PASS")
    verdict = bandgate.stored()[0]["verdict"]
    assert verdict["status"] == "pass"
    assert verdict["reasons"][0]["code"] == code
    assert verdict["reasons"][0]["sentence"].startswith(sentence)


@pytest.mark.parametrize(
    ("counter", "code", "sentence"),
    [
        ("hw_thermal", "hw-thermal", "the hardware slowed the clocks for {} because of heat"),
        ("sw_thermal", "sw-thermal", "the driver slowed the clocks for {} because of heat"),
        ("power_brake", "power-brake", "the external power brake slowed the clocks for {}"),
        ("sw_power_cap", "power-cap", "the power cap slowed the clocks for {}"),
    ],
)
def test_counters_say_for_how_much_of_the_sampling(
    bandgate: Bandgate, counter: str, code: str, sentence: str
) -> None:
    change = {f"clock_event_{counter}_ns": 3600e9}  # more than any sampling lasts
    outcome = check(bandgate, "read", device(SLOW, health(change=change)))
    assert outcome.code == 1
    assert outcome.out.splitlines()[1] == "  cause: " + sentence.format("100 % of the sampling")
    assert reasons(bandgate) == ["below-bound", code, "confirmed"]


def test_a_counter_that_hardly_moved_is_no_cause(bandgate: Bandgate) -> None:
    change = {"clock_event_hw_thermal_ns": 1000}
    outcome = check(bandgate, "read", device(SLOW, health(change=change)))
    assert outcome.code == 1
    assert reasons(bandgate) == ["below-bound", "no-cause-found", "confirmed"]


def test_no_cause_says_what_was_looked_at(bandgate: Bandgate) -> None:
    outcome = check(bandgate, "read", device(SLOW, health()))
    assert outcome.code == 1
    line = outcome.out.splitlines()[1]
    assert line == (
        "  cause: no cause found; looked at and in order: clock events, temperature limits, "
        "power limit, memory clock, memory repairs, ECC, other processes; could not be read: "
        "nothing (health: scripted)"
    )
    assert len(line) <= 300


def test_idle_bits_and_generation_1_at_rest_are_silent(bandgate: Bandgate) -> None:
    for probe in NORMAL:
        outcome = check(bandgate, probe, device(NORMAL, health({"clock_event_reasons": 0x1})))
        assert outcome.code == 0, outcome
        assert reasons(bandgate) == []


def test_the_link_says_nothing_of_the_memory(bandgate: Bandgate) -> None:
    slow_link = {"pcie_generation": 2, "pcie_width": 8}
    assert check(bandgate, "read", device(SLOW, health(slow_link))).code == 1
    assert "no-cause-found" in reasons(bandgate)


def test_what_a_platform_has_by_design_is_silent(bandgate: Bandgate) -> None:
    design = {"pcie_width": 8, "pcie_generation": 4, "power_limit_w": 500, "ecc": "on"}
    load = {"pcie_width": 8, "pcie_generation": 4, "power_limit_w": 500}
    # It moves no bound: the entry still wants 51.6 GiB/s.
    outcome = check(bandgate, "h2d", device(SLOW, health(load)), expect=design)
    assert outcome.code == 1
    assert outcome.out.splitlines()[1:3] == [
        "  cause: x8 is expected here of 16 lanes: the reference may be that of a wider link; "
        "PCIe generation 4 is expected here of 5: the reference may be that of a faster link",
        "  next:  Record an entry for this platform: `bandgate baseline record h2d` with "
        "the same parameters.",
    ]
    assert reasons(bandgate) == ["below-bound", "expected-platform", "confirmed"]
    worse = health(load | {"pcie_width": 4, "power_limit_w": 450})
    outcome = check(bandgate, "h2d", device({"h2d": 5.0}, worse), expect=design)
    assert outcome.out.splitlines()[1] == (
        "  cause: the PCIe width under load was x4 of the expected 8 lanes; the power limit is "
        "below what is expected: 450 W of 500 W"
    )


def test_more_than_the_link_can_carry_is_an_error(bandgate: Bandgate) -> None:
    outcome = check(bandgate, "h2d", device(NORMAL, health({"pcie_width": 8})))
    assert outcome.code == 3
    assert reasons(bandgate)[0] == "above-ceiling"


NOT_SUPPORTED = {"state": "not-supported"}
UNAVAILABLE = {"state": "unavailable", "why": "the library failed half-way: unknown error 999"}


@pytest.mark.parametrize("field", [NOT_SUPPORTED, UNAVAILABLE, None], ids=["none", "why", "absent"])
@pytest.mark.parametrize(("speed", "code"), [(NORMAL, 0), (SLOW, 1)], ids=["normal", "slow"])
def test_health_that_cannot_be_read_changes_no_verdict(
    bandgate: Bandgate, field: dict[str, str] | None, speed: dict[str, float], code: int
) -> None:
    for probe in NORMAL:
        full = check(bandgate, probe, device(speed, health()))
        unread = dict.fromkeys(LOAD, field) if field else {}
        seen = {"idle": unread, "load": unread, "change": unread}
        outcome = check(bandgate, probe, device(speed, seen))
        assert (outcome.code, full.code) == (code, code), outcome
        assert outcome.out.splitlines()[0] == full.out.splitlines()[0]
        last, before = bandgate.stored()[-1]["verdict"], bandgate.stored()[0]["verdict"]
        assert last["status"] == before["status"]
        for snapshot in ("idle", "load", "change"):
            for value in bandgate.stored()[-1]["health"][snapshot].values():
                assert "value" not in value or value["value"] is None, value
        if code == 1:
            line = outcome.out.splitlines()[1]
            assert "could not be read: " in line
            assert "clock events" in line.split("could not be read: ")[1]
            assert len(line) <= 300
        for path in bandgate.results.rglob("*.json"):
            path.unlink()


def test_a_memory_clock_of_0_is_not_known(bandgate: Bandgate) -> None:
    made = device(NORMAL, health({"memory_clock_mhz": 0}))
    made["identity"]["memory_clock_mhz"] = 0
    outcome = check(bandgate, "read", made)
    assert outcome.code == 0, outcome
    result = bandgate.stored()[0]
    assert result["device"]["peak_bytes_per_second"] is None
    assert result["verdict"]["reasons"] == []
    made["probes"]["read"]["attempts"][0]["samples"] = [SLOW["read"]]
    slow = check(bandgate, "read", made)
    assert slow.code == 1
    assert "0 MHz" not in slow.out
    assert "could not be read: memory clock (health: scripted)" in slow.out


def test_an_ecc_state_that_is_not_the_baselines(bandgate: Bandgate) -> None:
    made = device(SLOW, health({"ecc_enabled": False}))
    del made["identity"]["ecc"]  # else the file is for another card
    outcome = check(bandgate, "read", made)
    assert outcome.code == 1
    assert outcome.out.splitlines()[1] == "  cause: ECC is off here, on in the baseline"


TRAIN = {"pid": 4242, "name": "train.py", "memory_bytes": 3 << 30, "active": True}


def test_another_process_makes_it_inconclusive(bandgate: Bandgate) -> None:
    outcome = check(bandgate, "read", device(SLOW, health(processes=[TRAIN])))
    assert outcome.code == 4, outcome
    assert "4242" in outcome.out.splitlines()[1]
    assert "train.py" in outcome.out.splitlines()[1]
    assert "--wait-idle" in outcome.out.splitlines()[2]
    assert "--allow-contention" in outcome.out.splitlines()[2]


@pytest.mark.parametrize("speed", [NORMAL, SLOW], ids=["normal", "slow"])
def test_measured_beside_others_is_never_judged(
    bandgate: Bandgate, speed: dict[str, float]
) -> None:
    made = device(speed, health(processes=[TRAIN]))
    outcome = check(bandgate, "read", made, "--allow-contention")
    assert outcome.code == 4, outcome
    assert reasons(bandgate)[0] == "contended"
    assert bandgate.stored()[-1]["measurement"]["median"] > 0


def test_others_that_are_not_visible_are_others_all_the_same(bandgate: Bandgate) -> None:
    busy = health()
    busy["idle"] = IDLE | {"gpu_utilization_percent": 37}
    outcome = check(bandgate, "read", device(NORMAL, busy), "--allow-contention")
    assert outcome.code == 4, outcome
    assert "37 %" in outcome.out.splitlines()[1]


@pytest.mark.parametrize(
    ("name", "code"), [("jupyter", "other-process"), ("nvidia-cuda-mps-server", "mps-server")]
)
def test_who_only_holds_the_device_is_a_note(bandgate: Bandgate, name: str, code: str) -> None:
    idle = {"pid": 99, "name": name, "memory_bytes": None, "active": False}
    outcome = check(bandgate, "read", device(NORMAL, health(processes=[idle])))
    assert outcome.code == 0, outcome
    assert reasons(bandgate) == [code]


def test_a_card_that_always_throttles_ends_with_its_cause(bandgate: Bandgate) -> None:
    made = device(SLOW, health({"clock_event_reasons": 0x60}))
    falling = [4000 - 150 * i for i in range(12)]
    made["probes"]["read"]["attempts"][0]["samples"] = falling
    outcome = check(bandgate, "read", made)
    assert outcome.code == 1, outcome
    assert outcome.out.splitlines()[1].startswith("  cause: " + HEAT)
    assert "NaN" not in json.dumps(bandgate.stored())
