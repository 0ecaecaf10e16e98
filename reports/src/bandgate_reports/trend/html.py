# SPDX-License-Identifier: Apache-2.0
"""The trend report as one page that needs nothing else: no network, no other file."""

from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bandgate_reports import __version__
from bandgate_reports.analysis.verdicts import STATUSES
from bandgate_reports.trend import charts
from bandgate_reports.trend.headline import STATUS_NAMES, headline, judged, tone, totals
from bandgate_reports.trend.model import Trend


def _text(name: str) -> Markup:
    """A file of this package as it is: ours, so it needs no escaping."""
    found = files("bandgate_reports.trend").joinpath("templates", name).read_text(encoding="utf-8")
    return Markup(found)  # noqa: S704


@dataclass(frozen=True)
class _Seen:
    """What the charts hold, for a legend of nothing else."""

    bands: bool
    statuses: tuple[str, ...]
    unstable: bool
    retries: bool
    flags: bool
    gaps: bool


def _seen(trend: Trend) -> _Seen:
    drawn = [h.chart for g in trend.groups for h in g.histories]
    found = {m.status for c in drawn for m in c.marks} | {s for c in drawn for s in c.dots}
    return _Seen(
        bands=any(c.bands for c in drawn),
        statuses=tuple(s for s in STATUSES if s in found),
        unstable=any(m.unstable for c in drawn for m in c.marks),
        retries=any(c.retries for c in drawn),
        flags=any(c.flags for c in drawn),
        gaps=any(c.gaps for c in drawn),
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bandgate_reports.trend"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment


def render(trend: Trend, version: str = __version__) -> str:
    return (
        _environment()
        .get_template("trend.html.j2")
        .render(
            trend=trend,
            names=STATUS_NAMES,
            seen=_seen(trend),
            geo=charts,
            headline=headline(trend),
            judged=judged(trend),
            tone=tone(trend),
            totals=totals(trend),
            css=_text("trend.css"),
            js=_text("trend.js"),
            version=version,
        )
    )
