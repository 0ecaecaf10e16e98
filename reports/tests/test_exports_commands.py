# SPDX-License-Identifier: Apache-2.0
"""The four exports as others run them: files, exit codes, locales."""

import io
import locale
import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from bandgate_reports.commands.common import ReportError, say

from conftest import Run
from made import Gpu, result, write
from made_exports import NIGHT, hostile, statuses

NOW = "2026-11-29T06:00:00Z"
EXPORTS = ("junit", "markdown", "csv", "prometheus")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return write(tmp_path / "results", statuses())


@pytest.mark.parametrize("export", EXPORTS)
def test_a_file_is_what_standard_output_would_be(
    tmp_path: Path, results: Path, run: Run, export: str
) -> None:
    out = tmp_path / "made" / "export.prom"
    printed = run(export, results, "--now", NOW)
    written = run(export, results, "--now", NOW, "--out", out)
    # A regression among them: exports do not judge.
    assert (printed.code, written.code) == (0, 0)
    assert out.read_bytes() == printed.stdout != b""
    assert written.stdout == b""
    assert f": {out}" in written.stderr
    assert [p.name for p in out.parent.iterdir()] == ["export.prom"]
    assert stat.S_IMODE(out.stat().st_mode) & 0o444 == 0o444  # node_exporter is another user


@pytest.fixture
def commas(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, ...]]:
    """Locales with decimal commas and points between thousands; in one an i has no dot."""
    if shutil.which("localedef") is None:
        pytest.skip("no localedef")
    folder = tmp_path_factory.mktemp("locales")
    names = ("de_DE", "tr_TR")
    for name in names:
        command = ["localedef", "-i", name, "-f", "UTF-8", str(folder / f"{name}.UTF-8")]
        if subprocess.run(command, capture_output=True, check=False).returncode > 1:
            pytest.skip(f"localedef has no source of {name} (package locales)")
    monkeypatch.setenv("LOCPATH", str(folder))
    before = locale.setlocale(locale.LC_ALL)
    yield tuple(f"{name}.UTF-8" for name in names)
    locale.setlocale(locale.LC_ALL, before)


def test_the_same_in_every_locale(
    tmp_path: Path, run: Run, commas: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "results", [*statuses(), *hostile()])
    page = tmp_path / "page" / "index.html"
    commands: list[tuple[str, ...]] = [(export,) for export in EXPORTS]
    commands += [("trend", "--exit-zero", "--out", str(page.parent))]
    for command in commands:
        found = set()
        for name in ("C", *commas):
            assert locale.setlocale(locale.LC_ALL, name) == name
            assert (locale.localeconv()["decimal_point"] == ",") is (name in commas)
            monkeypatch.setenv("LC_ALL", name)
            done = run(*command, folder, "--now", NOW)
            assert (done.code, done.stderr) == (0, f"report: {page}\n" * (command[0] == "trend"))
            found.add((done.stdout, page.read_bytes() if page.exists() else b""))
        assert len(found) == 1, command
        assert "\U0001f525" in found.pop()[0].decode()


@pytest.mark.parametrize("export", EXPORTS)
def test_nothing_to_export_does_not_look_like_success(
    tmp_path: Path, run: Run, export: str
) -> None:
    (tmp_path / "empty").mkdir()
    out = tmp_path / "out"
    out.write_text("before")
    done = run(export, tmp_path / "empty", "--out", out)
    assert done.code == 4
    assert (
        f"nothing to export: no results in {tmp_path}/empty; `bandgate check --results FOLDER`"
        in done.stderr
    )
    if export == "prometheus":  # its age goes on
        assert out.read_text() == "before"
    else:
        assert "before" not in out.read_text()


@pytest.mark.parametrize("export", EXPORTS)
def test_only_broken_files_are_an_error(tmp_path: Path, run: Run, export: str) -> None:
    (tmp_path / "a.json").write_text("{")
    done = run(export, tmp_path)
    assert done.code == 2
    assert "a.json: line 1, column 2" in done.stderr


