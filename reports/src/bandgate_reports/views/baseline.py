# SPDX-License-Identifier: Apache-2.0
"""What a changed baseline would have done, as people read it."""

import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pandas as pd

from bandgate_reports.analysis.fleet_nodes import labels
from bandgate_reports.analysis.verdicts import JUDGED, STATUSES, Exit
from bandgate_reports.section import Column, Row, Section, Table, Tone
from bandgate_reports.store.records import each
from bandgate_reports.text import count, listed, shorten
from bandgate_reports.units import percent_text

_MOST_ROWS = 40
_MOST_SPANS = 3


@dataclass(frozen=True)
class Asked:
    """Beside the answers: what was tried, and what was left out."""

    file: str
    never_judged: int  # results
    notice: str = ""
    fail: bool = False


def section(tried: pd.DataFrame, counted: pd.DataFrame, asked: Asked) -> Section:
    """`tried` and `counted` as analysis.trial gives them."""
    fails, new = counted[counted["fails"]], counted[counted["new"]]
    mended = counted[counted["mended"]]
    code = Exit.CANNOT_TELL if counted.empty else Exit.OK
    if asked.fail and len(new):
        code = Exit.REGRESSION
    tone = Tone.UNSURE if counted.empty else Tone.BAD if len(new) else Tone.GOOD
    tables = (
        _where("Would have failed", fails, Tone.BAD),
        _where("Failed then, would pass now", mended, Tone.GOOD),
        _verdicts(tried[tried["touched"]]),
    )
    return Section(
        key="baseline-try",
        title="Baseline rehearsal",
        headline=_headline(tried, counted, asked),
        tone=tone,
        exit=code,
        sentences=tuple(s for s in _sentences(tried, counted, asked) if s),
        tables=tuple(t for t in tables if t.rows),
        data=_data(tried, counted, asked),
    )


def grouped(number: int) -> str:
    """ "5 760"."""
    return f"{number:,}".replace(",", " ")


def _many(number: int, what: str) -> str:
    return f"{grouped(number)} {what if number == 1 else what + 's'}"


def _nodes(rows: pd.DataFrame) -> str:
    return listed(list(dict.fromkeys(str(n) for n in sorted(rows["node"].unique()))), 6)


def _headline(tried: pd.DataFrame, counted: pd.DataFrame, asked: Asked) -> str:
    if counted.empty:
        if tried.empty:
            return "nothing to judge: no result that was ever judged"
        return f"no entry of {asked.file} is for any of {_many(len(tried), 'stored verdict')}"
    fails, new = counted[counted["fails"]], counted[counted["new"]]
    of = f"{grouped(len(fails))} of {grouped(len(counted))} would have failed"
    if fails.empty:
        return of
    known = len(fails) - len(new)
    then = f" ({grouped(known)} failed then, too)" if known else ""
    return f"{of}{then}: {_nodes(fails)}"


def _sentences(tried: pd.DataFrame, counted: pd.DataFrame, asked: Asked) -> list[str]:
    said = [asked.notice]
    if len(counted):
        span = f"{counted['started'].min():%Y-%m-%d} to {counted['started'].max():%Y-%m-%d}"
        said.append(f"Held against {asked.file}, in front of the other baselines: {span}.")
    if others := int((~tried["touched"]).sum()):
        said.append(
            f"Not touched: {_many(others, 'verdict')} of devices and probes without an entry in it."
        )
    unconfirmed = int((counted["new"] & (counted["attempts"] == 1)).sum())
    if unconfirmed:
        said.append(
            f"On the word of one attempt: {_many(unconfirmed, 'new failure')}; `check` would have "
            "measured a second time, and called it unstable if that was fine."
        )
    unstable = int((counted["unstable_now"] & ~counted["unstable"]).sum())
    if unstable:
        said.append(f"{count(unstable, 'pass', 'passes')} would have been called unstable.")
    lost = tried[(tried["now"] == "no-baseline") & tried["then"].isin(JUDGED)]
    if len(lost):
        files = [shorten(str(f), 60) for f in lost["baseline_file"].unique() if f]
        by = f", then by {listed(files, 2)}" if files else ""
        said.append(
            f"{_many(len(lost), 'verdict')} would have no baseline here{by}; name what is missing "
            "with --baselines."
        )
    if asked.never_judged:
        said.append(
            f"Left out: {count(asked.never_judged, 'result')} that no baseline is for (`bandgate "
            "run`, skipped, failed to measure)."
        )
    return said


