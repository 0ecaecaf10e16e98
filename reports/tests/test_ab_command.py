# SPDX-License-Identifier: Apache-2.0
"""bandgate-report ab: from result files to verdicts, words, page and exit code."""

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bandgate_reports.commands import cli
from bandgate_reports.commands.common import ReportError
from test_render import outline

from made import GIB, H200, Document, Gpu, Probe, result, write

OTHER = Gpu("NVIDIA H200", "n018", "0000:3d:00.0", "GPU-9a3e1b40-22c8-4f0f-8b7e-5d1c2f6a7b02")
READ = Probe("read", 362.198)
NEW = "590.48.01"


def side(
    values: list[float],
    gpu: Gpu = H200,
    probe: Probe = READ,
    *,
    day: int = 1,
    boot: str = "",
    **run: Any,
) -> list[Document]:
    """A process for each value, one after the other."""
    made = []
    for i, value in enumerate(values):
        at = datetime(2026, 11, day, 2, tzinfo=UTC) + timedelta(minutes=i)
        document = result(gpu, probe, at, value, seed=i)
        document["run"]["boot_id"] = boot
        document["run"].update(run)
        made.append(document)
    return made


def noisy(mean: float, n: int = 10, sd: float = 0.01, seed: int = 1) -> list[float]:
    """Exactly this mean and spread of the logarithms, so that no test is a game of chance."""
    chance = random.Random(seed)  # noqa: S311
    drawn = [chance.gauss(0, 1) for _ in range(n)]
    middle = sum(drawn) / n
    spread = math.sqrt(sum((d - middle) ** 2 for d in drawn) / (n - 1))
    return [mean * math.exp(sd * (d - middle) / spread) for d in drawn]


@pytest.fixture
def compare(tmp_path: Path) -> Callable[..., Result]:
    def run(before: list[Document], after: list[Document], *options: str) -> Result:
        folders = [write(tmp_path / name, d) for name, d in (("B", before), ("A", after))]
        for folder in folders:
            folder.mkdir(exist_ok=True)
        arguments = ["ab", *map(str, folders), "--now", "2026-11-29T06:00:00Z", *options]
        return CliRunner().invoke(cli.app, arguments)

    return run


def data(done: Result) -> dict[str, Any]:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    document: dict[str, Any] = json.loads(done.stdout, parse_constant=refuse)
    return document


def test_one_run_each_cannot_tell(compare: Callable[..., Result]) -> None:
    done = compare(side([362.198]), side([327.981], day=2))
    assert done.exit_code == 4
    assert "−9.45 %" in done.stdout
    assert "cannot tell from n=1" in done.stdout
    assert "FAIL:" not in done.stdout.splitlines()[0]


def test_ten_runs_each_fail(compare: Callable[..., Result]) -> None:
    done = compare(side(noisy(362.198)), side(noisy(327.981, seed=2), day=2), "--format", "json")
    assert done.exit_code == 1
    (found,) = data(done)["comparisons"]
    assert found["verdict"] == "FAIL"
    assert found["ratio"] == pytest.approx(327.981 / 362.198)
    assert found["interval"] == pytest.approx([0.89852, 0.91259], abs=1e-4)
    assert found["cliffs_delta"] == -1


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (replace(READ, parameters={"buffer": 2 << 30}), "parameters of read (buffer=4GiB before, "),
        (replace(READ, version=2), "probe version of read (1 before, 2 after)"),
    ],
)
def test_other_probes_are_refused(compare: Callable[..., Result], other: Probe, named: str) -> None:
    done = compare(side(noisy(362.0)), side(noisy(362.0), probe=other, day=2))
    assert isinstance(done.exception, ReportError)
    assert named in str(done.exception)


@pytest.mark.parametrize("uuid", [H200.uuid, OTHER.uuid])
def test_other_models_are_refused(compare: Callable[..., Result], uuid: str) -> None:
    a100 = replace(H200, name="NVIDIA A100-SXM4-80GB", uuid=uuid)
    done = compare(side(noisy(362.0)), side(noisy(362.0), gpu=a100, day=2))
    assert "GPU model (NVIDIA H200 before, NVIDIA A100-SXM4-80GB after)" in str(done.exception)


def test_a_model_by_another_name_is_the_same(compare: Callable[..., Result]) -> None:
    renamed = replace(H200, name="H200")
    done = compare(side(noisy(362.0)), side(noisy(362.0, seed=3), gpu=renamed, day=2))
    assert done.exit_code == 0, done.stdout


