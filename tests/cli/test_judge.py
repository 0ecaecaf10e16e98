# SPDX-License-Identifier: Apache-2.0
"""`bandgate judge`: what Google Benchmark and NVBench measured."""

import json
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, Bandgate, Outcome

Document = dict[str, Any]


def entry(probe: str, value: float, unit: str | None = "GB/s", **more: object) -> Document:
    return {
        "probe": probe,
        **({"unit": unit} if unit else {}),
        "value": value,
        "tolerance": {"lower": -0.05, "upper": 0.05},
        "provenance": {"kind": "measured"},
        **more,
    }


def google(name: str, bytes_per_second: float | None = 100e9, **more: object) -> Document:
    """One repetition, with the keys that libbenchmark 1.7.1 writes."""
    return {
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": 1,
        "repetition_index": 0,
        "threads": 1,
        "iterations": 9848,
        "real_time": 2000.0,
        "cpu_time": 1377.5,
        "time_unit": "ns",
        **({} if bytes_per_second is None else {"bytes_per_second": bytes_per_second}),
        **more,
    }


def aggregate(name: str, kind: str, bytes_per_second: float) -> Document:
    whole = {"name": f"{name}_{kind}", "run_type": "aggregate", "aggregate_name": kind}
    return google(name, bytes_per_second) | whole


def summary(tag: str, value: str, kind: str = "float64") -> Document:
    return {"tag": tag, "data": [{"name": "value", "type": kind, "value": value}]}


def state(rate: str | None = "3.2e12", time: str = "1.25e-05", **more: object) -> Document:
    """One state, as NVBench's JSON format 1 has it: numbers are text."""
    summaries = [
        summary("nv/cold/sample_size", "512", "int64"),
        summary("nv/cold/time/gpu/mean", time),
    ]
    if rate is not None:
        summaries.append(summary("nv/cold/bw/global/bytes_per_second", rate))
    return {
        "name": "Device=0 N=2^20",
        "device": 0,
        "axis_values": [{"name": "N", "type": "int64", "value": "1048576"}],
        "summaries": summaries,
        "is_skipped": False,
        **more,
    }


def nvbench(**states: list[Document]) -> Document:
    return {
        "meta": {"version": {"json": {"major": 1, "minor": 0, "patch": 0, "string": "1.0.0"}}},
        "devices": [{"id": 0, "name": "NVIDIA H200", "global_memory_bus_bandwidth": 4814304000000}],
        "benchmarks": [
            {"name": name, "devices": [0], "states": all_of} for name, all_of in states.items()
        ],
    }


class Judge:
    """Writes documents and judges them."""

    def __init__(self, bandgate: Bandgate) -> None:
        self.bandgate = bandgate
        self.baseline = bandgate.home / "kernels.json"

    def entries(self, *all_of: Document, gpu: Document | None = None) -> None:
        document = {
            "schema": "bandgate.baseline/1",
            "gpu": gpu or {"model": "NVIDIA H200", "aliases": ["NVIDIA H200"]},
            "entries": list(all_of),
        }
        self.baseline.write_text(json.dumps(document))

    def write(self, document: Document | str, name: str = "results.json") -> str:
        path = self.bandgate.home / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    def __call__(self, document: Document | str, *more: str) -> Outcome:
        file = self.write(document)
        return self.bandgate("judge", file, "--baseline", str(self.baseline), *more)

    def google(self, *benchmarks: Document, more: tuple[str, ...] = ()) -> Outcome:
        return self({"context": {}, "benchmarks": list(benchmarks)}, *more)


@pytest.fixture
def judge(bandgate: Bandgate) -> Judge:
    return Judge(bandgate)


def test_within_and_beyond_the_bound(judge: Judge) -> None:
    judge.entries(entry("Sum/4096", 100), entry("Copy", 100))
    fine = judge.google(google("Sum/4096/real_time"), google("Copy/real_time", 96e9))
    assert fine.code == 0, fine
    assert fine.out.splitlines() == [
        "PASS         external Sum/4096: 93.1 GiB/s, bounds 88.5 GiB/s .. 97.8 GiB/s, 100.0 % of "
        "reference 93.1 GiB/s (measured)",
        "  note:  verified: external, measured by Google Benchmark, which checks no result; n = 1, "
        "a single value",
        "PASS         external Copy: 89.4 GiB/s, bounds 88.5 GiB/s .. 97.8 GiB/s, 96.0 % of "
        "reference 93.1 GiB/s (measured)",
        "  note:  verified: external, measured by Google Benchmark, which checks no result; n = 1, "
        "a single value",
        "judged 2 of 2: 2 pass, verified: external",
    ]
    slow = judge.google(google("Sum/4096"), google("Copy", 94e9))
    assert slow.code == 1, slow
    assert "REGRESSION   external Copy: 87.5 GiB/s" in slow.out
    fast = judge.google(google("Sum/4096"), google("Copy", 106e9))
    assert fast.code == 0
    assert "IMPROVED     external Copy" in fast.out


