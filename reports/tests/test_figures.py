# SPDX-License-Identifier: Apache-2.0
"""The command that draws: which files there are, that they are pictures, and what is said."""

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bandgate_reports import store
from bandgate_reports.figures import curves_text, drawing, paper
from bandgate_reports.figures.drawing import Drawn
from bandgate_reports.units import RateUnit

from conftest import NOW, Run
from made import H200, Document, Gpu, Probe, result, write
from made_sweeps import (
    A100,
    block_sweep,
    gathered,
    measured,
    memory_map,
    peer_copies,
    span_sweep,
    sustained,
    window_sweep,
)

ALL_SPANS = range(0, 29, 4)


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few dots: for tests that look at no picture's size."""
    monkeypatch.setattr(paper, "DPI", 25)


def draw(folder: Path, documents: list[Document], rate: RateUnit = RateUnit.GIB_S) -> Drawn:
    return drawing.draw(
        store.load([write(folder, documents)], include_scripted=True).results, NOW, rate
    )


def pictures(drawn: Drawn) -> dict[str, tuple[int, int]]:
    """Name and size in pixels of every PNG."""
    found = {}
    for file in drawn.files:
        if file.name.endswith(".png"):
            assert file.data.startswith(b"\x89PNG\r\n\x1a\n")
            assert len(file.data) < 600_000
            found[file.name] = struct.unpack(">II", file.data[16:24])
    return found


def test_every_figure(tmp_path: Path, approved: Callable[[str, str], None]) -> None:
    documents = [
        *span_sweep("h200", powers=ALL_SPANS, processes=2),
        *span_sweep("h200", "sliding", powers=ALL_SPANS, processes=1),
        *span_sweep("v100", powers=ALL_SPANS, processes=1),
        *window_sweep(),
        *block_sweep(),
        *peer_copies(4),
        memory_map(12, slow=(3, 4)),
        sustained(),
    ]
    drawn = draw(tmp_path, documents)
    assert pictures(drawn) == {
        "NVIDIA_H200_ratios.png": (1600, 980),
        "NVIDIA_H200_ratios_sliding.png": (1600, 980),
        "Tesla_V100-SXM2-32GB_ratios.png": (1600, 980),
        "ratios.png": (1600, 1400),
        "NVIDIA_H200_windows.png": (1600, 920),
        "NVIDIA_H200_blocks.png": (1600, 920),
        "n017_p2p_read_peers.png": (1600, 846),
        "NVIDIA_H200_read_map.png": (1600, 860),
        "NVIDIA_H200_sustained.png": (1600, 1410),
    }
    tables = {f.name for f in drawn.files if f.name.endswith(".csv")}
    assert tables == {
        "NVIDIA_H200_ratios.csv",
        "Tesla_V100-SXM2-32GB_ratios.csv",
        "ratios.csv",
        "NVIDIA_H200_windows.csv",
        "NVIDIA_H200_blocks.csv",
        "n017_p2p_read_peers.csv",
        "NVIDIA_H200_read_map.csv",
        "NVIDIA_H200_sustained.csv",
    }
    assert drawn.missing == ()
    approved("curves.md", curves_text.render(drawn))


def csv_lines(drawn: Drawn, name: str) -> list[str]:
    return next(f.data for f in drawn.files if f.name == name).decode().splitlines()


@pytest.mark.usefixtures("coarse")
def test_tables_of_series(tmp_path: Path) -> None:
    drawn = draw(tmp_path, [memory_map(6, slow=(3,)), sustained(3)])
    head, *rows = csv_lines(drawn, "NVIDIA_H200_read_map.csv")
    assert head == (
        "address_bytes,bandwidth_bytes_per_second,sm_clock_mhz,temperature_c,power_w,slow"
    )
    assert [row.split(",")[-1] for row in rows] == [
        "False",
        "False",
        "False",
        "True",
        *["False"] * 2,
    ]
    head, *rows = csv_lines(drawn, "NVIDIA_H200_sustained.csv")
    assert head == "time_s,bandwidth_bytes_per_second,sm_clock_mhz,temperature_c,power_w"
    assert [row.split(",")[0] for row in rows] == ["0.0", "1.0", "2.0"]


def test_nothing_to_draw_says_what_is_missing(
    tmp_path: Path, approved: Callable[[str, str], None]
) -> None:
    drawn = draw(tmp_path, [result(), gathered(ratio=None)])
    assert drawn.files == ()
    approved("nothing-to-draw.md", curves_text.render(drawn))


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(
    "documents",
    [
        [gathered()],
        [gathered(span=1), gathered(span=3)],
        [measured(H200, Probe("read_window", 1, parameters={"window": 1000}), 4000.0, peak=None)],
        [measured(H200, Probe("read_seq", 1, parameters={"blocks": "132"}), 400.0)],
        [memory_map(1, slow=())],
        [sustained(1)],
        [sustained(5, quiet=True)],
        peer_copies(2),
    ],
    ids=["one", "odd spans", "no peak", "text", "one slice", "one second", "silent", "pair"],
)
def test_little_is_drawn_too(tmp_path: Path, documents: list[Document]) -> None:
    assert len(pictures(draw(tmp_path, documents))) == 1


