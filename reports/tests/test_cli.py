# SPDX-License-Identifier: Apache-2.0
"""The command as others run it: a process, its output and its exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bandgate_reports.commands import cli
from bandgate_reports.store import schema

from made import Document, Gpu, result, write

NOW = "2026-11-29T06:00:00Z"


def run(
    *arguments: str | Path, environment: dict[str, str] | None = None, stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "bandgate_reports", *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=os.environ | (environment or {}),
        check=False,
        timeout=120,
    )


def trend(results: Path, out: Path, *more: str) -> subprocess.CompletedProcess[bytes]:
    return run("trend", results, "--out", out, "--now", NOW, *more)


REGRESSION = [result(value=4000, status="regression")]
NO_BASELINE = [result(status="no-baseline", judged=False)]


@pytest.mark.parametrize(
    ("documents", "code"),
    [([result()], 0), (REGRESSION, 1), (NO_BASELINE, 4), ([], 4)],
)
def test_exit_codes(tmp_path: Path, documents: list[Document], code: int) -> None:
    results = tmp_path / "results"
    results.mkdir()
    done = trend(write(results, documents), tmp_path / "out")
    assert done.returncode == code
    assert done.stdout.startswith(b"## Bandgate: ")
    assert done.stderr.decode().splitlines()[-1] == f"report: {tmp_path}/out/index.html"
    assert (tmp_path / "out" / "index.html").read_text().startswith("<!doctype html>")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["index.html"]


def test_exit_zero_is_for_a_step_that_only_leaves_the_report(tmp_path: Path) -> None:
    results = write(tmp_path / "results", REGRESSION)
    assert trend(results, tmp_path / "out", "--exit-zero").returncode == 0
    assert trend(results, Path("/dev/null/x"), "--exit-zero").returncode == 2


def test_only_broken_files_are_an_error_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    done = trend(tmp_path, tmp_path / "out")
    assert done.returncode == 2
    assert b"a.json: line 1, column 2" in done.stderr
    assert b"1 file skipped" in done.stdout


def test_a_broken_file_among_good_ones_is_named_and_skipped(tmp_path: Path) -> None:
    (write(tmp_path, [result()]) / "\x1b[31m.json").write_text("")
    done = trend(tmp_path, tmp_path / "out")
    assert done.returncode == 0
    assert "skipped " in done.stderr.decode()
    assert "␛[31m.json: the file is empty" in done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trend", "nowhere", "--out", "out"], "nowhere: there is no such file or folder"),
        (["trend", ".", "--out", "out", "--now", "today"], "--now today: not a time; write 2026"),
        (["trend", ".", "--out", "out", "--unit", "GB"], "'GB' is not one of 'B/s'"),
        (["trend", "."], "--out"),
        (["trend", "--out", "out"], "RESULTS"),
        (["tend"], "tend"),
    ],
)
def test_bad_arguments_end_with_2(tmp_path: Path, arguments: list[str], message: str) -> None:
    here = [str(tmp_path) if a == "." else a for a in arguments]
    done = run(*here, environment={"COLUMNS": "200", "NO_COLOR": "1"})
    assert done.returncode == 2
    assert message in done.stderr.decode()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    results = write(tmp_path / "results", [result()])
    (tmp_path / "file").write_text("")
    done = trend(results, tmp_path / "file")
    assert done.returncode == 2
    assert "/file/index.html: cannot be written: " in done.stderr.decode()


def test_a_full_disk_at_standard_output_is_an_error(tmp_path: Path) -> None:
    results = write(tmp_path / "results", [result()])
    with Path("/dev/full").open("wb") as full:
        done = run("trend", results, "--out", tmp_path, "--now", NOW, stdout=full.fileno())
    assert done.returncode == 2
    assert b"standard output: No space left on device" in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    results = write(tmp_path / "results", [result()])
    reading, writing = os.pipe()
    os.close(reading)
    done = run("trend", results, "--out", tmp_path, "--now", NOW, stdout=writing)
    os.close(writing)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


def test_the_output_is_the_same_in_every_locale(tmp_path: Path) -> None:
    results = write(tmp_path / "results", [result(Gpu("µ GPU", "n1", "", "GPU-1"))])
    pages, outputs = set(), set()
    for locale in ("C", "de_DE.UTF-8", "tr_TR.UTF-8"):
        settings = {"LC_ALL": locale, "PYTHONIOENCODING": "ascii", "TZ": "America/New_York"}
        arguments = ("trend", results, "--out", tmp_path / locale, "--now", NOW)
        done = run(*arguments, environment=settings)
        assert done.returncode == 0
        outputs.add(done.stdout)
        pages.add((tmp_path / locale / "index.html").read_bytes())
    assert (len(outputs), len(pages)) == (1, 1)
    assert "µ GPU" in outputs.pop().decode()


def test_scripted_results_are_named_when_they_are_all(tmp_path: Path) -> None:
    drill = Gpu("NVIDIA H200", "n1", "0000:01:00.0", "GPU-1", backend="scripted")
    results = write(tmp_path / "results", [result(drill, value=4000, status="regression")])
    done = trend(results, tmp_path / "out")
    assert done.returncode == 4
    assert b"1 result of scripted devices left out; --include-scripted shows them" in done.stdout
    assert trend(results, tmp_path / "out", "--include-scripted").returncode == 1


def test_a_fault_of_the_program_is_no_regression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("bandgate_reports.store.load", fault)
    monkeypatch.setattr(sys, "argv", ["bandgate-report", "curves", str(tmp_path), "--out", "out"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "ZeroDivisionError: a fault" in said
    assert "a fault of the program" in said


def test_version_and_help() -> None:
    assert run("--version").stdout.startswith(b"bandgate-report ")
    assert b"--exit-zero" in run("trend", "--help", environment={"COLUMNS": "120"}).stdout


def test_the_schema_is_the_one_of_the_repository() -> None:
    repository = Path(__file__).parents[2] / "baselines" / "schema" / schema.NAME
    assert schema.schema_text() == repository.read_text(encoding="utf-8")
