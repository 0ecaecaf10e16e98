#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The portable binary needs nothing but an old enough glibc and, at run time, the driver."""

from __future__ import annotations

import os
import re
import subprocess
import unittest

GLIBC_LIMIT = (2, 34)
ALLOWED = re.compile(r"^(libc|libm|libpthread|libdl|librt)\.so\.\d+$|^ld-linux-[\w-]+\.so\.\d+$")


def output(*command: str) -> str:
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | {"LC_ALL": "C"}
    ).stdout


def needed(dynamic_section: str) -> list[str]:
    return re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", dynamic_section)


def glibc_symbols(symbols: str) -> dict[tuple[int, ...], list[str]]:
    """The symbols asked of glibc, by the version that first had them so."""
    found: dict[tuple[int, ...], list[str]] = {}
    for name, version in re.findall(r"(\S+)@+GLIBC_([0-9.]+)", symbols):
        found.setdefault(tuple(int(part) for part in version.split(".")), []).append(name)
    return found


class Binary(unittest.TestCase):
    def setUp(self) -> None:
        self.binary = os.environ["PORTABLE_BINARY"]

    def test_shared_libraries(self) -> None:
        libraries = needed(output("readelf", "-d", self.binary))
        self.assertIn("libc.so.6", libraries)
        self.assertEqual([name for name in libraries if not ALLOWED.match(name)], [])

    def test_glibc(self) -> None:
        versions = glibc_symbols(output("readelf", "--dyn-syms", "--wide", self.binary))
        self.assertIn((2, 34), versions, "every program of this glibc has __libc_start_main@2.34")
        newer = {version: names for version, names in versions.items() if version > GLIBC_LIMIT}
        self.assertEqual(newer, {})

    def test_no_other_versioned_runtime(self) -> None:
        symbols = output("readelf", "--dyn-syms", "--wide", self.binary)
        self.assertEqual(re.findall(r"\S+@+(?:GLIBCXX|CXXABI|GCC)_\S+", symbols), [])

    def test_exceptions_and_random_numbers_work(self) -> None:
        # An unknown probe is an exception that main turns into exit code 2.
        done = subprocess.run(
            [self.binary, "run", "no_such_probe", "--backend", "host", "--results", "none"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("no_such_probe", done.stderr)
        self.assertIn("read", output(self.binary, "list"))


class Reading(unittest.TestCase):
    """The test's own parsing, on what readelf prints."""

    def test_needed(self) -> None:
        text = " 0x0000000000000001 (NEEDED)             Shared library: [libgcc_s.so.1]\n"
        self.assertEqual(needed(text), ["libgcc_s.so.1"])
        self.assertIsNone(ALLOWED.match("libgcc_s.so.1"))
        self.assertIsNotNone(ALLOWED.match("ld-linux-x86-64.so.2"))

    def test_versions(self) -> None:
        text = (
            "     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND abort@GLIBC_2.2.5 (2)\n"
            "     2: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND arc4random@GLIBC_2.36 (3)\n"
        )
        self.assertEqual(glibc_symbols(text), {(2, 2, 5): ["abort"], (2, 36): ["arc4random"]})
        self.assertGreater((2, 36), GLIBC_LIMIT)
        self.assertLess((2, 2, 5), GLIBC_LIMIT)


if __name__ == "__main__":
    unittest.main()
