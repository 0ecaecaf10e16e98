#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks the includes of probes/ and the edges of the CMake targets against the table of layers."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path

import layers

PROBES = Path(__file__).resolve().parent.parent.parent / "probes"


class Project(unittest.TestCase):
    def test_includes(self) -> None:
        sources = [p for p in PROBES.rglob("*") if p.suffix in layers.SOURCES]
        self.assertGreater(len(sources), 20, "the walk found no sources")
        self.assertEqual(layers.include_violations(PROBES), [])

    def test_links(self) -> None:
        # Written at configure time: a line "target: linked linked…" for each target.
        text = Path(os.environ["BANDGATE_LINK_EDGES"]).read_text(encoding="utf-8")
        lines = [line.split(":", 1) for line in text.splitlines()]
        edges = {target: set(links.split()) for target, links in lines}
        self.assertIn("bandgate_runner", edges)
        self.assertEqual(layers.link_violations(edges), [])


class Checker(unittest.TestCase):
    """The checker itself, on a tree made here."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.probes = Path(folder.name)
        for name in (
            "include/bandgate/probe.hpp",
            "include/bandgate/result.hpp",
            "gate/judge.hpp",
            "measure/measure.hpp",
            "backend/host/host.hpp",
        ):
            self.write(name, "")

    def write(self, name: str, text: str) -> None:
        file = self.probes / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def expect(self, name: str, text: str, *violations: str) -> None:
        self.write(name, text)
        found = layers.include_violations(self.probes)
        self.assertEqual(len(found), len(violations), found)
        for sentence, violation in zip(found, violations, strict=True):
            self.assertIn(violation, sentence)

    def test_permitted(self) -> None:
        self.expect("catalog/read.cu", "#include <bandgate/probe.hpp>\n#include <vector>\n")
        self.expect(
            "runner/run.cpp",
            '#include "gate/judge.hpp"\n#include "backend/host/host.hpp"\n#include <fmt/x.h>\n',
        )

    def test_probe_includes_the_gate(self) -> None:
        self.expect(
            "catalog/read.cu",
            '#include <vector>\n\n#  include "gate/judge.hpp"\n',
            "catalog/read.cu:3: catalog includes gate/judge.hpp",
        )

    def test_a_relative_path_hides_nothing(self) -> None:
        self.expect("catalog/read.cu", '#include "../gate/judge.hpp"\n', "catalog includes ../gate")

    def test_probe_knows_probe_and_backend_only(self) -> None:
        self.expect("catalog/read.cu", "#include <bandgate/result.hpp>\n", "bandgate/result.hpp")

    def test_upwards(self) -> None:
        self.expect("measure/x.cpp", '#include "gate/judge.hpp"\n', "measure includes gate/")
        self.write("measure/x.cpp", "")
        self.expect(
            "backend/host/x.cpp", '#include "measure/measure.hpp"\n', "backend/host includes"
        )

    def test_public_headers_need_the_standard_library_only(self) -> None:
        self.expect(
            "include/bandgate/x.hpp",
            "#include <string>\n#include <fmt/format.h>\n",
            "x.hpp:2: include includes fmt/format.h",
        )

    def test_reserved_headers(self) -> None:
        self.expect("runner/a.cpp", "#include <nvml.h>\n", "only ['device'] may know")
        self.expect("runner/a.cpp", "#include <cuda_runtime.h>\n", "only ['backend/gpu'] may know")

    def test_no_layer(self) -> None:
        self.expect("misc/a.cpp", "", "is in no layer")

    def test_unknown_file(self) -> None:
        self.expect("runner/a.cpp", '#include "gone/x.hpp"\n', "no file of the project")

    def test_links(self) -> None:
        self.assertEqual(
            layers.link_violations(
                {"bandgate_measure": {"bandgate_core", "bandgate_options", "fmt::fmt"}}
            ),
            [],
        )
        self.assertEqual(
            layers.link_violations({"bandgate_catalog": {"bandgate_core", "bandgate_gate"}}),
            ["bandgate_catalog links gate, which catalog may not depend on"],
        )
        self.assertEqual(
            layers.link_violations({"bandgate_gate": {"bandgate_options"}}),
            ["bandgate_gate does not link include, which the table names for gate"],
        )


if __name__ == "__main__":
    unittest.main()
