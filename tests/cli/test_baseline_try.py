# SPDX-License-Identifier: Apache-2.0
"""`bandgate baseline try` says of a history what `bandgate check` says of it measured again."""

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import DRILLS, Bandgate, Outcome
from test_check import baseline, write


def attempted(bandgate: Bandgate, lines: list[dict[str, Any]] | str, *arguments: str) -> Outcome:
    text = lines if isinstance(lines, str) else "".join(json.dumps(d) + "\n" for d in lines)
    ended = subprocess.run(
        bandgate.command("baseline", "try", *arguments),
        env=bandgate.env(),
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Outcome(ended.returncode, ended.stdout, ended.stderr)


def entries(**changes: dict[str, Any]) -> list[dict[str, Any]]:
    """The shipped entries of the scripted device with other figures, by probe."""
    shipped = json.loads((DRILLS.parents[2] / "baselines/gpus/nvidia-h200.json").read_text())
    found = []
    for entry in shipped["entries"]:
        change = changes.get(entry["probe"], changes.get("every"))
        if change is None:
            continue
        made = entry | {k: v for k, v in change.items() if k != "factor"}
        made["value"] = entry["value"] * change.get("factor", 1)
        found.append(made)
    return found


def changed(folder: Path, **changes: dict[str, Any]) -> Path:
    shipped = json.loads((DRILLS.parents[2] / "baselines/gpus/nvidia-h200.json").read_text())
    gpu = shipped["gpu"] | {"peak_gb_s": 6000}  # room for higher references
    return write(folder / "changed.json", shipped | {"gpu": gpu, "entries": entries(**changes)})


TIGHT = {"tolerance": {"lower": -0.0005, "upper": 0.0005}}
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "lower": {"every": {"factor": 0.9}},
    "higher": {"every": {"factor": 1.03}},
    "tight": {"every": TIGHT},
    "loose": {"every": {"tolerance": {"lower": -0.5, "upper": 0.5}}},
}
SCRIPTS = (
    "healthy-h200",
    "slow-5-percent",
    "slow-once",
    "contended-meanwhile",
    "slope-within-bounds",
    "throttling-slope",
    "pcie-x8",
    "above-peak",
    "wrong-checksum",
    "map-slow-region",
    "throttling-sustained",
    "lost-at-sample-3",
    "ecc-off",
)


def verdicts(records: list[dict[str, Any]]) -> dict[tuple[str, ...], tuple[str, bool]]:
    """By device, probe and parameters: what the last attempt says."""
    found: dict[tuple[str, ...], tuple[str, bool]] = {}
    for r in sorted(records, key=lambda r: int(r["run"]["attempt"])):
        key = (r["device"]["uuid"], r["probe"]["name"], json.dumps(r["probe"]["parameters"]))
        found[key] = (r["verdict"]["status"], r["verdict"]["unstable"])
    return found


def suite_of(script: str) -> tuple[str, ...]:
    known = json.loads((DRILLS / f"{script}.json").read_text())["devices"][0].get("probes", {})
    return tuple(sorted(name for name in known if name.replace("_", "").isalnum())) or ("read",)


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_says_what_check_says(bandgate: Bandgate, tmp_path: Path, script: str) -> None:
    words = ("check", *suite_of(script), "--backend", f"scripted:{DRILLS}/{script}.json")
    bandgate(*words)
    stored = bandgate.stored()
    assert stored
    judged = [r for r in stored if r["measurement"] or r["failure"]]
    for name, changes in CHANGES.items():
        file = changed(tmp_path, **changes)
        outcome = attempted(bandgate, judged, str(file))
        assert outcome.code == 0, outcome
        answers = outcome.records()
        by_id = {r["run"]["id"]: r for r in judged}
        for answer in answers:
            by_id[answer["id"]]["verdict"] = answer
        tried = verdicts([by_id[a["id"]] for a in answers])

        bandgate(*words, "--baselines", str(file), "--results", str(tmp_path / name))
        again = [json.loads(p.read_text()) for p in (tmp_path / name).rglob("*.json")]
        checked = verdicts([r for r in again if r["measurement"] or r["failure"]])
        assert tried.keys() == checked.keys()
        for key, status in checked.items():
            first = [r for r in judged if verdicts([r]).keys() == {key}]
            if len(first) == 1 and checked[key] == ("pass", True):
                # It measured once more, and what that would have given is not stored.
                assert tried[key][0] == "regression"
            else:
                assert tried[key] == status, (script, name, key)


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_reports_ask_with_all_that_judging_needs(
    bandgate: Bandgate, tmp_path: Path, script: str
) -> None:
    """Rows of the table of results give the verdicts that whole documents give."""
    pytest.importorskip("bandgate_reports")
    from datetime import UTC, datetime

    from bandgate_reports import store
    from bandgate_reports.analysis import series, trial

    bandgate("check", *suite_of(script), "--backend", f"scripted:{DRILLS}/{script}.json")
    results = store.load([bandgate.results], include_scripted=True).results
    asked, _ = trial.history(series.identify(results, datetime.now(UTC)))
    whole = {r["run"]["id"]: r for r in bandgate.stored()}
    for changes in CHANGES.values():
        file = str(changed(tmp_path, **changes))
        short = attempted(bandgate, "".join(trial.lines(asked)), file)
        assert short.code == 0, short
        long = attempted(bandgate, [whole[i] for i in asked["id"]], file)
        assert short.records() == long.records()
        assert len(short.records()) == len(trial.answered(asked, short.out.splitlines(), file))


