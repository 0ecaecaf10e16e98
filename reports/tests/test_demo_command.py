# SPDX-License-Identifier: Apache-2.0
"""bandgate-report demo: its folder, its refusals, and the mark of what it makes."""

from pathlib import Path

import pandas as pd
from typer.testing import CliRunner

from bandgate_reports.commands.cli import app
from bandgate_reports.demo import mark


def run(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["demo", *(str(w) for w in words)])
    return done.exit_code, done.stdout, done.stderr


LITTLE = ("--nodes", "1", "--gpus", "1", "--nights", "3", "--probes", "read,launch")


def test_the_command_and_a_report_of_it(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    code, said, _ = run("--out", out, *LITTLE, "--end", "2026-11-30T06:00:00Z")
    assert code == 0
    assert "1 node, 1 NVIDIA H200, 2 probes, 3 nights until 2026-11-30." in " ".join(said.split())
    assert "Nothing of it was measured" in said
    assert (out / "README.md").read_text().startswith("# Synthetic demonstration data\n")
    done = CliRunner().invoke(
        app, ["trend", str(out), "--out", str(tmp_path / "r"), "--now", "2026-11-30T06:00:00Z"]
    )
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "r" / "index.html").read_text()
    assert "ynthetic" in page
    assert "ynthetic" in done.stdout


def test_the_same_command_leaves_the_same_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        words = ("--out", tmp_path / name, *LITTLE, "--end", "2026-11-30T06:00:00Z")
        assert run(*words)[0] == 0
    kept = [
        {f.relative_to(below): f.read_bytes() for f in below.rglob("*.json")}
        for below in (tmp_path / "a" / "results", tmp_path / "b" / "results")
    ]
    assert kept[0] == kept[1]
    assert len(kept[0]) == 4


def refused(*words: str | Path) -> str:
    done = CliRunner().invoke(app, ["demo", *(str(w) for w in words)])
    assert done.exit_code == 1
    return str(done.exception)


def test_only_a_demonstration_is_replaced(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    (out / "2026").mkdir(parents=True)
    for words in ((), ("--replace",)):
        assert refused("--out", out, *LITTLE, *words) == (
            f"{out}: is not empty and no demonstration; name another folder with --out"
        )
    (out / "2026").rmdir()
    assert run("--out", out, *LITTLE)[0] == 0
    assert refused("--out", out, *LITTLE) == (
        f"{out}: holds a demonstration already; --replace makes it anew, --out names another folder"
    )
    (out / "old").touch()
    assert run("--out", out, *LITTLE, "--replace")[0] == 0
    assert not (out / "old").exists()


def test_bad_arguments_name_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert refused("--out", file) == f"{file}: is not a folder; name another with --out"
    assert refused("--probes", "read,reed").startswith(
        "--probes: there is no 'reed'; choose quick, full, or among read, write, copy, triad,"
    )
    assert refused("--end", "yesterday") == (
        "--end yesterday: not a time; write 2026-11-29T06:00:00Z"
    )
    assert refused("--end", "1681-01-01T00:00:00Z").endswith("name a time from 2000 to 2200")


def test_what_reports_say_of_synthetic_results() -> None:
    def said(*flags: bool) -> str:
        return mark.notice(pd.DataFrame({"demo": pd.Series(flags, dtype=bool)}))

    assert said() == said(False, False) == ""
    assert said(True, True) == (
        "Synthetic demonstration data, made by bandgate-report demo: nothing here was measured."
    )
    assert said(True, False) == (
        "1 result of synthetic demonstration data (hosts demo-n...) are mixed with 1 real result: "
        "give reports the real folders alone."
    )
