# SPDX-License-Identifier: Apache-2.0
"""Devices that are lost or hang, drivers that do not start: scripted, and on the real path.

The real path is that of a machine whose driver library is a stub: the CUDA runtime finds it by
dlopen, as it finds NVIDIA's. It asks the stub to start, and takes its answer for the driver's. It
gets no further: before it lists a device the runtime makes sure that the library is NVIDIA's own,
so what fails later than that is rehearsed on scripted devices and by workers that are asked here by
hand.
"""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Bandgate, Outcome

STUB = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int told(void) {
  char const* answer = getenv("CUDA_STUB");
  if (answer == NULL) return 100;
  while (strcmp(answer, "hang") == 0) pause();
  return atoi(answer);
}
static int nothing(void) { return 500; }
static int init(unsigned flags) { (void)flags; return told(); }
static int version(int* number) {
  char const* other = getenv("CUDA_STUB_VERSION");
  *number = other == NULL ? 13000 : atoi(other);
  return 0;
}
int cuGetProcAddress_v2(char const* name, void** call, int since, unsigned long long flags,
                        int* found) {
  (void)since, (void)flags;
  if (found != NULL) *found = 0;
  *call = (void*)nothing;
  if (strcmp(name, "cuInit") == 0) *call = (void*)init;
  if (strcmp(name, "cuDriverGetVersion") == 0) *call = (void*)version;
  if (strcmp(name, "cuGetProcAddress") == 0) *call = (void*)cuGetProcAddress_v2;
  return 0;
}
int cuInit(unsigned flags) { return init(flags); }
int cuDriverGetVersion(int* number) { return version(number); }
"""


def has_cuda(bandgate: Bandgate) -> bool:
    return "gpu backend none" not in bandgate("--version").out


@pytest.fixture
def driver(bandgate: Bandgate, tmp_path: Path) -> Bandgate:
    """The program on a machine whose libcuda.so.1 is the stub, and without NVML."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler for the stub of a driver")
    if not has_cuda(bandgate):
        pytest.skip("this build has no GPU backend")
    folder = tmp_path / "driver"
    folder.mkdir()
    (folder / "stub.c").write_text(STUB)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", folder / "libcuda.so.1", folder / "stub.c"],
        check=True,
    )
    bandgate.environment |= {
        "LD_LIBRARY_PATH": str(folder),
        "BANDGATE_NVML": "none",
        "BANDGATE_BACKEND": "cuda",
    }
    return bandgate


@pytest.fixture
def nvml() -> str:
    folder = os.environ.get("BANDGATE_NVML_STUBS")
    if not folder:
        pytest.skip("set BANDGATE_NVML_STUBS to the folder of the stubs of NVML")
    return f"{folder}/current/libnvidia-ml.so.1"


