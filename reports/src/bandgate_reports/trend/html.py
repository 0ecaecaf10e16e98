# SPDX-License-Identifier: Apache-2.0
"""The trend report as one page that needs nothing else: no network, no other file."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bandgate_reports import __version__
from bandgate_reports.section import Section
from bandgate_reports.text import count, printable
from bandgate_reports.trend import charts
from bandgate_reports.trend.encoding import Texts, budget, encode
from bandgate_reports.trend.headline import STATUS_NAMES, headline, judged, tone, totals
from bandgate_reports.trend.model import Trend
from bandgate_reports.trend.spark import NIGHTS

ENDED = "ended"


def _text(name: str) -> Markup:
    """A file of this package as it is: ours, so it needs no escaping."""
    found = files("bandgate_reports.trend").joinpath("templates", name).read_text(encoding="utf-8")
    return Markup(found)  # noqa: S704


@dataclass(frozen=True)
class _Page:
    """What the page needs beside the report: the choices of its filters, the data of its script."""

    models: list[tuple[str, str]]
    nodes: list[tuple[str, str]]
    probes: list[tuple[str, str]]
    statuses: list[tuple[str, str]]
    total: str
    window: str
    demo: str
    mixed: bool  # some results are made up and some are not: each says which
    data: dict[str, Any]


def _choices(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(v, v) for v in sorted(set(values)) if v]


def _said(sections: Iterable[Section], name: str) -> list[str]:
    return [getattr(r, name) for s in sections for t in s.tables for r in t.rows]


def _page(trend: Trend) -> _Page:
    devices = [*(r.device for r in trend.rows), *(s.parts.device for s in trend.strips)]
    probes = [r.probe for r in trend.rows] + [s.parts.probe for s in trend.strips]
    told = list(trend.summary.counts)
    if any(r.ended for r in trend.rows):
        told.append(ENDED)
    return _Page(
        models=_choices([d.model for d in devices] + _said(trend.sections, "model")),
        nodes=_choices([d.node for d in devices] + _said(trend.sections, "node")),
        probes=_choices(probes + _said(trend.sections, "probe")),
        statuses=[(s, STATUS_NAMES.get(s, s)) for s in told],
        total=count(len(trend.rows), "row"),
        window=_window(trend),
        demo=trend.demo,
        mixed=trend.demo_mixed,
        data=_data(trend),
    )


def _window(trend: Trend) -> str:
    nights = [h.at[-1] - h.at[0] + 1 for h in trend.histories if h is not None and h.by_night]
    longest = max(nights, default=0)
    return f"Last {NIGHTS} nights" if longest > NIGHTS else "History"


def _data(trend: Trend) -> dict[str, Any]:
    """By row: what it is filtered and sorted by, and its history."""
    texts = Texts()
    most = budget(sum(h is not None for h in trend.histories))
    rows = []
    for r, history in zip(trend.rows, trend.histories, strict=True):
        named = (r.device.model, r.device.node, r.device.place, r.probe, r.parameters)
        one: dict[str, Any] = {
            "y": [ENDED if r.ended else r.status, *(texts.number(t) for t in named)]
        }
        rows.append(one | (encode(history, texts, most) if history is not None else {}))
    return {"rows": rows, "texts": texts.all()}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bandgate_reports.trend"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Sections bring texts as they came; ours have been through it already.
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment


def render(trend: Trend, version: str = __version__) -> str:
    return (
        _environment()
        .get_template("trend.html.j2")
        .render(
            trend=trend,
            page=_page(trend),
            names=STATUS_NAMES,
            often={reason.text: reason for reason in trend.reasons},
            geo=charts,
            headline=headline(trend),
            judged=judged(trend),
            tone=tone(trend),
            totals=totals(trend),
            css=_text("trend.css"),
            js=Markup("").join(_text(name) for name in ("chart.js", "trend.js")),
            version=version,
        )
    )
