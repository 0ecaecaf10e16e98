# SPDX-License-Identifier: Apache-2.0
"""Every exit code that docs/fire-drill.md promises of its scripts."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from conftest import DRILLS, ROOT, Bandgate

SCRIPT = r"^\| `(?P<script>[a-z0-9-]+)\.json` \|"
PROBE = r"(?: `(?P<probe>\w+)` \|)?"
LINE = re.compile(SCRIPT + PROBE + r" .* \| (?P<code>\d+) \|$")
HANGS = {"hang", "two-gpus-one-hangs"}


def promised() -> list[tuple[str, str, int]]:
    """(script, probe, exit code) of each line of the tables."""
    page = (ROOT / "docs" / "fire-drill.md").read_text(encoding="utf-8")
    found = [LINE.match(line) for line in page.splitlines()]
    return [(m["script"], m["probe"] or "read", int(m["code"])) for m in found if m]


def test_the_page_has_a_table() -> None:
    assert len(promised()) == len(list((ROOT / "docs/examples/fire-drill").glob("*.json")))


@pytest.mark.parametrize(("script", "probe", "code"), promised())
def test_a_drill_ends_as_promised(bandgate: Bandgate, script: str, probe: str, code: int) -> None:
    limit = ["--time-limit", "3s"] if script in HANGS else []
    outcome = bandgate.drill(script, "check", probe, *limit)
    assert outcome.code == code, outcome


@pytest.mark.parametrize(
    ("script", "cases", "skipped"),
    [
        ("healthy-h200", 30, 3),
        ("power-cap-normal", 30, 3),
        ("memory-clock-zero", 30, 3),
        ("two-gpus", 60, 0),
    ],
)
def test_a_healthy_card_passes_the_full_suite(
    bandgate: Bandgate, tmp_path: Path, script: str, cases: int, skipped: int
) -> None:
    """What the first step of a rehearsal is; p2p needs a second card."""
    document = json.loads((DRILLS / f"{script}.json").read_text())
    fast = tmp_path / f"{script}.json"
    fast.write_text(json.dumps(document | {"pace": "instant"}))
    words = ("check", "--suite", "full", "--strict", "--json", "--results", "none")
    outcome = bandgate.drill(fast, *words)
    assert outcome.code == 0, outcome
    said = [(r["probe"]["name"], r["verdict"]["status"]) for r in outcome.records()]
    assert len(said) == cases
    left = [(name, status) for name, status in said if status != "pass"]
    assert len(left) == skipped
    assert all(name.startswith("p2p_") and status == "skipped" for name, status in left), left


@pytest.mark.parametrize("script", sorted(p.stem for p in DRILLS.glob("*.json")))
def test_a_drill_leaves_no_usual_field_of_the_health_out(script: str) -> None:
    """Or the doctor says of half of them that they were not read."""
    usual = json.loads((DRILLS / "healthy-h200.json").read_text())["devices"][0]["health"]
    for device in json.loads((DRILLS / f"{script}.json").read_text())["devices"]:
        for part in ("idle", "load", "change"):
            assert set(device["health"][part]) >= set(usual[part])


@pytest.mark.parametrize(
    ("script", "probe", "cause"),
    [
        ("power-cap-slow", "read", "power cap"),
        ("power-brake", "read", "power brake"),
        ("memory-clock-low", "read", "memory clock under load was 2619 MHz"),
        ("row-remap-pending", "read", "remapping of memory rows is pending"),
        ("ecc-off", "read", "ECC is off here"),
        ("unknown-clock-event", "read", "0x1000"),
        ("pcie-x8", "h2d", "x8 of 16"),
        ("pcie-generation-2", "h2d", "2 of 5"),
        ("nvlink-down", "p2p_read", "16 of 18"),
    ],
)
def test_a_loss_is_named(bandgate: Bandgate, script: str, probe: str, cause: str) -> None:
    outcome = bandgate.drill(script, "check", probe)
    (line,) = [line for line in outcome.out.splitlines() if cause in line]
    assert line.strip().startswith("cause: ")


def test_a_job_between_two_looks(bandgate: Bandgate, tmp_path: Path) -> None:
    mark = str(tmp_path / "job.mark")
    assert bandgate.drill("job-before", "doctor", "--mark", mark).code == 0
    assert bandgate.drill("job-before", "doctor", "--since", mark).code == 0
    outcome = bandgate.drill("job-after", "doctor", "--since", mark)
    assert outcome.code == 1
    harms = [line for line in outcome.out.splitlines() if line.startswith("  HARM")]
    assert len(harms) == 2
    assert harms[0].startswith("  HARM  hw-thermal: 412 s of hardware thermal slowdown (100 % of ")
    assert harms[1] == "  HARM  pcie-replays: 3 PCIe replays"


def test_who_holds_the_memory_is_named(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("out-of-memory")
    assert "the free memory holds 1 buffers of 102MiB" in outcome.out
    assert "idle: process 4242 (python3), 139.7 GiB" in outcome.out


def test_slices_of_a_card_are_measured_one_at_a_time(bandgate: Bandgate) -> None:
    """At real pace, so that two at once would overlap."""
    assert bandgate.drill("mig-slices").code == 77  # no baseline for such a slice
    first, second = bandgate.stored()
    assert {first["device"]["uuid"][-1], second["device"]["uuid"][-1]} == {"1", "2"}
    assert first["device"]["mig_parent"] == second["device"]["mig_parent"]
    begin, next_begin = (datetime.fromisoformat(r["run"]["started"]) for r in (first, second))
    assert next_begin >= begin + timedelta(seconds=first["run"]["duration_s"] - 0.002)


def test_slices_are_one_resource_of_ctest(bandgate: Bandgate) -> None:
    cases = json.loads(bandgate.drill("mig-slices", "list", "--devices", "--json").out)["cases"]
    reads = {c["name"]: c["resources"] for c in cases if c["probe"] == "read"}
    assert reads == {"bandgate.gpu0.read": ["gpu0"], "bandgate.gpu1.read": ["gpu0"]}
    assert not [c for c in cases if c["probe"].startswith("p2p")]
