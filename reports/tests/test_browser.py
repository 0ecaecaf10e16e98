# SPDX-License-Identifier: Apache-2.0
"""The trend page in a browser, as people open it: offline, by keyboard, in the dark, on paper."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.section import Figure, Section, Tone
from bandgate_reports.trend import html
from bandgate_reports.trend.model import History, Step, Trend
from test_render import hostile, report

from conftest import NOW
from made import FLEET, PROBES, fleet, result

pytest.importorskip("playwright", reason="playwright is not installed: pip install reports[dev]")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import browser as chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.started() as found:
        yield found


def with_changes(trend: Trend) -> Trend:
    """As if change points and bad nights had been found."""
    first = trend.histories[0]
    assert first is not None
    n = len(first.at)
    steps = (
        Step(n - 4, "2026-11-26", 0.957, True, "−4.30 % since 2026-11-26: 4303.1 → 4118.0 GiB/s"),
    )
    changed = replace(first, steps=steps, bad_nights=(5, 17))
    return replace(trend, histories=(changed, *trend.histories[1:]))


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cards and nine series over forty nights, with three of a long common reason."""
    folder = tmp_path_factory.mktemp("page")
    long = "no entry knows this probe with these parameters; looked in " + "a baseline, " * 5
    more = [
        result(gpu, replace(PROBES[0], name="triad"), NOW - timedelta(hours=3), 4000.0,
               "no-baseline", judged=False, reasons=[("no-baseline", long)])
        for gpu in FLEET
    ]  # fmt: skip
    made = with_changes(report(folder / "results", [*fleet(), *more]))
    file = folder / "index.html"
    file.write_text(html.render(made, "1.2.3"), encoding="utf-8")
    return file


ROWS = ".verdicts tbody tr:not(.detail):not(.group)"


def shown(page: Page) -> int:
    return page.locator(f"{ROWS}:visible").count()


def fragment(page: Page) -> str:
    return page.url.partition("#")[2]


def test_the_page_answers_at_once(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file) as found:
        page = found.page
        expect(page.get_by_role("heading", level=1)).to_have_text("1 regression and 1 error")
        for text in ("1 regression", "1 error", "4 no baseline", "6 pass"):
            expect(page.locator(".counts").get_by_text(text, exact=True)).to_be_in_viewport()
        expect(page.get_by_text("copy: error, was pass")).to_be_in_viewport()
        assert shown(page) == 12
        assert page.locator("svg.spark:visible").count() == 12
        assert page.locator("tr.detail").count() == 0


def test_filters_are_kept_in_the_address(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file) as found:
        page = found.page
        page.locator("select[name=node]").select_option("n203")
        page.locator("select[name=status]").select_option("no baseline")
        expect(page.get_by_role("status")).to_have_text("2 of 12 rows")
        assert (shown(page), fragment(page)) == (2, "status=no-baseline&node=n203")
        page.reload()
        assert shown(page) == 2
        assert page.locator("select[name=node]").input_value() == "n203"
        page.get_by_role("button", name="Show all").click()
        expect(page.get_by_role("status")).to_have_text("12 rows")
        assert (shown(page), fragment(page)) == (12, "")


def test_a_shared_address_filters_and_a_strange_one_does_nothing(
    browser: Browser, page_file: Path
) -> None:
    with chromium.opened(browser, page_file, "#model=NVIDIA+H200&probe=copy") as found:
        assert shown(found.page) == 2
    strange = "#status=%3Cscript%3Ealert(1)%3C/script%3E&node=nobody&sort=x&open=y"
    with chromium.opened(browser, page_file, strange) as found:
        assert shown(found.page) == 12


def test_a_drawing_of_a_model_follows_the_filter(browser: Browser, tmp_path: Path) -> None:
    made = report(tmp_path / "results", fleet())
    models = sorted({row.device.model for row in made.rows})
    figures = tuple(Figure(name, "<svg></svg>", name, name) for name in models)
    several = Figure("all", "<svg></svg>", "all")
    one = Section("drawn", "Drawn", "", Tone.PLAIN, Exit.OK, figures=(*figures, several))
    file = tmp_path / "index.html"
    file.write_text(html.render(replace(made, sections=(one,))), encoding="utf-8")
    with chromium.opened(browser, file) as found:
        drawn = found.page.locator("figure.drawn:visible figcaption")
        assert drawn.all_text_contents() == [*models, "all"]
        found.page.locator("select[name=model]").select_option(models[0])
        assert drawn.all_text_contents() == [models[0], "all"]


def test_a_count_is_a_filter(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file) as found:
        found.page.get_by_role("link", name="1 error").click()
        expect(found.page.get_by_role("status")).to_have_text("1 of 12 rows")
        assert found.page.locator("select[name=status]").input_value() == "error"


