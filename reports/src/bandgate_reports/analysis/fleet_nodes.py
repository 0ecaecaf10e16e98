# SPDX-License-Identifier: Apache-2.0
"""A comparison of cards, seen by node: which to look at first, and where it is off."""

import json

import pandas as pd

from bandgate_reports.analysis.fleet import Fleet
from bandgate_reports.analysis.fleet_rule import FROM_OTHERS
from bandgate_reports.analysis.fleet_values import KEY
from bandgate_reports.store.records import parameter_text


def labels(cards: pd.DataFrame) -> pd.Series:
    """What to call each row's probe: its name, the parameters in which the sets of its model
    differ, and its version where several are in use."""
    kinds = cards[KEY].drop_duplicates()
    names: dict[tuple[object, ...], str] = {}
    for _, group in kinds.groupby(["model", "probe"]):
        sets = {text: json.loads(text) for text in group["parameters"].unique()}
        every = sorted({name for values in sets.values() for name in values})
        differing = [n for n in every if len({json.dumps(v.get(n)) for v in sets.values()}) > 1]
        for key in group.itertuples(index=False, name=None):
            values = sets[key[2]]
            words = [f"{n}={parameter_text(n, values[n])}" for n in differing if n in values]
            version = [f"v{key[3]}"] if group["version"].nunique() > 1 else []
            names[key] = " ".join([str(key[1]), *words, *version])
    keys = cards[KEY].itertuples(index=False, name=None)
    return pd.Series([names[key] for key in keys], index=cards.index, dtype="object")


def marked(fleet: Fleet) -> pd.DataFrame:
    """The cards that were compared, with their `label` and whether their node is `slow`."""
    cards = fleet.cards[fleet.cards["peers"] >= FROM_OTHERS]
    slow = set(fleet.nodes[[*KEY, "node"]].itertuples(index=False, name=None))
    places = cards[[*KEY, "node"]].itertuples(index=False, name=None)
    return cards.assign(label=labels(cards), slow=[place in slow for place in places])


def cells(compared: pd.DataFrame) -> pd.DataFrame:
    """Of what marked() gives, one row a (model, node, label): the worst card there.

    Columns: model, node, label, loss, flagged (a card of it, or the node).
    """
    by = compared.assign(flagged=compared["flagged"] | compared["slow"]).groupby(
        ["model", "node", "label"], sort=True
    )
    return by.agg(loss=("loss", "max"), flagged=("flagged", "any")).reset_index()


def ranked(compared: pd.DataFrame, unstable: dict[str, int]) -> pd.DataFrame:
    """Of what marked() gives, one row a (model, node), the one to look at first on top.

    Columns: model, node, cards, flagged (cards), slow (the whole node), loss (its worst), label
    (where that is), unstable (passes, of its cards).
    """
    table = compared.sort_values("loss", ascending=False, kind="stable")
    worst = table.drop_duplicates(["model", "node"])[["model", "node", "loss", "label"]]
    cards = table[["model", "node", "card"]].drop_duplicates()
    cards["unstable"] = cards["card"].map(unstable).fillna(0).astype("int64")
    counts = cards.groupby(["model", "node"]).agg(
        cards=("card", "size"), unstable=("unstable", "sum")
    )
    flagged = table[table["flagged"]].groupby(["model", "node"])["card"].nunique().rename("flagged")
    slow = table.groupby(["model", "node"])["slow"].any()
    found = worst.join(counts, on=["model", "node"]).join(flagged, on=["model", "node"])
    found = found.join(slow, on=["model", "node"])
    found["flagged"] = found["flagged"].fillna(0).astype("int64")
    bad = (found["flagged"] > 0) | found["slow"]
    order = found.assign(bad=bad).sort_values(
        ["bad", "slow", "loss", "unstable", "node"],
        ascending=[False, False, False, False, True],
        kind="stable",
    )
    # Nodes that nothing is wrong with rank by how often they were unstable.
    quiet = order[~order["bad"]].sort_values(
        ["unstable", "loss", "node"], ascending=[False, False, True], kind="stable"
    )
    return pd.concat([order[order["bad"]], quiet], ignore_index=True).drop(columns="bad")
