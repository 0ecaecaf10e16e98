# SPDX-License-Identifier: Apache-2.0
"""The command line of ci/driver-gate."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from driver_gate_sides import SIDES

PROGRAM = "ci/driver-gate"
DESCRIPTION = """\
Measures before and after a change of the driver, in fresh processes, and compares the sides.
"""
SUITES = ("quick", "full", "sustained")
EPILOG = """\
Exit codes: 0 done, and for `verdict` no probe lost more than the margin; 1 a probe did; 2 set-up or
arguments; 3 a measurement failed or a device is missing; 4 cannot tell.

  ci/driver-gate before                 ten runs with the driver that is there
  (install the other driver, reboot)
  ci/driver-gate after                  ten with the other
  ci/driver-gate verdict                DIR/verdict.html, DIR/verdict.md, exit code

A step that was interrupted goes on when it is called again. Two sides that need no reboot between
them are better measured in turn:

  ci/driver-gate interleave --before-command 'old/bandgate' --after-command 'new/bandgate'

Build bandgate with ci/gate, or name one with --executable.
"""


def parse(words: list[str]) -> argparse.Namespace:
    words, more = _split(words)
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    folder = Path("driver-gate")
    common.add_argument(
        "--dir", type=Path, default=folder, help="results and verdict (default: ./driver-gate)"
    )
    measuring = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    measuring.add_argument("--runs", type=_runs, metavar="K", help="a side (default: 10)")
    measuring.add_argument("--suite", choices=SUITES, help="default: quick")
    measuring.add_argument("--backend", help="as of bandgate check; scripted:FILE for a drill")
    measuring.add_argument(
        "--keep-going",
        action="store_true",
        help="count runs with failed measurements and missing devices, too",
    )
    alone = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    alone.add_argument("--executable", type=Path, help="bandgate (default: that of ci/gate)")
    alone.add_argument("--force", action="store_true", help="although the set-up says no")
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    parents = [common, measuring, alone]
    steps.add_parser("before", parents=parents, help="measure K times; goes on where it stopped")
    steps.add_parser("after", parents=parents, help="the same with the other driver")
    turns = steps.add_parser(
        "interleave", parents=[common, measuring], help="both sides in turn: A B B A"
    )
    for side in SIDES:
        turns.add_argument(
            f"--{side}-command", required=True, metavar="CMD", help=f"the bandgate of {side}"
        )
    verdict = steps.add_parser("verdict", parents=[common], help="compare the sides")
    verdict.add_argument("--margin", default="1", metavar="PERCENT", help="accepted loss")
    verdict.add_argument("--runs", type=_runs, metavar="K", help="that many a side are enough")
    options = parser.parse_args(words)
    options.more = more
    if more and options.step == "verdict":
        parser.error("verdict measures nothing: nothing may follow --")
    options.dir = options.dir.absolute()
    return options


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Ours, and after `--` those of bandgate check."""
    if "--" not in words:
        return words, []
    place = words.index("--")
    return words[:place], words[place + 1 :]


def _runs(text: str) -> int:
    if not re.fullmatch("[0-9]{1,4}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs, 1 to 9999")
    return int(text)
