# SPDX-License-Identifier: Apache-2.0
"""The synthetic fleet: real documents, the gate's own words, the defects that it lists."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from bandgate_reports import store
from bandgate_reports.analysis import series
from bandgate_reports.demo import gate, plan, truth, values, verdicts, view, write
from bandgate_reports.demo.documents import Document, documents
from bandgate_reports.demo.models import A100, H200, PROBES, SUITES
from bandgate_reports.demo.plan import Event, Plan, Wish
from bandgate_reports.store import schema

END = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
SMALL = Wish(END, nodes=8, gpus=2, nights=12, probes=SUITES["full"])
WHOLE = Wish(END, nodes=8, gpus=4, nights=180, probes=("read", "copy", "h2d", "launch"))


@pytest.fixture(scope="module")
def small() -> list[Document]:
    return list(documents(values.made(plan.planned(SMALL))))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, pd.DataFrame]:
    """As reports read it: through a store and files."""
    folder = tmp_path_factory.mktemp("demo")
    number = write.write(folder, WHOLE)
    loaded = store.load([folder])
    assert (loaded.skipped, loaded.conflicts, loaded.duplicates) == ((), (), 0)
    assert len(loaded.results) == number
    fleet = loaded.results[loaded.results["host"] != "demo-n00"]
    return values.made(plan.planned(WHOLE)).plan, series.identify(fleet, END)


def test_every_document_is_a_result_and_says_that_it_is_synthetic(small: list[Document]) -> None:
    assert [schema.complaint(d) for d in small if schema.complaint(d)] == []
    assert {d["run"]["labels"]["demo"] for d in small} == {"synthetic"}
    assert {d["device"]["backend"] for d in small} == {"cuda"}
    assert all(re.fullmatch(r"demo-n0[1-8]", d["run"]["host"]) for d in small)
    ids = [d["run"]["id"] for d in small]
    assert len(set(ids)) == len(ids)


def test_the_id_carries_the_time(small: list[Document]) -> None:
    for document in (small[0], small[-1]):
        milliseconds = int(document["run"]["id"].replace("-", "")[:12], 16)
        at = datetime.fromisoformat(document["run"]["started"])
        assert milliseconds == round(at.timestamp() * 1000)


def test_the_same_wish_makes_the_same_documents(small: list[Document]) -> None:
    assert list(documents(values.made(plan.planned(SMALL)))) == small
    # In the middle of a morning it is still the same newest night.
    other = Wish(END.replace(hour=11), nodes=8, gpus=2, nights=12, probes=SUITES["full"])
    assert list(documents(values.made(plan.planned(other)))) == small
    later = Wish(END, nodes=8, gpus=2, nights=12, probes=SUITES["full"], seed=2)
    assert list(documents(values.made(plan.planned(later)))) != small


def test_nights_alone_are_as_in_the_whole(small: list[Document]) -> None:
    made = values.made(plan.planned(SMALL))
    parts = [d for first in (0, 5) for d in documents(made, range(first, first + 5))]
    assert parts == small[: len(parts)]


@pytest.mark.parametrize(
    ("end", "newest"),
    [
        ("2026-11-30T06:00:00+00:00", "2026-11-30T02:10:00+00:00"),
        ("2026-11-30T03:10:00+00:00", "2026-11-30T02:10:00+00:00"),
        ("2026-11-30T03:09:59+00:00", "2026-11-29T02:10:00+00:00"),
        ("2026-11-30T04:30:00+02:00", "2026-11-29T02:10:00+00:00"),
    ],
)
def test_the_newest_night_is_over(end: str, newest: str) -> None:
    assert plan.newest_night(datetime.fromisoformat(end)).isoformat() == newest


def _judged(found: list[Document]) -> Iterator[tuple[Document, Document, float]]:
    for document in found:
        for baseline in document["verdict"]["baselines"]:
            measured = document["measurement"]
            yield document, baseline, measured[baseline["statistic"]]


def test_verdicts_follow_from_the_numbers(small: list[Document]) -> None:
    seen: Counter[str] = Counter()
    for document, baseline, value in _judged(small):
        assert baseline["ratio"] == pytest.approx(value / baseline["reference"], rel=1e-12)
        low, high = baseline["lower"], baseline["upper"]
        slower = document["probe"]["lower_is_better"]
        worse = (high is not None and value > high) if slower else value < low
        status = document["verdict"]["status"]
        seen[status] += 1
        if status != "inconclusive":
            assert worse == (status == "regression"), document["verdict"]
        # Nothing is faster than the memory can be.
        if document["probe"]["ceiling"] == "dram":
            assert document["measurement"]["peak"] < document["device"]["peak_bytes_per_second"]
    assert seen["pass"] > 1000
    assert {"regression", "inconclusive", "pass"} <= set(seen)


def test_what_is_low_is_measured_again(small: list[Document]) -> None:
    runs: dict[tuple[str, str, str], list[Document]] = {}
    for d in small:
        key = (d["run"]["group_id"], d["device"]["uuid"], str(d["probe"]))
        runs.setdefault(key, []).append(d["verdict"] | {"attempt": d["run"]["attempt"]})
    kinds: Counter[tuple[str, bool]] = Counter()
    for attempts in runs.values():
        assert [a["attempt"] for a in attempts] == [1, 2][: len(attempts)]
        again = attempts[0]["status"] == "regression"
        assert len(attempts) == 1 + again
        last = attempts[-1]
        codes = [r["code"] for r in last["reasons"]]
        assert last["unstable"] == (again and last["status"] == "pass") == ("unstable" in codes)
        assert ("confirmed" in codes) == (last["status"] == "regression")
        kinds[last["status"], last["unstable"]] += 1
    assert kinds["pass", True] >= 1
    assert kinds["regression", False] >= 20


def test_figures_are_those_of_the_samples(small: list[Document]) -> None:
    for document in small[:: len(small) // 50]:
        m = document["measurement"]
        if m is None:
            continue
        samples = np.array(m["samples"])
        assert m["median"] == pytest.approx(np.median(samples), rel=1e-12)
        best = samples.min() if document["probe"]["lower_is_better"] else samples.max()
        assert m["peak"] == best
        assert m["sd"] == pytest.approx(samples.std(ddof=1), rel=1e-9)
        assert m["cv"] == pytest.approx(m["sd"] / m["median"], rel=1e-12)
        trend = np.polyfit(np.linspace(-0.5, 0.5, len(samples)), samples, 1)[0]
        assert m["slope"] == pytest.approx(trend / m["median"], rel=1e-6, abs=1e-12)


PART = "692-2G520-0282-001"


# Each of these was said by the tool itself, of a scripted device with that value.
@pytest.mark.parametrize(
    ("probe", "value", "sentence"),
    [
        (
            "read",
            3695282487080.921,
            "3441.5 GiB/s is 20.02 % below the reference 4303.1 GiB/s, bound 4260.0 GiB/s "
            "(built-in:nvidia-h200.json)",
        ),
        (
            "read",
            4402.6 * 2**30,
            "4402.6 GiB/s is 2.31 % above the reference 4303.1 GiB/s, bound 4346.1 GiB/s "
            "(built-in:nvidia-h200.json)",
        ),
        (
            "h2d",
            6.4 * 2**30,
            "6.400 GiB/s is 87.59 % below the reference 51.567 GiB/s, bound 48.473 GiB/s "
            "(built-in:nvidia-h200.json)",
        ),
        (
            "launch",
            8.9e-6,
            "8.900 us is 96.74 % above the reference 4.524 us, bound 7.238 us "
            "(built-in:nvidia-h200.json)",
        ),
    ],
)
def test_sentences_are_those_of_the_gate(probe: str, value: float, sentence: str) -> None:
    baseline = H200.baselines[PART][probe]
    assert verdicts.Compared(value, baseline, probe == "launch").sentence() == sentence


def test_a_missing_baseline_is_told_as_the_gate_does() -> None:
    part = "692-2G506-0210-003"
    said = verdicts.without_baseline(PROBES["launch"], A100, part, ecc=True, notes=[])
    assert said["status"] == "no-baseline"
    assert said["reasons"][0]["sentence"] == (
        "no baseline entry for launch; looked in the shipped baselines for launch on PCI device "
        '10de:20b2, subsystem 10de:1463, board part 692-2G506-0210-003, name "a100-sxm4-80gb", '
        "79.3 GiB, ECC on (nvidia-a100-sxm4-80gb.json has no such entry; _generic.json has no "
        "such entry)"
    )
    assert said["next_step"] == (
        "Record one on devices that you trust: `bandgate baseline record launch`."
    )


def planted(made: Plan, kind: str) -> list[Event]:
    return [e for e in made.events if e.kind == kind]


def test_the_fleet_has_what_it_is_said_to_have(whole: tuple[Plan, pd.DataFrame]) -> None:
    made, table = whole
    assert [(e.kind, e.first, e.last) for e in made.events if e.kind not in truth.BY_CHANCE] == [
        ("drift", 0, 179),
        ("slow-card", 0, 179),
        ("kernel", 30, 179),
        ("vbios", 45, 179),
        ("power-cap", 60, 66),
        ("bios", 80, 179),
        ("drained", 88, 93),
        ("drained", 98, 99),
        ("swapped", 100, 179),
        ("ecc", 110, 179),
        ("gpu-lost", 120, 120),
        ("driver", 133, 179),
        ("tool", 150, 179),
        ("hot", 168, 179),
        ("link", 171, 179),
        ("gpu-lost", 179, 179),
    ]
    assert table["demo"].all()
    assert set(table["stamp_flag"]) == {""}
    assert sorted(table["device"].unique()) == ["NVIDIA A100-SXM4-80GB", "NVIDIA H200"]
    assert sorted(table["board_part"].unique()) == [
        "692-2G506-0210-003", "692-2G520-0282-000", "692-2G520-0282-001",
    ]  # fmt: skip
    newest = table[table["started"] >= pd.Timestamp("2026-11-30", tz="UTC")]
    assert newest["file"].str.endswith(".json").all()


def _ratio(table: pd.DataFrame, probe: str, hosts: list[str], night: int, made: Plan) -> float:
    """Of the medians of the ten nights on either side of a change."""
    chosen = table[(table["probe"] == probe) & table["host"].isin(hosts) & table["final"]]
    at = pd.Timestamp(made.starts(night)).floor("D")
    near = pd.Timedelta(days=10)
    before = chosen[(chosen["started"] < at) & (chosen["started"] >= at - near)]
    after = chosen[(chosen["started"] >= at) & (chosen["started"] < at + near)]
    levels = [t.groupby("uuid", observed=True)["median"].median() for t in (before, after)]
    return float((levels[1] / levels[0]).median() - 1)


def test_steps_are_where_they_are_planted(whole: tuple[Plan, pd.DataFrame]) -> None:
    made, table = whole
    odd = ["demo-n01", "demo-n03", "demo-n05", "demo-n07"]
    even = ["demo-n02", "demo-n06", "demo-n08"]
    (driver,) = planted(made, "driver")
    assert truth.hosts(made, driver) == odd
    assert _ratio(table, "copy", odd, 133, made) == pytest.approx(-0.025, abs=0.0005)
    assert _ratio(table, "read", odd, 133, made) == pytest.approx(0, abs=0.0005)
    assert _ratio(table, "copy", even, 133, made) == pytest.approx(0, abs=0.0005)
    assert _ratio(table, "launch", ["demo-n05"], 80, made) == pytest.approx(0.15, abs=0.02)
    assert _ratio(table, "read", ["demo-n04"], 168, made) == pytest.approx(-0.055, abs=0.001)
    assert _ratio(table, "read", ["demo-n06"], 45, made) == pytest.approx(0, abs=0.0005)


def test_recorded_changes_are_those_that_are_planted(whole: tuple[Plan, pd.DataFrame]) -> None:
    made, table = whole
    of_boot = ("GSP firmware", "fabric manager", "tool build")
    found = series.changes(table)
    found = found[~found["field"].isin(of_boot)]
    hosts = dict(zip(table["card"], table["host"], strict=True))
    seen = {
        (row.field, row.before, row.after, hosts[row.card], f"{row.seen:%Y-%m-%d}")
        for row in found.itertuples()
    }
    wanted = set()
    for event in made.events:
        for host in truth.hosts(made, event) if event.field else ():
            at = f"{made.starts(event.first):%Y-%m-%d}"
            wanted.add((event.field, event.before, event.after, host, at))
            if event.kind == "power-cap":
                back = f"{made.starts(event.last + 1):%Y-%m-%d}"
                wanted.add((event.field, event.after, event.before, host, back))
    assert seen == wanted
    assert len({w[0] for w in wanted}) == 7


def test_single_cards_and_nights(whole: tuple[Plan, pd.DataFrame]) -> None:
    made, table = whole
    night = table["started"].dt.strftime("%Y-%m-%d")
    lost = table[table["status"] == "error"]
    assert set(zip(lost["host"], lost["pci_address"], night[lost.index], strict=True)) == {
        ("demo-n01", "0000:5d:00.0", "2026-10-02"),
        ("demo-n08", "0000:1b:00.0", "2026-11-30"),
    }
    slot = table[(table["host"] == "demo-n03") & (table["pci_address"] == "0000:4c:00.0")]
    spans = slot.groupby("uuid", observed=True)["started"].agg(["min", "max"]).sort_values("min")
    assert [(f"{s:%Y-%m-%d}", f"{e:%Y-%m-%d}") for s, e in spans.itertuples(index=False)] == [
        ("2026-06-04", "2026-09-09"),
        ("2026-09-12", "2026-11-30"),
    ]
    away = set(night[table["host"] == "demo-n05"]) - set(night[table["host"] == "demo-n04"])
    assert sorted(away) == [f"2026-{d}" for d in (
        "08-31", "09-01", "09-02", "09-03", "09-04", "09-05",
    )]  # fmt: skip
    held = table[table["status"] == "inconclusive"]
    bad = {
        (truth.hosts(made, e)[0], made.cards[made.where(e)[0]].pci_address,
         f"{made.starts(e.first):%Y-%m-%d}")
        for e in planted(made, "bad-night")
    }  # fmt: skip
    assert set(zip(held["host"], held["pci_address"], night[held.index], strict=True)) == bad
    unstable = table[table["unstable"]]
    assert len(unstable) == len(planted(made, "unstable")) > 0


def test_the_drift_is_slow_and_never_judged(whole: tuple[Plan, pd.DataFrame]) -> None:
    _, table = whole
    chosen = table["host"].eq("demo-n08") & table["pci_address"].eq("0000:4c:00.0")
    card = table[chosen & table["probe"].eq("read") & table["status"].eq("pass")]
    days = (card["started"] - card["started"].iloc[0]).dt.total_seconds() / 86400
    slope = np.polyfit(days, np.log(card["median"]), 1)[0]
    assert slope == pytest.approx(-2e-4, rel=0.03)
    assert len(card) >= 175


def test_causes_are_named(whole: tuple[Plan, pd.DataFrame]) -> None:
    _, table = whole
    lost = table[(table["status"] == "regression") & (table["attempt"] == 2)]
    first = lost["reasons"].map(lambda reasons: reasons[1][0])
    of = lost.assign(cause=first).groupby("cause")
    assert {str(cause): sorted(set(group["host"])) for cause, group in of} == {
        "hw-thermal": ["demo-n04"],
        "no-cause-found": ["demo-n01", "demo-n03", "demo-n05"],
        "pcie-generation": ["demo-n06"],
        "power-cap": ["demo-n02"],
    }


def test_heat_is_no_note_beside_a_transfer(whole: tuple[Plan, pd.DataFrame]) -> None:
    made, table = whole
    hot = table["host"].eq("demo-n04") & (table["started"] >= pd.Timestamp(made.starts(168)))
    assert set(table[hot & table["probe"].isin(("h2d", "launch"))]["reasons"]) == {()}
    assert set(table[hot]["status"]) == {"pass", "regression"}


def test_a_driver_on_trial_has_two_sides() -> None:
    found = list(gate.measured(Wish(END, gpus=8, probes=("copy", "triad"))))
    sides: dict[tuple[str, str], list[float]] = {}
    boots: dict[str, list[str]] = {}
    for document in found:
        assert schema.complaint(document) == ""
        assert document["verdict"]["status"] == "measured"
        assert document["run"]["host"] == "demo-n00"
        which = gate.side(document)
        value = document["measurement"]["median"]
        sides.setdefault((which, document["probe"]["name"]), []).append(value)
        boots.setdefault(which, []).append(document["run"]["boot_id"])
    assert {k: len(v) for k, v in sides.items()} == {
        (side, probe): 40 for side in ("before", "after") for probe in ("copy", "triad")
    }
    assert {k: len(set(v)) for k, v in boots.items()} == {"before": 2, "after": 2}
    moved = {
        p: np.median(sides["after", p]) / np.median(sides["before", p]) - 1
        for p in ("copy", "triad")
    }
    assert moved["triad"] == pytest.approx(-0.02, abs=0.0005)
    assert moved["copy"] == pytest.approx(0, abs=0.0005)


def test_the_list_of_events_can_be_read(whole: tuple[Plan, pd.DataFrame]) -> None:
    made, _ = whole
    rows = list(csv.DictReader(io.StringIO(truth.events_csv(made))))
    assert len(rows) == len(made.events)
    (driver,) = [r for r in rows if r["kind"] == "driver"]
    assert driver == {
        "kind": "driver",
        "first": "2026-10-15",
        "last": "2026-11-30",
        "hosts": "demo-n01 demo-n03 demo-n05 demo-n07",
        "gpus": "",
        "pci_addresses": "0000:1b:00.0 0000:3d:00.0 0000:4c:00.0 0000:5d:00.0",
        "probes": "copy",
        "effect": "-0.025",
        "field": "driver",
        "before": "580.95.05",
        "after": "580.159.04",
        "says": "driver update: copy loses 2.5 %",
    }


def test_what_people_read_of_it(whole: tuple[Plan, pd.DataFrame]) -> None:
    made, _ = whole
    (table,) = view.section(made, 1234, "demo").tables
    rows = [row.cells for row in table.rows]
    assert len(rows) == 16
    assert rows[0] == (
        "sags by 0.02 % a night", "since 2026-06-04", "demo-n08 GPU 2", "read, copy",
        "−0.02 % a night",
    )  # fmt: skip
    assert rows[4] == (
        "power limit lowered to 500 W", "2026-08-03 to 2026-08-09", "demo-n02", "read, copy",
        "−4.20 %",
    )  # fmt: skip
    assert rows[10][:3] == ("GPU lost for a night", "2026-10-02", "demo-n01 GPU 3")
    text = truth.readme(made, "COMMAND", "demo")
    assert (
        "| driver update: copy loses 2.5 % | 2026-10-15 |  | demo-n01, demo-n03, demo-n05, "
        "demo-n07 | copy | −2.50 % |\n"
    ) in text
    assert "of them on one flaky link.\n\nThe A100s have no baseline for `launch`.\n" in text
    assert "on trial on demo-n00: it costs nothing.\n" in text
    assert "    bandgate-report ab demo/driver-gate/before demo/driver-gate/after\n" in text


@pytest.mark.parametrize("nights", [1, 2, 3, 7])
@pytest.mark.parametrize(("nodes", "gpus"), [(1, 1), (2, 1), (5, 9)])
def test_small_fleets(nodes: int, gpus: int, nights: int) -> None:
    wish = Wish(END, nodes, gpus, nights, ("read", "launch"))
    made = values.made(plan.planned(wish))
    found = list(documents(made))
    assert all(schema.complaint(d) == "" for d in found)
    assert len({d["device"]["pci_address"] for d in found}) == gpus
    assert all(0 <= e.first <= e.last < nights and made.plan.where(e) for e in made.plan.events)
