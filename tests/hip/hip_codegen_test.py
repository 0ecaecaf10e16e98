#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the machine code that the HIP compiler made of the probes against what they promise.

Takes it from the objects of a build (no GPU needed) and checks width and number of the global
loads and stores, how many loads are issued before the first wait, how many accesses leave the
caches alone, and that no kernel uses scratch memory.

    hip_codegen_test.py promises|unobserved --build BUILD --source REPOSITORY --architecture gfx90a

Exit code: 0 kept, 1 broken, 77 skipped: the build has no code for that architecture.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SKIPPED = 77
VECTOR = "15HIP_vector_typeIyLj2EE"  # ulonglong2, as its name is mangled


@dataclass(frozen=True)
class Promise:
    """What one kernel is to look like; `kernel` is a part of its mangled name."""

    source: str
    kernel: str
    loads: Mapping[int, int]  # width in bytes -> how many, all paths together
    issued: int  # loads at least before the first wait for any
    stores: Mapping[int, int] = field(default_factory=dict)  # those of other widths may be more
    streaming: int = 0  # loads and stores that are non-temporal
    exactly: bool = False  # no more are issued either


def read_tiles(source: str) -> list[Promise]:
    # Each load is there twice: in a whole tile and, guarded, in the last one. The odd word at the
    # end of a buffer has one address for all threads: a scalar load.
    return [
        Promise(source, "read_stridedILj256ELj16E", {16: 32}, 16, streaming=32),
        Promise(source, "read_tileILj256ELj16E", {16: 32}, 16, streaming=32),
        Promise(source, "read_tileILj512ELj8E", {16: 16}, 8, streaming=16),
    ]


def transfers(source: str) -> list[Promise]:
    # One more for the last tile.
    return [
        Promise(source, "transfer_tileILj512ELj8E", {16: 9}, 8, stores={16: 9}, streaming=8),
        Promise(source, "transfer_tileILj256ELj4E", {16: 5}, 4, stores={16: 5}, streaming=4),
        Promise(source, "transfer_tileILj512ELj1E", {16: 1}, 1, stores={16: 1}, streaming=1),
    ]


PROMISES = [
    *read_tiles("read.cu"),
    *read_tiles("read_map.cu"),
    *read_tiles("sustained.cu"),
    Promise("read_seq.cu", "read_one_by_one", {4: 1}, 1, exactly=True),
    # Four in the main loop, one in the tail.
    Promise("read_unroll.cu", "read_by_four", {4: 5}, 4, exactly=True),
    # Eight in the main loop, one in the tail.
    *[
        Promise("read_window.cu", f"read_windows{kind}", {width: 9}, 8, streaming=8)
        for kind, width in (
            ("IhNS0_11integer_sumILj8E", 1),
            ("ItNS0_11integer_sumILj16E", 2),
            ("IjNS0_11integer_sumILj32E", 4),
            ("IyNS0_11integer_sumILj64E", 8),
            (f"I{VECTOR}NS0_11integer_sumILj8E", 16),
            (f"I{VECTOR}NS0_11integer_sumILj32E", 16),
            (f"I{VECTOR}NS0_11integer_sumILj64E", 16),
            (f"I{VECTOR}NS0_9float_sumIfE", 16),
            (f"I{VECTOR}NS0_9float_sumIdE", 16),
        )
    ],
    Promise("write.cu", "write_tileILj256E", {}, 0, stores={16: 4}, streaming=4),
    # Four vectors a thread; one more for the last tile.
    Promise("copy.cu", "copy_tileILj128E", {16: 5}, 4, stores={16: 5}, streaming=8),
    Promise("copy.cu", "copy_tileILj256E", {16: 5}, 4, stores={16: 5}, streaming=8),
    Promise("copy.cu", "copy_tileILj512E", {16: 5}, 4, stores={16: 5}, streaming=8),
    Promise("copy.cu", "copy_windows", {16: 5}, 4, stores={16: 5}, streaming=8),
    # Two vectors of each stream a thread.
    Promise("triad.cu", "triad_tileILj256E", {16: 6}, 4, stores={16: 3}, streaming=6),
    Promise("triad.cu", "triad_tileILj1024E", {16: 6}, 4, stores={16: 3}, streaming=6),
    # Two halves of each vector: what goes past a compute unit's own cache is eight bytes wide.
    Promise("l2_read.cu", "read_cachedILj256E", {8: 16}, 8),
    Promise("l2_read.cu", "read_cachedILj1024E", {8: 16}, 8),
    Promise("launch.cu", "empty", {}, 0),
    Promise("gather.cu", "gather_tileImmLj256ELj8E", {8: 18}, 8, stores={8: 9}, streaming=16),
    Promise("gather.cu", "gather_tileImjLj256ELj8E", {4: 9, 8: 9}, 8, stores={8: 9}, streaming=16),
    Promise("gather.cu", "gather_tileIjmLj256ELj8E", {4: 9, 8: 9}, 8, stores={4: 9}, streaming=16),
    Promise("scatter.cu", "scatter_tileImmLj256ELj2E", {8: 6}, 4, stores={8: 3}),
    Promise("scatter.cu", "scatter_tileImjLj256ELj2E", {4: 3, 8: 3}, 4, stores={8: 3}),
    Promise("scatter.cu", "scatter_tileIjmLj256ELj2E", {4: 3, 8: 3}, 4, stores={4: 3}),
    *[
        promise
        for name in ("h2d", "d2h", "h2d_pageable", "d2h_pageable", "host_bidir", "p2p_read")
        for promise in transfers(f"{name}.cu")
    ],
    *transfers("p2p_write.cu"),
    *transfers("p2p_bidir.cu"),
]

