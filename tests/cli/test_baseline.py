# SPDX-License-Identifier: Apache-2.0
"""`bandgate baseline`: recording, checking, showing, comparing."""

import json
import subprocess
from pathlib import Path

from conftest import DRILLS, Bandgate, Outcome

H200 = f"scripted:{DRILLS}/healthy-h200.json"


def site(bandgate: Bandgate) -> Path:
    return bandgate.home / "config" / "bandgate" / "baselines"


def to(bandgate: Bandgate) -> tuple[str, str]:
    """Scripted devices are recorded only where somebody says so."""
    return "--to", str(site(bandgate))


def test_record_then_check_judges(bandgate: Bandgate) -> None:
    words: tuple[str, ...] = ("baseline", "record", "read", "copy", "--backend", H200)
    words = (*words, "--processes", "3")
    drill = bandgate(*words, "--yes")
    assert drill.code == 2
    assert "fire drill" in drill.err
    words = (*words, *to(bandgate))
    refused = bandgate(*words)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert not site(bandgate).exists()

    written = bandgate(*words, "--yes")
    assert written.code == 0, written
    (file,) = site(bandgate).glob("*.json")
    assert f"written: {file}" in written.out
    document = json.loads(file.read_text())
    assert [e["probe"] for e in document["entries"]] == ["read", "copy"]
    provenance = document["entries"][0]["provenance"]
    assert (provenance["kind"], provenance["cards"], provenance["processes"]) == ("measured", 1, 3)

    outcome = bandgate("check", "read", "--backend", H200, "--json")
    assert outcome.code == 0
    assert outcome.records()[0]["verdict"]["baselines"][0]["file"] == str(file)


def test_recording_twice_changes_nothing_else(bandgate: Bandgate) -> None:
    words = ("baseline", "record", "--backend", H200, "--processes", "3", "--yes", *to(bandgate))
    bandgate(*words, "read")
    bandgate(*words, "copy")
    (file,) = site(bandgate).glob("*.json")
    assert [e["probe"] for e in json.loads(file.read_text())["entries"]] == ["read", "copy"]


def test_per_card_entries_name_the_card(bandgate: Bandgate) -> None:
    words = ("baseline", "record", "read", "--per-card", "--processes", "3", "--yes", *to(bandgate))
    bandgate(*words, "--backend", H200)
    (file,) = site(bandgate).glob("*.json")
    (entry,) = json.loads(file.read_text())["entries"]
    assert entry["card"].startswith("GPU-")
    assert entry["tolerance"]["lower"] == -0.005


def test_one_probe_that_fails_does_not_cost_the_others_their_recording(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    probes = script["devices"][0]["probes"]
    healthy = probes["read"]["attempts"][0]
    probes["copy"] = {"attempts": [healthy, healthy | {"verified": "byte 64 is wrong"}]}
    file = tmp_path / "drill.json"
    file.write_text(json.dumps(script))
    words = ("record", "read", "copy", "write", "--processes", "3", "--yes", *to(bandgate))
    outcome = bandgate("baseline", *words, "--backend", f"scripted:{file}")
    assert outcome.code == 3, outcome
    assert "copy, process 2 of 3" in outcome.err
    (written,) = site(bandgate).glob("*.json")
    entries = json.loads(written.read_text())["entries"]
    assert sorted(e["probe"] for e in entries) == ["read", "write"]


def test_a_process_that_did_not_settle_is_measured_again(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    probe = script["devices"][0]["probes"]["read"]
    (healthy,) = probe["attempts"]
    # 8 % from the first sample to the last; were it recorded, the tolerance would show it.
    sinking = healthy | {"samples": [4300 * (1 - 0.008 * k) for k in range(10)]}
    words = ("record", "read", "--processes", "3", "--yes", *to(bandgate))
    file = tmp_path / "drill.json"

    def record(attempts: list[object]) -> Outcome:
        probe["attempts"] = attempts
        file.write_text(json.dumps(script))
        return bandgate("baseline", *words, "--backend", f"scripted:{file}")

    refused = record([healthy, *[sinking] * 4, healthy])
    assert refused.code == 3, refused
    assert refused.err.count("measured again: gpu0 read, process 2 of 3: ") == 3, refused
    assert "no baseline recorded: gpu0 read, process 2 of 3: its samples" in refused.err
    assert not site(bandgate).exists()

    recorded = record([healthy, *[sinking] * 3, healthy])
    assert recorded.code == 0, recorded
    assert recorded.err.count("measured again: gpu0 read, process 2 of 3: ") == 3, recorded
    (written,) = site(bandgate).glob("*.json")
    (entry,) = json.loads(written.read_text())["entries"]
    assert entry["provenance"]["processes"] == 3
    assert entry["tolerance"]["lower"] == -0.01


def test_a_disturbed_run_is_not_recorded(bandgate: Bandgate) -> None:
    for script, why in (
        ("contended", "is in use"),
        ("throttling-slope", "held back"),
        ("slope-within-bounds", "settle"),
        ("above-peak", "peak"),
        ("wrong-checksum", "process 1 of 3"),
        ("power-cap-normal", "held back"),
    ):
        outcome = bandgate.drill(
            script, "baseline", "record", "read", "--processes", "3", "--yes", *to(bandgate)
        )
        assert outcome.code in (3, 4), (script, outcome)
        assert why in outcome.err, (script, outcome)
        assert not site(bandgate).exists(), script


def test_validate_show_and_diff(bandgate: Bandgate, tmp_path: Path) -> None:
    bandgate(
        "baseline", "record", "read", "--backend", H200, "--processes", "3", "--yes", *to(bandgate)
    )
    (file,) = site(bandgate).glob("*.json")
    assert bandgate("baseline", "validate", str(file)).code == 0
    shown = bandgate("baseline", "show")
    assert shown.code == 0
    assert "NVIDIA H200" in shown.out

    document = json.loads(file.read_text())
    document["entries"][0]["value"] *= 0.9
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document))
    assert bandgate("baseline", "diff", str(file), str(file)).code == 0
    different = bandgate("baseline", "diff", str(file), str(changed))
    assert different.code == 1
    assert "-10.00 %" in different.out

    document["entries"][0]["tolerance"]["lower"] = 0.5
    changed.write_text(json.dumps(document))
    refused = bandgate("baseline", "validate", str(changed))
    assert refused.code == 2
    assert "/entries/0/tolerance/lower" in refused.err


