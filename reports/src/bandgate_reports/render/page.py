# SPDX-License-Identifier: Apache-2.0
"""Sections as one page that needs nothing else: no network, no script, no other file."""

from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bandgate_reports import __version__
from bandgate_reports.section import Section, Tone
from bandgate_reports.text import printable

# The colours of the trend page, which names them after verdicts.
COLOURS = {
    Tone.BAD: "regression",
    Tone.UNSURE: "inconclusive",
    Tone.GOOD: "pass",
    Tone.QUIET: "skipped",
    Tone.PLAIN: "measured",
}


def _css() -> Markup:
    """The look of all pages; ours, so it needs no escaping."""
    texts = [
        files(f"bandgate_reports.{package}").joinpath("templates", name).read_text(encoding="utf-8")
        for package, name in (("trend", "trend.css"), ("render", "page.css"))
    ]
    return Markup("".join(texts))  # noqa: S704


def _svg(text: str) -> Markup:
    """A Figure's drawing: made by us, with every text from outside escaped in it already."""
    return Markup(text)  # noqa: S704


def render(sections: Sequence[Section], *, title: str, version: str = __version__) -> str:
    """The first section is the answer: its headline is the page's."""
    environment = Environment(
        loader=PackageLoader("bandgate_reports.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda v: printable(v) if type(v) is str else v,
    )
    return environment.get_template("page.html.j2").render(
        sections=sections,
        title=title,
        colours=COLOURS,
        css=_css(),
        svg=_svg,
        version=version,
    )
