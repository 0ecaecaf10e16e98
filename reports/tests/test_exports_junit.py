# SPDX-License-Identifier: Apache-2.0
"""JUnit: as strict parsers and a schema read it, and what every status becomes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from bandgate_reports.exports import junit

from made import H200, READ, Document, Probe, result
from made_exports import HOSTILE, HOURS, NIGHT, hostile, loaded, statuses

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent / "junit.xsd"))


def tree(documents: list[Document], folder: Path, since: datetime | None = None) -> Any:
    root = etree.fromstring(junit.render(junit.cases(loaded(folder, documents), since)))
    SCHEMA.assertValid(root)
    return root


def outcomes(root: Any) -> dict[str, str]:
    """Of each case: "failure regression", "error device-lost", "skipped stale", "passed"."""
    found = {}
    for case in root.iter("testcase"):
        last = case[-1]
        passed = last.tag == "system-out"
        found[case.get("name")] = "passed" if passed else f"{last.tag} {last.get('type')}"
    return found


def properties(case: Any) -> dict[str, str]:
    return {p.get("name"): p.get("value") for p in case.iter("property")}


def test_as_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, approved: Callable[[str, str], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = junit.cases(loaded(Path("results"), statuses()))
    data = junit.render(found)
    SCHEMA.assertValid(etree.fromstring(data))
    approved("junit.xml", data.decode())


def test_only_what_was_judged_well_passes(tmp_path: Path) -> None:
    buffer = " buffer=4GiB"
    root = tree(statuses(), tmp_path)
    by_class = {
        (c.get("classname").split(".")[2][:12], c.get("name").removesuffix(buffer)): c
        for c in root.iter("testcase")
    }
    found = {k: c[-1].get("type", "passed") + " " + c[-1].tag for k, c in by_class.items()}
    assert found == {
        ("GPU-5f0c9d52", "copy"): "passed system-out",
        ("GPU-5f0c9d52", "launch"): "passed system-out",
        ("GPU-5f0c9d52", "read"): "regression failure",
        ("GPU-gone", "read"): "stale skipped",
        ("GPU-9a3e1b40", "read"): "device-lost error",
        ("GPU-9a3e1b40", "write"): "inconclusive error",
        ("GPU-c7d81f66", "gather"): "measured skipped",
        ("GPU-c7d81f66", "p2p_read"): "skipped skipped",
        ("GPU-c7d81f66", "read"): "passed system-out",
        ("GPU-c7d81f66", "write"): "no-baseline skipped",
    }
    totals = {k: root.get(k) for k in ("tests", "failures", "errors", "skipped", "time")}
    assert totals == {
        "tests": "10", "failures": "1", "errors": "2", "skipped": "4", "time": "20.900",
    }  # fmt: skip
    for name in ("tests", "failures", "errors", "skipped"):
        assert sum(int(s.get(name)) for s in root) == int(root.get(name))
    low = by_class[("GPU-5f0c9d52", "read")]
    assert low.get("time") == "3.800"  # both attempts
    assert low[-1].get("message") == (
        "4180.0 GiB/s, −2.84 % against 4302.0 GiB/s (bounds 4259.0 … 4345.0). "
        "Power cap active for 92 % of the timed region. "
        "Next: nvidia-smi -i 0000:1b:00.0 -pl 700."
    )
    known = properties(low)
    assert known["value"] == repr(4180.0 * 2**30)
    assert (known["uuid"], known["driver"]) == (H200.uuid, H200.driver)
    assert known["baseline_file"] == "built-in:nvidia-h200.json"
    assert float(known["ratio"]) == 4180.0 / 4302.0
    late = by_class[("GPU-5f0c9d52", "launch")]
    assert "4.6000 us, +2.22 % slower against 4.5000 us (at most 4.7250)" in late[-1].text


def test_names_cannot_become_markup(tmp_path: Path) -> None:
    root = tree(hostile(), tmp_path)
    assert root.get("tests") == "4"  # names that look equal are told apart
    assert {c[-1].tag for c in root.iter("testcase")} == {
        "failure", "error", "skipped", "system-out",
    }  # fmt: skip
    name = root[0].get("name")
    assert name == "=\"'><b>]]>\\|`␊␛[31m␀\\x85\ufffd\ufffd{{x}}\U0001f525,;\\u202e"


@pytest.mark.parametrize("text", [HOSTILE, "]]>", "a\nb", "\x1b", "\ud800", "\ufffe", "🔥", "İı"])
def test_every_text_is_xml(text: str) -> None:
    case = junit.own_error(text, text, text, (text, text))
    root = etree.fromstring(junit.render([case]))
    SCHEMA.assertValid(root)
    assert root[0][0].get("name") == junit._xml(text)


def test_names_do_not_depend_on_other_results_or_the_night(tmp_path: Path) -> None:
    def names(folder: str, *documents: Document) -> set[tuple[str, str]]:
        root = tree(list(documents), tmp_path / folder)
        return {(c.get("classname"), c.get("name")) for c in root.iter("testcase")}

    alone = names("a", result())
    assert alone == {(f"bandgate.n017.{H200.uuid}", "read buffer=4GiB")}
    other = replace(READ, parameters={"buffer": 1 << 30})
    assert alone < names("b", result(), result(probe=other))
    newer = replace(H200, driver="590.1", name="NVIDIA H200 141GB")
    assert alone == names("c", result(newer, READ, NIGHT + 24 * HOURS, 4000, "regression"))
    # A GPU that is lost before its UUID and its name could be read.
    lost = replace(H200, uuid="", name="")
    gone = result(lost, READ, NIGHT, None, "error", failure=("device-lost", "GPU lost."))
    assert alone == names("d", result(at=NIGHT - HOURS), gone)


def test_dots_of_an_address_are_no_package(tmp_path: Path) -> None:
    bare = replace(H200, uuid="", node="n017.example.org")
    case = next(tree([result(bare)], tmp_path).iter("testcase"))
    assert case.get("classname") == "bandgate.n017.example.org.0000:1b:00_0"


def test_since_takes_what_was_tested_then(tmp_path: Path) -> None:
    copy, write = Probe("copy", 3997), Probe("write", 4376)
    documents = [
        result(probe=READ, at=NIGHT),
        result(probe=copy, at=NIGHT - 24 * HOURS, value=3900, status="regression"),
        result(probe=copy, at=NIGHT, value=3900, status="no-baseline", judged=False),
        result(probe=write, at=NIGHT - 24 * HOURS, value=4000, status="regression"),
    ]
    found = outcomes(tree(documents, tmp_path / "a", NIGHT))
    # A run without a baseline does not hide the regression before it; what was not tested is out.
    assert found == {"read buffer=4GiB": "passed", "copy buffer=4GiB": "failure regression"}
    assert junit.cases(loaded(tmp_path / "b", documents), NIGHT + timedelta(seconds=1)) == []


def test_a_failure_at_an_impossible_time_is_an_error(tmp_path: Path) -> None:
    future = result(at=datetime(2099, 1, 1, tzinfo=UTC), status="regression", value=4000)
    found = outcomes(tree([future, result(at=NIGHT)], tmp_path))
    assert found == {"read buffer=4GiB": "passed", "time stamps": "error impossible-time"}
