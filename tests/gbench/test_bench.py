# SPDX-License-Identifier: Apache-2.0
"""bandgate_bench, the Google Benchmark front end, on scripted devices."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

DRILLS = Path(__file__).resolve().parents[2] / "docs" / "examples" / "fire-drill"
HEALTHY = f"--bandgate_backend=scripted:{DRILLS / 'healthy-h200.json'}"
GIB = 2**30


def bench(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BANDGATE_", "BENCHMARK_"))}
    return subprocess.run(
        [os.environ["BANDGATE_BENCH"], *arguments],
        env=kept | env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def document(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(ended.stdout)
    return parsed


def drill(tmp_path: Path, **attempt: object) -> str:
    """The healthy device, whose `read` goes as `attempt` says."""
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    healthy = script["devices"][0]["probes"]["read"]["attempts"][0]
    script["devices"][0]["probes"]["read"]["attempts"] = [healthy | attempt]
    file = tmp_path / "drill.json"
    file.write_text(json.dumps(script))
    return f"--bandgate_backend=scripted:{file}"


def test_lists_every_probe_of_the_catalog_without_opening_a_device() -> None:
    ended = bench("--benchmark_list_tests", "--bandgate_backend=scripted:/nowhere.json")
    assert ended.returncode == 0, ended.stderr
    catalog = json.loads(
        subprocess.run(
            [os.environ["BANDGATE"], "list", "--json"], capture_output=True, check=True
        ).stdout
    )
    names = ended.stdout.split()
    for probe in catalog["probes"]:
        assert f"bandgate/{probe['name']}/iterations:1/manual_time" in names


def test_reports_median_and_peak_as_bytes_per_second() -> None:
    ended = bench(HEALTHY, "--benchmark_filter=^bandgate/read/", "--benchmark_format=json")
    assert ended.returncode == 0, ended.stderr
    result = document(ended)
    (run,) = result["benchmarks"]
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    samples = script["devices"][0]["probes"]["read"]["attempts"][0]["samples"]
    assert min(samples) <= run["bytes_per_second"] / GIB <= max(samples)
    assert run["peak_bytes_per_second"] >= run["bytes_per_second"]
    assert run["verified"] == 1
    # The time is that of one pass over the default buffer of 4 GiB.
    assert run["real_time"] * 1e-9 == pytest.approx(4 * GIB / run["bytes_per_second"], rel=1e-6)
    assert result["context"]["device_uuid"] == script["devices"][0]["identity"]["uuid"]


def test_the_backend_may_come_from_the_environment(tmp_path: Path) -> None:
    one = ("--benchmark_filter=^bandgate/read/", "--benchmark_format=json")
    ended = bench(*one, BANDGATE_BACKEND=HEALTHY.partition("=")[2])
    assert ended.returncode == 0, ended.stderr
    assert document(ended)["context"]["backend"] == "scripted"
    ended = bench(HEALTHY, *one, BANDGATE_BACKEND=f"scripted:{tmp_path}/nowhere.json")
    assert ended.returncode == 0, ended.stderr  # what the command line says, holds
    ended = bench(*one, BANDGATE_BACKEND=f"scripted:{tmp_path}/nowhere.json")
    assert ended.returncode == 2


def test_a_repetition_is_a_whole_measurement() -> None:
    ended = bench(
        HEALTHY,
        "--benchmark_filter=^bandgate/read/",
        "--benchmark_repetitions=3",
        "--benchmark_format=json",
    )
    runs = [r for r in document(ended)["benchmarks"] if r["run_type"] == "iteration"]
    assert len(runs) == 3


def test_writes_to_a_file_as_well(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    ended = bench(HEALTHY, "--benchmark_filter=^bandgate/copy/", f"--benchmark_out={out}")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(out.read_text())["benchmarks"][0]["name"].startswith("bandgate/copy")


def test_a_filter_that_matches_nothing_fails() -> None:
    ended = bench(HEALTHY, "--benchmark_filter=no_such_probe")
    assert ended.returncode == 2
    assert "matches no benchmark" in ended.stderr


def test_a_failing_probe_fails_the_run_and_leaves_valid_json(tmp_path: Path) -> None:
    backend = drill(tmp_path, verified="the word at byte 64 is wrong")
    ended = bench(
        backend, "--benchmark_filter=^bandgate/(read|copy)/iter", "--benchmark_format=json"
    )
    assert ended.returncode == 3
    runs = {r["name"].split("/")[1]: r for r in document(ended)["benchmarks"]}
    assert runs["read"]["error_occurred"]
    assert "wrong-result" in runs["read"]["error_message"]
    assert runs["copy"]["bytes_per_second"] > 0  # the others go on


@pytest.mark.parametrize("flag", ["--benchmark_min_warmup_time=1", "--benchmark_min_time=5"])
def test_refuses_what_would_not_do_what_it_says(flag: str) -> None:
    ended = bench(HEALTHY, flag)
    assert ended.returncode == 2
    assert "leave it out" in ended.stderr


def test_refuses_the_same_from_the_environment() -> None:
    ended = bench(HEALTHY, BENCHMARK_MIN_WARMUP_TIME="1")
    assert ended.returncode == 2
    assert "unset it" in ended.stderr


def test_refuses_an_unknown_flag() -> None:
    assert bench(HEALTHY, "--benchmark_flter=read").returncode == 2


def test_names_a_device_that_is_not_there() -> None:
    ended = bench(HEALTHY, "--bandgate_device=GPU-none")
    assert ended.returncode == 3
    assert "GPU-none" in ended.stderr


def test_what_does_not_apply_is_skipped(tmp_path: Path) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    del script["devices"][0]["probes"]["read"]
    script["devices"][0]["probes"].pop("*", None)
    file = tmp_path / "drill.json"
    file.write_text(json.dumps(script))
    ended = bench(f"--bandgate_backend=scripted:{file}", "--benchmark_filter=^bandgate/read/")
    assert ended.returncode == 77
    assert "skipped" in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "flags", [["--benchmark_list_tests=off"], ["--benchmark_list_tests=False"]]
)
def test_a_list_that_is_off_measures(flags: list[str]) -> None:
    ended = bench(HEALTHY, *flags, "--benchmark_filter=^bandgate/read/")
    assert ended.returncode == 0, ended.stderr
    assert "bytes_per_second" in ended.stdout


def test_output_that_nobody_receives_is_no_success() -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [os.environ["BANDGATE_BENCH"], HEALTHY, "--benchmark_filter=^bandgate/read/"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ended.returncode == 2


def test_a_value_above_the_peak_is_an_error() -> None:
    backend = f"--bandgate_backend=scripted:{DRILLS / 'above-peak.json'}"
    assert bench(backend, "--benchmark_filter=^bandgate/read/").returncode == 3
