# SPDX-License-Identifier: Apache-2.0
"""--device: one, several, all, and none that fits."""

from __future__ import annotations

import pytest
from conftest import Bandgate

FIRST, SECOND = (
    "GPU-00000000-0000-4000-8000-000000000001",
    "GPU-00000000-0000-4000-8000-000000000002",
)


@pytest.mark.parametrize(
    ("asked", "measured"),
    [
        ("0", [FIRST]),
        ("1,0", [FIRST, SECOND]),
        (f"0000:43:00.0,{FIRST}", [FIRST, SECOND]),
        (f"1,{SECOND},1", [SECOND]),
        ("all", [FIRST, SECOND]),
        ("all,1", [FIRST, SECOND]),
    ],
)
def test_devices_by_name(bandgate: Bandgate, asked: str, measured: list[str]) -> None:
    assert bandgate.drill("two-gpus", "check", "read", "--device", asked).code == 0
    assert sorted(r["device"]["uuid"] for r in bandgate.stored()) == measured


@pytest.mark.parametrize(("asked", "unknown"), [("7", "7"), ("0,7", "7"), ("0,", ""), ("", "")])
def test_a_name_that_fits_none_is_an_error(bandgate: Bandgate, asked: str, unknown: str) -> None:
    ended = bandgate.drill("two-gpus", "check", "read", "--device", asked)
    assert (ended.code, ended.out) == (2, "")
    assert f"--device {unknown} names no device; known are 0 (GPU-" in ended.err
    assert bandgate.stored() == []


def test_status_takes_several_too(bandgate: Bandgate) -> None:
    bandgate.drill("two-gpus", "check", "read")

    def lines(asked: str) -> int:
        told = bandgate("status", "--backend", "scripted", "--json", "--device", asked)
        return len(told.out.splitlines())

    assert lines(SECOND) == 1
    assert lines(f"{FIRST},0000:43:00.0") == 2
