# SPDX-License-Identifier: Apache-2.0
"""The layers of probes/ and what each may depend on; violations of it in a source tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

# What a layer may include from, besides itself and the public headers. It is also what its CMake
# target links, exactly ("include", the core, may come through another).
MAY_DEPEND_ON: dict[str, set[str]] = {
    "include": set(),
    "measure": {"include"},
    "device": {"include"},
    "gate": {"include"},
    "records": {"include"},
    "backend/gpu": {"include", "device"},
    "backend/host": {"include", "device"},
    "backend/scripted": {"include", "device", "records"},
    "catalog": {"include"},
    "runner": {
        "include",
        "measure",
        "device",
        "gate",
        "records",
        "backend/gpu",
        "backend/host",
        "backend/scripted",
    },
    "cli": {"runner", "records", "device", "gate"},
    "gbench": {"runner", "records"},
}
# A probe is written against probe.hpp and backend.hpp, and aids that are built on these two.
CATALOG_HEADERS = {
    f"bandgate/{name}.hpp"
    for name in (
        *("probe", "backend", "gpu", "reading", "windows", "read_tile", "parts", "transfer"),
        *("indirection", "indirect_access", "indirect_plan"),
    )
}
# Headers of others that only some layers may know.
RESERVED = [
    (re.compile(r"nvml\.h$"), {"device"}),
    (re.compile(r"(cuda|cuda_runtime|cuda_runtime_api|driver_types)\.h$|hip/"), {"backend/gpu"}),
    (re.compile(r"CLI/"), {"cli"}),
    (re.compile(r"benchmark/"), {"gbench"}),
    (re.compile(r"valijson/"), {"records"}),
]
STANDARD_HEADER = re.compile(r"[a-z_0-9]+$")
SOURCES = {".hpp", ".cpp", ".cu", ".cuh", ".h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path: Path) -> str | None:
    """The layer a path below probes/ is in."""
    text = path.as_posix()
    return next((layer for layer in MAY_DEPEND_ON if text.startswith(layer + "/")), None)


def includes(source: Path) -> Iterator[tuple[int, str, str]]:
    """(line, '<' or '"', what) of each #include."""
    text = source.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        # The expression's leading \s* may begin on an earlier, empty line.
        yield text.count("\n", 0, match.start(2)) + 1, match[1], match[2]


def target_of(probes: Path, source: Path, what: str) -> Path | None:
    """The file below probes/ that an #include in `source` names, relative to probes/."""
    for base in (source.parent, probes, probes / "include"):
        file = (base / what).resolve()
        if file.is_file() and file.is_relative_to(probes.resolve()):
            return file.relative_to(probes.resolve())
    return None


def include_violations(probes: Path) -> list[str]:
    """One sentence for each #include below `probes` that the table forbids."""
    found = []
    for source in sorted(p for p in probes.rglob("*") if p.suffix in SOURCES):
        relative = source.relative_to(probes)
        layer = layer_of(relative)
        if layer is None:
            found.append(f"{relative}: is in no layer")
            continue
        for line, quote, what in includes(source):
            place = f"{relative}:{line}: {layer} includes {what}"
            target = target_of(probes, source, what)
            if target is None:
                found += external_violations(place, layer, quote, what)
                continue
            to = layer_of(target)
            if to not in {layer, "include"} | MAY_DEPEND_ON[layer]:
                found.append(f"{place}, but may depend on {sorted(MAY_DEPEND_ON[layer])} only")
            elif layer == "catalog" and to == "include" and what not in CATALOG_HEADERS:
                found.append(f"{place}, but probes are written against {sorted(CATALOG_HEADERS)}")
    return found


def external_violations(place: str, layer: str, quote: str, what: str) -> Iterator[str]:
    if quote == '"':
        yield f"{place}, which is no file of the project"
    if layer == "include" and not STANDARD_HEADER.match(what):
        yield f"{place}, but public headers need the standard library only"
    for pattern, layers in RESERVED:
        if pattern.search(what) and layer not in layers:
            yield f"{place}, which only {sorted(layers)} may know"


def layer_of_target(target: str) -> str | None:
    """The layer whose CMake target this is."""
    if target == "bandgate_core":
        return "include"
    name = target.removeprefix("bandgate_").replace("backend_", "backend/")
    return name if target.startswith("bandgate_") and name in MAY_DEPEND_ON else None


def link_violations(edges: dict[str, set[str]]) -> list[str]:
    """One sentence for each layer whose target does not link exactly what the table says."""
    found = []
    for target, links in sorted(edges.items()):
        layer = layer_of_target(target)
        if layer is None:
            continue
        linked = {to for link in links if (to := layer_of_target(link)) is not None}
        for to in sorted(linked - MAY_DEPEND_ON[layer] - {"include"}):
            found.append(f"{target} links {to}, which {layer} may not depend on")
        for to in sorted(MAY_DEPEND_ON[layer] - linked):
            found.append(f"{target} does not link {to}, which the table names for {layer}")
    return found
