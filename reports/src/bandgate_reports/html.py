# SPDX-License-Identifier: Apache-2.0
"""The trend report as one page that needs nothing else: no network, no other file."""

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bandgate_reports import __version__, charts
from bandgate_reports.headline import STATUS_NAMES, headline, judged, tone, totals
from bandgate_reports.model import Trend
from bandgate_reports.verdicts import STATUSES


def _text(name: str) -> Markup:
    """A file of this package as it is: ours, so it needs no escaping."""
    found = files("bandgate_reports").joinpath("templates", name).read_text(encoding="utf-8")
    return Markup(found)  # noqa: S704


def render(trend: Trend, version: str = __version__) -> str:
    environment = Environment(
        loader=PackageLoader("bandgate_reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawn = {m.status for g in trend.groups for h in g.histories for m in h.chart.marks}
    drawn |= {s for g in trend.groups for h in g.histories for s in h.chart.dots}
    return environment.get_template("trend.html.j2").render(
        trend=trend,
        names=STATUS_NAMES,
        used=[s for s in STATUSES if s in drawn],
        geo=charts,
        headline=headline(trend),
        judged=judged(trend),
        tone=tone(trend),
        totals=totals(trend),
        css=_text("trend.css"),
        js=_text("trend.js"),
        version=version,
    )
