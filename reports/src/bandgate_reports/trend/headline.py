# SPDX-License-Identifier: Apache-2.0
"""The newest verdicts in one sentence, the same on every output."""

from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.text import count
from bandgate_reports.trend.model import Trend

STATUS_NAMES = {
    "regression": "regression",
    "error": "error",
    "inconclusive": "inconclusive",
    "no-baseline": "no baseline",
    "improved": "improved",
    "pass": "pass",
    "measured": "measured",
    "skipped": "skipped",
}


def headline(trend: Trend) -> str:
    """ "1 regression and 2 errors", "All 9 within tolerance", "Nothing was judged" …"""
    counts = trend.summary.counts
    bad = [
        count(counts[status], one, many)
        for status, one, many in (
            ("regression", "regression", "regressions"),
            ("error", "error", "errors"),
            ("inconclusive", "inconclusive verdict", "inconclusive verdicts"),
        )
        if counts.get(status)
    ]
    if bad:
        return bad[0] if len(bad) == 1 else f"{', '.join(bad[:-1])} and {bad[-1]}"
    if not trend.summary.judged:
        return "Nothing was judged"
    if trend.summary.judged == trend.summary.total:
        return f"All {trend.summary.total} within tolerance"
    return f"{trend.summary.judged} of {trend.summary.total} within tolerance, the rest not judged"


def tone(trend: Trend) -> str:
    """The status whose colour the page has."""
    counts = trend.summary.counts
    worst = next((s for s in ("regression", "error", "inconclusive") if counts.get(s)), "")
    if worst:
        return worst
    return "pass" if trend.summary.exit is Exit.OK else "inconclusive"


def judged(trend: Trend) -> str:
    return f"Judged {trend.summary.judged} of {trend.summary.total}."


def totals(trend: Trend) -> str:
    return (
        f"{count(trend.results, 'result')} of {count(trend.devices, 'device')} "
        f"on {count(trend.hosts, 'host')}."
    )
