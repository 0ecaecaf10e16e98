# SPDX-License-Identifier: Apache-2.0
"""check --prometheus: what node_exporter reads, held against what bandgate-report writes."""

import json
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import DRILLS, Bandgate

PROMTOOL = shutil.which("promtool") or shutil.which(
    "promtool", path=str(Path(sys.executable).parent)
)
LINE = re.compile(r'^(bandgate_\w+)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Samples:
    found: Samples = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        read = LINE.match(line)
        assert read, line
        key = (read[1], frozenset(LABEL.findall(read[2] or "")))
        assert key not in found, line
        found[key] = float(read[3])
    return found


def value(found: Samples, name: str, **labels: str) -> float:
    wanted = frozenset(labels.items())
    (one,) = [v for (n, given), v in found.items() if n == f"bandgate_{name}" and wanted <= given]
    return one


def heads(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "textfile"
    folder.mkdir()
    yield folder
    # Nothing but the file: no temporary one, and none that the collector would read.
    assert [p.name for p in folder.iterdir() if p.suffix == ".prom"] in ([], ["bandgate.prom"])
    assert [p.name for p in folder.iterdir() if p.suffix != ".prom"] == []


def exported(folder: Path) -> str:
    return (folder / "bandgate.prom").read_text()


DRILLED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("healthy-h200", ("--suite", "full")),
    ("slow-5-percent", ("--suite", "quick")),
    ("slow-once", ("read",)),
    ("lost-at-sample-3", ("read", "copy")),
    ("contended", ("read",)),
    ("throttling-sustained", ("sustained",)),
    ("dead-card", ("read",)),
    ("missing-gpu", ("read",)),
    ("mig-slices", ("read",)),
)
# All of them in one process: it takes a while to start.
REPORTS = """
import sys
from bandgate_reports.commands.cli import main
for folder in sys.argv[1:]:
    out = ["--include-scripted", "--out", f"{folder}/report.prom"]
    sys.argv = ["bandgate-report", "prometheus", f"{folder}/results", *out]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (folder, end.code)
"""


@pytest.mark.skipif(find_spec("bandgate_reports") is None, reason="no bandgate-report")
def test_the_same_as_the_reports(bandgate: Bandgate, tmp_path: Path) -> None:
    for drill, words in DRILLED:
        out = tmp_path / drill
        out.mkdir()
        options = ("--prometheus", str(out), "--results", str(out / "results"))
        bandgate.drill(drill, "check", *words, *options)
    folders = [str(tmp_path / drill) for drill, _ in DRILLED]
    subprocess.run([sys.executable, "-c", REPORTS, *folders], check=True)
    for drill, _ in DRILLED:
        text = exported(tmp_path / drill)
        told = (tmp_path / drill / "report.prom").read_text()
        ours, theirs = samples(text), samples(told)
        assert ours.keys() == theirs.keys(), drill
        assert ours == pytest.approx(theirs, rel=1e-12), drill
        assert heads(text) == heads(told)


def test_literal_values_and_mode(bandgate: Bandgate, folder: Path) -> None:
    ended = bandgate.drill("slow-5-percent", "check", "read", "--prometheus", str(folder))
    assert ended.code == 1
    found = samples(exported(folder))
    read = {"probe": "read", "device": "GPU-00000000-0000-4000-8000-000000000001 (scripted)"}
    assert value(found, "bandwidth_bytes_per_second", **read) == pytest.approx(
        4087.0 * 2**30, rel=1e-4
    )
    assert value(found, "ratio", **read) == pytest.approx(0.9498, abs=1e-4)
    assert value(found, "status", status="regression", **read) == 1
    assert value(found, "status", status="pass", **read) == 0
    assert stat.S_IMODE((folder / "bandgate.prom").stat().st_mode) == 0o644


def test_the_mode_is_that_of_no_umask(bandgate: Bandgate, folder: Path) -> None:
    command = " ".join(bandgate.command("check", "read", "--prometheus", str(folder)))
    subprocess.run(
        ["bash", "-c", f"umask 077; {command}"],
        env=bandgate.env() | {"BANDGATE_BACKEND": f"scripted:{DRILLS}/healthy-h200.json"},
        check=True,
        capture_output=True,
    )
    assert stat.S_IMODE((folder / "bandgate.prom").stat().st_mode) == 0o644


def test_one_probe_does_not_take_the_others_away(bandgate: Bandgate, folder: Path) -> None:
    out = ("--prometheus", str(folder))
    bandgate.drill("healthy-h200", "check", "copy", "read", *out)
    bandgate.drill("slow-5-percent", "check", "read", *out)
    found = samples(exported(folder))
    assert value(found, "status", status="pass", probe="copy") == 1
    assert value(found, "status", status="regression", probe="read") == 1
    # Of another node, nothing: its own file says it.
    bandgate.drill("healthy-h200", "check", "write", *out, BANDGATE_NODE="elsewhere")
    nodes = {dict(labels).get("node") for (_, labels) in samples(exported(folder)) if labels}
    assert nodes == {"elsewhere"}


def test_without_stored_results_this_run_alone(bandgate: Bandgate, folder: Path) -> None:
    out = ("--prometheus", str(folder), "--results", "none")
    assert bandgate.drill("healthy-h200", "check", "read", *out).code == 0
    assert value(samples(exported(folder)), "status", status="pass", probe="read") == 1


def test_broken_results_are_counted(bandgate: Bandgate, folder: Path) -> None:
    bandgate.drill("healthy-h200", "check", "read")
    (next(bandgate.results.rglob("*.json")).parent / "broken.json").write_text("{")
    bandgate.drill("healthy-h200", "check", "read", "--prometheus", str(folder))
    assert value(samples(exported(folder)), "skipped_files") == 1


def test_a_hostile_name(bandgate: Bandgate, folder: Path, tmp_path: Path) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    script["devices"][0]["identity"]["name"] = 'a"b\\c\nd\x1b[31m{e="f"} 1'
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(script))
    bandgate.drill(path, "check", "read", "--prometheus", str(folder))
    found = samples(exported(folder))
    model = next(dict(labels)["model"] for (n, labels) in found if n == "bandgate_unstable")
    assert model.startswith('a\\"b\\\\c') and "\x1b" not in model
    if PROMTOOL:
        checked = subprocess.run(
            [PROMTOOL, "check", "metrics"], input=exported(folder), capture_output=True, text=True
        )
        assert checked.returncode == 0, checked