def test_the_median_of_the_repetitions_counts_and_not_the_aggregates(judge: Judge) -> None:
    judge.entries(entry("Sum", 100))
    name = "Sum/repeats:3/real_time"
    repetitions = [
        google(name, rate, repetitions=3, repetition_index=i)
        for i, rate in enumerate((300e9, 100e9, 10e9))
    ]
    outcome = judge.google(*repetitions, aggregate(name, "mean", 136e9), more=("--json",))
    assert outcome.code == 0, outcome
    (document,) = outcome.records()
    assert document["measurement"]["median"] == 100e9
    assert document["measurement"]["n"] == 3
    assert "the median of n = 3" in document["notes"][0]


def test_of_aggregates_alone_the_median(judge: Judge) -> None:
    judge.entries(entry("Sum", 100))
    name = "Sum/repeats:3"
    outcome = judge.google(aggregate(name, "mean", 10e9), aggregate(name, "median", 100e9))
    assert outcome.code == 0, outcome
    assert "the median that Google Benchmark computed" in outcome.out
    refused = judge.google(aggregate(name, "mean", 100e9), aggregate(name, "cv", 0.01))
    assert refused.code == 2
    assert "only aggregates, and no median among them" in refused.err


def test_files_are_processes_of_one_program(judge: Judge) -> None:
    judge.entries(entry("Sum", 100))
    files = [
        judge.write({"context": {}, "benchmarks": [google("Sum", rate)]}, f"{i}.json")
        for i, rate in enumerate((70e9, 100e9, 99e9))
    ]
    outcome = judge.bandgate("judge", *files, "--baseline", str(judge.baseline))
    assert outcome.code == 0, outcome
    assert "the median of n = 3" in outcome.out


def test_a_file_counts_once(judge: Judge) -> None:
    judge.entries(entry("Sum", 100))
    file = judge.write({"context": {}, "benchmarks": [google("Sum")]})
    link = judge.baseline.with_name("again.json")
    link.symlink_to(file)
    for again in (file, str(link)):
        outcome = judge.bandgate("judge", file, again, "--baseline", str(judge.baseline))
        assert outcome.code == 2, outcome
        assert f"{again}: is the same file as {file}" in outcome.err


def test_google_benchmark_writes_numbers(judge: Judge) -> None:
    judge.entries(entry("Sum", 100))
    for key in ("bytes_per_second", "real_time"):
        outcome = judge.google(google("Sum") | {key: "100e9"})
        assert outcome.code == 2, outcome
        assert f'/benchmarks/0/{key}: "100e9" is text' in outcome.err


def test_times(judge: Judge) -> None:
    judge.entries(entry("Sum", 2, "us"))
    assert judge.google(google("Sum", None)).code == 0
    assert judge.google(google("Sum", None, real_time=0.002, time_unit="ms")).code == 0
    slow = judge.google(google("Sum", None, real_time=2.2, time_unit="us"))
    assert slow.code == 1
    assert "2.200 us" in slow.out


def test_a_rate_of_cpu_time_is_told(judge: Judge) -> None:
    judge.entries(entry("Sum", 100))
    assert "those of CPU time" in judge.google(google("Sum")).out
    assert "those of CPU time" not in judge.google(google("Sum/manual_time")).out


def test_a_counter_needs_its_unit(judge: Judge) -> None:
    judge.entries(entry("Sum", 100))
    own = google("Sum", None, bandwidth=93.13)
    missing = judge.google(own)
    assert missing.code == 2, missing
    assert "wants bytes per second, but it counts no bytes" in missing.err
    assert judge.google(own, more=("--counter", "bandwidth=GiB/s")).code == 0
    assert judge.google(own, more=("--counter", "bandwidth=GB/s")).code == 1
    assert judge.google(own, more=("--counter", "bandwidth")).code == 2
    absent = judge.google(own, more=("--counter", "bw=GB/s"))
    assert absent.code == 2
    assert "it has no counter bw" in absent.err


