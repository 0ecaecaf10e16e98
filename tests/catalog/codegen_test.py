#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the machine code of the probes' kernels against what the probes promise.

Compiles each probe for one architecture (no GPU needed) and checks width and number of the global
loads in PTX, the number of them issued before the first use in SASS, and that nothing spills to
local memory. PTX alone would not do: there the order is load, add, load, add.

    codegen_test.py promises|unobserved --nvcc NVCC --source REPOSITORY [--disassembler TOOL]

Exit code: 0 kept, 1 broken, 77 skipped for want of a compiler or disassembler.
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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

SKIPPED = 77
Body = TypeVar("Body")
ARCHITECTURE = "sm_90"
WIDE_ARCHITECTURE = "sm_100"  # the first with loads of 32 bytes


@dataclass(frozen=True)
class Promise:
    """What one kernel is to look like; `kernel` is a part of its mangled name."""

    source: str
    kernel: str
    width: int  # bytes a load
    loads: int  # in PTX, all paths together
    issued: int  # loads before the first use of any of them
    stores: int = 0  # of that width


PROMISES = [
    # Each load is there twice: in a whole tile and, guarded, in the last one.
    Promise("read.cu", "read_tileILj512ELj8E", 16, 16, 8),
    Promise("read.cu", "read_tileILj256ELj8E", 16, 16, 8),
    Promise("read.cu", "read_tileILj512ELj4E", 16, 8, 4),
    Promise("read_seq.cu", "read_one_by_one", 4, 1, 1),
    # Four in the main loop, one in the tail.
    Promise("read_unroll.cu", "read_by_four", 4, 5, 4),
    # Two in the main loop, one in the tail.
    Promise("read_window.cu", "read_windowsIhNS0_11integer_sumILj8E", 1, 3, 2),
    Promise("read_window.cu", "read_windowsItNS0_11integer_sumILj16E", 2, 3, 2),
    Promise("read_window.cu", "read_windowsIjNS0_11integer_sumILj32E", 4, 3, 2),
    Promise("read_window.cu", "read_windowsIyNS0_11integer_sumILj64E", 8, 3, 2),
    # Adding up sixteen bytes takes the registers of the second load.
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_11integer_sumILj8E", 16, 3, 1),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_11integer_sumILj16E", 16, 3, 2),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_11integer_sumILj32E", 16, 3, 2),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_11integer_sumILj64E", 16, 3, 2),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_9float_sumIfE", 16, 3, 2),
    Promise("read_window.cu", "read_windowsI10ulonglong2NS0_9float_sumIdE", 16, 3, 2),
    Promise("write.cu", "write_tileILj256E", 16, 0, 0, stores=1),
    Promise("copy.cu", "copy_tileILj128E", 16, 1, 1, stores=1),
    Promise("copy.cu", "copy_tileILj256E", 16, 1, 1, stores=1),
    Promise("copy.cu", "copy_tileILj512E", 16, 1, 1, stores=1),
    Promise("copy.cu", "copy_windows", 16, 3, 2, stores=3),
]
# One of these carries as much as the two of half the width do elsewhere.
WIDE_PROMISES = [
    Promise("read_window.cu", "read_windowsINS0_10four_wordsENS0_11integer_sumILj32E", 32, 3, 1),
    Promise("read_window.cu", "read_windowsINS0_10four_wordsENS0_11integer_sumILj64E", 32, 3, 1),
    Promise("read_window.cu", "read_windowsINS0_10four_wordsENS0_9float_sumIdE", 32, 3, 1),
]


@dataclass
class Compiled:
    ptx: dict[str, str]  # by mangled name
    sass: dict[str, list[str]]


class Toolchain:
    def __init__(self, nvcc: str, disassembler: str) -> None:
        self.nvcc = nvcc
        self.disassembler = disassembler

    def compile(self, source: Path, include: Path, architecture: str) -> Compiled:
        with tempfile.TemporaryDirectory(prefix="bandgate-codegen-") as folder:
            cubin = Path(folder) / "probe.cubin"
            run(
                [
                    self.nvcc,
                    "-std=c++20",
                    "-O3",
                    f"-arch={architecture}",
                    "-cubin",
                    "-keep",
                    "-keep-dir",
                    folder,
                    "--expt-relaxed-constexpr",
                    f"-I{include}",
                    str(source),
                    "-o",
                    str(cubin),
                ]
            )
            ptx = (Path(folder) / f"{source.stem}.ptx").read_text()
            flag = "-c" if "nvdisasm" in Path(self.disassembler).name else "-sass"
            listing = run([self.disassembler, flag, str(cubin)])
        return Compiled(split_ptx(ptx), split_sass(listing))


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


def destination(instruction: str) -> set[int] | None:
    """The registers that a global load fills; None for any other instruction."""
    found = re.match(r"(?:@!?U?P\d+ )?LDG\.(\S+) ((?:R\d+, )+)", instruction)
    if not found:
        return None
    each = {"128": 4, "64": 2}.get(next((p for p in found[1].split(".") if p in ("128", "64")), ""))
    if ".256" in f".{found[1]}":
        each = 4  # two groups of four
    first = [int(r) for r in re.findall(r"R(\d+)", found[2])]
    return {f + i for f in first for i in range(each or 1)}


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


