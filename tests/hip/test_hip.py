#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program built for AMD's GPUs, on a machine without one and on a stub of the runtime."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

PROGRAM = os.environ["BANDGATE_PROGRAM"]
BUILD = Path(os.environ["BANDGATE_BUILD"])
SOURCE = Path(os.environ["BANDGATE_SOURCE"])
STUB = os.environ["BANDGATE_HIP_STUB"]

# As somebody writes it who has NVIDIA's GPUs alone.
PROBE = """
#include <bandgate/reading.hpp>

namespace bandgate {
namespace {

constexpr unsigned block_threads = 256;
__constant__ unsigned long long offset = 0;

__global__ void __launch_bounds__(block_threads) read_every_other(ulonglong2 const* from,
                                                                  std::uint64_t count,
                                                                  observable out) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t sum = offset;
#pragma unroll 4
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    sum += load_once(from + i).x;
  observe(out, sum);
}

void one_pass(gpu_context& gpu, launch_shape const& shape, buffer const& data, observable out) {
  launch(gpu, "read_halves", {shape.at("blocks"), block_threads}, &read_every_other,
         data.as<ulonglong2>(), data.size().count / sizeof(ulonglong2), out);
}

}  // namespace

BANDGATE_PROBE(read_halves) {
  auto p = classic_read("read_halves", one_pass, block_threads, &host_loops::sum32_seq);
  p.summary = "Reads one half of each vector";
  return p;
}

}  // namespace bandgate
"""


