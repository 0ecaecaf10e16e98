# SPDX-License-Identifier: Apache-2.0
"""Times of day from files, as UTC, and what is wrong with them."""

from dataclasses import dataclass
from datetime import UTC, datetime

NAIVE = "no UTC offset, taken as UTC"
TOO_EARLY = "before this tool existed"
FUTURE = "in the future"
OVERLAP = "before the previous run on this device had ended (clock set back, or two runs at once)"
REVERSED = "before the attempt that it followed (clock set back)"

# In the order of their texts, as all categories are.
FLAGS = sorted(["", NAIVE, TOO_EARLY, FUTURE, OVERLAP, REVERSED])

# A stamp with one of these says nothing about when it happened: it is not placed in a history.
NOT_PLACED = (TOO_EARLY, FUTURE)

_EARLIEST = datetime(1680, 1, 1, tzinfo=UTC)
_LATEST = datetime(2260, 1, 1, tzinfo=UTC)


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
