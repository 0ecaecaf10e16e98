#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Projects that use Bandgate, by find_package and by add_subdirectory."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Consumer(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bandgate-package-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("BANDGATE_", "CTEST_"))
        } | {"BANDGATE_BACKEND": "host", "BANDGATE_RESULTS": str(self.folder / "results")}

    def call(self, *command: str | Path) -> str:
        done = subprocess.run(
            list(map(str, command)),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment,
            check=False,
        )
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout

    def build(self, project: str, *options: str) -> Path:
        build = self.folder / "build"
        self.call("cmake", "-S", HERE / project, "-B", build, "-G", "Ninja", *options)
        self.call("cmake", "--build", build, "--target", "my_probes")
        return build

    def check_probe(self, build: Path) -> None:
        """The probe is listed and runs, and CTest has it as a case."""
        listed = json.loads(self.call(build / "my_probes", "list", "--json"))
        self.assertEqual([probe["name"] for probe in listed["probes"]], ["triad"])
        self.call(
            "ctest", "--test-dir", build, "-R", r"^bandgate\.host\.triad$", "--no-tests=error"
        )
        results = list((self.folder / "results").rglob("*.json"))
        self.assertEqual(len(results), 1)
        result = json.loads(results[0].read_text(encoding="utf-8"))
        self.assertEqual(result["verdict"]["status"], "no-baseline")
        self.assertIs(result["measurement"]["verified"], True)

    def test_find_package(self) -> None:
        prefix = self.folder / "first"
        self.call("cmake", "--install", os.environ["PACKAGE_BUILD"], "--prefix", prefix)
        # It may be moved after it was installed.
        prefix = prefix.rename(self.folder / "moved")
        build = self.build(
            "find_package",
            f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCUDAToolkit_ROOT={os.environ['PACKAGE_CUDA_ROOT']}",
        )
        self.check_probe(build)
        self.assertIn("bandgate", self.call(prefix / "bin/bandgate", "--version"))
        shared = prefix / "share/bandgate"
        self.assertTrue((shared / "schema/result.schema.json").is_file())
        self.assertTrue(list((shared / "gpus").glob("*.json")))
        exported = "".join(
            file.read_text(encoding="utf-8") for file in prefix.rglob("*.cmake") if file.is_file()
        )
        for path in (str(ROOT), os.environ["PACKAGE_BUILD"], "first"):
            self.assertNotIn(f"{path}/", exported)

    def test_add_subdirectory(self) -> None:
        build = self.build(
            "add_subdirectory",
            f"-DBANDGATE_SOURCE={ROOT}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DBANDGATE_CUDA=OFF",
            # As in the builds of this project, so that a compiler cache can serve.
            "-DBANDGATE_WARNINGS_AS_ERRORS=ON",
            *(
                [f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"]
                if (launcher := os.environ.get("PACKAGE_LAUNCHER"))
                else []
            ),
        )
        self.check_probe(build)


if __name__ == "__main__":
    unittest.main()