def test_the_search_looks_at_everything_a_row_says(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file) as found:
        page = found.page
        search = page.get_by_role("searchbox", name="Search")
        search.fill("stopped ANSWERING")
        expect(page.get_by_role("status")).to_have_text("1 of 12 rows")
        search.fill("c7d81f66")  # of a UUID, which only the open row shows
        expect(page.get_by_role("status")).to_have_text("4 of 12 rows")
        assert fragment(page) == "q=c7d81f66"
        search.fill("nothing like it")
        expect(page.get_by_role("status")).to_have_text("None of 12 rows fits")


def test_rows_are_grouped_by_device_and_by_probe(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file) as found:
        page = found.page
        page.locator("select[name=sort]").select_option("device")
        assert page.locator("tr.group:visible").all_text_contents() == [
            "NVIDIA A100-SXM4-80GB · n203 · 0000:07:00.0",
            "NVIDIA H200 · n017 · 0000:1b:00.0",
            "NVIDIA H200 · n018 · 0000:3d:00.0",
        ]
        page.locator("select[name=node]").select_option("n018")
        assert page.locator("tr.group:visible").count() == 1
        page.locator("select[name=sort]").select_option("probe")
        page.reload()
        assert page.locator("tr.group:visible").all_text_contents() == [
            "copy", "read", "triad", "write"
        ]  # fmt: skip
        page.locator("select[name=sort]").select_option("worst first")
        assert page.locator("tr.group").count() == 0


def test_a_chart_opens_reads_and_closes_by_keyboard(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file) as found:
        page = found.page
        button = page.get_by_role("button", name="read").first
        page.keyboard.press("Tab")
        for _ in range(40):  # from the top, as somebody without a mouse comes there
            if button.evaluate("one => one === document.activeElement"):
                break
            page.keyboard.press("Tab")
        expect(button).to_be_focused()
        expect(button).to_have_attribute("aria-expanded", "false")
        page.keyboard.press("Enter")
        expect(button).to_have_attribute("aria-expanded", "true")
        expect(page.locator(f"#{button.get_attribute('aria-controls')}")).to_be_visible()
        page.keyboard.press("Tab")
        plot = page.locator("tr.detail .plot")
        expect(plot).to_be_focused()
        reading = page.locator("tr.detail .reading")
        expect(reading).to_contain_text("2026-11-29 · 4124.3 GiB/s (−4.13 %) · regression · The p")
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
        expect(reading).to_contain_text("change: −4.30 % since 2026-11-26: 4303.1 → 4118.0 GiB/s")
        page.keyboard.press("Home")
        expect(reading).to_contain_text("2026-10-21 · ")
        page.keyboard.press("Escape")
        expect(page.locator("tr.detail")).to_have_count(0)
        expect(button).to_be_focused()
        expect(button).to_have_attribute("aria-expanded", "false")


def test_an_open_chart_survives_a_reload(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file) as found:
        page = found.page
        page.locator("td.h").nth(2).click()
        assert re.fullmatch(r"open=s[0-9a-f]{10}", fragment(page))
        page.reload()
        expect(page.locator("tr.detail")).to_have_count(1)


def outside(page: Page) -> list[str]:
    """Texts that leave the drawing: a label at the end of an axis is easily cut."""
    found: list[str] = page.locator("tr.detail .plot").evaluate(
        """svg => { const box = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text")].filter(t => {
          const b = t.getBoundingClientRect();
          return b.left < box.left - 1 || b.right > box.right + 1 || b.bottom > box.bottom + 1;
        }).map(t => t.textContent); }"""
    )
    return found


def test_the_chart_shows_band_changes_bad_nights_and_the_environment(
    browser: Browser, page_file: Path
) -> None:
    with chromium.opened(browser, page_file) as found:
        page = found.page
        page.get_by_role("button", name="read").first.click()
        detail = page.locator("tr.detail")
        plot = detail.locator(".plot")
        assert plot.locator("rect.band").count() == 1
        assert plot.locator("g.step.worse text").all_text_contents() == ["−4.30 % since 2026-11-26"]
        assert plot.locator("circle.odd").count() == 2
        assert plot.locator("g.flag text").all_text_contents() == ["1", "2", "3"]
        assert plot.locator("use.mark.regression").count() == 4
        expect(detail).to_contain_text("2 2026-11-18 driver 580.95.05 → 580.159.04")
        expect(detail).to_contain_text("GPU-5f0c9d52-7a11-4c65-9d0e-0c4b7d5e1a01")
        # The pointer reads too.
        plot.hover(position={"x": 300, "y": 100})
        expect(detail.locator(".reading")).to_contain_text("GiB/s (")
        assert outside(page) == []


def test_common_reasons_are_said_once_and_found(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file, "#probe=triad") as found:
        page = found.page
        page.get_by_role("link", name="reason 1").first.click()
        expect(page.locator("#reason-1")).to_be_focused()
        assert page.content().count("looked in a baseline") == 1
        assert fragment(page) == "probe=triad"


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_scrolls_sideways(browser: Browser, page_file: Path, width: int) -> None:
    size = {"width": width, "height": 800}
    with chromium.opened(browser, page_file, viewport=size) as found:
        found.page.get_by_role("button", name="read").first.click()
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width


