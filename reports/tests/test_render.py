# SPDX-License-Identifier: Apache-2.0
"""The page and the Markdown: approved by reading, and proof against what names may hold."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from bandgate_reports import store
from bandgate_reports.trend import build as trend
from bandgate_reports.trend import html, markdown
from bandgate_reports.trend.model import Trend
from bandgate_reports.units import RateUnit

from conftest import NOW
from made import FLEET, H200, PROBES, READ, Document, Gpu, Probe, below, fleet, result, write


def report(folder: Path, documents: list[Document], rate: RateUnit = RateUnit.GIB_S) -> Trend:
    loaded = store.load([write(folder, documents)], include_scripted=True)
    return trend.build(loaded, NOW, rate)


def small() -> list[Document]:
    """Two cards over five nights: a loss with its cause, a lost card, a retry, a missing night."""
    newer = replace(H200, driver="580.159.04")
    low = 4180.0
    night = [NOW - timedelta(days=n, hours=3) for n in range(5)]
    why = [below(READ, low), ("power-cap", "Power cap active for 92 % of the timed region.")]
    again = timedelta(seconds=3)
    return [
        result(at=night[4], value=4303.0),
        result(at=night[3], value=4230.0, status="regression", group="g3"),
        result(at=night[3] + again, value=4299.0, group="g3", attempt=2, unstable=True),
        result(newer, at=night[1], value=4301.0),
        result(newer, READ, night[0], 4182.0, "regression", group="g0", reasons=why),
        result(
            newer, READ, night[0] + again, low, "regression", attempt=2, group="g0", reasons=why,
            next_step="nvidia-smi -i 0000:1b:00.0 -pl 700",
        ),
        result(FLEET[2], PROBES[1], night[1], 1798.0, "no-baseline", judged=False),
        result(
            FLEET[2], PROBES[1], night[0], None, "error",
            failure=("device-lost", "GPU lost at sample 3 of 20."),
        ),
    ]  # fmt: skip


def without_assets(page: str) -> str:
    page = re.sub(r"<style>.*?</style>", "<style>…</style>", page, flags=re.DOTALL)
    return re.sub(r"<script>.*?</script>", "<script>…</script>", page, flags=re.DOTALL)


def test_page(tmp_path: Path, approved: Callable[[str, str], None]) -> None:
    approved("trend.html", without_assets(html.render(report(tmp_path, small()), "1.2.3")))


def test_markdown(tmp_path: Path, approved: Callable[[str, str], None]) -> None:
    approved("trend.md", markdown.render(report(tmp_path, small())))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_results_say_so(tmp_path: Path, n: int) -> None:
    documents = [result(at=NOW - timedelta(days=d + 1)) for d in range(n)]
    page = html.render(report(tmp_path, documents))
    some, none = f"not enough data for a trend (n={n}, need 3 nights)", "Not enough data (n=0)"
    assert (some if n else none) in page
    assert f"Judged {min(n, 1)} of {min(n, 1)}." in markdown.render(report(tmp_path, documents))


class Outline(HTMLParser):
    """Elements, and what a browser would run or fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.risks: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        for name, value in attrs:
            local = value is not None and value.startswith(("#", "data:,"))
            if name.startswith("on") or (name in ("src", "href") and not local):
                self.risks.append(f"{tag} {name}={value}")
        if tag not in ("meta", "link", "path", "rect", "circle", "line", "use", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("path", "rect", "circle", "line", "use"):
            return
        assert self.open.pop() == tag


def outline(page: str) -> Outline:
    parsed = Outline()
    parsed.feed(page)
    parsed.close()
    assert parsed.open == []
    return parsed


HOSTILE = (
    "\"'><script>alert(1)</script><img src=x onerror=alert(1)>"
    "\\|`\n\x1b[31m\x00\ud800{{7*7}}</style>"
)


def hostile() -> list[Document]:
    gpu = Gpu(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, kernel=HOSTILE)
    probe = Probe(HOSTILE, 4302, parameters={HOSTILE: HOSTILE})
    other = replace(probe, parameters={HOSTILE: "b"})
    later = replace(gpu, driver="9", kernel=HOSTILE + "2")
    why = [(HOSTILE, HOSTILE)]
    return [
        result(gpu, probe, NOW - timedelta(days=2), reasons=why, next_step=HOSTILE),
        result(later, probe, NOW - timedelta(days=1), reasons=why, next_step=HOSTILE),
        result(gpu, other, NOW - timedelta(days=1), None, "error", failure=("crashed", HOSTILE)),
    ]


def test_names_cannot_become_markup(tmp_path: Path) -> None:
    page = html.render(report(tmp_path / "hostile", hostile()))
    page.encode("utf-8")
    parsed = outline(page)
    assert parsed.risks == []
    harmless = json.loads(json.dumps(hostile()).replace(json.dumps(HOSTILE)[1:-1], "x"))
    same = outline(html.render(report(tmp_path / "harmless", harmless)))
    assert parsed.elements == same.elements
    assert "\x1b" not in page
    assert "49" not in re.findall(r"<td>(.*?)<", page)


def test_names_cannot_break_a_markdown_table(tmp_path: Path) -> None:
    text = markdown.render(report(tmp_path, hostile()))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert {row.count("|") for row in rows} == {8}
    assert "<script" not in text
    assert "\x1b" not in text


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    page = html.render(report(tmp_path, small()))
    assert outline(page).risks == []
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page.replace("// ", ""))


