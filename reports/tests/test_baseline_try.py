# SPDX-License-Identifier: Apache-2.0
"""What is asked of the program that judges, what its answers come to, and how it is said.

That the answers are those of `bandgate check` is tested with the program itself, in
tests/cli/test_baseline_try.py.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from bandgate_reports import store
from bandgate_reports.analysis import series, trial
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.commands.cli import app
from bandgate_reports.render import as_json, markdown, terminal
from bandgate_reports.section import Tone
from bandgate_reports.views import baseline as view

from conftest import NOW
from made import GIB, H200, READ, Document, Probe, result, write

NIGHT = datetime(2026, 11, 20, 2, 10, tzinfo=UTC)
NEW = "site/new.json"


def identified(folder: Path, documents: Sequence[Document]) -> pd.DataFrame:
    return series.identify(store.load([write(folder, documents)]).results, NOW)


def asked(folder: Path, documents: Sequence[Document]) -> list[dict[str, Any]]:
    table, _ = trial.history(identified(folder, documents))
    return [json.loads(line) for line in trial.lines(table)]


def night(n: int) -> datetime:
    return NIGHT + timedelta(days=n)


def test_what_is_asked_of_a_result(tmp_path: Path) -> None:
    document = result(reasons=[("contended", "another process computes: 4711")])
    document["device"] |= {
        "pci_device": "10de:2335",
        "pci_subsystem": "10de:18bf",
        "memory_bytes": 150754820096,
        "peak_bytes_per_second": 4814.3e9,
    }
    point = {"at": 0.0, "value": 4e12, "sm_clock_mhz": None, "temperature_c": None, "power_w": None}
    document["measurement"] |= {
        "peak": 4.7e12,
        "unsettled": True,
        "more": [{"name": "ratio to copy", "unit": "1", "value": 1.1}],
        "series": {"axis": "address", "step": 1.0, "points": [point]},
        "worst": 4e12,
    }
    document["health"]["load"]["pcie_generation"] = {"state": "ok", "value": 5, "why": ""}
    document["notes"] = ["the buffer was cut"]
    (line,) = asked(tmp_path, [document])
    assert line == {
        "run": {
            "id": document["run"]["id"],
            "group_id": "n017-20261128T021000",
            "attempt": 1,
        },
        "device": {
            "backend": "cuda",
            "name": "NVIDIA H200",
            "uuid": "GPU-5f0c9d52-7a11-4c65-9d0e-0c4b7d5e1a01",
            "pci_address": "0000:1b:00.0",
            "pci_device": "10de:2335",
            "pci_subsystem": "10de:18bf",
            "board_part": "692-2G520-0282-001",
            "memory_bytes": 150754820096,
            "peak_bytes_per_second": 4814300000000.0,
            "ecc": True,
            "mig_profile": "",
            "processors": None,
            "cpu_model": "",
        },
        "probe": {"name": "read", "parameters": {"buffer": 4294967296}},
        "measurement": {
            "unit": "B/s",
            "median": 4301.5 * GIB,
            "peak": 4.7e12,
            "worst": 4e12,
            "drop": None,
            "unsettled": True,
            "verified": True,
            "samples": [4301.5 * GIB],
            "more": [{"name": "ratio to copy", "unit": "", "value": 1.1}],
            "series": {"axis": "address", "step": 1.0, "points": []},
        },
        "failure": None,
        "skip_reason": "",
        "notes": [
            "the buffer was cut",
            "measured beside others: as the verdict of then says",
        ],
        "health": {"load": {"pcie_generation": {"state": "ok", "value": 5.0, "why": ""}}},
    }


def test_attempts_stand_together_in_their_order(tmp_path: Path) -> None:
    other = replace(H200, node="n018", uuid="GPU-2", pci="0000:2b:00.0")
    documents = [
        result(at=night(0), group="a", status="regression"),
        result(other, at=night(0) + timedelta(seconds=1), group="b"),
        result(at=night(0) + timedelta(seconds=2), group="a", attempt=2),
        result(other, at=night(1), group="c"),
    ]
    lines = asked(tmp_path, documents)
    assert [(d["run"]["group_id"], d["run"]["attempt"]) for d in lines] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("c", 1),
    ]


def test_what_no_baseline_is_for_is_not_asked(tmp_path: Path) -> None:
    documents = [
        result(at=night(0), status="measured"),
        result(at=night(1), value=None, status="skipped", skip_reason="no peer"),
        result(at=night(2), value=None, status="error", failure=("device-lost", "gone")),
        result(at=night(3)),
        result(at=night(4), status="no-baseline", judged=False),
        # Low, then lost: the first attempt was measured, so the invocation is judged.
        result(at=night(5), status="regression", group="g"),
        result(
            at=night(5) + timedelta(seconds=2),
            value=None,
            status="error",
            failure=("device-lost", "gone"),
            attempt=2,
            group="g",
        ),
    ]
    table, left_out = trial.history(identified(tmp_path, documents))
    assert (len(table), left_out) == (4, 3)
    assert [json.loads(line)["failure"] for line in trial.lines(table)][-1] == {
        "code": "device-lost",
        "message": "",
    }


def test_only_the_newest_days(tmp_path: Path) -> None:
    table = identified(tmp_path, [result(at=night(n)) for n in range(5)])
    assert len(trial.history(table, nights=2)[0]) == 2


def answer(
    document: Document, status: str, *, attempts: int = 1, file: str = NEW, **more: Any
) -> str:
    value = document["measurement"]["median"] if document["measurement"] else 1.0
    reference = 4400 * GIB
    held = {
        "file": file,
        "entry": "/entries/0",
        "card": False,
        "statistic": "median",
        "reference": reference,
        "lower": reference * 0.99,
        "upper": reference * 1.01,
        "ratio": value / reference,
    }
    return json.dumps(
        {
            "id": document["run"]["id"],
            "attempts": attempts,
            "status": status,
            "unstable": False,
            "code": "" if status == "pass" else "below-bound",
            "files": [] if status == "no-baseline" else [file],
            "baselines": [] if status == "no-baseline" else [held],
        }
        | more
    )


def history() -> tuple[list[Document], list[str]]:
    """Four nights of two cards and two probes, and the answers to them."""
    other = replace(H200, node="n<b>203", uuid="GPU-2", pci="0000:2b:00.0")
    documents: list[Document] = []
    answers: list[str] = []
    for n in range(4):
        for card in (H200, other):
            for probe in (READ, Probe("copy", 3997.0)):
                slow = card is other and probe is READ and n >= 2
                value = 4280.0 if probe is READ else 3997.0
                document = result(
                    card,
                    probe,
                    night(n) + timedelta(seconds=len(documents)),
                    value * (0.95 if slow else 1),
                    "regression" if slow and n == 3 else "pass",
                    group=f"{card.uuid}{n}",
                )
                documents.append(document)
                if probe is not READ:
                    answers.append(answer(document, "pass", file="built-in:nvidia-h200.json"))
                elif n == 1 and card is H200:
                    document["verdict"]["status"] = "regression"
                    answers.append(answer(document, "pass"))
                else:
                    answers.append(answer(document, "regression" if slow else "pass"))
    return documents, answers


def tried(folder: Path) -> pd.DataFrame:
    documents, answers = history()
    table, _ = trial.history(identified(folder, documents))
    return trial.answered(table, answers, NEW)


def test_what_the_answers_come_to(tmp_path: Path) -> None:
    table = tried(tmp_path)
    counted = trial.counted(table)
    assert (len(table), len(counted)) == (16, 8)
    assert counted[["fails", "new", "mended"]].sum().tolist() == [2, 1, 1]
    section = view.section(table, counted, view.Asked(NEW, 0))
    assert section.headline == "2 of 8 would have failed (1 failed then, too): n<b>203"
    assert (section.exit, section.tone) == (Exit.OK, Tone.BAD)
    failing = view.section(table, counted, view.Asked(NEW, 0, fail=True))
    assert failing.exit is Exit.REGRESSION


def test_what_failed_then_as_well_is_no_reason_to_fail(tmp_path: Path) -> None:
    table = tried(tmp_path)
    table = table[table["then"] == table["now"]]
    section = view.section(table, trial.counted(table), view.Asked(NEW, 0, fail=True))
    assert (section.exit, section.tone) == (Exit.OK, Tone.GOOD)
    assert section.headline == "1 of 6 would have failed (1 failed then, too): n<b>203"


def test_as_people_read_it(tmp_path: Path, approved: Callable[[str, str], None]) -> None:
    table = tried(tmp_path)
    section = view.section(table, trial.counted(table), view.Asked(NEW, 3))
    approved("baseline-try.txt", terminal.render(section, width=80))
    approved("baseline-try.md", markdown.render(section))
    document = json.loads(as_json.render(section), parse_constant=pytest.fail)
    assert document["verdicts"] == [
        {"then": "pass", "now": "pass", "invocations": 5},
        {"then": "pass", "now": "regression", "invocations": 1},
        {"then": "regression", "now": "pass", "invocations": 1},
        {"then": "regression", "now": "regression", "invocations": 1},
    ]
    assert [(i["node"], i["now"]) for i in document["invocations"]] == [
        ("n017", "pass"),
        ("n<b>203", "regression"),
        ("n<b>203", "regression"),
    ]


def test_nights_that_follow_on_each_other_are_one_span() -> None:
    nights = ["2026-12-01", "2026-11-30", "2026-11-29", "2026-11-20", "2026-11-18", "2026-11-17"]
    assert view.spans(nights) == [
        "2026-11-29 to 2026-12-01",
        "2026-11-20",
        "2026-11-17 to 2026-11-18",
    ]
    assert view.spans([]) == []


def test_a_longer_time_is_the_worse_one(tmp_path: Path) -> None:
    documents: list[Document] = []
    for n, time in enumerate((4.5e-6, 5.0e-6, 4.4e-6)):
        document = result(probe=Probe("launch", 1.0, parameters={}), at=night(n), value=time / GIB)
        document["probe"]["lower_is_better"] = True
        document["measurement"]["unit"] = "s"
        documents.append(document)
    held = {"file": NEW, "card": False, "reference": 4.0e-6, "lower": 2e-6, "upper": 4.2e-6}
    answers = [
        answer(d, "regression", baselines=[held | {"ratio": d["measurement"]["median"] / 4.0e-6}])
        for d in documents
    ]
    table = trial.answered(trial.history(identified(tmp_path, documents))[0], answers, NEW)
    (row,) = view.section(table, trial.counted(table), view.Asked(NEW, 0)).tables[0].rows
    assert row.cells[2:5] == ("3", "+25.00 %", "+5.00 %")


def test_a_new_error_is_a_failure_and_an_old_one_is_not(tmp_path: Path) -> None:
    documents = [result(at=night(0)), result(at=night(1), status="error")]
    answers = [answer(d, "error", baselines=[]) for d in documents]
    table = trial.answered(trial.history(identified(tmp_path, documents))[0], answers, NEW)
    counted = trial.counted(table)
    assert counted[["fails", "new"]].to_numpy().tolist() == [[True, True]]


def test_a_folder_is_tried_as_its_files(tmp_path: Path) -> None:
    document = result()
    table, _ = trial.history(identified(tmp_path, [document]))
    for file, touched in (("site/a.json", True), ("site2/a.json", False)):
        found = trial.answered(table, [answer(document, "pass", file=file)], "site/")
        assert found["touched"].tolist() == [touched]


def test_a_baseline_for_nothing_cannot_tell(tmp_path: Path) -> None:
    document = result()
    table, _ = trial.history(identified(tmp_path, [document]))
    found = trial.answered(table, [answer(document, "no-baseline")], NEW)
    section = view.section(found, trial.counted(found), view.Asked(NEW, 0, fail=True))
    assert section.exit is Exit.CANNOT_TELL
    assert section.headline == f"no entry of {NEW} is for any of 1 stored verdict"
    assert "1 verdict would have no baseline here, then by built-in:nvidia-h200.json" in (
        " ".join(section.sentences)
    )


@pytest.mark.parametrize(
    "lines", [[], ["{}"], ["nonsense"], ['{"id": "x", "attempts": 1, "status": "pass"}']]
)
def test_answers_to_something_else_are_refused(tmp_path: Path, lines: list[str]) -> None:
    table, _ = trial.history(identified(tmp_path, [result()]))
    with pytest.raises(trial.Unanswered):
        trial.answered(table, lines, NEW)


# The command, with a program that stands in for bandgate.


def program(folder: Path, body: str) -> Path:
    file = folder / "stand-in"
    file.write_text(f"#!{sys.executable}\nimport json, sys\n{body}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["baseline", "try", *map(str, words)])


ALL_FAIL = """
for line in sys.stdin:
    run = json.loads(line)["run"]
    print(json.dumps({"id": run["id"], "attempts": 1, "status": "regression", "unstable": False,
                      "code": "below-bound", "files": [sys.argv[3]], "baselines": []}))
