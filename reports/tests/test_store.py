# SPDX-License-Identifier: Apache-2.0
"""Files as they are found: whole, broken, doubled, or no files at all."""

import gzip
import json
import os
import stat
from pathlib import Path

import pytest

from bandgate_reports import store
from bandgate_reports.store import found, records, schema

from made import H200, READ, Gpu, result, write

GOOD = json.dumps(result())


def with_value(key: str, token: str) -> str:
    """A result whose measurement has that token for a value."""
    document = result()
    document["measurement"][key] = "@"
    return json.dumps(document).replace('"@"', token)


def without(section: str, key: str) -> str:
    document = result()
    del document[section][key]
    return json.dumps(document)


def started(text: str) -> str:
    document = result()
    document["run"]["started"] = text
    return json.dumps(document)


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "spaces": (b"  \n", "line 2, column 1: Expecting value (cut off?)"),
    "nan": (with_value("sd", "NaN"), "NaN is not a JSON number"),
    "infinity": (with_value("sd", "Infinity"), "Infinity is not a JSON number"),
    "minus infinity": (with_value("sd", "-Infinity"), "-Infinity is not a JSON number"),
    "minus nan": (with_value("sd", "-nan"), "Expecting value"),
    "huge": (with_value("sd", "1e999"), "the number 1e999 does not fit"),
    "huge integer": (with_value("iterations", "9" * 400), "does not fit"),
    "percent": (with_value("cv", "2%"), "Expecting ',' delimiter"),
    "text number": (with_value("median", '"2000"'), "/measurement/median: '2000' is not of type"),
    "zero": (with_value("median", "0"), "/measurement/median: 0 is less than or equal to"),
    "negative": (with_value("median", "-1"), "/measurement/median: -1 is less than or equal to"),
    "null": (with_value("median", "null"), "/measurement/median: None is not of type 'number'"),
    "unknown unit": (with_value("unit", '"GB"'), "/measurement/unit: 'GB' is not one of"),
    "list": (f"[{GOOD}]", "the top level is a list, not an object"),
    "number": ("3", "the top level is a number, not an object"),
    "nul bytes": (b"\0" * 4096, "it holds NUL bytes"),
    "nul at the end": (GOOD.encode() + b"\0", "it holds NUL bytes"),
    "cut": (GOOD[: len(GOOD) // 2], "line 1, column"),
    "two": (GOOD + GOOD, "Extra data"),
    "latin-1": (GOOD.replace("H200", "H2\xe90").encode("latin-1"), "broken UTF-8 at byte"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD.encode(), "begins with a byte order mark"),
    "utf-16": (GOOD.encode("utf-16"), "it is UTF-16; save it as UTF-8"),
    "gzip": (gzip.compress(GOOD.encode()), "it is compressed with gzip; unpack it"),
    "key twice": (GOOD.replace('"attempt": 1', '"attempt": 1, "attempt": 2'), '"attempt" is there'),
    "other schema": (GOOD.replace("result/1", "result/2"), 'its schema is "bandgate.result/2"'),
    "no schema": ("{}", "no schema named"),
    "no host": (without("run", "host"), "/run: 'host' is a required property"),
    "unknown key": (GOOD.replace('"labels"', '"lables"'), "/run: "),
    "no such day": (started("2026-02-30T00:00:00Z"), "/run/started: 2026-02-30T00:00:00Z is no"),
    "before any year": (started("0001-01-01T00:00:00+14:00"), "/run/started: 0001-01-01"),
    "negative parameter": (
        GOOD.replace('"parameters": {', '"parameters": {"window": -1, ', 1),
        "/probe/parameters: -1 is not from 0 to 2^64 - 1",
    ),
    "nothing measured": (
        json.dumps(result(value=None)),
        "/: needs exactly one of a measurement, a failure and a skip_reason",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_named_with_its_reason_and_skipped(tmp_path: Path, kind: str) -> None:
    content, reason = BROKEN[kind]
    write(tmp_path, [result()])
    broken = tmp_path / "broken.json"
    broken.write_bytes(content if isinstance(content, bytes) else content.encode())
    loaded = store.load([tmp_path])
    assert len(loaded.results) == 1
    assert [s.file for s in loaded.skipped] == [str(broken)]
    assert reason in loaded.skipped[0].reason


def test_what_is_nested_just_less_deeply_than_the_reader_takes_is_named_too(tmp_path: Path) -> None:
    for depth in range(860, 1000, 3):  # where that is depends on who called
        nested = "[" * depth + "]" * depth
        (tmp_path / f"{depth}.json").write_text(f'{{"schema": {nested}}}')
        (tmp_path / f"{depth}-in.json").write_text(GOOD.replace('"n017"', nested))
    loaded = store.load([tmp_path])
    assert len(loaded.skipped) == 94
    assert {s.reason for s in loaded.skipped} >= {"it is nested too deeply"}


def test_a_number_of_any_size_that_the_schema_allows_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(with_value("median", "18446744073709551616"))
    loaded = store.load([tmp_path])
    assert (loaded.skipped, list(loaded.results["median"])) == ((), [2.0**64])


def test_a_file_whose_name_is_no_utf_8_is_read_and_named(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"a\xff.json")).write_text(GOOD)
    loaded = store.load([tmp_path])
    assert list(loaded.results["file"]) == [f"{tmp_path}/a\\xff.json"]


def test_a_file_that_only_seems_to_be_regular_is_named(tmp_path: Path) -> None:
    read, write_end = os.pipe2(os.O_NONBLOCK)
    try:
        with pytest.MonkeyPatch.context() as own:
            own.setattr(os, "open", lambda *_: os.dup(read))
            own.setattr(stat, "S_ISREG", lambda _: True)
            with pytest.raises(OSError, match="not a regular file"):
                found.read_bytes(tmp_path / "kmsg.json")
    finally:
        os.close(read)
        os.close(write_end)


def test_reads_folders_recursively_and_files_once(tmp_path: Path) -> None:
    write(tmp_path, [result(seed=1), result(seed=2)])
    one = next(tmp_path.rglob("*.json"))
    loaded = store.load([tmp_path, tmp_path / "2026", one])
    assert (loaded.files, len(loaded.results), loaded.duplicates) == (2, 2, 0)


def test_ignores_temporary_files_and_other_names(tmp_path: Path) -> None:
    (tmp_path / ".half.json").write_text("{")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.json").write_text("{")
    (tmp_path / "notes.txt").write_text("{")
    loaded = store.load([tmp_path])
    assert (loaded.files, loaded.skipped) == (0, ())


def test_a_loop_of_links_is_walked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path, target_is_directory=True)
    listed: list[str] = []
    scandir = os.scandir

    def watched(path: Path) -> object:
        listed.append(path.name)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", watched)
    assert list(store.result_files([tmp_path], [])) == []
    assert listed == [tmp_path.name, "a", "b"]


def test_folders_named_like_files_loops_of_links_pipes_and_dead_links(tmp_path: Path) -> None:
    inner = tmp_path / "x.json"
    inner.mkdir()
    write(inner, [result()])
    (inner / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self.json").symlink_to(tmp_path / "self.json")
    (tmp_path / "dead.json").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.json")
    loaded = store.load([tmp_path])
    assert len(loaded.results) == 1
    assert {Path(s.file).name: s.reason for s in loaded.skipped} == {
        "dead.json": "No such file or directory",
        "pipe.json": "not a regular file",
        "self.json": "Too many levels of symbolic links",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_and_folders_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(GOOD)
    (tmp_path / "a.json").chmod(0)
    (tmp_path / "locked").mkdir(mode=0)
    loaded = store.load([tmp_path])
    assert {s.reason for s in loaded.skipped} == {"Permission denied"}
    assert len(loaded.skipped) == 2


def test_a_file_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big.json").open("wb") as stream:
        stream.truncate(2 << 30)
    loaded = store.load([tmp_path])
    assert loaded.skipped[0].reason == "larger than 64 MiB"


def test_exact_duplicates_are_dropped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(GOOD)
    (tmp_path / "b.json").write_text(GOOD)
    # The same document in other bytes is the same result.
    (tmp_path / "c.json").write_text(json.dumps(result(), indent=2, sort_keys=True))
    loaded = store.load([tmp_path])
    assert (len(loaded.results), loaded.duplicates, loaded.conflicts) == (1, 2, ())


def test_one_id_with_other_values_keeps_both_and_names_them(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(GOOD)
    other = result()
    other["measurement"]["median"] *= 0.9
    (tmp_path / "b.json").write_text(json.dumps(other))
    loaded = store.load([tmp_path])
    assert (len(loaded.results), loaded.duplicates) == (2, 0)
    assert [c.files for c in loaded.conflicts] == [
        (str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    ]


def test_scripted_results_stay_out_unless_asked_for(tmp_path: Path) -> None:
    drill = Gpu("NVIDIA H200", "n1", "0000:01:00.0", "GPU-1", backend="scripted")
    write(tmp_path, [result(drill), result()])
    loaded = store.load([tmp_path])
    assert (len(loaded.results), loaded.scripted_left_out) == (1, 1)
    loaded = store.load([tmp_path], include_scripted=True)
    assert (len(loaded.results), loaded.scripted_left_out) == (2, 0)


def test_no_result_is_a_table_with_all_columns() -> None:
    table = store.load([]).results
    assert tuple(table.columns) == records.COLUMNS
    assert str(table["started"].dtype) == "datetime64[us, UTC]"


def test_the_baseline_shown_is_the_one_that_does_not_hold() -> None:
    document = result(value=4270)  # 0.74 % below: the model's bound lets it through
    card = document["verdict"]["baselines"][0] | {"card": True, "lower": 4280 * 2.0**30}
    document["verdict"]["baselines"].append(card)
    assert records.row(document, "x")["card_entry"]
    assert records.row(document, "x")["lower"] == 4280 * 2.0**30
    model = document["verdict"]["baselines"][0]
    model["lower"], card["lower"] = 4290 * 2.0**30, 4260 * 2.0**30
    assert not records.row(document, "x")["card_entry"]


def test_the_made_results_hold_to_the_schema() -> None:
    assert schema.complaint(result()) == ""
    assert schema.complaint(result(H200, READ, value=None, failure=("crashed", "x"))) == ""


def test_sizes_of_parameters_are_shortened() -> None:
    sizes = (4 << 30, 64 << 20, 1000, 1 << 10, 0, "auto")
    assert [records.parameter_text("size", v) for v in sizes] == [
        "4GiB",
        "64MiB",
        "1000",
        "1024",
        "0",
        "auto",
    ]


def test_numbers_of_elements_are_no_sizes() -> None:
    counts = (1, 1024, 1 << 28, 3000000, "64")
    assert [records.parameter_text("span", v) for v in counts] == [
        "1",
        "1024",
        "2^28",
        "3000000",
        "64",
    ]


def test_facts_have_their_unit_and_the_unknown_is_empty() -> None:
    document = result()
    document["device"] |= {"power_limit_w": 700.0, "memory_clock_mhz": 3201.5, "ecc": None}
    row = records.row(document, "x")
    found = [row[c] for c in ("power_limit_w", "memory_clock_mhz", "ecc", "dimm_mts", "numa_node")]
    assert found == ["700 W", "3201.5 MHz", "", "", ""]
