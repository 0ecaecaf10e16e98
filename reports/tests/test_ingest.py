# SPDX-License-Identifier: Apache-2.0
"""The command that fills a store, as people run it."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pandas.testing import assert_frame_equal

from bandgate_reports import store
from bandgate_reports.store import cluster as dask
from bandgate_reports.store import reading
from bandgate_reports.store.cluster import on_cluster

from conftest import Run
from made import fleet, result, write

Said = Callable[..., str]


@pytest.fixture
def said_by(run: Run) -> Said:
    """Standard output, then standard error, then the exit code."""

    def command(*arguments: str | Path, **more: Any) -> str:
        done = run(*arguments, **more)
        return f"{done.stdout.decode()}{done.stderr}{done.code}"

    return command


def test_says_what_became_of_each(tmp_path: Path, said_by: Said) -> None:
    results = write(tmp_path / "results", fleet(2))
    (results / "broken.json").write_text("{")
    number = len(list(results.rglob("*.json"))) - 1
    into = tmp_path / "history"
    broken = f"skipped {results}/broken.json: line 1, column 2"
    said = said_by("ingest", results, "--store", into)
    assert said.startswith(f"{number} results added to {into}, 1 broken file skipped\n{broken}")
    assert said.endswith("\n0")
    again = said_by("ingest", results, "--store", into, "--strict")
    assert again.startswith(f"0 results added to {into}, {number} exact duplicates dropped, 1 bro")
    assert again.endswith("\n2")


def test_move_clears_what_the_store_holds_and_nothing_else(tmp_path: Path, said_by: Said) -> None:
    results = write(tmp_path / "results", fleet(2))
    there = sorted(p.relative_to(results) for p in results.rglob("*.json"))
    (results / "broken.json").write_text("{")
    said = said_by("ingest", results, "--store", tmp_path / "s", "--move", tmp_path / "old")
    assert f"\n{len(there)} files moved to {tmp_path}/old\n" in said
    assert [p.name for p in results.rglob("*.json")] == ["broken.json"]
    assert (
        sorted(p.relative_to(tmp_path / "old") for p in (tmp_path / "old").rglob("*.json")) == there
    )
    assert len(store.load([tmp_path / "s"]).results) == len(there)


def test_move_overwrites_nothing(tmp_path: Path, said_by: Said) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "results" / "a.json").write_text(json.dumps(result()))
    (tmp_path / "old" / "a.json").write_text("of somebody else")
    said_by("ingest", tmp_path / "results", "--store", tmp_path / "s", "--move", tmp_path / "old")
    assert (tmp_path / "old" / "a.json").read_text() == "of somebody else"
    assert json.loads((tmp_path / "old" / "a-2.json").read_text()) == result()


def test_move_to_a_full_disk_leaves_no_half_of_a_file(
    tmp_path: Path, said_by: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = write(tmp_path / "results", [result()])

    def half(file: Path, place: Path) -> None:
        place.write_bytes(file.read_bytes()[:99])
        raise OSError(28, os.strerror(28), str(place))

    with monkeypatch.context() as own:
        own.setattr("shutil.move", half)
        said = said_by("ingest", results, "--store", tmp_path / "s", "--move", tmp_path / "old")
    assert "No space left on device; the store holds all results" in said
    assert not [p for p in (tmp_path / "old").rglob("*") if p.is_file()]
    said_by("ingest", results, "--store", tmp_path / "s", "--move", tmp_path / "old")
    assert len(store.load([tmp_path / "old"]).results) == 1


def test_a_scheduler_without_a_port_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distributed.Client", None)
    with pytest.raises(store.StoreError, match="it names no port") as error:
        on_cluster("nope").__enter__()
    assert "tcp://HOST:8786" in str(error.value)


def test_what_was_moved_is_not_read_again(tmp_path: Path, said_by: Said) -> None:
    results = write(tmp_path / "results", [result()])
    said = said_by("ingest", results, "--store", tmp_path / "s", "--move", results / "done")
    assert "/done: lies in " in said
    assert said.endswith("name a folder elsewhere\n2")


def test_no_home_is_named(tmp_path: Path, said_by: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    for name in ("BANDGATE_STORE", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert "no home folder for the store; name one: --store DIR" in said_by("ingest", tmp_path)


def test_standard_input_that_is_closed_is_named(
    tmp_path: Path, said_by: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("io.TextIOWrapper", lambda *_: None)
    assert "-: standard input is closed" in said_by("ingest", "-", "--store", tmp_path)


def test_a_folder_of_results_is_no_store_to_rebuild(tmp_path: Path, said_by: Said) -> None:
    results = write(tmp_path, [result()])
    said = said_by("ingest", "--rebuild", "--store", results)
    assert said == f"bandgate-report: {results}: there is no store to rebuild\n2"
    assert len(store.load([results]).results) == 1


def test_standard_input_is_json_lines(tmp_path: Path, said_by: Said) -> None:
    lines = [json.dumps(result(seed=1)), "", "{", json.dumps(result(seed=2))]
    said = said_by("ingest", "-", "--store", tmp_path, data="\n".join(lines).encode())
    assert said.startswith(f"2 results added to {tmp_path}, 1 broken file skipped\n")
    assert "skipped standard input, line 3: line 1, column 2" in said
    assert len(store.load([tmp_path]).results) == 2


def test_a_store_goes_into_another(tmp_path: Path, said_by: Said) -> None:
    documents = fleet(2)
    said_by("ingest", write(tmp_path / "a", documents[:20]), "--store", tmp_path / "one")
    said_by("ingest", write(tmp_path / "b", documents[10:]), "--store", tmp_path / "two")
    said_by("ingest", tmp_path / "one", "--store", tmp_path / "two")
    assert len(store.load([tmp_path / "two"]).results) == len(documents)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "ingest: name the folders with results"),
        (["nowhere"], "nowhere: there is no such file or folder"),
        (["-", "--move", "x"], "--move: standard input cannot be moved"),
        (["results", "--store", "/dev/null/x"], "/dev/null/x: Not a directory; the store is as it"),
        (["results", "--store", "results"], "is no store; name an empty or a new folder"),
        (["results", "--scheduler", "127.0.0.1:1"], "no Dask scheduler answers there"),
        (["--rebuild", "--store", "nowhere"], "nowhere: there is no store to rebuild"),
    ],
)
def test_errors_say_what_to_do(
    tmp_path: Path,
    arguments: list[str],
    reason: str,
    said_by: Said,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(tmp_path / "results", [result()])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dask, "_PATIENCE_S", 0.2)
    said = said_by("ingest", *arguments, HOME=str(tmp_path))
    assert reason in said
    assert said.endswith("\n2")
    assert "Traceback" not in said


def test_where_the_store_is_when_nobody_says(tmp_path: Path, said_by: Said) -> None:
    results = write(tmp_path / "results", [result()])
    said = said_by("ingest", results, HOME=str(tmp_path))
    assert said.startswith(f"1 result added to {tmp_path}/.local/share/bandgate/store\n")
    said = said_by("ingest", results, HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "data"))
    assert said.startswith(f"1 result added to {tmp_path}/data/bandgate/store\n")
    said = said_by("ingest", results, HOME=str(tmp_path), BANDGATE_STORE=str(tmp_path / "s"))
    assert said.startswith(f"1 result added to {tmp_path}/s\n")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    from distributed import LocalCluster  # noqa: PLC0415 - slow to load, also for other tests

    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as local:
        yield str(local.scheduler_address)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_two_workers_give_equal_output(
    tmp_path: Path, cluster: str, said_by: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FILES_AT_ONCE", 10)  # so that both have something to do
    results = write(tmp_path / "results", fleet(10))
    (results / "broken.json").write_text("{")
    said_by("ingest", results, "--store", tmp_path / "alone")
    said_by("ingest", results, "--store", tmp_path / "together", "--scheduler", cluster)
    alone, together = (store.load([tmp_path / s]) for s in ("alone", "together"))
    assert_frame_equal(alone.results, together.results)
    paths = [tmp_path / "alone", results]
    here = store.load(paths)
    with on_cluster(cluster) as spread:
        spread_out = store.load(paths, spread=spread)
    assert_frame_equal(spread_out.results, here.results)
    assert (spread_out.skipped, spread_out.duplicates) == (here.skipped, here.duplicates)
    assert (here.duplicates, len(here.skipped)) == (len(here.results), 1)
    assert len(here.results) > 50


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_the_work_is_done_by_the_workers(cluster: str) -> None:
    with on_cluster(cluster) as spread:
        processes = set(spread(_process, range(8)))
    assert len(processes) == 2
    assert os.getpid() not in processes


def _process(_: int) -> int:
    time.sleep(0.05)
    return os.getpid()


def test_queries_by_time_and_model(tmp_path: Path, said_by: Said) -> None:
    said_by("ingest", write(tmp_path / "results", fleet(40)), "--store", tmp_path / "s")
    command = ("csv", tmp_path / "s")
    everything = said_by(*command).splitlines()
    of_model = said_by(*command, "--model", "NVIDIA A100-SXM4-80GB").splitlines()
    recent = said_by(*command, "--since", "2026-11-01T00:00:00Z").splitlines()
    assert len(everything) > len(recent) > len(of_model) > 50
    assert all("2026-11" in line for line in recent[1:-1])
    assert all("NVIDIA A100-SXM4-80GB" in line for line in of_model[1:-1])


def test_a_model_that_nobody_has_is_an_error(tmp_path: Path, said_by: Said) -> None:
    results = write(tmp_path / "results", fleet(2))
    said = said_by("csv", results, "--model", "H200")
    assert said.startswith(
        "bandgate-report: --model H200: no result is of that model; there are "
        "NVIDIA A100-SXM4-80GB, NVIDIA H200\n"
    )
    assert said.endswith("\n2")