def test_one_result_on_both_sides_is_refused(compare: Callable[..., Result]) -> None:
    both = side(noisy(362.0))
    done = compare(both, [*both[:1], *side(noisy(362.0), day=2)])
    assert "1 result of BEFORE" in str(done.exception)


def test_more_parameters_on_one_side_are_named(compare: Callable[..., Result]) -> None:
    small = replace(READ, parameters={"buffer": 2 << 30})
    before = side(noisy(362.0)) + side(noisy(362.0), probe=small, day=3)
    done = compare(before, side(noisy(362.0, seed=3), day=2), "--format", "json")
    found = data(done)
    assert [c["verdict"] for c in found["comparisons"]] == ["PASS"]
    assert found["not_compared"][0]["side"] == "before"
    assert done.exit_code == 4  # it is not there after: nobody knows what became of it


def test_probes_are_told_apart_by_what_differs(compare: Callable[..., Result]) -> None:
    spans = [replace(READ, parameters={"span": n, "mode": "all"}) for n in (1024, 1 << 24)]
    before = [d for p in spans for d in side(noisy(362.0), probe=p)]
    after = [d for p in spans for d in side(noisy(340.0), probe=p, day=2)]
    done = compare(before, after)
    assert "lost more than 1 %: read span=1024, read span=2^24" in done.stdout


def latency(value: float, day: int) -> list[Document]:
    documents = side(noisy(value, sd=0.001), probe=Probe("launch", 1.0), day=day)
    for document in documents:
        document["probe"]["lower_is_better"] = True
        document["measurement"]["unit"] = "s"
        for statistic in ("median", "peak"):
            document["measurement"][statistic] *= 1e-6 / GIB
    return documents


@pytest.mark.parametrize(
    ("after", "code", "words"), [(1.05, 1, "+5.00 % slower"), (0.95, 0, "−5.00 % faster")]
)
def test_a_longer_time_is_a_loss(
    compare: Callable[..., Result], after: float, code: int, words: str
) -> None:
    sides = (latency(1.0, 1), latency(after, 2))
    done = compare(*sides)
    assert (done.exit_code, words in done.stdout) == (code, True), done.stdout
    found = data(compare(*sides, "--format", "json"))["comparisons"][0]
    assert found["ratio"] == pytest.approx(after)
    assert found["speed_ratio"] == pytest.approx(1 / after)
    assert found["interval"][0] < found["ratio"] < found["interval"][1]
    assert found["hodges_lehmann"] == pytest.approx(after)
    assert found["cliffs_delta"] == (1 if after < 1 else -1)


def test_cards_are_compared_with_themselves(compare: Callable[..., Result]) -> None:
    """A slow card that is there more often after is no loss."""
    before = side(noisy(362.0)) + side(noisy(340.0, 5), OTHER, day=3)
    after = side(noisy(362.0, 5, seed=4), day=2) + side(noisy(340.0, seed=5), OTHER, day=4)
    done = compare(before, after, "--format", "json")
    (found,) = data(done)["comparisons"]
    assert (found["verdict"], found["cards"]) == ("PASS", 2)
    assert found["ratio"] == pytest.approx(1)


def test_cards_of_one_side_are_named_and_left_out(compare: Callable[..., Result]) -> None:
    before = side(noisy(362.0)) + side(noisy(300.0), OTHER)
    done = compare(before, side(noisy(362.0, seed=2), day=2))
    assert done.exit_code == 0, done.stdout
    assert "only BEFORE has this card: n018 0000:3d:00.0 (NVIDIA H200)" in done.stdout


def test_no_card_on_both_sides_cannot_tell(compare: Callable[..., Result]) -> None:
    done = compare(side(noisy(362.0)), side(noisy(362.0), OTHER, day=2))
    assert done.exit_code == 4
    assert "nothing was measured on one card in both sides" in done.stdout


def test_a_card_that_the_mean_hides_fails(compare: Callable[..., Result]) -> None:
    cards = [replace(OTHER, uuid=f"GPU-{i}", pci=f"0000:{i:02x}:00.0") for i in range(8)]
    before = [d for c in cards for d in side(noisy(362.0, sd=0.004), c)]
    after = [d for c in cards[1:] for d in side(noisy(362.0, sd=0.004), c, day=2)]
    after += side(noisy(362.0 * 0.95, sd=0.004), cards[0], day=2)
    done = compare(before, after, "--format", "json")
    (found,) = data(done)["comparisons"]
    assert found["ratio"] == pytest.approx(0.95 ** (1 / 8))
    assert found["interval"][0] > 0.99
    assert (done.exit_code, found["verdict"]) == (1, "FAIL")
    assert found["worst_card"] == "n018 0000:00:00.0"
    assert "which the mean of 8 cards hides" in found["why"]


