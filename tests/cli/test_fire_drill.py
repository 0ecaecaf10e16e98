# SPDX-License-Identifier: Apache-2.0
"""Every exit code that docs/fire-drill.md promises of its scripts."""

import json
import re
from datetime import datetime, timedelta

import pytest
from conftest import ROOT, Bandgate

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
