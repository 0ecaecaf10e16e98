# SPDX-License-Identifier: Apache-2.0
"""The list of probes, and that the documentation has it."""

import json

from conftest import ROOT, Bandgate


def test_every_probe_is_documented(bandgate: Bandgate) -> None:
    page = (ROOT / "docs" / "probes.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    probes = json.loads(bandgate("list", "--json").out)["probes"]
    for probe in probes:
        (row,) = [r for r in rows if f"`{probe['name']}`" in r.split("|")[1]]
        ceiling, suites, host = (cell.strip() for cell in row.split("|")[4:7])
        assert ceiling == probe["ceiling"], probe["name"]
        assert (host == "yes") == probe["host"], probe["name"]
        for suite in {member["suite"] for member in probe["suites"]}:
            assert suite in suites, probe["name"]
    listed = {name for row in rows for name in row.split("|")[1].replace("`", "").split(", ")}
    assert {name.strip() for name in listed} == {probe["name"] for probe in probes}


def test_every_parameter_explains_itself(bandgate: Bandgate) -> None:
    for probe in json.loads(bandgate("list", "--json").out)["probes"]:
        for parameter in probe["parameters"]:
            assert parameter["help"], (probe["name"], parameter["name"])
    text = bandgate("list", "--verbose").out
    assert "span=" in text and "engine=ce" in text and "peer=auto" in text
    assert max(map(len, text.splitlines())) <= 80
