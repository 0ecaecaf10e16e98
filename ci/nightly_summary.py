# SPDX-License-Identifier: Apache-2.0
"""What a night's job shows of itself, as text: pure functions."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

MEANINGS = {
    1: "regression, confirmed by a second measurement in a fresh process",
    2: "usage, configuration, baseline or recording error",
    3: "the measurement itself failed, or a device is missing",
    4: "could not be judged, or there is no device or no baseline",
    77: "skipped: nothing was judged",
}
LOG_LIMIT = 20_000  # characters; the table comes first
LINES_KEPT = 2_000  # of what a command says, its last
LINE_LIMIT = 4_000  # characters of one line
NODE_LIMIT = 100
SUMMARY_LIMIT = 1_000_000  # bytes; GitHub refuses a step's summary above 1 MiB, whole
CUT = "\n\n(Cut here, since it is too long for a summary; all of it is in `summary.md`.)\n"
METRICS = ("bandwidth_bytes_per_second", "latency_seconds", "ratio", "status", "unstable")


def meaning(code: int) -> str:
    return MEANINGS.get(code, "no exit code of bandgate: it was killed, or is broken")


def one_line(text: str) -> str:
    return " ".join(text.split())


def printable(text: str) -> str:
    """One line that any file takes: no control characters, no bytes that are no text."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return one_line(clean)


def annotation(text: str) -> str:
    """A cause as GitHub's `::error::` takes it, which reads %0A and the like as more lines."""
    return one_line(text).replace("%", "%25")


def for_github(text: str) -> str:
    data = text.encode(errors="replace")
    if len(data) <= SUMMARY_LIMIT:
        return text
    return data[: SUMMARY_LIMIT - len(CUT)].decode(errors="ignore") + CUT


def without_annotations(lines: list[str]) -> list[str]:
    """What `--format github` says, for people: `::error title=T::M` becomes `error: T: M`."""
    readable = []
    for line in lines:
        match = re.fullmatch(r"::(\w+) title=(.*?)::(.*)", line)
        text = f"{match[1]}: {match[2]}: {match[3]}" if match else line
        for code, character in (("3A", ":"), ("2C", ","), ("0D", ""), ("0A", "\n"), ("25", "%")):
            text = text.replace(f"%{code}", character) if match else text
        readable += text.split("\n")
    return readable


def headline(code: int, node: str, judged: str) -> str:
    state = f"red, exit code {code}" if code else "green"
    return ", ".join(filter(None, (f"Bandgate on {node}: {state}", judged)))


def text(headline: str, causes: list[str], said: list[str], verdicts: str) -> str:
    """The summary as Markdown: the causes, the verdicts, and what was said."""
    parts = [f"# {headline}", "", *(f"- {one_line(cause)}" for cause in causes), ""]
    if verdicts:
        parts += [verdicts.rstrip("\n"), ""]
    if said:
        log = "\n".join(said)[-LOG_LIMIT:]
        # Longer than any fence within.
        fence = max([*re.findall("`+", log), "``"], key=len) + "`"
        # The table says it better; without one, this is all there is.
        shown = "" if verdicts else " open"
        parts += [f"<details{shown}><summary>What was said</summary>", ""]
        parts += [f"{fence}text", log, fence, "", "</details>", ""]
    return "\n".join(parts)


def junit(headline: str, code: int, said: list[str], node: str) -> str:
    """One case, the job itself: red also where no probe came to have a verdict."""
    # XML 1.0 has no place for other control characters.
    log = re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", "\n".join(said)[-LOG_LIMIT:])
    failures = int(code != 0)
    failure = f"<failure message={quoteattr(headline)}>{escape(log)}</failure>" if code else ""
    return (
        "<?xml version='1.0' encoding='utf-8'?>\n"
        f'<testsuites name="bandgate job" tests="1" failures="{failures}" errors="0">\n'
        f'<testsuite name="bandgate job" tests="1" failures="{failures}" errors="0" skipped="0">\n'
        f'<testcase classname={quoteattr("bandgate." + node)} name="the job itself">{failure}'
        "</testcase>\n</testsuite>\n</testsuites>\n"
    )


def openmetrics(prometheus: str) -> str:
    """Of the metrics those that GitLab shall compare: no times, no facts, which differ always."""
    names = "|".join(METRICS)
    lines = re.findall(rf"^bandgate_(?:{names})\{{.*$", prometheus, re.MULTILINE)
    return "".join(f"{line}\n" for line in lines) + "# EOF\n"
