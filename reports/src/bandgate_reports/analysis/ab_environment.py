# SPDX-License-Identifier: Apache-2.0
"""What else differs between two sides: the recorded environment, boots, the order in time."""

from dataclasses import dataclass

import pandas as pd

from bandgate_reports.store.records import ENVIRONMENT

# What a driver gate is about, and what is often changed with it. All else is a confounder.
DRIVER = ("driver", "runtime", "kernel_module_flavour", "gsp_version", "fabric_manager")
SYSTEM = ("kernel", "vbios", "bios", "container_image")

_NONE = pd.DataFrame(
    {c: pd.Series(dtype="object") for c in ("field", "kind", "before", "after")}
    | {"cards": pd.Series(dtype="int64"), "mixed": pd.Series(dtype="bool")}
)

# Interleaved: each side in that many stretches, with the other between them.
_STRETCHES = 3


def changes(table: pd.DataFrame) -> pd.DataFrame:
    """The recorded facts that differ between the sides of a card.

    Columns: field, kind ("driver", "system", "confounder"), before, after (several values of one
    side joined by "and"), cards (that it holds for), mixed (one side has several). What is not
    known on a side is no difference.
    """
    # Nearly all are the same everywhere, and looking closer at each is what takes time.
    varied = [c for c in ENVIRONMENT if table.loc[table[c] != "", c].nunique() > 1]
    found = [_changed(table, column, ENVIRONMENT[column][2]) for column in varied]
    every = pd.concat([_NONE, *found], ignore_index=True) if found else _NONE
    rank = every["kind"].map({"driver": 0, "system": 1, "confounder": 2})
    every = every.assign(rank=rank.astype("int64")).sort_values(
        ["rank", "cards"], ascending=[True, False], kind="stable", ignore_index=True
    )
    return every.drop(columns="rank")


def _changed(table: pd.DataFrame, column: str, label: str) -> pd.DataFrame:
    facts = table[["card", "after"]].assign(value=table[column].astype("object").astype(str))
    facts = facts[facts["value"] != ""].drop_duplicates().sort_values("value", kind="stable")
    sides = [
        facts[facts["after"] == side].groupby("card", observed=True)["value"]
        for side in (False, True)
    ]
    wide = pd.DataFrame(
        {
            "before": sides[0].agg(" and ".join),
            "after": sides[1].agg(" and ".join),
            "n_0": sides[0].size(),
            "n_1": sides[1].size(),
        }
    ).dropna()
    wide = wide[(wide["before"] != wide["after"])]
    kind = "driver" if column in DRIVER else "system" if column in SYSTEM else "confounder"
    wide = wide.assign(mixed=(wide["n_0"] > 1) | (wide["n_1"] > 1))
    grouped = wide.groupby(["before", "after", "mixed"], sort=True).size()
    counted = grouped.rename("cards").reset_index()
    return counted.assign(field=label, kind=kind)[list(_NONE)]


@dataclass(frozen=True)
class Timing:
    """How the sides lie in time."""

    boots_before: int  # of the host with most; 0: not recorded
    boots_after: int
    same_boot: bool  # some host has both sides within one boot
    interleaved: bool
    reversed: bool  # all of AFTER before all of BEFORE

    @property
    def confounded(self) -> bool:
        """Whether time, or the one boot of a side, explains a difference as well."""
        return min(self.boots_before, self.boots_after) <= 1 and not self.interleaved


def timing(table: pd.DataFrame) -> Timing:
    known = table.loc[table["boot_id"] != "", ["host", "boot_id", "after"]].astype("object")
    boots = known.drop_duplicates()
    most = []
    for side in (False, True):
        per_host = boots.loc[boots["after"].astype(bool) == side, "host"].value_counts()
        most.append(int(per_host.max()) if len(per_host) else 0)
    placed = table[table["placed"]]
    return Timing(
        boots_before=most[0],
        boots_after=most[1],
        same_boot=bool(boots.groupby(["host", "boot_id"])["after"].nunique().gt(1).any()),
        interleaved=_interleaved(placed),
        reversed=_reversed(placed),
    )


def _interleaved(placed: pd.DataFrame) -> bool:
    """Whether every card has each side in several stretches of time."""
    ordered = placed.sort_values(["started", "attempt"], kind="stable")
    both = ordered.groupby("card", observed=True)["after"].transform("nunique") > 1
    ordered = ordered[both]
    if ordered.empty:
        return False
    after = ordered["after"].astype("int64")
    turns = after.groupby(ordered["card"], observed=True).diff().fillna(0).abs()
    return bool((turns.groupby(ordered["card"], observed=True).sum() >= 2 * _STRETCHES - 1).all())


def _reversed(placed: pd.DataFrame) -> bool:
    before, after = (placed.loc[placed["after"] == side, "started"] for side in (False, True))
    return bool(len(before) and len(after) and after.max() < before.min())
