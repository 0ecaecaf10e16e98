# SPDX-License-Identifier: Apache-2.0
"""The trend report with the probes that are more than one number."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from bandgate_reports.trend import html, markdown
from test_render import outline, report, without_assets

from conftest import NOW
from made import H200, READ, Document, Probe, result
from made_sweeps import block_sweep, measured, memory_map, node, peer_copies, span_sweep, sustained


def section(page: str, heading: str) -> str:
    """From a heading to the next one."""
    return re.split(r"(?=<h2)", page.split(f"<h2>{heading}</h2>")[1])[0]


def test_sections_of_the_page(tmp_path: Path, approved: Callable[[str, str], None]) -> None:
    made = report(tmp_path, [*peer_copies(3), memory_map(6, slow=(2, 3)), sustained(4)])
    page = without_assets(html.render(made))
    assert outline(page).risks == []
    shown = [section(page, h) for h in ("Peer copies", "Memory by address", "Under sustained load")]
    approved("sections.html", "\n".join(shown))
    text = markdown.render(made)
    approved("sections.md", text[text.index("**p2p") :])


def test_pages_without_them_have_no_such_headings(tmp_path: Path) -> None:
    page = html.render(report(tmp_path, [result()]))
    for heading in ("Peer copies", "Memory by address", "Under sustained load", "Sweeps"):
        assert f"<h2>{heading}" not in page


def test_a_sweep_is_a_line_and_not_29_histories(tmp_path: Path) -> None:
    documents = [*span_sweep("v100", processes=1), *block_sweep()[:6], result()]
    made = report(tmp_path, documents)
    assert [(s.probe, s.text) for s in made.sweeps] == [
        ("gather", "29 sets of parameters, newest 2026-11-28"),
        ("scatter", "29 sets of parameters, newest 2026-11-28"),
    ]
    # Six sets are no sweep yet, and count as what they are.
    assert (made.summary.total, made.results) == (7, 65)
    assert "bandgate-report curves" in section(html.render(made), "Sweeps")


def test_what_is_judged_is_no_sweep(tmp_path: Path) -> None:
    documents = span_sweep("v100", processes=1, powers=range(10))
    for document in documents:
        document["verdict"]["status"] = "pass"
    made = report(tmp_path, documents)
    assert (made.sweeps, made.summary.total) == ((), 20)
    assert made.rows[0].parameters.startswith("span=")
    assert any(row.parameters == "span=512" for row in made.rows)


def test_pairs_are_in_their_matrix_and_named_by_address(tmp_path: Path) -> None:
    made = report(tmp_path, peer_copies(8))
    assert (len(made.matrices), made.rows, made.sweeps) == (1, (), ())
    few = report(tmp_path / "few", peer_copies(2))
    assert [row.parameters for row in few.rows] == ["peer=0000:2c:00.0", "peer=0000:1b:00.0"]


def test_a_page_of_many_nodes_stays_small(tmp_path: Path) -> None:
    documents = [d for n in range(12) for d in peer_copies(8, name=f"n{n:03}")]
    documents += [memory_map(139, gpu=gpu) for n in range(12) for gpu in node(4, f"n{n:03}")]
    made = report(tmp_path, documents)
    page = html.render(made)
    assert len(page.encode()) < 1_500_000
    assert (len(made.matrices), len(made.strips), made.strips_left_out) == (12, 40, 8)
    assert "8 more series, none with a worse verdict, are left out" in page


def launch(ratio: float, status: str = "pass", days: int = 1) -> Document:
    document = result(
        H200,
        Probe("launch", 4.5e-6, parameters={}),
        NOW - timedelta(days=days),
        4.5e-6 * ratio,
        status,
    )
    document["probe"] |= {"lower_is_better": True, "ceiling": "none"}
    document["measurement"]["unit"] = "s"
    (baseline,) = document["verdict"]["baselines"]
    for scaled in (document["measurement"], baseline):
        for key in ("median", "peak", "p05", "p95", "reference", "upper"):
            if key in scaled:
                scaled[key] /= 2.0**30
    baseline["lower"] = None
    return document


def test_less_is_better_where_it_is(tmp_path: Path) -> None:
    made = report(tmp_path, [launch(1.0, days=3), launch(0.99, days=2), launch(1.2, "regression")])
    (row,) = made.rows
    assert (row.value, row.unit, row.bounds) == ("5.4000", "us", "≤ 4.5450")
    assert (row.change, row.change_word) == ("+20.00 %", "slower")
    (history,) = made.histories
    assert history is not None
    assert (history.lower_is_better, history.units.label) == (True, "us")
    assert "+20.00 % slower" in markdown.render(made)
    faster = report(tmp_path / "faster", [launch(0.9)])
    assert faster.rows[0].change_word == "faster"
    even = report(tmp_path / "even", [launch(1.0)])
    assert even.rows[0].change_word == ""


def test_a_value_judged_by_its_slowest_part_is_shown_as_such(tmp_path: Path) -> None:
    document = sustained()
    worst = document["measurement"]["worst"]
    document["verdict"]["baselines"] = [
        {
            "file": "built-in:nvidia-h200.json", "entry": "/entries/9", "kind": "measured",
            "statistic": "worst", "generic": False, "card": False, "reference": 4300 * 2.0**30,
            "lower": 4257 * 2.0**30, "upper": None, "ratio": worst / (4300 * 2.0**30),
        }
    ]  # fmt: skip
    document["verdict"]["status"] = "regression"
    made = report(tmp_path, [document])
    (row,) = made.rows
    assert (row.value, row.statistic, row.change) == ("3915.6", "worst", "−8.94 %")
    (history,) = made.histories
    assert history is not None
    assert (history.statistic, history.units.text(history.value[-1])) == ("worst", "3915.6")


def test_an_old_result_judged_by_its_worst_without_one_is_no_crash(tmp_path: Path) -> None:
    document = result()
    document["verdict"]["baselines"][0]["statistic"] = "worst"
    assert report(tmp_path, [document]).rows[0].value == ""


def test_notes_on_a_pass_are_quiet(tmp_path: Path) -> None:
    why = [("power-cap-normal", "The power cap was active, as is normal for this card.")]
    document = result(reasons=why)
    document["notes"] = ["buffer cut to 80 % of free memory"]
    made = report(tmp_path, [document])
    (row,) = made.rows
    assert (row.cause, row.notes) == ((), (why[0][1], document["notes"][0]))
    assert f'<p class="next">{why[0][1]}</p>' in html.render(made)
    assert f"Note: {why[0][1]}" in markdown.render(made)
    bad = report(tmp_path / "bad", [result(value=4000, status="regression", reasons=why)])
    assert bad.rows[0].cause == (why[0][1],)


def test_a_strict_run_without_a_baseline_keeps_the_headline(tmp_path: Path) -> None:
    slow = result(value=4000, status="regression", at=NOW - timedelta(hours=2))
    strict = result(at=NOW - timedelta(hours=1), status="no-baseline", judged=False)
    other = result(probe=Probe("write", 4376), status="no-baseline", judged=False)
    text = markdown.render(report(tmp_path, [slow, strict, other]))
    assert text.startswith("## Bandgate: 1 regression\n")


def test_wrong_memory_is_said_on_every_output(tmp_path: Path) -> None:
    why = ("wrong-result", "1 slice is not what was written: slice 4 of 139")
    bad = result(probe=Probe("read_map", 4262), value=None, status="error", failure=why)
    made = report(tmp_path, [bad, result(H200, READ)])
    assert why[1] in section(html.render(made), "Memory by address")
    assert f"❌ wrong data: NVIDIA H200, n017 0000:1b:00.0: {why[1]}" in markdown.render(made)


def test_sizes_and_measured_values_of_a_transfer(tmp_path: Path) -> None:
    documents = []
    for i, size in enumerate((1 << 20, 256 << 20)):
        probe = Probe("h2d", 51, parameters={"size": size})
        documents.append(measured(H200, probe, 51.0 + i, NOW - timedelta(days=1)))
    made = report(tmp_path, documents)
    assert {row.parameters for row in made.rows} == {"size=1MiB", "size=256MiB"}
