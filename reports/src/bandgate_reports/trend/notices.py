# SPDX-License-Identifier: Apache-2.0
"""What a reader has to know about the files behind a report."""

import pandas as pd

from bandgate_reports.analysis.verdicts import Summary
from bandgate_reports.store import Loaded
from bandgate_reports.text import count, listed, printable
from bandgate_reports.trend.model import Notice


def notices(loaded: Loaded, table: pd.DataFrame, summary: Summary) -> list[Notice]:
    found = []
    if summary.unplaced_bad:
        found.append(
            Notice(
                f"{count(summary.unplaced_bad, 'regression or error', 'regressions or errors')} "
                "whose time stamp is impossible; set the clock of the node right, and move the "
                "files away once looked at",
                (),
            )
        )
    for flag, group in table[table["stamp_flag"] != ""].groupby("stamp_flag"):
        files = tuple(printable(f) for f in group["file"].head(20))
        left_out = "" if group["placed"].all() else "; not placed in a history"
        found.append(
            Notice(
                f"{count(len(group), 'time stamp')} {flag}{left_out}",
                files,
                len(group) - len(files),
            )
        )
    if loaded.skipped:
        items = tuple(printable(f"{s.file}: {s.reason}") for s in loaded.skipped[:50])
        title = f"{count(len(loaded.skipped), 'file')} skipped: no valid result"
        found.append(Notice(title, items, len(loaded.skipped) - len(items)))
    if loaded.conflicts:
        items = tuple(
            printable(f"{c.id}: {listed(list(c.files), 4)}") for c in loaded.conflicts[:50]
        )
        title = f"{count(len(loaded.conflicts), 'id')} used by different results (all are kept)"
        found.append(Notice(title, items, len(loaded.conflicts) - len(items)))
    if loaded.duplicates:
        found.append(Notice(f"{count(loaded.duplicates, 'exact duplicate')} dropped", ()))
    if loaded.scripted_left_out:
        text = count(loaded.scripted_left_out, "result")
        found.append(
            Notice(f"{text} of scripted devices left out; --include-scripted shows them", ())
        )
    return found