"""


def test_the_command(tmp_path: Path) -> None:
    results = write(tmp_path / "results", [result(at=night(n)) for n in range(3)])
    stand_in = program(tmp_path, ALL_FAIL)
    done = call("new.json", results, "--executable", stand_in)
    assert done.exit_code == 0
    assert "Baseline rehearsal: 3 of 3 would have failed: n017" in done.stdout
    assert call("new.json", results, "--executable", stand_in, "--fail").exit_code == 1


def test_what_the_program_refuses_is_passed_on(tmp_path: Path) -> None:
    results = write(tmp_path / "results", [result()])
    said = "new.json: /entries/0/value: 0 is not above 0; write the reference that is expected"
    stand_in = program(tmp_path, f'sys.stderr.write("bandgate: {said}\\n"); sys.exit(2)')
    done = call("new.json", results, "--executable", stand_in)
    assert str(done.exception) == said


def test_a_program_that_dies_is_no_answer(tmp_path: Path) -> None:
    results = write(tmp_path / "results", [result()])
    stand_in = program(tmp_path, "import os; os.kill(os.getpid(), 9)")
    done = call("new.json", results, "--executable", stand_in)
    assert str(done.exception) == f"{stand_in}: was ended by signal 9"


def test_a_missing_program_is_named_with_the_remedy(tmp_path: Path) -> None:
    results = write(tmp_path / "results", [result()])
    done = call("new.json", results, "--executable", "no-such-bandgate")
    assert str(done.exception) == (
        "no-such-bandgate: is not on the PATH; install bandgate, or name the program with "
        "--executable PATH"
    )
