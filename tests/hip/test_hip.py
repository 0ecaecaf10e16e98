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
ARCHITECTURE = os.environ["BANDGATE_ARCHITECTURE"]
COMPILER = os.environ["BANDGATE_COMPILER"]
EXAMPLE = SOURCE / "docs/examples/reduction"

# A machine with AMD's driver: that file is there for a program which asks.
DRIVER = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
int stat(const char *path, struct stat *to) {
  return fstatat(AT_FDCWD, strcmp(path, "/dev/kfd") ? path : "/dev/null", to, 0);
}
int stat64(const char *path, struct stat64 *to) { return stat(path, (struct stat *)to); }
"""

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


def broken_runtime(folder: str) -> str:
    """A folder in which the loader finds the runtime, and cannot load it."""
    for library in Path(STUB).glob("libamdhip64.so.*"):
        (Path(folder) / library.name).write_text("no library\n")
    return folder


def call(*command: str | Path, cwd: Path | None = None) -> str:
    words = list(map(str, command))
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode != 0:
        raise AssertionError(f"{words}:\n{done.stdout}{done.stderr}")
    return done.stdout


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
            answer = Answer("devices", "--backend", "hip", LD_LIBRARY_PATH=broken_runtime(folder))
            self.assertEqual(answer.code, 77, answer.err)
            self.assertEqual(Answer("list", LD_LIBRARY_PATH=folder).code, 0)

    @unittest.skipIf(list(Path("/opt/rocm/lib").glob("libamdhip64.so.*")), "ROCm is there")
    def test_a_driver_without_the_runtime_is_a_fault_with_the_loaders_words(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            driver = Path(folder) / "driver.so"
            source = Path(folder) / "driver.c"
            source.write_text(DRIVER)
            call(COMPILER, "-x", "c", "-shared", "-fPIC", source, "-o", driver)
            machine = {"LD_LIBRARY_PATH": broken_runtime(folder), "LD_PRELOAD": str(driver)}
            answer = Answer("devices", "--backend", "hip", "--json", **machine)
            self.assertEqual(answer.code, 3, answer.err)
            (problem,) = json.loads(answer.out)["problems"]
            self.assertEqual(problem["code"], "runtime-missing")
            self.assertRegex(
                problem["message"],
                r"there is /dev/kfd, and HIP's runtime library libamdhip64\.so\.\d+ cannot be "
                r"loaded: .*libamdhip64\.so\.\d+: (invalid ELF header|file too short); "
                r"install ROCm \d+'s",
            )
            words = ("check", "read", "--backend", "hip", "--results", "none")
            self.assertEqual(Answer(*words, **machine).code, 3)
            self.assertEqual(Answer("list", **machine).code, 0)

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


class OfAnotherProject(unittest.TestCase):
    """docs/examples/reduction, whose kernel HIP compiles where Bandgate is one for AMD's GPUs."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bandgate-hip-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.build = self.folder / "build"

    def configure(self, *options: str) -> None:
        fast = ["-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DCMAKE_HIP_FLAGS_RELEASE=-O1 -Xarch_host -O0"]
        fast += ["-DCMAKE_CUDA_COMPILER=NOTFOUND", f"-DCMAKE_HIP_ARCHITECTURES={ARCHITECTURE}"]
        call("cmake", "-S", EXAMPLE, "-B", self.build, "-G", "Ninja", *fast, *options)

    def test_an_installed_bandgate_hands_its_kernel_to_the_runtime(self) -> None:
        prefix = self.folder / "installed"
        call("cmake", "--install", BUILD, "--prefix", prefix)
        self.configure(f"-DCMAKE_PREFIX_PATH={prefix}")
        call("cmake", "--build", self.build)
        program = self.build / "reduction_probes"
        self.assertNotIn("amdhip", call("ldd", program))
        log = self.folder / "kernels"
        done = subprocess.run(
            [program, "devices", "--backend", "hip"],
            env={"LD_LIBRARY_PATH": STUB, "HIP_STUB": "gfx90a@c1", "HIP_STUB_LOG": str(log)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("sum_of_pairs", log.read_text())
        self.assertIn("read_tile", log.read_text())  # that of RELATIVE_TO

    def test_hip_compiles_it_within_the_project(self) -> None:
        self.configure(
            "-DBANDGATE_FROM=subdirectory",
            f"-DBANDGATE_SOURCE={SOURCE}",
            "-DBANDGATE_BACKEND=hip",
        )
        # As the test above compiles it.
        kernel = "CMakeFiles/reduction_probes.dir/probe.cu.o"
        command = call("ninja", "-C", self.build, "-t", "commands", "-s", kernel)
        for flag in (f"--offload-arch={ARCHITECTURE}", "-include hip/hip_runtime.h", "-x hip"):
            self.assertIn(flag, command)


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
