# SPDX-License-Identifier: Apache-2.0
"""ci/card-table and ci/span-table: the backend is that of the environment, or of the option."""

import subprocess
from pathlib import Path

import pytest
from conftest import DRILLS, ROOT, Bandgate

HEALTHY = f"scripted:{DRILLS}/healthy-h200.json"
ONE_ROW = {
    "card-table": ("--processes", "1", "--row", "read"),
    "span-table": ("--probes", "gather", "--modes", "permutation", "--log2-spans", "10"),
}


@pytest.mark.parametrize("table", ONE_ROW)
def test_the_backend(bandgate: Bandgate, tmp_path: Path, table: str) -> None:
    for variable, option, code in (
        (HEALTHY, "", 0),
        (f"scripted:{tmp_path}/nowhere.json", HEALTHY, 0),
        (f"scripted:{tmp_path}/nowhere.json", "", 2),
    ):
        command = [str(ROOT / "ci" / table), str(bandgate.program), *ONE_ROW[table]]
        ended = subprocess.run(
            [*command, *(["--backend", option] if option else [])],
            env=bandgate.env() | {"BANDGATE_BACKEND": variable},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == code, ended
        assert ended.stdout.startswith("NVIDIA H200, board ") == (code == 0)
