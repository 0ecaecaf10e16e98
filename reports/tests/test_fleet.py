# SPDX-License-Identifier: Apache-2.0
"""The comparison of a fleet's cards, from results to what people read."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bandgate_reports import store
from bandgate_reports.analysis import fleet, series
from bandgate_reports.analysis.verdicts import Exit
from bandgate_reports.render import as_json, markdown, terminal
from bandgate_reports.section import Section, Tone
from bandgate_reports.views import fleet as view

from conftest import NOW
from made import GIB, Document, Gpu, Probe, result, write

READ = Probe("read", 4302.0)
NIGHT = datetime(2026, 11, 28, 2, 10, tzinfo=UTC)
HOSTILE = 'n<script>alert("1")\\|`\n'


def gpu(node: str, place: int, board_part: str = "692-2G520-0282-001") -> Gpu:
    bus = f"0000:{16 * place + 11:02x}:00.0"
    return Gpu("NVIDIA H200", node, bus, f"GPU-{node}-{place}", board_part=board_part)


def cards(nodes: int, each: int) -> list[Gpu]:
    return [gpu(f"n{n:03}", g) for n in range(nodes) for g in range(each)]


def night(
    gpus: Iterable[Gpu],
    factor: Callable[[Gpu], float] = lambda _: 1.0,
    probe: Probe = READ,
    back: int = 0,
) -> list[Document]:
    """A night of one probe: a scatter of 0.05 %, times a factor."""
    found = []
    for i, card in enumerate(gpus):
        scatter = 1 + 0.0005 * ((7 * i + 3 * back) % 5 - 2)
        at = NIGHT - timedelta(days=back)
        found.append(result(card, probe, at, probe.reference * scatter * factor(card)))
    return found


def of(folder: Path, documents: Iterable[Document], nights: int = 3) -> fleet.Fleet:
    results = store.load([write(folder, documents)]).results
    return fleet.compare(series.identify(results, NOW), nights)


def flagged(found: fleet.Fleet) -> list[tuple[str, str, str]]:
    rows = found.cards[found.cards["flagged"]]
    return sorted(zip(rows["node"], rows["pci_address"], rows["probe"], strict=True))


def at(card: Gpu) -> Callable[[Gpu], float]:
    return lambda g: 0.95 if g == card else 1.0


def linked(document: Document, generation: int, width: int = 16) -> Document:
    document["health"]["load"] = {
        name: {"state": "ok", "value": value, "why": ""}
        for name, value in (("pcie_generation", generation), ("pcie_width", width))
    }
    return document


def test_one_slow_link_of_four(tmp_path: Path) -> None:
    values = (14.2, 57.06, 56.68, 57.07)
    documents = [
        linked(result(card, Probe("h2d", 57.0), NIGHT, value * 1e9 / GIB), 2 if i == 0 else 5)
        for i, (card, value) in enumerate(zip(cards(1, 4), values, strict=True))
    ]
    found = of(tmp_path, documents)
    assert flagged(found) == [("n000", "0000:0b:00.0", "h2d")]
    assert found.exit is Exit.REGRESSION
    row = found.cards[found.cards["flagged"]].iloc[0]
    assert (row["peers"], round(row["against"] / 1e9, 2)) == (4, 57.06)
    section = view.section(found)
    assert section.headline == "1 card slower than the peers: n000 0000:0b:00.0"
    why = "0000:0b:00.0: h2d −75.1 %; PCIe link gen 2 x16 (others gen 5 x16)"
    assert section.tables[0].rows[0].cells[-1] == why


def test_three_cards_can_only_be_held_against_baselines(tmp_path: Path) -> None:
    found = of(tmp_path, night(cards(1, 3), at(gpu("n000", 1))))
    assert (flagged(found), found.exit) == ([], Exit.CANNOT_TELL)
    section = view.section(found)
    assert section.headline == "nothing to compare: no 4 cards of one model and configuration"
    assert "only a baseline judges them there: NVIDIA H200 (3 cards)" in " ".join(section.sentences)


def test_no_results_are_nothing_to_compare(tmp_path: Path) -> None:
    section = view.section(of(tmp_path, []))
    assert (section.exit, section.tone) == (Exit.CANNOT_TELL, Tone.UNSURE)
    assert section.headline == "nothing to compare: no measurement of a card in service"
    json.loads(as_json.render(section))


def test_a_slow_node_is_named_and_not_its_cards(tmp_path: Path) -> None:
    found = of(tmp_path, night(cards(8, 4), lambda g: 0.96 if g.node == "n005" else 1.0))
    assert flagged(found) == []
    assert list(found.nodes["node"]) == ["n005"]
    section = view.section(found)
    assert (section.exit, section.tone) == (Exit.REGRESSION, Tone.BAD)
    assert section.headline == "1 node slow as a whole: n005"
    assert section.tables[0].rows[0].cells[2] == "all of 4"


def test_board_parts_are_compared_apart(tmp_path: Path) -> None:
    def part(card: Gpu) -> Gpu:
        odd = card.pci > "0000:1c"
        return replace(card, board_part="692-2G520-0282-001" if odd else "692-2G520-0200-000")

    fleet_of_two = [part(card) for card in cards(8, 4)]
    slower = [g for g in fleet_of_two if g.board_part.endswith("001")]
    found = of(tmp_path, night(fleet_of_two, lambda g: 0.984 if g in slower else 1.0))
    assert (flagged(found), found.exit) == ([], Exit.OK)
    (row,) = next(t for t in view.section(found).tables if t.title == "Compared apart").rows
    assert row.cells == (
        "NVIDIA H200",
        "board part 692-2G520-0282-001 (16 cards)",
        "board part 692-2G520-0200-000 (16 cards)",
        "read −1.6 %: explained by board part, not outliers",
    )


def test_a_slow_card_of_the_slower_board_part_is_found(tmp_path: Path) -> None:
    documents = night(
        [replace(c, board_part="A" if c.node < "n004" else "B") for c in cards(8, 4)],
        lambda g: (
            (0.91 if g.board_part == "A" else 1.0) * (0.97 if g.pci[5:7] == "1b" else 1.0)
            if g.node == "n001"
            else (0.91 if g.board_part == "A" else 1.0)
        ),
    )
    assert flagged(of(tmp_path, documents)) == [("n001", "0000:1b:00.0", "read")]


def test_a_driver_that_explains_the_difference_is_named(tmp_path: Path) -> None:
    mixed = [replace(c, driver="570.1" if c.node < "n004" else "580.2") for c in cards(8, 4)]
    found = of(tmp_path, night(mixed, lambda g: 0.97 if g.driver == "570.1" else 1.0))
    assert (flagged(found), found.exit, len(found.nodes)) == ([], Exit.OK, 0)
    (row,) = next(t for t in view.section(found).tables if t.title == "Compared apart").rows
    assert row.cells[1:] == (
        "driver 570.1 (16 cards)",
        "driver 580.2 (16 cards)",
        "read −3.0 %: explained by driver, not outliers",
    )


def test_two_groups_that_nothing_explains_are_said_to_be_two_groups(tmp_path: Path) -> None:
    found = of(tmp_path, night(cards(8, 4), lambda g: 0.97 if g.pci[5:7] == "1b" else 1.0))
    assert (flagged(found), found.exit, len(found.nodes)) == ([], Exit.OK, 0)
    section = view.section(found)
    assert section.tone is Tone.UNSURE
    assert section.headline == (
        "32 cards on 8 nodes compared: no outlier, but two groups of cards that nothing explains "
        "for certain"
    )
    assert section.sentences[1] == (
        "NVIDIA H200, read: 8 of 32 cards are 3.0 % worse than the others, and nothing recorded "
        "tells them apart. They are two groups, not outliers."
    )


def test_what_one_node_of_two_has_is_named_beside_the_node(tmp_path: Path) -> None:
    mixed = [replace(c, driver="570.1" if c.node == "n000" else "580.2") for c in cards(2, 8)]
    found = of(tmp_path, night(mixed, lambda g: 0.97 if g.driver == "570.1" else 1.0))
    assert (flagged(found), found.exit) == ([], Exit.OK)
    assert view.section(found).sentences[1] == (
        "NVIDIA H200, read: 8 of 16 cards are 3.0 % worse than the others, all cards of n000, "
        "along with driver 570.1 (others 580.2): that or the node, which cannot be told apart. "
        "They are two groups, not outliers."
    )


def test_a_card_that_is_slow_by_itself_hides_nothing_that_goes_along(tmp_path: Path) -> None:
    mixed = [replace(c, driver="570.1" if c.node == "n000" else "580.2") for c in cards(2, 8)]
    slow = mixed[12].uuid
    found = of(
        tmp_path, night(mixed, lambda g: 0.97 if g.driver == "570.1" or g.uuid == slow else 1.0)
    )
    assert view.section(found).sentences[1] == (
        "NVIDIA H200, read: 9 of 16 cards are 2.9 % worse than the others, along with driver 570.1 "
        "(others 580.2): that or the node, which cannot be told apart. They are two groups, not "
        "outliers."
    )


def test_what_two_cards_tell_goes_along_with_nothing(tmp_path: Path) -> None:
    known = {"GPU-n000-0": "570.1", "GPU-n001-0": "580.2"}
    mixed = [replace(c, driver=known.get(c.uuid, "")) for c in cards(2, 8)]
    found = of(tmp_path, night(mixed, lambda g: 0.97 if g.node == "n000" else 1.0))
    said = view.section(found).sentences[1]
    assert "nothing recorded tells them apart: all cards of n000" in said


def test_a_driver_on_several_nodes_explains_one_node_of_a_board_part(tmp_path: Path) -> None:
    mixed = [
        replace(c, board_part="AB"[i // 16], driver="570.1" if (i // 8) % 2 else "580.2")
        for i, c in enumerate(cards(4, 8))
    ]
    found = of(tmp_path, night(mixed, lambda g: 0.97 if g.driver == "570.1" else 1.0))
    assert (flagged(found), found.exit) == ([], Exit.OK)
    assert found.apart["known"].all()
    assert [f for f in found.apart["facts"] if f == ("driver",)] == [("driver",)] * 2


def test_a_driver_that_costs_nothing_elsewhere_explains_nothing_here(tmp_path: Path) -> None:
    mixed = [
        replace(c, board_part="AB"[i // 16], driver="570.1" if (i // 8) % 2 else "580.2")
        for i, c in enumerate(cards(4, 8))
    ]
    found = of(tmp_path, night(mixed, lambda g: 0.97 if g.node == "n003" else 1.0))
    (unexplained,) = [s for s in view.section(found).sentences if "two groups" in s]
    assert "all cards of n003, along with driver 570.1 (others 580.2)" in unexplained


def test_a_card_with_another_power_limit_is_no_peer(tmp_path: Path) -> None:
    documents = night(cards(2, 4), at(gpu("n001", 2)))
    for document in documents:
        mine = document["device"]["uuid"] == "GPU-n001-2"
        document["device"]["power_limit_w"] = 500.0 if mine else 700.0
    found = of(tmp_path, documents)
    assert (flagged(found), found.exit) == ([], Exit.OK)
    (row,) = next(t for t in view.section(found).tables if t.title == "Compared apart").rows
    assert row.cells[1:] == (
        "power limit 500 W (1 card)",
        "power limit 700 W (7 cards)",
        "read −5.0 %: too few to judge: other power limit",
    )


def test_what_was_not_read_tonight_is_as_it_was(tmp_path: Path) -> None:
    documents = night(cards(2, 4), back=1) + night(cards(2, 4), at(gpu("n001", 2)))
    documents[-2]["device"]["board_part"] = ""
    assert documents[-2]["device"]["uuid"] == "GPU-n001-2"
    found = of(tmp_path, documents, nights=1)
    assert flagged(found) == [("n001", "0000:2b:00.0", "read")]


def test_one_bad_night_is_no_slow_card_unless_asked(tmp_path: Path) -> None:
    documents = [d for back in (3, 2, 1) for d in night(cards(2, 4), back=back)]
    documents += night(cards(2, 4), at(gpu("n001", 2)))
    assert flagged(of(tmp_path, documents)) == []
    assert flagged(of(tmp_path, documents, nights=1)) == [("n001", "0000:2b:00.0", "read")]


def test_a_card_that_fell_by_a_quarter_is_named_the_next_morning(tmp_path: Path) -> None:
    documents = [d for back in (3, 2, 1) for d in night(cards(2, 4), back=back)]
    documents += night(cards(2, 4), lambda g: 0.75 if g == gpu("n001", 2) else 1.0)
    found = of(tmp_path, documents)
    assert flagged(found) == [("n001", "0000:2b:00.0", "read")]
    assert list(found.cards.loc[found.cards["flagged"], "nights"]) == [1]


def test_a_longer_launch_is_the_slow_one(tmp_path: Path) -> None:
    launch = Probe("launch", 4.5e-6 / GIB, parameters={})
    documents = night(
        cards(2, 4),
        lambda g: {gpu("n000", 1): 1.08, gpu("n001", 2): 0.92}.get(g, 1.0),
        launch,
    )
    for document in documents:
        document["probe"]["lower_is_better"] = True
        document["measurement"]["unit"] = "s"
    found = of(tmp_path, documents)
    assert flagged(found) == [("n000", "0000:1b:00.0", "launch")]
    section = view.section(found)
    assert section.tables[1].rows[0].cells[2:5] == ("4.8600 us", "4.5000", "+8.00 % slower")
    assert "launch −8.0 %" in section.tables[0].rows[0].cells[-1]


@pytest.mark.parametrize("status", ["error", "inconclusive"])
def test_what_says_nothing_of_the_card_is_not_compared(tmp_path: Path, status: str) -> None:
    documents = night(cards(2, 4), at(gpu("n001", 2)))
    documents[6]["verdict"]["status"] = status
    assert flagged(of(tmp_path, documents)) == []


def test_cards_are_compared_by_one_statistic(tmp_path: Path) -> None:
    documents = night(cards(2, 4))
    for document in documents:
        document["measurement"]["peak"] = document["measurement"]["median"] * 1.05
    documents[3]["verdict"]["baselines"][0]["statistic"] = "peak"
    found = of(tmp_path, documents)
    assert (flagged(found), set(found.cards["statistic"])) == ([], {"median"})
    assert found.cards["loss"].abs().max() < 0.01


def test_a_card_is_as_good_as_its_worst_peer(tmp_path: Path) -> None:
    four = cards(1, 4)
    documents = []
    for a in four:
        for b in four:
            if a != b:
                probe = Probe("p2p_read", 368.0, parameters={"peer": b.uuid, "size": 1 << 28})
                bad = {a.uuid, b.uuid} == {"GPU-n000-0", "GPU-n000-1"}
                documents.append(result(a, probe, NIGHT, 184.0 if bad else 368.0))
    found = of(tmp_path, documents)
    # Both ends of the pair: with two of four slow, the others' median lies between.
    assert len(found.cards) == 4
    assert [p for _, p, _ in flagged(found)] == ["0000:0b:00.0", "0000:1b:00.0"]


def test_who_is_out_of_service_is_left_out(tmp_path: Path) -> None:
    documents = night(cards(2, 4)) + night([gpu("n009", 0)], lambda _: 0.5, back=12)
    found = of(tmp_path, documents)
    assert (flagged(found), found.out_of_service) == ([], 1)
    assert "Left out: 1 card, not measured for more than 7 days while others were." in (
        view.section(found).sentences
    )


def test_sets_of_parameters_and_versions_are_compared_by_themselves(tmp_path: Path) -> None:
    small = replace(READ, parameters={"buffer": 1 << 30})
    updated = replace(READ, version=2)
    documents = night(cards(2, 4), at(gpu("n001", 2)), small) + night(cards(1, 4))
    documents += night([gpu("n001", g) for g in range(4)], lambda _: 0.5, updated)
    found = of(tmp_path, documents)
    assert len(flagged(found)) == 1
    assert view.section(found).tables[1].rows[0].cells[1] == "read buffer=1GiB v1"


# What people see.


def morning(folder: Path) -> Section:
    """Eight nodes of eight: a slow node, a Gen2 link, a capped card, two board parts."""

    def card(n: int, g: int) -> Gpu:
        part = "692-2G520-0282-001" if n % 2 else "692-2G520-0200-000"
        return gpu(HOSTILE if n == 7 else f"n{n:03}", g, board_part=part)

    everyone = [card(n, g) for n in range(8) for g in range(8)]
    documents = []
    for probe in (READ, Probe("gather", 1800.0), Probe("copy", 3997.0), Probe("h2d", 53.0)):

        def factor(g: Gpu, probe: Probe = probe) -> float:
            lost = 0.91 if probe.name == "gather" and g.board_part.endswith("001") else 1.0
            if g.node == "n006" and probe.name in {"read", "copy"}:
                lost *= 0.96
            if (g.node, g.pci) == ("n003", "0000:2b:00.0") and probe.name != "h2d":
                lost *= 0.95
            if (g.node, g.pci) == (HOSTILE, "0000:5b:00.0") and probe.name == "h2d":
                lost *= 0.25
            return lost

        made = night(everyone, factor, probe)
        for document in made:
            where = (document["run"]["host"], document["device"]["pci_address"])
            if probe.name == "h2d":
                linked(document, 2 if where == (HOSTILE, "0000:5b:00.0") else 5)
            if where == ("n003", "0000:2b:00.0"):
                why = "the power cap slowed the clocks for 92 % of the sampling (clock event 0x4)"
                document["verdict"]["reasons"] = [
                    {"code": "below-bound", "sentence": "4086.9 GiB/s is low"},
                    {"code": "power-cap", "sentence": why},
                ]
            if where == ("n001", "0000:0b:00.0"):
                document["verdict"]["unstable"] = True
        documents += made
    return view.section(of(folder, documents))


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> Section:
    return morning(tmp_path_factory.mktemp("morning"))


@pytest.mark.parametrize("width", [80, 120])
def test_on_a_terminal(section: Section, approved: Callable[[str, str], None], width: int) -> None:
    text = terminal.render(section, width=width)
    assert max(map(len, text.splitlines())) <= width
    approved(f"fleet-{width}.txt", text)


def test_as_markdown(section: Section, approved: Callable[[str, str], None]) -> None:
    approved("fleet.md", markdown.render(section))


def test_as_json(section: Section) -> None:
    document = json.loads(as_json.render(section), parse_constant=pytest.fail)
    assert (document["schema"], document["exit_code"]) == ("bandgate.fleet/1", 1)
    assert [c["probe"] for c in document["slow_cards"]] == ["h2d", "gather", "copy", "read"]
    assert document["slow_cards"][0]["node"] == HOSTILE
    assert {(n["node"], n["probe"]) for n in document["slow_nodes"]} == {
        ("n006", "read"),
        ("n006", "copy"),
    }
    assert [(n["node"], n["unstable_passes"]) for n in document["nodes"][3:4]] == [("n001", 4)]
    assert len(document["heat_map"]) == 8 * 4


def test_the_heat_map_is_a_drawing_that_any_page_takes(section: Section) -> None:
    (figure,) = section.figures
    root = ElementTree.fromstring(figure.svg)  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"
    assert root.get("role") == "img"
    texts = [t.text or "" for t in root.iter(f"{space}text")]
    assert any(t.startswith("n<script>") for t in texts)  # as text, never as an element
    assert [e.tag for e in root.iter() if "script" in e.tag] == []
    assert texts.count("▾−75.0") == 1
    assert sum(t.startswith("▾") for t in texts) == 1 + 2 + 3
    colours = {r.get("fill") for r in root.iter(f"{space}rect")}
    assert colours == {"var(--heat-worse, #d55e00)"}
    assert root.get("fill") == "currentColor"

    class Strict(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag in {"svg", "g", "rect", "text", "title"}, (tag, attrs)

    Strict().feed(figure.svg)


def test_many_nodes_keep_the_drawing_small(tmp_path: Path) -> None:
    found = of(tmp_path, night(cards(70, 1), at(gpu("n069", 0))))
    (figure,) = view.section(found).figures
    assert "70 nodes, 1 with a mark. The 64 worst are drawn." in figure.summary
    assert "n069" in figure.svg
