# SPDX-License-Identifier: Apache-2.0
"""Parts of the trend page: what is new, common reasons, parts of other reports, PNG files."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import html5lib
import numpy as np
import pytest

from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.figures import histories
from bandgate_reports.section import Column, Figure, Row, Section, Table, Tone
from bandgate_reports.trend import build, html, markdown
from bandgate_reports.trend.model import Item, Since
from test_cli import trend
from test_render import HOSTILE, hostile, report, small

from conftest import NOW, Run
from made import FLEET, H200, PROBES, READ, Document, Gpu, Probe, fleet, result, write

SLOW = [("below-bound", "4180 is below 4259")]


def nights(statuses: str, gpu: Gpu = H200, probe: Probe = READ) -> list[Document]:
    """One result a night, the newest last: p(ass), r(egression), e(rror), n(o baseline), - none."""
    made = []
    for back, letter in enumerate(reversed(statuses)):
        at = NOW - timedelta(days=back, hours=3)
        if letter == "p":
            made.append(result(gpu, probe, at))
        elif letter == "r":
            made.append(result(gpu, probe, at, 4180.0, "regression", reasons=SLOW))
        elif letter == "n":
            made.append(result(gpu, probe, at, 4180.0, "no-baseline", judged=False))
        elif letter == "e":
            lost = ("device-lost", "GPU lost")
            made.append(result(gpu, probe, at, None, "error", failure=lost))
    return made


def since(folder: Path, documents: list[Document]) -> Since:
    found = report(folder, documents).since
    assert found is not None
    return found


def test_what_is_new_over_and_otherwise(tmp_path: Path) -> None:
    documents = [
        *nights("pppr"),
        *nights("prrp", FLEET[1]),
        *nights("prrr", FLEET[2]),
        *nights("pppn", probe=PROBES[1]),
        *nights("pppp", probe=PROBES[2]),
    ]
    found = since(tmp_path, documents)
    assert (found.before, found.night) == ("2026-11-28", "2026-11-29")
    assert found.new == (Item("regression", "n017 · 0000:1b:00.0", "read: regression, was pass"),)
    assert found.over == (Item("pass", "n018 · 0000:3d:00.0", "read: pass, was regression"),)
    assert found.other == (
        Item("no-baseline", "n017 · 0000:1b:00.0", "write: no baseline, was pass"),
    )
    assert (found.gone, found.back, found.under_way) == ((), (), "")
    assert [(i.status, i.where, i.what) for i in found.wrong] == [
        ("regression", "n203 · 0000:07:00.0", "read, −2.84 %"),
        ("regression", "n017 · 0000:1b:00.0", "read, −2.84 %"),
    ]


def test_several_devices_of_a_host_are_one_line(tmp_path: Path) -> None:
    cards = [replace(H200, pci=f"0000:{n:02x}:00.0", uuid=f"GPU-{n}") for n in range(3)]
    documents = [d for card in cards for p in PROBES[:2] for d in nights("ppe", card, p)]
    (item,) = since(tmp_path, documents).new
    assert (item.where, item.what) == ("n017 · 3 devices", "read, write: error, was pass")


def test_a_device_that_is_gone_is_named(tmp_path: Path) -> None:
    documents = [*nights("pppp"), *nights("ppp-", FLEET[1]), *nights("ppp-", probe=PROBES[1])]
    assert since(tmp_path, documents).gone == (
        Item("error", "n018 · 0000:3d:00.0", "last measured 2026-11-28"),
        Item("inconclusive", "n017 · 0000:1b:00.0", "write: last measured 2026-11-28"),
    )


def test_a_device_that_is_not_measured_every_night_is_not_gone(tmp_path: Path) -> None:
    assert since(tmp_path, [*nights("pppp"), *nights("p-p-", FLEET[1])]).gone == ()


def test_a_night_that_has_just_begun_misses_nobody(tmp_path: Path) -> None:
    others = [replace(H200, node=f"n{n}", uuid=f"GPU-{n}") for n in range(3)]
    documents = [*nights("pppp"), *(d for o in others for d in nights("ppp-", o))]
    found = since(tmp_path, documents)
    assert found.gone == ()
    assert found.under_way == "1 of the 4 devices of the night before measured so far"
    assert "1 of the 4 devices" in html.render(report(tmp_path / "again", documents))


def test_a_device_never_seen_before_is_named(tmp_path: Path) -> None:
    found = since(tmp_path, [*nights("pppp"), *nights("---p", FLEET[1])])
    assert found.back == (Item("pass", "n018 · 0000:3d:00.0", "read: pass"),)


def test_change_points_are_in_the_chart_and_those_of_the_newest_night_on_top(
    tmp_path: Path,
) -> None:
    chance = np.random.default_rng(3)
    documents = [
        result(gpu, READ, NOW - timedelta(days=back, hours=3), level * chance.normal(1, 0.001))
        for gpu, low in ((H200, 5), (FLEET[1], 5), (FLEET[2], 0))
        for back in range(40)
        for level in [4302.0 * (0.97 if back < low else 1.0)]
    ]
    made = report(tmp_path, documents)
    assert made.since is not None
    assert [(i.status, i.where) for i in made.since.steps] == [
        ("regression", "n017 · 0000:1b:00.0"),
        ("regression", "n018 · 0000:3d:00.0"),
    ]
    assert re.fullmatch(r"read: −(2\.9|3\.0)\d % since 2026-11-25", made.since.steps[0].what)
    (first, _, other) = sorted(
        (h for h in made.histories if h is not None), key=lambda h: h.device.node
    )
    ((step,), none) = (first.steps, other.steps)
    assert (step.index, step.when, step.worse, none) == (35, "2026-11-25", True, ())
    assert re.fullmatch(
        r"−(2\.9|3\.0)\d % since 2026-11-25: 430\d\.\d → 41\d\d\.\d GiB/s", step.text
    )


def test_one_night_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    found = since(tmp_path, nights("r"))
    assert (found.before, found.new) == ("", ())
    assert "One night so far" in html.render(report(tmp_path / "again", nights("r")))


LONG = (
    "no cause found; looked at, in order: clock events, temperature limits, power limit, "
    "repairs, ECC"
)


def test_a_long_reason_of_three_verdicts_is_said_once(tmp_path: Path) -> None:
    why = [*SLOW, ("no-cause-found", LONG)]
    at = NOW - timedelta(hours=3)
    documents = [result(gpu, READ, at, 4180.0, "regression", reasons=why) for gpu in FLEET]
    made = report(tmp_path, documents)
    (reason,) = made.reasons
    assert (reason.text, reason.where) == (LONG, "3 verdicts on n203, n017, n018")
    for text in (html.render(made).split("<script")[0], markdown.render(made)):
        assert text.count("temperature limits, power limit, repairs, ECC") == 1
        assert text.count("no cause found; looked at, in order: clock events …") == 3
    two = report(tmp_path / "two", documents[:2])
    assert two.reasons == ()
    assert html.render(two).split("<script")[0].count("power limit, repairs, ECC") == 2


def section() -> Section:
    columns = (Column("Node"), Column("Off by", numeric=True))
    rows = (Row(("n017", "−4.2 %"), Tone.BAD, node="n017"), Row((HOSTILE, "±0.00 %")))
    return Section(
        key="fleet",
        title="Fleet",
        headline="1 node is slow",
        tone=Tone.BAD,
        exit=Exit.REGRESSION,
        sentences=("Compared: 2 nodes.",),
        tables=(Table("Nodes", columns, rows, left_out=3, note="Worst first."),),
        figures=(Figure("Map", '<svg viewBox="0 0 1 1"></svg>', "n017 is dark"),),
    )


def test_other_reports_are_parts_of_the_page(tmp_path: Path) -> None:
    made = replace(report(tmp_path, [result()]), sections=(section(),))
    page = html.render(made)
    for text in (
        '<h2 id="part-fleet">Fleet</h2>',
        '<p class="says bad">1 node is slow</p>',
        '<tr class="bad" data-model="" data-node="n017" data-probe=""><td>n017</td>'
        '<td class="n">−4.2 %</td>',
        "and 3 more",
        'aria-label="n017 is dark"><svg viewBox="0 0 1 1"></svg></div>',
    ):
        assert text in page
    assert "<script>alert" not in page
    assert "1 node is slow" in markdown.render(made)


@pytest.mark.parametrize(
    "documents", [[], small(), hostile(), fleet(4)], ids="0 small hostile fleet".split()
)
def test_the_page_is_valid_html_and_no_id_is_there_twice(
    tmp_path: Path, documents: list[Document]
) -> None:
    made = replace(report(tmp_path, documents), sections=(section(),))
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree = parser.parse(html.render(made).replace("\x00", ""))
    ids = [e.get("id") for e in tree.iter() if e.get("id")]
    assert sorted(ids) == sorted(set(ids))
    known = set(ids)
    targets = [e.get("href")[1:] for e in tree.iter("a") if e.get("href", "").startswith("#")]
    assert {t for t in targets if "=" not in t} <= known


def test_series_out_of_the_ordinary_have_a_png(tmp_path: Path) -> None:
    made = report(tmp_path, [*nights("pppr"), *nights("pppp", FLEET[1])])
    found = dict(histories.files(made, every=False))
    assert list(found) == ["n017_0000_1b_00.0_read.png"]
    assert found["n017_0000_1b_00.0_read.png"].startswith(b"\x89PNG")
    assert len(dict(histories.files(made, every=True))) == 2


def test_pngs_of_strange_names_and_of_no_value(tmp_path: Path) -> None:
    found = dict(histories.files(report(tmp_path, hostile()), every=True))
    assert len(found) == 2
    assert all(len(n) < 90 and n.isascii() and "/" not in n and "\\" not in n for n in found)


def test_pngs_are_written_where_they_are_wanted(tmp_path: Path, run: Run) -> None:
    results = write(tmp_path / "results", nights("pppr"))
    done = run(*trend(results, tmp_path / "out", "--png", str(tmp_path / "figures")))
    assert done.code == 1
    assert [f.name for f in (tmp_path / "figures").iterdir()] == ["n017_0000_1b_00.0_read.png"]
    assert f"figures: 1 in {tmp_path / 'figures'}" in done.stderr
    wrong = run(*trend(results, tmp_path / "out", "--png-all"))
    assert wrong.code == 2
    assert "--png-all: there is no folder for them; add --png DIR" in wrong.stderr


def test_fields_that_went_the_same_way_stand_together() -> None:
    there_and_back = ["570.1 → 580.2", "580.2 → 570.1"]
    steps = {"GSP firmware": there_and_back, "ECC": ["off → on"], "driver": there_and_back}
    assert build._ways(steps) == ("driver, GSP firmware 570.1 → 580.2, 580.2 → 570.1; ECC off → on")
