# SPDX-License-Identifier: Apache-2.0
"""What `bandgate check --format` says to schedulers and monitors, on scripted devices."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from conftest import DRILLS, Bandgate
from test_check import baseline, h200

DIALECTS = ("nagios", "npd", "nhc", "github")
PERFDATA = re.compile(
    r"^BANDGATE (?P<word>OK|WARNING|CRITICAL|UNKNOWN): [^|\n]+"
    r"(?: \| (?P<data>'[^'=|]+'=-?\d+(?:\.\d+)?(?:us)?;[-\d.:~]*;[-\d.:~]*;0;"
    r"(?: '[^'=|]+'=-?\d+(?:\.\d+)?(?:us)?;[-\d.:~]*;[-\d.:~]*;0;)*))?$"
)
COMMAND = re.compile(r"^::(error|warning|notice) title=[^:,\r\n]*::[^\r\n]*$")

# drill: (nagios, npd, nhc, github), the word
CODES = {
    "healthy-h200": ((0, 0, 0, 0), "pass"),
    "slow-once": ((1, 0, 0, 0), "unstable"),
    "slow-5-percent": ((2, 1, 1, 1), "regression"),
    "wrong-checksum": ((2, 1, 3, 3), "error"),
    "lost-at-sample-3": ((2, 1, 3, 3), "error"),
    "missing-gpu": ((2, 1, 3, 3), "error"),
    "exclusive": ((3, 2, 0, 4), "inconclusive"),
    "slope-within-bounds": ((3, 2, 0, 4), "inconclusive"),
    "no-device": ((3, 2, 0, 77), "skipped"),
}


def check_form(dialect: str, out: str) -> None:
    """What a reader of that dialect relies on, whatever is said."""
    lines = out.splitlines()
    assert out.endswith("\n") and all(line.strip() for line in lines)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", out)
    if dialect == "nagios":
        assert PERFDATA.match(lines[0]), lines[0]
        assert all(re.match(r"\[(OK|WARNING|CRITICAL|UNKNOWN)\] [^|]+$", x) for x in lines[1:])
    elif dialect == "npd":
        assert len(lines) == 1
        assert len(lines[0].encode()) <= 80
    elif dialect == "nhc":
        assert all(line.startswith("bandgate: ") for line in lines)
    else:
        assert all(COMMAND.match(line) for line in lines[:-1]), lines
        assert len(lines) <= 10
        assert re.match(r"bandgate: \d+ more(: \d+ [a-z-]+(, \d+ [a-z-]+)*)?$", lines[-1])


@pytest.mark.parametrize("drill", CODES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_code_word_and_form(bandgate: Bandgate, dialect: str, drill: str) -> None:
    outcome = bandgate.drill(drill, "check", "read", "--format", dialect)
    codes, word = CODES[drill]
    assert outcome.code == codes[DIALECTS.index(dialect)], outcome
    if not (word == "pass" and dialect == "github"):
        assert word in outcome.out
    check_form(dialect, outcome.out)
    if dialect == "nhc":
        assert outcome.out.startswith("bandgate: not judged: ") == (codes[0] == 3)


def test_the_output_of_a_regression_as_approved(bandgate: Bandgate, tmp_path: Path) -> None:
    script = h200(tmp_path, samples=[4100.0] * 10)
    site = str(baseline(tmp_path / "site"))

    def said(dialect: str) -> str:
        words = ("check", "read", "--baselines", site, "--format", dialect)
        return bandgate.drill(script, *words).out

    number = "4100.0 GiB/s, below 4216.0 GiB/s"
    assert said("nagios").startswith(
        f"BANDGATE CRITICAL: gpu0 read: regression: {number}; no cause found"
    )
    first, long_output = said("nagios").splitlines()
    assert first.endswith(" | 'gpu0 read GiB/s'=4100;4215.96:4388.04;4215.96:;0;")
    assert long_output.startswith(f"[CRITICAL] gpu0 read: regression: {number}; no cause found")
    assert "; next: Measure another device of this model" in long_output
    assert said("npd") == f"gpu0 read: regression: {number}; no-cause-found\n"
    assert said("nhc").startswith(f"bandgate: gpu0 read: regression: {number}; no cause found")
    command, rest = said("github").splitlines()
    assert command.startswith(f"::error title=bandgate gpu0 read regression::{number}; ")
    assert "%0Anext: Measure another device" in command
    assert rest == "bandgate: 0 more"


def test_a_pass_as_approved(bandgate: Bandgate, tmp_path: Path) -> None:
    script = h200(tmp_path, samples=[4302.0] * 10)
    words = ("check", "read", "--baselines", str(baseline(tmp_path / "site")), "--format")
    pass_line = "gpu0 read: pass: 4302.0 GiB/s, bounds 4216.0 GiB/s .. 4388.0 GiB/s"
    assert bandgate.drill(script, *words, "nagios").out == (
        f"BANDGATE OK: {pass_line} | 'gpu0 read GiB/s'=4302;4215.96:4388.04;4215.96:;0;\n"
        f"[OK] {pass_line}\n"
    )
    assert bandgate.drill(script, *words, "npd").out == pass_line + "\n"
    assert bandgate.drill(script, *words, "nhc").out == f"bandgate: {pass_line}\n"
    assert bandgate.drill(script, *words, "github").out == "bandgate: 1 more: 1 pass\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("read", "--baselines", "/nowhere/at/all"), "/nowhere/at/all"),
        (("no_such_probe",), "no_such_probe"),
        (("read", "--no-such-option"), "--no-such-option"),
        (("read", "--unit", "GB"), "GB"),
        (("read", "--json"), "--json"),
        (("read", "--device", "7"), "--device 7"),
    ],
)
@pytest.mark.parametrize(("dialect", "code"), list(zip(DIALECTS, (3, 2, 0, 2), strict=True)))
def test_mistakes_are_spoken(
    bandgate: Bandgate, dialect: str, code: int, arguments: tuple[str, ...], reason: str
) -> None:
    outcome = bandgate.drill("healthy-h200", "check", *arguments, f"--format={dialect}")
    assert outcome.code == code, outcome
    assert reason in outcome.out
    assert "configuration" in outcome.out
    assert reason in outcome.err
    check_form(dialect, outcome.out)


def test_a_broken_baseline_is_unknown_in_one_line(bandgate: Bandgate, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "broken.json").write_text('{"schema": ')
    words = ("check", "read", "--baselines", str(site), "--format")
    nagios = bandgate.drill("healthy-h200", *words, "nagios")
    assert nagios.code == 3
    assert nagios.out.startswith(f"BANDGATE UNKNOWN: configuration: {site}/broken.json: ")
    npd = bandgate.drill("healthy-h200", *words, "npd")
    assert npd.code == 2
    # One broken file must not drain a cluster.
    nhc = bandgate.drill("healthy-h200", *words, "nhc")
    assert nhc.code == 0
    assert nhc.out.startswith("bandgate: not judged: configuration: ")


def test_an_unknown_dialect_is_a_mistake_of_usage(bandgate: Bandgate) -> None:
    outcome = bandgate.drill("healthy-h200", "check", "read", "--format", "zabbix")
    assert outcome.code == 2
    assert outcome.out == ""
    assert "nagios, npd, nhc or github" in outcome.err


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_result_that_cannot_be_stored_is_no_success(
    bandgate: Bandgate, tmp_path: Path, dialect: str
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    words = ("check", "read", "--results", str(blocked), "--format", dialect)
    outcome = bandgate.drill("healthy-h200", *words)
    assert outcome.code == {"nagios": 3, "npd": 2, "nhc": 0, "github": 2}[dialect]
    assert "not stored" in outcome.out
    check_form(dialect, outcome.out)


@pytest.mark.parametrize(("dialect", "code"), [("nagios", 3), ("npd", 2), ("github", 2)])
def test_output_that_nobody_received_is_no_success(
    bandgate: Bandgate, dialect: str, code: int
) -> None:
    script = f"scripted:{DRILLS}/healthy-h200.json"
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            bandgate.command("check", "read", "--backend", script, "--format", dialect),
            env=bandgate.env(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ended.returncode == code


HOSTILE = [
    "x" * 200,
    "H200|'a'=1;2;3;4;5 \"b\"\n::error::c",
    "H200\x1b[31m\r\n%0A,:=\t",
    "\u20ac\U0001f600" * 60,
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_device_name_breaks_the_form(
    bandgate: Bandgate, tmp_path: Path, dialect: str, name: str
) -> None:
    script = json.loads((DRILLS / "healthy-h200.json").read_text())
    identity = script["devices"][0]["identity"]
    identity |= {"name": name, "pci_device": "10de:ffff", "board_part": ""}
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(script))
    outcome = bandgate.drill(path, "check", "read", "--format", dialect)
    check_form(dialect, outcome.out)


def test_a_locale_changes_nothing(bandgate: Bandgate) -> None:
    for dialect in DIALECTS:
        words = ("check", "read", "--format", dialect)
        plain = bandgate.drill("slow-5-percent", *words, LC_ALL="C")
        comma = bandgate.drill("slow-5-percent", *words, LC_ALL="de_DE.UTF-8")
        assert plain.out == comma.out


def test_many_devices_give_nine_annotations(bandgate: Bandgate, tmp_path: Path) -> None:
    script = json.loads((DRILLS / "slow-5-percent.json").read_text())
    device = script["devices"][0]
    script["devices"] = []
    for i in range(6):
        identity = device["identity"] | {
            "uuid": f"GPU-00000000-0000-4000-8000-0000000000{i:02}",
            "pci_address": f"0000:{i + 16:02x}:00.0",
        }
        script["devices"].append(device | {"identity": identity})
    path = tmp_path / "six.json"
    path.write_text(json.dumps(script))
    outcome = bandgate.drill(path, "check", "read", "copy", "--format", "github")
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert len([line for line in lines if line.startswith("::error title=")]) == 9
    assert lines[9:] == ["bandgate: 3 more: 3 regression"]
    nagios = bandgate.drill(path, "check", "read", "copy", "--format", "nagios").out
    assert nagios.splitlines()[0].count("';") == 0
    assert nagios.splitlines()[0].count("GiB/s'=") == 12