def test_a_wide_tolerance_says_what_narrows_it(bandgate: Bandgate) -> None:
    words = ("record", "launch", "--processes", "3", "--yes", *to(bandgate))
    outcome = bandgate("baseline", *words, "--backend", H200)
    assert outcome.code == 0, outcome
    assert (
        "launch: a tolerance of 60.0 % finds no smaller loss; so far may healthy cards lie apart, "
        "and three or more of them narrow it"
    ) in outcome.err


def test_a_card_without_uuid_gets_no_card_entry(bandgate: Bandgate) -> None:
    refused = bandgate("baseline", "record", "read", "--per-card", "--backend", "host", "--yes")
    assert refused.code == 2
    assert "no UUID" in refused.err


def test_recording_beside_a_missing_card_is_not_success(bandgate: Bandgate) -> None:
    words = ("baseline", "record", "read", "--processes", "3", "--yes", *to(bandgate))
    assert bandgate.drill("missing-gpu", *words).code == 3


def test_a_folder_without_a_baseline_is_not_valid(bandgate: Bandgate, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert bandgate("baseline", "validate", str(empty)).code == 2


def test_diff_sees_what_the_table_does_not_show(bandgate: Bandgate, tmp_path: Path) -> None:
    bandgate(
        "baseline", "record", "read", "--backend", H200, "--processes", "3", "--yes", *to(bandgate)
    )
    (file,) = site(bandgate).glob("*.json")
    document = json.loads(file.read_text())
    document["gpu"]["ecc"] = None
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document))
    different = bandgate("baseline", "diff", str(file), str(other))
    assert different.code == 1
    assert '/gpu/ecc: "on" -> null' in different.out


def test_recordings_at_the_same_time_keep_each_others_entries(bandgate: Bandgate) -> None:
    probes = ("read", "write", "copy", "read_map")
    running = [
        subprocess.Popen(
            bandgate.command(
                "baseline", "record", probe, "--backend", H200, "--processes", "3", "--yes",
                *to(bandgate),
            ),
            env=bandgate.env(),
            stdout=subprocess.DEVNULL,
        )
        for probe in probes
    ]  # fmt: skip
    assert [process.wait(120) for process in running] == [0] * len(probes)
    (written,) = site(bandgate).glob("*.json")
    entries = json.loads(written.read_text())["entries"]
    assert sorted(e["probe"] for e in entries) == sorted(probes)


def test_a_probe_that_was_asked_for_wrongly_does_not_cost_the_others(bandgate: Bandgate) -> None:
    words = ("record", "copy", "read_map", "slice=64MiB", "--processes", "3", "--yes")
    outcome = bandgate("baseline", *words, "--backend", H200, *to(bandgate))
    assert outcome.code == 2, outcome
    assert "read_map" in outcome.err and "cache" in outcome.err
    (written,) = site(bandgate).glob("*.json")
    assert [e["probe"] for e in json.loads(written.read_text())["entries"]] == ["copy"]


def test_a_folder_that_cannot_be_written_is_refused_before_measuring(bandgate: Bandgate) -> None:
    words = ("record", "read", "--processes", "3", "--yes", "--to", "/proc/nowhere")
    outcome = bandgate("baseline", *words, "--backend", H200)
    assert outcome.code == 2, outcome
    assert "/proc/nowhere: cannot be written to" in outcome.err
    assert "recorded" not in outcome.err


def test_a_dip_becomes_no_reference(bandgate: Bandgate, tmp_path: Path) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    dip = {"unit": "GiB/s", "samples": [4300], "parts": [4300, 4300, 2000, 4300]}
    script["devices"][0]["probes"]["sustained"] = {"attempts": [dip]}
    file = tmp_path / "drill.json"
    file.write_text(json.dumps(script))
    words = ("record", "sustained", "seconds=4", "--processes", "3", "--yes", *to(bandgate))
    outcome = bandgate("baseline", *words, "--backend", f"scripted:{file}")
    assert outcome.code == 3, outcome
    assert "slowest part is more than 5 % below" in outcome.err
