# SPDX-License-Identifier: Apache-2.0
"""A night of a CI job: `bandgate check --strict` on every device, the history, and what CI shows: a
summary, JUnit, metrics and the report page. Needs Python's own library, git and bandgate-report."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nightly_summary as summary
from nightly_history import History, HistoryError, history_at
from verdicts import JUDGED, read_results

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION, FAILED, NOT_JUDGED = 2, 3, 4
STOPS = (signal.SIGINT, signal.SIGTERM)
STOP_S = 3.0
REPORT_LIMIT_S = 900  # a page of a million results takes half a minute
LATE = (124, 137)  # of timeout(1): it ended, it had to be killed
PRECEDENCE = (3, 1, 2, 4, 0)  # what is none of them (77, a signal) comes first: it explains more
USAGE = """ci/nightly --out DIR [options of `bandgate check`]

environment, all optional:
  BANDGATE                the program; default: `bandgate` of PATH, else this checkout is built
  BANDGATE_REPORT_COMMAND the reports' program; default: `bandgate-report` of PATH, else ci/setup
  BANDGATE_HISTORY_URL    git repository that keeps the results of all nights; default: none does
  BANDGATE_HISTORY_BRANCH its branch; default bandgate-history
  BANDGATE_HISTORY_TOKEN  what may push there, with BANDGATE_HISTORY_USER (default x-access-token)
and bandgate's own, such as BANDGATE_BACKEND, BANDGATE_BASELINES and BANDGATE_EXPECT_DEVICES"""


def say(text: str, end: str = "\n") -> None:
    try:
        print(text, end=end, flush=True)
    except OSError:  # a log that nobody takes ends no night, nor does what is left in the buffer
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass
class Night:
    out: Path
    options: list[str]
    code: int = 0
    causes: list[str] = field(default_factory=list)  # of a red job, beside what `check` said
    log: list[str] = field(default_factory=list)  # of the last command
    said: list[str] = field(default_factory=list)  # by `check`, for people
    judged: str = ""

    @property
    def results(self) -> Path:
        return self.out / "results"

    def turn(self, code: int) -> None:
        """Of several exit codes one is the job's."""
        both = {self.code, code}
        known = [known for known in PRECEDENCE if known in both]
        self.code = next(iter(both - set(PRECEDENCE)), known[0] if known else code)

    def fail(self, code: int, cause: str) -> None:
        self.turn(code)
        self.causes.append(cause)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            say(f"::error title=bandgate nightly::{summary.annotation(cause)}")
        else:
            say(f"ci/nightly: {summary.one_line(cause)}")

    def run(self, *command: str, quiet: bool = False) -> int:
        """Runs a command; what it says goes to the log of the job, too, if quiet where it fails."""
        log: deque[str] = deque(maxlen=summary.LINES_KEPT)
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except (OSError, ValueError) as error:
            self.log = [f"{command[0]}: {getattr(error, 'strerror', error)}"]
            say(self.log[-1])
            return 127
        with process:
            assert process.stdout
            try:
                while line := process.stdout.readline(summary.LINE_LIMIT):
                    log.append(line.rstrip("\n"))
                    if not quiet:
                        say(line, end="")
            except BaseException:
                end(process)
                raise
            finally:
                self.log = list(log)
        code = process.wait()
        if quiet and code:
            say("\n".join(self.log))
        return 128 - code if code < 0 else code


def end(process: subprocess.Popen[str]) -> None:
    """GitHub gives a job that it stops ten seconds in all: nobody is waited for longer."""
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()


def program(night: Night) -> str | None:
    found = os.environ.get("BANDGATE") or shutil.which("bandgate")
    if found:
        return found
    code = night.run(str(ROOT / "ci/gate"), "--build-only")
    if code:
        night.said = night.log[-40:]
        night.fail(
            CONFIGURATION, f"there is no bandgate on PATH, and building it ended with {code}"
        )
        return None
    return str(ROOT / "build/gate/probes/cli/bandgate")


