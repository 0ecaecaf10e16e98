# SPDX-License-Identifier: Apache-2.0
"""bandgate-report changes: from result files to what people and schedulers read."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from bandgate_reports.commands.cli import app

from made import FLEET, H200, READ, Document, Gpu, Probe, result, write

NOW = "2026-11-29T06:00:00Z"
NEWEST = datetime(2026, 11, 29, 2, 10, tzinfo=UTC)
WRITE = Probe("write", 4376.0)
LAUNCH = Probe("launch", 4.5e-6)


def run(folder: Path, *words: str) -> tuple[int, str]:
    arguments = ["changes", str(folder), "--now", NOW, *words]
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout


def data(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    def refused(name: str) -> None:
        raise AssertionError(name)

    code, text = run(folder, "--format", "json", *words)
    return code, dict(json.loads(text, parse_constant=refused))


def history(
    nights: int,
    factor: Callable[[int], float] = lambda _: 1.0,
    probe: Probe = READ,
    gpu: Callable[[int], Gpu] = lambda _: H200,
) -> Iterable[Document]:
    """`back`: nights before the newest one. A scatter of 0.1 %."""
    for back in range(nights):
        value = probe.reference * (1 + 0.0005 * ((7 * back) % 5 - 2)) * factor(back)
        at = NEWEST - timedelta(days=back)
        document = result(gpu(back), probe, at, value)
        if probe is LAUNCH:
            document["probe"] |= {"lower_is_better": True, "ceiling": "none"}
            document["measurement"] |= {"unit": "s", "median": value}
            document["verdict"]["baselines"] = []
        yield document


def since(nights: int, factor: float) -> Callable[[int], float]:
    return lambda back: factor if back < nights else 1.0


def driver(nights: int) -> Callable[[int], Gpu]:
    return lambda back: replace(H200, driver="580.159.04") if back < nights else H200


def test_too_few_results(tmp_path: Path) -> None:
    for number, said in ((0, "n=0"), (1, "n=1"), (3, "n=3")):
        folder = tmp_path / str(number)
        folder.mkdir()
        code, text = run(write(folder, history(number, since(1, 0.5))))
        assert (code, text.splitlines()[0]) == (0, f"Changes: not enough data ({said}, need 10)")
        code, found = data(folder)
        assert (code, found["headline"]) == (0, f"not enough data ({said}, need 10)")
        assert [r["nights"] for r in found["not_enough_data"]] == ([number] if number else [])


def test_a_loss_with_the_driver_that_came_with_it(tmp_path: Path) -> None:
    code, found = data(write(tmp_path, history(40, since(9, 0.97), gpu=driver(9))))
    assert code == 1
    (change,) = found["changes"]
    assert (change["night"], change["announced"]) == ("2026-11-21", "2026-11-25")
    assert (round(change["step"], 3), change["worse"], change["in_force"]) == (-0.03, True, True)
    assert change["together_with"] == [
        {"field": "driver", "before": "580.95.05", "after": "580.159.04"}
    ]
    assert (change["event"], found["events"], found["bad_nights"]) == (None, [], [])


def test_what_came_a_night_earlier_or_later_is_not_together(tmp_path: Path) -> None:
    for nights in (8, 10):
        documents = history(40, since(9, 0.97), gpu=driver(nights))
        _, found = data(write(tmp_path / str(nights), documents))
        (change,) = found["changes"]
        assert change["together_with"] == []


def test_what_ends_with_exit_code_1(tmp_path: Path) -> None:
    def recovered(back: int) -> float:
        return 0.95 if 8 <= back < 18 else 1.0

    cases = {
        "new": (since(5, 0.97), 1),
        "no longer new": (since(30, 0.97), 0),
        "made good": (recovered, 0),
        "better": (since(9, 1.03), 0),
        "pending": (since(4, 0.97), 0),
    }
    for name, (factor, expected) in cases.items():
        folder = write(tmp_path / name, history(50, factor))
        assert (name, run(folder)[0]) == (name, expected)
    assert run(tmp_path / "no longer new", "--days", "60")[0] == 1
    assert run(tmp_path / "new", "--days", "0")[0] == 0


def test_what_eight_cards_in_turn_lose_is_a_loss_of_their_model(tmp_path: Path) -> None:
    def in_turn(back: int) -> Gpu:
        number = back % 8
        driver_ = "590.44.01" if back < 12 else H200.driver
        return replace(H200, uuid=f"GPU-{number}", pci=f"0000:{number:02x}:00.0", driver=driver_)

    folder = write(tmp_path, history(64, since(12, 0.98), gpu=in_turn))
    code, found = data(folder)
    assert (code, found["series_searched"], found["changes"]) == (1, 0, [])
    (one,) = found["model_changes"]
    assert (one["model"], one["probe"], one["night"]) == ("NVIDIA H200", "read", "2026-11-18")
    assert (one["cards"], one["cards_measured"], one["in_force"]) == (5, 5, True)
    assert round(one["step"], 3) == -0.02
    assert {"field": "driver", "before": H200.driver, "after": "590.44.01"} in one["together_with"]
    assert "NVIDIA H200 as a whole: read −2.0" in found["headline"]
    assert data(folder, "--level", "model")[1]["model_changes"][0]["night"] == "2026-11-18"
    code, found = data(folder, "--level", "card")
    assert (code, found["model_changes"]) == (0, [])


def test_a_loss_of_a_card_that_was_replaced_is_over(tmp_path: Path) -> None:
    other = replace(H200, board_part="692-2G520-0280-001")
    folder = write(
        tmp_path, history(40, since(9, 0.97), gpu=lambda back: other if back < 2 else H200)
    )
    code, found = data(folder)
    assert (code, found["changes"][0]["in_force"]) == (0, False)


def test_slower_launches_are_worse(tmp_path: Path) -> None:
    folder = write(tmp_path, history(30, since(7, 1.2), LAUNCH))
    code, text = run(folder)
    assert code == 1
    assert "+20.00 % slower since 2026-11-23" in " ".join(text.split())
    faster = write(tmp_path / "faster", history(30, since(7, 0.8), LAUNCH))
    code, text = run(faster)
    assert code == 0
    assert "−20.00 % faster" in " ".join(text.split())


def test_names_from_outside(tmp_path: Path) -> None:
    hostile = replace(H200, node='n<b>"|`\n\x1b[31m', name='H"\\<&\n')
    folder = write(tmp_path, history(30, since(7, 0.9), gpu=lambda _: hostile))
    for form in ("table", "markdown"):
        code, text = run(folder, "--format", form)
        assert code == 1
        assert "\x1b" not in text
    assert "<b>" not in text
    assert data(folder)[1]["changes"][0]["node"] == hostile.node


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["changes", str(tmp_path / "none")])
    assert done.exit_code == 1  # of the runner: the error is told by main()
    assert "there is no such file or folder" in str(done.exception)


def mixed() -> Iterable[Document]:
    """A whole node, an older gain, bad nights, and nights that nobody can tell yet."""
    (_, second, a100) = FLEET
    for probe in (READ, WRITE):
        yield from history(60, since(9, 0.97), probe, gpu=driver(9))
    yield from history(60, since(30, 1.02), READ, gpu=lambda _: second)
    yield from history(
        60, lambda back: 0.9 if back in (20, 21, 40) else 1.0, WRITE, lambda _: second
    )
    small = Probe("read", 1764.0)
    yield from history(60, lambda back: 0.95 if back < 2 else 1.0, small, lambda _: a100)
    yield from history(6, probe=WRITE, gpu=lambda _: a100)


def test_what_people_read(tmp_path: Path, approved: Callable[[str, str], None]) -> None:
    folder = write(tmp_path, mixed())
    code, text = run(folder)
    assert code == 1
    approved("changes-80.txt", text)
    approved("changes.md", run(folder, "--format", "markdown")[1])