def data_of(page: str) -> Any:
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(block)


def test_the_data_of_the_charts_is_json(tmp_path: Path) -> None:
    data = data_of(html.render(report(tmp_path, small())))
    read, write_ = data["rows"]
    # Five nights, one of them missing; the first attempts are no points.
    assert (read["t"], read["s"], read["z"]) == ("20782,1,2,1", "pPpr", 86400)
    assert [(read["m"] + int(v)) / 10 for v in read["v"].split(",")] == [
        4303.0, 4299.0, 4301.0, 4180.0
    ]  # fmt: skip
    assert read["y"][0] == "regression"
    assert [data["texts"][n] for n in read["y"][1:]] == [
        "NVIDIA H200", "n017", "0000:1b:00.0", "read", ""
    ]  # fmt: skip
    ((night, why),) = read["w"]
    assert (night, data["texts"][why]) == (3, "Power cap active for 92 % of the timed region.")
    ((at, number, when, text),) = read["f"]
    assert (at, number, when) == (20784.5, 1, "2026-11-28")
    assert data["texts"][text] == "driver 580.95.05 → 580.159.04"
    assert (write_["z"], write_["s"]) == (60, "ne")


def test_units_are_labelled_right(tmp_path: Path) -> None:
    documents = [result(value=4302.0)]
    launch = result(probe=Probe("launch", 4.5e-6), value=4.6e-6, status="pass")
    launch["measurement"]["unit"] = "s"
    for scaled in (launch["measurement"], launch["verdict"]["baselines"][0]):
        for key in ("median", "peak", "p05", "p95", "reference", "lower", "upper"):
            if key in scaled:
                scaled[key] /= 2.0**30
    text = markdown.render(report(tmp_path, [*documents, launch], RateUnit.GB_S))
    assert "| 4619.2 GB/s | 4619.2 GB/s (4573.0 … 4665.4; measured) |" in text
    assert "| 4.6000 us | 4.5000 us (4.4550 … 4.5450; measured) |" in text


def test_a_large_report_stays_within_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probes = [Probe(f"probe{i}", 4000) for i in range(60)]
    documents = []
    for node in range(40):
        gpu = replace(H200, node=f"n{node}", uuid=f"GPU-{node}")
        for probe in probes:
            why = [("below-bound", "x" * 590)]
            documents.append(result(gpu, probe, value=3000, status="regression", reasons=why))
    monkeypatch.setattr(trend, "MOST_ROWS", 1500)
    made = report(tmp_path, documents)
    page, text = html.render(made), markdown.render(made)
    assert len(page.encode()) < 10_000_000
    assert len(text.encode()) < 900_000
    assert "900 more verdicts, none of them worse, are left out" in page
    assert re.search(r"\d+ more verdicts, none of them worse, are left out\.", text)
    assert made.summary.counts["regression"] == 2400


def test_the_fleet_of_the_pictures(tmp_path: Path) -> None:
    made = report(tmp_path, fleet())
    assert made.summary.counts == {"regression": 1, "error": 1, "no-baseline": 1, "pass": 6}
    assert sum(h is not None for h in made.histories) == 9
    assert [c.text for c in made.recent_changes] == [
        "tool 0.1.0 → 0.1.1",
        "driver 580.95.05 → 580.159.04",
    ]
    assert len(html.render(made).encode()) < 200_000