def _where(title: str, rows: pd.DataFrame, tone: Tone) -> Table:
    """One row a card and probe."""
    columns = (
        Column("Card"),
        Column("Probe"),
        Column("Nights", numeric=True),
        Column("Worst", numeric=True),
        Column("Bound", numeric=True),
        Column("Then"),
        Column("When"),
    )
    if rows.empty:
        return Table(title, columns, ())
    table = rows.assign(
        model=rows["device"].astype("object"), night=rows["started"].dt.strftime("%Y-%m-%d")
    )
    table["label"] = labels(table)
    made: list[tuple[tuple[Any, ...], Row]] = []
    keys = ["node", "card", "label"]
    for _, group in table.groupby(keys, sort=True, observed=True):
        nights = list(dict.fromkeys(group["night"]))[::-1]
        first = next(each(group))
        off = group["ratio_now"].sub(1)
        worse = off if first.lower_is_better else -off
        has = worse.notna().any()
        worst = group.iloc[int(worse.fillna(-math.inf).to_numpy().argmax())]
        bound = "upper_now" if first.lower_is_better else "lower_now"
        then = group["then"].value_counts()
        new = bool((~group["then"].isin(["regression", "error"])).any())
        cells = (
            f"{first.node} {first.pci_address or shorten(first.uuid, 13)}",
            str(first.label),
            str(len(nights)),
            percent_text(float(worst["ratio_now"])) if has else str(first.code),
            _bound(worst, bound) if has else "–",
            ", ".join(f"{n} {s}" if len(then) > 1 else str(s) for s, n in then.items()),
            listed(spans(nights), _MOST_SPANS),
        )
        row = Row(
            cells,
            tone if new or tone is Tone.GOOD else Tone.QUIET,
            model=str(first.device),
            node=str(first.node),
            probe=str(first.probe),
        )
        made.append(((not new, -len(nights), *cells[:2]), row))
    made.sort(key=lambda pair: pair[0])
    shown = tuple(row for _, row in made[:_MOST_ROWS])
    note = "Worst and bound: off the reference by, of the entry that does not hold."
    return Table(title, columns, shown, len(made) - len(shown), note)


def spans(nights: list[str]) -> list[str]:
    """Nights from the newest to the oldest; what follows on each other as "first to last"."""
    found: list[list[date]] = []
    for night in map(date.fromisoformat, nights):
        if found and found[-1][-1] - night == timedelta(days=1):
            found[-1].append(night)
        else:
            found.append([night])
    return [str(s[0]) if len(s) == 1 else f"{s[-1]} to {s[0]}" for s in found]


def _bound(row: pd.Series, column: str) -> str:
    """As a share of the reference, as the value beside it."""
    share = float(row[column]) / float(row["reference_now"])
    return percent_text(share) if math.isfinite(share) else "none"


def _verdicts(tried: pd.DataFrame) -> Table:
    """Then, in rows, against now."""
    counts = tried.groupby(["then", "now"]).size()
    now = [s for s in STATUSES if s in set(tried["now"])]
    columns = (Column("Then"), *(Column(f"now {s}", numeric=True) for s in now))
    rows = []
    for then in [s for s in STATUSES if s in set(tried["then"])]:
        cells = [int(counts.get((then, s), 0)) for s in now]
        rows.append(Row((then, *(grouped(c) if c else "–" for c in cells))))
    return Table("Verdicts", columns, tuple(rows), 0, "Invocations of one probe on one device.")


def _data(tried: pd.DataFrame, counted: pd.DataFrame, asked: Asked) -> dict[str, Any]:
    changed = counted[counted["fails"] | counted["mended"]]
    counts = tried[tried["touched"]].groupby(["then", "now"]).size()
    verdicts = [
        {"then": str(pair[0]), "now": str(pair[1]), "invocations": int(counts.loc[pair])}
        for pair in counts.index.to_list()
    ]
    return {
        "file": asked.file,
        "judged": len(counted),
        "would_have_failed": int(counted["fails"].sum()),
        "newly_failed": int(counted["new"].sum()),
        "failed_then_would_pass": int(counted["mended"].sum()),
        "without_an_entry": int((~tried["touched"]).sum()),
        "verdicts": verdicts,
        "invocations": [
            {
                "id": str(r.id),
                "started": r.started.isoformat(),
                "node": str(r.node),
                "uuid": str(r.uuid),
                "pci_address": str(r.pci_address),
                "probe": str(r.probe),
                "then": r.then,
                "now": r.now,
                "code": r.code,
                "attempts": int(r.attempts),
                "ratio": float(r.ratio_now) if math.isfinite(r.ratio_now) else None,
            }
            for r in each(changed)
        ],
    }
