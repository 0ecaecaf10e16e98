#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the machine code of the probes' kernels against what the probes promise.

Compiles each probe for one architecture (no GPU needed) and checks width and number of the global
loads in PTX and in SASS, the number of them issued before the first use in SASS, and that nothing
spills to local memory. PTX alone would not do: there the order is load, add, load, add.

    codegen_test.py promises|unobserved|compile ARCHITECTURE --source REPOSITORY [--nvcc NVCC]...
        [--disassembler TOOL] [--ptx FOLDER] [--objects FOLDER]... [--require]

The first of the compilers that knows the architecture is used: no toolkit knows sm_70 and sm_100.
Nine tenths of the time go into making PTX, which is the same for all cards from one of GENERATIONS
to the next, so `compile` leaves it in a folder for those to assemble, and takes it from the objects
of a build where they have it and nothing was edited since.

Exit code: 0 kept, 1 broken, 77 (with --require 1) skipped for want of a compiler or disassembler.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

SKIPPED = 77
Body = TypeVar("Body")
WIDE = 32  # bytes of the widest load, from compute capability 10.0 on


# The compute capabilities that PTX is made for; a source may ask for no other. CMakeLists.txt has
# the same list.
GENERATIONS = (70, 75, 90, 100)


@dataclass(frozen=True)
class Promise:
    """What one kernel is to look like; `kernel` is a part of its mangled name."""

    source: str
    kernel: str
    loads: Mapping[int, int]  # width in bytes -> how many, all paths together
    issued: int  # loads at least before the first use of any of them
    stores: Mapping[int, int] = field(default_factory=dict)  # those of other widths may be more
    exactly: bool = False  # no more are issued either
    # Where a compiler issues fewer, by architecture.
    issued_on: Mapping[str, int] = field(default_factory=dict)

    def on(self, architecture: str) -> Promise:
        issued = self.issued_on.get(architecture, self.issued)
        if WIDE not in self.loads or has_wide_loads(architecture):
            return replace(self, issued=issued)
        # Two of half the width in the place of each: as many bytes are on their way.
        return replace(self, loads={WIDE // 2: 2 * self.loads[WIDE]}, issued=2 * issued)


def read_tiles(source: str) -> list[Promise]:
    # Each load is there twice: in a whole tile and, guarded, in the last one. The eight bytes are
    # the odd word at the end of a buffer.
    return [
        Promise(source, "read_tileILj512ELj8E", {16: 16, 8: 1}, 8),
        Promise(source, "read_tileILj256ELj8E", {16: 16, 8: 1}, 8),
        Promise(source, "read_tileILj512ELj4E", {16: 8, 8: 1}, 4),
    ]


def transfers(source: str) -> list[Promise]:
    # One more for the last tile.
    return [
        Promise(source, "transfer_tileILj512ELj8E", {16: 9}, 8, stores={16: 9}),
        Promise(source, "transfer_tileILj256ELj4E", {16: 5}, 4, stores={16: 5}),
        Promise(source, "transfer_tileILj512ELj1E", {16: 1}, 1, stores={16: 1}),
    ]


PROMISES = [
    *read_tiles("read.cu"),
    *read_tiles("read_map.cu"),
    *read_tiles("sustained.cu"),
    Promise("read_seq.cu", "read_one_by_one", {4: 1}, 1, exactly=True),
    # Four in the main loop, one in the tail.
    Promise("read_unroll.cu", "read_by_four", {4: 5}, 4, exactly=True),
    # Two in the main loop, one in the tail.
    Promise("read_window.cu", "read_windowsIhNS0_11integer_sumILj8E", {1: 3}, 2),
    Promise("read_window.cu", "read_windowsItNS0_11integer_sumILj16E", {2: 3}, 2),
    Promise("read_window.cu", "read_windowsIjNS0_11integer_sumILj32E", {4: 3}, 2),
    Promise("read_window.cu", "read_windowsIyNS0_11integer_sumILj64E", {8: 3}, 2),
    # Adding up sixteen bytes takes, on Hopper alone, the registers of the second load.
    Promise(
        "read_window.cu",
        "read_windowsI10ulonglong2NS0_11integer_sumILj8E",
        {16: 3},
        2,
        issued_on={"sm_90": 1},
    ),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_11integer_sumILj16E", {16: 3}, 2),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_11integer_sumILj32E", {16: 3}, 2),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_11integer_sumILj64E", {16: 3}, 2),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_9float_sumIfE", {16: 3}, 2),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_9float_sumIdE", {16: 3}, 2),
    # One of these carries as much as two of half the width. Whether the second is issued before the
    # first is used is up to the registers, and differs within a generation (10.0 no, 11.0 yes).
    Promise("read_window.cu", "four_wordsENS0_11integer_sumILj8E", {32: 3}, 1),
    Promise("read_window.cu", "four_wordsENS0_11integer_sumILj16E", {32: 3}, 1),
    Promise("read_window.cu", "four_wordsENS0_11integer_sumILj32E", {32: 3}, 1),
    Promise("read_window.cu", "four_wordsENS0_11integer_sumILj64E", {32: 3}, 1),
    Promise("read_window.cu", "four_wordsENS0_9float_sumIfE", {32: 3}, 1),
    Promise("read_window.cu", "four_wordsENS0_9float_sumIdE", {32: 3}, 1),
    Promise("write.cu", "write_tileILj256E", {}, 0, stores={16: 1}),
    # The eight bytes are the odd word again.
    Promise("copy.cu", "copy_tileILj128E", {16: 1, 8: 1}, 1, stores={16: 1, 8: 1}),
    Promise("copy.cu", "copy_tileILj256E", {16: 1, 8: 1}, 1, stores={16: 1, 8: 1}),
    Promise("copy.cu", "copy_tileILj512E", {16: 1, 8: 1}, 1, stores={16: 1, 8: 1}),
    Promise("copy.cu", "copy_windows", {16: 3}, 2, stores={16: 3}),
    Promise("triad.cu", "triad_tileILj256E", {16: 2, 8: 2}, 2, stores={16: 1, 8: 1}),
    Promise("triad.cu", "triad_tileILj1024E", {16: 2, 8: 2}, 2, stores={16: 1, 8: 1}),
    # All transfers by a kernel; one load more, guarded, for the last tile.
    Promise("h2d.cu", "transfer_tileILj256ELj4E", {16: 5}, 4, stores={16: 5}),
    Promise("h2d.cu", "transfer_tileILj512ELj8E", {16: 9}, 8, stores={16: 9}),
    Promise("h2d.cu", "transfer_tileILj512ELj1E", {16: 1}, 1, stores={16: 1}),
    # In a whole step and, guarded, in the last one.
    Promise("l2_read.cu", "read_cachedILj256E", {16: 8}, 4),
    Promise("l2_read.cu", "read_cachedILj1024E", {16: 8}, 4),
    Promise("launch.cu", "empty", {}, 0),
    # An index and an element each, and one of both for the last tile.
    Promise("gather.cu", "gather_tileIjjLj256ELj8E", {4: 18}, 8, stores={4: 9}),
    Promise("gather.cu", "gather_tileImmLj256ELj8E", {8: 18}, 8, stores={8: 9}),
    Promise("gather.cu", "gather_tileImjLj256ELj8E", {4: 9, 8: 9}, 8, stores={8: 9}),
    Promise("gather.cu", "gather_tileIjmLj256ELj8E", {4: 9, 8: 9}, 8, stores={4: 9}),
    Promise("scatter.cu", "scatter_tileIjjLj256ELj2E", {4: 6}, 4, stores={4: 3}),
    Promise("scatter.cu", "scatter_tileImmLj256ELj2E", {8: 6}, 4, stores={8: 3}),
    Promise("scatter.cu", "scatter_tileImjLj256ELj2E", {4: 3, 8: 3}, 4, stores={8: 3}),
    Promise("scatter.cu", "scatter_tileIjmLj256ELj2E", {4: 3, 8: 3}, 4, stores={4: 3}),
    *transfers("h2d.cu"),
    *transfers("d2h.cu"),
    *transfers("h2d_pageable.cu"),
    *transfers("d2h_pageable.cu"),
    *transfers("host_bidir.cu"),
    *transfers("p2p_read.cu"),
    *transfers("p2p_write.cu"),
    *transfers("p2p_bidir.cu"),
]


