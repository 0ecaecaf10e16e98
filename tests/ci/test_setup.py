# SPDX-License-Identifier: Apache-2.0
"""ci/setup on a machine whose packages it may not install."""

from __future__ import annotations

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
            " nlohmann-json3-dev libfmt-dev libcli11-dev libvalijson-dev libgtest-dev libgmock-dev;"
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


if __name__ == "__main__":
    unittest.main()
