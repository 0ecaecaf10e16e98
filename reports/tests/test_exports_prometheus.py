# SPDX-License-Identifier: Apache-2.0
"""Metrics: as Prometheus' own parsers read them; dashboard and alerts that name nothing else."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from bandgate_reports.analysis.verdicts import STATUSES
from bandgate_reports.exports import metrics

from conftest import NOW
from made import H200, READ, Document, Gpu, Probe, result
from made_exports import HOSTILE, HOURS, NIGHT, hostile, launch, loaded, statuses

REPORTS = Path(__file__).parents[1]
DASHBOARD = REPORTS / "dashboards" / "bandgate.json"
RULES = REPORTS / "prometheus" / "bandgate.rules.yml"
PROMTOOL = shutil.which("promtool")
with_promtool = pytest.mark.skipif(
    PROMTOOL is None and not os.environ.get("BANDGATE_REQUIRE_PROMTOOL"),
    reason="no promtool (ci/setup installs it)",
)

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def text_of(documents: list[Document], folder: Path, max_age: timedelta | None = None) -> str:
    return metrics.render(metrics.families(loaded(folder, documents), 0, NOW, max_age))


def samples(text: str) -> Samples:
    """As both parsers read it, which must agree; no series may be there twice."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        assert (family.type, bool(family.documentation)) == ("gauge", True)
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    strict = openmetrics.text_string_to_metric_families(text + "# EOF\n")  # type: ignore[no-untyped-call]
    again = {
        (s.name, frozenset(s.labels.items())): float(s.value) for f in strict for s in f.samples
    }
    assert again == found
    assert len(found) == sum(not line.startswith("#") for line in text.splitlines())
    return found


def named(found: Samples, name: str, **labels: str) -> list[float]:
    wanted = frozenset(labels.items())
    return [v for (n, given), v in found.items() if n == f"bandgate_{name}" and wanted <= given]


