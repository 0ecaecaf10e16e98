# SPDX-License-Identifier: Apache-2.0
"""Transfers on scripted devices: pairs of GPUs, what must not run at once, what a result keeps."""

import copy
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import DRILLS, Bandgate

PEER_PROBES = ("p2p_bidir", "p2p_read", "p2p_write")
Stay = tuple[float, float, frozenset[str], str]


def gpus(folder: Path, count: int, pace: str = "instant", gib_per_s: float = 40) -> Path:
    """A script of so many GPUs on which every probe reads the same rate."""
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    first = script["devices"][0]
    first["probes"] = {"*": {"attempts": [{"unit": "GiB/s", "samples": [gib_per_s]}]}}
    script["pace"] = pace
    script["devices"] = []
    for index in range(count):
        device = copy.deepcopy(first)
        device["identity"]["uuid"] = uuid(index)
        device["identity"]["pci_address"] = f"0000:{0x1B + 0x10 * index:02x}:00.0"
        script["devices"].append(device)
    path = folder / f"{count}-gpus-{pace}.json"
    path.write_text(json.dumps(script))
    return path


def uuid(index: int) -> str:
    return f"GPU-00000000-0000-4000-8000-00000000000{index + 1}"


def pairs(results: list[dict[str, Any]], probe: str) -> list[tuple[str, str]]:
    return sorted(
        (r["device"]["uuid"], r["probe"]["parameters"]["peer"])
        for r in results
        # What is slow for this model is measured twice.
        if r["probe"]["name"] == probe and r["run"]["attempt"] == 1
    )


def test_the_full_suite_takes_every_ordered_pair(bandgate: Bandgate, tmp_path: Path) -> None:
    bandgate.drill(gpus(tmp_path, 3), "check", "--suite", "full", timeout=600)
    every = sorted((uuid(a), uuid(b)) for a in range(3) for b in range(3) if a != b)
    for probe in PEER_PROBES:
        assert pairs(bandgate.stored(), probe) == every, probe


def test_auto_is_the_next_gpu_and_is_recorded_by_its_uuid(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    bandgate.drill(gpus(tmp_path, 3), "run", "p2p_read")
    ring = [(uuid(0), uuid(1)), (uuid(1), uuid(2)), (uuid(2), uuid(0))]
    assert pairs(bandgate.stored(), "p2p_read") == ring


@pytest.mark.parametrize("name", ["1", uuid(1), "0000:2b:00.0"])
def test_a_peer_can_be_named_three_ways(bandgate: Bandgate, tmp_path: Path, name: str) -> None:
    script = gpus(tmp_path, 2)
    outcome = bandgate.drill(script, "run", "p2p_write", f"peer={name}", "--device", "0", "--json")
    assert [r["probe"]["parameters"]["peer"] for r in outcome.records()] == [uuid(1)]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("7", "names no device; for the one at 0000:1b:00.0 there are 1 (" + uuid(1) + ")"),
        ("", "names no device"),
        ("0", "is the device itself (0000:1b:00.0)"),
        (uuid(0), "is the device itself (0000:1b:00.0)"),
    ],
)
def test_a_peer_that_is_none_is_refused(
    bandgate: Bandgate, tmp_path: Path, name: str, why: str
) -> None:
    for command in ("run", "check"):
        outcome = bandgate.drill(
            gpus(tmp_path, 2), command, "p2p_read", f"peer={name}", "--device", "0"
        )
        assert outcome.code == 2, outcome
        assert name == "" or why in outcome.err
    assert bandgate.stored() == []


@pytest.mark.parametrize("peer", ["auto", "each"])
def test_one_gpu_has_no_peer_and_says_so(bandgate: Bandgate, tmp_path: Path, peer: str) -> None:
    outcome = bandgate.drill(gpus(tmp_path, 1), "check", "p2p_read", f"peer={peer}")
    assert outcome.code == 77
    assert "needs two" in outcome.out
    (stored,) = bandgate.stored()
    assert stored["verdict"]["status"] == "skipped"
    assert stored["probe"]["parameters"]["peer"] == "auto"


def test_one_gpu_passes_its_quick_suite_without_a_peer(bandgate: Bandgate, tmp_path: Path) -> None:
    script = gpus(tmp_path, 1)
    recorded = bandgate.drill(
        script, "baseline", "record", "--suite", "quick", "--processes", "3", "--yes", "--to",
        str(tmp_path / "site"), timeout=300,
    )  # fmt: skip
    assert recorded.code == 0, recorded
    assert "left out: gpu0 p2p_read: " in recorded.err
    judged = bandgate.drill(
        script, "check", "--strict", "--baselines", str(tmp_path / "site"), timeout=300
    )
    assert judged.code == 0, judged


