# SPDX-License-Identifier: Apache-2.0
"""What `bandgate check` does about others on its device, on scripted devices."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import DRILLS, Bandgate


def health_of(folder: Path, **health: Any) -> Path:
    """A healthy H200 whose health says, besides, what is given."""
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    device = script["devices"][0]["health"]
    for name, value in health.items():
        device[name] = device[name] | value if isinstance(value, dict) else value
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    return path


def burn(**more: Any) -> dict[str, Any]:
    return {"pid": 4711, "name": "burn-test", "memory_bytes": 64 << 20, "active": True} | more


def test_a_burn_test_that_ends_is_waited_for(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("burn-test-ends")
    assert outcome.code == 0, outcome
    assert bandgate.stored()[-1]["health"]["processes"] == []


def test_one_that_does_not_end_is_named_and_nothing_is_measured(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("contended")
    assert outcome.code == 4, outcome
    (stored,) = bandgate.stored()
    assert stored["verdict"]["status"] == "inconclusive"
    assert stored["failure"]["code"] == "contended"
    assert stored["measurement"] is None
    for word in ("4242", "python3", "waiting 5 s", "--wait-idle", "--allow-contention"):
        assert word in stored["failure"]["message"], word
    assert stored["device"]["uuid"] in stored["failure"]["message"]
    assert stored["device"]["pci_address"] in stored["failure"]["message"]


@pytest.mark.parametrize(("wait", "code"), [("0s", 4), ("1500ms", 4), ("4s", 0), ("10m", 0)])
def test_how_long_is_said(bandgate: Bandgate, tmp_path: Path, wait: str, code: int) -> None:
    script = health_of(tmp_path, processes=[burn(ends_after_s=3)])
    outcome = bandgate.drill(script, "check", "read", "--wait-idle", wait)
    assert outcome.code == code, outcome


def test_others_are_waited_for_in_vain_once_a_device(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("contended", "check", "read", "write", "copy", "--wait-idle", "30m")
    assert outcome.code == 4, outcome
    messages = [stored["failure"]["message"] for stored in bandgate.stored()]
    assert sum("nothing was measured after waiting 1800 s" in m for m in messages) == 1, messages
    # The utilization that the probe before left behind is gone by then.
    assert sum("nothing was measured after waiting 2 s" in m for m in messages) == 2, messages


def test_the_other_end_of_a_transfer_must_be_idle_too(bandgate: Bandgate, tmp_path: Path) -> None:
    script = json.loads((DRILLS / "two-gpus.json").read_text())
    script["devices"][1]["health"]["processes"] = [burn()]
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script))
    ask = ("check", "p2p_read", "--device", "0")
    outcome = bandgate.drill(path, *ask)
    assert outcome.code == 4, outcome
    (stored,) = bandgate.stored()
    busy = script["devices"][1]["identity"]["uuid"]
    assert f"{busy} at " in stored["failure"]["message"], stored["failure"]
    assert "is in use: process 4711 (burn-test)" in stored["failure"]["message"]
    assert bandgate.drill(path, "check", "read", "--device", "0").code == 0
    beside = bandgate.drill(path, *ask, "--allow-contention")
    assert beside.code == 4, beside
    assert "measured beside others: process 4711" in beside.out


@pytest.mark.parametrize("wait", ["", "-1s", "soon", "2d"])
def test_a_time_that_is_none_is_refused(bandgate: Bandgate, wait: str) -> None:
    outcome = bandgate.drill("healthy-h200", "check", "read", "--wait-idle", wait)
    assert outcome.code == 2, outcome


def test_beside_others_is_measured_recorded_and_not_judged(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("contended", "check", "read", "--allow-contention")
    assert outcome.code == 4, outcome
    (stored,) = bandgate.stored()
    assert stored["measurement"]["median"] > 0
    assert stored["verdict"]["status"] == "inconclusive"
    assert stored["notes"][0].startswith("measured beside others: process 4242 (python3)")
    (process,) = stored["health"]["processes"]
    assert (process["pid"], process["active"]) == (4242, True)


def test_both_options_wait_and_then_measure(bandgate: Bandgate, tmp_path: Path) -> None:
    script = health_of(tmp_path, processes=[burn(ends_after_s=3)])
    both = ("--allow-contention", "--wait-idle")
    assert bandgate.drill(script, "check", "read", *both, "5s").code == 0
    assert bandgate.drill(script, "check", "read", *both, "0s").code == 4


def test_who_comes_in_the_middle_is_seen(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("contended-meanwhile")
    assert outcome.code == 4, outcome
    stored = bandgate.stored()[-1]
    assert stored["failure"] is None
    assert stored["health"]["processes"][0]["pid"] == 31337


def test_a_busy_device_without_a_visible_process_is_contended(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("busy-hidden")
    assert outcome.code == 4, outcome
    message = bandgate.stored()[-1]["failure"]["message"]
    assert "busy to 97 %" in message
    assert "container" in message


def test_idle_contexts_and_mps_servers_are_notes(bandgate: Bandgate, tmp_path: Path) -> None:
    others = [
        burn(active=False),
        burn(pid=9, name="/usr/bin/nvidia-cuda-mps-server"),
    ]
    script = health_of(tmp_path, processes=others)
    outcome = bandgate.drill(script)
    assert outcome.code == 0, outcome
    assert [p["active"] for p in bandgate.stored()[-1]["health"]["processes"]] == [False, False]


def test_not_knowing_refuses_nothing(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("no-nvml")
    assert outcome.code == 0, outcome
    health = bandgate.stored()[-1]["health"]
    assert health["source"].startswith("none: libnvidia-ml.so.1: cannot open")
    busy = health["idle"]["gpu_utilization_percent"]
    assert busy["state"] == "unavailable"
    assert busy["value"] is None


def test_no_baseline_is_recorded_beside_others(bandgate: Bandgate, tmp_path: Path) -> None:
    to = tmp_path / "to"
    outcome = bandgate.drill(
        "contended", "baseline", "record", "read", "--processes", "3", "--to", str(to), "--yes"
    )
    assert outcome.code == 4, outcome
    assert "4242" in outcome.err
    assert not list(to.glob("*.json"))


def test_baseline_record_knows_no_option_to_measure_beside_others(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("contended", "baseline", "record", "read", "--allow-contention")
    assert outcome.code == 2, outcome


def test_the_wait_comes_on_top_of_the_time_limit(bandgate: Bandgate, tmp_path: Path) -> None:
    """At real pace: the others end after two seconds, the limit is one and a half."""
    script = json.loads(health_of(tmp_path, processes=[burn(ends_after_s=2)]).read_text())
    script["pace"] = "real"
    path = tmp_path / "real.json"
    path.write_text(json.dumps(script))
    outcome = bandgate.drill(path, "check", "read", "--time-limit", "60s", "--wait-idle", "10s")
    assert outcome.code == 0, outcome
    start = time.monotonic()
    outcome = bandgate.drill(path, "run", "read", "--wait-idle", "100ms")
    assert outcome.code == 3, outcome  # `run` judges nothing: it could not measure
    assert time.monotonic() - start < 60


def test_run_measures_beside_others_when_told(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("contended", "run", "read", "--allow-contention")
    assert outcome.code == 0, outcome
    assert bandgate.stored()[-1]["verdict"]["status"] == "measured"
