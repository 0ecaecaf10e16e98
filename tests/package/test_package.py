#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example of a project that gates its own kernel: from an installed package, with Bandgate as a
subdirectory, and fetched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLE = ROOT / "docs" / "examples" / "reduction"
CASE = "bandgate.host.reduction"
# As in the builds of this project, so that a compiler cache can serve.
LIKE_HERE = [
    "-DBANDGATE_CUDA=OFF",
    "-DBANDGATE_WARNINGS_AS_ERRORS=ON",
    f"-DBANDGATE_UNITY={os.environ.get('PACKAGE_UNITY', '')}",
]


class Consumer(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bandgate-package-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.source = self.folder / "mine"
        shutil.copytree(EXAMPLE, self.source)
        self.build = self.folder / "build"
        self.environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("BANDGATE_", "CTEST_"))
        } | {"HOME": str(self.folder), "BANDGATE_RESULTS": str(self.folder / "results")}
        self.environment.pop("XDG_CONFIG_HOME", None)
        if "CCACHE_DIR" not in self.environment:
            self.environment["CCACHE_DIR"] = str(Path.home() / ".cache/ccache")

    def call(self, *command: str | Path, code: int = 0) -> str:
        done = subprocess.run(
            list(map(str, command)),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment,
            check=False,
        )
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}")
        return done.stdout

    def configure(self, *options: str) -> str:
        launcher = os.environ.get("PACKAGE_LAUNCHER")
        launchers = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else []
        cuda = os.environ["PACKAGE_CUDA_ROOT"]
        with_cuda = [f"-DCUDAToolkit_ROOT={cuda}"] if cuda else []
        folders = ("-S", str(self.source), "-B", str(self.build))
        return self.call("cmake", *folders, "-G", "Ninja", *launchers, *with_cuda, *options)

    def install(self) -> Path:
        prefix = self.folder / "first"
        self.call("cmake", "--install", os.environ["PACKAGE_BUILD"], "--prefix", prefix)
        return prefix.rename(self.folder / "moved")  # it may be moved after it was installed

    def cases(self, backend: str) -> dict[str, ET.Element]:
        """Runs all cases there are; each by its name."""
        self.environment["BANDGATE_BACKEND"] = backend
        junit = self.folder / "junit.xml"
        subprocess.run(
            ["ctest", "--test-dir", self.build, "--no-tests=error", "--output-junit", junit],
            env=self.environment,
            capture_output=True,
            check=False,
        )
        found = {case.attrib["name"]: case for case in ET.parse(junit).getroot()}
        junit.unlink()
        return found

    def output(self, case: ET.Element) -> str:
        return case.findtext("system-out") or ""

    def measure_until(self, status: str) -> ET.Element:
        """A CPU that others share is slow at times: once in three times it must come out so."""
        for _ in range(3):
            shutil.rmtree(self.folder / "results", ignore_errors=True)
            cases = self.cases("host")
            self.assertEqual(set(cases), {CASE, "bandgate.judged", "bandgate.report"})
            if cases[CASE].attrib["status"] == status:
                break
        self.assertEqual(cases[CASE].attrib["status"], status, self.output(cases[CASE]))
        return cases[CASE]

    def check_passes(self) -> None:
        """The kernel is gated by its ratio to Bandgate's own read, which gets no case."""
        case = self.measure_until("run")
        self.assertRegex(self.output(case), r"PASS +(\(unstable\) )?host reduction: ")
        self.assertRegex(self.output(case), "% of read, which the same process measured at ")
        self.assertNotIn("warning", self.output(case))
        file = max((self.folder / "results").rglob("*.json"))
        result = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual(result["verdict"]["status"], "pass")
        self.assertEqual(
            result["verdict"]["baselines"][0]["file"], str(self.source / "baselines/_generic.json")
        )

    def test_find_package(self) -> None:
        prefix = self.install()
        # Without CUDA: that its code is compiled, too, is what the build of the project shows.
        self.configure(f"-DCMAKE_PREFIX_PATH={prefix}", "-DREDUCTION_GPU=OFF")
        self.call("cmake", "--build", self.build)
        self.check_passes()
        usage = self.call(self.build / "reduction_probes", "--help")
        self.assertIn("Usage: reduction_probes [OPTIONS]", usage)

        # Half as fast.
        self.configure("-DREDUCTION_ROUNDS=2")
        self.call("cmake", "--build", self.build)
        case = self.measure_until("fail")
        self.assertIn("REGRESSION   host reduction: ", self.output(case))

        # A GPU's build on a machine that has none.
        cases = self.cases("cuda")
        skipped = cases["bandgate.NO_DEVICE"]
        self.assertEqual(skipped.attrib["status"], "notrun", self.output(skipped))
        self.assertIn("SKIPPED      no device for backend cuda", self.output(skipped))
        self.assertNotIn(CASE, cases)

    def test_installed_tree(self) -> None:
        prefix = self.install()
        self.assertIn("bandgate", self.call(prefix / "bin/bandgate", "--version"))
        shared = prefix / "share/bandgate"
        self.assertTrue((shared / "schema/result.schema.json").is_file())
        self.assertTrue(list((shared / "gpus").glob("*.json")))
        self.assertTrue((prefix / "share/doc/bandgate/LICENSE").is_file())
        exported = "".join(
            file.read_text(encoding="utf-8") for file in prefix.rglob("*.cmake") if file.is_file()
        )
        for path in (str(ROOT), os.environ["PACKAGE_BUILD"], "first"):
            self.assertNotIn(f"{path}/", exported)

    def test_within_the_project(self) -> None:
        """As a subdirectory, then fetched into the same place, so that it is compiled once."""
        self.configure(
            "-DBANDGATE_FROM=subdirectory",
            f"-DBANDGATE_SOURCE={ROOT}",
            "-DREDUCTION_GPU=OFF",
            *LIKE_HERE,
        )
        self.call("cmake", "--build", self.build, "--target", "reduction_probes")
        self.check_passes()

        self.configure(
            "-DBANDGATE_FROM=fetch",
            f"-DFETCHCONTENT_SOURCE_DIR_BANDGATE={ROOT}",
            "-DFETCHCONTENT_FULLY_DISCONNECTED=ON",
        )
        self.call("cmake", "--build", self.build, "--target", "reduction_probes")
        self.check_passes()

    @unittest.skipUnless(os.environ.get("PACKAGE_CUDA_ROOT", "").strip("./"), "without CUDA")
    def test_a_project_without_cuda_beside_its_compiler(self) -> None:
        """Bandgate enables CUDA for itself; the project around it stays one of C++."""
        self.configure(
            "-DBANDGATE_FROM=subdirectory",
            f"-DBANDGATE_SOURCE={ROOT}",
            "-DREDUCTION_GPU=OFF",
            "-DCMAKE_CUDA_ARCHITECTURES=90",
        )
        (line,) = self.call(
            "ninja", "-C", self.build, "-t", "commands", "-s", "reduction_probes"
        ).splitlines()[-1:]
        self.assertIn("catalog.dir/read.cu.o", line)
        self.assertNotIn("nvcc", line)

    @unittest.skipUnless(os.environ.get("PACKAGE_CUDA_ROOT", "").strip("./"), "without CUDA")
    def test_another_toolkit_is_refused(self) -> None:
        """Its static runtime is not that of the headers which the libraries were compiled with."""
        prefix = self.install()
        toolkit = self.folder / "cuda"
        for name in ("bin/nvcc", "include/cuda_runtime.h", "lib64/libcudart.so"):
            (toolkit / name).parent.mkdir(parents=True)
            (toolkit / name).touch(0o755)
        (toolkit / "bin/nvcc").write_text('#!/bin/sh\necho "release 10.2, V10.2.89"\n')
        folders = ("-S", self.source, "-B", self.build, "-G", "Ninja")
        options = (f"-DCMAKE_PREFIX_PATH={prefix}", "-DREDUCTION_GPU=OFF")
        said = self.call("cmake", *folders, *options, f"-DCUDAToolkit_ROOT={toolkit}", code=1)
        self.assertRegex(" ".join(said.split()), r"built with CUDA 1\d\.\d.* found is: 10\.2\.89 ")

    def test_mistakes_are_named(self) -> None:
        prefix = self.install()
        lists = self.source / "CMakeLists.txt"
        good = lists.read_text(encoding="utf-8")
        for wrong, words in (
            (
                good.replace("RELATIVE_TO read", "RELATIVE_TO reed"),
                "RELATIVE_TO reed: Bandgate",
            ),
            (good.replace("  SOURCES ${sources}\n", ""), "has no SOURCES"),
            (good.replace("(reduction_probes", "(reduction_probes BESIDES"), "unknown arguments"),
        ):
            lists.write_text(wrong, encoding="utf-8")
            done = subprocess.run(
                ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
                 f"-DCMAKE_PREFIX_PATH={prefix}", "-DREDUCTION_GPU=OFF",
                 f"-DCUDAToolkit_ROOT={os.environ['PACKAGE_CUDA_ROOT']}"],
                env=self.environment, text=True, capture_output=True, check=False,
            )  # fmt: skip
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(words, " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()