def test_a_baseline_holds_for_every_pair(bandgate: Bandgate, tmp_path: Path) -> None:
    script = gpus(tmp_path, 3)
    site = tmp_path / "site"
    recorded = bandgate.drill(
        script, "baseline", "record", "p2p_read", "peer=each", "--processes", "3", "--yes", "--to",
        str(site), timeout=300,
    )  # fmt: skip
    assert recorded.code == 0, recorded
    (file,) = site.iterdir()
    entries = json.loads(file.read_text())["entries"]
    assert [(e["probe"], e["parameters"]) for e in entries] == [("p2p_read", {})]
    assert entries[0]["provenance"]["cards"] == 3
    assert entries[0]["provenance"]["processes"] == 6
    judged = bandgate.drill(script, "check", "p2p_read", "peer=each", "--baselines", str(site))
    assert judged.code == 0, judged
    assert "judged 6 of 6: 6 pass" in judged.out


def test_nothing_applicable_records_nothing(bandgate: Bandgate, tmp_path: Path) -> None:
    outcome = bandgate.drill(
        gpus(tmp_path, 1), "baseline", "record", "p2p_read", "--processes", "3", "--yes", "--to",
        str(tmp_path / "site"),
    )  # fmt: skip
    assert outcome.code == 77, outcome
    assert not (tmp_path / "site").exists()


def stays(bandgate: Bandgate) -> list[Stay]:
    """When each stored attempt ran, and what it loaded."""
    found = []
    for r in bandgate.stored():
        start = datetime.fromisoformat(r["run"]["started"]).timestamp()
        loads = {r["device"]["uuid"]}
        if peer := r["probe"]["parameters"].get("peer"):
            loads.add(peer)
        elif r["probe"]["ceiling"] == "link":
            loads.add("host link")
        # The start is written to the millisecond.
        found.append(
            (start + 0.002, start + r["run"]["duration_s"], frozenset(loads), r["probe"]["name"])
        )
    return found


def test_what_loads_the_same_never_runs_at_once(bandgate: Bandgate, tmp_path: Path) -> None:
    outcome = bandgate.drill(
        gpus(tmp_path, 3, "real"), "run", "h2d", "d2h", "read", "p2p_read", "peer=each",
        timeout=300,
    )  # fmt: skip
    assert outcome.code == 0, outcome
    ran = stays(bandgate)
    assert len(ran) == 3 * (1 + 1 + 1 + 2)
    at_once = [
        (a, b) for i, a in enumerate(ran) for b in ran[:i] if a[0] < b[1] and b[0] < a[1]
    ]  # fmt: skip
    assert [(a, b) for a, b in at_once if a[2] & b[2]] == []
    assert at_once, "nothing ran at once, on three devices"


def test_the_cases_of_ctest_name_the_pair_and_take_all_they_load(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    document = json.loads(bandgate.drill(gpus(tmp_path, 3), "list", "--devices", "--json").out)
    cases = {c["name"]: c for c in document["cases"]}
    names = [n for n in cases if n.startswith("bandgate.gpu1.p2p_write")]
    assert sorted(names) == [f"bandgate.gpu1.p2p_write.peer-gpu{i}" for i in (0, 2)]
    case = cases["bandgate.gpu1.p2p_write.peer-gpu2"]
    assert case["resources"] == ["gpu1", "gpu2"]
    assert case["labels"] == ["bandgate", "scripted", "full", "link"]
    assert case["arguments"][:3] == ["check", "p2p_write", f"peer={uuid(2)}"]
    # Of the quick suite's peer, which the full one has too, one case.
    assert "quick" in cases["bandgate.gpu2.p2p_read.peer-gpu0"]["labels"]
    assert "quick" not in cases["bandgate.gpu2.p2p_read.peer-gpu1"]["labels"]
    for name in ("h2d", "d2h", "host_bidir", "h2d.size-64MiB", "d2h.engine-sm"):
        assert cases[f"bandgate.gpu0.{name}"]["resources"] == ["gpu0", "hostlink"], name
    assert not any("pageable" in name for name in cases)


def test_one_gpu_has_no_case_for_a_peer(bandgate: Bandgate, tmp_path: Path) -> None:
    document = json.loads(bandgate.drill(gpus(tmp_path, 1), "list", "--devices", "--json").out)
    names = [case["name"] for case in document["cases"]]
    assert "bandgate.gpu0.read" in names
    assert not any("p2p" in name for name in names)


def test_both_directions_at_once_are_held_against_twice_the_link(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    # Under load the script's link is of generation 5 with 16 lanes: 58.7 GiB/s a direction.
    path = gpus(tmp_path, 1, gib_per_s=90)
    bandgate.drill(path, "check", "host_bidir", "h2d", "engine=sm")
    by_probe = {r["probe"]["name"]: r for r in bandgate.stored()}
    assert by_probe["host_bidir"]["verdict"]["status"] == "no-baseline"
    assert by_probe["host_bidir"]["probe"]["directions"] == 2
    assert by_probe["h2d"]["verdict"]["status"] == "error"
    assert by_probe["h2d"]["verdict"]["reasons"][0]["code"] == "above-ceiling"