def report_program(night: Night) -> str | None:
    found = os.environ.get("BANDGATE_REPORT_COMMAND") or shutil.which("bandgate-report")
    if found:
        return found
    own = ROOT / ".venv/bin/bandgate-report"
    if not own.exists() and night.run(str(ROOT / "ci/setup"), "--gate"):
        night.fail(CONFIGURATION, "there is no bandgate-report on PATH, and ci/setup made none")
        return None
    return str(own)


def history_of(folder: Path, night: Night) -> History | None:
    # No other program needs them, and both may hold a secret.
    url = os.environ.pop("BANDGATE_HISTORY_URL", "").strip()
    token = os.environ.pop("BANDGATE_HISTORY_TOKEN", "")
    if not url:
        return None
    branch = os.environ.get("BANDGATE_HISTORY_BRANCH") or "bandgate-history"
    user = os.environ.get("BANDGATE_HISTORY_USER") or "x-access-token"
    try:
        return history_at(url, branch, user, token, folder)
    except ValueError:  # whose words may hold the login
        night.fail(CONFIGURATION, "no history is kept: BANDGATE_HISTORY_URL is no URL")
        return None


def restored(history: History | None, night: Night) -> list[str]:
    """Folders of earlier results for the page."""
    if not history:
        return []
    try:
        return [str(history.restore())]
    except HistoryError as error:
        # The card is measured all the same, and saving will be tried.
        night.fail(CONFIGURATION, f"the history could not be restored: {error}")
        return []


def measure(night: Night, bandgate: str) -> None:
    """`bandgate check`, and whether its success is one: what judged nothing is never green."""
    command = [bandgate, "check", "--strict", "--results", str(night.results), *night.options]
    if os.environ.get("GITHUB_ACTIONS") == "true":
        command += ["--format", "github"]
    code = night.run(*command)
    night.said = summary.without_annotations(night.log)
    if code:
        night.turn(code)
        night.causes.append(f"`bandgate check` ended with {code}: {summary.meaning(code)}")
    results, broken = read_results(night.results, "")
    judged = sum(result["verdict"]["status"] in JUDGED for result in results)
    night.judged = f"judged {judged} of {len(results)}"
    if broken:
        night.fail(FAILED, f"broken results: {'; '.join(broken)}")
    if not judged and not code:
        night.fail(NOT_JUDGED, "nothing was judged, although `bandgate check` ended with 0")


def write_reports(night: Night, report: str, earlier: list[str]) -> str:
    """All that bandgate-report makes of this night; returns the Markdown."""
    drill = ["--include-scripted"] if is_drill(night) else []
    tonight = str(night.results)
    markdown, metrics = night.out / "verdicts.md", night.out / "metrics.prom"
    for name, folders, target in (
        ("markdown", [tonight], markdown),
        ("junit", [tonight], night.out / "junit/probes.xml"),
        ("prometheus", [tonight], metrics),
        ("trend", [*earlier, tonight], night.out / "report"),
    ):
        more = ["--exit-zero"] if name == "trend" else []
        limit = ["timeout", "-k", str(STOP_S), str(REPORT_LIMIT_S)]
        command = [report, name, *folders, "--out", str(target), *drill, *more]
        began = time.monotonic()
        code = night.run(*limit, *command, quiet=True)
        # Killed earlier, it was for want of memory or by a person.
        if code in LATE and time.monotonic() - began >= REPORT_LIMIT_S:
            cause = f"bandgate-report {name} did not end within {REPORT_LIMIT_S} s"
            night.fail(CONFIGURATION, cause)
        # 4 is: nothing to export, which the verdict says already.
        elif code not in (0, 4):
            said = " ".join(night.log[-3:])
            night.fail(CONFIGURATION, f"bandgate-report {name} ended with {code}: {said}")
    if metrics.exists():
        text = summary.openmetrics(metrics.read_text(encoding="utf-8", errors="replace"))
        write(night, night.out / "metrics.txt", text)
    if not markdown.exists():
        return ""
    return markdown.read_text(encoding="utf-8", errors="replace")


