# SPDX-License-Identifier: Apache-2.0
"""Two sides of a comparison as one table of processes, and what forbids comparing them."""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from bandgate_reports.analysis import series
from bandgate_reports.store.records import parameter_text

BEFORE, AFTER = "before", "after"

# Says only to where, not how: the pairs of a card are compared like cards.
PEER = "peer"
# A device that somebody else used while it was measured says nothing of the driver.
_SHARED = ("contended", "busy", "exclusively-held")
REPEATED = "repeated"
_MARKS = re.compile(r"\((tm|r)\)", re.IGNORECASE)
_BRANDS = re.compile(r"^(nvidia|tesla|geforce) ")


def model_key(name: str) -> str:
    """Drivers name one model in several ways: "GTX 970", "NVIDIA GeForce GTX 970"."""
    key = " ".join(_MARKS.sub(" ", name).lower().split())
    while (shorter := _BRANDS.sub("", key)) != key:
        key = shorter
    return key


@dataclass(frozen=True)
class Difference:
    """What may not differ and does."""

    what: str  # "GPU model", "parameters", "probe version"
    where: str  # "" or the probe
    before: str
    after: str


def processes(before: pd.DataFrame, after: pd.DataFrame, now: datetime) -> pd.DataFrame:
    """One row a process (result) of either side, in time.

    Adds to the columns of series.identify: after (bool), model, model_key, setting (parameters
    without the peer), member (the card, or the card and its peer), measures (probe, version and
    setting), log (ln of the value, turned so that more is better; NaN where it cannot be used) and
    unused (why not).
    """
    both = _joined(before.assign(after=False), after.assign(after=True))
    order = ["started", "group", "attempt", "id", "file"]
    both = both.sort_values(order, kind="stable", ignore_index=True)
    table = series.identify(both, now)
    table["after"] = table["after"].astype(bool)
    table = _named(table)
    table["statistic_used"], table["value"] = _values(table)
    table["unused"] = _unused(table)
    table.loc[_repeated(table), "unused"] = REPEATED
    value = table["value"].where(table["unused"] == "")
    table["log"] = np.log(value) * np.where(table["lower_is_better"], -1.0, 1.0)
    return table


def _joined(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Text columns stay categorical, which pandas forgets where the sides hold other texts."""
    both = pd.concat([before, after], ignore_index=True)
    for column in before.columns:
        if isinstance(before[column].dtype, pd.CategoricalDtype):
            both[column] = union_categoricals([before[column], after[column]], sort_categories=True)
    return both


def _named(table: pd.DataFrame) -> pd.DataFrame:
    names = {n: str(n) for n in table["device"].unique()}
    scripted = np.where(table["backend"] == "scripted", " (scripted)", "")
    table["model"] = table["device"].map(names).astype("object") + scripted
    keys = {n: model_key(n) for n in table["model"].unique()}
    table["model_key"] = table["model"].map(keys).astype("object")
    latest = table.groupby("model_key")["model"].last()
    table["model"] = table["model_key"].map(latest).astype("object")
    settings, peers = {}, {}
    for text in table["parameters"].unique():
        parameters = json.loads(text)
        peers[text] = str(parameters.pop(PEER, ""))
        settings[text] = json.dumps(parameters, sort_keys=True)
    table["setting"] = table["parameters"].map(settings).astype("object")
    table["peer"] = table["parameters"].map(peers).astype("object")
    table["member"] = table["card"].astype("object") + np.where(
        table["peer"] == "", "", ">" + table["peer"]
    )
    return table


MEASURES = ["model_key", "probe", "version", "setting"]


def _values(table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """One statistic for both sides of a test: the one it was last judged by, else the median."""
    judged = table["statistic"].astype("object").mask(table["statistic"] == "")
    last = judged.groupby([table[c] for c in MEASURES], observed=True).transform("last")
    used = last.astype("object").fillna("median")
    value = table["median"].copy()
    for statistic in ("peak", "worst"):
        value = value.where(used != statistic, table[statistic])
    return used, value


def _unused(table: pd.DataFrame) -> pd.Series:
    """Why a process has no value to compare; "" where it has."""
    why = pd.Series("", index=table.index, dtype="object")
    status = table["status"].astype("object").astype(str)
    value = table["value"]
    why[value.isna() | ~(value > 0) | ~np.isfinite(value)] = "not measured"
    doubtful = table.loc[status == "inconclusive", "reasons"]
    shared = [any(code in _SHARED for code, _ in reasons) for reasons in doubtful]
    why[doubtful.index[np.array(shared, dtype=bool)]] = "shared"
    failure = table["failure_code"].astype("object").astype(str)
    why[(status == "error") | ((why == "not measured") & (failure != ""))] = "failed"
    why[failure.isin(_SHARED)] = "shared"
    why[status == "skipped"] = "skipped"
    return why


def _repeated(table: pd.DataFrame) -> pd.Series:
    """Confirming processes of an invocation whose first one has a value.

    They are there because the first was slow, and close to it in time: with them slow invocations
    would count twice, and n would be more than was drawn independently. The first one is never
    left out, as the last is in `final`, so that no slow process is hidden by its repetition.
    """
    earlier = table.sort_values("attempt", kind="stable").loc[lambda t: t["unused"] == ""]
    again = earlier.duplicated(["member", "after", "group", *MEASURES]) & (earlier["attempt"] > 1)
    return again.reindex(table.index, fill_value=False)


def differences(table: pd.DataFrame) -> list[Difference]:
    """What makes the sides no comparison: each has a model, or a version or parameters of one
    probe, that the other lacks. Where only one side has more, what both have can be compared."""
    found = []
    named = table[table["device"] != ""]
    models = [named[named["after"] == side] for side in (False, True)]
    only = _only(*(set(m["model_key"]) for m in models))
    if only:
        names = [
            sorted({m for k, m in zip(t["model_key"], t["model"], strict=True) if k in keys})
            for t, keys in zip(models, only, strict=True)
        ]
        found.append(Difference("GPU model", "", *(", ".join(n) for n in names)))
    measured = table[table["unused"] == ""]
    of = measured.drop_duplicates(["model_key", "probe", "version", "setting", "after"])
    for (model, probe), rows in of.groupby(["model_key", "probe"], observed=True, sort=True):
        if only and model in only[0] | only[1]:
            continue
        found += _differing(str(probe), rows)
    return list(dict.fromkeys(found))


def _differing(probe: str, rows: pd.DataFrame) -> list[Difference]:
    sides = [
        {(int(v), str(s)) for v, s in zip(t["version"], t["setting"], strict=True)}
        for t in (rows[~rows["after"]], rows[rows["after"]])
    ]
    only = _only(*sides)
    if not only:
        return []
    settings = [{s for _, s in keys} for keys in only]
    if settings[0] & settings[1]:  # the same parameters in another version
        texts = [", ".join(str(v) for v in sorted({v for v, _ in keys})) for keys in only]
        return [Difference("probe version", probe, *texts)]
    texts = ["; ".join(sorted(setting_text(s) or "none" for s in side)) for side in settings]
    return [Difference("parameters", probe, *texts)]


def _only(before: set[Any], after: set[Any]) -> tuple[set[Any], set[Any]] | None:
    """What each side has alone; None unless both have something that the other lacks."""
    if not before or not after or before <= after or after <= before:
        return None
    return before - after, after - before


def setting_text(setting: str) -> str:
    """Parameters as people write them."""
    return " ".join(f"{n}={parameter_text(n, v)}" for n, v in json.loads(setting).items())
