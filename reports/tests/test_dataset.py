# SPDX-License-Identifier: Apache-2.0
"""The Parquet store: what it keeps, what it reads, and what becomes of it when things break."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from pandas.testing import assert_frame_equal

from bandgate_reports import store
from bandgate_reports.store import dataset, reading
from bandgate_reports.store.ingest import Ingested, ingest, ingest_documents

from made import FLEET, H200, Document, fleet, result, write

A100 = FLEET[2]
OCTOBER = datetime(2026, 10, 3, 2, 10, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 3, 2, 10, tzinfo=UTC)


def stored(folder: Path, documents: Iterable[Document]) -> Ingested:
    return ingest_documents(folder, documents, "made")


def names(folder: Path) -> list[str]:
    return sorted(p.file.rpartition("/")[0] for p in dataset.parts_of(folder))


def test_partitions_are_months_and_models(tmp_path: Path) -> None:
    documents = [result(H200, at=OCTOBER), result(H200, at=NOVEMBER), result(A100, at=NOVEMBER)]
    stored(tmp_path, documents)
    assert names(tmp_path) == [
        "month=2026-10/model=NVIDIA_H200-84ff98ac",
        "month=2026-11/model=NVIDIA_A100-SXM4-80GB-77649248",
        "month=2026-11/model=NVIDIA_H200-84ff98ac",
    ]


def test_a_store_gives_what_its_files_gave(tmp_path: Path) -> None:
    documents = fleet(12)
    plain = write(tmp_path / "plain", documents)
    into = tmp_path / "store"
    ingest(into, reading.read_all(list(store.result_files([plain], []))))
    assert_frame_equal(store.load([into]).results, store.load([plain]).results)


def test_a_query_opens_only_the_partitions_it_needs(tmp_path: Path) -> None:
    stored(
        tmp_path, [result(H200, at=OCTOBER), result(H200, at=NOVEMBER), result(A100, at=NOVEMBER)]
    )
    for part in dataset.parts_of(tmp_path):
        if part.month == "2026-10" or part.model != H200.name:
            (tmp_path / part.file).write_bytes(b"not Parquet")
    wanted = store.Wanted(since=NOVEMBER - timedelta(days=1), models=frozenset({H200.name}))
    loaded = store.load([tmp_path], wanted=wanted)
    assert (list(loaded.results["device"]), loaded.skipped) == ([H200.name], ())
    everything = store.load([tmp_path])
    assert [s.reason.partition(" (")[0] for s in everything.skipped] == [
        "a part of the store that cannot be read"
    ] * 2


def test_since_is_exact_within_a_partition_and_for_files(tmp_path: Path) -> None:
    documents = [result(at=NOVEMBER), result(at=NOVEMBER + timedelta(days=1))]
    stored(tmp_path / "store", documents)
    plain = write(tmp_path / "plain", documents)
    for folder in (tmp_path / "store", plain):
        found = store.load([folder], wanted=store.Wanted(since=NOVEMBER + timedelta(hours=1)))
        assert list(found.results["started"]) == [NOVEMBER + timedelta(days=1)]


def test_ingesting_again_adds_nothing(tmp_path: Path) -> None:
    documents = fleet(5)
    first, second = stored(tmp_path, documents), stored(tmp_path, documents)
    assert (first.added, first.duplicates) == (len(documents), 0)
    assert (second.added, second.duplicates) == (0, len(documents))
    assert len(store.load([tmp_path]).results) == len(documents)


def test_the_same_in_other_bytes_is_a_duplicate(tmp_path: Path) -> None:
    document = result()
    (tmp_path / "a.json").write_text(json.dumps(document))
    (tmp_path / "b.json").write_text(json.dumps(document, indent=2, sort_keys=True))
    loaded = store.load([tmp_path])
    assert (len(loaded.results), loaded.duplicates) == (1, 1)


def test_one_id_with_other_values_is_kept_and_named_across_ingests(tmp_path: Path) -> None:
    one = result(value=4300.0)
    other = json.loads(json.dumps(one))
    other["measurement"]["median"] *= 0.5
    stored(tmp_path, [one])
    done = ingest_documents(tmp_path, [other], "later")
    assert [(c.id, c.files) for c in done.clashes] == [(one["run"]["id"], ("made, 1", "later, 1"))]
    loaded = store.load([tmp_path])
    assert len(loaded.results) == 2
    assert [c.files for c in loaded.conflicts] == [("made, 1", "later, 1")]


def test_files_beside_a_store_count_once(tmp_path: Path) -> None:
    documents = fleet(3)
    write(tmp_path / "plain", documents)
    stored(tmp_path / "store", documents[:-2])
    loaded = store.load([tmp_path])
    assert (len(loaded.results), loaded.duplicates) == (len(documents), len(documents) - 2)


def test_many_nights_become_few_parts(tmp_path: Path) -> None:
    for night in range(dataset.MOST_PARTS + 3):
        stored(tmp_path, [result(at=NOVEMBER + timedelta(days=night))])
    assert len(dataset.parts_of(tmp_path)) <= dataset.MOST_PARTS
    assert len(store.load([tmp_path]).results) == dataset.MOST_PARTS + 3
    listed = {p.file for p in dataset.parts_of(tmp_path)}
    there = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.parquet")}
    assert there == listed


def test_a_broken_part_is_never_put_together_away(tmp_path: Path) -> None:
    stored(tmp_path, [result(at=NOVEMBER)])
    broken = dataset.parts_of(tmp_path)[0]
    (tmp_path / broken.file).write_bytes(b"PAR1")
    for night in range(1, dataset.MOST_PARTS + 3):
        done = stored(tmp_path, [result(at=NOVEMBER + timedelta(days=night))])
        assert (done.added, [s.file for s in done.skipped]) == (1, [str(tmp_path / broken.file)])
    assert broken in dataset.parts_of(tmp_path)
    assert len(store.load([tmp_path]).results) == dataset.MOST_PARTS + 2


def listing(file: str, **more: object) -> str:
    part = {"file": file, "month": "2026-11", "model": "x", "rows": 1} | more
    return json.dumps({"schema": "bandgate.store/1", "parts": [part]})


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "the file is empty"),
        ("[]", "list indices"),
        ('{"schema": "bandgate.store/9", "parts": []}', "its schema is 'bandgate.store/9'"),
        ('{"schema": "bandgate.store/1"}', "parts"),
        ('{"schema": "bandgate.store/1", "parts": [{"file": "x"}]}', "'x' is not the name of a"),
        (listing("../month=1/model=x/y.parquet"), "is not the name of a part"),
        (listing("month=1/model=x/../../../y.parquet"), "is not the name of a part"),
        (listing("month=1/model=x/y.parquet", rows="many"), "invalid literal"),
    ],
)
def test_a_broken_list_is_an_error_with_its_remedy(
    tmp_path: Path, content: str, reason: str
) -> None:
    (tmp_path / "bandgate-store.json").write_text(content)
    with pytest.raises(store.StoreError, match=r"bandgate-store\.json") as error:
        store.load([tmp_path])
    assert reason in str(error.value)
    assert "ingest" in str(error.value)


def test_a_list_can_be_made_anew(tmp_path: Path) -> None:
    documents = fleet(4)
    stored(tmp_path, documents)
    before = store.load([tmp_path]).results
    (tmp_path / "bandgate-store.json").write_text("{")
    with dataset.locked(tmp_path):
        assert dataset.rebuild(tmp_path) == len(dataset.parts_of(tmp_path))
    assert_frame_equal(store.load([tmp_path]).results, before)


def anew(folder: Path) -> int:
    (folder / "bandgate-store.json").write_text("{")
    with dataset.locked(folder):
        return dataset.rebuild(folder)


def test_a_list_made_anew_loses_no_part_that_cannot_be_read(tmp_path: Path) -> None:
    stored(tmp_path, [result(at=OCTOBER)])
    part = tmp_path / dataset.parts_of(tmp_path)[0].file
    whole = part.read_bytes()
    part.write_bytes(whole[:-9])
    assert anew(tmp_path) == 1
    stored(tmp_path, [result(at=NOVEMBER)])
    for wanted in (store.Wanted(), store.Wanted(models=frozenset({H200.name}))):
        loaded = store.load([tmp_path], wanted=wanted)
        assert (len(loaded.results), [s.file for s in loaded.skipped]) == (1, [str(part)])
    part.write_bytes(whole)
    assert len(store.load([tmp_path]).results) == 2


def test_a_list_made_anew_counts_nothing_twice(tmp_path: Path) -> None:
    nights = [result(at=NOVEMBER + timedelta(days=n)) for n in range(6)]
    stored(tmp_path, nights[:4])
    copies = {p: p.read_bytes() for p in tmp_path.rglob("*.parquet")}
    stored(tmp_path / "other", nights[2:])  # two of them are in both, as in a copy from elsewhere
    for path in (tmp_path / "other").rglob("*.parquet"):
        path.rename(next(iter(copies)).with_name(path.name))
    for path, data in copies.items():  # and a whole part twice, as where a writer was killed
        path.with_name("killed.parquet").write_bytes(data)
    anew(tmp_path)
    found = store.load([tmp_path]).results
    assert sorted(found["id"]) == sorted(n["run"]["id"] for n in nights)


def test_a_part_with_a_bit_turned_over_is_named(tmp_path: Path) -> None:
    stored(tmp_path, fleet(4))
    part = max(tmp_path.rglob("*.parquet"), key=lambda p: p.stat().st_size)
    whole = part.read_bytes()
    for place in range(4, len(whole) - 8, len(whole) // 24):
        part.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        loaded = store.load([tmp_path])
        assert [s.file for s in loaded.skipped] in ([str(part)], [])
    assert loaded.skipped  # the last ones are in the footer


@pytest.mark.parametrize("other_is_first", [True, False])
def test_two_first_writers_at_once_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, other_is_first: bool
) -> None:
    once = iter([True])

    def meanwhile(folder: Path) -> Iterator[Path]:
        before = list(os.scandir(folder))
        if next(once, False):  # the other one makes the store and fills it
            stored(tmp_path, [result(seed=1)])
        return (Path(e) for e in (os.scandir(folder) if other_is_first else before))

    monkeypatch.setattr(Path, "iterdir", meanwhile)
    stored(tmp_path, [result(seed=2)])
    assert len(store.load([tmp_path]).results) == 2


def test_what_a_killed_writer_left_goes_with_the_next(tmp_path: Path) -> None:
    stored(tmp_path, [result(seed=1)])
    (tmp_path / ".tmpabc.json").write_text("{")
    stored(tmp_path, [result(seed=2)])
    assert not list(tmp_path.glob(".*.json"))


def test_a_part_of_another_version_has_what_it_lacks_unknown(tmp_path: Path) -> None:
    stored(tmp_path, [result()])
    part = tmp_path / dataset.parts_of(tmp_path)[0].file
    older = pq.read_table(part, partitioning=None).drop_columns(
        ["vbios", "more", "unsettled", "drop"]
    )
    pq.write_table(older.append_column("of_the_future", [["x"]]), part)
    row = store.load([tmp_path]).results.iloc[0]
    assert (row["vbios"], row["more"], row["unsettled"]) == ("", {}, False)
    assert pd.isna(row["drop"])
    assert row["device"] == H200.name


def test_no_two_models_share_a_folder() -> None:
    hostile = ["a/b", "a_b", "a b", "", ".", "..", "A100 (TM)", "x" * 300, "x" * 301, 'q"', "q'"]
    safe = [dataset._safe(m) for m in hostile]
    assert len(set(safe)) == len(hostile)
    assert all("/" not in s and s.strip(".") and len(s) < 100 for s in safe)


def test_a_folder_of_other_things_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(store.StoreError, match=r"holds thesis.tex and is no store"):
        stored(tmp_path, [result()])


def test_a_killed_writer_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    stored(tmp_path, [result(at=NOVEMBER)])
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "from made import result\n"
        "from bandgate_reports.store import dataset\n"
        "from bandgate_reports.store.ingest import ingest_documents\n"
        "dataset._write_list = lambda *_: os.kill(os.getpid(), 9)\n"
        "ingest_documents(Path(sys.argv[1]), [result(value=4000.0)], 'x')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path, Path(__file__).parent], check=False
    )
    assert done.returncode == -9
    assert len(list(tmp_path.rglob("*.parquet"))) == 2
    assert len(store.load([tmp_path]).results) == 1
    stored(tmp_path, [result(value=4100.0)])
    assert len(store.load([tmp_path]).results) == 2
    assert len(list(tmp_path.rglob("*.parquet"))) == 2


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(tmp_path, [result(at=NOVEMBER)])

    wrote = pq.write_table
    room = iter([True])

    def full(*arguments: Any, **more: Any) -> None:
        if not next(room, False):
            raise OSError(28, os.strerror(28))
        wrote(*arguments, **more)

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    with pytest.raises(OSError, match="No space left"):
        stored(tmp_path, [result(value=4000.0, seed=1), result(A100, at=OCTOBER)])
    assert len(store.load([tmp_path]).results) == 1
    assert len(list(tmp_path.rglob("*.p*"))) == 1  # nor does it fill the disk


def test_a_second_writer_waits_and_says_for_whom(tmp_path: Path) -> None:
    dataset.create(tmp_path)
    with (
        dataset.locked(tmp_path),
        pytest.raises(store.StoreError, match="another ingest has kept the store"),
        dataset.locked(tmp_path, patience_s=0.2),
    ):
        pass


def test_a_reader_beside_a_writer_that_puts_parts_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for night in range(dataset.MOST_PARTS):
        stored(tmp_path, [result(at=NOVEMBER + timedelta(days=night))])
    tried = dataset._try_part
    once = iter([True])

    def meanwhile(path: Path) -> object:
        if next(once, False):  # between the reader's look at the list and at the parts
            stored(tmp_path, [result(at=NOVEMBER + timedelta(days=20))])
        return tried(path)

    monkeypatch.setattr(dataset, "_try_part", meanwhile)
    loaded = store.load([tmp_path])
    assert (len(loaded.results), loaded.skipped) == (dataset.MOST_PARTS + 1, ())


def test_equal_starts_are_in_an_order_that_files_do_not_decide(tmp_path: Path) -> None:
    same = [result(replace(H200, uuid=f"GPU-{i}", pci=f"0000:{i:02x}:00.0")) for i in range(6)]
    a = store.load([write(tmp_path / "a", same)]).results
    stored(tmp_path / "b", reversed(same))
    b = store.load([tmp_path / "b"]).results
    assert list(a["id"]) == list(b["id"]) == sorted(a["id"])