def test_the_first_process_of_an_invocation_counts(compare: Callable[..., Result]) -> None:
    """The second is there because the first was slow: `final` would hide that, both would count it
    twice."""
    after = side(noisy(362.0, 7), day=2)
    after[0]["measurement"]["median"] = 300.0 * GIB
    after[1]["run"].update(attempt=2, group_id=after[0]["run"]["group_id"])
    after[1]["measurement"]["median"] = 400.0 * GIB
    found = data(compare(side(noisy(362.0, 6)), after, "--format", "json"))["comparisons"][0]
    assert found["processes"] == {"before": 6, "after": 6}
    assert found["ratio"] < 0.98


def test_both_sides_use_one_statistic(compare: Callable[..., Result]) -> None:
    """Judged by the peak before; without a baseline, so by the median, after."""
    before, after = side(noisy(362.0)), side(noisy(362.0), day=2)
    for document in before:
        document["verdict"]["baselines"][0]["statistic"] = "peak"
    for document in after:
        document["verdict"].update(baselines=[], status="no-baseline")
    for document in before + after:
        document["measurement"]["peak"] = document["measurement"]["median"] * 1.1
    (found,) = data(compare(before, after, "--format", "json"))["comparisons"]
    assert (found["statistic"], found["verdict"]) == ("peak", "PASS")
    assert found["before"] == pytest.approx(362.0 * 1.1 * GIB)
    assert found["ratio"] == pytest.approx(1)


def test_processes_that_shared_the_device_are_left_out(compare: Callable[..., Result]) -> None:
    after = side([*noisy(362.0), 200.0], day=2)
    after[-1]["verdict"].update(
        status="inconclusive", reasons=[{"code": "contended", "sentence": "train"}]
    )
    done = compare(side(noisy(362.0, seed=2)), after)
    assert done.exit_code == 0, done.stdout
    assert "AFTER: 1 process shared the device with another process, left out: read." in done.stdout


def test_processes_that_fail_after_do_not_pass(compare: Callable[..., Result]) -> None:
    after = side(noisy(362.0), day=2)
    failed = side([362.0], day=3)[0]
    failed["measurement"] = None
    failed["failure"] = {"code": "wrong-result", "message": "not what was written"}
    failed["verdict"].update(status="error", baselines=[])
    done = compare(side(noisy(362.0, seed=2)), [*after, failed])
    assert done.exit_code == 4
    assert "1 process AFTER failed" in done.stdout


def test_a_measured_zero_is_no_value(compare: Callable[..., Result]) -> None:
    zeros = side(noisy(362.0))
    for document in zeros:
        document["measurement"]["median"] = 0.0
    done = compare(zeros, side(noisy(362.0), day=2))
    assert "none of 10 files is a result" in str(done.exception)


@pytest.mark.parametrize("n", [(0, 0), (1, 0), (1, 1), (2, 2), (1, 10), (4, 10)])
def test_too_few_results_are_no_verdict(compare: Callable[..., Result], n: tuple[int, int]) -> None:
    done = compare(side([362.0] * n[0]), side([100.0] * n[1], day=2), "--format", "json")
    assert done.exit_code == 4
    assert data(done)["headline"].startswith("cannot tell")


def test_equal_values_need_no_spread(compare: Callable[..., Result]) -> None:
    for after, code in ((361.638, 0), (350.0, 1)):
        done = compare(side([362.0] * 5), side([after] * 5, day=2), "--format", "json")
        assert done.exit_code == code
        data(done)


def test_environment_and_confounders(compare: Callable[..., Result]) -> None:
    new = replace(H200, driver="590.48.01", ecc=False)
    before = side(noisy(362.0), boot="a", tool_build="1111", kernel="6.1.0-28")
    after = side(noisy(362.0, seed=2), new, day=2, boot="b", tool_build="2222", kernel="6.1.0-31")
    done = compare(before, after, "--format", "json")
    found = data(done)
    kinds = {c["field"]: c["kind"] for c in found["environment"]}
    assert kinds == {
        "driver": "driver",
        "kernel": "system",
        "ECC": "confounder",
        "tool build": "confounder",
    }
    assert found["confounded_with_time"] is True
    text = compare(before, after).stdout.replace("\n", " ")
    assert "Changed: driver 580.95.05 → 590.48.01, kernel 6.1.0-28 → 6.1.0-31." in text
    assert "Confounded: ECC on → off, tool build 1111 → 2222." in text
    assert "Driver and kernel changed together" in text
    assert "BEFORE and AFTER are of a single boot" in text


