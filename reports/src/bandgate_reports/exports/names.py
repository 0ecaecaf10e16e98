# SPDX-License-Identifier: Apache-2.0
"""Names by which other programs know a device and a test: the same every night, each used once."""

import hashlib
import json
from collections.abc import Callable, Sequence

import pandas as pd

from bandgate_reports.store.records import each, parameter_text
from bandgate_reports.text import printable


def named(
    newest: pd.DataFrame, results: pd.DataFrame, clean: Callable[[str], str] = printable
) -> pd.DataFrame:
    """Adds named_node, named_model, named_device and named_parameters to the newest verdicts.

    `results` is the table they were taken from: a GPU that was lost before its name could be read
    keeps the name that it had. No two rows have node, device, probe and parameters in common, also
    where `clean` makes different names equal.
    """
    table = newest.copy()
    cards = _cards(results[results["card"].isin(table["card"].unique())], clean)
    for name in ("node", "model", "device"):
        table[f"named_{name}"] = [str(n) for n in table["card"].astype("object").map(cards[name])]
    table["named_probe"] = [clean(p) for p in table["probe"]]
    table["named_parameters"] = [clean(parameters_text(p)) for p in table["parameters"]]
    by = [f"named_{name}" for name in ("node", "device", "probe", "parameters")]
    identity = list(zip(table["probe"], table["parameters"], strict=True))
    table["named_parameters"] = distinct(table, by, "named_parameters", identity)
    return table


def parameters_text(parameters: str) -> str:
    """All of them, defaults too: "buffer=4GiB mode=permutation". What is left out when it does not
    differ would come and go with the other results in the folder."""
    values = json.loads(parameters)
    return " ".join(f"{name}={parameter_text(name, values[name])}" for name in sorted(values))


def distinct(
    table: pd.DataFrame, by: list[str], column: str, identity: Sequence[object]
) -> list[str]:
    """`column`, with a part of the hash of what it stands for where `by` is there twice."""
    twice = table.duplicated(by, keep=False)
    return [
        f"{text} #{_digest(what)}".lstrip() if again else str(text)
        for text, what, again in zip(table[column], identity, twice, strict=True)
    ]


def _digest(identity: object) -> str:
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:12]


def _cards(results: pd.DataFrame, clean: Callable[[str], str]) -> pd.DataFrame:
    """By card: the node where it was last seen, its last known model, and its name there."""
    columns = ["card", "backend", "host", "node", "pci_address", "device", "cpu_model"]
    ordered = results.sort_values(["placed", "started"], kind="stable")[columns]
    last = ordered.drop_duplicates("card", keep="last").set_index("card").astype("object")
    for column in ("device", "cpu_model"):
        known = ordered[ordered[column] != ""].drop_duplicates("card", keep="last")
        last[column] = known.set_index("card")[column].astype("object").reindex(last.index)
    cards = pd.DataFrame(
        {
            "node": [clean(r.node or "unknown host") for r in each(last)],
            "model": [clean(_model(r)) for r in each(last)],
            "device": [clean(_device(r)) for r in each(last.reset_index())],
        },
        index=last.index.astype("object"),
    )
    cards["device"] = distinct(cards, ["node", "device"], "device", list(cards.index))
    return cards


def _known(value: object) -> str:
    return "" if pd.isna(value) else str(value)  # type: ignore[call-overload]


def _model(row: object) -> str:
    name = _known(getattr(row, "device", "")) or _known(getattr(row, "cpu_model", ""))
    host = getattr(row, "backend", "") == "host"
    return name or ("host CPU" if host else "unknown device")


def _device(row: object) -> str:
    """A card's UUID, else its address, else what it is."""
    card, backend = str(getattr(row, "card", "")), str(getattr(row, "backend", ""))
    address = str(getattr(row, "pci_address", ""))
    own = card[len(backend) + 1 :]
    if own == f"{getattr(row, 'host', '')}|{address}":
        own = address or ("host" if backend == "host" else "unidentified device")
    return f"{own} (scripted)" if backend == "scripted" else own
