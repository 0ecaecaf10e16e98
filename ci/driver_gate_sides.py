# SPDX-License-Identifier: Apache-2.0
"""The folder of a driver gate: what was measured on each side, and with what. There is no other
state, so a run that was killed, or a reboot, loses at most the run that was going on.

    DIR/plan.json            what both sides measure
    DIR/before/run-01/...    the results of one finished invocation
    DIR/before/.partial      one that is going on, or was killed: thrown away
    DIR/before/.failed       the last one that ended the gate, to look at
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

SIDES = ("before", "after")

# What a file that is not what it should be may raise; the last, brackets without an end.
UNREADABLE = (OSError, ValueError, KeyError, TypeError, RecursionError)


class GateError(Exception):
    """Ends the gate: an exit code, and a message with place, reason and remedy."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def reason_of(error: OSError) -> str:
    return error.strerror or type(error).__name__


@dataclass(frozen=True)
class Plan:
    """What must be equal on both sides."""

    mode: str  # "sides" or "interleave"
    suite: str
    runs: int
    arguments: list[str]  # further ones of `bandgate check`

    @staticmethod
    def read(folder: Path) -> Plan | None:
        file = folder / "plan.json"
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            plan = Plan(**{f.name: found[f.name] for f in fields(Plan)})
            if type(plan.runs) is not int or plan.runs < 1:
                raise ValueError("runs")
            if not all(type(text) is str for text in (plan.mode, plan.suite, *plan.arguments)):
                raise ValueError("mode, suite or arguments")
            "".join(plan.arguments).encode()  # lone surrogates are no arguments
        except FileNotFoundError:
            return None
        except UNREADABLE as error:
            raise GateError(
                2, f"{file}: not the plan of a driver gate ({error}); start in a new --dir"
            ) from error
        return plan

    def write(self, folder: Path) -> None:
        temporary = folder / ".plan.json"
        temporary.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        temporary.replace(folder / "plan.json")


@dataclass(frozen=True)
class State:
    """What was measured with; sets, since one side may hold several."""

    drivers: frozenset[str]
    kernels: frozenset[str]
    builds: frozenset[str]
    boots: frozenset[str]
    cards: frozenset[str]
    scripted: bool = False


class Side:
    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folder = folder / name

    def finished(self) -> list[Path]:
        return sorted(p for p in self.folder.glob("run-[0-9]*") if p.is_dir())

    def begin(self) -> Path:
        """An empty folder for one invocation."""
        partial = self.folder / ".partial"
        if partial.exists():
            shutil.rmtree(partial)
        partial.mkdir(parents=True)
        return partial

    def finish(self, partial: Path) -> None:
        """From here on it counts, also after a loss of power."""
        numbers = [int(p.name[4:]) for p in self.finished() if p.name[4:].isdigit()]
        partial.rename(self.folder / f"run-{max(numbers, default=0) + 1:02}")
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def put_aside(self, partial: Path) -> Path:
        failed = self.folder / ".failed"
        if failed.exists():
            shutil.rmtree(failed)
        return partial.rename(failed)

    def state(self) -> State | None:
        """None where nothing was measured yet."""
        found = [result for run in self.finished() for result in results(run)]
        if not found:
            return None
        devices, runs = [r["device"] for r in found], [r["run"] for r in found]
        return State(
            drivers=frozenset(str(d["driver_version"]) for d in devices),
            kernels=frozenset(str(r["kernel"]) for r in runs),
            builds=frozenset(str(r["tool_build"]) for r in runs),
            boots=frozenset(str(r["boot_id"]) for r in runs),
            cards=frozenset(str(d["uuid"] or d["pci_address"]) for d in devices) - {""},
            scripted=any(d["backend"] == "scripted" for d in devices),
        )


def results(run: Path) -> list[dict[str, Any]]:
    """The results of one invocation; a broken one is named, with what to do."""
    found = []
    for file in sorted(run.glob("[0-9]*/[0-9]*/[0-9]*/*.json")):
        try:
            if not file.is_file():  # a pipe would be waited for
                raise ValueError("not a regular file")
            result = json.loads(file.read_text(encoding="utf-8"))
            device, process = result["device"], result["run"]
            for part, names in (
                (device, ("backend", "uuid", "pci_address", "driver_version")),
                (process, ("kernel", "tool_build", "boot_id")),
            ):
                for name in names:
                    part[name]
            result["measurement"]
        except UNREADABLE as error:
            raise GateError(
                2, f"{file}: not a result of bandgate ({error!r}); remove {run} and run again"
            ) from error
        found.append(result)
    return found


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """One gate a folder. What a killed one has left measuring holds the lock, too (its descriptor
    is handed on), since nobody should measure beside it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise GateError(2, f"{folder}: cannot be written: {reason_of(error)}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"ci/driver-gate: waiting for another one that measures in {folder}", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)
