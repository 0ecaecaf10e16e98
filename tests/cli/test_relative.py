# SPDX-License-Identifier: Apache-2.0
"""Entries that are relative to another probe of the same process."""

import json
from pathlib import Path

import pytest
from conftest import DRILLS, Bandgate, Outcome


def site(bandgate: Bandgate, value: float, more: dict[str, object] | None = None) -> Path:
    """A generic file: one entry for every model."""
    entry = {
        "probe": "read",
        "relative_to": "copy",
        "value": value,
        "tolerance": {"lower": -0.02, "upper": 0.02},
        "provenance": {"kind": "measured"},
    }
    folder = bandgate.home / "site"
    folder.mkdir(exist_ok=True)
    (folder / "_generic.json").write_text(
        json.dumps(
            {
                "schema": "bandgate.baseline/1",
                "gpu": {"model": "every model"},
                "entries": [entry | (more or {})],
            }
        )
    )
    return folder


@pytest.fixture
def fictional(bandgate: Bandgate) -> Path:
    """A device that no shipped file knows; it reads 1.25 times as fast as it copies."""
    document = json.loads((DRILLS / "healthy-h200.json").read_text())
    (device,) = document["devices"]
    device["identity"] |= {"name": "Acme X1", "pci_device": "aaaa:0001"}
    del device["identity"]["pci_subsystem"], device["identity"]["board_part"]
    for probe, rate in (("read", 4000.0), ("copy", 3200.0)):
        device["probes"][probe] = {"attempts": [{"unit": "GB/s", "samples": [rate] * 5}]}
    script = bandgate.home / "script.json"
    script.write_text(json.dumps(document))
    return script


def check(bandgate: Bandgate, script: Path, folder: Path, *more: str) -> Outcome:
    words = ("check", "read", "--baselines", str(folder), *more)
    return bandgate.drill(script, *words)


def test_the_other_probe_is_measured_too_and_decides(bandgate: Bandgate, fictional: Path) -> None:
    outcome = check(bandgate, fictional, site(bandgate, 1.25), "--json")
    assert outcome.code == 0, outcome
    (result,) = outcome.records()
    more = {m["name"]: m["value"] for m in result["measurement"]["more"]}
    assert more["copy"] == pytest.approx(3200e9, rel=1e-6)
    assert more["ratio to copy"] == pytest.approx(1.25, rel=1e-6)
    (applied,) = result["verdict"]["baselines"]
    assert applied["entry"] == "/entries/0"
    assert applied["reference"] == pytest.approx(4000e9, rel=1e-6)
    assert applied["lower"] == pytest.approx(3920e9, rel=1e-6)
    assert [r["code"] for r in result["verdict"]["reasons"]] == []


def test_the_verdict_says_what_its_bounds_follow_from(bandgate: Bandgate, fictional: Path) -> None:
    outcome = check(bandgate, fictional, site(bandgate, 1.25))
    assert outcome.out.splitlines()[1] == (
        "  note:  125.00 % of copy, which the same process measured at 2980.2 GiB/s"
    )
    slow = check(bandgate, fictional, site(bandgate, 1.30))
    assert slow.code == 1, slow
    assert slow.out.startswith("REGRESSION")
    assert "96.2 % of reference 3874.3 GiB/s" in slow.out


def test_a_model_entry_asks_for_nothing_else(bandgate: Bandgate, fictional: Path) -> None:
    outcome = bandgate.drill(fictional, "check", "write", "--json")
    (result,) = outcome.records()
    assert result["measurement"]["more"] == []


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"relative_to": "saxpy"}, '/entries/0/relative_to: this program has no probe "saxpy"'),
        ({"relative_to": "read"}, "/entries/0/relative_to: is the probe itself"),
        ({"value": -1}, "/entries/0/value: -1 is not above 0"),
        ({"relative_to": "launch"}, "/entries/0/relative_to: launch is a time"),
    ],
)
def test_a_bad_entry_is_an_error(bandgate: Bandgate, entry: dict[str, object], words: str) -> None:
    folder = site(bandgate, 1.0, entry)
    outcome = bandgate.drill("healthy-h200", "check", "read", "--baselines", str(folder))
    assert outcome.code == 2, outcome
    assert words in outcome.err