def by_hand(bandgate: Bandgate, limit: float, **request: Any) -> tuple[str, str]:
    """What a worker announces and hands over within that time, then it is killed."""
    whole = {
        "what": "measure",
        "backend": "cuda",
        "selector": "0",
        "probe": "read",
        "parameters": {},
        "attempt": 1,
        "management": "none",
        "visible": None,
        "wait_idle_ms": 0,
        "allow_contention": False,
        "relative_to": [],
    } | request
    document = bandgate.home / "document"
    command = bandgate.command("__worker", str(os.getpid()), json.dumps(whole))
    with subprocess.Popen(
        ["/bin/sh", "-c", f'exec 3>"{document}"; exec "$0" "$@"', *command],
        env=bandgate.env(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as worker:
        try:
            out, _ = worker.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            worker.kill()
            out, _ = worker.communicate()
    return out, document.read_text()


def test_one_of_two_hangs_and_the_other_passes(bandgate: Bandgate) -> None:
    start = time.monotonic()
    outcome = bandgate.drill("two-gpus-one-hangs", "check", "--time-limit", "2s")
    assert outcome.code == 3, outcome
    assert time.monotonic() - start < 120
    by_card: dict[str, list[dict[str, Any]]] = {}
    for stored in bandgate.stored():
        by_card.setdefault(stored["device"]["pci_address"], []).append(stored)
    assert {r["verdict"]["status"] for r in by_card["0000:1b:00.0"]} <= {"pass", "skipped"}
    assert any(r["verdict"]["status"] == "pass" for r in by_card["0000:1b:00.0"])
    hung = [r for r in by_card["0000:43:00.0"] if r["failure"]]
    assert hung
    for r in hung:
        assert r["failure"]["code"] == "timed-out"
        assert r["device"]["uuid"] in r["failure"]["message"]
        assert "0000:43:00.0" in r["failure"]["message"]


def test_one_of_two_is_lost_and_the_other_passes(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("dead-card")
    assert outcome.code == 3, outcome
    alive, dead = sorted(bandgate.stored(), key=lambda r: str(r["device"]["pci_address"]))
    assert alive["verdict"]["status"] == "pass"
    assert dead["failure"]["code"] == "device-lost"
    assert dead["device"]["uuid"] in dead["failure"]["message"]
    assert "0000:43:00.0" in dead["failure"]["message"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("802", ["device-failed", "error 802", "fabric manager"]),
        ("803", ["device-failed", "error 803", "different versions"]),
        ("999", ["device-failed", "error 999", "kernel log"]),
        ("3", ["device-failed", "error 3", "nvidia-smi"]),
        ("46", ["device-failed", "error 46", "exclusive-process"]),
        ("100", ["driver-without-device"]),
    ],
)
def test_a_driver_that_does_not_start(driver: Bandgate, answer: str, words: list[str]) -> None:
    for command in (["check", "read"], ["devices"]):
        outcome = driver(*command, CUDA_STUB=answer)
        assert outcome.code == 3, outcome
        for word in words:
            assert word in outcome.err, outcome


# Those that open a device in their own process must not know less than the others.
PROFILE = ("run", "read", "--profile")
BENCH = "bandgate_bench"


def front_end(driver: Bandgate, command: tuple[str, ...], **env: Any) -> Outcome:
    """A command of the program, or its sibling for Google Benchmark."""
    if command[0] != BENCH:
        return driver(*command, **env)
    bench = driver.program.resolve().parents[1] / "gbench" / BENCH
    if not bench.exists():
        pytest.skip(f"no {BENCH} was built")
    other = Bandgate(bench, driver.home, driver.environment)
    return other("--benchmark_filter=^bandgate/read/", **env)


@pytest.mark.parametrize("command", [("check", "read"), ("devices",), PROFILE, (BENCH,)])
def test_a_driver_that_is_too_old_is_a_matter_of_configuration(
    driver: Bandgate, command: tuple[str, ...]
) -> None:
    if (built := re.search(r"gpu backend cuda (\d+)\.\d+", driver("--version").out)) is None:
        pytest.skip("this build drives no NVIDIA GPU")
    outcome = front_end(driver, command, CUDA_STUB="35", CUDA_STUB_VERSION="11080")
    assert outcome.code == 2, outcome
    needed = {"12": "525", "13": "580"}[built[1]]
    assert re.search(
        r"driver-too-old: the driver \S* ?\(it supports CUDA 11\.8\) is too old for this build, "
        rf"which uses CUDA {built[1]}\.\d+: install driver {needed} or newer\n",
        outcome.err,
    ), outcome


@pytest.mark.parametrize("command", [PROFILE, (BENCH,)])
def test_which_management_library_is_asked_is_the_environments_to_say(
    driver: Bandgate, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "other.c").write_text(
        "#include <unistd.h>\n__attribute__((constructor)) static void loaded(void) {\n"
        '  if (write(2, "the other library\\n", 18) < 0) _exit(1);\n}\n'
    )
    other = tmp_path / "libother.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", other, tmp_path / "other.c"], check=True)
    outcome = front_end(driver, command, BANDGATE_NVML=str(other))
    assert "the other library" in outcome.err, outcome


def test_a_driver_that_hangs_when_it_starts(driver: Bandgate) -> None:
    start = time.monotonic()
    for command in (["check", "read"], ["devices"]):
        outcome = driver(*command, "--time-limit", "2s", CUDA_STUB="hang")
        assert outcome.code == 3, outcome
        assert "timed-out" in outcome.err
        assert "within the time limit of 2 s, stuck while asking the driver" in outcome.err
    assert time.monotonic() - start < 2 * (2 + 5 + 20)


def test_a_worker_says_that_it_is_the_driver_that_hangs(driver: Bandgate) -> None:
    driver.environment["CUDA_STUB"] = "hang"
    said, document = by_hand(driver, 3)
    assert said.splitlines()[-1] == "asking the driver"
    assert document == ""


def test_a_worker_whose_driver_no_longer_starts_says_why(driver: Bandgate) -> None:
    driver.environment["CUDA_STUB"] = "999"
    _, document = by_hand(driver, 60)
    failure = json.loads(document)["result"]["failure"]
    assert failure["code"] == "device-failed"
    assert "error 999" in failure["message"]


def test_a_management_library_that_hangs_is_named(driver: Bandgate, nvml: str) -> None:
    outcome = driver("devices", "--time-limit", "2s", BANDGATE_NVML=nvml, NVML_STUB="hang")
    assert outcome.code == 3, outcome
    assert "within the time limit of 2 s, stuck while asking the management library" in outcome.err
    assert "NVML" in outcome.err


def test_a_worker_says_that_it_is_the_library_that_hangs(driver: Bandgate, nvml: str) -> None:
    driver.environment |= {"NVML_STUB": "hang", "CUDA_STUB": "999"}
    said, document = by_hand(driver, 3, management=nvml)
    assert said.splitlines() == ["asking the management library (NVML)"]
    assert document == ""


def test_without_a_library_nothing_is_asked_of_it(driver: Bandgate) -> None:
    outcome = driver("devices", CUDA_STUB="999", BANDGATE_NVML="none")
    assert outcome.code == 3, outcome
    outcome = driver("devices", CUDA_STUB="999", BANDGATE_NVML="/no/such/library.so")
    assert outcome.code == 3, outcome
    assert "error 999" in outcome.err
