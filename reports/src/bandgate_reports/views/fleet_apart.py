# SPDX-License-Identifier: Apache-2.0
"""What a comparison of cards did not hold against each other, and what the difference costs."""

import pandas as pd

from bandgate_reports.analysis import fleet_nodes
from bandgate_reports.analysis.fleet import LABELS, Fleet
from bandgate_reports.analysis.fleet_rule import FROM_OTHERS
from bandgate_reports.section import Column, Row, Table, Tone
from bandgate_reports.text import count, listed

_SAME = 0.005  # groups that differ by less are mentioned, not numbered


def points(loss: float) -> str:
    return f"{loss * 100:.1f} %"


def table(fleet: Fleet) -> Table:
    """One row a difference: all probes of it."""
    columns = (Column("Model"), Column("Worse"), Column("Better"), Column("What it costs"))
    known = fleet.apart[fleet.apart["known"].astype("bool")]
    rows: tuple[Row, ...] = ()
    if len(known):
        named = known.assign(probe=fleet_nodes.labels(known))
        sides = [
            " | ".join(sorted(pair)) for pair in zip(known["worse"], known["better"], strict=True)
        ]
        rows = tuple(_row(group) for _, group in named.groupby(["model", sides], sort=True))
    note = "Cards that differ so are compared among themselves only."
    return Table("Compared apart", columns, rows, 0, note)


def _row(group: pd.DataFrame) -> Row:
    # The side that loses most gives the order; a probe in which it wins has its sign turned.
    first = group.iloc[int(group["loss"].to_numpy().argmax())]
    same = group["worse"] == first["worse"]
    by_probe = (
        group.assign(
            loss=group["loss"].where(same, -group["loss"]),
            one=group["worse_cards"].where(same, group["better_cards"]),
            other=group["better_cards"].where(same, group["worse_cards"]),
        )
        .groupby("probe", sort=False)
        .agg(loss=("loss", "max"), one=("one", "sum"), other=("other", "sum"))
    )
    one, other = (int(by_probe[side].loc[[first["probe"]]].iloc[0]) for side in ("one", "other"))
    facts = " and ".join(LABELS[f] for f in first["facts"][:3]) or "configuration"
    enough = min(one, other) >= FROM_OTHERS
    why = f"explained by {facts}, not outliers" if enough else f"too few to judge: other {facts}"
    cells = (
        str(first["model"]),
        f"{first['worse']} ({count(one, 'card')})",
        f"{first['better']} ({count(other, 'card')})",
        f"{_costs(by_probe['loss'])}: {why}",
    )
    return Row(cells, Tone.QUIET, model=str(first["model"]))


def _costs(losses: "pd.Series[float]") -> str:
    """ "gather −9.0 %, read −1.6 %, 8 probes within 0.5 %"."""
    told = losses[losses.abs() >= _SAME].sort_values(ascending=False, kind="stable")
    texts = [f"{probe} {'−' if v > 0 else '+'}{points(abs(v))}" for probe, v in told.items()]
    if same := len(losses) - len(told):
        texts.append(f"{count(same, 'probe')} within 0.5 %")
    return listed(texts, 8)
