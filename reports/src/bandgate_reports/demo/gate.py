# SPDX-License-Identifier: Apache-2.0
"""A driver that is tried on one node before it is rolled out: two sides to compare.

Fresh processes that measure and judge nothing, five a side and twice in turn, each five after a
boot of their own.
"""

from collections.abc import Iterator
from datetime import timedelta

from bandgate_reports.demo import plan as planning
from bandgate_reports.demo import values
from bandgate_reports.demo.documents import Document, documents
from bandgate_reports.demo.models import H200
from bandgate_reports.demo.plan import Card, Event, Plan, Wish

NODE = 0  # none of the fleet's
MOST_GPUS = 4
IN_A_ROW = 5  # processes after one boot
BEFORE, AFTER = "before", "after"
NEXT_DRIVER = "590.44.01"
LOSS = ("triad", -0.02)  # what the next driver costs

_PACE = timedelta(minutes=4)
_AHEAD = timedelta(hours=4)  # of the newest night


def planned(wish: Wish) -> Plan:
    """Each "night" is a process a probe, minutes apart."""
    cards = tuple(
        Card(NODE, g, H200, "692-2G520-0282-001") for g in range(min(MOST_GPUS, wish.gpus))
    )
    last = 4 * IN_A_ROW - 1
    events = [
        _changed("kernel", planning.OLD_KERNEL, planning.NEW_KERNEL, 0, last),
        _changed("tool", planning.OLD_TOOL, planning.NEW_TOOL, 0, last),
        _changed("driver", planning.OLD_DRIVER, planning.NEW_DRIVER, 0, last),
        Event("restart", "", 2 * IN_A_ROW, last),
    ]
    for first in (IN_A_ROW, 3 * IN_A_ROW):
        until = first + IN_A_ROW - 1
        events.append(
            Event(
                "driver",
                "the next driver, on trial",
                first,
                until,
                probes=(LOSS[0],),
                effect=LOSS[1],
                field="driver",
                before=planning.NEW_DRIVER,
                after=NEXT_DRIVER,
            )
        )
    newest = planning.newest_night(wish.end) - _AHEAD
    return Plan(cards, last + 1, newest, wish.probes, tuple(events), wish.seed, _PACE)


def _changed(field: str, before: str, after: str, first: int, last: int) -> Event:
    return Event(field, "", first, last, field=field, before=before, after=after)


def side(document: Document) -> str:
    return AFTER if document["device"]["driver_version"] == NEXT_DRIVER else BEFORE


def measured(wish: Wish) -> Iterator[Document]:
    """As `bandgate run` leaves them."""
    judged = documents(values.made(planned(wish), by_chance=False))
    verdict = {
        "status": "measured",
        "unstable": False,
        "baselines": [],
        "reasons": [],
        "next_step": "",
    }
    for document in judged:
        if document["run"]["attempt"] == 1:
            yield document | {"verdict": verdict}
