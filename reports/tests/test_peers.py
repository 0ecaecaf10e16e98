# SPDX-License-Identifier: Apache-2.0
"""Peer copies as matrices."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bandgate_reports import store
from bandgate_reports.analysis import series, verdicts
from bandgate_reports.trend import peers
from bandgate_reports.trend.markdown import matrix_lines
from bandgate_reports.trend.model import Matrix
from bandgate_reports.units import RateUnit

from conftest import NOW
from made import Document, Probe, result, write
from made_sweeps import AT, measured, node, peer_copies


def matrices(
    folder: Path, documents: list[Document], rate: RateUnit = RateUnit.GB_S
) -> tuple[Matrix, ...]:
    table = series.identify(store.load([write(folder, documents)]).results, NOW)
    return peers.matrices(peers.pairs(table, verdicts.newest(table)), rate)


def test_a_matrix_as_markdown(tmp_path: Path, approved: Callable[[str, str], None]) -> None:
    found = [
        *matrices(tmp_path, peer_copies(4)),
        *matrices(tmp_path / "gib", peer_copies(2), RateUnit.GIB_S),
    ]
    approved("peers.md", "\n".join(line for m in found for line in matrix_lines(m)) + "\n")


def test_the_table_of_a_matrix(tmp_path: Path, approved: Callable[[str, str], None]) -> None:
    (matrix,) = matrices(tmp_path, peer_copies(4))
    approved("peers.csv", peers.csv_table(matrix).to_csv(index=False, float_format="%.6g"))


def test_nodes_probes_and_parameters_have_matrices_of_their_own(tmp_path: Path) -> None:
    documents = [*peer_copies(2), *peer_copies(2, name="n018"), *peer_copies(2, "p2p_bidir")]
    for small in peer_copies(2):
        small["probe"]["parameters"] |= {"size": 1 << 20}
        small["run"]["id"] = small["run"]["id"][:-4] + "abcd"
        documents.append(small)
    found = matrices(tmp_path, documents)
    assert [(m.node, m.title) for m in found] == [
        ("n017", "p2p_bidir"),
        ("n017", "p2p_read size=1MiB"),
        ("n017", "p2p_read size=256MiB"),
        ("n018", "p2p_read"),
    ]


def test_the_newest_result_of_a_pair_counts(tmp_path: Path) -> None:
    old = peer_copies(2)
    a, b = node(2)
    probe = Probe("p2p_read", 368, parameters={"size": 256 << 20, "peer": b.uuid})
    newer = measured(a, probe, 100.0, AT.replace(hour=5))
    (matrix,) = matrices(tmp_path, [*old, newer], RateUnit.GIB_S)
    assert matrix.minimum == "minimum 100.00 GiB/s (107.37 GB/s): 1b:00 → 2c:00"


def test_a_failed_pair_is_a_hole_with_its_reason(tmp_path: Path) -> None:
    a, b = node(2)
    probe = Probe("p2p_read", 368, parameters={"size": 256 << 20, "peer": b.uuid})
    why = ("device-lost", "GPU lost at sample 3 of 20")
    lost = result(a, probe, AT, None, "error", judged=False, failure=why)
    other = Probe("p2p_read", 368, parameters={"size": 256 << 20, "peer": a.uuid})
    (matrix,) = matrices(tmp_path, [lost, measured(b, other, 368, AT)])
    assert matrix.holes == ("1b:00 → 2c:00: GPU lost at sample 3 of 20",)
    assert matrix.status == "error"


def test_a_matrix_of_holes_has_no_minimum(tmp_path: Path) -> None:
    documents = [
        result(
            d[0], Probe("p2p_read", 368, parameters={"peer": d[1].uuid}), AT, None, "skipped",
            judged=False, skip_reason="no peer access",
        )
        for d in (node(2), node(2)[::-1])
    ]  # fmt: skip
    (matrix,) = matrices(tmp_path, documents)
    assert matrix.minimum == "no pair was measured"
    assert matrix.holes == ("1b:00 → 2c:00, 2c:00 → 1b:00: no peer access",)


def test_a_peer_that_was_never_resolved_makes_no_matrix(tmp_path: Path) -> None:
    probe = Probe("p2p_read", 368, parameters={"size": 256 << 20, "peer": "auto"})
    alone = result(node(1)[0], probe, AT, None, "skipped", judged=False, skip_reason="one GPU only")
    assert matrices(tmp_path, [alone]) == ()


def test_a_peer_that_no_result_is_of_has_the_beginning_of_its_uuid(tmp_path: Path) -> None:
    probe = Probe("p2p_read", 368, parameters={"peer": "GPU-9a3e1b40-22c8-4f0f-8b7e-5d1c2f6a7b02"})
    (matrix,) = matrices(tmp_path, [measured(node(1)[0], probe, 368, AT)])
    assert matrix.names == ("0000:1b:00.0", "GPU-9a3e1b40…")


def test_addresses_lose_what_all_of_them_share() -> None:
    assert list(peers.short_places(["0000:1b:00.0", "0000:3d:00.0"]).values()) == ["1b:00", "3d:00"]
    assert list(peers.short_places(["0000:1b:00.0", "0001:1b:00.0"]).values()) == [
        "0000:1b:00",
        "0001:1b:00",
    ]
    assert list(peers.short_places(["0000:1b:00.1", "x"]).values()) == ["0000:1b:00.1", "x"]


def test_a_card_that_moved_is_where_it_is_now(tmp_path: Path) -> None:
    a, b = node(2)
    probe = Probe("p2p_read", 368, parameters={"peer": b.uuid})
    moved = replace(a, pci="0000:99:00.0")
    documents = [measured(a, probe, 300, AT), measured(moved, probe, 368, AT.replace(hour=5))]
    (matrix,) = matrices(tmp_path, documents)
    assert "0000:99:00.0" in matrix.names
    assert "0000:1b:00.0" not in matrix.names