def promtool(*arguments: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
    assert PROMTOOL
    return subprocess.run(
        [PROMTOOL, *map(str, arguments)], input=given, capture_output=True, text=True, check=False
    )


def test_as_approved(tmp_path: Path, approved: Callable[[str, str], None]) -> None:
    text = text_of(statuses(), tmp_path)
    samples(text)
    approved("bandgate.prom", text)


def test_values_are_in_base_units(tmp_path: Path) -> None:
    found = samples(text_of(statuses(), tmp_path))
    read = {"device": H200.uuid, "probe": "read"}
    assert named(found, "bandwidth_bytes_per_second", **read) == [4180.0 * 2**30]
    assert named(found, "ratio", **read) == [4180.0 / 4302.0]
    assert named(found, "last_run_timestamp_seconds", **read) == [
        datetime(2026, 11, 29, 3, 0, 3, tzinfo=UTC).timestamp()
    ]
    assert named(found, "unstable", probe="copy") == [1]
    # An error has no value: no line, and no zero.
    lost = {"node": "n018", "probe": "read"}
    assert named(found, "bandwidth_bytes_per_second", **lost) == []
    assert named(found, "ratio", **lost) == []
    assert len(named(found, "info")) == 4


def test_a_value_that_is_not_known_has_no_line(tmp_path: Path) -> None:
    # Judged by its worst part, of which nothing is known.
    document = result()
    document["verdict"]["baselines"][0]["statistic"] = "worst"
    found = samples(text_of([document], tmp_path))
    assert named(found, "bandwidth_bytes_per_second") == []
    assert named(found, "ratio") == []
    assert named(found, "status", status="pass") == [1]


def test_below_one_is_worse_also_for_times(tmp_path: Path) -> None:
    slow = samples(text_of([launch(5.0e-6, "regression", 4.0e-6)], tmp_path / "a"))
    assert named(slow, "ratio") == [pytest.approx(0.8)]
    assert named(slow, "latency_seconds") == [pytest.approx(5.0e-6)]
    assert named(slow, "bandwidth_bytes_per_second") == []
    fast = samples(text_of([launch(3.2e-6, "improved", 4.0e-6)], tmp_path / "b"))
    assert named(fast, "ratio") == [pytest.approx(1.25)]


def test_exactly_one_status_is_1(tmp_path: Path) -> None:
    found = samples(text_of(statuses(), tmp_path))
    sums: Counter[frozenset[tuple[str, str]]] = Counter()
    for (name, labels), value in found.items():
        if name == "bandgate_status":
            sums[frozenset(label for label in labels if label[0] != "status")] += int(value)
    assert set(sums.values()) == {1}
    assert len(sums) == 10
    counts = {s: sum(named(found, "status", status=s)) for s in STATUSES}
    assert counts == {
        "regression": 2, "error": 1, "inconclusive": 1, "no-baseline": 1, "improved": 1,
        "pass": 2, "measured": 1, "skipped": 1,
    }  # fmt: skip


def test_names_are_escaped_and_no_series_is_there_twice(tmp_path: Path) -> None:
    text = text_of(hostile(), tmp_path)
    found = samples(text)
    assert len(named(found, "last_run_timestamp_seconds")) == 4
    assert len(named(found, "info")) == 2
    models = {dict(labels)["model"] for name, labels in found if name == "bandgate_info"}
    shown = HOSTILE.replace("\x1b", "␛").replace("\x00", "␀").replace("\x85", "\\x85")
    assert models == {shown.replace("\ud800", "\ufffd").replace("\u202e", "\\u202e")}
    assert "\\\"'><b>]]>\\\\|`\\n␛[31m" in text
    assert "\x1b" not in text


def test_two_hosts_that_share_a_node_name_stay_apart(tmp_path: Path) -> None:
    # No UUIDs: each card is known by host and address, and the label says the node.
    hosts = enumerate(("a", "b"))
    documents = [result(Gpu("H200", h, "0000:1b:00.0", ""), seed=i) for i, h in hosts]
    for document in documents:
        document["run"]["node"] = "pool"
    found = samples(text_of(documents, tmp_path))
    assert len(named(found, "last_run_timestamp_seconds", node="pool")) == 2


def test_what_is_old_has_its_time_only(tmp_path: Path) -> None:
    documents = [
        result(at=NIGHT - 24 * HOURS * 9, value=4000, status="regression"),
        result(probe=Probe("copy", 3997), at=NIGHT),
    ]
    found = samples(text_of(documents, tmp_path / "a", timedelta(days=7)))
    assert named(found, "status", probe="read") == []
    assert named(found, "bandwidth_bytes_per_second", probe="read") == []
    stamp = (NIGHT - 24 * HOURS * 9).timestamp()
    assert named(found, "last_run_timestamp_seconds", probe="read") == [stamp]
    assert len(named(found, "status", probe="copy")) == 8
    without = samples(text_of(documents, tmp_path / "b"))
    assert named(without, "status", probe="read", status="regression") == [1]


def test_a_failure_at_an_impossible_time_is_counted(tmp_path: Path) -> None:
    future = result(at=datetime(2099, 1, 1, tzinfo=UTC), status="regression", value=4000)
    found = samples(text_of([future, result(at=NIGHT)], tmp_path / "a"))
    assert named(found, "untimed_failures") == [1]
    assert named(found, "status", status="pass") == [1]
    # Alone it is the newest there is; it has a verdict and no time.
    alone = samples(text_of([future], tmp_path / "b"))
    assert named(alone, "status", status="regression") == [1]
    assert named(alone, "last_run_timestamp_seconds") == []


def test_what_was_known_of_a_lost_device_stays(tmp_path: Path) -> None:
    lost = replace(H200, driver="", vbios="", name="")
    gone = result(lost, READ, NIGHT, None, "error", failure=("device-lost", "GPU lost."))
    found = samples(text_of([result(at=NIGHT - HOURS), gone], tmp_path))
    info = {"model": H200.name, "driver": H200.driver, "vbios": H200.vbios}
    assert named(found, "info", **info) == [1]


def test_no_result_no_line(tmp_path: Path) -> None:
    assert metrics.families(loaded(tmp_path, []), 3, NOW) == []


@with_promtool
@pytest.mark.parametrize("documents", [statuses(), hostile()], ids=["statuses", "hostile"])
def test_promtool_accepts_it(tmp_path: Path, documents: list[Document]) -> None:
    done = promtool("check", "metrics", given=text_of(documents, tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@with_promtool
def test_alerts_fire_when_they_should() -> None:
    done = promtool("test", "rules", RULES.with_suffix(".test.yml"))
    assert done.returncode == 0, done.stdout + done.stderr


# --- the dashboard --------------------------------------------------------------------------------


def dashboard() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(DASHBOARD.read_text())
    return read


def expressions() -> Iterator[str]:
    """Of panels, variables and alerts."""
    for panel in dashboard()["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    for variable in dashboard()["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]
    yield from re.findall(r"expr: (?:>-\n)?((?:.+\n)+?) +(?:labels|for):", RULES.read_text())


def labels_of(expression: str) -> Iterator[tuple[str, str]]:
    """(metric, label) of every selector and grouping."""
    for metric, selector in re.findall(r"(bandgate_[a-z_]+)(?:\{([^}]*)\})?", expression):
        yield metric, ""
        for label in re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)", selector):
            yield metric, label
        groups = re.findall(r"(?:by|ignoring|on|without) \(([^)]*)\)", expression)
        groups += re.findall(r"label_values\([^,]*(?:\{[^}]*\})?, ([a-z_]+)\)", expression)
        for label in re.findall(r"[a-z_]+", " ".join(groups)):
            yield metric, label


def test_dashboard_and_alerts_read_what_is_exported(tmp_path: Path) -> None:
    exported: dict[str, set[str]] = {}
    for name, labels in samples(text_of(statuses(), tmp_path)):
        exported.setdefault(name, set()).update(dict(labels))
    found = [pair for expression in expressions() for pair in labels_of(expression)]
    assert {metric for metric, _ in found} == set(exported)
    ignored = {("bandgate_last_run_timestamp_seconds", "status")}  # `ignoring (status)`
    unknown = {(m, label) for m, label in found if label and label not in exported[m]} - ignored
    assert unknown == set()
    for expression in expressions():
        for given in re.findall(r'status=~?"([^"]*)"', expression):
            assert set(given.split("|")) <= set(STATUSES)


def test_dashboard_can_be_imported_anywhere() -> None:
    board = dashboard()
    assert board["schemaVersion"] == 39
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    sources = [p["datasource"]["uid"] for p in board["panels"]]
    sources += [t["datasource"]["uid"] for p in board["panels"] for t in p["targets"]]
    assert set(sources) == {"${datasource}"}
    variables = {v["name"]: v for v in board["templating"]["list"]}
    assert list(variables) == ["datasource", "model", "node", "probe"]
    assert variables["datasource"]["type"] == "datasource"
    for panel in board["panels"]:
        grid = panel["gridPos"]
        assert grid["x"] + grid["w"] <= 24
        assert panel["description"]
    used = set(re.findall(r"\$([a-z]+)", " ".join(expressions())))
    assert used == {"model", "node", "probe"}


@with_promtool
def test_the_dashboards_queries_are_promql(tmp_path: Path) -> None:
    queries = [t["expr"] for p in dashboard()["panels"] for t in p["targets"]]
    rules = [{"record": f"panel:{i}", "expr": q} for i, q in enumerate(queries)]
    file = tmp_path / "rules.json"  # JSON is YAML
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = promtool("check", "rules", file)
    assert done.returncode == 0, done.stdout + done.stderr