def test_an_empty_junit_has_an_error_in_it(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.json").write_text("{")
    root = etree.fromstring(run("junit", tmp_path).stdout)
    assert (root.get("tests"), root.get("errors")) == ("1", "1")
    error = root.find(".//error")
    assert error.get("message") == (
        f"no valid result in {tmp_path}, and 1 broken file; move what is broken away"
    )
    assert "a.json: line 1, column 2" in error.text


def test_since_of_junit(tmp_path: Path, run: Run) -> None:
    folder = write(tmp_path, [result(at=NIGHT)])
    before, after = "2026-11-29T04:00:00+01:00", "2026-11-29T03:00:01Z"
    assert run("junit", folder, "--now", NOW, "--since", before).code == 0
    late = run("junit", folder, "--now", NOW, "--since", after)
    assert late.code == 4
    assert f"no results of {after} or later" in late.stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["junit", "--since", "yesterday"], "--since yesterday: not a time; write 2026-"),
        (["prometheus", "--max-age", "7"], "--max-age 7: not an age; write 90m, 36h, 7d or 2w"),
        (["prometheus", "--max-age", "0d"], "--max-age 0d: not an age"),
        (["prometheus", "--max-age", "99999w"], "--max-age 99999w: not an age"),
        (["csv", "--out", "/dev/null/x"], "/dev/null/x: cannot be written: "),
    ],
)
def test_bad_arguments(results: Path, run: Run, arguments: list[str], message: str) -> None:
    done = run(arguments[0], results, *arguments[1:])
    assert done.code == 2
    assert message in done.stderr


def test_a_collector_never_sees_half_a_file(
    tmp_path: Path, results: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, seen = tmp_path / "textfile" / "bandgate.prom", []

    def look(_: int) -> None:
        seen.append([p.name for p in out.parent.iterdir() if p.name.endswith(".prom")])

    monkeypatch.setattr("os.fsync", look)  # all is written, and not yet renamed
    assert run("prometheus", results, "--now", NOW, "--out", out).code == 0
    assert seen == [[]]
    assert out.exists()


def test_max_age(tmp_path: Path, run: Run) -> None:
    folder = write(tmp_path, [result(at=NIGHT)])
    old = run("prometheus", folder, "--now", NOW, "--max-age", "2h").stdout
    assert b"bandgate_last_run_timestamp_seconds{" in old
    assert b"bandgate_status" not in old
    assert b"bandgate_status" in run("prometheus", folder, "--now", NOW, "--max-age", "4h").stdout


@pytest.mark.parametrize("export", EXPORTS)
def test_scripted_results_are_marked(tmp_path: Path, run: Run, export: str) -> None:
    drill = Gpu("NVIDIA H200", "n1", "0000:01:00.0", "GPU-1", backend="scripted")
    folder = write(tmp_path, [result(drill)])
    none = run(export, folder, "--now", NOW)
    assert none.code == 4
    assert "only 1 result of scripted devices" in none.stderr
    assert "--include-scripted takes them" in none.stderr
    done = run(export, folder, "--now", NOW, "--include-scripted")
    assert done.code == 0
    assert b"scripted" in done.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.json: the file is empty"),
        ('{"schema": "bandgate.result/9"}', "use the bandgate-report of the version that wrote it"),
        ('{"schema": "bandgate.result/1", "run": {', "line 1, column 41: Expecting property name"),
    ],
)
def test_a_broken_file_is_named_with_what_to_do(
    tmp_path: Path, run: Run, text: str, said: str
) -> None:
    (write(tmp_path, [result(at=NIGHT)]) / "a.json").write_text(text)
    done = run("csv", tmp_path, "--now", NOW)
    assert done.code == 0
    assert said in done.stderr
    assert done.stderr.endswith("move them away, or let a user read them who may\n")


def test_a_pipe_or_a_link_is_written_through(tmp_path: Path, run: Run) -> None:
    results = write(tmp_path / "results", [result()])
    (tmp_path / "target.csv").write_text("of the night before")
    (tmp_path / "link.csv").symlink_to("target.csv")
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for name in ("link.csv", "pipe.csv"):
        assert run("csv", results, "--out", tmp_path / name).code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "target.csv").read_bytes() == os.read(reader, 1 << 16)
    os.close(reader)
    assert pipe.is_fifo()  # and so /dev/null is left to those who come after
    assert run("csv", results, "--out", "-").stdout == (tmp_path / "target.csv").read_bytes()


def test_what_finds_no_room_on_an_unbuffered_output_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    raw = (tmp_path / "out").open("wb", buffering=0)
    with io.TextIOWrapper(raw, write_through=True) as unbuffered:  # as PYTHONUNBUFFERED makes it
        monkeypatch.setattr(sys, "stdout", unbuffered)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            with pytest.raises(ReportError, match="standard output: File too large"):
                say("x" * 10000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            monkeypatch.undo()