WIDTHS = {"byte": 1, "ubyte": 1, "sbyte": 1, "short": 2, "ushort": 2, "sshort": 2}
WIDTHS |= {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}


def run(command: list[str], cwd: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode != 0:
        sys.exit(f"codegen: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


@dataclass(frozen=True)
class Tools:
    objcopy: str
    objdump: str
    readelf: str


def tools_beside(compiler: str) -> Tools:
    """LLVM's tools of the compiler's own release, with whose suffix Debian names them."""
    suffix = match[0] if (match := re.search(r"-\d+$", compiler)) else ""
    folders = [str(Path(compiler).resolve().parent), str(Path(compiler).parent)]
    path = os.pathsep.join([*folders, os.environ.get("PATH", "")])
    found = []
    for name in ("llvm-objcopy", "llvm-objdump", "llvm-readelf"):
        tool = shutil.which(name, path=path) or shutil.which(name + suffix, path=path)
        if not tool:
            sys.exit(f"codegen: there is no {name} beside {compiler}; install its LLVM tools")
        found.append(tool)
    return Tools(*found)


def unbundled(bundle: bytes, architecture: str) -> bytes:
    """The code object for that architecture in what clang puts into .hip_fatbin; may be empty."""
    magic = b"__CLANG_OFFLOAD_BUNDLE__"
    if not bundle.startswith(magic):
        return b""
    at = len(magic)
    (count,) = struct.unpack_from("<Q", bundle, at)
    at += 8
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", bundle, at)
        at += 24
        triple = bundle[at : at + length].decode()
        at += length
        if triple.startswith("hip") and triple.split(":")[0].endswith(architecture):
            return bundle[offset : offset + size]
    return b""


@dataclass(frozen=True)
class Kernel:
    instructions: list[str]
    scratch: int  # bytes a thread


def kernels_of(tools: Tools, built: Path, architecture: str) -> dict[str, Kernel] | None:
    """By mangled name; None where there is no code for that architecture."""
    with tempfile.TemporaryDirectory(prefix="bandgate-codegen-") as folder:
        fat, code = Path(folder) / "fat", Path(folder) / "code"
        # Written elsewhere, or the object itself would be rewritten.
        copy = str(Path(folder) / "copy.o")
        run([tools.objcopy, f"--dump-section=.hip_fatbin={fat}", str(built), copy])
        code.write_bytes(unbundled(fat.read_bytes(), architecture))
        if code.stat().st_size == 0:
            return None
        notes = run([tools.readelf, "--notes", str(code)])
        listing = run([tools.objdump, "-d", "--no-show-raw-insn", str(code)])
    scratch = {}
    for part in re.split(r"^  - ", notes, flags=re.M)[1:]:
        name = re.search(r"\.name:\s+(\S+)\n(?=.*\.private_segment_fixed_size)", part, re.S)
        size = re.search(r"\.private_segment_fixed_size: (\d+)", part)
        if size and (name := re.search(r"^\s*\.symbol:\s+'?(\S+?)\.kd'?$", part, re.M)):
            scratch[name[1]] = int(size[1])
    bodies: dict[str, list[str]] = {}
    for line in listing.splitlines():
        if start := re.match(r"[0-9a-f]+ <(\S+)>:", line):
            body = bodies.setdefault(start[1], [])
        elif line.startswith("\t"):
            body.append(line.split("//")[0].strip())
    return {name: Kernel(bodies[name], size) for name, size in scratch.items()}


def accesses(body: list[str], operation: str) -> collections.Counter[int]:
    """Width in bytes -> how many."""
    found = (re.match(rf"global_{operation}_(\w+)", line) for line in body)
    return collections.Counter(WIDTHS[m[1].removesuffix("_d16")] for m in found if m)


def streaming(body: list[str]) -> int:
    return sum(bool(re.match(r"global_(load|store)_.*(\bglc slc\b|\bnt\b)", line)) for line in body)


def issued_together(body: list[str]) -> int:
    """The most loads issued one after the other without a wait for one of them between."""
    most = count = 0
    for line in body:
        if line.startswith("global_load"):
            count += 1
            most = max(most, count)
        elif re.match(r"s_waitcnt.*vmcnt|s_c?branch|s_endpgm|s_setpc|s_swappc", line):
            count = 0
    return most


def broken_promises(kernels: Mapping[str, Kernel], promise: Promise) -> list[str]:
    where = f"{promise.source}: {promise.kernel}"
    named = [name for name in kernels if promise.kernel in name]
    if len(named) != 1:
        return [f"{where}: {len(named)} kernels are named so"]
    body = kernels[named[0]].instructions
    loads, stores = accesses(body, "load"), accesses(body, "store")
    problems = []
    if loads != promise.loads:
        problems.append(f"{where}: loads by width are {dict(loads)}, promised {promise.loads}")
    if any(stores[width] != count for width, count in promise.stores.items()):
        problems.append(f"{where}: stores by width are {dict(stores)}, promised {promise.stores}")
    if streaming(body) != promise.streaming:
        problems.append(
            f"{where}: {streaming(body)} accesses are non-temporal, promised {promise.streaming}"
        )
    issued = issued_together(body)
    if issued < promise.issued or (promise.exactly and issued > promise.issued):
        problems.append(
            f"{where}: {issued} loads are issued before the first wait, promised "
            f"{'' if promise.exactly else 'at least '}{promise.issued}"
        )
    return problems


def uses_memory_of_its_own(kernels: Mapping[str, Kernel], source: str) -> list[str]:
    problems = [
        f"{source}: {name} has {kernel.scratch} bytes of scratch memory a thread"
        for name, kernel in kernels.items()
        if kernel.scratch
    ]
    return problems + [
        f"{source}: {name} reaches memory by {line}: not known to be the device's"
        for name, kernel in kernels.items()
        for line in kernel.instructions
        if re.match(r"(flat|scratch|buffer)_(load|store)", line)
    ]


def is_own(kernel: str) -> bool:
    """Not one of those that all probes share, to fill and to compare."""
    return "8bandgate7kernels" not in kernel


def promises(tools: Tools, build: Path, repository: Path, architecture: str) -> int:
    problems = []
    promised = {p.source for p in PROMISES}
    kept = 0
    for source in sorted((repository / "probes/catalog").glob("*.cu")):
        built = build / "probes/catalog/CMakeFiles/bandgate_catalog.dir" / f"{source.name}.o"
        kernels = kernels_of(tools, built, architecture)
        if kernels is None:
            print(f"SKIPPED: {built} has no code for {architecture}")
            return SKIPPED
        if source.name not in promised and any(map(is_own, kernels)):
            problems.append(f"{source.name}: has no promise in this test")
        problems += uses_memory_of_its_own(kernels, source.name)
        for promise in (p for p in PROMISES if p.source == source.name):
            problems += broken_promises(kernels, promise)
            kept += 1
    print("\n".join(problems) or f"codegen: for {architecture}, {kept} kernels are as promised")
    return 1 if problems else 0


def compile_command(build: Path, source: Path) -> list[str]:
    """That of the build, without its launcher."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if Path(entry["file"]) == source:
            words = shlex.split(entry["command"])
            return words[1:] if Path(words[0]).name == "ccache" else words
    sys.exit(f"codegen: the build does not compile {source}")


def unobserved(tools: Tools, build: Path, repository: Path, architecture: str) -> int:
    """Without the sum the compiler drops the loads: the promises must be seen to be broken."""
    with tempfile.TemporaryDirectory(prefix="bandgate-codegen-") as name:
        folder = Path(name)
        shutil.copytree(repository / "probes/include", folder / "include")
        reading = folder / "include/bandgate/read_tile.hpp"
        text = re.sub(r"observe\(out, .*\);", "observe(out, 0);", reading.read_text())
        reading.write_text(text)
        source = repository / "probes/catalog/read.cu"
        command = compile_command(build, source)
        command[command.index("-o") + 1] = str(folder / "read.o")
        command = [
            f"-I{folder}/include" if w == f"-I{repository}/probes/include" else w for w in command
        ]
        run(command, cwd=folder)
        kernels = kernels_of(tools, folder / "read.o", architecture)
    if kernels is None:
        print(f"SKIPPED: the build has no code for {architecture}")
        return SKIPPED
    unseen = [p.kernel for p in read_tiles("read.cu") if not broken_promises(kernels, p)]
    print(f"passes without its sum: {unseen}" if unseen else "codegen: all fail without their sums")
    return 1 if unseen else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["promises", "unobserved"])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--architecture", required=True)
    options = parser.parse_args()
    options.source = options.source.resolve()
    first = options.source / "probes/catalog/read.cu"
    tools = tools_beside(compile_command(options.build, first)[0])
    work = promises if options.what == "promises" else unobserved
    return work(tools, options.build, options.source, options.architecture)


if __name__ == "__main__":
    sys.exit(main())
