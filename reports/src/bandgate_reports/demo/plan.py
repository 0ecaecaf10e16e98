# SPDX-License-Identifier: Apache-2.0
"""Which nodes and cards there are, and which defects are planted where: the truth of the demo.

Nights count from 0. Places in time are given for 180 nights and scale with their number; an event
whose node or card does not exist is left out.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

from bandgate_reports.demo.models import A100, H200, SUITES, Model

MADE_FOR = 180  # nights, in which the table below counts
NIGHTLY = timedelta(hours=2, minutes=10)  # of the day, UTC
TAKES = timedelta(hours=1)  # after that a night is over on every node

MEMORY = "memory"  # stands for every probe of the memory


@dataclass(frozen=True)
class Event:
    """One planted defect or change. Empty places mean all of them."""

    kind: str
    says: str  # for people
    first: int  # night
    last: int  # night, both included
    nodes: tuple[int, ...] = ()  # from 1
    gpus: tuple[int, ...] = ()  # from 0
    probes: tuple[str, ...] = ()  # that move, MEMORY for all of the memory
    effect: float = 0.0  # relative, of the value; of drift: a night
    field: str = ""  # of the recorded environment
    before: str = ""
    after: str = ""


def _e(
    kind: str,
    says: str,
    first: int,
    last: int = MADE_FOR - 1,
    nodes: tuple[int, ...] = (),
    gpus: tuple[int, ...] = (),
    probes: tuple[str, ...] = (),
    effect: float = 0.0,
    change: tuple[str, str, str] = ("", "", ""),
) -> Event:
    return Event(kind, says, first, last, nodes, gpus, probes, effect, *change)


OLD_DRIVER, NEW_DRIVER = "580.95.05", "580.159.04"
OLD_KERNEL, NEW_KERNEL = "6.1.0-28-amd64", "6.1.0-31-amd64"
OLD_BIOS, NEW_BIOS = "2.3.1", "2.4.0"
OLD_TOOL, NEW_TOOL = "0.1.0", "0.1.1"
NEW_VBIOS = "96.00.DA.00.03"

_EVENTS = (
    _e("drift", "sags by 0.02 % a night", 0, nodes=(8,), gpus=(2,), probes=(MEMORY,), effect=-2e-4),
    _e(
        "slow-card",
        "always 3 % below its peers",
        0,
        nodes=(7,),
        gpus=(3,),
        probes=(MEMORY,),
        effect=-0.03,
    ),
    _e(
        "kernel",
        "kernel update without effect",
        30,
        change=("kernel", OLD_KERNEL, NEW_KERNEL),
    ),
    _e(
        "vbios",
        "VBIOS update without effect",
        45,
        nodes=(6,),
        change=("VBIOS", H200.vbios, NEW_VBIOS),
    ),
    _e(
        "power-cap",
        "power limit lowered to 500 W",
        60,
        66,
        nodes=(2,),
        probes=(MEMORY,),
        effect=-0.042,
        change=("power limit", "700 W", "500 W"),
    ),
    _e(
        "bios",
        "BIOS update: launches 15 % slower",
        80,
        nodes=(5,),
        probes=("launch",),
        effect=0.15,
        change=("BIOS", OLD_BIOS, NEW_BIOS),
    ),
    _e("drained", "drained, no results", 88, 93, nodes=(4,)),
    _e("drained", "drained to swap a card", 98, 99, nodes=(3,)),
    _e("swapped", "another card at the same PCI address", 100, nodes=(3,), gpus=(2,)),
    _e(
        "ecc",
        "ECC switched off",
        110,
        nodes=(7,),
        gpus=(1,),
        change=("ECC", "on", "off"),
    ),
    _e("gpu-lost", "GPU lost for a night", 120, 120, nodes=(1,), gpus=(3,)),
    _e(
        "driver",
        "driver update: copy loses 2.5 %",
        133,
        nodes=(1, 3, 5, 7),
        probes=("copy",),
        effect=-0.025,
        change=("driver", OLD_DRIVER, NEW_DRIVER),
    ),
    _e("tool", "tool update without effect", 150, change=("tool", OLD_TOOL, NEW_TOOL)),
    _e(
        "hot",
        "too hot: the hardware slows every card",
        168,
        nodes=(4,),
        probes=(MEMORY,),
        effect=-0.055,
    ),
    _e(
        "link",
        "PCIe link at generation 2 of 5",
        171,
        nodes=(6,),
        gpus=(3,),
        probes=("h2d", "d2h"),
        effect=-0.876,
    ),
    _e("gpu-lost", "GPU lost in the newest night", 179, 179, nodes=(8,), gpus=(0,)),
)


@dataclass(frozen=True)
class Card:
    """A slot of a node; what sits in it may be swapped."""

    node: int  # from 1
    gpu: int  # from 0
    model: Model
    board_part: str

    @property
    def host(self) -> str:
        return f"demo-n{self.node:02d}"

    @property
    def pci_address(self) -> str:
        return f"{self.gpu // 8:04x}:{_BUSES[self.gpu % 8]}:00.0"


_BUSES = ("1b", "3d", "4c", "5d", "9d", "bb", "cb", "db")


@dataclass(frozen=True)
class Plan:
    cards: tuple[Card, ...]
    nights: int
    last_night: datetime  # when the newest begins
    probes: tuple[str, ...]
    events: tuple[Event, ...]
    seed: int
    pace: timedelta = timedelta(days=1)  # from one night to the next

    @property
    def over(self) -> datetime:
        return self.last_night + TAKES

    def starts(self, night: int) -> datetime:
        return self.last_night - (self.nights - 1 - night) * self.pace

    def where(self, event: Event) -> list[int]:
        """The cards that it concerns."""
        if event not in self._places:
            self._places[event] = self._found(event)
        return self._places[event]

    @cached_property
    def _places(self) -> dict[Event, list[int]]:
        return {}

    def _found(self, event: Event) -> list[int]:
        return [
            c
            for c, card in enumerate(self.cards)
            if (not event.nodes or card.node in event.nodes)
            and (not event.gpus or card.gpu in event.gpus)
        ]


def newest_night(end: datetime) -> datetime:
    """The last night that was over by then."""
    end = end.astimezone(UTC)
    start = end.replace(hour=0, minute=0, second=0, microsecond=0) + NIGHTLY
    return start if start + TAKES <= end else start - timedelta(days=1)


@dataclass(frozen=True)
class Wish:
    """What a plan is made from; equal ones make equal demonstrations."""

    end: datetime  # the newest night is over by then
    nodes: int = 8
    gpus: int = 8
    nights: int = 180
    probes: tuple[str, ...] = SUITES["quick"]
    seed: int = 1


def planned(wish: Wish) -> Plan:
    nodes, gpus, nights = wish.nodes, wish.gpus, wish.nights
    cards = tuple(_card(n, g, nodes) for n in range(1, nodes + 1) for g in range(gpus))
    plan = Plan(cards, nights, newest_night(wish.end), wish.probes, (), wish.seed)
    events = [(e, _scaled(e, nights)) for e in _EVENTS]
    # What was to change and has no night before it changes nothing.
    kept = (e for made, e in events if _there(plan, e) and (e.first or not made.first))
    return replace(plan, events=tuple(kept))


def _card(node: int, gpu: int, nodes: int) -> Card:
    """The last quarter of the nodes are A100s, the last third of the others the second part."""
    h200_nodes = nodes - nodes // 4
    if node > h200_nodes:
        return Card(node, gpu, A100, next(iter(A100.levels)))
    second = node > h200_nodes - h200_nodes // 3
    return Card(node, gpu, H200, "692-2G520-0282-000" if second else "692-2G520-0282-001")


def _scaled(event: Event, nights: int) -> Event:
    first = event.first * nights // MADE_FOR
    last = max(first, (event.last + 1) * nights // MADE_FOR - 1)
    return replace(event, first=first, last=min(last, nights - 1))


def _there(plan: Plan, event: Event) -> bool:
    moved = set(event.probes) - {MEMORY}
    return bool(plan.where(event)) and (not moved or bool(moved & set(plan.probes)))
