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
LOG_LIMIT = 20_000  # characters; GitHub takes 1 MiB of a step, and its table comes first
METRICS = ("bandwidth_bytes_per_second", "latency_seconds", "ratio", "status", "unstable")


def meaning(code: int) -> str:
    return MEANINGS.get(code, "no exit code of bandgate: it was killed, or is broken")


def one_line(text: str) -> str:
    return " ".join(text.split())


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
