# SPDX-License-Identifier: Apache-2.0
"""What is wrong with time stamps that only the other results and the present can tell."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bandgate_reports.analysis.keys import codes, grouping, microseconds
from bandgate_reports.store.stamps import FLAGS, FUTURE, OVERLAP, REVERSED, TOO_EARLY

_FIRST_POSSIBLE = datetime(2020, 1, 1, tzinfo=UTC)
# Nodes whose clocks differ by minutes are normal; a report may be made on another machine.
_AHEAD = timedelta(hours=1)
_CLOCK_SLACK_US = 2_000_000

_Array = npt.NDArray[Any]


def flag_stamps(results: pd.DataFrame, now: datetime) -> pd.Series:
    """`stamp_flag` extended by what only the other results and the present can tell.

    Needs the column `card`. The first flag found stays.
    """
    flag = results["stamp_flag"].cat.set_categories(pd.Index(FLAGS, dtype="str"))
    own = flag.cat.codes.to_numpy().astype(np.int64)
    none = FLAGS.index("")
    started = microseconds(results["started"])
    lasted = (results["duration_s"].clip(0, 1e7).fillna(0) * 1e6).to_numpy().astype(np.int64)
    found = np.full(len(results), none)
    found[_before_previous(results, started)] = FLAGS.index(REVERSED)
    early = started < _since_epoch(_FIRST_POSSIBLE)
    late = started > _since_epoch(now + _AHEAD)
    overlap = _overlaps(results["card"], started, lasted, ~early & ~late) & (found == none)
    found[overlap] = FLAGS.index(OVERLAP)
    found[early] = FLAGS.index(TOO_EARLY)
    found[late] = FLAGS.index(FUTURE)
    # What keeps a result out of the history outweighs a missing offset.
    chosen = np.where((own != none) & ~(early | late), own, found)
    return pd.Series(
        pd.Categorical.from_codes(chosen, categories=pd.Index(FLAGS, dtype="str")),
        index=results.index,
    )


def _since_epoch(at: datetime) -> int:
    """Microseconds."""
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _before_previous(results: pd.DataFrame, started: _Array) -> _Array:
    """Attempts that start before the one that they follow."""
    group = grouping(*(results[c] for c in ("card", "probe", "parameters", "group")))
    order = np.lexsort((results["attempt"].to_numpy(), group))
    follows = (group[order][1:] == group[order][:-1]) & (started[order][1:] < started[order][:-1])
    found = np.zeros(len(results), dtype=bool)
    found[order[1:][follows]] = True
    return found


def _overlaps(card: pd.Series, started: _Array, lasted: _Array, placed: _Array) -> _Array:
    """Results that start before the previous one on the device had ended."""
    found = np.zeros(len(started), dtype=bool)
    rows = np.flatnonzero(placed)
    number = codes(card)[rows]
    order = rows[np.lexsort((started[rows], number))]
    same = codes(card)[order][1:] == codes(card)[order][:-1]
    ended = (started + lasted)[order][:-1]
    found[order[1:][same & (started[order][1:] + _CLOCK_SLACK_US < ended)]] = True
    return found