@dataclass
class Compiled:
    ptx: dict[str, str]  # by mangled name
    sass: dict[str, list[str]]


def has_wide_loads(architecture: str) -> bool:
    return int(architecture.removeprefix("sm_")) >= 100


class Toolchain:
    def __init__(self, nvcc: str, disassembler: str) -> None:
        self.nvcc = nvcc
        self.disassembler = disassembler
        ccache = shutil.which("ccache")
        self.launcher = [ccache] if ccache else []

    def compile(self, source: Path, include: Path, architecture: str, ptx: Path) -> None:
        run(
            [
                *self.launcher,
                self.nvcc,
                "-std=c++20",
                "-O3",
                f"-arch={architecture.replace('sm', 'compute')}",
                "-c",
                "-ptx",
                "--expt-relaxed-constexpr",
                f"-I{include}",
                str(source),
                "-o",
                str(ptx),
            ]
        )

    def ptx_of(self, built: Path, architecture: str) -> str:
        """Empty where it has none for just this architecture."""
        if "cuobjdump" not in Path(self.disassembler).name:
            return ""
        # What is not its own toolkit's it may not know; then the source is compiled.
        done = subprocess.run(
            [self.disassembler, "-ptx", "-arch", architecture, str(built)],
            capture_output=True,
            text=True,
            check=False,
        )
        # After it comes the heading of the next section, whatever that holds.
        found = re.search(r"^\.version.*?(?=^Fatbin |\Z)", done.stdout, flags=re.M | re.S)
        return found[0] if found and done.returncode == 0 else ""

    def assemble(self, ptx: Path, architecture: str) -> Compiled:
        with tempfile.TemporaryDirectory(prefix="bandgate-codegen-") as folder:
            cubin = str(Path(folder) / "probe.cubin")
            run([self.nvcc, "-O3", f"-arch={architecture}", "-cubin", str(ptx), "-o", cubin])
            flag = "-c" if "nvdisasm" in Path(self.disassembler).name else "-sass"
            listing = run([self.disassembler, flag, cubin])
        return Compiled(split_ptx(ptx.read_text()), split_sass(listing))


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"codegen: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def split_ptx(text: str) -> dict[str, str]:
    parts = re.split(r"^\.(?:visible |weak |extern )?\.?entry (\S+?)\(", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def split_sass(text: str) -> dict[str, list[str]]:
    kernels: dict[str, list[str]] = collections.defaultdict(list)
    name = None
    for line in text.splitlines():
        if start := re.match(r"\s*Function : (\S+)|^\.text\.(\S+):", line):
            name = start[1] or start[2]
        elif name and (found := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?);", line)):
            kernels[name].append(found[1].strip())
    return kernels


def ptx_accesses(body: str, operation: str) -> collections.Counter[int]:
    """Width in bytes -> how many."""
    widths: collections.Counter[int] = collections.Counter()
    for vector, bits in re.findall(
        rf"\b{operation}\.global(?:\.\w+)*?(?:\.v(\d))?\.[usbf](\d+)\s", body
    ):
        widths[int(vector or 1) * int(bits) // 8] += 1
    return widths


def sass_access(instruction: str, operation: str) -> tuple[int, str] | None:
    """Width in bytes and operands of a global load (LDG) or store (STG), else None."""
    found = re.match(rf"(?:@!?U?P\w+ )?{operation}\.(\S+) (.*)", instruction)
    if not found:
        return None
    # Without a width among its modifiers it is one of four bytes.
    bits = [int(b) for b in re.findall(r"(?:^|\.)[US]?(8|16|64|128|256)\b", found[1])]
    return (bits[0] if bits else 32) // 8, found[2]


def sass_accesses(instructions: list[str], operation: str) -> collections.Counter[int]:
    """Width in bytes -> how many."""
    accesses = (sass_access(instruction, operation) for instruction in instructions)
    return collections.Counter(access[0] for access in accesses if access)


def destination(instruction: str) -> set[int] | None:
    """The registers that a global load fills; None for any other instruction."""
    load = sass_access(instruction, "LDG")
    if not load:
        return None
    width, operands = load
    # 32 bytes go to two groups of four registers.
    each = max(1, min(width, 16) // 4)
    groups = re.match(r"(?:R\d+, )+", operands)
    first = [int(r) for r in re.findall(r"R(\d+)", groups[0])] if groups else []
    return {f + i for f in first for i in range(each)}


def registers(instruction: str) -> set[int]:
    used = set()
    for register, wide in re.findall(r"\bR(\d+)(\.64)?", instruction):
        used |= {int(register), int(register) + 1} if wide else {int(register)}
    return used


def issued_together(instructions: list[str]) -> int:
    """The most loads issued before an instruction touches what any of them loads."""
    most = 0
    count = 0
    pending: set[int] = set()
    for instruction in instructions:
        loads = destination(instruction)
        ends = loads is None and (
            bool(pending & registers(instruction)) or re.match(r"(BRA|EXIT|RET)\b", instruction)
        )
        if ends or (loads is not None and pending & loads):
            count, pending = 0, set()
        if loads is not None:
            count, pending = count + 1, pending | loads
            most = max(most, count)
    return most


def only(kernels: dict[str, Body], part: str, source: str) -> Body:
    found = [name for name in kernels if part in name]
    if len(found) != 1:
        raise LookupError(f"{source}: {len(found)} kernels are named like {part}")
    return kernels[found[0]]


def by_width(accesses: Mapping[int, int]) -> dict[int, int]:
    return dict(sorted(accesses.items()))


def broken_promises(code: Compiled, promise: Promise) -> list[str]:
    """`promise` is the one of that architecture."""
    where = f"{promise.source}: {promise.kernel}"
    try:
        ptx = only(code.ptx, promise.kernel, promise.source)
        sass = only(code.sass, promise.kernel, promise.source)
    except LookupError as error:
        return [str(error)]
    problems = []
    for language, loads, stores in (
        ("PTX", ptx_accesses(ptx, "ld"), ptx_accesses(ptx, "st")),
        ("SASS", sass_accesses(sass, "LDG"), sass_accesses(sass, "STG")),
    ):
        if loads != promise.loads:
            problems.append(
                f"{where}: loads by width in {language} are {by_width(loads)}, "
                f"promised {by_width(promise.loads)}"
            )
        if any(stores[width] != count for width, count in promise.stores.items()):
            problems.append(
                f"{where}: stores by width in {language} are {by_width(stores)}, "
                f"promised {by_width(promise.stores)}"
            )
    issued = issued_together(sass)
    if issued < promise.issued or (issued > promise.issued and promise.exactly):
        problems.append(
            f"{where}: {issued} loads are issued before the first use in SASS, "
            f"promised {'' if promise.exactly else 'at least '}{promise.issued}"
        )
    return problems


def local_memory(code: Compiled, source: str) -> list[str]:
    return [
        f"{source}: {name} uses local memory: {instruction}"
        for name, instructions in code.sass.items()
        for instruction in instructions
        if re.search(r"\b(LDL|STL)\b", instruction)
    ]


def sources(repository: Path) -> list[Path]:
    """The folder is the list."""
    return sorted((repository / "probes/catalog").glob("*.cu"))


def compile_all(
    tools: Toolchain, include: Path, files: list[Path], architecture: str, ptx: Path
) -> None:
    with ThreadPoolExecutor(max_workers=2) as pool:
        for done in [
            pool.submit(tools.compile, f, include, architecture, ptx / f"{f.stem}.ptx")
            for f in files
        ]:
            done.result()


def take_from_objects(
    tools: Toolchain, repository: Path, folders: list[Path], architecture: str, ptx: Path
) -> list[Path]:
    """Returns the sources whose objects have none for this architecture or are older than what
    they may have been made of."""
    headers = (repository / "probes/include").rglob("*.hpp")
    newest = max(h.stat().st_mtime for h in headers)
    left = []
    for source in sources(repository):
        for folder in folders:
            built = folder / f"{source.name}.o"
            if not built.exists() or built.stat().st_mtime < max(newest, source.stat().st_mtime):
                continue
            if text := tools.ptx_of(built, architecture):
                (ptx / f"{source.stem}.ptx").write_text(text)
                break
        else:
            left.append(source)
    return left


def asked_for_more(repository: Path) -> list[str]:
    """What makes the PTX of one card differ from that of its generation."""
    return [
        f"{file.name}: asks for compute capability {number}; make PTX for it in this test too"
        for file in sorted((repository / "probes").rglob("*.*"))
        if file.suffix in {".cu", ".hpp"}
        for number in re.findall(r"__CUDA_ARCH__\D+(\d+)", file.read_text())
        if int(number) // 10 not in GENERATIONS
    ]


def compiled(
    tools: Toolchain, repository: Path, folders: list[Path], architecture: str, ptx: Path
) -> int:
    if problems := asked_for_more(repository):
        print("\n".join(problems))
        return 1
    shutil.rmtree(ptx, ignore_errors=True)
    ptx.mkdir(parents=True)
    left = take_from_objects(tools, repository, folders, architecture, ptx)
    compile_all(tools, repository / "probes/include", left, architecture, ptx)
    count = len(sources(repository))
    print(f"codegen: {count - len(left)} of {count} taken from objects for {architecture}")
    return 0


def assemble_all(
    tools: Toolchain, files: list[Path], architecture: str, ptx: Path
) -> dict[str, Compiled]:
    with ThreadPoolExecutor(max_workers=2) as pool:
        code = pool.map(lambda f: tools.assemble(ptx / f"{f.stem}.ptx", architecture), files)
        return {f.name: each for f, each in zip(files, code, strict=True)}


def is_own(kernel: str) -> bool:
    """Not one of those that all probes share, to fill and to compare."""
    return "8bandgate7kernels" not in kernel


def promises(tools: Toolchain, files: list[Path], architecture: str, ptx: Path) -> int:
    code = assemble_all(tools, files, architecture, ptx)
    promised = {p.source for p in PROMISES}
    problems = [
        f"{name}: has no promise in this test"
        for name, each in code.items()
        if name not in promised and any(map(is_own, each.ptx))
    ]
    for name, each in code.items():
        problems += local_memory(each, name)
    # One of a source that is gone is not broken; under its new name the source has none.
    wanted = [p.on(architecture) for p in PROMISES if p.source in code]
    for promise in wanted:
        problems += broken_promises(code[promise.source], promise)
    wide = sum(WIDE in p.loads for p in wanted)
    print(
        "\n".join(problems)
        or f"codegen: for {architecture}, {len(wanted)} kernels are as promised, "
        f"{wide} of them with loads of {WIDE} bytes"
    )
    return 1 if problems else 0


def unobserved(tools: Toolchain, repository: Path, architecture: str, folder: Path) -> int:
    """Without the sum there is nothing to observe and the compiler drops the loads: every promise
    of a reading kernel must then be seen to be broken."""
    there = {file.name for file in sources(repository)}
    reading = [p for p in PROMISES if p.loads and not p.stores and p.source in there]
    shutil.copytree(repository / "probes/include", folder / "include")
    files = [
        Path(shutil.copy(file, folder))
        for file in sources(repository)
        if file.name in {p.source for p in reading}
    ]
    for file in [*files, *folder.rglob("*.hpp")]:
        text = re.sub(r"observe\(out, .*\);", "observe(out, 0);", file.read_text())
        file.write_text(text.replace("*out.total = sum.timed()", "*out.total = 0"))
    compile_all(tools, folder / "include", files, architecture, folder)
    code = assemble_all(tools, files, architecture, folder)
    unseen = [p for p in reading if not broken_promises(code[p.source], p.on(architecture))]
    for promise in unseen:
        print(f"{promise.source}: {promise.kernel} passes although its sum was removed")
    if not unseen:
        print(f"codegen: all {len(reading)} reading kernels fail without their sums")
    return 1 if unseen else 0


def find_compiler(given: list[str], architecture: str) -> str | None:
    """The first that knows the architecture."""
    for name in [*given, "nvcc"]:
        nvcc = shutil.which(name) if name else None
        if nvcc and architecture in run([nvcc, "--list-gpu-code"]).split():
            return nvcc
    return None


def find_disassembler(nvcc: str, given: str, repository: Path) -> str | None:
    """One given, beside the compiler (those of CUDA 13 read no sm_70), on the path, or from the
    wheels of this interpreter or of the repository's virtual environment."""
    if given:
        return given
    names = ("cuobjdump", "nvdisasm")
    folders = [Path(nvcc).resolve().parent]
    folders += [Path(p) for p in os.get_exec_path()]
    folders += sorted(Path(sysconfig.get_path("purelib")).glob("nvidia/*/bin"))
    folders += sorted(repository.glob(".venv/lib/python3*/site-packages/nvidia/*/bin"))
    for folder in folders:
        for name in names:
            if os.access(folder / name, os.X_OK):
                # cuobjdump starts nvdisasm by name.
                os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
                return str(folder / name)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["promises", "unobserved", "compile"])
    parser.add_argument("architecture", help="sm_70, sm_90 ...")
    parser.add_argument("--nvcc", action="append", default=[])
    parser.add_argument("--disassembler", default="")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--ptx", type=Path, help="where compile leaves it and promises finds it")
    parser.add_argument("--objects", type=Path, action="append", default=[])
    parser.add_argument("--require", action="store_true", help="fail where it would be skipped")
    options = parser.parse_args()
    missing = "MISSING" if options.require else "SKIPPED"
    nvcc = find_compiler(options.nvcc, options.architecture)
    if not nvcc:
        print(f"{missing}: no nvcc that knows {options.architecture}; run ci/setup or pass --nvcc")
        return 1 if options.require else SKIPPED
    disassembler = find_disassembler(nvcc, options.disassembler, options.source)
    if not disassembler:
        print(
            f"{missing}: no cuobjdump or nvdisasm; install the CUDA toolkit's, or the wheels "
            "nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm"
        )
        return 1 if options.require else SKIPPED
    tools = Toolchain(nvcc, disassembler)
    repository, architecture = options.source, options.architecture
    if options.what == "promises" and options.ptx:
        return promises(tools, sources(repository), architecture, options.ptx)
    with tempfile.TemporaryDirectory(prefix="bandgate-codegen-") as folder:
        if options.what == "unobserved":
            return unobserved(tools, repository, architecture, Path(folder))
        ptx = options.ptx or Path(folder)
        code = compiled(tools, repository, options.objects, architecture, ptx)
        if code == 0 and options.what == "promises":
            code = promises(tools, sources(repository), architecture, ptx)
        return code


if __name__ == "__main__":
    sys.exit(main())
