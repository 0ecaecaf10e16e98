# SPDX-License-Identifier: Apache-2.0
"""From results to points of curves, their table and the names of their files."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from bandgate_reports import store
from bandgate_reports.analysis import curves
from bandgate_reports.analysis.curves import KINDS, Left

from made import GIB, H200, Document, Probe, write
from made_sweeps import H200_B, V100, block_sweep, gathered, measured, window_sweep

RATIOS, WINDOWS, BLOCKS = KINDS


def points(
    folder: Path, documents: list[Document], kind: curves.Kind = RATIOS
) -> tuple[pd.DataFrame, tuple[Left, ...]]:
    return curves.points(store.load([write(folder, documents)]).results, kind)


def pooled(
    folder: Path, documents: list[Document], kind: curves.Kind = RATIOS
) -> list[dict[str, object]]:
    table = curves.pooled(points(folder, documents, kind)[0])
    return [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]


def test_a_point_is_the_median_of_processes_with_a_band(tmp_path: Path) -> None:
    ratios = [0.40, 0.44, 0.41, 0.60]
    documents = [gathered(ratio=r, seed=i) for i, r in enumerate(ratios)]
    documents.append(gathered(H200_B, ratio=0.30, seed=9))
    (row,) = pooled(tmp_path, documents)
    assert (row["x"], row["value"], row["low"], row["high"]) == (1024.0, 0.41, 0.30, 0.60)
    assert (row["processes"], row["cards"]) == (5, 2)
    assert row["bandwidth"] == pytest.approx(0.41 * 3990 * GIB)


def test_what_differs_is_another_curve(tmp_path: Path) -> None:
    documents = [
        gathered(),
        gathered(V100),
        gathered(probe="scatter"),
        gathered(version=2, seed=1),
        gathered(mode="sliding"),
        gathered(elements=1 << 26),
        gathered(index="64"),
    ]
    assert len(pooled(tmp_path, documents)) == len(documents)


def test_words_are_the_numbers_that_they_stand_for(tmp_path: Path) -> None:
    every = gathered()
    every["probe"]["parameters"]["span"] = "all"
    explicit = gathered(elements=1 << 28, span=1 << 28, seed=1)
    (row,) = pooled(tmp_path, [every, explicit])
    assert (row["x"], row["processes"]) == (2.0**28, 2)


def test_a_mig_part_is_not_its_gpu(tmp_path: Path) -> None:
    part = gathered(seed=1)
    part["device"]["mig_profile"] = "1g.18gb"
    names = {row["gpu"] for row in pooled(tmp_path, [gathered(), part])}
    assert names == {"NVIDIA H200", "NVIDIA H200 1g.18gb"}


def broken() -> list[tuple[str, Document]]:
    none, nothing, zero = gathered(ratio=None), gathered(), gathered(ratio=0.0)
    nothing["measurement"]["more"] = []
    odd, text = gathered(), gathered()
    odd["probe"]["parameters"]["span"] = "auto"
    del text["probe"]["parameters"]["span"]
    wrong = gathered()
    wrong["measurement"]["verified"] = False
    failed = gathered()
    failed |= {"measurement": None, "failure": {"code": "crashed", "message": "signal 11"}}
    skipped = gathered()
    skipped |= {"measurement": None, "skip_reason": "not on this device"}
    return [
        ("no ratio to copy", none),
        ("no ratio to copy", nothing),
        ("no ratio to copy", zero),
        ("no single span", odd),
        ("no single span", text),
        ("the measurement failed", wrong),
        ("nothing was measured", failed),
        ("nothing was measured", skipped),
    ]


@pytest.mark.parametrize(("reason", "document"), broken())
def test_what_has_no_point_is_left_out_and_said(
    tmp_path: Path, reason: str, document: Document
) -> None:
    table, left = points(tmp_path, [document])
    assert (len(table), left) == (0, (Left(reason, 1),))
    assert curves.pooled(table).empty


def test_a_ratio_that_is_no_number_never_gets_in(tmp_path: Path) -> None:
    text = json.dumps(gathered()).replace('"value": 0.5}', '"value": NaN}')
    (tmp_path / "a.json").write_text(text)
    loaded = store.load([tmp_path])
    assert (len(loaded.results), len(loaded.skipped)) == (0, 1)


def test_the_same_result_twice_is_one_process(tmp_path: Path) -> None:
    document = gathered()
    write(tmp_path / "a", [document])
    (tmp_path / "copy.json").write_text(json.dumps(document, indent=1))
    table, _ = curves.points(store.load([tmp_path]).results, RATIOS)
    assert len(table) == 1


def test_automatic_blocks_are_no_curve(tmp_path: Path) -> None:
    probe = Probe("read_seq", 2385, parameters={"size": 4 << 30, "blocks": "auto"})
    table, left = points(tmp_path, [measured(H200, probe, 2385), *block_sweep()], BLOCKS)
    assert (len(table), left) == (22, (Left("no single blocks", 1),))


def test_labels_name_what_differs(tmp_path: Path) -> None:
    table = curves.pooled(points(tmp_path, window_sweep(), WINDOWS)[0])
    assert sorted(curves.labels(table).values()) == [
        "read_window dtype=f32",
        "read_window dtype=f64",
    ]
    few = [gathered(), gathered(version=2, seed=1), gathered(elements=1 << 26)]
    table = curves.pooled(points(tmp_path / "few", few)[0])
    assert sorted(curves.labels(table).values()) == [
        "gather v1 elements=2^26",
        "gather v1 elements=2^28",
        "gather v2 elements=2^28",
    ]


def test_knees_of_a_table(tmp_path: Path) -> None:
    ratios = [0.8] * 6 + [0.4, 0.2, 0.1, 0.1, 0.1, 0.1]
    documents = [gathered(span=1 << p, ratio=r) for p, r in enumerate(ratios)]
    documents.append(gathered(probe="scatter"))
    found = curves.knee_table(curves.pooled(points(tmp_path, documents)[0]))
    assert list(zip(found["probe"], found["x"], found["value"], strict=True)) == [
        ("gather", 32.0, 0.8)
    ]


@pytest.mark.parametrize(
    ("kind", "name", "documents"),
    [
        (
            RATIOS,
            "ratios.csv",
            [
                gathered(span=1, ratio=0.75),
                gathered(span=1 << 20, ratio=0.25),
                gathered(span=1 << 20, ratio=0.5, seed=1),
                gathered(span=3000, ratio=0.5, probe="scatter", elements=1 << 26),
            ],
        ),
        (WINDOWS, "windows.csv", window_sweep()[:4]),
        (BLOCKS, "blocks.csv", block_sweep()[:2]),
    ],
)
def test_tables(
    tmp_path: Path,
    approved: Callable[[str, str], None],
    kind: curves.Kind,
    name: str,
    documents: list[Document],
) -> None:
    table = curves.pooled(points(tmp_path, documents, kind)[0])
    approved(name, curves.csv_table(table, kind).to_csv(index=False, float_format="%.6g"))


def test_a_peak_that_is_not_known_is_an_empty_field(tmp_path: Path) -> None:
    probe = Probe("read_window", 4210, parameters={"window": 1 << 23})
    document = measured(H200, probe, 4200, peak=None)
    table = curves.csv_table(curves.pooled(points(tmp_path, [document], WINDOWS)[0]), WINDOWS)
    assert table["of_dram_peak"].isna().all()


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("NVIDIA H200", "NVIDIA_H200"),
        ("Intel(R) Xeon(R) w5-2445 (TM)", "Intel_Xeon_w5-2445"),
        ("AMD Instinct MI250X / MI250", "AMD_Instinct_MI250X_MI250"),
        ("../../etc/passwd", "etc_passwd"),
        ('a"b\\c:d*e?f<g>h|i\n\x00j', "a_b_c_d_e_f_g_h_i_j"),
        (".hidden", "hidden"),
        ("", "gpu"),
        ("显卡", "gpu"),
        ("Ünïcode™ µ", "UnicodeTM"),
        ("-rf", "rf"),
    ],
)
def test_file_names_are_safe(name: str, file: str) -> None:
    assert curves.file_names([name]) == {name: file}


def test_file_names_are_short_and_different() -> None:
    long = ["x" * 200, "x" * 200 + "y"]
    same = ["NVIDIA H200", "NVIDIA/H200", "nvidia h200"]
    found = curves.file_names([*long, *same])
    assert len({f.casefold() for f in found.values()}) == 5
    assert max(map(len, found.values())) <= 80
    assert found["NVIDIA/H200"].startswith("NVIDIA_H200_")


def test_parts_of_one_model_by_another_board_are_pooled(tmp_path: Path) -> None:
    other = replace(H200_B, board_part="692-2G520-0282-000")
    (row,) = pooled(tmp_path, [gathered(), gathered(other)])
    assert row["cards"] == 2