class Answer:
    def __init__(self, *arguments: str, **variables: str) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BANDGATE_")}
        environment["HOME"] = "/nonexistent"
        environment |= variables
        done = subprocess.run(
            [PROGRAM, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=120,
        )
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr


def listed(**variables: str) -> list[dict[str, Any]]:
    answer = Answer("devices", "--backend", "hip", "--json", LD_LIBRARY_PATH=STUB, **variables)
    found: list[dict[str, Any]] = json.loads(answer.out)["devices"]
    return found


def compile_command(source: Path) -> list[str]:
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if Path(entry["file"]) == source:
            return shlex.split(entry["command"])
    raise LookupError(source)


@unittest.skipIf(os.path.exists("/dev/kfd"), "this machine has AMD's driver")
class WithoutAnAmdGpu(unittest.TestCase):
    def test_there_is_no_device(self) -> None:
        answer = Answer("devices", "--backend", "hip", "--json")
        self.assertEqual(answer.code, 77, answer.err)
        self.assertEqual(json.loads(answer.out)["devices"], [])
        self.assertEqual(json.loads(answer.out)["problems"], [])

    def test_probes_are_skipped_and_strict_fails(self) -> None:
        words = ("check", "read", "--backend", "hip", "--results", "none")
        self.assertEqual(Answer(*words).code, 77)
        self.assertEqual(Answer(*words, "--strict").code, 4)
        self.assertEqual(Answer(*words, BANDGATE_EXPECT_DEVICES="1").code, 3)

    def test_starts_without_the_runtime(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for library in Path(STUB).glob("libamdhip64.so.*"):
                (Path(folder) / library.name).write_text("no library\n")
            answer = Answer("devices", "--backend", "hip", LD_LIBRARY_PATH=folder)
            self.assertEqual(answer.code, 77, answer.err)
            self.assertEqual(Answer("list", LD_LIBRARY_PATH=folder).code, 0)

    def test_needs_no_library_of_rocm_to_start(self) -> None:
        linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("amdhip", linked)
        self.assertNotIn("hsa", linked)

    def test_the_other_vendors_backend_is_refused_by_name(self) -> None:
        answer = Answer("devices", "--backend", "cuda")
        self.assertEqual(answer.code, 2)
        self.assertIn("-DBANDGATE_BACKEND=cuda", answer.err)


class SameProbes(unittest.TestCase):
    def test_both_builds_list_the_same(self) -> None:
        other = os.environ["BANDGATE_CUDA_PROGRAM"]
        if not os.access(other, os.X_OK):
            self.skipTest(f"there is no {other}")
        run = subprocess.run([other, "list", "--json"], capture_output=True, text=True, check=True)
        theirs = {p["name"]: p for p in json.loads(run.stdout)["probes"]}
        ours = {p["name"]: p for p in json.loads(Answer("list", "--json").out)["probes"]}
        self.assertGreater(len(ours), 20)
        self.assertEqual(sorted(ours), sorted(theirs))
        for name, probe in ours.items():
            self.assertEqual(probe, theirs[name])


class AddedProbe(unittest.TestCase):
    def test_compiles_for_both_without_another_edit(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            probe = Path(folder) / "read_halves.cu"
            probe.write_text(PROBE)
            model = SOURCE / "probes/catalog/read_seq.cu"
            command = [str(probe) if w == str(model) else w for w in compile_command(model)]
            built = str(Path(folder) / "read_halves.o")
            command[command.index("-o") + 1] = built
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            objects = sorted(BUILD.glob("probes/catalog/CMakeFiles/bandgate_catalog.dir/*.o"))
            self.assertGreater(len(objects), 20)
            if nvcc := os.environ.get("BANDGATE_NVCC"):
                words = ["-std=c++20", "-arch=compute_75", "-ptx", "--expt-relaxed-constexpr"]
                include = f"-I{SOURCE}/probes/include"
                done = subprocess.run(
                    [nvcc, *words, include, str(probe), "-o", str(Path(folder) / "ptx")],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stderr)


class OnAStub(unittest.TestCase):
    """The runtime's answers are made up; kernels do nothing."""

    def test_the_chips_of_a_card_are_devices_of_their_own(self) -> None:
        chips = listed(HIP_STUB="gfx90a@c6 gfx90a@c1")
        self.assertEqual([c["pci_address"] for c in chips], ["0000:c1:00.0", "0000:c6:00.0"])
        self.assertEqual(
            [c["uuid"] for c in chips], ["GPU-ddd61b9bea0e5ac1", "GPU-ddd61b9bea0e5ac6"]
        )
        for chip in chips:
            self.assertEqual(chip["backend"], "hip")
            self.assertEqual(chip["name"], "AMD Instinct MI250X / MI250")
            self.assertEqual(chip["compute_capability"], "gfx90a")
            self.assertEqual(chip["processors"], 110)
            self.assertEqual(chip["bus_width_bits"], 4096)
            self.assertEqual(chip["peak_bytes_per_second"], 1638.4e9)
            self.assertEqual(chip["last_level_cache_bytes"], 65536)

    def test_the_mi300_family_counts_its_clock_four_times_and_has_a_large_cache(self) -> None:
        (card,) = listed(HIP_STUB="gfx942@1b")
        self.assertEqual(card["memory_clock_mhz"], 1300)
        self.assertEqual(card["peak_bytes_per_second"], 5324.8e9)
        self.assertEqual(card["last_level_cache_bytes"], 256 << 20)

    def test_a_kernel_that_did_nothing_is_an_error(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "kernels"
            answer = Answer(
                *("run", "write", "size=8MiB", "--backend", "hip", "--results", "none"),
                LD_LIBRARY_PATH=STUB,
                HIP_STUB="gfx90a@c1",
                HIP_STUB_LOG=str(log),
            )
            self.assertEqual(answer.code, 3, answer.out + answer.err)
            self.assertIn("the kernel does not do its work", answer.out + answer.err)
            # Registered before main, and handed over to the library that was loaded then.
            self.assertIn("write_tile", log.read_text())

    def test_the_supervisor_never_loads_the_runtime(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "kernels"
            Answer("list", LD_LIBRARY_PATH=STUB, HIP_STUB="gfx90a@c1", HIP_STUB_LOG=str(log))
            self.assertFalse(log.exists())


if __name__ == "__main__":
    unittest.main()
