# SPDX-License-Identifier: Apache-2.0
"""What belongs to the changes of a history: whose they are, which are a loss today, and what else
changed with them."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

import pandas as pd

from bandgate_reports.analysis import models, series
from bandgate_reports.analysis.changes import Found, find, places
from bandgate_reports.analysis.models import Fact, Models
from bandgate_reports.store.records import each

RECENT_DAYS = 14


class Level(StrEnum):
    """Whose changes: each card's, the median's of each model, or both."""

    BOTH = "both"
    CARD = "card"
    MODEL = "model"


@dataclass(frozen=True)
class Looked:
    found: Found
    where: pd.DataFrame  # changes.places(), by series
    in_force: pd.Series  # by the index of found.changes
    together: dict[int, tuple[Fact, ...]]  # by the index of found.changes
    days: int  # for which an announced loss counts as new
    newest: pd.Timestamp | None  # night with results
    models: Models
    models_in_force: pd.Series  # by the index of models.changes


def look(
    results: pd.DataFrame,
    now: datetime,
    days: int = RECENT_DAYS,
    environment: pd.DataFrame | None = None,
) -> Looked:
    """`results` as series.identify() gives them; `environment`: series.changes() of them."""
    if environment is None:
        environment = series.changes(results)
    nights = series.nightly(results)
    where = places(results)
    found = find(nights, where["lower_is_better"], where)
    of_models = models.look(results, nights, found.changes, environment)
    return Looked(
        found=found,
        where=where,
        in_force=in_force(found.changes, where, pd.Timestamp(now), days),
        together=together(found, nights, where, environment),
        days=days,
        newest=nights["night"].max() if len(nights) else None,
        models=of_models,
        models_in_force=in_force(of_models.changes, of_models.where, pd.Timestamp(now), days),
    )


def only(looked: Looked, level: Level) -> Looked:
    """Without what was found at the other level."""
    if level is Level.CARD:
        return replace(
            looked, models=replace(looked.models, changes=looked.models.changes.iloc[:0])
        )
    if level is Level.MODEL:
        names = ("changes", "bad_nights", "pending", "too_few", "events")
        none = {name: getattr(looked.found, name).iloc[:0] for name in names}
        own = looked.models.changes.assign(known_by=0)  # nobody else says it
        models_ = replace(looked.models, changes=own)
        return replace(looked, found=replace(looked.found, **none, series=0), models=models_)
    return looked


def in_force(changes: pd.DataFrame, where: pd.DataFrame, now: pd.Timestamp, days: int) -> pd.Series:
    """A loss today: the last change of a series that is still measured so, for the worse, and
    announced within the last `days` days. One that was made good again is none, nor one of a card
    that was replaced, nor one that everybody has had the time to read."""
    last = ~changes.duplicated("series", keep="last")
    current = changes["series"].map(where["current"]).fillna(False).astype("bool")
    recent = changes["announced"] > now - pd.Timedelta(days=days)
    return last & current & recent & changes["worse"]


def together(
    found: Found, nights: pd.DataFrame, where: pd.DataFrame, environment: pd.DataFrame
) -> dict[int, tuple[Fact, ...]]:
    """Changes of the card's environment (series.changes()) after the last night before a step and
    up to the first night of the new level, by the index of `found.changes`."""
    if found.changes.empty or environment.empty:
        return {}
    own = nights[nights["series"].isin(found.changes["series"])].sort_values(["series", "night"])
    own = own.assign(since=own.groupby("series")["at"].shift())
    steps = found.changes.reset_index().merge(own[["series", "night", "since"]])
    steps["card"] = steps["series"].map(where["card"])
    steps["until"] = steps["night"] + pd.Timedelta(days=1)
    facts = environment[environment["card"].isin(steps["card"].unique())]
    pairs = steps[["index", "card", "since", "until"]].merge(
        facts[["card", "seen", "field", "before", "after"]], on="card", how="inner"
    )
    near = pairs[(pairs["seen"] > pairs["since"]) & (pairs["seen"] < pairs["until"])]
    said: dict[int, dict[Fact, None]] = {}
    for r in each(near):
        said.setdefault(int(r.index), {})[str(r.field), str(r.before), str(r.after)] = None
    return {step: tuple(own) for step, own in said.items()}