def test_where_nothing_can_be_written_nothing_is_measured(
    bandgate: Bandgate, tmp_path: Path
) -> None:
    (tmp_path / "a file").touch()
    for wrong, why in (
        (tmp_path / "no such folder", "No such file or directory"),
        (tmp_path / "a file", "Not a directory"),
        (Path("/proc/self"), ""),  # root has no more rights there than others
    ):
        told = ("check", "read", "--prometheus", str(wrong))
        ended = bandgate.drill("slow-5-percent", *told)
        assert ended.code == 2
        assert f"bandgate: --prometheus {wrong}: no file can be made there: {why}" in ended.err
        assert "mkdir -p, and let this user write" in ended.err
        assert ended.out == ""
        assert not bandgate.stored()
        monitored = bandgate.drill("slow-5-percent", *told, "--format", "nagios")
        assert monitored.code == 3
        assert monitored.out.startswith("BANDGATE UNKNOWN")
    assert not (tmp_path / "no such folder").exists()


@pytest.mark.parametrize(("drill", "code"), [("no-device", 2), ("missing-gpu", 3)])
def test_a_full_disk_leaves_the_old_file(
    bandgate: Bandgate, folder: Path, drill: str, code: int
) -> None:
    (folder / "bandgate.prom").write_text("old 1\n")
    command = bandgate.command("check", "read", "--results", "none", "--prometheus", str(folder))
    ended = subprocess.run(
        ["bash", "-c", 'ulimit -f 0; trap "" XFSZ; exec "$@"', "bash", *command],
        env=bandgate.env() | {"BANDGATE_BACKEND": f"scripted:{DRILLS}/{drill}.json"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code, ended
    assert "bandgate: metrics not written: " in ended.stderr
    assert exported(folder) == "old 1\n"
