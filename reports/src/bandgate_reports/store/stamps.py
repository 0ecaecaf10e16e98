# SPDX-License-Identifier: Apache-2.0
"""Times of day from files, as UTC, and what is wrong with them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pandas as pd

NAIVE = "no UTC offset, taken as UTC"
TOO_EARLY = "before this tool existed"
FUTURE = "in the future"
OVERLAP = "before the previous run on this device had ended (clock set back, or two runs at once)"
REVERSED = "before the attempt that it followed (clock set back)"

# A stamp with one of these says nothing about when it happened: it is not placed in a history.
NOT_PLACED = (TOO_EARLY, FUTURE)

_FIRST_POSSIBLE = pd.Timestamp("2020-01-01", tz="UTC")
# Nodes whose clocks differ by minutes are normal; a report may be made on another machine.
_AHEAD = timedelta(hours=1)
_EARLIEST = datetime(1680, 1, 1, tzinfo=UTC)
_LATEST = datetime(2260, 1, 1, tzinfo=UTC)
_CLOCK_SLACK = pd.Timedelta(seconds=2)


@dataclass(frozen=True)
class Stamp:
    utc: datetime
    flag: str = ""


def parse_stamp(text: str) -> Stamp | None:
    """RFC 3339; a stamp without an offset is taken as UTC and flagged. None: not a time."""
    try:
        # A leap second is the one time of RFC 3339 that Python does not know.
        leap = text[16:19] == ":60"
        read = datetime.fromisoformat(f"{text[:16]}:59{text[19:]}" if leap else text)
        if read.tzinfo is None:
            naive = min(max(read.replace(tzinfo=UTC), _EARLIEST), _LATEST)
            return Stamp(naive, NAIVE)
        # Beyond what pandas can hold in nanoseconds; flagged as impossible all the same.
        return Stamp(min(max(read.astimezone(UTC), _EARLIEST), _LATEST))
    except (ValueError, OverflowError):
        return None


def flag_stamps(results: pd.DataFrame, now: datetime) -> pd.DataFrame:
    """`stamp_flag` extended by what only the other results and the present can tell.

    Needs the column `card`. The first flag found stays.
    """
    table = results.copy()
    started = table["started"]
    ended = started + pd.to_timedelta(table["duration_s"].clip(0, 1e7).fillna(0), unit="s")
    found = pd.Series("", index=table.index, dtype="object")

    in_group = [table["card"], table["probe"], table["parameters"], table["group"]]
    order = table.sort_values(["attempt"], kind="stable").index
    previous = started.loc[order].groupby([c.loc[order] for c in in_group]).shift()
    found[(started < previous.reindex(table.index)).fillna(False)] = REVERSED

    placed = (started >= _FIRST_POSSIBLE) & (started <= pd.Timestamp(now) + _AHEAD)
    order = started[placed].sort_values(kind="stable").index
    before = ended.loc[order].groupby(table["card"].loc[order]).shift().reindex(table.index)
    overlap = (started + _CLOCK_SLACK < before).fillna(False) & (found == "")
    found[overlap] = OVERLAP

    found[started < _FIRST_POSSIBLE] = TOO_EARLY
    found[started > pd.Timestamp(now) + _AHEAD] = FUTURE
    # What keeps a result out of the history outweighs a missing offset.
    own = table["stamp_flag"]
    table["stamp_flag"] = own.where((own != "") & ~found.isin(NOT_PLACED), found)
    return table