@pytest.mark.usefixtures("coarse")
def test_many_curves_and_cards_are_drawn_as_far_as_they_can_be_told_apart(tmp_path: Path) -> None:
    kinds = [gathered(elements=1 << p, span=1 << s) for p in range(20, 30) for s in (0, 4, 8)]
    cards = [
        gathered(replace(H200, name=f"GPU {i}", uuid=f"GPU-{i}"), span=1 << s)
        for i in range(10)
        for s in (0, 9)
    ]
    drawn = draw(tmp_path, [*kinds, *cards])
    assert len(pictures(drawn)) == 12
    assert len(csv_lines(drawn, "ratios.csv")) == 1 + 30 + 20
    assert len(pictures(draw(tmp_path / "peers", peer_copies(16)))) == 1


HOSTILE = "\"'$x^{y$ <b>\\frac /../ \n\x1b[31m\x00\ud800 显卡 مرحبا (TM)" + "x" * 200


@pytest.mark.usefixtures("coarse")
def test_names_cannot_break_a_figure(tmp_path: Path) -> None:
    gpu = Gpu(HOSTILE, HOSTILE, HOSTILE, "GPU-1")
    peer = Probe("p2p_read", 1, parameters={"peer": HOSTILE, HOSTILE: HOSTILE})
    odd = gathered(gpu, mode=HOSTILE)
    odd["probe"]["parameters"] |= {HOSTILE: HOSTILE}
    documents = [
        odd,
        gathered(gpu, seed=2),
        measured(gpu, peer, 300.0),
        memory_map(5, gpu=gpu),
        sustained(5, gpu=gpu),
    ]
    drawn = draw(tmp_path, documents)
    assert len(pictures(drawn)) == 5
    for file in drawn.files:
        assert len(file.name) < 200
        assert file.name.isascii()
        assert not set(file.name) & set("/\\ \"'$<>:*?|\n")
    assert "\x1b" not in curves_text.render(drawn)


@pytest.mark.usefixtures("coarse")
def test_cards_of_one_model_have_maps_of_their_own(tmp_path: Path) -> None:
    other = replace(H200, pci="0000:2b:00.0", uuid="GPU-2")
    drawn = draw(tmp_path, [memory_map(5), memory_map(5, gpu=other)])
    assert set(pictures(drawn)) == {
        "NVIDIA_H200_read_map_n017_0000_1b_00.0.png",
        "NVIDIA_H200_read_map_n017_0000_2b_00.0.png",
    }


@pytest.mark.usefixtures("coarse")
def test_a_later_failure_takes_no_figure_away(tmp_path: Path) -> None:
    failed = memory_map(5, at=NOW)
    failed |= {"measurement": None, "failure": {"code": "wrong-result", "message": "slice 4"}}
    failed["verdict"]["status"] = "error"
    assert set(pictures(draw(tmp_path, [memory_map(5), failed]))) == {"NVIDIA_H200_read_map.png"}


def test_the_same_results_give_the_same_files(tmp_path: Path) -> None:
    documents = [gathered(span=1 << p) for p in range(8)]
    first, second = draw(tmp_path, documents), draw(tmp_path, documents)
    assert first.files == second.files


AT = ("--now", "2026-11-29T06:00:00Z")


def test_the_command_writes_and_says(tmp_path: Path, run: Run) -> None:
    results = write(tmp_path / "results", [gathered(span=1 << p) for p in range(8)])
    done = run("curves", results, "--out", tmp_path / "out", *AT)
    assert done.code == 0
    assert done.stdout.startswith(b"## Bandgate: figures\n")
    assert done.stderr == f"figures: {tmp_path}/out\n"
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "NVIDIA_H200_ratios.csv",
        "NVIDIA_H200_ratios.png",
    }
    (tmp_path / "file").write_text("")
    assert run("curves", results, "--out", tmp_path / "file", *AT).code == 2


def test_exit_codes_of_nothing(tmp_path: Path, run: Run) -> None:
    results = write(tmp_path / "results", [result()])
    done = run("curves", results, "--out", tmp_path / "out", *AT)
    assert done.code == 4
    assert b"bandgate run gather span=1024" in done.stdout
    assert not (tmp_path / "out").exists()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "a.json").write_text("{")
    assert run("curves", tmp_path / "broken", "--out", tmp_path / "out", *AT).code == 2
    assert run("curves", tmp_path / "nowhere", "--out", tmp_path / "out", *AT).code == 2


@pytest.mark.usefixtures("coarse")
def test_scripted_devices_are_drawn_on_request_only(tmp_path: Path, run: Run) -> None:
    results = write(tmp_path / "results", [gathered(replace(A100, backend="scripted"))])
    done = run("curves", results, "--out", tmp_path / "out", *AT)
    assert done.code == 4
    assert b"1 result of scripted devices left out; --include-scripted draws them" in done.stdout
    assert run("curves", results, "--out", tmp_path / "out", *AT, "--include-scripted").code == 0