def lightness(page: Page, name: str) -> float:
    """Of a colour of the whole page, 0 to 255."""
    text = page.evaluate(f"getComputedStyle(document.body).{name}")
    return float(np.mean([float(n) for n in re.findall(r"[\d.]+", text)[:3]]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_legible_and_named(
    browser: Browser, page_file: Path, scheme: str
) -> None:
    with chromium.opened(browser, page_file, color_scheme=scheme) as found:
        page = found.page
        page.get_by_role("button", name="read").first.click()
        page.locator(".plot").focus()
        ground, ink = lightness(page, "backgroundColor"), lightness(page, "color")
        assert (ground > 240 and ink < 50) if scheme == "light" else (ground < 40 and ink > 220)
        # Contrast, names of controls, roles, order of headings, and some ninety more rules.
        violations = Axe().run(page).response["violations"]
        assert [(v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in violations] == []


def test_paper_has_the_open_charts_and_no_controls(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file, color_scheme="dark") as found:
        page = found.page
        page.get_by_role("button", name="read").first.click()
        page.emulate_media(media="print")
        expect(page.locator("form")).to_be_hidden()
        expect(page.locator("tr.detail .plot")).to_be_visible()
        assert (lightness(page, "backgroundColor"), lightness(page, "color")) == (255, 0)
        assert page.pdf(landscape=True).startswith(b"%PDF-")


def test_without_script_the_verdicts_are_there(browser: Browser, page_file: Path) -> None:
    with chromium.opened(browser, page_file, java_script_enabled=False) as found:
        page = found.page
        assert page.locator("svg.spark:visible").count() == 12
        expect(page.locator("form")).to_be_hidden()
        expect(page.locator("td.why").first).to_contain_text("power cap")


def test_names_from_outside_stay_text(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_bytes(html.render(report(tmp_path / "results", hostile())).encode())
    with chromium.opened(browser, file) as found:
        page = found.page
        for button in page.locator("td button").all():
            button.click()
        page.locator(".plot").first.focus()
        page.locator("select[name=node]").select_option(index=1)
        page.locator("select[name=sort]").select_option("device")
        page.reload()
        assert page.locator("tr.detail").count() > 0
        assert page.locator("img").count() == 0


def multiplied(trend: Trend, gpus: int, probes: int, nights: int) -> Trend:
    """The report with so many cards, probes and nights."""
    chance = np.random.default_rng(1)
    row, old = next(
        (r, h)
        for r, h in zip(trend.rows, trend.histories, strict=True)
        if r.status == "pass" and h is not None
    )
    rows: list[Any] = []
    histories: list[History] = []
    for g in range(gpus):
        device = replace(row.device, node=f"n{g // 8:03}", place=f"0000:{g % 8:02x}:00.0")
        for p in range(probes):
            value = old.value.mean() * chance.normal(1, 0.002, nights)
            one = replace(
                old, key=f"s{g:03}{p:03}", device=device, probe=f"probe{p:02}", value=value,
                at=np.arange(nights) + 20000, codes=np.full(nights, old.codes[0]),
                unstable=np.zeros(nights, dtype=bool), bands=old.bands[:1], whys=(),
            )  # fmt: skip
            histories.append(one)
            rows.append(replace(row, device=device, probe=one.probe, key=one.key))
    return replace(trend, rows=tuple(rows), histories=tuple(histories))


def test_the_last_label_of_a_narrow_axis_is_whole(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    one = multiplied(report(tmp_path / "results", fleet(5)), 1, 1, 90)
    file.write_text(html.render(one), encoding="utf-8")
    with chromium.opened(browser, file, viewport={"width": 360, "height": 800}) as found:
        found.page.locator("td button").first.click()
        # The year begins with the newest night.
        expect(found.page.locator("tr.detail .plot")).to_contain_text("Jan 2025")
        assert outside(found.page) == []


def test_a_thousand_series_load_and_answer(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    big = multiplied(report(tmp_path / "results", fleet(5)), 64, 16, 180)
    file = tmp_path / "index.html"
    file.write_text(html.render(big), encoding="utf-8")
    assert file.stat().st_size < 10_000_000
    with chromium.opened(browser, file) as found:
        page = found.page
        loaded = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1e3
        assert shown(page) == 1024
        started = time.perf_counter()
        page.locator("select[name=node]").select_option("n005")
        expect(page.get_by_role("status")).to_have_text("128 of 1024 rows")
        filtered = time.perf_counter() - started
        page.locator("td button:visible").first.click()
        expect(page.locator("tr.detail .plot")).to_be_visible()
    with capsys.disabled():
        size = file.stat().st_size / 1e6
        print(  # noqa: T201 - a figure to look at, never a threshold
            f"\n64 GPUs x 16 probes x 180 nights: {size:.1f} MB, loaded in {loaded:.2f} s, "
            f"filtered in {filtered:.2f} s"
        )
