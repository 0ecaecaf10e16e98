# SPDX-License-Identifier: Apache-2.0
"""One invocation of bandgate for a driver gate, and what must hold before it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from driver_gate_sides import UNREADABLE, GateError, Side, State, reason_of, results

ROOT = Path(__file__).resolve().parents[1]


def environment(options: argparse.Namespace) -> dict[str, str]:
    found = dict(os.environ)
    backend = options.backend
    if backend:
        if backend.startswith("scripted:"):
            backend = f"scripted:{Path(backend.removeprefix('scripted:')).absolute()}"
        found["BANDGATE_BACKEND"] = backend
    return found


def executable(options: argparse.Namespace) -> str:
    wanted = options.executable or ROOT / "build/gate/probes/cli/bandgate"
    if not (wanted.is_file() and os.access(wanted, os.X_OK)):
        raise GateError(
            2, f"{wanted}: no such program; ci/gate builds one, --executable names another"
        )
    return str(wanted.absolute())


def current(program: str, surroundings: dict[str, str], keep_going: bool) -> State:
    """The driver, the boot and the cards of this moment."""
    listed = _asked([program, "devices", "--json"], surroundings)
    version = _asked([program, "--version"], surroundings)
    try:
        found: dict[str, Any] = json.loads(listed)
        devices = list(found["devices"])
        problems = [str(p["message"]) for p in found["problems"]]
        state = State(
            drivers=frozenset(str(d["driver_version"]) for d in devices),
            kernels=frozenset({platform.release()}),
            builds=frozenset(re.findall(r"\(build ([^ ,)]+)", version)),
            boots=frozenset({_boot()}),
            cards=frozenset(str(d["uuid"] or d["pci_address"]) for d in devices) - {""},
            scripted=any(d["backend"] == "scripted" for d in devices),
        )
    except UNREADABLE as error:
        raise GateError(
            2,
            f"{program} devices --json: not what bandgate says ({error!r}); name another "
            "--executable",
        ) from error
    if problems and not keep_going:
        raise GateError(
            3, f"{'; '.join(problems)}; mend it, or measure what is there: --keep-going"
        )
    if not devices:
        raise GateError(2, "there is no device to measure; see `bandgate devices`")
    return state


def _asked(command: list[str], surroundings: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            command,
            env=surroundings,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise GateError(2, f"{command[0]}: cannot be run: {reason_of(error)}") from error
    if not done.stdout:
        raise GateError(2, f"{shlex.join(command)}: exit code {done.returncode} and no output")
    return done.stdout


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def texts(values: frozenset[str]) -> str:
    return ", ".join(sorted(v or "unknown" for v in values)) or "none"


def require_same(name: str, side: State, now: State) -> None:
    """A side is of one driver: what was measured with another one belongs to the other side."""
    for what, had, has in (
        ("driver", side.drivers, now.drivers),
        ("kernel", side.kernels, now.kernels),
        ("build of bandgate", side.builds, now.builds),
    ):
        if not has <= had:
            raise GateError(
                2,
                f"{name} was measured with {what} {texts(had)}, and now it is {texts(has)}: go "
                "back to it, begin in another --dir, or mix them with --force",
            )


def require_change(before: State, now: State) -> None:
    """Between the sides the driver or the boot must differ, and little else."""
    if now.drivers <= before.drivers and now.boots <= before.boots:
        raise GateError(
            2,
            f"nothing changed since `before`: driver {texts(now.drivers)}, and the same boot; "
            "change the driver or reboot first, or measure all the same with --force",
        )
    if now.builds != before.builds:
        raise GateError(
            2,
            f"`before` was measured by build {texts(before.builds)} of bandgate, this is build "
            f"{texts(now.builds)}: use the same one, or accept a confounder with --force",
        )


def measure(
    side: Side, command: list[str], surroundings: dict[str, str], lock: int, keep_going: bool
) -> int:
    """One fresh invocation. Judgements do not matter here; what prevents a comparison does."""
    partial = side.begin()
    log = partial / "check.txt"
    full = [*command, "--results", str(partial)]
    try:
        with log.open("wb") as output:
            child = subprocess.Popen(
                full,
                env=surroundings,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(lock,),
            )
    except OSError as error:
        raise GateError(2, f"{command[0]}: cannot be run: {reason_of(error)}") from error
    try:
        code = child.wait()
    except BaseException:
        child.terminate()
        child.wait()
        raise
    values = sum(result["measurement"] is not None for result in results(partial))
    failure = _failure(code, values, keep_going)
    if failure:
        sys.stderr.write(log.read_text(encoding="utf-8", errors="replace"))
        aside = side.put_aside(partial)
        raise GateError(failure[0], f"{side.name}: {failure[1]}; its results are in {aside}")
    side.finish(partial)
    return code


def _failure(code: int, values: int, keep_going: bool) -> tuple[int, str] | None:
    """1 (a regression) and 4 (not judged) are findings of a run that has its values, and so is 77
    where there is no baseline."""
    if code == 3 and not keep_going:
        return 3, (
            "a measurement failed or a device is missing (see above); mend it and "
            "run again, or count such runs, too: --keep-going"
        )
    if code not in (0, 1, 3, 4, 77):
        killed = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return 2, f"bandgate check {killed} (see above); mend it and run again"
    if not values:
        why = 4 if code == 4 else 3 if code == 3 else 2
        return why, (
            f"nothing was measured (exit code {code} of bandgate check, see above); free the "
            "devices and run again"
        )
    return None