def test_ratios_to_another_benchmark(judge: Judge) -> None:
    judge.entries(entry("Sum", 0.8, None, relative_to="Copy"), entry("Copy", 50))
    assert judge.google(google("Copy", 50e9), google("Sum", 40e9)).code == 0
    assert judge.google(google("Copy", 50e9), google("Sum", 35e9)).code == 1
    alone = judge.google(google("Sum", 40e9))
    assert alone.code == 77, alone
    assert "relative to Copy, which this process did not measure" in alone.out


def test_errors_and_what_cannot_have_been_measured(judge: Judge) -> None:
    judge.entries(entry("Sum", 100), entry("Bad", 100))
    bad = google("Bad", None, error_occurred=True, error_message="boom", real_time=0.0)
    outcome = judge.google(google("Sum"), bad)
    assert outcome.code == 3, outcome
    assert "cause: the benchmark reported an error: boom" in outcome.out
    assert "PASS         external Sum" in outcome.out
    for wrong in (google("Sum", 0.0), google("Sum", -1.0), google("Sum", real_time=0.0)):
        outcome = judge.google(wrong)
        assert outcome.code == 3, outcome
        assert "nothing was measured" in outcome.out


def test_nothing_that_matches_is_never_a_success(judge: Judge) -> None:
    judge.entries(entry("Sum", 100))
    outcome = judge.google(google("Other"))
    assert outcome.code == 77
    assert "NO-BASELINE" in outcome.out
    assert "warning: " in outcome.err and 'no benchmark "Sum" was measured' in outcome.err
    assert judge.google(google("Other"), more=("--strict",)).code == 4
    assert judge.google(google("Sum"), google("Other"), more=("--strict",)).code == 4
    judge.entries(entry("Sum", 100), entry("Renamed", 100))
    assert judge.google(google("Sum")).code == 0
    assert judge.google(google("Sum"), more=("--strict",)).code == 4
    empty = judge.google()
    assert empty.code == 2
    assert "holds no benchmark" in empty.err


def test_names_of_probes_are_names_like_others(judge: Judge) -> None:
    """A shipped entry of that name counts its bytes by rules of its own."""
    judge.entries(entry("other", 1))
    outcome = judge.google(google("read_window"), google("read"))
    assert outcome.code == 77, outcome


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("{", "line 1"),
        ('{"context": {}, "benchmarks": [{"bytes_per_second": NaN}]}', "JSON has no NaN"),
        ("[]", "is neither of Google Benchmark nor of NVBench"),
        ('{"benchmarks": []}', "is neither of Google Benchmark nor of NVBench"),
        ('{"context": {}, "benchmarks": 1}', "/benchmarks: 1 is not an array"),
        ('{"context": {}, "benchmarks": [1]}', "/benchmarks/0: is not an object"),
        ('{"context": {}, "benchmarks": [{}]}', '/benchmarks/0: "run_name" is missing'),
        ('{"devices": [], "benchmarks": null}', "holds no benchmark"),
        (
            '{"devices": [], "benchmarks": [{"name": "a", "states": [{"device": 0}]}]}',
            "/benchmarks/0/states/0/device: is none of /devices",
        ),
        (
            '{"devices": [], "benchmarks": [{"name": "a", "states": [{"summaries": {}}]}]}',
            "before its JSON format 1",
        ),
    ],
)
def test_bad_files(judge: Judge, text: str, words: str) -> None:
    judge.entries(entry("Sum", 100))
    outcome = judge(text)
    assert outcome.code == 2, outcome
    assert words in outcome.err
    assert "results.json: " in outcome.err


def test_a_second_benchmark_of_the_same_name(judge: Judge) -> None:
    judge.entries(entry("Sum", 100))
    outcome = judge.google(google("Sum"), google("Sum", 1e9))
    assert outcome.code == 2
    assert 'a second "Sum" that is no repetition of the first' in outcome.err


def test_nvbench(judge: Judge) -> None:
    judge.entries(
        entry("reduce", 3200, parameters={"N": 1048576}),
        entry("launch", 12.5, "us", parameters={"N": "1048576"}),
        entry("copy", 0.66, "peak", parameters={"N": 1048576}),
    )
    outcome = judge(nvbench(reduce=[state()], launch=[state(None)], copy=[state()]), "--json")
    assert outcome.code == 0, outcome
    reduce, launch, copy = outcome.records()
    assert reduce["device"] == "NVIDIA H200"
    assert reduce["parameters"] == {"N": "1048576"}
    assert reduce["verified"] == "external"
    assert "NVBench's mean of 512 samples" in reduce["notes"][0]
    assert launch["measurement"]["unit"] == "s"
    assert copy["verdict"]["baselines"][0]["reference"] == pytest.approx(0.66 * 4814.304e9)
    assert judge(nvbench(reduce=[state("3.0e12")])).code == 1
    other_axis = state(axis_values=[{"name": "N", "type": "int64", "value": "2"}])
    assert judge(nvbench(reduce=[other_axis])).code == 77