def test_the_report_as_a_command(bandgate: Bandgate, tmp_path: Path) -> None:
    reports = pytest.importorskip("bandgate_reports.commands.cli")
    from typer.testing import CliRunner

    bandgate.drill("healthy-h200", "check", "read", "copy")
    bandgate.drill("slow-5-percent", "check", "read")
    file = changed(tmp_path, read={"factor": 1.02})
    words = ["baseline", "try", str(file), str(bandgate.results), "--include-scripted"]
    words += ["--executable", str(bandgate.program), "--format", "json"]
    ended = CliRunner().invoke(reports.app, words, env=bandgate.env())
    assert ended.exit_code == 0, ended.output
    said = json.loads(ended.stdout)
    assert (said["judged"], said["would_have_failed"], said["newly_failed"]) == (2, 2, 1)
    assert said["without_an_entry"] == 1
    assert Counter((i["then"], i["now"]) for i in said["invocations"]) == {
        ("pass", "regression"): 1,
        ("regression", "regression"): 1,
    }
    assert CliRunner().invoke(reports.app, [*words, "--fail"], env=bandgate.env()).exit_code == 1


def test_a_bad_file_is_refused_with_its_place(bandgate: Bandgate, tmp_path: Path) -> None:
    bandgate.drill("healthy-h200")
    file = baseline(tmp_path / "site", value=-1)
    outcome = attempted(bandgate, bandgate.stored(), str(file))
    assert (outcome.code, outcome.out) == (2, "")
    assert f"bandgate: {file}: /entries/0/value: " in outcome.err
    outcome = attempted(bandgate, bandgate.stored(), str(tmp_path / "gone.json"))
    assert outcome.code == 2
    assert "gone.json" in outcome.err


def test_an_entry_that_cannot_be_meant_is_refused_with_its_place(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    bandgate.drill("healthy-h200")
    file = baseline(tmp_path / "site", unit="us")
    outcome = attempted(bandgate, bandgate.stored(), str(file))
    assert outcome.code == 2
    assert "/entries/0" in outcome.err


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[]", "line 2: not a result: no object"),
        ("{", "line 2: line 1, column 2"),
        ('{"device": {"backend": "cuda"}}', "line 2: /probe/name: is missing"),
        ("\0", "line 2: line 1, column 1: holds a NUL byte"),
    ],
)
def test_a_line_that_is_no_result_is_refused_with_its_number(
    bandgate: Bandgate, tmp_path: Path, line: str, reason: str
) -> None:
    bandgate.drill("healthy-h200")
    (good,) = bandgate.stored()
    outcome = attempted(
        bandgate, json.dumps(good) + "\n" + line + "\n", str(baseline(tmp_path / "site"))
    )
    assert outcome.code == 2
    assert f"standard input, {reason}" in outcome.err


def test_no_line_is_no_answer(bandgate: Bandgate, tmp_path: Path) -> None:
    outcome = attempted(bandgate, "\n\n", str(baseline(tmp_path / "site")))
    assert (outcome.code, outcome.out) == (0, "")


def test_the_tried_file_comes_first(bandgate: Bandgate, tmp_path: Path) -> None:
    bandgate.drill("healthy-h200")
    site = baseline(tmp_path / "site", value=4100)
    tried = baseline(tmp_path / "tried", value=4000)
    lines = bandgate.stored()
    (answer,) = attempted(bandgate, lines, str(tried), "--baselines", str(site)).records()
    assert answer["baselines"][0]["file"] == str(tried)
    assert answer["files"] == [str(tried)]
    empty = write(tmp_path / "empty.json", json.loads(tried.read_text()) | {"entries": []})
    (answer,) = attempted(bandgate, lines, str(empty), "--baselines", str(site)).records()
    assert answer["files"] == [str(site)]
