# SPDX-License-Identifier: Apache-2.0
"""The command as others run it: its output and its exit code, in a process where that matters."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from bandgate_reports.store import schema

from conftest import Run, process
from made import Document, Gpu, result, write

NOW = "2026-11-29T06:00:00Z"


def trend(results: Path, out: Path, *more: str) -> tuple[str | Path, ...]:
    return ("trend", results, "--out", out, "--now", NOW, *more)


REGRESSION = [result(value=4000, status="regression")]
NO_BASELINE = [result(status="no-baseline", judged=False)]


@pytest.mark.parametrize(
    ("documents", "code"),
    [([result()], 0), (REGRESSION, 1), (NO_BASELINE, 4), ([], 4)],
)
def test_exit_codes(tmp_path: Path, run: Run, documents: list[Document], code: int) -> None:
    results = tmp_path / "results"
    results.mkdir()
    done = run(*trend(write(results, documents), tmp_path / "out"))
    assert done.code == code
    assert done.stdout.startswith(b"## Bandgate: ")
    assert done.stderr.splitlines()[-1] == f"report: {tmp_path}/out/index.html"
    assert (tmp_path / "out" / "index.html").read_text().startswith("<!doctype html>")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["index.html"]


def test_a_person_at_a_terminal_gets_what_is_wrong_and_not_the_markdown(tmp_path: Path) -> None:
    results = write(tmp_path / "results", REGRESSION)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "bandgate_reports", *trend(results, tmp_path / "out")]
    code = subprocess.run(command, stdout=theirs, check=False).returncode
    os.close(theirs)
    said = os.read(ours, 10_000).decode().replace("\r\n", "\n")
    os.close(ours)
    assert code == 1
    assert said == (
        "1 regression\nJudged 1 of 1. 1 result of 1 device on 1 host.\n\n"
        "Wrong now, by host:\n  regression: n017 · 0000:1b:00.0: read, −7.02 %\n\n"
    )


def test_exit_zero_is_for_a_step_that_only_leaves_the_report(tmp_path: Path, run: Run) -> None:
    results = write(tmp_path / "results", REGRESSION)
    assert run(*trend(results, tmp_path / "out", "--exit-zero")).code == 0
    assert run(*trend(results, Path("/dev/null/x"), "--exit-zero")).code == 2


def test_only_broken_files_are_an_error_that_names_them(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.json").write_text("{")
    done = run(*trend(tmp_path, tmp_path / "out"))
    assert done.code == 2
    assert "a.json: line 1, column 2" in done.stderr
    assert b"1 file skipped" in done.stdout


def test_a_broken_file_among_good_ones_is_named_and_skipped(tmp_path: Path, run: Run) -> None:
    (write(tmp_path, [result()]) / "\x1b[31m.json").write_text("")
    done = run(*trend(tmp_path, tmp_path / "out"))
    assert done.code == 0
    assert "skipped " in done.stderr
    assert "␛[31m.json: the file is empty" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trend", "nowhere", "--out", "out"], "nowhere: there is no such file or folder"),
        (["trend", ".", "--out", "out", "--now", "today"], "--now today: not a time; write 2026"),
        (["trend", ".", "--out", "out", "--unit", "GB"], "'GB' is not one of 'B/s'"),
        (["curves", "."], "--out"),
        (["trend", "--out", "out"], "RESULTS"),
        (["tend"], "tend"),
    ],
)
def test_bad_arguments_end_with_2(
    tmp_path: Path, run: Run, arguments: list[str], message: str
) -> None:
    here = [str(tmp_path) if a == "." else a for a in arguments]
    done = run(*here, COLUMNS="200", NO_COLOR="1")
    assert done.code == 2
    assert message in done.stderr


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, run: Run) -> None:
    results = write(tmp_path / "results", [result()])
    (tmp_path / "file").write_text("")
    done = run(*trend(results, tmp_path / "file"))
    assert done.code == 2
    assert "/file/index.html: cannot be written: " in done.stderr


def test_a_full_disk_at_standard_output_is_an_error(tmp_path: Path) -> None:
    results = write(tmp_path / "results", [result()])
    with Path("/dev/full").open("wb") as full:
        done = process("csv", results, stdout=full.fileno())
    assert done.returncode == 2
    assert b"standard output: No space left on device" in done.stderr


@pytest.mark.parametrize("command", ["csv", "--help"])
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path, command: str) -> None:
    results = write(tmp_path / "results", [result()])
    reading, writing = os.pipe()
    os.close(reading)
    done = process(command, results, stdout=writing)
    os.close(writing)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "stream", "code"),
    [
        (["--help"], "stdout", 2),
        (["tend"], "stderr", 2),
        (["trend", "nowhere"], "stderr", 2),
        (["csv", "results"], "stderr", 0),
    ],
)
def test_output_that_cannot_be_written_is_no_verdict(
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    stream: str,
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    (write(Path("results"), [result()]) / "broken.json").write_text("")
    with Path("/dev/full").open("w") as full, monkeypatch.context() as own:
        own.setattr(sys, stream, full)
        done = run(*arguments)
    assert (done.code, "Traceback" in done.stderr) == (code, False)


def test_the_output_is_the_same_in_a_process_without_utf_8(tmp_path: Path, run: Run) -> None:
    """Other locales: test_exports_commands.py."""
    results = write(tmp_path / "results", [result(Gpu("µ GPU", "n1", "", "GPU-1"))])
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "TZ": "America/New_York"}
    here = run(*trend(results, tmp_path / "here"))
    there = process(*trend(results, tmp_path / "there"), environment=plain)
    assert (here.code, there.returncode) == (0, 0)
    assert there.stdout == here.stdout
    assert "µ GPU" in here.stdout.decode()
    pages = [(tmp_path / name / "index.html").read_bytes() for name in ("here", "there")]
    assert pages[0] == pages[1]


def test_scripted_results_are_named_when_they_are_all(tmp_path: Path, run: Run) -> None:
    drill = Gpu("NVIDIA H200", "n1", "0000:01:00.0", "GPU-1", backend="scripted")
    results = write(tmp_path / "results", [result(drill, value=4000, status="regression")])
    done = run(*trend(results, tmp_path / "out"))
    assert done.code == 4
    assert b"1 result of scripted devices left out; --include-scripted shows them" in done.stdout
    assert run(*trend(results, tmp_path / "out", "--include-scripted")).code == 1


def test_a_fault_of_the_program_is_no_regression(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("bandgate_reports.store.load", fault)
    done = run("curves", tmp_path, "--out", "out")
    assert done.code == 2
    assert "ZeroDivisionError: a fault" in done.stderr
    assert "a fault of the program" in done.stderr


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout.startswith(b"bandgate-report ")
    assert b"--exit-zero" in run("trend", "--help", COLUMNS="120").stdout


# Seconds at every start, for what only few commands do with it.
SLOW_TO_LOAD = ("matplotlib", "scipy", "distributed", "dask")


def test_most_commands_start_without_what_is_slow_to_load(tmp_path: Path) -> None:
    results = write(tmp_path, [result()])
    commands = (["--help"], ["prometheus", str(results), "--now", NOW])
    program = f"""
import sys
from bandgate_reports.commands import cli
for arguments in {commands}:
    sys.argv[1:] = arguments
    try:
        cli.main()
    except SystemExit as ended:
        assert not ended.code
    assert set(sys.modules).isdisjoint({SLOW_TO_LOAD})
"""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"bandgate_last_run_timestamp_seconds{" in done.stdout


def test_the_schema_is_the_one_of_the_repository() -> None:
    repository = Path(__file__).parents[2] / "baselines" / "schema" / schema.NAME
    assert schema.schema_text() == repository.read_text(encoding="utf-8")