def test_nvbench_devices_of_one_name_are_judged_each(judge: Judge) -> None:
    judge.entries(entry("reduce", 3200, parameters={"N": 1048576}))
    document = nvbench(reduce=[state(), state("2.9e12", device=1)])
    document["devices"].append({"id": 1, "name": "NVIDIA H200"})
    outcome = judge(document)
    assert outcome.code == 1, outcome
    assert "reduce N=1048576 on device 0: " in outcome.out
    assert "reduce N=1048576 on device 1: " in outcome.out
    records = judge(document, "--json").records()
    assert [record["device_index"] for record in records] == [0, 1]
    twice = judge(nvbench(reduce=[state(), state("2.9e12")]))
    assert twice.code == 2
    assert '/states/1: a second state of "reduce" with the same axes and device' in twice.err


@pytest.mark.parametrize("rate", ["0", "nan", "inf", "-1"])
def test_nvbench_values_that_cannot_be(judge: Judge, rate: str) -> None:
    judge.entries(entry("reduce", 3200, parameters={"N": 1048576}))
    assert judge(nvbench(reduce=[state(rate)])).code == 3


def test_nvbench_skips_and_errors(judge: Judge) -> None:
    judge.entries(entry("reduce", 3200, parameters={"N": 1048576}))
    skipped = state(summaries=None, is_skipped=True, skip_reason="too large")
    assert judge(nvbench(reduce=[skipped])).code == 77
    threw = skipped | {"skip_reason": "Unexpected error: out of memory"}
    outcome = judge(nvbench(reduce=[threw]))
    assert outcome.code == 3
    assert "Unexpected error: out of memory" in outcome.out
    counts_nothing = judge(nvbench(reduce=[state(None)]))
    assert counts_nothing.code == 2
    assert "add_global_memory_reads" in counts_nothing.err


def test_a_file_of_another_model_is_refused(judge: Judge) -> None:
    judge.entries(entry("reduce", 3200), gpu={"model": "A100", "aliases": ["NVIDIA A100"]})
    outcome = judge(nvbench(reduce=[state()]))
    assert outcome.code == 2
    assert 'speaks of "A100", but "NVIDIA H200" was measured' in outcome.err


def test_a_folder_is_searched_by_the_devices_name(judge: Judge, bandgate: Bandgate) -> None:
    folder = bandgate.home / "folder"
    folder.mkdir()
    for model, value in (("NVIDIA A100", 1500), ("NVIDIA H200", 100)):
        judge.entries(entry("Sum", value), gpu={"model": model, "aliases": [model]})
        judge.baseline.rename(folder / f"{model[-4:]}.json")
    file = judge.write({"context": {}, "benchmarks": [google("Sum")]})
    words = ("judge", file, "--baselines", str(folder))
    nameless = bandgate(*words)
    assert nameless.code == 2
    assert "--device-name" in nameless.err
    assert bandgate(*words, "--device-name", "H200").code == 0
    assert bandgate(*words, "--device-name", "NVIDIA A100").code == 1
    assert bandgate(*words, "--device-name", "NVIDIA B200").code == 77
    assert bandgate("judge", file).code == 2


def test_what_is_written_follows_its_schema(judge: Judge, bandgate: Bandgate) -> None:
    judge.entries(entry("Sum", 100))
    out = bandgate.home / "judged.jsonl"
    bad = google("Bad", None, error_occurred=True, error_message="boom")
    assert judge.google(google("Sum"), bad, more=("--out", str(out))).code == 3
    schema = json.loads((ROOT / "baselines/schema/judgement.schema.json").read_text())
    documents = [json.loads(line) for line in out.read_text().splitlines()]
    assert [d["benchmark"] for d in documents] == ["Sum", "Bad"]
    for document in documents:
        jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(documents[0] | {"verified": True}, schema)
    nowhere = ("--out", str(bandgate.home / "missing" / "judged.jsonl"))
    unwritable = judge.google(google("Sum"), more=nowhere)
    assert unwritable.code == 2, unwritable
    assert "PASS" in unwritable.out
    assert judge.google(bad, more=nowhere).code == 3, "what failed matters more"