def is_drill(night: Night) -> bool:
    chosen = [os.environ.get("BANDGATE_BACKEND", ""), *night.options]
    return any(text.removeprefix("--backend=").startswith("scripted:") for text in chosen)


def spend(night: Night, work: Path) -> str:
    """The whole night; returns the Markdown of its verdicts."""
    history = history_of(work, night)
    report = report_program(night)
    bandgate = program(night)
    if not bandgate:
        return ""
    earlier = restored(history, night)
    measure(night, bandgate)
    if not night.results.is_dir():
        return ""
    if history:
        try:
            history.save(night.results, f"Results of {os.environ['BANDGATE_NODE']} [skip ci]")
        except HistoryError as error:
            night.fail(CONFIGURATION, f"the history could not be saved: {error}")
    return write_reports(night, report, earlier) if report else ""


def arguments() -> Night:
    parser = argparse.ArgumentParser(prog="ci/nightly", usage=USAGE, allow_abbrev=False)
    parser.add_argument("--out", type=Path, required=True)
    known, options = parser.parse_known_args()
    out: Path = known.out.absolute()
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            parser.error(
                f"--out {out}: is there already; name a folder that is not, or an empty one"
            )
        (out / "junit").mkdir(parents=True)
    except OSError as error:
        parser.error(f"--out {out}: cannot be written: {error.strerror}; name another folder")
    return Night(out, options)


def stop(*_: Any) -> None:
    # Once: what is left to do then is to say so.
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def write(night: Night, path: Path, text: str, mode: str = "w") -> None:
    """What cannot be written makes the job red, and keeps nothing else from being written."""
    try:
        with path.open(mode, encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        night.fail(CONFIGURATION, f"{path} could not be written: {error.strerror}")


def tell(night: Night, node: str, markdown: str) -> None:
    """The summary, the job's JUnit case, and the last line of the log."""

    def headline() -> str:
        return summary.headline(night.code, node, night.judged)

    def text() -> str:
        said = night.said if night.code else []
        return summary.text(headline(), night.causes, said, markdown)

    if os.environ.get("GITHUB_STEP_SUMMARY"):
        page = Path(os.environ["GITHUB_STEP_SUMMARY"])
        write(night, page, summary.for_github(text()), "a")
    write(night, night.out / "summary.md", text())
    case = summary.junit(headline(), night.code, [*night.causes, *night.said], node)
    write(night, night.out / "junit/job.xml", case)
    say(headline())


def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        # A locale that lacks a character ends no night.
        assert isinstance(stream, io.TextIOWrapper)
        stream.reconfigure(encoding="utf-8", errors="replace")
    night = arguments()
    # A container's own name is another every night, and so would be the node of the history.
    names = ("BANDGATE_NODE", "RUNNER_NAME", "CI_RUNNER_DESCRIPTION")
    runner = next(filter(None, (summary.printable(os.environ.get(n, "")) for n in names)), None)
    node = (runner or os.uname().nodename)[: summary.NODE_LIMIT]
    os.environ["BANDGATE_NODE"] = node
    for number in STOPS:
        signal.signal(number, stop)
    markdown = ""
    try:
        with tempfile.TemporaryDirectory(prefix="bandgate-history-") as work:
            markdown = spend(night, Path(work))
    except KeyboardInterrupt:
        night.said = night.said or summary.without_annotations(night.log)
        night.fail(128 + signal.SIGTERM, "the job was stopped before it was done")
    except Exception as error:
        # Python would end with 1, which is a regression.
        say(traceback.format_exc())
        night.fail(CONFIGURATION, f"the night broke off: {type(error).__name__}: {error}")
    tell(night, node, markdown)
    return night.code


if __name__ == "__main__":
    sys.exit(main())
