# SPDX-License-Identifier: Apache-2.0
"""ci/setup on a machine whose packages it may not install."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = [
    "bash",
    "sh",
    "dirname",
    "sed",
    "grep",
    "sort",
    "head",
    "tail",
    "cat",
    "env",
    "mktemp",
    "rm",
    "python3",
    "uname",
    "sha256sum",
]


class Shell(unittest.TestCase):
    @unittest.skipUnless(shutil.which("shellcheck"), "no shellcheck")
    def test_shellcheck_finds_nothing(self) -> None:
        def is_shell(file: Path) -> bool:
            first = file.read_bytes().partition(b"\n")[0]
            return re.match(rb"#!.*\b(ba)?sh\b", first) is not None

        files = [file for file in (ROOT / "ci").rglob("*") if file.is_file() and is_shell(file)]
        for name in ("gate", "package", "slurm/prolog", "kubernetes/measure"):
            self.assertIn(ROOT / "ci" / name, files)
        checked = subprocess.run(
            ["shellcheck", "-x", "-a", ROOT / ".ci/run", *files],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(checked.returncode, 0, checked.stdout)


class Elsewhere(unittest.TestCase):
    """Neither Debian nor Ubuntu: there is no apt-get."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        for tool in TOOLS:
            where = shutil.which(tool)
            assert where, tool
            (self.path / tool).symlink_to(where)

    def setup_there(self, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(ROOT / "ci/setup"), *options],
            env={"PATH": str(self.path), "HOME": str(self.path)},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_everything_missing_is_named(self) -> None:
        done = self.setup_there("--no-python")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(
            done.stderr,
            "ci/setup: missing, by the names of Debian's packages: cmake g++ ninja-build git ccache"
            " nlohmann-json3-dev libfmt-dev libcli11-dev libvalijson-dev libgtest-dev libgmock-dev"
            " libbenchmark-dev;"
            " install them and run again\n",
        )

    def test_the_gate_needs_no_test_tools(self) -> None:
        done = self.setup_there("--gate", "--no-python")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("gtest", done.stderr)

    def test_unknown_option(self) -> None:
        done = self.setup_there("--fast")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown option --fast", done.stderr)


class Volta(unittest.TestCase):
    """Which nvcc compiles for sm_70: asked for, since the version does not say it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compiler(self, name: str, *architectures: str) -> Path:
        nvcc = self.folder / name
        nvcc.write_text(f"#!/bin/sh\nprintf '%s\\n' {' '.join(architectures)}\n")
        nvcc.chmod(0o755)
        return nvcc

    def found(self, nvcc: Path, installed: Path) -> str:
        """With `installed` as what ci/setup put into the virtual environment."""
        script = (
            f"program=test; . {ROOT}/ci/lib.sh; volta_toolkit={self.folder}/toolkit;"
            f"mkdir -p $volta_toolkit/bin; ln -s {installed} $volta_toolkit/bin/nvcc;"
            "find_volta_nvcc"
        )
        done = subprocess.run(
            ["bash", "-c", script],
            env={"PATH": "/usr/bin:/bin", "CUDACXX": str(nvcc)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def test_the_callers_compiler_where_it_knows_volta(self) -> None:
        nvcc = self.compiler("nvcc-12.9", "sm_70", "sm_120")
        self.assertEqual(self.found(nvcc, self.compiler("nvcc-12.4", "sm_70")), str(nvcc))

    def test_else_another(self) -> None:
        # This machine may have one in /usr/local, which comes before the installed one.
        nvcc = self.compiler("nvcc-13", "sm_75", "sm_120")
        found = self.found(nvcc, self.compiler("nvcc-12.4", "sm_70"))
        self.assertRegex(found, f"^{self.folder}/toolkit/bin/nvcc$|^/usr/local/cuda-12")

    def test_none_of_those_that_do_not_know_volta(self) -> None:
        found = self.found(self.compiler("nvcc-13", "sm_75"), self.compiler("nvcc-14", "sm_80"))
        self.assertNotIn(str(self.folder), found)


if __name__ == "__main__":
    unittest.main()