def broken_promises(code: Compiled, promise: Promise) -> list[str]:
    where = f"{promise.source}: {promise.kernel}"
    try:
        ptx = only(code.ptx, promise.kernel, promise.source)
        sass = only(code.sass, promise.kernel, promise.source)
    except LookupError as error:
        return [str(error)]
    problems = []
    loads = ptx_accesses(ptx, "ld")
    if loads != collections.Counter({promise.width: promise.loads} if promise.loads else {}):
        problems.append(
            f"{where}: loads by width in PTX are {dict(loads)}, "
            f"promised {promise.loads} of {promise.width} bytes"
        )
    stores = ptx_accesses(ptx, "st")[promise.width]
    if promise.stores and stores != promise.stores:
        problems.append(
            f"{where}: {stores} stores of {promise.width} bytes in PTX, promised {promise.stores}"
        )
    issued = issued_together(sass)
    if issued != promise.issued:
        problems.append(
            f"{where}: {issued} loads are issued before the first use in SASS, "
            f"promised {promise.issued}"
        )
    return problems


def local_memory(code: Compiled, source: str) -> list[str]:
    return [
        f"{source}: {name} uses local memory: {instruction}"
        for name, instructions in code.sass.items()
        for instruction in instructions
        if re.search(r"\b(LDL|STL)\b", instruction)
    ]


def compile_all(
    tools: Toolchain, catalog: Path, include: Path, names: list[str], architecture: str
) -> dict[str, Compiled]:
    with ThreadPoolExecutor(max_workers=2) as pool:
        compiled = pool.map(lambda n: tools.compile(catalog / n, include, architecture), names)
        return dict(zip(names, compiled, strict=True))


def supports(nvcc: str, architecture: str) -> bool:
    return architecture in run([nvcc, "--list-gpu-code"]).split()


def promises(tools: Toolchain, repository: Path) -> int:
    catalog, include = repository / "probes/catalog", repository / "probes/include"
    problems = []
    unlisted = {p.name for p in catalog.glob("*.cu")} - {p.source for p in PROMISES}
    problems += [f"{name}: has no promise in this test" for name in sorted(unlisted)]
    todo = [(ARCHITECTURE, PROMISES)]
    if supports(tools.nvcc, WIDE_ARCHITECTURE):
        todo.append((WIDE_ARCHITECTURE, WIDE_PROMISES))
    checked = 0
    for architecture, wanted in todo:
        code = compile_all(
            tools, catalog, include, sorted({p.source for p in wanted}), architecture
        )
        for name, each in code.items():
            problems += local_memory(each, name)
        for promise in wanted:
            problems += broken_promises(code[promise.source], promise)
            checked += 1
    print("\n".join(problems) or f"codegen: {checked} kernels are as promised")
    return 1 if problems else 0


def unobserved(tools: Toolchain, repository: Path) -> int:
    """Without the sum there is nothing to observe and the compiler drops the loads: every promise
    of a reading kernel must then be seen to be broken."""
    reading = [p for p in PROMISES if p.loads and not p.stores]
    with tempfile.TemporaryDirectory(prefix="bandgate-codegen-") as folder:
        catalog = Path(shutil.copytree(repository / "probes/catalog", Path(folder) / "catalog"))
        for name in {p.source for p in reading}:
            source = (catalog / name).read_text()
            changed = re.sub(r"observe\(out, .*\);", "observe(out, 0);", source)
            changed = changed.replace("*out.total = sum.timed()", "*out.total = 0")
            if changed == source:
                sys.exit(f"codegen: {name} has no sum to remove")
            (catalog / name).write_text(changed)
        code = compile_all(
            tools,
            catalog,
            repository / "probes/include",
            sorted({p.source for p in reading}),
            ARCHITECTURE,
        )
    unseen = [p for p in reading if not broken_promises(code[p.source], p)]
    for promise in unseen:
        print(f"{promise.source}: {promise.kernel} passes although its sum was removed")
    if not unseen:
        print(f"codegen: all {len(reading)} reading kernels fail without their sums")
    return 1 if unseen else 0


def find_disassembler(nvcc: str, given: str, repository: Path) -> str | None:
    """One given, on the path, beside the compiler, or from the wheels of this interpreter or of the
    repository's virtual environment."""
    if given:
        return given
    names = ("cuobjdump", "nvdisasm")
    folders = [Path(nvcc).resolve().parent]
    folders += sorted(Path(sysconfig.get_path("purelib")).glob("nvidia/*/bin"))
    folders += sorted(repository.glob(".venv/lib/python3*/site-packages/nvidia/*/bin"))
    for name in names:
        if found := shutil.which(name):
            return found
        for folder in folders:
            if os.access(folder / name, os.X_OK):
                # cuobjdump starts nvdisasm by name.
                os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
                return str(folder / name)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["promises", "unobserved"])
    parser.add_argument("--nvcc", default="")
    parser.add_argument("--disassembler", default="")
    parser.add_argument("--source", type=Path, required=True)
    options = parser.parse_args()
    nvcc = shutil.which(options.nvcc or "nvcc")
    if not nvcc:
        print("SKIPPED: no nvcc; put it on PATH or pass --nvcc")
        return SKIPPED
    disassembler = find_disassembler(nvcc, options.disassembler, options.source)
    if not disassembler:
        print(
            "SKIPPED: no cuobjdump or nvdisasm; install the CUDA toolkit's, or the wheels "
            "nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm"
        )
        return SKIPPED
    tools = Toolchain(nvcc, disassembler)
    return {"promises": promises, "unobserved": unobserved}[options.what](tools, options.source)


if __name__ == "__main__":
    sys.exit(main())
