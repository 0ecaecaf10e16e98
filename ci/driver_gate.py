# SPDX-License-Identifier: Apache-2.0
"""Measures before and after a change of the driver, in fresh processes, and compares the sides.

ci/driver-gate before; change the driver, reboot; ci/driver-gate after; ci/driver-gate verdict
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TextIO

from driver_gate_options import PROGRAM, parse
from driver_gate_run import (
    ROOT,
    current,
    environment,
    executable,
    measure,
    require_change,
    require_same,
    texts,
)
from driver_gate_sides import SIDES, GateError, Plan, Side, locked, reason_of

DEFAULT_RUNS = 10
LEAST_RUNS = 5  # below, bandgate-report ab gives no verdict


def say(text: str, stream: TextIO | None = None) -> None:
    """Whoever reads it may have gone: what is measured stays, and the exit code tells the end."""
    stream = stream or sys.stdout
    try:
        print(f"{PROGRAM}: {text}", file=stream, flush=True)
    except OSError:  # what is left in its buffer would fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def plan_for(options: argparse.Namespace, mode: str) -> Plan:
    """The one of the folder, which options may not contradict; else a new one."""
    there = Plan.read(options.dir)
    if there is None or not any(Side(options.dir, name).finished() for name in SIDES):
        if options.step == "after":
            raise GateError(2, f"{options.dir}: nothing was measured before; run `before` first")
        runs = options.runs or DEFAULT_RUNS
        return Plan(mode, options.suite or "quick", runs, options.more)
    if there.mode != mode:
        raise GateError(
            2, f"{options.dir} is of `{_modes(there.mode)}`; give this one another --dir"
        )
    for name, wanted, have in (
        ("--suite", options.suite, there.suite),
        ("the arguments after --", options.more or None, there.arguments),
    ):
        if wanted is not None and wanted != have:
            text = have if isinstance(have, str) else shlex.join(have) or "none"
            raise GateError(
                2,
                f"{name}: {options.dir} was begun with {text}; both sides must be measured "
                "alike, or in another --dir",
            )
    runs = options.runs if options.runs and options.step != "after" else there.runs
    return Plan(mode, there.suite, runs, there.arguments)


def _modes(mode: str) -> str:
    return "interleave" if mode == "interleave" else "before and after"


def one_side(options: argparse.Namespace, lock: int) -> int:
    program, surroundings = executable(options), environment(options)
    plan = plan_for(options, "sides")
    before, side = Side(options.dir, "before"), Side(options.dir, options.step)
    now = current(program, surroundings, options.keep_going)
    mine = side.state()
    if mine and not options.force:
        require_same(side.name, mine, now)
    reference = before.state()
    if options.step == "after":
        _require_before(options, plan, before)
        if reference and not options.force:
            require_change(reference, now)
    if reference and not options.keep_going and (gone := reference.cards - now.cards):
        raise GateError(
            3,
            f"measured before and not there now: {texts(gone)}; mend it, or go on with what "
            "is there: --keep-going",
        )
    plan.write(options.dir)
    runs = options.runs or plan.runs
    command = [program, "check", "--suite", plan.suite, *plan.arguments]
    while (done := len(side.finished())) < runs:
        code = measure(side, command, surroundings, lock, options.keep_going)
        say(f"{side.name}: run {done + 1} of {runs}{_aside(code)}")
    say(f"{side.name}: {done} runs with driver {texts(now.drivers)} in {side.folder}")
    if runs < LEAST_RUNS:
        say(f"a verdict needs {LEAST_RUNS} runs a side, {DEFAULT_RUNS} are advised")
    if options.step == "before":
        say("next: change the driver, reboot, then `ci/driver-gate after` with the same --dir")
    else:
        say("next: `ci/driver-gate verdict` with the same --dir")
    return 0


def _aside(code: int) -> str:
    texts = {1: "a regression against the baseline", 3: "with failures", 4: "not all was judged"}
    return f" ({texts[code]})" if code in texts else ""


def _require_before(options: argparse.Namespace, plan: Plan, before: Side) -> None:
    wanted, have = options.runs or plan.runs, len(before.finished())
    if have < min(wanted, plan.runs) and not options.force:
        raise GateError(
            2,
            f"before has {have} of {plan.runs} runs: finish it with the old driver, or be content "
            f"with --runs {max(have, 1)}",
        )


def interleave(options: argparse.Namespace, lock: int) -> int:
    """A B B A A B B A: what drifts with time meets both sides alike."""
    commands = {}
    for name in SIDES:
        text = getattr(options, f"{name}_command")
        try:
            commands[name] = shlex.split(text)
        except ValueError as error:
            raise GateError(2, f"--{name}-command {text}: {error}") from error
        if not commands[name]:
            raise GateError(2, f"--{name}-command is empty: name a bandgate")
    if commands["before"] == commands["after"]:
        raise GateError(2, "--before-command and --after-command are the same: nothing to compare")
    plan = plan_for(options, "interleave")
    plan.write(options.dir)
    sides = {name: Side(options.dir, name) for name in SIDES}
    surroundings, runs = environment(options), options.runs or plan.runs
    while True:
        done = {name: len(side.finished()) for name, side in sides.items()}
        if min(done.values()) >= runs:
            break
        name = _turn(done)
        command = [*commands[name], "check", "--suite", plan.suite, *plan.arguments]
        code = measure(sides[name], command, surroundings, lock, options.keep_going)
        say(f"{name}: run {done[name] + 1} of {runs}{_aside(code)}")
    say(f"{runs} runs a side in {options.dir}")
    say("next: `ci/driver-gate verdict` with the same --dir")
    return 0


def _turn(done: dict[str, int]) -> str:
    """The side that is behind; where none is, the one that was last: A B, B A, A B."""
    if done["before"] != done["after"]:
        return min(done, key=lambda name: done[name])
    return SIDES[done["before"] % 2]


def verdict(options: argparse.Namespace, lock: int) -> int:
    del lock
    plan = Plan.read(options.dir)
    if plan is None:
        raise _nothing(options)
    wanted = options.runs or plan.runs
    scripted = False
    for name in SIDES:
        side = Side(options.dir, name)
        state, have = side.state(), len(side.finished())
        if have < wanted or state is None:
            enough = f", or be content with --runs {have}" if have >= LEAST_RUNS else ""
            step = "interleave" if plan.mode == "interleave" else name
            raise GateError(2, f"{name} has {have} of {wanted} runs: run `{step}` again{enough}")
        scripted |= state.scripted
    page, text = options.dir / "verdict.html", options.dir / "verdict.md"
    command = [report_command(), "ab", str(options.dir / "before"), str(options.dir / "after")]
    command += ["--margin", options.margin, "--page", str(page), "--markdown", str(text)]
    for file in (page, text):  # never an old verdict beside a new failure
        file.unlink(missing_ok=True)
    if scripted:
        command.append("--include-scripted")
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise GateError(2, f"{command[0]}: cannot be run: {reason_of(error)}") from error
    if code not in (0, 1, 4):
        return 2
    if not (page.is_file() and text.is_file()):
        raise GateError(2, f"{command[0]} ended with {code} and wrote no {page}; is it current?")
    _append_summary(text)
    say(f"page: {page}")
    for line in advice(code, plan, options.dir, text.read_text(encoding="utf-8")):
        say(line)
    return code


def advice(code: int, plan: Plan, folder: Path, text: str) -> list[str]:
    """What the owner of the machine does now."""
    if code == 0:
        return [
            "next: adopt it: roll it out, then on machines that run it "
            f"`bandgate check --suite {plan.suite} --strict`; where that says improved, "
            f"`bandgate baseline record --suite {plan.suite}`"
        ]
    if code == 1:
        old = Side(folder, "before").state()
        where = f"driver {texts(old.drivers)}" if old else "what was there before"
        return [
            f"next: roll back to {where}, reboot, and see with `ci/driver-gate before` in another "
            "--dir and `bandgate check` that the loss is gone",
            f"keep {folder}: both sides, the page and what else changed are in it",
        ]
    further = [int(n) for n in re.findall(r"about (\d+) more runs? a side", text)]
    if not further:
        return ["next: more runs alone do not decide this: see Why beside each probe"]
    more = f"about {max(further)} more run{'s' if max(further) > 1 else ''} a side"
    wanted = max(further) + max(len(Side(folder, name).finished()) for name in SIDES)
    sides = "interleave" if plan.mode == "interleave" else "after"
    return [
        f"next: {more}: `ci/driver-gate {sides} --runs {wanted}`"
        + ("" if plan.mode == "interleave" else f", with the old driver `before --runs {wanted}`")
        + ", then `verdict` again"
    ]


def _nothing(options: argparse.Namespace) -> GateError:
    return GateError(2, f"{options.dir}: nothing was measured here; run `before` first")


def report_command() -> str:
    named = os.environ.get("BANDGATE_REPORT_COMMAND")
    of_checkout = ROOT / ".venv/bin/bandgate-report"
    found = named or (str(of_checkout) if of_checkout.is_file() else "")
    found = found or shutil.which("bandgate-report") or ""
    if not found:
        raise GateError(2, "there is no bandgate-report; ci/setup installs it")
    return found


def _append_summary(text: Path) -> None:
    """GitHub shows it on the page of the job."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write(text.read_text(encoding="utf-8"))


def _terminated(number: int, frame: object) -> None:
    del frame
    sys.exit(128 + number)


STEPS = {"before": one_side, "after": one_side, "interleave": interleave, "verdict": verdict}


def main() -> int:
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, _terminated)
    try:
        if options.step == "verdict" and not options.dir.is_dir():
            raise _nothing(options)
        with locked(options.dir) as lock:
            return STEPS[options.step](options, lock)
    except GateError as error:
        say(str(error), sys.stderr)
        return error.code
    except OSError as error:
        say(f"{error.filename or options.dir}: {reason_of(error)}", sys.stderr)
    except KeyboardInterrupt:
        return 130
    except Exception:
        # Python's own exit code would be 1, which says that a probe has lost bandwidth.
        say(f"a fault of the program, not a verdict:\n{traceback.format_exc()}", sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