def test_second_boots_and_turns_are_not_confounded(compare: Callable[..., Result]) -> None:
    values = noisy(362.0)
    before = side(values[:5], boot="a") + side(values[5:], boot="b", day=3)
    after = side(values[:5], boot="c", day=5) + side(values[5:], boot="d", day=7)
    assert data(compare(before, after, "--format", "json"))["confounded_with_time"] is False


def test_interleaved_in_one_boot_is_not_confounded(compare: Callable[..., Result]) -> None:
    turns = side(noisy(362.0, 12), boot="a")
    before = [d for i, d in enumerate(turns) if i % 4 in (0, 3)]
    after = [d for i, d in enumerate(turns) if i % 4 in (1, 2)]
    assert data(compare(before, after, "--format", "json"))["confounded_with_time"] is False


def test_one_side_after_the_other_in_one_boot_is_confounded(
    compare: Callable[..., Result],
) -> None:
    turns = side(noisy(362.0, 12), boot="a")
    found = data(compare(turns[:6], turns[6:], "--format", "json"))
    assert found["boots"] == {"before": 1, "after": 1}
    assert found["confounded_with_time"] is True


def test_sides_in_the_wrong_order_are_named(compare: Callable[..., Result]) -> None:
    done = compare(side(noisy(362.0), day=2), side(noisy(362.0, seed=2), day=1))
    assert "AFTER was measured before BEFORE" in done.stdout


@pytest.mark.parametrize("margin", ["2%", "2"])
def test_margin(compare: Callable[..., Result], margin: str) -> None:
    sides = (side(noisy(362.0, sd=0.001)), side(noisy(362.0 * 0.985, sd=0.001), day=2))
    assert compare(*sides, "--margin", margin).exit_code == 0


@pytest.mark.parametrize("margin", ["0", "-1", "0.01", "105", "NaN", "two", "inf", ""])
def test_margins_that_are_none(compare: Callable[..., Result], margin: str) -> None:
    done = compare(side([1.0]), side([1.0], day=2), "--margin", margin)
    assert "for one percent write 1" in str(done.exception)


def test_files_and_filters(tmp_path: Path) -> None:
    files = [tmp_path / "b.json", tmp_path / "a.json"]
    for file, document in zip(files, side([362.0, 363.0]), strict=True):
        file.write_text(json.dumps(document), encoding="utf-8")
    done = CliRunner().invoke(cli.app, ["ab", *map(str, files), "--probe", "read"])
    assert (done.exit_code, "from n=1" in done.stdout) == (4, True)
    done = CliRunner().invoke(cli.app, ["ab", *map(str, files), "--model", "NVIDIA H100"])
    assert (done.exit_code, "BEFORE and AFTER hold no results" in done.stdout) == (4, True)


def test_what_is_no_result_is_named(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.json").write_text("{")
    done = CliRunner().invoke(cli.app, ["ab", str(tmp_path / "b"), str(tmp_path / "a")])
    assert "none of 1 file is a result" in str(done.exception)
    done = CliRunner().invoke(cli.app, ["ab", str(tmp_path / "b"), str(tmp_path / "missing")])
    assert "there is no such file or folder" in str(done.exception)


def test_page_and_markdown(
    compare: Callable[..., Result], tmp_path: Path, approved: Callable[[str, str], None]
) -> None:
    hostile = replace(OTHER, name='"<b>\x1b|&\\', node="<i>n|18</i>")
    before = side(noisy(362.0, sd=0.004), boot="a") + side(noisy(362.0), hostile, boot="a")
    after = side(noisy(352.0, sd=0.004), replace(H200, driver=NEW), day=2, boot="b")
    after += side(noisy(361.0, 7, seed=2), replace(hostile, driver=NEW), day=2, boot="b")
    page, markdown = tmp_path / "out/ab.html", tmp_path / "ab.md"
    done = compare(before, after, "--page", str(page), "--markdown", str(markdown))
    assert done.exit_code == 1
    approved("ab.txt", done.stdout)
    approved("ab.md", markdown.read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    assert outline(text).risks == []
    assert "http" not in text.split("</style>")[1]
    body = text[text.index("<body") :]
    approved("ab.html", body)
    assert not [p for p in (tmp_path / "out").iterdir() if p != page]


def test_a_page_that_cannot_be_written(compare: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = compare(side([1.0]), side([1.0], day=2), "--page", str(tmp_path / "file/ab.html"))
    assert "cannot be written" in str(done.exception)
